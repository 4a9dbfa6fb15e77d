//! Margins and top-two margins, to compare what the device and the host make of them.

use anyhow::{Context, Result};
use calib_core::artifact::TableForm;
use calib_core::wire::{Question, RequestBody, Scores};
use calib_core::{Artifact, Margin};
use calib_firmware::AlarmRule;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::Emulator;
use crate::parity::{Parity, asked, spread_logits};

/// Sends at least `count` margins, among them the ends of their range, both zeros, subnormal ones, every edge and its
/// neighbors one ulp away, and compares the answers with the host's, bit for bit. To a randomized table margins go with and
/// without a word; edges with the words that divide them, and those beside.
///
/// # Errors
///
/// If the device does not answer.
pub fn margins(
    emulator: &mut Emulator,
    rule: AlarmRule,
    artifact: &Artifact<'_>,
    count: usize,
    seed: u64,
) -> Result<Parity> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let form = artifact.tables().get(0).context("a binary artifact has a table")?.form;
    let edges = margin_edges(&form);
    let mut margins = ends();
    margins.extend(edges.iter().flat_map(|&edge| around(edge)));
    while margins.len() < count {
        margins.push(match margins.len() % 3 {
            0 => any_finite(&mut rng),
            // Where edges are, and a heavy tail.
            1 => rng.random_range(-10.0..10.0),
            _ => 1.0 / rng.random_range(-1.0f32..1.0),
        });
    }
    let mut requests: Vec<RequestBody> = margins
        .into_iter()
        .filter(|margin| margin.is_finite())
        .map(|scores| RequestBody::predict(Scores::Margin(scores)))
        .collect();
    if let TableForm::MarginRandomized(table) = form {
        for &tie in table.ties() {
            for word in [0, tie.wrapping_sub(1), tie, tie.wrapping_add(1), u32::MAX] {
                requests.extend(edges.iter().map(|&margin| {
                    RequestBody::Predict(Question {
                        group: None,
                        word: Some(word),
                        scores: Scores::Margin(margin),
                    })
                }));
            }
        }
    } else {
        requests.push(RequestBody::Predict(Question {
            group: None,
            word: Some(7),
            scores: Scores::Margin(0.5),
        }));
    }
    asked(emulator, rule, artifact, requests)
}

/// Sends at least `count` vectors of logits, or of codes if the artifact is over codes, to an artifact by the top-two margin of the
/// predicted class: near each other and apart, with ties, and for every class such as lead by an edge of its table, by one more
/// and by one less. Compares the answers with the host's, bit for bit.
///
/// # Errors
///
/// If the device does not answer.
pub fn top2_margins(
    emulator: &mut Emulator,
    rule: AlarmRule,
    artifact: &Artifact<'_>,
    count: usize,
    seed: u64,
) -> Result<Parity> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let requests = match artifact.header().encoding.code_range() {
        Some((lowest, highest)) => {
            top2_margins_of_codes(&mut rng, artifact, (highest - lowest) as u16, count)
        }
        None => top2_margins_of_logits(&mut rng, artifact, count),
    };
    asked(emulator, rule, artifact, requests)
}

fn top2_margins_of_logits(
    rng: &mut Xoshiro256PlusPlus,
    artifact: &Artifact<'_>,
    count: usize,
) -> Vec<RequestBody> {
    let classes = usize::from(artifact.header().classes);
    let mut rows = Vec::new();
    for class in 0..classes {
        let table = artifact.tables().get(class % artifact.tables().count());
        let edges = table.map(|table| margin_edges(&table.form)).unwrap_or_default();
        let top2_margins = edges.into_iter().flat_map(around).chain([0.0, f32::from_bits(1), f32::MAX]);
        for top2_margin in top2_margins.filter(|&top2_margin| top2_margin >= 0.0 && top2_margin.is_finite()) {
            // Second to 0, which makes the difference exact, or to the least logit there is.
            for second in [0.0, f32::MIN] {
                let mut row = vec![second; classes];
                row[class] = top2_margin;
                rows.push(row);
            }
        }
    }
    while rows.len() < count {
        let mut row = spread_logits(rng, classes, rows.len());
        match rows.len() % 4 {
            // Coarse logits, of which the largest are often equal.
            0 => row.iter_mut().for_each(|logit| *logit = logit.round()),
            1 => row.iter_mut().for_each(|logit| *logit = any_finite(rng)),
            _ => {}
        }
        rows.push(row);
    }
    rows.into_iter().map(|row| RequestBody::predict(Scores::Logits(row.into_iter().collect()))).collect()
}

fn top2_margins_of_codes(
    rng: &mut Xoshiro256PlusPlus,
    artifact: &Artifact<'_>,
    max_key: u16,
    count: usize,
) -> Vec<RequestBody> {
    let classes = usize::from(artifact.header().classes);
    let mut rows = Vec::new();
    for class in 0..classes {
        let table = artifact.tables().get(class % artifact.tables().count());
        let edges = match table.map(|table| table.form) {
            Some(TableForm::Codes(codes)) => codes.edges().to_vec(),
            Some(TableForm::Compact(codes)) => codes.edges().iter().map(|&edge| edge.into()).collect(),
            _ => Vec::new(),
        };
        let around = edges.into_iter().flat_map(|edge| [edge.saturating_sub(1), edge, edge + 1]);
        for top2_margin in
            around.chain([0, 1, max_key.into()]).map(|top2_margin| top2_margin.min(max_key.into()) as u16)
        {
            for second in [0, (max_key - top2_margin) / 2, max_key - top2_margin] {
                let mut row = vec![second; classes];
                row[class] = second + top2_margin;
                rows.push(row);
            }
        }
    }
    while rows.len() < count {
        // All over the range, or a few codes apart, so that they are often the same.
        let apart = [max_key, 2, max_key / 16][rows.len() % 3];
        let base = rng.random_range(apart..=max_key);
        rows.push((0..classes).map(|_| base - rng.random_range(0..=apart)).collect::<Vec<u16>>());
    }
    rows.into_iter().map(|row| RequestBody::predict(Scores::Codes(row.into_iter().collect()))).collect()
}

/// The margins between a table's bins.
fn margin_edges(form: &TableForm<'_>) -> Vec<f32> {
    match form {
        TableForm::Compact(table) => {
            let edges = table.edges().iter().filter_map(|&key| Margin::from_key(u32::from(key) << 16));
            edges.map(Margin::get).collect()
        }
        form => form.edges().to_vec(),
    }
}

/// A float and its neighbors.
fn around(value: f32) -> [f32; 3] {
    [value.next_down(), value, value.next_up()]
}

/// The largest and smallest margins, both zeros and what is next to them, and the largest subnormal and smallest normal ones.
fn ends() -> Vec<f32> {
    let least_normal = f32::MIN_POSITIVE;
    let ends =
        [0.0, f32::from_bits(1), least_normal.next_down(), least_normal, 1.0, f32::MAX.next_down(), f32::MAX];
    ends.into_iter().flat_map(|end| [end, -end]).collect()
}

/// A float of any finite bits.
fn any_finite(rng: &mut Xoshiro256PlusPlus) -> f32 {
    loop {
        let value = f32::from_bits(rng.random());
        if value.is_finite() {
            return value;
        }
    }
}
