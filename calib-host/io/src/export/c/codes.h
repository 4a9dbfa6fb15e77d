
{% if is_top2_margin %}
/* The probability for a top-two margin, a difference of codes, by the table of this index. */
{% else %}
/* The probability for a score's code, by the table of this index. */
{% endif %}
static inline int {{ name }}_calibrate(uint32_t index, int32_t code, struct {{ name }}_result *result)
{
    const struct {{ name }}_table *table;
    union {{ name }}_word value;
    uint32_t key, bin;

    if (index >= {{ NAME }}_TABLES || !{{ name }}_tables[index].value)
        return {{ NAME }}_UNCALIBRATED;
    if (code < {{ lowest }} || code > {{ highest }})
        return {{ NAME }}_BAD_SCORE;
    table = &{{ name }}_tables[index];
    key = {{ NAME }}_AS(uint32_t, code - ({{ lowest }}));
{% include find %}
{% if has_empty %}
    if (table->empty && table->empty[bin])
        return {{ NAME }}_UNCALIBRATED;
{% endif %}
    result->prob = value.number;
{% include "bounds.h" %}
    result->bin = bin;
    value.bits = table->epsilon;
    result->epsilon = value.number;
    return {{ NAME }}_OK;
}
