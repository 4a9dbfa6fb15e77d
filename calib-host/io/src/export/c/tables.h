#define {{ NAME }}_TABLES {{ tables|length }}u
{% if classes %}
#define {{ NAME }}_CLASSES {{ classes }}u
{% endif %}
{% if ranks %}
#define {{ NAME }}_RANKS {{ ranks }}u
{% endif %}

/* A calibrated probability. */
struct {{ name }}_result {
    float prob;
    /* The bin's true probability, which is the mean over all scores in it, is within epsilon of prob: under the conditions, and
       but for the failure probability, that the first comment of this file states. Not a number: nothing is guaranteed. */
    float epsilon;
    uint32_t bin;
{% if has_bounds %}
    /* The interval of {% if has_ranges %}the score's range, whose number is bin{% else %}the bin{% endif %}. What it contains, and with which probability, the first comment of this
       file states. Not a number: there is none. */
    float lo, hi;
{% endif %}
{% if has_p0_p1 %}
    /* The probabilities of Venn-Abers with the label 0 and with the label 1. The one for the label that comes true is calibrated;
       prob lies between them. They are no confidence interval: the true probability mostly lies outside. */
    float p0, p1;
{% endif %}
};

struct {{ name }}_table {
    uint32_t edges;
    uint32_t epsilon;
{% if has_ranges %}
    uint32_t ranges;
{% endif %}
{% for part in parts %}
    const {{ part.type }} *{{ part.name }};
{% endfor %}
};

{% for table in tables if table %}
{% if table.decimals %}
/* Table {{ table.index }} in decimals, {{ from_each }}.
   {{ table.decimals }} */
{% endif %}
{% for part in parts if table.arrays[part.name] %}
static const {{ part.type }} {{ name }}_{{ part.name }}_{{ table.index }}[] = {{ "{" }}{{ table.arrays[part.name] }}};
{% endfor %}
{% endfor %}

static const struct {{ name }}_table {{ name }}_tables[] = {
{% for table in tables %}
    {{ "{" }}{% if table %}{{ table.edges }}, {{ table.epsilon }}{% else %}0, 0{% endif %}{% if has_ranges %}, {% if table %}{{ table.ranges }}{% else %}0{% endif %}{% endif %}{% for part in parts %}, {% if table and table.arrays[part.name] %}{{ name }}_{{ part.name }}_{{ table.index }}{% else %}0{% endif %}{% endfor %}},
{% endfor %}
};
