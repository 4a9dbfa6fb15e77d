
/* The predicted class of {{ NAME }}_CLASSES, the first of the largest, and the probability that it is right. */
static inline int {{ name }}_top_label({{ group_argument }}const {{ score_type }} *scores, {% if is_randomized %}uint32_t draw, {% endif %}uint32_t *predicted, struct {{ name }}_result *result)
{
    uint32_t class_, first = 0;

{% if groups %}
    if (group >= {{ groups }}u)
        return {{ NAME }}_UNCALIBRATED;
{% endif %}
{% if not is_code %}
    if (!{{ name }}_are_probs(scores))
        return {{ NAME }}_BAD_SCORE;
{% endif %}
    for (class_ = 1; class_ < {{ NAME }}_CLASSES; class_++)
        if (scores[class_] > scores[first])
            first = class_;
    *predicted = first;
    return {{ name }}_calibrate({{ first_table }}{% if is_by_label %}first{% else %}0{% endif %}, {% if is_code %}scores[first]{% else %}{{ name }}_score(scores[first]){% endif %}, {% if is_randomized %}draw, {% endif %}result);
}
