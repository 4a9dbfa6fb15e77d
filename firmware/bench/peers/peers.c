/* What people write instead of calib-core: the same tables, -O2, the compiler's own library.
 * The bin is returned in the low word and the probability's bits in the high one. */
#include <stdint.h>
/* Without a library there is no bsearch and no expf to compare with. */
#if __STDC_HOSTED__
#include <math.h>
#include <stdlib.h>
#endif

/* The edges and values of the Rust side, as firmware/bench/src/scores.rs makes them. */
#define E(i, b) ((float)(((float)(i) + 0.97f) / (float)(b)))
#define V(i, b) ((float)(((float)(i) + 0.3f) / (float)(b)))
#define E8(f, i, b) f(i, b), f(i + 1, b), f(i + 2, b), f(i + 3, b), f(i + 4, b), f(i + 5, b), f(i + 6, b), f(i + 7, b)

static const float edges_15[14] = {E8(E, 0, 15), E(8, 15), E(9, 15), E(10, 15), E(11, 15), E(12, 15), E(13, 15)};
static const float values_15[15] = {E8(V, 0, 15), V(8, 15), V(9, 15), V(10, 15), V(11, 15), V(12, 15), V(13, 15), V(14, 15)};
static const float edges_64[64] = {E8(E, 0, 64), E8(E, 8, 64), E8(E, 16, 64), E8(E, 24, 64), E8(E, 32, 64), E8(E, 40, 64), E8(E, 48, 64), E8(E, 56, 64)};
static const float values_64[64] = {E8(V, 0, 64), E8(V, 8, 64), E8(V, 16, 64), E8(V, 24, 64), E8(V, 32, 64), E8(V, 40, 64), E8(V, 48, 64), E8(V, 56, 64)};

static inline uint64_t pack(unsigned bin, float value)
{
    uint32_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return (uint64_t)bits << 32 | bin;
}

/* The first edge above the score, from the front. */
static inline uint64_t linear(float score, const float *edges, const float *values, unsigned count)
{
    unsigned bin = 0;
    while (bin < count && score >= edges[bin])
        bin++;
    return pack(bin, values[bin]);
}

static inline uint64_t binary(float score, const float *edges, const float *values, unsigned count)
{
    unsigned low = 0, high = count;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (score >= edges[middle])
            low = middle + 1;
        else
            high = middle;
    }
    return pack(low, values[low]);
}

#if __STDC_HOSTED__
/* bsearch finds a bin whose two edges the score is between. */
static int compare(const void *key, const void *element)
{
    const float score = *(const float *)key, *edge = element;
    if (score < edge[0])
        return -1;
    return score >= edge[1];
}

static inline uint64_t with_bsearch(float score, const float *edges, const float *values, unsigned count)
{
    if (score < edges[0])
        return pack(0, values[0]);
    const float *found = bsearch(&score, edges, count - 1, sizeof *edges, compare);
    unsigned bin = found ? (unsigned)(found - edges) + 1 : count;
    return pack(bin, values[bin]);
}

#define BSEARCH(bins) \
    uint64_t c_bsearch_##bins(float score, const void *context) { (void)context; return with_bsearch(score, edges_##bins, values_##bins, bins - 1); }
BSEARCH(15)
BSEARCH(64)

uint64_t c_platt_newlib(float score, const void *context)
{
    (void)context;
    return pack(0, 1.0f / (1.0f + expf(-(7.1f * score - 3.3f))));
}
#endif

#define PEERS(bins) \
    uint64_t c_linear_##bins(float score, const void *context) { (void)context; return linear(score, edges_##bins, values_##bins, bins - 1); } \
    uint64_t c_binary_##bins(float score, const void *context) { (void)context; return binary(score, edges_##bins, values_##bins, bins - 1); } \
    uint64_t c_binary_checked_##bins(float score, const void *context) \
    { \
        (void)context; \
        if (!(score >= 0.0f && score <= 1.0f)) \
            return UINT64_MAX; \
        return binary(score, edges_##bins, values_##bins, bins - 1); \
    }

PEERS(15)
PEERS(64)
