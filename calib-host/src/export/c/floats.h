
/* The probability for a score, by the table of this index. Floats from 0 up are ordered like their bits. */
static inline int {{ name }}_calibrate(uint32_t index, float score, {% if is_randomized %}uint32_t draw, {% endif %}struct {{ name }}_result *result)
{
    const struct {{ name }}_table *table;
    union {{ name }}_word word, value;
    uint32_t bin;

    if (index >= {{ NAME }}_TABLES || !{{ name }}_tables[index].value)
        return {{ NAME }}_UNCALIBRATED;
    table = &{{ name }}_tables[index];
    word.number = score;
    /* -0.0 is 0. */
    if (word.bits == 0x80000000u)
        word.bits = 0;
    if (word.bits > 0x3f800000u)
        return {{ NAME }}_BAD_SCORE;
{% include find %}
    result->bin = bin;
    result->prob = value.number;
    value.bits = {% if has_empty %}table->empty && table->empty[bin] ? 0xbf800000u : {% endif %}table->epsilon;
    result->epsilon = value.number;
    return {{ NAME }}_OK;
}
