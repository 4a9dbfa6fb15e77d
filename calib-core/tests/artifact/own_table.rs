//! What belongs to a table comes from that table, not from another class's: epsilon, intervals, direct tables.

use calib_core::artifact::{
    ArtifactWriter, Guarantee, Header, HeaderFlags, Method, Provenance, Reduction, Table, TableForm, Theorem,
};
use calib_core::table::{CodeTable, RandomizedTable};
use calib_core::{
    Artifact, Calibrator, Outcome, ProbInterval, QuantizedScore, Score, ScoreEncoding, StepTable, TopLabel,
};

use crate::forge::{aligned, identity};

const CLASSES: u16 = 3;
const SOFTMAX: ScoreEncoding = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };
/// Two bins for each class.
const VALUES: [[f32; 2]; 3] = [[0.1, 0.8], [0.2, 0.7], [0.3, 0.6]];
const EPSILONS: [f32; 3] = [0.25, 0.125, 0.5];
/// The inner edge of each class, as a score and as a key.
const EDGES: [f32; 3] = [0.25, 0.5, 0.75];
const KEYS: [u32; 3] = [64, 128, 192];

fn header(method: Method, encoding: ScoreEncoding, theorem: Theorem) -> Header<'static> {
    Header {
        method,
        reduction: Reduction::TopLabel,
        encoding,
        classes: CLASSES,
        bins: 2 * u32::from(CLASSES),
        n: 300,
        guarantee: Some(Guarantee { theorem, alpha: 0.1, epsilon: 0.5 }),
        flags: HeaderFlags::NONE,
        provenance: Provenance {
            data_sha256: [1; 32],
            tool_version: "0.1.0",
            parameters: "",
            classifier: None,
        },
    }
}

/// Another interval for every bin of every class, around its value.
fn interval(class: usize, bin: usize) -> Option<ProbInterval> {
    let value = VALUES[class][bin];
    ProbInterval::new(value - 0.01 * (1 + class) as f32, value + 0.05 * (1 + bin) as f32)
}

fn write(header: &Header<'_>, forms: [TableForm<'_>; 3], has_intervals: bool, has_direct: bool) -> Vec<u8> {
    let mut tables = [None; 3];
    for ((table, form), epsilon) in tables.iter_mut().zip(forms).zip(EPSILONS) {
        *table = Some(Table { form, epsilon: Some(epsilon) });
    }
    let intervals = [0, 1, 2].map(|class| [0, 1].map(|bin| interval(class, bin)));
    let mut buf = vec![0; 4096];
    let mut writer = ArtifactWriter::new(&mut buf);
    writer.header(header).unwrap();
    writer.tables(&tables).unwrap();
    if has_intervals {
        writer.intervals(&intervals.each_ref().map(|bins| Some(&bins[..]))).unwrap();
    }
    if has_direct {
        writer.direct_table(&tables).unwrap();
    }
    writer.finish(identity).unwrap().to_vec()
}

#[test]
fn every_class_has_its_own_intervals() {
    let header = header(Method::Umd, ScoreEncoding::F32, Theorem::Gr22Theorem1);
    let forms = [0, 1, 2]
        .map(|class| TableForm::Steps(StepTable::new(&EDGES[class..=class], &VALUES[class]).unwrap()));
    let bytes = aligned(&write(&header, forms, true, false));
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    assert!(artifact.tables().has_intervals());
    let Calibrator::TopLabel(calibrator) = artifact.calibrator() else { panic!("not top-label") };
    for class in 0..CLASSES {
        let own = usize::from(class);
        for (bin, score) in [0.0, EDGES[own]].into_iter().enumerate() {
            let top = TopLabel { class, score: Score::new(score).unwrap() };
            let Outcome::Calibrated(calibrated) = calibrator.calibrate(top) else { panic!("class {class}") };
            assert_eq!(calibrated.prob, VALUES[own][bin]);
            assert_eq!(calibrated.epsilon, Some(EPSILONS[own]));
            assert_eq!(calibrated.interval, interval(own, bin), "class {class}, bin {bin}");
        }
    }
}

#[test]
fn every_class_has_its_own_direct_table() {
    let header = header(Method::Umd, SOFTMAX, Theorem::Gr22Theorem1);
    let forms = [0, 1, 2].map(|class| {
        TableForm::Codes(CodeTable::new(&KEYS[class..=class], &VALUES[class], SOFTMAX).unwrap())
    });
    for has_direct in [true, false] {
        let bytes = aligned(&write(&header, forms, false, has_direct));
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        assert_eq!(artifact.tables().has_direct_table(), has_direct);
        let Calibrator::TopLabelCode(calibrator) = artifact.calibrator() else { panic!("not over codes") };
        for (class, key) in (0..CLASSES).flat_map(|class| (0..256).map(move |key| (class, key))) {
            let score = QuantizedScore::from_key(SOFTMAX, key).unwrap();
            let Ok(Outcome::Calibrated(calibrated)) = calibrator.calibrate(class, score) else {
                panic!("class {class}")
            };
            let own = usize::from(class);
            let bin = usize::from(u32::from(key) >= KEYS[own]);
            assert_eq!(
                (usize::from(calibrated.bin), calibrated.prob),
                (bin, VALUES[own][bin]),
                "{class} {key}"
            );
        }
    }
}

/// Without a word no score has a guarantee, so none has an interval either: the values of the bins beside an edge are of a mix that
/// the lot makes.
#[test]
fn an_interval_goes_with_its_guarantee() {
    let header = header(Method::UmdRandomized, ScoreEncoding::F32, Theorem::Gr21Theorem4);
    let tie = [1 << 31];
    let forms = [0, 1, 2].map(|class| {
        TableForm::Randomized(RandomizedTable::new(&EDGES[class..=class], &tie, &VALUES[class]).unwrap())
    });
    let bytes = aligned(&write(&header, forms, true, false));
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    let Calibrator::TopLabel(calibrator) = artifact.calibrator() else { panic!("not top-label") };
    let at = |class: u16, score: f32, word: Option<u32>| {
        let top = TopLabel { class, score: Score::new(score).unwrap() };
        match calibrator.calibrate_with(top, word) {
            Outcome::Calibrated(calibrated) => (calibrated.bin, calibrated.epsilon, calibrated.interval),
            Outcome::Uncalibrated(why) => panic!("class {class}: {why}"),
        }
    };
    for class in 0..CLASSES {
        let own = usize::from(class);
        let (edge, epsilon) = (EDGES[own], Some(EPSILONS[own]));
        assert_eq!(at(class, edge, None), (1, None, None), "a tie without a word");
        assert_eq!(at(class, edge, Some(0)), (0, epsilon, interval(own, 0)));
        assert_eq!(at(class, edge, Some(u32::MAX)), (1, epsilon, interval(own, 1)));
        assert_eq!(at(class, edge.next_up(), None), (1, None, None), "no tie, without a word");
        assert_eq!(at(class, edge.next_up(), Some(0)), (1, epsilon, interval(own, 1)));
    }
}
