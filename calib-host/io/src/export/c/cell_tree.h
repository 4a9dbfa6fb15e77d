
/* The cell of a vector of scores: the leaf of a tree, at each node of which the vector goes to the child of the class with the largest
   score above the node's own. Scores are integers, in units of 2^-30. */
static inline uint32_t {{ name }}_cell(const float *scores)
{
    uint32_t node = 0, class_;

    while (node < {{ joint.nodes }}u) {
        const uint32_t *words = {{ name }}_tree + node * 2 * {{ NAME }}_CLASSES;
        int64_t most = INT64_MIN;
        uint32_t child = 0;
        for (class_ = 0; class_ < {{ NAME }}_CLASSES; class_++) {
            int64_t above = {{ NAME }}_AS(int64_t, {{ NAME }}_AS(int32_t, scores[class_] * 1073741824.0f)) - {{ NAME }}_AS(int32_t, words[class_]);
            if (above > most) {
                most = above;
                child = words[{{ NAME }}_CLASSES + class_];
            }
        }
        if (child & 0x80000000u)
            return child & 0x7fffffffu;
        node = child;
    }
    return 0;
}
