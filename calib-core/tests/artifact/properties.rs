//! The laws of the format, on random artifacts.

use std::collections::BTreeSet;

use calib_core::artifact::{
    Guarantee, Header, HeaderFlags, Method, Provenance, Reduction, Table, TableForm, Theorem,
};
use calib_core::{
    Artifact, BinFlags, Calibrated, Calibrator, ClassifierId, Outcome, QuantizedScore, Score, ScoreEncoding,
    StepTable, TopLabel, Uncalibrated,
};
use proptest::collection::{btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::forge::{Aligned, aligned, seal, write};
use crate::golden::hex;
use crate::golden_forms::{Form, forms};
use crate::test_size::step;

/// The bit pattern of 1.
const ONE_BITS: u32 = 0x3F80_0000;
const MAX_BINS: usize = 300 / step(25);

/// What a table is made of.
#[derive(Clone, Debug)]
struct Bins {
    edges: Vec<f32>,
    values: Vec<f32>,
    /// Which bins are empty; as long as `values`.
    empty: Vec<bool>,
    epsilon: Option<f32>,
}

/// What an artifact is made of.
#[derive(Clone, Debug)]
struct Plan {
    reduction: Reduction,
    method: Method,
    tables: Vec<Option<Bins>>,
    n: u64,
    theorem: Theorem,
    alpha: f32,
    parameters: String,
    data_sha256: [u8; 32],
    classifier: Option<[u8; 8]>,
}

impl Bins {
    fn table(&self) -> Table<'_> {
        let steps = StepTable::new(&self.edges, &self.values).unwrap();
        Table { form: TableForm::Steps(steps), epsilon: self.epsilon }
    }

    /// Calibrates by counting the edges at or below the score.
    fn calibrate(&self, score: f32) -> Outcome {
        let bin = self.edges.iter().filter(|&&edge| edge <= score).count();
        if self.empty[bin] {
            return Outcome::Uncalibrated(Uncalibrated::EmptyBin);
        }
        let (prob, flags, epsilon) = (self.values[bin], BinFlags::NONE, self.epsilon);
        Outcome::Calibrated(Calibrated { prob, bin: bin as u16, epsilon, flags, interval: None })
    }

    /// Both ends, and either side of every edge.
    fn probes(&self) -> impl Iterator<Item = f32> + '_ {
        let around = |&edge: &f32| [edge.next_down(), edge, edge.next_up().min(1.0)];
        self.edges.iter().flat_map(around).chain([0.0, 1.0])
    }
}

impl Plan {
    fn header(&self) -> Header<'_> {
        let tables = self.tables.iter().flatten();
        let missing = self.tables.iter().any(Option::is_none);
        Header {
            method: self.method,
            reduction: self.reduction,
            encoding: ScoreEncoding::F32,
            classes: self.tables.len().max(2) as u16,
            bins: tables.clone().map(|table| table.values.len() as u32).sum(),
            n: self.n,
            guarantee: tables.filter_map(|table| table.epsilon).reduce(f32::max).map(|epsilon| Guarantee {
                theorem: self.theorem,
                alpha: self.alpha,
                epsilon,
            }),
            flags: if missing { HeaderFlags::CLASS_UNCALIBRATED } else { HeaderFlags::NONE },
            provenance: Provenance {
                data_sha256: self.data_sha256,
                tool_version: "0.1.0",
                parameters: &self.parameters,
                classifier: self.classifier.map(ClassifierId),
            },
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let tables: Vec<_> = self.tables.iter().map(|table| table.as_ref().map(Bins::table)).collect();
        let empty: Vec<u8> = self.tables.iter().flatten().flat_map(|t| &t.empty).map(|&e| e.into()).collect();
        let flags = if empty.contains(&1) { &empty[..] } else { &[] };
        write(&self.header(), &tables, flags)
    }
}

