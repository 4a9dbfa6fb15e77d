//! What is asked, and what calib-core answers, as words.

use calib_core::artifact::{Header, HeaderFlags, Reduction};
use calib_core::{
    Artifact, Calibrated, Calibrator, Logits, Margin, Outcome, Probs, QuantizedScore, Score, ScoreEncoding,
    ScoreVector, TopLabel, TopLabelCodeMargin, TopLabelMargin,
};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::artifacts::CLASSES;

const OK: u32 = 0;
const BAD_SCORE: u32 = 1;
const UNCALIBRATED: u32 = 2;

/// The floats that are asked of every table: its edges and their neighbors, odd ones, and some thousand others.
pub(crate) fn scores(artifact: &Artifact<'_>) -> Vec<f32> {
    let tables = artifact.tables();
    let forms = (0..tables.count()).filter_map(|index| tables.get(index));
    let mut edges: Vec<f32> = forms.flat_map(|table| table.form.edges().to_vec()).collect();
    edges.extend((0..tables.count()).flat_map(|table| range_edges(artifact, table)));
    let mut scores: Vec<f32> =
        edges.iter().flat_map(|edge| [edge.next_down(), *edge, edge.next_up()]).collect();
    // Where rounding changes the key.
    scores.extend((0..600).map(|i| ((f64::from(i * 109) + 0.5) / 65_535.0) as f32));
    scores.extend([0.0, -0.0, 1.0, 1.0f32.next_down(), 1.0f32.next_up(), -0.1, 2.0, f32::MAX, f32::MIN]);
    scores.extend([f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY]);
    scores.extend([1, 2, 0x0070_0000, 0x007F_FFFF, 0x0080_0000, 0x8000_0001].map(f32::from_bits));
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(31);
    scores.extend((0..1500).map(|_| rng.random_range(0.0f32..1.0)));
    // Any bits at all, and any score.
    scores.extend((0..500).map(|_| f32::from_bits(rng.next_u32())));
    scores.extend((0..500).map(|_| f32::from_bits(rng.random_range(0..=1.0f32.to_bits()))));
    scores
}

/// Where ranges of the score begin.
fn range_edges(artifact: &Artifact<'_>, table: usize) -> Vec<f32> {
    let encoding = artifact.header().encoding;
    let keys = artifact.tables().score_bins(table).map_or(&[][..], |ranges| ranges.edges());
    let score = |&key: &u32| match encoding {
        ScoreEncoding::F32 => Some(f32::from_bits(key)),
        ScoreEncoding::RoundedF32 => Some(((f64::from(key) - 0.5) / 65_535.0) as f32),
        ScoreEncoding::Margin => Margin::from_key(key).map(Margin::get),
        _ => None,
    };
    keys.iter().filter_map(score).collect()
}

/// The random word that goes with the score or vector at a place.
pub(crate) const fn word(place: u32) -> u32 {
    place.wrapping_mul(2_654_435_761)
}

/// Probability vectors, some of which are none, and some with equal entries.
pub(crate) fn probs() -> Vec<[f32; CLASSES]> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(37);
    (0..400u32)
        .map(|i| {
            let mut row = [0.0f32; CLASSES];
            row.fill_with(|| rng.random_range(0.0f32..1.0).powi(3));
            let sum: f32 = row.iter().sum();
            row.iter_mut().for_each(|prob| *prob /= sum);
            match i % 20 {
                0 => row[3] = row[1],
                1 => row = [1.0 / CLASSES as f32; CLASSES],
                2 => row[2] = f32::NAN,
                3 => row[4] += 0.02,
                4 => row[0] = -1e-6,
                5 => (row[1], row[5]) = (0.0, -1.1e-6),
                6 => {
                    row = [0.0; CLASSES];
                    row[i as usize % CLASSES] = 1.000_000_4;
                }
                _ => {}
            }
            row
        })
        .collect()
}

/// Vectors of 8-bit codes.
pub(crate) fn codes() -> Vec<[u8; CLASSES]> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(41);
    (0..400).map(|_| [0; CLASSES].map(|_: u8| rng.random_range(0..=255u32) as u8 & 0xFC)).collect()
}

/// The codes that are asked of every table, or top-two margins of codes: one beyond on either side, and in 16 bits not all.
pub(crate) fn code_steps(header: &Header<'_>) -> Option<(i32, i32, i32)> {
    let (lowest, highest) = header.encoding.code_range()?;
    let is_top2_margin = header.flags.contains(HeaderFlags::TOP2_MARGIN);
    let (lowest, highest) = if is_top2_margin { (0, highest - lowest) } else { (lowest, highest) };
    Some((lowest, highest, if highest - lowest > 255 { 7 } else { 1 }))
}

