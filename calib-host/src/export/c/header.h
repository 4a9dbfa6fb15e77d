/* {{ title }} */
{% include "before.h" %}
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

#endif
