
/* The probability for a score, by the table of this index. Floats from 0 up are ordered like their bits. */
static inline int NAME_calibrate(uint32_t index, float score, WORD_ARGUMENTstruct NAME_result *result)
{
    const struct NAME_table *table;
    union NAME_word word, value;
    uint32_t bin;

    if (index >= CAPITALS_TABLES || !NAME_tables[index].value)
        return CAPITALS_UNCALIBRATED;
    table = &NAME_tables[index];
    word.number = score;
    /* -0.0 is 0. */
    if (word.bits == 0x80000000u)
        word.bits = 0;
    if (word.bits > 0x3f800000u)
        return CAPITALS_BAD_SCORE;
FIND
    result->bin = bin;
    result->prob = value.number;
    value.bits = EPSILON;
    result->epsilon = value.number;
    return CAPITALS_OK;
}