/// What is put out for a result.
fn put(out: &mut Vec<u32>, calibrated: Option<Calibrated>, has_interval: bool) -> u32 {
    let Some(calibrated) = calibrated else {
        out.push(UNCALIBRATED);
        return UNCALIBRATED;
    };
    let Calibrated { prob, bin, epsilon, interval, .. } = calibrated;
    out.extend([OK, prob.to_bits(), epsilon.unwrap_or(f32::NAN).to_bits(), bin.into()]);
    if has_interval {
        let ends = interval.map_or([f32::NAN; 2], |interval| [interval.lo, interval.hi]);
        out.extend(ends.map(f32::to_bits));
    }
    OK
}

fn of(outcome: Outcome) -> Option<Calibrated> {
    match outcome {
        Outcome::Calibrated(calibrated) => Some(calibrated),
        Outcome::Uncalibrated(_) => None,
    }
}

/// calib-core's answers, in the order in which `probe.c` puts them out.
pub(crate) fn answers(artifact: &Artifact<'_>) -> Vec<u32> {
    let mut out = Vec::new();
    let count = artifact.tables().count();
    // Of whole vectors it is put out by the calibrator alone.
    let with_interval =
        artifact.tables().has_intervals() && artifact.header().reduction != Reduction::Normalized;
    match code_steps(artifact.header()) {
        Some((lowest, highest, step)) => {
            for table in 0..=count {
                for code in (lowest - 1..=highest + 1).step_by(step as usize) {
                    match code {
                        _ if artifact.tables().get(table).is_none() => out.push(UNCALIBRATED),
                        code if code < lowest || code > highest => out.push(BAD_SCORE),
                        code => _ = put(&mut out, of_code(artifact, table, code), with_interval),
                    }
                }
            }
        }
        None => {
            let scores = scores(artifact);
            for table in 0..=count {
                for (place, &score) in (0..).zip(&scores) {
                    let is_margin = artifact.header().encoding.is_margin();
                    match (Score::new(score), Margin::new(score)) {
                        _ if artifact.tables().get(table).is_none() => out.push(UNCALIBRATED),
                        (_, Ok(margin)) if is_margin => {
                            let calibrated = of_margin(artifact, table, margin, word(place));
                            put(&mut out, calibrated, with_interval);
                        }
                        (Ok(score), _) if !is_margin => {
                            let calibrated = of_score(artifact, table, score, word(place));
                            put(&mut out, calibrated, with_interval);
                        }
                        _ => out.push(BAD_SCORE),
                    }
                }
            }
        }
    }
    match artifact.header().flags.contains(HeaderFlags::TOP2_MARGIN) {
        true => of_logits(artifact, &mut out, with_interval),
        false => of_vectors(artifact, &mut out, with_interval),
    }
    out
}

/// A table's answer to a margin, by the calibrator that it belongs to.
pub(crate) fn of_margin(
    artifact: &Artifact<'_>,
    table: usize,
    margin: Margin,
    word: u32,
) -> Option<Calibrated> {
    let class = table as u16;
    match artifact.calibrator() {
        Calibrator::BinaryMargin(calibrator) => of(calibrator.calibrate_with(margin, word)),
        Calibrator::TopLabelMargin(calibrator) => {
            of(calibrator.calibrate_with(TopLabelMargin { class, margin }, word))
        }
        _ => None,
    }
}

/// A table's answer to a score, by the calibrator that it belongs to.
pub(crate) fn of_score(artifact: &Artifact<'_>, table: usize, score: Score, word: u32) -> Option<Calibrated> {
    let class = table as u16;
    match artifact.calibrator() {
        Calibrator::Binary(calibrator) => of(calibrator.calibrate_with(score, word)),
        Calibrator::TopLabel(calibrator) => of(calibrator.calibrate_with(TopLabel { class, score }, word)),
        Calibrator::TopK(calibrator) => {
            let classes = calibrator.classes();
            let by_class = matches!(artifact.header().reduction, Reduction::TopKLabel { .. });
            let (rank, class) = if by_class { (table / classes, table % classes) } else { (table, 0) };
            of(calibrator.calibrate(rank as u16, TopLabel { class: class as u16, score }, Some(word)))
        }
        Calibrator::Vector(calib_core::VectorCalibrator::ClassWise(calibrator)) => {
            of(calibrator.calibrate(class, score, Some(word)))
        }
        // A single class has no answer there: that of its table.
        _ => of_table(artifact, table, score, word),
    }
}

