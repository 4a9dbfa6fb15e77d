
/* The cell of a vector of scores: the first whose direction has a product with the vector below the threshold, otherwise the last. */
static inline uint32_t {{ name }}_cell(const float *scores)
{
    union {{ name }}_word word;
    uint32_t cell, class_;

    for (cell = 0; cell + 1 < {{ joint.count }}u; cell++) {
        float sum = 0.0f;
        for (class_ = 0; class_ < {{ NAME }}_CLASSES; class_++) {
            word.bits = {{ name }}_direction[cell * {{ NAME }}_CLASSES + class_];
            sum += {{ name }}_times(word.number, scores[class_]);
        }
        word.bits = {{ name }}_threshold[cell];
        if (sum < word.number)
            break;
    }
    return cell;
}
