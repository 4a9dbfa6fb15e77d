//! Multiples of 1/32 768 as floats, in few instructions on every core.

/// Returns `value / 32 768` exactly, in the same number of instructions for every value.
#[inline(always)]
pub(crate) fn float(value: u16) -> f32 {
    if HAS_FLOATS {
        return f32::from(value) / 32_768.0;
    }
    f32::from_bits(if COUNTS_ZEROS { by_zeros(value.into()) } else { by_product(value.into()) })
}

/// Whether the core converts and divides floats by instructions rather than functions.
const HAS_FLOATS: bool = !cfg!(any(
    all(target_arch = "arm", not(target_abi = "eabihf")),
    all(target_arch = "riscv32", not(target_feature = "f")),
));

/// Whether the core counts leading zeros by an instruction.
const COUNTS_ZEROS: bool = !cfg!(any(
    all(target_arch = "arm", not(target_has_atomic = "32")),
    all(target_arch = "riscv32", not(target_feature = "zbb")),
));

/// Returns the bits of `value / 32 768` from the place of the value's highest bit.
#[inline(always)]
fn by_zeros(value: u32) -> u32 {
    let zeros = (value | 1).leading_zeros();
    // The sum adds the significand's highest bit, which is 1, to the exponent.
    let bits = ((142 - zeros) << 23) + (value << zeros >> 8);
    // 0 has no highest bit. A mask instead of a branch, so that every value takes as long.
    let all_or_none = (value.wrapping_neg() as i32 >> 31) as u32;
    bits & all_or_none
}

/// Returns the bits of `value / 32 768` from a table of exponents, for cores that count zeros by a function.
#[inline(always)]
fn by_product(value: u32) -> u32 {
    let exponent = EXPONENTS.get(slot(filled(value))).copied().unwrap_or_default();
    let shifted = if cfg!(target_arch = "arm") { rotated } else { shifted };
    (u32::from(exponent) << 23) + shifted(value, exponent.into())
}

/// Returns the significand, which is `value` shifted by `134 - exponent`.
// On Arm a shift by less than 32 takes a mask, a rotation none. The value 0 may be shifted by anything.
#[inline(always)]
const fn rotated(value: u32, exponent: u32) -> u32 {
    (value << 6).rotate_right(exponent)
}

/// Returns the significand, on cores without a rotation.
#[inline(always)]
const fn shifted(value: u32, exponent: u32) -> u32 {
    value.wrapping_shl(6u32.wrapping_sub(exponent))
}

/// Sets all bits below the highest of 16.
#[inline(always)]
const fn filled(mut value: u32) -> u32 {
    value |= value >> 1;
    value |= value >> 2;
    value |= value >> 4;
    value | value >> 8
}

/// Maps each of the 17 numbers that [`filled`] returns to a separate place.
#[inline(always)]
const fn slot(filled: u32) -> usize {
    // Of the factors that do so, the first whose lower 12 bits are 0: RISC-V loads such a number in one instruction.
    (filled.wrapping_mul(FACTOR) >> 27) as usize
}

const FACTOR: u32 = 92_772 << 12;

/// The exponent of each number at its [`slot`], less the 1 that the highest bit of the significand adds; 0 for 0.
static EXPONENTS: [u8; 32] = {
    let mut exponents = [0; 32];
    let mut bits = 0;
    while bits < 16 {
        exponents[slot((2 << bits) - 1)] = 111 + bits;
        bits += 1;
    }
    exponents
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_make_the_bits_that_floats_make() {
        for value in 0..=u16::MAX {
            let floats = (f32::from(value) / 32_768.0).to_bits();
            assert_eq!(by_zeros(value.into()), floats, "{value}");
            assert_eq!(by_product(value.into()), floats, "{value}");
            let exponent = floats.saturating_sub(1 << 23) >> 23;
            assert_eq!(rotated(value.into(), exponent), shifted(value.into(), exponent), "{value}");
            assert_eq!(float(value).to_bits(), floats, "{value}");
        }
    }
}
