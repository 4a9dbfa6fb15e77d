#define {{ NAME }}_CLASSES {{ joint.classes }}u

/* What is known of the predicted class. */
struct {{ name }}_result {
    /* Its calibrated probability. */
    float prob;
{% if joint.cells or joint.has_ranges %}
    /* The {% if joint.has_ranges %}range of the class's score before calibration{% else %}cell of the vector{% endif %}. */
    uint32_t bin;
{% endif %}
{% if joint.has_ranges %}
    /* The interval of that range. What it contains, and with which probability, the first comment of this file states. Not a number:
       there is none. */
    float lo, hi;
{% endif %}
};

{% for array in joint.arrays %}
/* {{ array.comment }} */
static const {{ array.type }} {{ name }}_{{ array.name }}[] = {{ "{" }}{{ array.numbers }}};
{% endfor %}
{% if joint.has_ranges %}
struct {{ name }}_table {
    uint32_t ranges;
    const uint32_t *range, *lo, *hi;
};

{% for class in joint.ranges if class %}
{% for part in class.parts %}
static const uint32_t {{ name }}_{{ part.name }}_{{ class.index }}[] = {{ "{" }}{{ part.numbers }}};
{% endfor %}
{% endfor %}

/* The ranges of each class's score, where the class is predicted. */
static const struct {{ name }}_table {{ name }}_tables[] = {
{% for class in joint.ranges %}
{% if class %}
    {{ "{" }}{{ class.edges }}, {{ name }}_range_{{ class.index }}, {{ name }}_lo_{{ class.index }}, {{ name }}_hi_{{ class.index }}},
{% else %}
    {0, 0, 0, 0},
{% endif %}
{% endfor %}
};
{% include "range.h" %}
{% endif %}
{% if joint.arithmetic.times %}
{% set arithmetic = joint.arithmetic %}
{% include "arithmetic.h" %}
{% endif %}
{% if not joint.takes_logits %}
{% include "vectors.h" %}
{% endif %}
{% if joint.cells %}
{% include joint.cells %}
{% endif %}

/* The calibrated probabilities of all {{ NAME }}_CLASSES classes, and the predicted class, the first with the largest
   {% if joint.takes_logits %}logit{% else %}probability{% endif %}, with what is known of it.{% if joint.may_be_empty %} {{ NAME }}_UNCALIBRATED, and NaN for every class, if no calibration point is in the
   vector's cell.{% endif %} */
static inline int {{ name }}_all_classes(const float *{{ joint.scores }}, float *calibrated, uint32_t *predicted, struct {{ name }}_result *result)
{
    float features[{{ NAME }}_CLASSES];
    union {{ name }}_word word;
    uint32_t class_, first = 0;
{% if joint.is_matrix %}
    uint32_t feature;
{% endif %}
{% if joint.cells %}
    uint32_t cell;
{% endif %}
{% if joint.takes_logits and joint.has_ranges %}
    float sum = 0.0f;
{% endif %}
{% if joint.has_ranges %}
    const struct {{ name }}_table *table;
{% endif %}

{% if joint.takes_logits %}
    for (class_ = 0; class_ < {{ NAME }}_CLASSES; class_++) {
        word.number = features[class_] = logits[class_];
        if ((word.bits & 0x7f800000u) == 0x7f800000u)
            return {{ NAME }}_BAD_SCORE;
    }
{% else %}
    if (!{{ name }}_are_probs(probs))
        return {{ NAME }}_BAD_SCORE;
    for (class_ = 0; class_ < {{ NAME }}_CLASSES; class_++)
        features[class_] = {{ name }}_score(probs[class_]);
{% endif %}
    for (class_ = 1; class_ < {{ NAME }}_CLASSES; class_++)
        if ({{ joint.scores }}[class_] > {{ joint.scores }}[first])
            first = class_;
    *predicted = first;
{% if joint.clip %}
    for (class_ = 0; class_ < {{ NAME }}_CLASSES; class_++)
        features[class_] = {{ name }}_log(features[class_] > {{ joint.clip }} ? features[class_] : {{ joint.clip }});
{% endif %}
{% if joint.cells %}
    cell = {{ name }}_cell(features);
{% if joint.may_be_empty %}
    if ({{ name }}_empty[cell]) {
        word.bits = 0x7fc00000u;
        for (class_ = 0; class_ < {{ NAME }}_CLASSES; class_++)
            calibrated[class_] = word.number;
        return {{ NAME }}_UNCALIBRATED;
    }
{% endif %}
    for (class_ = 0; class_ < {{ NAME }}_CLASSES; class_++) {
        word.bits = {{ name }}_value[cell * {{ NAME }}_CLASSES + class_];
        calibrated[class_] = word.number;
    }
{% else %}
    for (class_ = 0; class_ < {{ NAME }}_CLASSES; class_++) {
{% if joint.temperature %}
        word.bits = {{ joint.temperature }};
        calibrated[class_] = {{ name }}_bounded({{ name }}_times(features[class_], word.number));
{% else %}
        float scaled;
        word.bits = {{ name }}_intercept[class_];
        scaled = word.number;
{% if joint.is_matrix %}
        for (feature = 0; feature < {{ NAME }}_CLASSES; feature++) {
            word.bits = {{ name }}_weight[class_ * {{ NAME }}_CLASSES + feature];
            scaled += {{ name }}_times(word.number, features[feature]);
        }
{% else %}
        word.bits = {{ name }}_weight[class_];
        scaled += {{ name }}_times(word.number, features[class_]);
{% endif %}
        calibrated[class_] = {{ name }}_bounded(scaled);
{% endif %}
    }
    {{ name }}_softmax(calibrated);
{% endif %}
    result->prob = calibrated[first];
{% if joint.cells %}
    result->bin = cell;
{% elif joint.has_ranges %}
    result->bin = 0;
{% endif %}
{% if joint.has_ranges %}
{% if joint.takes_logits %}
    for (class_ = 0; class_ < {{ NAME }}_CLASSES; class_++)
        sum += {{ name }}_exp(logits[class_] - logits[first]);
    word.number = 1.0f / sum;
{% else %}
    word.number = {{ name }}_score(probs[first]);
    /* -0.0 is 0. */
    if (word.bits == 0x80000000u)
        word.bits = 0;
{% endif %}
    table = &{{ name }}_tables[first];
    if (table->range) {
        result->bin = {{ name }}_range(table, word.bits);
        word.bits = table->lo[result->bin];
        result->lo = word.number;
        word.bits = table->hi[result->bin];
        result->hi = word.number;
    } else {
        word.bits = 0x7fc00000u;
        result->lo = result->hi = word.number;
    }
{% endif %}
    return {{ NAME }}_OK;
}
