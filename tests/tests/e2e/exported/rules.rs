//! Thresholds and prediction sets as C, alone and beside tables: compiled for the host and the cores, and compared with calib-core.

use std::fmt::Write;
use std::fs;

use calib_core::artifact::{
    ArtifactWriter, Header, HeaderFlags, Method, Provenance, Reduction, Table, TableForm,
};
use calib_core::decision::{
    Accuracy, AccuracyGuarantee, ClassSet, Conformity, OperatingParts, Quantile, Quantiles, SetParts,
    Threshold, Thresholds,
};
use calib_core::predict::{Output, Predictor, Query};
use calib_core::score::CodeVector;
use calib_core::{Identity, Logits, Margin, Probs, QuantizedScore, Score, ScoreEncoding, StepTable};
use calib_host::StoredArtifact;
use calib_host::io::export::{ExportError, export_c, export_rust};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{BOARDS, compare, in_c};

pub(crate) const CLASSES: u16 = 40;
pub(crate) const I8: ScoreEncoding = ScoreEncoding::I8 { scale: 0.25, zero_point: 10 };
const U16: ScoreEncoding = ScoreEncoding::U16 { scale: 0.25, zero_point: 0 };
const BAD_SCORE: u32 = 1;
const UNCALIBRATED: u32 = 2;
const BAD_GROUP: u32 = 3;

