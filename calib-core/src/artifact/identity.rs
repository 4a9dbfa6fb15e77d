//! The names of artifacts and classifiers.

use core::fmt;

use serde::{Deserialize, Serialize};

/// The name of an artifact: the first 8 bytes of the SHA-256 of its sections, without the signature.
///
/// ```
/// assert_eq!(calib_core::Identity([0, 1, 2, 3, 4, 5, 6, 0xFF]).to_string(), "00010203040506ff");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Identity(pub [u8; 8]);

/// The name of a classifier: any 8 bytes, such as the first ones of the SHA-256 of its weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ClassifierId(pub [u8; 8]);

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, f)
    }
}

impl fmt::Display for ClassifierId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, f)
    }
}

/// Writes a name as hexadecimal digits.
pub(super) fn hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|b| write!(f, "{b:02x}"))
}
