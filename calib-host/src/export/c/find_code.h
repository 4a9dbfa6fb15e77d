    bin = NAME_bin(table, key);
    value.bits = table->value[bin];
