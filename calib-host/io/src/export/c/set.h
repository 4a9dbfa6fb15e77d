
#define {{ NAME }}_SET_CLASSES {{ sets.classes }}u

/* The classes in the prediction set of {{ sets.of }}: class c is bit c % 32 of set[c / 32].

{% for sentence in rule %}
   {{ sentence }}
{% endfor %}
 */
static inline int {{ name }}_set(const {{ sets.type }} *scores, uint32_t set[4])
{
    /* The least {% if sets.is_code %}difference or code{% else %}conformity, as bits,{% endif %} with which a class is in the set. */
    static const {{ sets.threshold }} least[] = {{ "{" }}{{ sets.least }}};
    uint32_t class_, first = 0{% if sets.is_margin %}, second = 1{% endif %};
{% if sets.is_code %}
    int32_t conformity;
{% else %}
    union {{ name }}_word word, bound;
{% endif %}

{% if not sets.is_code %}
    for (class_ = 0; class_ < {{ NAME }}_SET_CLASSES; class_++) {
        word.number = scores[class_];
        if ((word.bits & 0x7f800000u) == 0x7f800000u{% if not sets.is_margin %} || !(word.number >= 0.0f && word.number <= 1.0f){% endif %})
            return {{ NAME }}_BAD_SCORE;
    }
{% endif %}
    for (class_ = 1; class_ < {{ NAME }}_SET_CLASSES; class_++) {
        if (scores[class_] > scores[first]) {
{% if sets.is_margin %}
            second = first;
{% endif %}
            first = class_;
        }{% if sets.is_margin %} else if (class_ == 1 || scores[class_] > scores[second]) {
            second = class_;
        }{% endif %}

    }
    set[0] = set[1] = set[2] = set[3] = 0;
    for (class_ = 0; class_ < {{ NAME }}_SET_CLASSES; class_++) {
{% if sets.is_code and sets.is_margin %}
        conformity = {{ NAME }}_AS(int32_t, scores[class_]) - {{ NAME }}_AS(int32_t, scores[class_ == first ? second : first]);
        if (conformity >= least[{{ sets.at }}])
{% elif sets.is_code %}
        conformity = {{ NAME }}_AS(int32_t, scores[class_]);
        if (conformity >= least[{{ sets.at }}])
{% else %}
{% if sets.is_margin %}
        word.number = scores[class_] - scores[class_ == first ? second : first];
        /* Beyond the greatest and the lowest float. */
        if ((word.bits & 0x7fffffffu) == 0x7f800000u)
            word.bits--;
{% else %}
        word.number = scores[class_];
{% endif %}
        bound.bits = least[{{ sets.at }}];
        if (word.number >= bound.number)
{% endif %}
            set[class_ / 32] |= {{ NAME }}_AS(uint32_t, 1) << (class_ % 32);
    }
{% if sets.never_empty %}
    set[first / 32] |= {{ NAME }}_AS(uint32_t, 1) << (first % 32);
{% endif %}
    return {{ NAME }}_OK;
}
