
/* The class with this rank, from 0, of {{ NAME }}_CLASSES, and the probability that it is right; of equal ones the first comes
   first. There are {{ NAME }}_RANKS ranks. */
static inline int {{ name }}_top_k(const float *probs, uint32_t rank, {% if is_randomized %}uint32_t draw, {% endif %}uint32_t *ranked, struct {{ name }}_result *result)
{
    uint32_t class_, other, before;

    if (rank >= {{ NAME }}_RANKS)
        return {{ NAME }}_UNCALIBRATED;
    if (!{{ name }}_are_probs(probs))
        return {{ NAME }}_BAD_SCORE;
    for (class_ = 0; class_ < {{ NAME }}_CLASSES; class_++) {
        before = 0;
        for (other = 0; other < {{ NAME }}_CLASSES; other++)
            if (probs[other] > probs[class_] || (probs[other] == probs[class_] && other < class_))
                before++;
        if (before == rank)
            break;
    }
    *ranked = class_;
    return {{ name }}_calibrate({% if is_by_label %}rank * {{ NAME }}_CLASSES + class_{% else %}rank{% endif %}, {{ name }}_score(probs[class_]), {% if is_randomized %}draw, {% endif %}result);
}
