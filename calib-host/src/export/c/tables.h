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
    /* With the artefact's failure probability, prob is within epsilon of the truth; -1: nothing is guaranteed. */
    float epsilon;
    uint32_t bin;
{% if has_interval %}
    /* One of both is calibrated, and prob lies between them. */
    float low, high;
{% endif %}
};

struct {{ name }}_table {
    uint32_t edges;
    uint32_t epsilon;
{% for part in parts %}
    const {{ part.type }} *{{ part.name }};
{% endfor %}
};

{% for table in tables if table %}
{% for part in parts if table.arrays[part.name] %}
static const {{ part.type }} {{ name }}_{{ part.name }}_{{ table.index }}[] = {{ "{" }}{{ table.arrays[part.name] }}};
{% endfor %}
{% endfor %}

static const struct {{ name }}_table {{ name }}_tables[] = {
{% for table in tables %}
    {{ "{" }}{% if table %}{{ table.edges }}, {{ table.epsilon }}{% else %}0, 0{% endif %}{% for part in parts %}, {% if table and table.arrays[part.name] %}{{ name }}_{{ part.name }}_{{ table.index }}{% else %}0{% endif %}{% endfor %}},
{% endfor %}
};
