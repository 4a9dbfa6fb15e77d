    bin = 0;
    value.number = {{ name }}_function(table->value, word.number);
