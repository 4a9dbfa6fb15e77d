    bin = {{ name }}_bin(table, {{ key }});
    {
        union {{ name }}_word p0, p1;
        p0.bits = table->value[bin];
        p1.bits = table->upper[bin];
        value.number = p1.number / (1.0f - p0.number + p1.number);
        if (value.number >= p1.number)
            value.number = p1.number;
        else if (!(value.number > p0.number))
            value.number = p0.number;
        result->p0 = p0.number;
        result->p1 = p1.number;
    }
