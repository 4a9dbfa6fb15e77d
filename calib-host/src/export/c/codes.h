
/* The probability for a score's code, by the table of this index. */
static inline int NAME_calibrate(uint32_t index, int32_t code, struct NAME_result *result)
{
    const struct NAME_table *table;
    union NAME_word value;
    uint32_t key, bin;

    if (index >= CAPITALS_TABLES || !NAME_tables[index].value)
        return CAPITALS_UNCALIBRATED;
    if (code < LOWEST || code > HIGHEST)
        return CAPITALS_BAD_SCORE;
    table = &NAME_tables[index];
    key = (uint32_t)(code - (LOWEST));
FIND
    result->bin = bin;
    result->prob = value.number;
    value.bits = EPSILON;
    result->epsilon = value.number;
    return CAPITALS_OK;
}