pub(crate) fn artifact(
    (method, reduction, classes): (Method, Reduction, u16),
    encoding: ScoreEncoding,
    (bins, flags): (u32, HeaderFlags),
    fill: impl FnOnce(&mut ArtifactWriter<'_>),
) -> StoredArtifact {
    let provenance =
        Provenance { data_sha256: [3; 32], tool_version: "test", parameters: "", classifier: None };
    let header =
        Header { method, reduction, encoding, classes, bins, n: 100_000, guarantee: None, flags, provenance };
    let mut bytes = vec![0; 16_384];
    let mut writer = ArtifactWriter::new(&mut bytes);
    writer.header(&header).unwrap();
    fill(&mut writer);
    StoredArtifact::from_bytes(writer.finish(|_| Identity(*b"identity")).unwrap()).unwrap()
}

pub(crate) fn points(writer: &mut ArtifactWriter<'_>, keys: &[[u32; 2]]) {
    let at = |key, above| Threshold {
        key,
        positives: 60,
        positives_above: above,
        negatives: 60,
        negatives_above: above,
    };
    let groups: Vec<Thresholds> =
        keys.iter().map(|&[lower, upper]| Thresholds { lower: at(lower, 59), upper: at(upper, 9) }).collect();
    let guarantees = [AccuracyGuarantee {
        accuracy: Accuracy::Sensitivity,
        level: 0.95,
        confidence: 0.9,
        prevalence: None,
    }];
    writer
        .operating_points(&OperatingParts { groups: &groups, refer_raises: true, guarantees: &guarantees })
        .unwrap();
    if keys.len() > 1 {
        writer.groups(&["f", "m"]).unwrap();
    }
}

/// The header of an artifact, a probe that asks it, and what calib-core answers: alike on the host and on every core.
pub(crate) fn agrees(name: &str, stored: &StoredArtifact, probe: &str, expected: &[u32]) {
    let folder = tempfile::tempdir().unwrap();
    let header = export_c(stored, "calib").unwrap();
    fs::write(folder.path().join("cal.h"), &header).unwrap();
    in_c::check_example(folder.path(), &header);
    let start = "#include \"cal.h\"\nvoid put(uint32_t word);\nvoid finish(void);\n";
    fs::write(folder.path().join("probe.c"), format!("{start}{probe}")).unwrap();
    compare(name, "the host", &in_c::on_host(folder.path()), expected);
    for board in BOARDS {
        compare(name, board.core(), &in_c::on_core(folder.path(), board), expected);
    }
    println!("{name}: {} words", expected.len());
}

/// A probe that asks of every group, and of one that is none, all these words.
fn verdicts(asked: &[u32], is_code: bool, groups: usize) -> String {
    let list: Vec<String> = asked.iter().map(|word| format!("{word:#x}u")).collect();
    let score = if is_code { "(int32_t)asked[i]" } else { "score.number" };
    format!(
        "static const uint32_t asked[] = {{{}}};
int main(void)
{{
    union calib_word score;
    uint32_t group, i;
    int verdict, status;

    for (group = 0; group <= {groups}u; group++)
        for (i = 0; i < sizeof asked / sizeof *asked; i++) {{
            score.bits = asked[i];
            (void)score;
            status = calib_verdict(group, {score}, &verdict);
            put((uint32_t)status);
            if (status == CALIB_OK)
                put((uint32_t)verdict);
        }}
    finish();
    return 0;
}}
",
        list.join(", ")
    )
}

#[test]
fn verdicts_in_c_are_those_of_calib_core() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let alone = (Method::OperatingPoint, Reduction::Binary, 2);
    let none = (0, HeaderFlags::NONE);
    let key = |margin: f32| Margin::new(margin).unwrap().key();
    let probs = [[0.25f32.to_bits(), 0.75f32.to_bits()], [0, 1.0f32.to_bits() + 1]];
    let margins = [[key(-1e-42), key(2.5)], [key(f32::MIN), key(f32::MAX) + 1]];
    let codes = [[0, 100], [255, 256]];
    let steps = || {
        let form = TableForm::Steps(StepTable::new(&[0.5], &[0.25, 0.75]).unwrap());
        Some(Table { form, epsilon: None })
    };
    for (name, encoding, keys, has_tables) in [
        ("probabilities", ScoreEncoding::F32, probs, false),
        ("probabilities beside tables of groups", ScoreEncoding::F32, probs, true),
        ("margins", ScoreEncoding::Margin, margins, false),
        ("codes", I8, codes, false),
    ] {
        let stored = if has_tables {
            let of = (Method::Isotonic, Reduction::Binary, 2);
            artifact(of, encoding, (4, HeaderFlags::GROUPED), |writer| {
                writer.tables(&[steps(), steps()]).unwrap();
                points(writer, &keys);
            })
        } else {
            artifact(alone, encoding, none, |writer| points(writer, &keys))
        };
        let asked: Vec<u32> = if encoding.is_quantized() {
            (-130i32..130).map(i32::cast_unsigned).collect()
        } else {
            let ends = [-1e-42f32, 2.5, 0.25, 0.75, 1.0, f32::MIN, f32::MAX, 0.0, -0.0];
            let odd = [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
            let around = ends.iter().flat_map(|end| [end.next_down(), *end, end.next_up()]);
            let random = (0..500).map(|_| rng.random_range(-3.0f32..3.0));
            around.chain(odd).chain(random).map(f32::to_bits).collect()
        };
        let artifact = stored.artifact();
        let points = artifact.operating_points().unwrap();
        let mut expected = Vec::new();
        for group in 0..=2 {
            for &word in &asked {
                let verdict = if encoding.is_quantized() {
                    QuantizedScore::new(encoding, word.cast_signed())
                        .ok()
                        .map(|score| points.code_point(group).map(|point| point.verdict(score).unwrap()))
                } else if encoding.is_margin() {
                    let margin = Margin::new(f32::from_bits(word)).ok();
                    margin.map(|margin| points.point(group).map(|point| point.verdict(margin)))
                } else {
                    let score = Score::new(f32::from_bits(word)).ok();
                    score.map(|score| points.point(group).map(|point| point.verdict(score)))
                };
                match (group, verdict) {
                    (2, _) => expected.push(BAD_GROUP),
                    (_, None) => expected.push(BAD_SCORE),
                    (_, Some(verdict)) => expected.extend([0, verdict.unwrap() as u32]),
                }
            }
        }
        agrees(name, &stored, &verdicts(&asked, encoding.is_quantized(), 2), &expected);
        if !has_tables {
            assert_eq!(export_rust(&stored, "CALIB"), Err(ExportError::NoTables));
        }
    }
}

/// A probe that asks for the set of every row of words.
fn sets(rows: &[Vec<u32>], kind: &str) -> String {
    let mut text = String::new();
    let list: Vec<String> = rows.iter().flatten().map(|word| format!("{word:#x}u")).collect();
    let convert = match kind {
        "float" => "word.bits = asked[i * CALIB_SET_CLASSES + c]; row[c] = word.number;".to_owned(),
        _ => format!("row[c] = ({kind})asked[i * CALIB_SET_CLASSES + c];"),
    };
    // Writing to a string does not fail.
    let _ = write!(
        text,
        "static const uint32_t asked[] = {{{}}};
int main(void)
{{
    union calib_word word;
    {kind} row[CALIB_SET_CLASSES];
    uint32_t i, c, set[4];
    int status;

    word.bits = 0;
    for (i = 0; i < {}u; i++) {{
        for (c = 0; c < CALIB_SET_CLASSES; c++) {{
            {convert}
        }}
        (void)word;
        status = calib_set(row, set);
        put((uint32_t)status);
        if (status == CALIB_OK)
            for (c = 0; c < 4; c++)
                put(set[c]);
    }}
    finish();
    return 0;
}}
",
        list.join(", "),
        rows.len()
    );
    text
}

#[test]
fn sets_in_c_are_those_of_calib_core() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(6);
    let key = |margin: f32| Margin::new(margin).unwrap().key();
    for (conformity, encoding, by_class, never_empty) in [
        (Conformity::Margin, ScoreEncoding::F32, true, false),
        (Conformity::Score, ScoreEncoding::F32, false, true),
        (Conformity::Margin, I8, false, true),
        (Conformity::Margin, U16, true, false),
        (Conformity::Score, I8, true, false),
    ] {
        let threshold = |class: u16| match (conformity, encoding.is_quantized()) {
            // The last class is in every set.
            _ if class + 1 == CLASSES => 0,
            (Conformity::Margin, false) => key(f32::from(class % 3) - 1.5),
            (Conformity::Score, false) => 0.05f32.to_bits(),
            (Conformity::Margin, true) => Conformity::code_key(i32::from(class % 3) - 2),
            (Conformity::Score, true) => 180 + u32::from(class % 3),
        };
        let all: Vec<Quantile> =
            (0..CLASSES).map(|class| Quantile { rows: 60, key: threshold(class) }).collect();
        let quantiles = if by_class { Quantiles::ByClass(&all) } else { Quantiles::All(all[0]) };
        let parts = SetParts { conformity, never_empty, alpha: 0.1, confidence: None, quantiles };
        let of = (Method::PredictionSet, Reduction::Joint, CLASSES);
        let stored = artifact(of, encoding, (0, HeaderFlags::NONE), |writer| {
            writer.prediction_sets(&parts).unwrap();
        });
        let artifact = stored.artifact();
        let on_device = artifact.prediction_sets().unwrap();
        let (lowest, highest) = encoding.code_range().unwrap_or((-6, 6));
        let (mut rows, mut expected) = (Vec::new(), Vec::new());
        for i in 0..100 {
            let row: Vec<i32> = (0..CLASSES)
                .map(|_| match i % 3 {
                    0 => rng.random_range(lowest..=highest),
                    _ => (highest + lowest) / 2 + rng.random_range(-3..=3),
                })
                .collect();
            let set = if encoding.is_quantized() {
                rows.push(row.iter().map(|code| code.cast_unsigned()).collect());
                let keys: Vec<u16> = row.iter().map(|code| (code - lowest) as u16).collect();
                Some(on_device.of_keys(CodeVector::new(encoding, &keys).unwrap().keys()).unwrap())
            } else {
                let mut logits: Vec<f32> = row.iter().map(|&z| z as f32 / 2.0).collect();
                match i {
                    5 => logits[3] = f32::NAN,
                    6 => (logits[0], logits[1]) = (f32::MAX, f32::MIN),
                    7 => logits[39] = f32::NEG_INFINITY,
                    _ => {}
                }
                let asked = Logits::new(&logits);
                let mut probs = vec![0.0; logits.len()];
                if conformity == Conformity::Score {
                    if let Ok(logits) = asked {
                        logits.write_softmax(&mut probs).unwrap();
                    } else {
                        probs = logits.clone();
                    }
                    rows.push(probs.iter().map(|prob| prob.to_bits()).collect());
                    asked.ok().map(|_| on_device.of_probs(Probs::new(&probs).unwrap()).unwrap())
                } else {
                    rows.push(logits.iter().map(|logit| logit.to_bits()).collect());
                    asked.ok().map(|logits| on_device.of_logits(logits).unwrap())
                }
            };
            match set {
                None => expected.push(BAD_SCORE),
                Some(set) => {
                    let word = |word: u16| {
                        (0..32)
                            .filter(|bit| set.contains(32 * word + bit))
                            .map(|bit| 1u32 << bit)
                            .sum::<u32>()
                    };
                    expected.extend([0, word(0), word(1), word(2), word(3)]);
                }
            }
        }
        let kind = match encoding {
            ScoreEncoding::I8 { .. } => "int8_t",
            ScoreEncoding::U16 { .. } => "uint16_t",
            _ => "float",
        };
        agrees(&format!("{conformity:?} of {encoding}"), &stored, &sets(&rows, kind), &expected);
    }
}

