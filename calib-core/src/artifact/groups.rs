//! The names of groups, which have tables or separate thresholds.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::decision::{NameError, Names, behind_name};

/// The groups of an artifact: a group's code is its place among the names.
///
/// ```
/// use calib_core::Artifact;
///
/// # mod sample { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/sample.rs")); }
/// # let bytes = sample::by_group();
/// let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
/// let groups = artifact.groups().unwrap();
/// assert!(groups.names().eq(["adult", "child"]));
/// assert_eq!(groups.code("child"), Some(1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Groups<'a> {
    count: u8,
    /// For every group, the length of its name and its name.
    names: &'a [u8],
}

/// Why bytes are not groups, or do not go with the rest of the artifact. The payload is the group's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum GroupsError {
    /// There are fewer than 2 groups, or too few or too many bytes.
    Length,
    /// The name of this group is empty, too long, not plain text, or the name of another group.
    Name(u8),
    /// No section has a part for each group, or one has another number of parts.
    Count,
}

impl<'a> Groups<'a> {
    /// The largest length of a name in bytes.
    pub const MAX_NAME_BYTES: usize = 24;

    /// Checks the payload of a section.
    pub(super) fn parse(payload: &'a [u8]) -> Result<Self, GroupsError> {
        let (&count, names) = payload.split_first().ok_or(GroupsError::Length)?;
        if count < 2 {
            return Err(GroupsError::Length);
        }
        let mut rest = names;
        for code in 0..count {
            rest = behind_name(names, code, rest, Self::MAX_NAME_BYTES).map_err(|cause| match cause {
                NameError::Length => GroupsError::Length,
                NameError::Name => GroupsError::Name(code),
            })?;
        }
        if rest.is_empty() { Ok(Self { count, names }) } else { Err(GroupsError::Length) }
    }

    /// Returns the number of groups, at least 2.
    pub const fn count(&self) -> usize {
        self.count as usize
    }

    /// Returns the names in the order of the codes.
    pub fn names(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        Names(self.names).map_while(|name| core::str::from_utf8(name).ok())
    }

    /// Returns the code of the group with this name; `None` if there is none.
    pub fn code(&self, name: &str) -> Option<u8> {
        (0..=u8::MAX).zip(self.names()).find(|&(_, other)| other == name).map(|(code, _)| code)
    }
}

/// Returns the bytes of a payload; `None` if a name has no place in the format.
pub(super) fn bytes<'n>(names: &'n [&str]) -> Option<impl Iterator<Item = u8> + use<'n>> {
    let count = u8::try_from(names.len()).ok()?;
    let fit = names.iter().all(|name| name.len() <= Groups::MAX_NAME_BYTES);
    let name = |name: &'n &str| core::iter::once(name.len() as u8).chain(name.bytes());
    fit.then(|| core::iter::once(count).chain(names.iter().flat_map(name)))
}

impl fmt::Display for GroupsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length => f.write_str("there are fewer than 2, or their length is not that of the names"),
            Self::Name(code) => {
                write!(f, "the name of group {code} is empty, too long, not plain text, or taken")
            }
            Self::Count => f.write_str("no section has a part for each group"),
        }
    }
}

impl core::error::Error for GroupsError {}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;

    fn payload(names: &[&str]) -> Vec<u8> {
        bytes(names).unwrap().collect()
    }

    #[test]
    fn names_are_found_again() {
        let longest = "x".repeat(24);
        let payload = payload(&["f", "m", "é", &longest]);
        let groups = Groups::parse(&payload).unwrap();
        assert!(groups.names().eq(["f", "m", "é", longest.as_str()]));
        assert_eq!((groups.count(), groups.code("m"), groups.code("n")), (4, Some(1), None));
    }

    #[test]
    fn refuses_what_is_no_group() {
        assert_eq!(Groups::parse(&payload(&["alone"])), Err(GroupsError::Length));
        for name in ["", "f", "a\nb", "\u{7f}"] {
            assert_eq!(Groups::parse(&payload(&["f", name])), Err(GroupsError::Name(1)), "{name:?}");
        }
        assert_eq!(Groups::parse(&[2, 1, b'f', 1, 0xFF]), Err(GroupsError::Name(1)));
        assert!(bytes(&["f", &"x".repeat(25)]).is_none());
        let long = [&[2, 1, b'f', 25][..], &[b'x'; 25]].concat();
        assert_eq!(Groups::parse(&long), Err(GroupsError::Name(1)));
        let whole = payload(&["f", "m"]);
        for len in 0..whole.len() {
            assert_eq!(Groups::parse(&whole[..len]), Err(GroupsError::Length), "{len}");
        }
        assert_eq!(Groups::parse(&[&whole[..], &[0]].concat()), Err(GroupsError::Length));
    }
}
