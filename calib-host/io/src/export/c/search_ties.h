
/* The number of edges at or below a key, of equal ones those whose word is at or below the random one. */
static inline uint32_t {{ name }}_bin(const struct {{ name }}_table *table, uint32_t key, uint32_t word)
{
    uint32_t bin = 0, count = table->edges;

    while (count > 0) {
        uint32_t half = count / 2, edge = table->edge[bin + half];
        if (edge < key || (edge == key && table->tie[bin + half] <= word)) {
            bin += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return bin;
}
