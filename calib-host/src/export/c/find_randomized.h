    bin = NAME_bin(table, word.bits, draw);
    value.bits = table->value[bin];
