    bin = {{ name }}_bin(table, {{ key }});
    value.bits = table->value[bin < table->edges ? bin : bin - 1];
    if (bin > 0 && bin < table->edges) {
        union {{ name }}_word knot, low, slope;
        /* Rounded after each step: a multiplication and an addition in one would round once. */
        volatile float rise;
        float prob;
{% if is_margin %}
        key = table->edge[bin - 1];
        knot.bits = key & 0x80000000u ? key & 0x7fffffffu : ~key;
{% else %}
        knot.bits = table->edge[bin - 1];
{% endif %}
        low.bits = table->value[bin - 1];
        slope.bits = table->slope[bin - 1];
        rise = (word.number - knot.number) * slope.number;
        prob = low.number + rise;
        /* NaN, from a slope that is infinite, is not above the lower knot. */
        if (!(prob >= value.number))
            value.number = prob > low.number ? prob : low.number;
    }
