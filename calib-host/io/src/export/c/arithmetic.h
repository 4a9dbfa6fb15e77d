
/* The product, rounded: a multiplication and an addition in one would round once. */
static inline float {{ name }}_times(float a, float b)
{
    volatile float product = a * b;
    return product;
}
{% if arithmetic.exp %}

/* exp(x) for x of at most 0, with the bits of calib-core: x = k ln 2 + rest, and a fraction in the rest. */
static inline float {{ name }}_exp(float x)
{
    union {{ name }}_word word;
    float high = x, low = 0.0f, square, c;
    int32_t k = 0;

    word.number = x;
    word.bits &= 0x7fffffffu;
    /* Below -103.97, where the result is 0 after rounding. */
    if (word.bits >= 0x42cff1b5u)
        return 0.0f;
    if (word.bits <= 0x39000000u)
        return 1.0f + x;
    if (word.bits > 0x3eb17218u) {
        k = word.bits > 0x3f851592u ? {{ NAME }}_AS(int32_t, {{ name }}_times(1.4426950216f, x) - 0.5f) : -1;
        /* ln 2 in two parts. */
        high = x - {{ name }}_times({{ NAME }}_AS(float, k), 0.69314575195f);
        low = {{ name }}_times({{ NAME }}_AS(float, k), 1.4286067653e-6f);
        x = high - low;
    }
    square = {{ name }}_times(x, x);
    c = x - {{ name }}_times(square, 0.16666625440f + {{ name }}_times(square, -2.7667332906e-3f));
    x = 1.0f + ({{ name }}_times(x, c) / (2.0f - c) - low + high);
    /* Times 2^k, rounded once where the result is subnormal. */
    if (k < -126) {
        word.bits = 0x0c800000u;
        x = {{ name }}_times(x, word.number);
        k += 102;
    }
    word.bits = {{ NAME }}_AS(uint32_t, k + 127) << 23;
    return {{ name }}_times(x, word.number);
}
{% endif %}
{% if arithmetic.log %}

/* The natural logarithm of x in (0, 1], with the bits of calib-core: x = 2^k (1 + f), and a polynomial in f / (2 + f). */
static inline float {{ name }}_log(float x)
{
    union {{ name }}_word word;
    float f, s, z, w, rest, half, exponent;
    int32_t k = -127;

    word.number = x;
    if (word.bits == 0x3f800000u)
        return 0.0f;
    /* Subnormal. */
    if (word.bits < 0x00800000u) {
        word.number = {{ name }}_times(x, 33554432.0f);
        k -= 25;
    }
    /* 1 + f is from sqrt(1/2) to sqrt(2). */
    word.bits += 0x3f800000u - 0x3f3504f3u;
    k += {{ NAME }}_AS(int32_t, word.bits >> 23);
    word.bits = (word.bits & 0x007fffffu) + 0x3f3504f3u;
    f = word.number - 1.0f;
    s = f / (2.0f + f);
    z = {{ name }}_times(s, s);
    w = {{ name }}_times(z, z);
    rest = {{ name }}_times(z, 0.66666662693f + {{ name }}_times(w, 0.28498786688f))
        + {{ name }}_times(w, 0.40000972152f + {{ name }}_times(w, 0.24279078841f));
    half = {{ name }}_times({{ name }}_times(0.5f, f), f);
    exponent = {{ NAME }}_AS(float, k);
    return {{ name }}_times(s, half + rest) + {{ name }}_times(exponent, 9.0580006145e-6f) - half + f
        + {{ name }}_times(exponent, 0.69313812256f);
}
{% endif %}
{% if arithmetic.bounded %}

/* A sum that overflows becomes the largest number of its sign, one that is NaN the lowest number. */
static inline float {{ name }}_bounded(float sum)
{
    union {{ name }}_word word;

    word.number = sum;
    if ((word.bits & 0x7f800000u) == 0x7f800000u)
        word.bits = word.bits == 0x7f800000u ? 0x7f7fffffu : 0xff7fffffu;
    return word.number;
}
{% endif %}
{% if arithmetic.softmax %}

/* Replaces numbers by exp(z - largest) / sum. */
static inline void {{ name }}_softmax(float *values)
{
    float largest = values[0], sum = 0.0f;
    uint32_t class_;

    for (class_ = 1; class_ < {{ NAME }}_CLASSES; class_++)
        if (values[class_] > largest)
            largest = values[class_];
    for (class_ = 0; class_ < {{ NAME }}_CLASSES; class_++) {
        values[class_] = {{ name }}_exp(values[class_] - largest);
        sum += values[class_];
    }
    for (class_ = 0; class_ < {{ NAME }}_CLASSES; class_++)
        values[class_] /= sum;
}
{% endif %}
{% if arithmetic.sigmoid %}

/* 1 / (1 + exp(-z)). */
static inline float {{ name }}_sigmoid(float z)
{
    float e = {{ name }}_exp(z < 0.0f ? z : -z);

    return (z >= 0.0f ? 1.0f : e) / (1.0f + e);
}
{% endif %}
