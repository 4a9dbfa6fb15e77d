//! The names by which users call the values of an enum: once for the command, for Python and for every message.

use std::fmt;

/// An enum whose values users name.
///
/// ```
/// use calib_fit::names::Named;
/// use calib_fit::assess::ProperScore;
///
/// assert_eq!(ProperScore::named("log-loss")?.name(), "log-loss");
/// assert_eq!(ProperScore::named("l2").unwrap_err().to_string(), "there is no metric \"l2\": there are brier and log-loss");
/// # Ok::<(), calib_fit::names::UnknownName>(())
/// ```
pub trait Named: Copy + PartialEq + Send + Sync + 'static {
    /// What a value is, such as "metric".
    const WHAT: &'static str;
    /// Every value, its name, and what it means.
    const NAMES: &'static [(Self, &'static str, &'static str)];

    /// Returns the name.
    fn name(self) -> &'static str {
        let named = Self::NAMES.iter().find(|(value, ..)| *value == self);
        named.map_or("", |(_, name, _)| name)
    }

    /// Finds the value of a name.
    ///
    /// # Errors
    ///
    /// If no value has it; the error lists the names that there are.
    fn named(name: &str) -> Result<Self, UnknownName> {
        let named = Self::NAMES.iter().find(|(_, own, _)| *own == name);
        let names = || Self::NAMES.iter().map(|(_, name, _)| *name);
        named.map(|(value, ..)| *value).ok_or_else(|| UnknownName::new(Self::WHAT, name, names()))
    }
}

/// That no value has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// What was named.
    what: &'static str,
    given: String,
    names: Vec<&'static str>,
}

impl UnknownName {
    /// That nothing of this sort goes by the name that was given.
    pub(crate) fn new(
        what: &'static str,
        given: &str,
        names: impl IntoIterator<Item = &'static str>,
    ) -> Self {
        Self { what, given: given.into(), names: names.into_iter().collect() }
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, given, names } = self;
        write!(f, "there is no {what} {given:?}: there are ")?;
        match names.split_last() {
            Some((last, names)) if !names.is_empty() => write!(f, "{} and {last}", names.join(", ")),
            _ => f.write_str(&names.concat()),
        }
    }
}

impl std::error::Error for UnknownName {}

/// Implements [`Named`] for an enum without fields; its names are also those of `Display`, `FromStr` and options.
#[macro_export]
macro_rules! names {
    ($type:ty, $what:literal: $($value:ident $name:literal $help:literal),+ $(,)?) => {
        impl $crate::names::Named for $type {
            const WHAT: &'static str = $what;
            const NAMES: &'static [(Self, &'static str, &'static str)] =
                &[$((<$type>::$value, $name, $help)),+];
        }

        impl $crate::given::OptionValue for $type {
            fn of<G: $crate::given::Given>(given: &G) -> Result<Self, G::Error> {
                let text = given.text()?;
                $crate::names::Named::named(&text).map_err(|cause| given.refused(&text, &cause.to_string()))
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($crate::names::Named::name(*self))
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::names::UnknownName;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                $crate::names::Named::named(name)
            }
        }
    };
}
pub use names;
