    bin = {{ name }}_bin(table, key >> 16);
    /* Exact. */
    value.number = (float)table->value[bin] / 32768.0f;
