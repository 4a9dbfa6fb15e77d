//! The device's softmax of many rows.
//!
//! A device computes one exponential after the other, with `expf` of libm. Here the same operations are in an order that compilers turn into
//! instructions for several numbers. The bits are the same.

/// The numbers that are computed together.
const LANES: usize = 8;

/// Below this `expf` is subnormal, or 0.
const LEAST: f32 = -87.336_55;
/// Half of ln 2, and one and a half of it, as `expf` compares them.
const HALF_LN2: u32 = 0x3eb1_7218;
const THREE_HALVES_LN2: u32 = 0x3f85_1592;
/// Up to here `expf` is `1 + x`.
const TINY: u32 = 0x3900_0000;

/// Replaces logits by `exp(z - max)`, of which `max` is the largest, and returns their sum from class 0 upwards.
pub(super) fn exp_differences(logits: &[f32], max: f32, exps: &mut Vec<f32>) -> f32 {
    exps.clear();
    exps.extend(logits.iter().map(|logit| logit - max));
    exp(exps);
    exps.iter().sum()
}

/// Replaces numbers that are not positive by their exponentials.
fn exp(values: &mut [f32]) {
    let mut parts = values.chunks_exact_mut(LANES);
    for part in &mut parts {
        exp_of_lanes(part.try_into().expect("as many as lanes"));
    }
    let rest = parts.into_remainder();
    let mut lanes = [0.0; LANES];
    lanes[..rest.len()].copy_from_slice(rest);
    exp_of_lanes(&mut lanes);
    rest.copy_from_slice(&lanes[..rest.len()]);
}

fn exp_of_lanes(values: &mut [f32; LANES]) {
    if values.iter().any(|&value| value < LEAST) {
        return values.iter_mut().for_each(|value| *value = libm::expf(*value));
    }
    for value in values {
        *value = exp_of(*value);
    }
}

/// `expf` from [`LEAST`] to 0, without a branch: x = k ln 2 + r, exp(x) = 2^k exp(r).
#[inline(always)]
fn exp_of(x: f32) -> f32 {
    const LN2: [f32; 2] = [f32::from_bits(0x3f31_7200), f32::from_bits(0x35bf_be8e)];
    const PER_LN2: f32 = f32::from_bits(0x3fb8_aa3b);
    const POLYNOMIAL: [f32; 2] = [f32::from_bits(0x3e2a_aa8f), f32::from_bits(0xbb35_5215)];
    let size = x.to_bits() & 0x7fff_ffff;
    let rounded = (PER_LN2 * x - 0.5) as i32;
    let one = if size > HALF_LN2 { -1 } else { 0 };
    let k = if size > THREE_HALVES_LN2 { rounded } else { one };
    let [hi, lo] = [x - k as f32 * LN2[0], k as f32 * LN2[1]];
    let r = hi - lo;
    let square = r * r;
    let c = r - square * (POLYNOMIAL[0] + square * POLYNOMIAL[1]);
    let exp_of_r = 1.0 + (r * c / (2.0 - c) - lo + hi);
    let power = f32::from_bits(((k + 127) as u32) << 23);
    if size > TINY { exp_of_r * power } else { 1.0 + x }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn are_equal(bits: impl Iterator<Item = u32>) {
        let mut values = [0.0; LANES];
        let mut bits = bits.map(f32::from_bits).peekable();
        while bits.peek().is_some() {
            values.iter_mut().zip(&mut bits).for_each(|(value, next)| *value = next);
            let mut found = values;
            exp(&mut found);
            for (value, found) in values.iter().zip(found) {
                assert_eq!(found.to_bits(), libm::expf(*value).to_bits(), "{value:e}");
            }
        }
    }

    /// All that are not positive and finite: `-0` has the least bits, `f32::MIN` the most.
    const ALL: std::ops::RangeInclusive<u32> = 0x8000_0000..=0xff7f_ffff;

    #[test]
    fn exponentials_have_the_bits_of_the_device() {
        are_equal(ALL.step_by(331));
        for edge in [LEAST.to_bits(), HALF_LN2, THREE_HALVES_LN2, TINY, (-103.972_084f32).to_bits()] {
            let edge = edge | 0x8000_0000;
            are_equal(edge - 2000..edge + 2000);
        }
        are_equal([0, 0x8000_0000].into_iter());
    }

    #[test]
    #[ignore = "all two billion of them: a minute of a release build"]
    fn all_exponentials_have_the_bits_of_the_device() {
        are_equal(ALL);
    }
}
