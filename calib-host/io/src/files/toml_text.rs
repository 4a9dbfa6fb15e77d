//! Texts in TOML, with the lines of what is wrong.

use std::ops::Range;
use std::path::Path;

use serde::de::DeserializeOwned;

use super::error::FileError;
use super::location::{Location, Row};
use super::problem::Problem;

/// A text and its file.
pub(crate) struct TomlText<'a> {
    pub(crate) path: &'a Path,
    pub(crate) text: &'a str,
}

impl TomlText<'_> {
    /// What the text says; `problem` makes an error of the reason why it says something else.
    pub(crate) fn parse<T: DeserializeOwned>(
        &self,
        problem: impl FnOnce(String) -> Problem,
    ) -> Result<T, FileError> {
        toml::from_str(self.text)
            .map_err(|error| self.error(error.span().unwrap_or_default(), problem(error.message().into())))
    }

    /// Says that something is wrong on the line on which a span begins.
    pub(crate) fn error(&self, span: Range<usize>, problem: Problem) -> FileError {
        let line = Row::Line(self.line(span.start));
        FileError::input(Location::file(self.path).row(line), problem)
    }

    /// The line of a byte, from 1 on.
    pub(crate) fn line(&self, offset: usize) -> u64 {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        before.iter().filter(|&&byte| byte == b'\n').count() as u64 + 1
    }
}
