//! Methods that read private fields.

/// Declares methods by the names of fields: those before `;` return a copy, those after it a reference.
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
