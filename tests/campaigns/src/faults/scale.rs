//! How much of everything is run.

/// How much to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// For every test run: seconds without optimization.
    Sample,
    /// Everything, in minutes.
    Full,
    /// Everything, with more random images and more artifacts.
    Long,
}

impl Scale {
    /// One of three numbers.
    pub(crate) fn pick(self, sample: usize, full: usize, long: usize) -> usize {
        match self {
            Self::Sample => sample,
            Self::Full => full,
            Self::Long => long,
        }
    }
}
