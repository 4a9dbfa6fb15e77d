//! The validity curves of Gupta and Ramdas 2021, figures 1 and 3, on the credit scores.

use anyhow::Result;
use calib_host::{BinaryData, BinaryMethod, Boundary, BoundaryPoints, FixedWidth, Umd, fit_binary};
use serde_json::Value;

use super::{Comparison, floats, numpy_permutation, steps};

const RESAMPLES: u32 = 100;
/// A deviation that equals epsilon is within it or not by its last bit. That moves a bin of one resample, about a tenth of
/// its test points, to the other side, or the resample as a whole.
const TIES: [f64; 2] = [0.15 / RESAMPLES as f64, 1.01 / RESAMPLES as f64];

/// Compares `V(epsilon)`, the probability that the bin of a test point is within epsilon of its own mean label, and the
/// probability that all bins are, averaged over resamples.
pub(super) fn validity(table: &mut Comparison, scores: &[f64], labels: &[i64], refs: &Value) -> Result<()> {
    let epsilons = floats(&refs["eps"])?;
    let umd = |boundary, boundary_points| BinaryMethod::Umd(Umd { bins: 10, boundary, boundary_points });
    let methods = [
        ("UMD_alg1_ceil", umd(Boundary::Ceil, BoundaryPoints::LeftOut)),
        ("UMD_alg1_floor", umd(Boundary::Floor, BoundaryPoints::LeftOut)),
        ("UMD_authors_code_cor1", umd(Boundary::Floor, BoundaryPoints::Kept)),
        ("fixed_width", BinaryMethod::FixedWidth(FixedWidth { bins: 10 })),
    ];
    for n in [500, 1000, 3000, 4000, 5000, 7000, 10_000] {
        for (name, method) in &methods {
            let mut marginal = vec![0.0; epsilons.len()];
            let mut conditional = marginal.clone();
            for resample in 0..RESAMPLES {
                let rows = numpy_permutation(10_000 + resample, scores.len());
                let data = BinaryData::new(
                    rows[..n].iter().map(|&i| scores[i]).collect(),
                    rows[..n].iter().map(|&i| labels[i] == 1).collect(),
                )?;
                let fit = fit_binary(&data, method, 0.1)?;
                let model = steps(&fit, 0)?;
                let mut counts = vec![(0u64, 0u64); model.bins.len()];
                for &row in &rows[rows.len() - 5000..] {
                    let count = &mut counts[model.bin(scores[row])];
                    *count = (count.0 + 1, count.1 + labels[row] as u64);
                }
                for (k, &epsilon) in epsilons.iter().enumerate() {
                    let within = |((n, positives), bin): &(&(u64, u64), &calib_host::Bin)| {
                        (*positives as f64 / *n as f64 - bin.value).abs() <= epsilon
                    };
                    let seen = counts.iter().zip(&model.bins).filter(|(count, _)| count.0 > 0);
                    let valid: u64 = seen.clone().filter(within).map(|(count, _)| count.0).sum();
                    marginal[k] += valid as f64 / 5000.0 / f64::from(RESAMPLES);
                    conditional[k] +=
                        f64::from(u8::from(seen.clone().all(|pair| within(&pair)))) / f64::from(RESAMPLES);
                }
            }
            let reference = &refs["results"][n.to_string()][name];
            let curves = [("V_marginal_mean", marginal), ("V_conditional_mean", conditional)];
            for ((key, ours), tie) in curves.into_iter().zip(TIES) {
                let reference = floats(&reference[key])?;
                table.values_within(
                    tie,
                    &format!("credit n = {n}, {name}: {key}"),
                    reference.into_iter().zip(ours),
                );
            }
        }
    }
    Ok(())
}
