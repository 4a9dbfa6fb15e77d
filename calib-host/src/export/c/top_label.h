
/* The predicted class of CAPITALS_CLASSES, the first of the largest, and the probability that it is right. */
static inline int NAME_top_label(const SCORE *scores, WORD_ARGUMENTuint32_t *predicted, struct NAME_result *result)
{
    uint32_t class_, first = 0;

CHECK    for (class_ = 1; class_ < CAPITALS_CLASSES; class_++)
        if (scores[class_] > scores[first])
            first = class_;
    *predicted = first;
    return NAME_calibrate(TABLE, AS_SCORE, WORDresult);
}
