
/* The cell of a vector of scores, which are overwritten: at each level the corner of the class above 1/2, or the middle. */
static inline uint32_t {{ name }}_cell(float *scores)
{
    uint32_t first = 0, cells = {{ joint.count }}u, level, corner, class_;

    for (level = 0; level < {{ joint.depth }}u; level++) {
        for (corner = 0; corner < {{ NAME }}_CLASSES && !(scores[corner] > 0.5f); corner++)
            ;
        if (corner == {{ NAME }}_CLASSES)
            return first + cells - 1;
        cells = (cells - 1) / {{ NAME }}_CLASSES;
        first += corner * cells;
        for (class_ = 0; class_ < {{ NAME }}_CLASSES; class_++)
            scores[class_] = scores[class_] * 2.0f - (class_ == corner ? 1.0f : 0.0f);
    }
    return first;
}
