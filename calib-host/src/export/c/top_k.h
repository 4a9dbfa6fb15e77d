
/* The class with this rank, from 0, of CAPITALS_CLASSES, and the probability that it is right; of equal ones the first comes
   first. There are CAPITALS_RANKS ranks. */
static inline int NAME_top_k(const float *probs, uint32_t rank, WORD_ARGUMENTuint32_t *ranked, struct NAME_result *result)
{
    uint32_t class_, other, before;

    if (rank >= CAPITALS_RANKS)
        return CAPITALS_UNCALIBRATED;
    if (!NAME_are_probs(probs))
        return CAPITALS_BAD_SCORE;
    for (class_ = 0; class_ < CAPITALS_CLASSES; class_++) {
        before = 0;
        for (other = 0; other < CAPITALS_CLASSES; other++)
            if (probs[other] > probs[class_] || (probs[other] == probs[class_] && other < class_))
                before++;
        if (before == rank)
            break;
    }
    *ranked = class_;
    return NAME_calibrate(TABLE, NAME_score(probs[class_]), WORDresult);
}
