
/* A parameter of a function. */
static inline float {{ name }}_parameter(const uint32_t *parameters, uint32_t place)
{
    union {{ name }}_word word;

    word.bits = parameters[place];
    return word.number;
}
{% if arithmetic.log %}

/* The logarithm of a score that is moved into [clip, 1 - clip]. */
static inline float {{ name }}_clipped_log(float score, float clip)
{
    float top = 1.0f - clip;

    return {{ name }}_log(score < clip ? clip : score > top ? top : score);
}
{% endif %}

/* The probability by a function, whose number is followed by its parameters. */
static inline float {{ name }}_function(const uint32_t *parameters, float score)
{
{% for function in functions %}
    if (parameters[0] == {{ loop.index0 }}u) {
{% for parameter in function.parameters %}
        float {{ parameter }} = {{ name }}_parameter(parameters, {{ loop.index }}u);
{% endfor %}
{% if "clip" in function.parameters %}
        float ln_s = {{ name }}_clipped_log(score, clip), ln_not_s = {{ name }}_clipped_log(1.0f - score, clip);
{% endif %}
{% if function.kind == "Beta" %}
        return {{ name }}_sigmoid({{ name }}_times(a, ln_s) - {{ name }}_times(b, ln_not_s) + c);
{% elif function.kind == "Unchanged" %}
        return score;
{% else %}
        float x = {% if "clip" in function.parameters %}ln_s - ln_not_s{% elif "scale" in function.parameters %}{{ name }}_bounded({{ name }}_times(score, scale) + shift){% else %}score{% endif %};
{% if "inverse_t" in function.parameters %}
        return {{ name }}_sigmoid({{ name }}_times(x, inverse_t));
{% elif "c" in function.parameters %}
        return {{ name }}_sigmoid({{ name }}_times({{ name }}_times(a, x) + b, x) + c);
{% else %}
        return {{ name }}_sigmoid({{ name }}_times(a, x) + b);
{% endif %}
{% endif %}
    }
{% endfor %}
    return score;
}
