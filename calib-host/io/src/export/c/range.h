
/* The range of a key: the number of edges of ranges at or below it. */
static inline uint32_t {{ name }}_range(const struct {{ name }}_table *table, uint32_t key)
{
    uint32_t range = 0, count = table->ranges;

    while (count > 0) {
        uint32_t half = count / 2;
        if (table->range[range + half] <= key) {
            range += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return range;
}
