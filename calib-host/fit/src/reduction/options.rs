//! How a reduction's binary problems are solved.

use calib_core::StepTable;

use crate::accessors::builders;
use crate::binary::BinaryMethod;
use crate::error::FitError;

/// How a reduction's binary problems are solved.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ReductionOptions {
    /// The binary method. With `rows_per_bin`, its number of bins does not matter.
    pub method: BinaryMethod,
    /// `k`, at least 2: a problem of `n_l` points gets `floor(n_l / k)` bins, so every bin has about `k` points
    /// (Gupta and Ramdas 2022, Algorithms 8 and 9). A problem with fewer than `k` points stays uncalibrated. Without
    /// it every problem
    /// gets the method's number of bins, and stays uncalibrated if its points are too few for them.
    pub rows_per_bin: Option<usize>,
}

builders! {
    ReductionOptions {
        method: BinaryMethod,
        rows_per_bin: Option<usize>,
    }
}

impl ReductionOptions {
    /// This method with its own number of bins.
    pub fn new(method: BinaryMethod) -> Self {
        Self { method, rows_per_bin: None }
    }

    /// The binary method for a problem of `n` points; `None` if they are too few.
    pub(crate) fn method_for(&self, n: usize) -> Option<BinaryMethod> {
        let method = match self.rows_per_bin {
            Some(k) => self.method.with_bins((n / k).min(StepTable::MAX_BINS)),
            None => self.method,
        };
        (n >= self.rows_per_bin.unwrap_or(1) && n >= method.facts().min_points).then_some(method)
    }

    /// Returns the binary method for so many points of one score.
    ///
    /// # Errors
    ///
    /// Fewer than two points a bin, or fewer points than a bin.
    pub fn method_for_score(&self, n: u64) -> Result<BinaryMethod, FitError> {
        match self.rows_per_bin {
            None => Ok(self.method),
            Some(rows_per_bin @ 0..2) => Err(FitError::RowsPerBin(rows_per_bin)),
            Some(rows_per_bin) => match n / rows_per_bin as u64 {
                0 => Err(FitError::FewerThanABin { n, needed: rows_per_bin }),
                bins => Ok(self.method.with_bins(usize::try_from(bins).unwrap_or(usize::MAX))),
            },
        }
    }

    /// The fewest points that a problem may have.
    pub(crate) fn fewest_points(&self) -> usize {
        self.rows_per_bin.unwrap_or_else(|| self.method.facts().min_points)
    }

    pub(crate) fn parameters(&self) -> String {
        let own = self.method.facts().parameters;
        match self.rows_per_bin {
            // The number of bins is each problem's own.
            Some(k) => {
                let rest = own.split(' ').filter(|word| !word.starts_with("bins="));
                std::iter::once(format!("points-per-bin={k}"))
                    .chain(rest.map(str::to_owned))
                    .collect::<Vec<_>>()
                    .join(" ")
            }
            None => own,
        }
    }

    pub(crate) fn check(&self) -> Result<(), FitError> {
        match (self.rows_per_bin, self.method.facts().bins) {
            (Some(k @ 0..2), _) => Err(FitError::RowsPerBin(k)),
            (None, Some(bins)) if !(1..=StepTable::MAX_BINS).contains(&bins) => Err(FitError::BinCount(bins)),
            _ => Ok(()),
        }
    }
}
