    word.number = score;
    /* -0.0 is 0. */
    if (word.bits == 0x80000000u)
        word.bits = 0;
{% if is_margin %}
    if ((word.bits & 0x7f800000u) == 0x7f800000u)
        return {{ NAME }}_BAD_SCORE;
{% else %}
    if (word.bits > 0x3f800000u)
        return {{ NAME }}_BAD_SCORE;
{% endif %}
