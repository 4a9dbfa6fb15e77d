    bin = {{ name }}_bin(table, key >> 16);
    /* Exact. */
    value.number = table->value[bin];
    value.number /= 32768.0f;
