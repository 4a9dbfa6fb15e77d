
/* The classes in the prediction set of a {{ score_words }}: class 0 is bit 0, class 1 is bit 1.

{% for sentence in rule %}
   {{ sentence }}
{% endfor %}
 */
static inline int {{ name }}_set({% if is_code %}int32_t code{% else %}float score{% endif %}, uint32_t *set)
{
    /* The least key of each class's conformity with which the class is in the set. */
    static const uint32_t least[] = {{ "{" }}{{ sets.least }}};
{% if not is_code %}
    union {{ name }}_word word;
{% endif %}
    uint32_t of_0, of_1;

{% if is_code %}
    if (code < {{ lowest }} || code > {{ highest }})
        return {{ NAME }}_BAD_SCORE;
    of_1 = {{ NAME }}_AS(uint32_t, code - ({{ lowest }}));
    of_0 = {{ NAME }}_AS(uint32_t, {{ highest }} - code);
{% else %}
{% include "checked.h" %}
{% if is_margin %}
    /* Keys of the margin and of its negative, which are ordered like them. */
    of_1 = word.bits & 0x80000000u ? ~word.bits : word.bits | 0x80000000u;
    of_0 = word.bits ? ~of_1 : of_1;
{% else %}
    of_1 = word.bits;
    word.number = 1.0f - word.number;
    of_0 = word.bits;
{% endif %}
{% endif %}
    *set = (of_0 >= least[0] ? 1u : 0u) | (of_1 >= least[1] ? 2u : 0u);
{% if sets.never_empty %}
    *set |= of_1 > of_0 ? 2u : 1u;
{% endif %}
    return {{ NAME }}_OK;
}
