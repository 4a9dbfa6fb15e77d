#ifndef {{ NAME }}_H
#define {{ NAME }}_H

#include <stdint.h>

/* The score was calibrated. */
#define {{ NAME }}_OK 0
{% if is_margin %}
/* Invalid score: NaN or infinite. */
{% else %}
/* Invalid score: NaN, infinite, outside [0, 1], or not a code; or the scores of all classes do not sum to 1. */
{% endif %}
#define {{ NAME }}_BAD_SCORE 1
/* There is no probability, and the result is left as it was: there is no such table, no table could be fitted for its class{% if has_empty %}, or
   no calibration point is in the score's bin{% endif %}. Treat the case as uncalibrated: do not act on a probability. */
#define {{ NAME }}_UNCALIBRATED 2

/* A float of IEEE 754 and its bits. C99 lets a union be written as the one and read as the other (6.5.2.3), and so do the
   usual compilers of C++. */
union {{ name }}_word {
    float number;
    uint32_t bits;
};

