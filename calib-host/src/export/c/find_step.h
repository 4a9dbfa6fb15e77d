    bin = NAME_bin(table, word.bits);
    value.bits = table->value[bin];
