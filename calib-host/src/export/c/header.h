/* {{ title }}

   {{ example }} */
{% include "before.h" %}
{% if has_tables %}
{% include "tables.h" %}
{% if search %}
{% include search %}
{% endif %}
{% if is_code %}
{% include "codes.h" %}
{% else %}
{% include "floats.h" %}
{% endif %}
{% if reduction and not is_code and not is_lead %}
{% include "vectors.h" %}
{% endif %}
{% if reduction %}
{% include reduction %}
{% endif %}
{% endif %}
{% if points %}
{% include "verdict.h" %}
{% endif %}
{% if sets %}
{% include "set.h" %}
{% endif %}

#endif
