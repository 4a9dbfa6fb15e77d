
/* The binomial coefficient n over k. */
static inline uint64_t {{ name }}_choose(uint32_t n, uint32_t k)
{
    uint64_t chosen = 1;
    uint32_t i;

    if (k > n)
        return 0;
    for (i = 0; i < k; i++)
        chosen = chosen * (n - i) / (i + 1);
    return chosen;
}

/* The cell of a vector of scores, which are overwritten: its place among all cells of the grid in lexicographic order. */
static inline uint32_t {{ name }}_cell(float *scores)
{
    const uint32_t least = {{ joint.lowest }}u, most = {{ joint.highest }}u;
    uint32_t lowest = least, highest = most, sum = 0, rest = {{ NAME }}_CLASSES, class_;
    uint64_t rank = 0;

    for (class_ = 0; class_ < {{ NAME }}_CLASSES; class_++) {
        float place = {{ name }}_times(scores[class_], {{ joint.resolution }});
        uint32_t steps = {{ NAME }}_AS(uint32_t, place);
        /* One less than the next whole number. */
        if (steps > 0 && {{ NAME }}_AS(float, steps) >= place)
            steps--;
        steps = steps < most ? steps : most;
        sum += steps;
        scores[class_] = {{ NAME }}_AS(float, steps);
    }
    if (sum < least) {
        scores[{{ NAME }}_CLASSES - 1] += {{ NAME }}_AS(float, least - sum);
        sum = least;
    }
    for (class_ = 0; class_ < {{ NAME }}_CLASSES; class_++) {
        uint32_t steps = {{ NAME }}_AS(uint32_t, scores[class_]), over = sum > most ? sum - most : 0;
        uint32_t taken = steps < over ? steps : over, needed;
        sum -= taken;
        steps -= taken;
        rest--;
        needed = lowest > steps ? lowest - steps : 0;
        rank += {{ name }}_choose(highest + rest + 1, rest + 1) - {{ name }}_choose(highest - steps + rest + 1, rest + 1);
        rank -= {{ name }}_choose(lowest + rest, rest + 1) - {{ name }}_choose(needed + rest, rest + 1);
        lowest = needed;
        highest -= steps;
    }
    return {{ NAME }}_AS(uint32_t, rank);
}
