//! What the functions are called with.

use calib_core::ScoreEncoding;

/// A power of two.
pub(crate) const COUNT: usize = 1024;

/// Uniform in `[0, 1)`, from a fixed sequence (Knuth's MMIX generator).
pub(crate) static UNIFORM: [f32; COUNT] = {
    let mut scores = [0.0; COUNT];
    let (mut state, mut i) = (1u64, 0);
    while i < COUNT {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        scores[i] = (state >> 40) as f32 / (1u32 << 24) as f32;
        i += 1;
    }
    scores
};

/// Inner edges of bins of about the same width, none of them a round number.
pub(crate) const fn edges<const E: usize>() -> [f32; E] {
    let mut edges = [0.0; E];
    let mut i = 0;
    while i < E {
        edges[i] = (i as f32 + 0.97) / (E as f32 + 1.0);
        i += 1;
    }
    edges
}

/// The same scores spread over margins of either sign, `[-4, 4)`.
pub(crate) static MARGINS: [f32; COUNT] = {
    let mut margins = UNIFORM;
    let mut i = 0;
    while i < COUNT {
        margins[i] = 8.0 * margins[i] - 4.0;
        i += 1;
    }
    margins
};

/// [`edges`] spread as [`MARGINS`] are.
pub(crate) const fn margin_edges<const E: usize>() -> [f32; E] {
    let mut edges: [f32; E] = edges();
    let mut i = 0;
    while i < E {
        edges[i] = 8.0 * edges[i] - 4.0;
        i += 1;
    }
    edges
}

/// Rows of ten keys of int8 codes in no order.
pub(crate) static KEYS: [[u16; 10]; 8] = {
    let mut rows = [[0; 10]; 8];
    let mut i = 0;
    while i < 80 {
        rows[i / 10][i % 10] = (UNIFORM[i] * 240.0) as u16 + 8;
        i += 1;
    }
    rows
};

/// Codes of int8 in no order.
pub(crate) static CODES: [i8; 1136] = {
    let mut codes = [0; 1136];
    let mut i = 0;
    while i < 1136 {
        codes[i] = (UNIFORM[i % COUNT] * 240.0) as i8 - 120;
        i += 1;
    }
    codes
};

/// Inner edges of 15 bins of top-two margins.
pub(crate) const fn top2_margin_edges() -> [u16; 14] {
    let mut edges = [0; 14];
    let mut i = 0;
    while i < 14 {
        edges[i] = 3 * i as u16 + 1;
        i += 1;
    }
    edges
}

/// Rising probabilities.
pub(crate) const fn values<const B: usize>() -> [f32; B] {
    let mut values = [0.0; B];
    let mut i = 0;
    while i < B {
        values[i] = (i as f32 + 0.3) / B as f32;
        i += 1;
    }
    values
}

/// [`edges`] in units of 1/65 536.
pub(crate) const fn edges_u16<const E: usize>() -> [u16; E] {
    let floats: [f32; E] = edges();
    let mut edges = [0; E];
    let mut i = 0;
    while i < E {
        edges[i] = (floats[i] * 65_536.0) as u16;
        i += 1;
    }
    edges
}

/// [`values`] in units of 1/65 535.
pub(crate) const fn values_u16<const B: usize>() -> [u16; B] {
    let floats: [f32; B] = values();
    let mut values = [0; B];
    let mut i = 0;
    while i < B {
        values[i] = (floats[i] * 65_535.0) as u16;
        i += 1;
    }
    values
}

/// What int8 logits are.
pub(crate) const LOGIT_CODES: ScoreEncoding = ScoreEncoding::I8 { scale: 0.125, zero_point: 3 };

/// Ten rows of ten logits, whose largest is at another place each.
pub(crate) static LOGITS: [[f32; 10]; 10] = {
    let mut rows = [[0.0; 10]; 10];
    let (mut row, mut i) = (0, 0);
    while row < 10 {
        while i < 10 {
            rows[row][i] = UNIFORM[10 * row + i] * 4.0;
            i += 1;
        }
        rows[row][(7 * row + 3) % 10] = 5.0;
        row += 1;
        i = 0;
    }
    rows
};

/// Ten rows of ten probabilities, likewise.
pub(crate) static PROBS: [[f32; 10]; 10] = {
    let mut rows = [[0.05; 10]; 10];
    let mut row = 0;
    while row < 10 {
        rows[row][(7 * row + 3) % 10] = 0.55;
        row += 1;
    }
    rows
};
