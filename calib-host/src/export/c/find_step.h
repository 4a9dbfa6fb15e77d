    bin = {{ name }}_bin(table, word.bits);
    value.bits = table->value[bin];