#[test]
fn binary_sets_in_c_are_those_of_calib_core() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(8);
    let key = |margin: f32| Margin::new(margin).unwrap().key();
    for (conformity, encoding, keys, by_class, never_empty) in [
        (Conformity::Score, ScoreEncoding::F32, [0.7f32.to_bits(), 0.4f32.to_bits()], true, false),
        (Conformity::Score, ScoreEncoding::F32, [0.8f32.to_bits(); 2], false, true),
        (Conformity::Margin, ScoreEncoding::Margin, [key(-0.5), key(1.5)], true, false),
        (Conformity::Margin, ScoreEncoding::Margin, [key(2.0); 2], false, true),
        (Conformity::Score, I8, [200, 90], true, false),
        (Conformity::Score, U16, [50_000; 2], false, true),
    ] {
        let all = keys.map(|key| Quantile { rows: 60, key });
        let quantiles = if by_class { Quantiles::ByClass(&all) } else { Quantiles::All(all[0]) };
        let parts = SetParts { conformity, never_empty, alpha: 0.1, confidence: None, quantiles };
        let of = (Method::PredictionSet, Reduction::Binary, 2);
        let stored = artifact(of, encoding, (0, HeaderFlags::NONE), |writer| {
            writer.prediction_sets(&parts).unwrap();
        });
        let artifact = stored.artifact();
        let sets = artifact.prediction_sets().unwrap();
        let (mut asked, mut expected) = (Vec::new(), Vec::new());
        for i in 0..600u32 {
            let set = if let Some((lowest, highest)) = encoding.code_range() {
                let code = match i {
                    0 => lowest - 1,
                    1 => highest + 1,
                    2 => lowest,
                    3 => highest,
                    _ => rng.random_range(lowest..=highest),
                };
                asked.push(code.cast_unsigned());
                QuantizedScore::new(encoding, code).ok().map(|code| sets.of_code(code).unwrap())
            } else {
                let spread = if encoding.is_margin() { 4.0 } else { 1.02 };
                let score = match i {
                    0..8 => [0.0, -0.0, 1.0, f32::NAN, f32::INFINITY, f32::MAX, f32::MIN, -1e-45][i as usize],
                    8..14 => {
                        let key = keys[i as usize % 2];
                        let at = Margin::from_key(key).map_or(0.0, Margin::get);
                        let at = if encoding.is_margin() { at } else { f32::from_bits(key) };
                        [at, at.next_down(), at.next_up()][i as usize / 2 % 3]
                    }
                    _ if encoding.is_margin() => rng.random_range(-spread..spread),
                    _ => rng.random_range(0.0..spread),
                };
                asked.push(score.to_bits());
                match encoding.is_margin() {
                    true => Margin::new(score).ok().map(|margin| sets.of_margin(margin).unwrap()),
                    false => Score::new(score).ok().map(|score| sets.of_score(score).unwrap()),
                }
            };
            let word = |set: ClassSet| u32::from(set.contains(0)) | u32::from(set.contains(1)) << 1;
            expected.extend(set.map_or(vec![BAD_SCORE], |set| vec![0, word(set)]));
        }
        let list: Vec<String> = asked.iter().map(|word| format!("{word:#x}u")).collect();
        let score = if encoding.is_quantized() { "(int32_t)asked[i]" } else { "score.number" };
        let probe = format!(
            "static const uint32_t asked[] = {{{}}};
int main(void)
{{
    union calib_word score;
    uint32_t i, set;
    int status;

    for (i = 0; i < sizeof asked / sizeof *asked; i++) {{
        score.bits = asked[i];
        (void)score;
        status = calib_set({score}, &set);
        put((uint32_t)status);
        if (status == CALIB_OK)
            put(set);
    }}
    finish();
    return 0;
}}
",
            list.join(", ")
        );
        agrees(&format!("binary {conformity:?} of {encoding}"), &stored, &probe, &expected);
    }
}

