
/* The probability for a score, by the table of this index. {% if is_margin %}A score is any finite float.{% else %}Floats from 0 up are ordered like their bits.{% endif %}{% if is_randomized %}

   draw is a random number, uniform over all of uint32_t, independent of the score and drawn anew for every call, as by a
   hardware generator. With a constant, a counter or a generator that starts with the same seed nothing is guaranteed, for any
   score, whatever epsilon says.{% endif %} */
static inline int {{ name }}_calibrate(uint32_t index, float score, {% if is_randomized %}uint32_t draw, {% endif %}struct {{ name }}_result *result)
{
    const struct {{ name }}_table *table;
    union {{ name }}_word word, value;
    uint32_t bin{% if needs_key %}, key{% endif %};

    if (index >= {{ NAME }}_TABLES || !{{ name }}_tables[index].value)
        return {{ NAME }}_UNCALIBRATED;
    table = &{{ name }}_tables[index];
{% include "checked.h" %}
{% if needs_key %}
    /* Ordered like the floats: the bits with the sign set, or of a negative float all turned round. */
    key = word.bits & 0x80000000u ? ~word.bits : word.bits | 0x80000000u;
{% endif %}
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
