//! What monitors compare with: where the calibration scores were.

use core::error::Error;
use core::fmt;

use serde::{Deserialize, Serialize};

use super::log_gamma::ln_gamma_ratio;

/// How the calibration scores lie in the bins of a monitor.
///
/// The n calibration scores, in order and without ties, leave n + 1 gaps, each as likely as any other to receive the next score of
/// the same population. The edges of bins are some of these scores, chosen without a look at the labels, so that a bin is so many
/// whole gaps: a bin of uniform-mass binning is more or less likely than 1/B, and a test of 1/B raises alarms with nothing wrong.
///
/// ```
/// use calib_core::monitor::Reference;
///
/// // 999 calibration scores, of which the 250th, the 500th and the 750th are edges.
/// let reference = Reference::new(&[250, 250, 250, 250])?;
/// assert_eq!((reference.bins(), reference.gaps()), (4, 1000));
/// # Ok::<(), calib_core::monitor::ReferenceError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Reference<'a> {
    gaps: &'a [u32],
    total: u32,
    /// What the logarithm of the bet's ratio begins with; `None` if every look works it out.
    beginning: Option<i64>,
}

/// How much the bet on another distribution begins with in every bin: evidence grows soonest for a moderate shift.
const PRIOR: u32 = 5;

/// Why numbers of gaps are no reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ReferenceError {
    /// There are fewer than two bins: nothing can move from one to another.
    Bins,
    /// This bin has no gap: no score of the calibration's population would ever fall into it.
    NoGap(usize),
    /// There are more than 2^31 gaps.
    TooManyGaps,
}

impl<'a> Reference<'a> {
    /// Takes the number of gaps of every bin, from the lowest scores on. As long as a look at the evidence of a shift.
    ///
    /// # Errors
    ///
    /// With fewer than two bins, a bin without a gap, or more than 2^31 gaps.
    pub fn new(gaps: &'a [u32]) -> Result<Self, ReferenceError> {
        let reference = Self::to_count(gaps)?;
        Ok(Self { beginning: Some(reference.beginning()), ..reference })
    }

    /// The same, made in no time: a look at the evidence of a shift then takes twice as long. For anyone who keeps no reference from one
    /// prediction to the next.
    ///
    /// # Errors
    ///
    /// As [`Reference::new`].
    pub fn to_count(gaps: &'a [u32]) -> Result<Self, ReferenceError> {
        Ok(Self { gaps, total: Self::total(gaps)?, beginning: None })
    }

    /// Adds the gaps, and checks them as [`Reference::new`] does.
    pub(crate) fn total(gaps: &[u32]) -> Result<u32, ReferenceError> {
        if gaps.len() < 2 {
            return Err(ReferenceError::Bins);
        }
        if let Some(bin) = gaps.iter().position(|&gaps| gaps == 0) {
            return Err(ReferenceError::NoGap(bin));
        }
        let total = gaps.iter().try_fold(0u32, |sum, &gaps| sum.checked_add(gaps));
        total.filter(|&total| total <= 1 << 31).ok_or(ReferenceError::TooManyGaps)
    }

    /// Returns the number of bins.
    pub const fn bins(&self) -> usize {
        self.gaps.len()
    }

    /// Returns the number of all gaps: one more than there are calibration scores.
    pub const fn gaps(&self) -> u32 {
        self.total
    }

    /// Returns the gaps of each bin, from the lowest scores on.
    pub fn each(&self) -> impl Iterator<Item = u32> + 'a {
        self.gaps.iter().copied()
    }

    /// Returns the gaps of a bin.
    pub(super) fn of(&self, bin: usize) -> Option<u32> {
        self.gaps.get(bin).copied()
    }

    /// Returns the logarithm of the bet's ratio to the urn over these counts of every bin, whose sum is `total`. In units of 2^-24, with
    /// an error of at most 400 for every bin and one more.
    ///
    /// Multiplied over all predictions, (5 + c) / (5 B + t) and (m + c) / (n + 1 + t) are ratios of gamma functions.
    pub(super) fn ln_bet_to_urn(&self, counts: impl Iterator<Item = u32>, total: u32) -> i64 {
        self.ln_gammas(counts, total) - self.beginning.unwrap_or_else(|| self.beginning())
    }

    /// What the logarithm is before the first prediction.
    fn beginning(&self) -> i64 {
        self.ln_gammas(self.gaps.iter().map(|_| 0), 0)
    }

    fn ln_gammas(&self, counts: impl Iterator<Item = u32>, total: u32) -> i64 {
        let (all, of_bet) = (u64::from(self.total), u64::from(PRIOR) * self.gaps.len() as u64);
        let total = u64::from(total);
        let bins = self.each().zip(counts).map(|(gaps, count)| {
            ln_gamma_ratio(u64::from(PRIOR) + u64::from(count), u64::from(gaps) + u64::from(count))
        });
        ln_gamma_ratio(all + total, of_bet + total) + bins.sum::<i64>()
    }
}

impl fmt::Display for ReferenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bins => f.write_str("a reference needs two bins or more"),
            Self::NoGap(bin) => write!(f, "bin {bin} of the reference has no gap between calibration scores"),
            Self::TooManyGaps => f.write_str("a reference has at most 2147483648 gaps"),
        }
    }
}

impl Error for ReferenceError {}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::ToString;

    use super::*;

    #[test]
    fn what_is_told_names_the_bin_and_the_most_gaps() {
        assert!(ReferenceError::NoGap(3).to_string().contains("bin 3"));
        assert!(ReferenceError::TooManyGaps.to_string().contains(&(1u32 << 31).to_string()));
        assert!(ReferenceError::Bins.to_string().contains("two bins"));
    }

    #[test]
    fn of_what_no_scores_could_leave_none_is_made() {
        assert_eq!(Reference::new(&[]), Err(ReferenceError::Bins));
        assert_eq!(Reference::new(&[7]), Err(ReferenceError::Bins));
        assert_eq!(Reference::new(&[7, 0, 3]), Err(ReferenceError::NoGap(1)));
        assert_eq!(Reference::new(&[1 << 31, 1]), Err(ReferenceError::TooManyGaps));
        assert_eq!(Reference::new(&[u32::MAX, u32::MAX]), Err(ReferenceError::TooManyGaps));
        assert_eq!(Reference::new(&[1 << 30, 1 << 30]).unwrap().gaps(), 1 << 31);
    }
}
