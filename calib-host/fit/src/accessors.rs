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

/// A function that reads fields by their names.
macro_rules! by_name {
    ($type:ident { $($field:ident)* }) => {
        impl $type {
            /// The names that [`by_name`](Self::by_name) looks up.
            pub const NAMES: &[&str] = &[$(stringify!($field)),*];

            /// The same with the values that were given for fields, by the names of these.
            ///
            /// # Errors
            ///
            /// If a value is none of its field.
            pub fn by_name<G: $crate::given::Given>(
                mut self,
                given: impl Fn(&'static str) -> Option<G>,
            ) -> Result<Self, G::Error> {
                $(if let Some(value) = given(stringify!($field)) {
                    self.$field = $crate::given::OptionValue::of(&value)?;
                })*
                Ok(self)
            }
        }
    };
}
pub(crate) use by_name;

/// A struct of options, each with its default and a method that sets it; after `converting`, from whatever becomes its value. After `by_name`
/// those before `;` are read by their names, too.
macro_rules! options {
    (@with $builders:ident ($($by_name:ident)?)
        $(#[$attribute:meta])*
        pub struct $type:ident $(<$life:lifetime>)? {
            $($(#[$doc:meta])* pub $field:ident: $value:ty = $default:expr,)*
            $(; $($(#[$more_doc:meta])* pub $more:ident: $more_value:ty = $more_default:expr,)*)?
        }
    ) => {
        $(#[$attribute])*
        pub struct $type $(<$life>)? {
            $($(#[$doc])* pub $field: $value,)*
            $($($(#[$more_doc])* pub $more: $more_value,)*)?
        }

        impl $(<$life>)? Default for $type $(<$life>)? {
            fn default() -> Self {
                Self { $($field: $default,)* $($($more: $more_default,)*)? }
            }
        }

        $crate::accessors::$builders! { $type $(<$life>)? { $($field: $value,)* $($($more: $more_value,)*)? } }
        $crate::accessors::options! { @names ($($by_name)?) $type { $($field)* } }
    };
    (@names () $($fields:tt)*) => {};
    (@names (by_name) $($fields:tt)*) => { $crate::accessors::by_name! { $($fields)* } };
    (converting by_name $($options:tt)*) => {
        $crate::accessors::options! { @with converting_builders (by_name) $($options)* }
    };
    (converting $($options:tt)*) => { $crate::accessors::options! { @with converting_builders () $($options)* } };
    (by_name $($options:tt)*) => { $crate::accessors::options! { @with builders (by_name) $($options)* } };
    ($($options:tt)*) => { $crate::accessors::options! { @with builders () $($options)* } };
}
pub(crate) use options;
