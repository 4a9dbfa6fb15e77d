//! Names, one behind the other.

/// Walks names, each of which stands behind its length in one byte; ends where no further one is whole.
pub(crate) struct Names<'a>(pub(crate) &'a [u8]);

/// Why a name is refused.
pub(crate) enum NameError {
    /// The bytes end within it.
    Length,
    /// It is empty, too long, not plain text, or one of the names before it.
    Name,
}

impl<'a> Iterator for Names<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (name, rest) = split(self.0)?;
        self.0 = rest;
        Some(name)
    }
}

/// Checks name number `i` of `names`, which is the first of `rest`, and returns what is behind it.
pub(crate) fn behind_name<'a>(
    names: &[u8],
    i: u8,
    rest: &'a [u8],
    max_len_bytes: usize,
) -> Result<&'a [u8], NameError> {
    let (name, behind) = split(rest).ok_or(NameError::Length)?;
    let text = core::str::from_utf8(name).map_err(|_| NameError::Name)?;
    let is_plain = !text.is_empty() && !text.chars().any(char::is_control);
    let is_taken = Names(names).take(i.into()).any(|other| other == name);
    if is_plain && !is_taken && name.len() <= max_len_bytes { Ok(behind) } else { Err(NameError::Name) }
}

fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&len, rest) = bytes.split_first()?;
    rest.split_at_checked(len.into())
}
