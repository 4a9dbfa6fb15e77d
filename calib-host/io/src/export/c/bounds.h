{% if has_ranges %}
    bin = {{ name }}_range(table, {{ range_key }});
{% endif %}
{% if has_bounds %}
    value.bits = table->lo[bin];
    result->lo = value.number;
    value.bits = table->hi[bin];
    result->hi = value.number;
{% endif %}
