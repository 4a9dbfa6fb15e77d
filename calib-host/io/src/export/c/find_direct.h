    bin = table->direct[key];
    value.bits = table->value[bin];
