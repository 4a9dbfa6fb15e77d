
/* The predicted class of {{ NAME }}_CLASSES, the first of the largest {% if is_code %}codes{% else %}logits{% endif %}, and the probability that it is right. Its score is its top-two margin: the
   largest less the second largest. */
static inline int {{ name }}_top_label({{ group_argument }}const {{ score_type }} *logits, {% if is_randomized %}uint32_t draw, {% endif %}uint32_t *predicted, struct {{ name }}_result *result)
{
    uint32_t class_, first = 0, second = 1;
{% if not is_code %}
    union {{ name }}_word top2_margin;
{% endif %}

{% if groups %}
    if (group >= {{ groups }}u)
        return {{ NAME }}_UNCALIBRATED;
{% endif %}
{% if not is_code %}
    for (class_ = 0; class_ < {{ NAME }}_CLASSES; class_++) {
        top2_margin.number = logits[class_];
        if ((top2_margin.bits & 0x7f800000u) == 0x7f800000u)
            return {{ NAME }}_BAD_SCORE;
    }
{% endif %}
    for (class_ = 1; class_ < {{ NAME }}_CLASSES; class_++) {
        if (logits[class_] > logits[first]) {
            second = first;
            first = class_;
        } else if (class_ == 1 || logits[class_] > logits[second]) {
            second = class_;
        }
    }
    *predicted = first;
{% if is_code %}
    return {{ name }}_calibrate({{ first_table }}{% if is_by_label %}first{% else %}0{% endif %}, {{ NAME }}_AS(int32_t, logits[first]) - {{ NAME }}_AS(int32_t, logits[second]), result);
{% else %}
    top2_margin.number = logits[first] - logits[second];
    /* Above the largest float. */
    if (top2_margin.bits == 0x7f800000u)
        top2_margin.bits = 0x7f7fffffu;
    return {{ name }}_calibrate({{ first_table }}{% if is_by_label %}first{% else %}0{% endif %}, top2_margin.number, {% if is_randomized %}draw, {% endif %}result);
{% endif %}
}
