    bin = {{ name }}_bin(table, word.bits, draw);
    value.bits = table->value[bin];
