
/* Whether there is a probability for every class, and they sum to 1 as nearly as rounding leaves them. */
static inline int {{ name }}_are_probs(const float *probs)
{
    float sum = 0.0f;
    uint32_t class_;

    for (class_ = 0; class_ < {{ NAME }}_CLASSES; class_++) {
        float prob = probs[class_];
        if (!(prob >= -1e-6f && (prob <= 1.0f || prob - 1.0f <= 1e-6f)))
            return 0;
        sum += prob;
    }
    return sum - 1.0f <= {{ tolerance }} && sum - 1.0f >= -{{ tolerance }};
}

/* The score of a class, moved into [0, 1] where rounding left it. */
static inline float {{ name }}_score(float prob)
{
    return prob < 0.0f ? 0.0f : prob > 1.0f ? 1.0f : prob;
}
