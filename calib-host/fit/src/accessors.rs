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

/// Methods that set public fields.
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

/// As [`builders`], from whatever becomes the field's value.
macro_rules! converting_builders {
    ($type:ident { $($field:ident: $value:ty,)* }) => {
        impl $type {
            $(
                /// The same with this value of the field that has the same name.
                #[must_use]
                pub fn $field(mut self, $field: impl Into<$value>) -> Self {
                    self.$field = $field.into();
                    self
                }
            )*
        }
    };
}
pub(crate) use converting_builders;

/// A struct of options, each with its default and a method that sets it; after `converting`, from whatever becomes its value.
macro_rules! options {
    (@with $builders:ident
        $(#[$attribute:meta])*
        pub struct $type:ident $(<$life:lifetime>)? {
            $($(#[$doc:meta])* pub $field:ident: $value:ty = $default:expr,)*
        }
    ) => {
        $(#[$attribute])*
        pub struct $type $(<$life>)? {
            $($(#[$doc])* pub $field: $value,)*
        }

        impl $(<$life>)? Default for $type $(<$life>)? {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        $crate::accessors::$builders! { $type $(<$life>)? { $($field: $value,)* } }
    };
    (converting $($options:tt)*) => { $crate::accessors::options! { @with converting_builders $($options)* } };
    ($($options:tt)*) => { $crate::accessors::options! { @with builders $($options)* } };
}
pub(crate) use options;
