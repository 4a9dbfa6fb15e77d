
/* The probabilities of all {{ NAME }}_CLASSES classes, which sum to 1; NaN for a class that is uncalibrated, to which the others
   leave nothing. {{ NAME }}_UNCALIBRATED, and NaN for every class, if none is calibrated or all have the probability 0. */
static inline int {{ name }}_normalized(const float *probs, {% if is_randomized %}uint32_t draw, {% endif %}float *calibrated)
{
    struct {{ name }}_result result;
    union {{ name }}_word nan;
    float sum = 0.0f;
    uint32_t class_;

    nan.bits = 0x7fc00000u;
    if (!{{ name }}_are_probs(probs))
        return {{ NAME }}_BAD_SCORE;
    for (class_ = 0; class_ < {{ NAME }}_CLASSES; class_++) {
        calibrated[class_] = nan.number;
        if ({{ name }}_calibrate(class_, {{ name }}_score(probs[class_]), {% if is_randomized %}draw, {% endif %}&result) == {{ NAME }}_OK) {
            calibrated[class_] = result.prob;
            sum += result.prob;
        }
    }
    for (class_ = 0; class_ < {{ NAME }}_CLASSES; class_++)
        /* NaN stays NaN. */
        calibrated[class_] = sum > 0.0f ? calibrated[class_] / sum : nan.number;
    return sum > 0.0f ? {{ NAME }}_OK : {{ NAME }}_UNCALIBRATED;
}