fn bins(epsilon: BoxedStrategy<Option<f32>>) -> impl Strategy<Value = Bins> {
    let unit = || (0..=ONE_BITS).prop_map(f32::from_bits);
    let edges = prop_oneof![btree_set(1..=ONE_BITS, 0..8), btree_set(1..=ONE_BITS, 0..MAX_BINS)];
    let empty = prop_oneof![Just(vec![false; MAX_BINS]), vec(any::<bool>(), MAX_BINS)];
    (edges, vec(unit(), MAX_BINS), empty, epsilon).prop_map(|(edges, mut values, mut empty, epsilon)| {
        let edges: Vec<f32> = BTreeSet::into_iter(edges).map(f32::from_bits).collect();
        values.truncate(edges.len() + 1);
        empty.truncate(edges.len() + 1);
        Bins { edges, values, empty, epsilon }
    })
}

/// No guarantee for any table, or for some.
fn epsilons() -> impl Strategy<Value = BoxedStrategy<Option<f32>>> {
    let positive = (1u32..0x4000_0000).prop_map(f32::from_bits);
    prop_oneof![Just(Just(None).boxed()), Just(option::weighted(0.9, positive).boxed())]
}

fn tables() -> impl Strategy<Value = (Reduction, Vec<Option<Bins>>)> {
    let binary = epsilons()
        .prop_flat_map(|epsilon| bins(epsilon).prop_map(|table| (Reduction::Binary, vec![Some(table)])));
    let top_label = epsilons()
        .prop_flat_map(|epsilon| vec(option::weighted(0.8, bins(epsilon)), 2..8))
        .prop_filter("at least one class is calibrated", |tables| tables.iter().any(Option::is_some))
        .prop_map(|tables| (Reduction::TopLabel, tables));
    prop_oneof![binary, top_label]
}

fn plan() -> impl Strategy<Value = Plan> {
    let method = prop_oneof![Just(Method::Umd), Just(Method::Isotonic)];
    let theorem = prop_oneof![Just(Theorem::Gr21Theorem3), Just(Theorem::Gr22Theorem1)];
    // Between 0 and 1, both excluded.
    let alpha = (1..ONE_BITS).prop_map(f32::from_bits);
    let origin = (".{0,40}", any::<[u8; 32]>(), any::<Option<[u8; 8]>>());
    (tables(), method, 1..=u64::MAX, theorem, alpha, origin).prop_map(
        |((reduction, tables), method, n, theorem, alpha, (parameters, data_sha256, classifier))| Plan {
            // Only umd has guarantees, and one of the theorems is for top-label alone.
            method: if tables.iter().flatten().any(|t| t.epsilon.is_some()) { Method::Umd } else { method },
            theorem: if reduction == Reduction::Binary { Theorem::Gr21Theorem3 } else { theorem },
            reduction,
            tables,
            n,
            alpha,
            parameters,
            data_sha256,
            classifier,
        },
    )
}

/// Uses everything that a parsed artifact offers with a score, for every class and two too many.
fn use_all(artifact: &Artifact<'_>, score: Score) {
    let tables = artifact.tables();
    for class in 0..tables.count() as u16 + 2 {
        let outcome = match artifact.calibrator() {
            Calibrator::TopLabel(calibrator) => calibrator.calibrate(TopLabel { class, score }),
            Calibrator::Binary(calibrator) => {
                let with = calibrator.calibrate_with(score, u32::from(class).rotate_right(2));
                assert!(with.calibrated().is_none_or(|with| (0.0..=1.0).contains(&with.prob)), "{with:?}");
                calibrator.calibrate(score)
            }
            Calibrator::BinaryCode(calibrator) => {
                calibrator.calibrate(code(calibrator.encoding(), score)).unwrap()
            }
            Calibrator::TopLabelCode(calibrator) => {
                calibrator.calibrate(class, code(calibrator.encoding(), score)).unwrap()
            }
            _ => unreachable!("a calibrator that these tests do not know"),
        };
        let got = match outcome {
            Outcome::Calibrated(got) => got,
            Outcome::Uncalibrated(why) => {
                let is_empty = why == Uncalibrated::EmptyBin;
                assert!(is_empty || why == Uncalibrated::Class, "{why}");
                let is_binary =
                    matches!(artifact.calibrator(), Calibrator::Binary(_) | Calibrator::BinaryCode(_));
                assert_eq!(is_empty, is_binary || tables.get(class.into()).is_some());
                continue;
            }
        };
        assert!(got.interval.is_none_or(|interval| interval.contains(got.prob)), "{got:?}");
        assert!((0.0..=1.0).contains(&got.prob), "{got:?}");
        assert!(got.epsilon.is_none_or(|epsilon| epsilon > 0.0 && epsilon.is_finite()), "{got:?}");
        if let Some(table) = tables.get(class.into()) {
            assert!(usize::from(got.bin) < table.form.bins().max(1), "{got:?}");
            assert_eq!(tables.bin_flags(class.into(), got.bin), BinFlags::NONE);
            assert_eq!(got.flags, BinFlags::NONE);
        }
    }
}

