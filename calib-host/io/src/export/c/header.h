/* {{ title }}

   {{ example }} */
{% set body %}
{% if has_tables %}
{% include "tables.h" %}
{% if search %}
{% include search %}
{% endif %}
{% if has_ranges %}
{% include "range.h" %}
{% endif %}
{% if functions %}
{% if arithmetic.times %}
{% include "arithmetic.h" %}
{% endif %}
{% include "function.h" %}
{% endif %}
{% if is_code %}
{% include "codes.h" %}
{% else %}
{% include "floats.h" %}
{% endif %}
{% if reduction and not is_code and not is_top2_margin %}
{% include "vectors.h" %}
{% endif %}
{% if reduction %}
{% include reduction %}
{% endif %}
{% endif %}
{% if joint %}
{% include "joint.h" %}
{% endif %}
{% if points %}
{% include "verdict.h" %}
{% endif %}
{% if sets %}
{% include sets.template %}
{% endif %}
{% endset %}
{% include "before.h" %}
{% if NAME ~ "_AS(" in body %}

/* A conversion, as C++ has it and as C has it. */
#ifdef __cplusplus
#define {{ NAME }}_AS(type, value) static_cast<type>(value)
#else
#define {{ NAME }}_AS(type, value) ((type)(value))
#endif
{% endif %}
{{ body }}
#endif