fn of_table(artifact: &Artifact<'_>, table: usize, score: Score, word: u32) -> Option<Calibrated> {
    use calib_core::BinFlags;
    use calib_core::artifact::TableForm;
    let found = artifact.tables().get(table)?;
    let (bin, prob) = match found.form {
        TableForm::Steps(steps) => steps.lookup(score),
        TableForm::Randomized(steps) => steps.lookup(score, word),
        _ => return None,
    };
    let flags = artifact.tables().bin_flags(table, bin);
    let is_empty = flags.contains(BinFlags::EMPTY);
    (!is_empty).then_some(Calibrated { prob, bin, epsilon: found.epsilon, flags, interval: None })
}

pub(crate) fn of_code(artifact: &Artifact<'_>, table: usize, code: i32) -> Option<Calibrated> {
    let encoding = artifact.header().encoding;
    let score = || QuantizedScore::new(encoding, code).unwrap();
    match artifact.calibrator() {
        Calibrator::BinaryCode(calibrator) => calibrator.calibrate(score()).ok().and_then(of),
        Calibrator::TopLabelCode(calibrator) => calibrator.calibrate(table as u16, score()).ok().and_then(of),
        Calibrator::TopLabelCodeMargin(calibrator) => {
            // A vector in which the table's class leads by this much.
            let (lowest, _) = encoding.code_range().unwrap();
            let mut codes = vec![lowest; calibrator.classes()];
            codes[table % calibrator.classes()] += code;
            calibrator.calibrate(TopLabelCodeMargin::new(encoding, codes).unwrap()).ok().and_then(of)
        }
        _ => None,
    }
}

/// Logits made of probabilities: none of them a logit where the probability is NaN.
fn of_logits(artifact: &Artifact<'_>, out: &mut Vec<u32>, has_interval: bool) {
    let encoding = artifact.header().encoding;
    if let Calibrator::TopLabelCodeMargin(calibrator) = artifact.calibrator() {
        for row in codes() {
            let top = TopLabelCodeMargin::new(encoding, row.map(|code| code as i8)).unwrap();
            if put(out, of(calibrator.calibrate(top).unwrap()), has_interval) == OK {
                out.push(top.class().into());
            }
        }
    }
    let Calibrator::TopLabelMargin(calibrator) = artifact.calibrator() else { return };
    for row in probs() {
        let Ok(logits) = Logits::new(&row) else {
            out.push(BAD_SCORE);
            continue;
        };
        let (top, outcome) = calibrator.calibrate_logits(logits).unwrap();
        if put(out, of(outcome), has_interval) == OK {
            out.push(top.class.into());
        }
    }
}

fn of_vectors(artifact: &Artifact<'_>, out: &mut Vec<u32>, has_interval: bool) {
    let encoding = artifact.header().encoding;
    if let Calibrator::TopLabelCode(calibrator) = artifact.calibrator() {
        for row in codes() {
            // The first of the largest.
            let code = row.into_iter().max().unwrap();
            let class = row.iter().position(|&other| other == code).unwrap() as u16;
            let score = QuantizedScore::new(encoding, code.into()).unwrap();
            if put(out, of(calibrator.calibrate(class, score).unwrap()), has_interval) == OK {
                out.push(class.into());
            }
        }
        return;
    }
    for (place, row) in (0..).zip(probs()) {
        let probs = Probs::new(&row).ok();
        match artifact.calibrator() {
            Calibrator::TopLabel(calibrator) => {
                let Some(top) = probs.map(|probs| probs.top_label()) else {
                    out.push(BAD_SCORE);
                    continue;
                };
                if put(out, of(calibrator.calibrate_with(top, word(place))), has_interval) == OK {
                    out.push(top.class.into());
                }
            }
            Calibrator::TopK(calibrator) => {
                let Some(probs) = probs else {
                    // Of every rank; beyond the last there is nothing, whatever the scores.
                    out.extend(vec![BAD_SCORE; calibrator.k()]);
                    out.push(UNCALIBRATED);
                    continue;
                };
                let ranked = calibrator.calibrate_all(ScoreVector::Probs(probs), Some(word(place))).unwrap();
                for (top, outcome) in ranked {
                    if put(out, of(outcome), has_interval) == OK {
                        out.push(top.class.into());
                    }
                }
                out.push(UNCALIBRATED);
            }
            Calibrator::Vector(calibrator) if artifact.header().reduction == Reduction::Normalized => {
                let Some(probs) = probs else {
                    out.push(BAD_SCORE);
                    continue;
                };
                let mut space = [0.0; CLASSES];
                let vector = ScoreVector::Probs(probs);
                let calibrated = calibrator.calibrate(vector, Some(word(place)), &mut space).unwrap();
                if calibrated.iter().flatten().next().is_none() {
                    out.push(UNCALIBRATED);
                    continue;
                }
                out.push(OK);
                let bits = |class| calibrated.get(class).unwrap_or(f32::NAN).to_bits();
                out.extend((0..CLASSES as u16).map(bits));
            }
            _ => {}
        }
    }
}
