
/* What the thresholds say of a score: below the lower one it is negative, from the upper one on positive, and in between
   somebody else decides. */
#define {{ NAME }}_NEGATIVE 0
#define {{ NAME }}_REFER 1
#define {{ NAME }}_POSITIVE 2
#define {{ NAME }}_GROUPS {{ points|length }}u
/* There is no such group. */
#define {{ NAME }}_BAD_GROUP 3

/* The verdict on a {{ score_words }} of a case of this group, which is 0 where there are no groups.

{% for sentence in rule %}
   {{ sentence }}
{% endfor %}
 */
static inline int {{ name }}_verdict(uint32_t group, {% if is_code %}int32_t code{% else %}float score{% endif %}, int *verdict)
{
    /* Keys, which are ordered like the scores. The second is one above the greatest key where nothing is positive. */
    static const uint32_t threshold[][2] = {
{% for pair in points %}
        {{ "{" }}{{ pair[0] }}, {{ pair[1] }}},
{% endfor %}
    };
{% if not is_code %}
    union {{ name }}_word word;
{% endif %}
    uint32_t key;

    if (group >= {{ NAME }}_GROUPS)
        return {{ NAME }}_BAD_GROUP;
{% if is_code %}
    if (code < {{ lowest }} || code > {{ highest }})
        return {{ NAME }}_BAD_SCORE;
    key = {{ NAME }}_AS(uint32_t, code - ({{ lowest }}));
{% else %}
{% include "checked.h" %}
{% if is_margin %}
    key = word.bits & 0x80000000u ? ~word.bits : word.bits | 0x80000000u;
{% else %}
    key = word.bits;
{% endif %}
{% endif %}
    *verdict = key >= threshold[group][1] ? {{ NAME }}_POSITIVE : key >= threshold[group][0] ? {{ NAME }}_REFER : {{ NAME }}_NEGATIVE;
    return {{ NAME }}_OK;
}
