
/* The probabilities of all CAPITALS_CLASSES classes, which sum to 1; NaN for a class without a table. */
static inline int NAME_normalized(const float *probs, WORD_ARGUMENTfloat *calibrated)
{
    struct NAME_result result;
    union NAME_word nan;
    float sum = 0.0f, count = 0.0f;
    uint32_t class_;

    nan.bits = 0x7fc00000u;
    if (!NAME_are_probs(probs))
        return CAPITALS_BAD_SCORE;
    for (class_ = 0; class_ < CAPITALS_CLASSES; class_++) {
        calibrated[class_] = nan.number;
        if (NAME_calibrate(class_, NAME_score(probs[class_]), WORD&result) == CAPITALS_OK) {
            calibrated[class_] = result.prob;
            sum += result.prob;
            count += 1.0f;
        }
    }
    for (class_ = 0; class_ < CAPITALS_CLASSES; class_++)
        /* NaN is not equal to itself. */
        if (calibrated[class_] == calibrated[class_])
            calibrated[class_] = sum > 0.0f ? calibrated[class_] / sum : 1.0f / count;
    return CAPITALS_OK;
}
