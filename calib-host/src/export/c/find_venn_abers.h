    bin = {{ name }}_bin(table, word.bits);
    {
        union {{ name }}_word low, high;
        low.bits = table->value[bin];
        high.bits = table->upper[bin];
        value.number = high.number / (1.0f - low.number + high.number);
        if (value.number >= high.number)
            value.number = high.number;
        else if (!(value.number > low.number))
            value.number = low.number;
        result->low = low.number;
        result->high = high.number;
    }
