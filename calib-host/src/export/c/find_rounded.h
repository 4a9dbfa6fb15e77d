    {
        /* Rounded after each step: a multiplication and an addition in one would round once. */
        volatile float scaled = word.number * 65535.0f;
        bin = {{ name }}_bin(table, (uint32_t)(scaled + 0.5f));
    }
    /* Exact. */
    value.number = (float)table->value[bin] / 32768.0f;
