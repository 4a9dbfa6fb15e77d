//! Methods that read and set fields, by the names of the fields.

/// Methods that read private fields: those before `;` return a copy, those after it a reference.
macro_rules! getters {
    ($type:ident {
        $($(#[$doc:meta])* $field:ident: $copied:ty,)*
        $(; $($(#[$ref_doc:meta])* $ref_field:ident: $referred:ty,)*)?
    }) => {
        impl $type {
            $($(#[$doc])* pub fn $field(&self) -> $copied { self.$field })*
            $($($(#[$ref_doc])* pub fn $ref_field(&self) -> &$referred { &self.$ref_field })*)?
        }
    };
}
pub(crate) use getters;

/// Methods that set public fields of options.
macro_rules! builders {
    ($type:ident $(<$life:lifetime>)? { $($field:ident: $value:ty,)* }) => {
        impl $(<$life>)? $type $(<$life>)? {
            $(
                /// The same with this value of the field that has the same name.
                #[must_use]
                pub fn $field(mut self, $field: $value) -> Self {
                    self.$field = $field;
                    self
                }
            )*
        }
    };
}
pub(crate) use builders;