/// Tables of the predicted class for each group.
#[test]
fn groups_of_several_classes_in_c_are_those_of_calib_core() {
    const EDGES: [f32; 6] = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7];
    let values: Vec<[f32; 2]> =
        (0..18u8).map(|table| [0.01 * f32::from(table), 0.5 + 0.02 * f32::from(table)]).collect();
    for (reduction, per_group, function) in [
        (Reduction::Confidence, 1, "calib_top_label(group, probs, &class_, &result)"),
        (Reduction::TopLabel, 3, "calib_top_label(group, probs, &class_, &result)"),
    ] {
        let of = (Method::Isotonic, reduction, 3);
        let tables: Vec<Option<Table<'_>>> = (0..2 * per_group)
            .map(|table| {
                let steps = StepTable::new(&EDGES[table..=table], &values[table]).unwrap();
                Some(Table { form: TableForm::Steps(steps), epsilon: None })
            })
            .collect();
        let bins = 2 * tables.len() as u32;
        let stored = artifact(of, ScoreEncoding::F32, (bins, HeaderFlags::GROUPED), |writer| {
            writer.tables(&tables).unwrap();
            writer.groups(&["f", "m"]).unwrap();
        });
        assert!(
            export_rust(&stored, "CALIB")
                .is_ok_and(|text| text.contains(&format!("Each group has {per_group} of the")))
        );
        let predictor = Predictor::new(stored.artifact());
        let rows = [[0.2, 0.5, 0.3], [0.65, 0.25, 0.1], [0.1, 0.1, 0.8], [0.34, 0.33, 0.33], [0.5, 0.5, 0.5]];
        let mut expected = Vec::new();
        // There is no third group, and none with a number of which three times are 1 in 32 bits.
        for group in [0u32, 1, 2, 0xAAAA_AAAB] {
            for row in &rows {
                let Ok(probs) = Probs::new(row) else {
                    expected.push(if group < 2 { BAD_SCORE } else { UNCALIBRATED });
                    continue;
                };
                let Some(group) = u8::try_from(group).ok().filter(|&group| group < 2) else {
                    expected.push(UNCALIBRATED);
                    continue;
                };
                let query = Query { output: Output::Probs(probs), group: Some(group), word: None };
                let found = predictor.predict(&query).unwrap().first;
                let calibrated = found.outcome.calibrated().unwrap();
                expected.extend([0, u32::from(found.class), calibrated.prob.to_bits()]);
            }
        }
        let list: Vec<String> = rows.iter().flatten().map(|prob| format!("{prob:?}f")).collect();
        let probe = format!(
            "static const float rows[] = {{{}}};
static const uint32_t groups[] = {{0, 1, 2, 0xaaaaaaabu}};
int main(void)
{{
    struct calib_result result;
    union calib_word word;
    uint32_t i, place, class_ = 0;
    int status;

    for (place = 0; place < 4; place++)
        for (i = 0; i < {}u; i++) {{
            const float *probs = rows + 3 * i;
            uint32_t group = groups[place];
            status = {function};
            put((uint32_t)status);
            if (status != CALIB_OK)
                continue;
            put(class_);
            word.number = result.prob;
            put(word.bits);
        }}
    finish();
    return 0;
}}
",
            list.join(", "),
            rows.len()
        );
        agrees(&format!("groups of {reduction:?}"), &stored, &probe, &expected);
    }
}
