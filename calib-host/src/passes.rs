//! Passes over packed points.

use rayon::prelude::*;

use crate::fit::FitError;
use crate::packed::Packed;

/// Packed points in no order, which can be passed over again and again.
pub(crate) trait Passes: Sync {
    /// How many bytes may be gathered in a pass.
    const BUDGET_LEN_BYTES: u64;

    /// Adds all points up, in parts of any size and order, each part from a `new` sum on. What is summed must not depend
    /// on how the points are divided.
    fn fold<T: Send>(
        &self,
        new: impl Fn() -> T + Sync,
        add: impl Fn(&mut T, &[Packed]) + Sync,
        merge: impl Fn(&mut T, T) + Sync,
    ) -> Result<T, FitError>;
}

impl Passes for [Packed] {
    /// As much as there is: the points themselves are in memory.
    const BUDGET_LEN_BYTES: u64 = u64::MAX;

    fn fold<T: Send>(
        &self,
        new: impl Fn() -> T + Sync,
        add: impl Fn(&mut T, &[Packed]) + Sync,
        merge: impl Fn(&mut T, T) + Sync,
    ) -> Result<T, FitError> {
        // One part a thread: a new sum may be large.
        let part_len = self.len().div_ceil(rayon::current_num_threads()).max(1 << 14);
        let sum_part = |part: &[Packed]| {
            let mut sum = new();
            add(&mut sum, part);
            sum
        };
        let merged = self.par_chunks(part_len).map(sum_part).reduce_with(|mut sum, other| {
            merge(&mut sum, other);
            sum
        });
        Ok(merged.unwrap_or_else(new))
    }
}
