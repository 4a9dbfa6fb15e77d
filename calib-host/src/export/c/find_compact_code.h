    bin = {{ name }}_bin(table, key);
    /* Exact. */
    value.number = (float)table->value[bin] / 32768.0f;
