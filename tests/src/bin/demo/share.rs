//! A share of rows, as it is printed.

use std::fmt;

use calib_host::stats::{Interval, clopper_pearson};

/// How many of so many.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Share {
    pub(crate) count: u64,
    pub(crate) n: u64,
}

impl Share {
    pub(crate) fn add(&mut self, counts: bool) {
        self.count += u64::from(counts);
        self.n += 1;
    }

    /// The exact 95 % interval of the true share.
    pub(crate) fn interval(&self) -> Interval {
        clopper_pearson(self.count, self.n, 0.05)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Interval { lo, hi } = self.interval();
        let percent = 100.0 * self.count as f64 / self.n.max(1) as f64;
        write!(f, "{} of {} ({percent:.1} % [{:.1}, {:.1}])", self.count, self.n, 100.0 * lo, 100.0 * hi)
    }
}
