    {
        /* Rounded after each step: a multiplication and an addition in one would round once. */
        volatile float scaled = word.number * 65535.0f;
        word.bits = {{ NAME }}_AS(uint32_t, scaled + 0.5f);
    }
    bin = {{ name }}_bin(table, word.bits);
    /* Exact. */
    value.number = table->value[bin];
    value.number /= 32768.0f;