/// A code as far up its encoding as the score is.
fn code(encoding: ScoreEncoding, score: Score) -> QuantizedScore {
    let (lowest, highest) = encoding.code_range().unwrap();
    let share = score.get() * (highest - lowest) as f32;
    QuantizedScore::new(encoding, lowest + share as i32).unwrap()
}

/// An artifact with two classes under top-label, each with a table of the same form.
fn two_classes(form: &Form) -> Vec<u8> {
    let mut header = form.header();
    header.reduction = Reduction::TopLabel;
    header.bins *= 2;
    write(&header, &[Some(form.table); 2], &[])
}

proptest! {
    /// Whatever an attacker or a faulty writer puts into a form under a right CRC: it is refused, or it can be used.
    #[test]
    fn mutants_of_every_form_never_panic(
        form in any::<Index>(),
        multi_class in any::<bool>(),
        edits in vec((any::<Index>(), any::<u8>()), 0..4),
        words in vec((any::<Index>(), prop_oneof![any::<u32>(), 0..=ONE_BITS, 0u32..300]), 0..3),
        probes in vec((0..=ONE_BITS).prop_map(f32::from_bits), 1..8),
    ) {
        let forms = forms();
        let form = form.get(&forms);
        let mut bytes = if multi_class { two_classes(form) } else { hex(form.listing) };
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] ^= byte;
        }
        for (at, word) in words {
            let at = 4 * at.index(bytes.len() / 4);
            bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        seal(&mut bytes);
        let bytes = aligned(&bytes);
        if let Ok(artifact) = Artifact::parse(bytes.as_bytes()) {
            for probe in probes.into_iter().chain([0.0, 0.5, 1.0]) {
                use_all(&artifact, Score::new(probe).unwrap());
            }
        }
    }

    /// Every form is written, read and used under top-label as it is for a binary problem.
    #[test]
    fn a_class_is_calibrated_like_a_binary_problem(
        probe in (0..=ONE_BITS).prop_map(f32::from_bits),
        word in any::<u32>(),
    ) {
        for form in forms() {
            let (binary, classes) = (aligned(&hex(form.listing)), aligned(&two_classes(&form)));
            let [binary, classes] = [&binary, &classes].map(|bytes| Artifact::parse(bytes.as_bytes()).unwrap());
            for probe in form.table.form.edges().iter().copied().chain([probe]) {
                let score = Score::new(probe).unwrap();
                for class in 0..2 {
                    let top = TopLabel { class, score };
                    let [one, other] = match (binary.calibrator(), classes.calibrator()) {
                        (Calibrator::Binary(one), Calibrator::TopLabel(other)) => {
                            [one.calibrate_with(score, word), other.calibrate_with(top, word)]
                        }
                        (Calibrator::BinaryCode(one), Calibrator::TopLabelCode(other)) => {
                            let code = code(one.encoding(), score);
                            [one.calibrate(code), other.calibrate(class, code)].map(Result::unwrap)
                        }
                        _ => unreachable!("both are of one encoding"),
                    };
                    // What stands beside the tables was not written for the classes.
                    match (one, other) {
                        (Outcome::Calibrated(one), Outcome::Calibrated(other)) => {
                            prop_assert_eq!((one.prob.to_bits(), one.bin), (other.prob.to_bits(), other.bin));
                        }
                        (Outcome::Uncalibrated(why), Outcome::Calibrated(other)) => {
                            prop_assert_eq!(why, Uncalibrated::EmptyBin);
                            prop_assert_eq!(binary.tables().bin_flags(0, other.bin), BinFlags::EMPTY);
                        }
                        _ => prop_assert!(false, "uncalibrated"),
                    }
                }
            }
        }
    }

    /// What was written is read, and calibrates as the linear scan does.
    #[test]
    fn round_trip(plan in plan(), probe in (0..=ONE_BITS).prop_map(f32::from_bits)) {
        let bytes = aligned(&plan.bytes());
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        prop_assert_eq!(artifact.header(), &plan.header());
        prop_assert_eq!(artifact.tables().count(), plan.tables.len());

        for (class, bins) in plan.tables.iter().enumerate() {
            prop_assert_eq!(artifact.tables().get(class), bins.as_ref().map(Bins::table));
            for probe in bins.iter().flat_map(Bins::probes).chain([probe]) {
                let score = Score::new(probe).unwrap();
                let uncalibrated = Outcome::Uncalibrated(Uncalibrated::Class);
                let expected = bins.as_ref().map_or(uncalibrated, |bins| bins.calibrate(probe));
                let got = match artifact.calibrator() {
                    Calibrator::Binary(calibrator) => calibrator.calibrate(score),
                    Calibrator::TopLabel(calibrator) => {
                        calibrator.calibrate(TopLabel { class: class as u16, score })
                    }
                    _ => unreachable!("a calibrator that these tests do not know"),
                };
                prop_assert_eq!(got, expected);
            }
        }
    }

    /// How the bytes arrive does not matter.
    #[test]
    fn received_in_pieces(plan in plan(), cuts in vec(any::<Index>(), 0..20)) {
        let bytes = plan.bytes();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len())).collect();
        cuts.sort_unstable();
        cuts.push(bytes.len());

        let mut buffer = Aligned::new();
        let mut start = 0;
        for end in cuts {
            buffer.extend_from_slice(&bytes[start..end]).unwrap();
            start = end;
        }
        prop_assert_eq!(buffer.as_bytes(), &bytes[..]);
        let whole = aligned(&bytes);
        prop_assert_eq!(Artifact::parse(buffer.as_bytes()), Artifact::parse(whole.as_bytes()));
    }

    /// Flags are a bin's own: beyond a table's last bin there are none.
    #[test]
    fn no_flags_beyond_a_table(plan in plan(), beyond in 0u16..1000) {
        let bytes = aligned(&plan.bytes());
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        for (class, bins) in plan.tables.iter().enumerate() {
            let count = bins.as_ref().map_or(0, |bins| bins.values.len() as u16);
            prop_assert_eq!(artifact.tables().bin_flags(class, count + beyond), BinFlags::NONE);
        }
        prop_assert_eq!(artifact.tables().bin_flags(plan.tables.len(), 0), BinFlags::NONE);
        prop_assert_eq!(artifact.tables().bin_flags(usize::MAX, 0), BinFlags::NONE);
    }

    /// Whatever an attacker or a faulty writer puts under a right CRC: it is refused, or it can be used.
    #[test]
    fn mutants_never_panic(
        plan in plan(),
        edits in vec((any::<Index>(), any::<u8>()), 1..6),
        len in option::weighted(0.2, any::<Index>()),
        probes in vec((0..=ONE_BITS).prop_map(f32::from_bits), 1..8),
    ) {
        let mut bytes = plan.bytes();
        if let Some(len) = len {
            bytes.truncate(len.index(bytes.len()).next_multiple_of(4).max(32));
        }
        // The first bytes, where the structure is, as often as the rest.
        let near = bytes.len().min(160);
        for (i, (at, byte)) in edits.into_iter().enumerate() {
            let at = at.index(if i % 2 == 0 { near } else { bytes.len() });
            bytes[at] ^= byte;
        }
        seal(&mut bytes);
        let bytes = aligned(&bytes);
        if let Ok(artifact) = Artifact::parse(bytes.as_bytes()) {
            for probe in probes.into_iter().chain([0.0, 1.0]) {
                use_all(&artifact, Score::new(probe).unwrap());
            }
        }
    }
}
