    bin = {{ name }}_bin(table, {{ key }}, draw);
    value.bits = table->value[bin];
