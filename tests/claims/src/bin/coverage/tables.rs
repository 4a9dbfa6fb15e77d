//! Guarantees of the bins of a calibrator.

use anyhow::{Context, Result};
use calib_claims::truth::Truth;
use calib_host::binary::{Bin, BoundaryPoints, FixedWidth, Model, Ums};
use calib_host::fit::FittedTable;
use calib_host::stats::Interval;
use calib_host::{BinaryData, BinaryMethod, Umd, fit_binary};

/// A method whose bins have a guarantee: its name, how its epsilon follows from the labels, and the method for a number of bins and a seed.
pub(crate) type Family = (&'static str, &'static str, fn(usize, u64) -> BinaryMethod);

pub(crate) const FAMILIES: [Family; 5] = [
    ("umd", "exact", |bins, _| BinaryMethod::Umd(Umd::new(bins))),
    ("umd-original", "Hoeffding", |bins, _| {
        BinaryMethod::Umd(Umd { boundary_points: BoundaryPoints::Kept, ..Umd::new(bins) })
    }),
    ("umd-randomized", "Hoeffding", |bins, seed| BinaryMethod::UmdRandomized(Umd::new(bins), seed)),
    ("ums", "exact", |bins, seed| BinaryMethod::Ums(Ums { bins, seed })),
    ("fixed-width", "exact", |bins, _| BinaryMethod::FixedWidth(FixedWidth { bins })),
];

/// Whether epsilon fails and whether some exact interval does, `None` for what is not stated.
pub(crate) fn fails(
    family: Family,
    truth: &Truth,
    data: &BinaryData,
    alpha: f64,
    seed: u64,
) -> Result<[Option<bool>; 2]> {
    let rows = data.len();
    // A rare class may be missing altogether; then nothing is fitted and nothing guaranteed.
    let Ok(fit) = fit_binary(data, &family.2(Umd::suitable_bins(rows), seed), alpha) else {
        return Ok([None, None]);
    };
    let table = fit.tables()[0].as_ref().context("a binary fit has a table")?;
    let rates = truth.bins(edges(table.model()));
    let epsilon = fit.guarantee().map(|guarantee| worst_bin(table, &rates, guarantee.epsilon));
    let has_intervals = !table.intervals().is_empty();
    Ok([epsilon, has_intervals.then(|| outside_interval(table.intervals(), &rates))])
}

fn edges(model: &Model) -> impl Iterator<Item = (f64, f64)> {
    let (edges, words): (&[f64], &[u32]) = match model {
        Model::Steps(steps) => (&steps.edges, &[]),
        Model::Randomized(steps) => (&steps.edges, &steps.words),
        _ => (&[], &[]),
    };
    let word = |i: usize| words.get(i).map_or(0.0, |&word| f64::from(word) / 2f64.powi(32));
    edges.iter().enumerate().map(move |(i, &edge)| (edge, word(i)))
}

/// Whether some bin with points and probability is off by more than epsilon.
fn worst_bin(table: &FittedTable, truth: &[(f64, f64)], epsilon: f64) -> bool {
    let off = |(bin, &(mass, prob)): (&Bin, &(f64, f64))| {
        bin.n > 0 && mass > 0.0 && (bin.value - prob).abs() > epsilon
    };
    table.model().bins().iter().zip(truth).any(off)
}

/// Whether some bin's truth is outside its exact interval.
pub(crate) fn outside_interval(intervals: &[Interval], truth: &[(f64, f64)]) -> bool {
    let outside = |(interval, &(mass, prob)): (&Interval, &(f64, f64))| {
        mass > 0.0 && (prob < interval.lo || prob > interval.hi)
    };
    intervals.iter().zip(truth).any(outside)
}
