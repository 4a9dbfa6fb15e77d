    bin = {{ name }}_bin(table, {{ key }});
    value.bits = table->value[bin];
