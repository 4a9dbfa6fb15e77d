
/* The number of edges at or below a key. */
static inline uint32_t {{ name }}_bin(const struct {{ name }}_table *table, uint32_t key)
{
    uint32_t bin = 0, count = table->edges;

    while (count > 0) {
        uint32_t half = count / 2;
        if (table->edge[bin + half] <= key) {
            bin += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return bin;
}
