//! Every form of table in format 1 is written and read as it is listed.

use calib_core::artifact::{
    ArtifactWriter, Guarantee, Header, HeaderFlags, Method, Reduction, Table, TableForm, Theorem,
};
use calib_core::table::{
    CodeTable, InterpolatedTable, RandomizedTable, Scaling, ScalingFunction, VennAbersTable,
};
use calib_core::{
    Artifact, BinFlags, Calibrated, Calibrator, Outcome, ParseError, ProbInterval, QuantizedScore, Score,
    ScoreEncoding, StepTable, Uncalibrated,
};

use crate::forge::{PROVENANCE, aligned, identity};
use crate::golden::{hex, slots};
use crate::listings::{
    BETA, CODES, INTERPOLATED, INTERVALS, PLATT_LOGIT, PLATT_PROB, RANDOMIZED, TEMPERATURE, VENN_ABERS,
};
use crate::test_size::step;

const CLIP: f32 = 1.0 / (1 << 20) as f32;
/// What the four functions give for 0.93.
const SCALED_BITS: [u32; 4] = [0x3F79_632F, 0x3F6D_F7DC, 0x3F64_F1CB, 0x3F48_E2F0];
const SOFTMAX: ScoreEncoding = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };

const STEPS: StepTable<'static> = calib_core::step_table!(&[0.5], &[0.125, 0.75]);

/// What is pinned, and how the writer is asked for it.
pub(crate) struct Form {
    pub(crate) name: &'static str,
    pub(crate) listing: &'static str,
    method: Method,
    pub(crate) encoding: ScoreEncoding,
    theorem: Option<Theorem>,
    pub(crate) table: Table<'static>,
    bin_flags: &'static [BinFlags],
    intervals: Option<&'static [Option<ProbInterval>]>,
    direct: bool,
}

impl Form {
    fn new(name: &'static str, listing: &'static str, method: Method, form: TableForm<'static>) -> Self {
        Self {
            name,
            listing,
            method,
            encoding: ScoreEncoding::F32,
            theorem: None,
            table: Table { form, epsilon: None },
            bin_flags: &[],
            intervals: None,
            direct: false,
        }
    }

    fn guaranteed(mut self, theorem: Theorem, epsilon: f32) -> Self {
        self.theorem = Some(theorem);
        self.table.epsilon = Some(epsilon);
        self
    }

    pub(crate) fn header(&self) -> Header<'static> {
        Header {
            method: self.method,
            reduction: Reduction::Binary,
            encoding: self.encoding,
            classes: 2,
            bins: self.table.form.bins() as u32,
            n: 300,
            guarantee: self.theorem.zip(self.table.epsilon).map(|(theorem, epsilon)| Guarantee {
                theorem,
                alpha: 0.1,
                epsilon,
            }),
            flags: HeaderFlags::NONE,
            provenance: PROVENANCE,
        }
    }

    fn write(&self) -> Vec<u8> {
        let mut buf = vec![0xEE; 4096];
        let mut writer = ArtifactWriter::new(&mut buf);
        writer.header(&self.header()).unwrap();
        writer.tables(&[Some(self.table)]).unwrap();
        if !self.bin_flags.is_empty() {
            writer.bin_flags(self.bin_flags).unwrap();
        }
        if let Some(intervals) = self.intervals {
            writer.intervals(&[Some(intervals)]).unwrap();
        }
        if self.direct {
            writer.direct_table(&[Some(self.table)]).unwrap();
        }
        writer.finish(identity).unwrap().to_vec()
    }
}

pub(crate) fn forms() -> Vec<Form> {
    let randomized =
        RandomizedTable::new(&[0.5, 0.5], &[0x4000_0000, 0xC000_0000], &[0.0625, 0.5, 0.9375]).unwrap();
    let interpolated = InterpolatedTable::new(&[0.25, 0.5, 0.75], &[0.125, 0.25, 1.0], &[0.5, 3.0]).unwrap();
    let scaling = |parameters| TableForm::Scaling(ScalingFunction::new(parameters).unwrap());
    let venn_abers = VennAbersTable::new(&[0.5], &[0.0, 0.5], &[0.25, 1.0]).unwrap();
    let codes = CodeTable::new(&[64, 192], &[0.0625, 0.5, 0.9375], SOFTMAX).unwrap();
    vec![
        Form::new("randomized", RANDOMIZED, Method::UmdRandomized, TableForm::Randomized(randomized))
            .guaranteed(Theorem::Gr21Theorem4, 0.125),
        Form::new(
            "interpolated",
            INTERPOLATED,
            Method::IsotonicInterpolated,
            TableForm::Interpolated(interpolated),
        ),
        Form::new(
            "platt, logit",
            PLATT_LOGIT,
            Method::Platt,
            scaling(Scaling::PlattLogit { a: 1.5, b: -0.25, clip: CLIP }),
        ),
        Form::new(
            "platt, probability",
            PLATT_PROB,
            Method::Platt,
            scaling(Scaling::PlattProb { a: 6.0, b: -3.0 }),
        ),
        Form::new(
            "beta",
            BETA,
            Method::Beta,
            scaling(Scaling::Beta { a: 1.5, b: 0.75, c: 0.25, clip: CLIP }),
        ),
        Form::new(
            "temperature",
            TEMPERATURE,
            Method::Temperature,
            scaling(Scaling::Temperature { inverse_t: 0.5, clip: CLIP }),
        ),
        Form::new("venn-abers", VENN_ABERS, Method::VennAbers, TableForm::VennAbers(venn_abers)),
        Form {
            bin_flags: &[BinFlags::NONE, BinFlags::EMPTY],
            intervals: Some(&[Some(ProbInterval { lo: 0.0625, hi: 0.375 }), None]),
            ..Form::new("intervals", INTERVALS, Method::FixedWidth, TableForm::Steps(STEPS))
                .guaranteed(Theorem::ClopperPearson, 0.25)
        },
        Form {
            encoding: SOFTMAX,
            direct: true,
            ..Form::new("codes", CODES, Method::Ums, TableForm::Codes(codes))
                .guaranteed(Theorem::SampleSplit, 0.125)
        },
    ]
}

#[test]
fn the_writer_gives_exactly_the_pinned_bytes() {
    for form in forms() {
        assert_eq!(form.write(), hex(form.listing), "{}", form.name);
    }
}

#[test]
fn the_parser_reads_the_pinned_artifacts() {
    for form in forms() {
        let bytes = aligned(&hex(form.listing));
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        assert_eq!(artifact.header(), &form.header(), "{}", form.name);
        assert_eq!(artifact.identity(), identity(&bytes.as_bytes()[32..]));
        assert_eq!(artifact.tables().count(), 1);
        assert_eq!(artifact.tables().get(0), Some(form.table), "{}", form.name);
        assert_eq!(artifact.tables().get(1), None);
        for (bin, interval) in form.intervals.unwrap_or(&[None; 4]).iter().enumerate() {
            assert_eq!(artifact.tables().interval(0, bin as u16), *interval);
        }
        assert_eq!(artifact.tables().has_direct_table(), form.direct);
    }
}

fn binary(listing: &str, score: f32, word: Option<u32>) -> Calibrated {
    match outcome(listing, score, word) {
        Outcome::Calibrated(calibrated) => calibrated,
        Outcome::Uncalibrated(why) => panic!("{score}: {why}"),
    }
}

fn outcome(listing: &str, score: f32, word: Option<u32>) -> Outcome {
    let bytes = aligned(&hex(listing));
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    let Calibrator::Binary(calibrator) = artifact.calibrator() else { panic!("not binary") };
    let score = Score::new(score).unwrap();
    match word {
        Some(word) => calibrator.calibrate_with(score, word),
        None => calibrator.calibrate(score),
    }
}

#[test]
fn a_word_divides_equal_scores_and_without_one_nothing_is_guaranteed() {
    let at = |score, word| {
        let Calibrated { prob, bin, epsilon, interval, .. } = binary(RANDOMIZED, score, word);
        assert_eq!(interval, None);
        (bin, prob, epsilon)
    };
    for (word, bin, prob) in
        [(0, 0, 0.0625), (0x3FFF_FFFF, 0, 0.0625), (0x4000_0000, 1, 0.5), (0xC000_0000, 2, 0.9375)]
    {
        assert_eq!(at(0.5, Some(word)), (bin, prob, Some(0.125)));
    }
    for (word, epsilon) in [(Some(0), Some(0.125)), (Some(u32::MAX), Some(0.125)), (None, None)] {
        assert_eq!(at(0.5f32.next_down(), word), (0, 0.0625, epsilon));
        assert_eq!(at(0.5f32.next_up(), word), (2, 0.9375, epsilon));
    }
    assert_eq!(at(0.5, None), (2, 0.9375, None));
}

#[test]
fn knots_are_interpolated() {
    let at = |score| {
        let Calibrated { prob, bin, epsilon, interval, .. } = binary(INTERPOLATED, score, None);
        assert_eq!((epsilon, interval), (None, None));
        (bin, prob)
    };
    assert_eq!([at(0.0), at(0.25), at(0.375)], [(0, 0.125), (1, 0.125), (1, 0.1875)]);
    assert_eq!([at(0.5), at(0.625), at(0.75), at(1.0)], [(2, 0.25), (2, 0.625), (3, 1.0), (3, 1.0)]);
}

#[test]
fn scaling_functions_are_evaluated() {
    let logit = |s: f64| (s / (1.0 - s)).ln();
    let sigmoid = |z: f64| 1.0 / (1.0 + (-z).exp());
    for s in [0.1f64, 0.5, 0.93] {
        for (listing, exact) in [
            (PLATT_LOGIT, sigmoid(1.5 * logit(s) - 0.25)),
            (PLATT_PROB, sigmoid(6.0 * s - 3.0)),
            (BETA, sigmoid(1.5 * s.ln() - 0.75 * (1.0 - s).ln() + 0.25)),
            (TEMPERATURE, sigmoid(0.5 * logit(s))),
        ] {
            let Calibrated { prob, bin, epsilon, .. } = binary(listing, s as f32, None);
            assert_eq!((bin, epsilon), (0, None));
            assert!((f64::from(prob) - exact).abs() < 1e-6, "{prob} {exact}");
        }
    }
    // The same bits on every target.
    let bits = [PLATT_LOGIT, PLATT_PROB, BETA, TEMPERATURE].map(|f| binary(f, 0.93, None).prob.to_bits());
    assert_eq!(bits, SCALED_BITS);
    let clipped = binary(TEMPERATURE, 1.0, None).prob;
    assert_eq!(clipped, binary(TEMPERATURE, 1.0 - CLIP / 2.0, None).prob);
    assert!(clipped < 1.0);
}

#[test]
fn venn_abers_gives_both_probabilities() {
    let at = |score| {
        let Calibrated { prob, bin, epsilon, interval, .. } = binary(VENN_ABERS, score, None);
        assert_eq!(epsilon, None);
        (bin, prob, interval.unwrap())
    };
    assert_eq!(at(0.25), (0, 0.2, ProbInterval { lo: 0.0, hi: 0.25 }));
    assert_eq!(at(0.5), (1, 1.0 / 1.5, ProbInterval { lo: 0.5, hi: 1.0 }));
}

#[test]
fn a_bin_has_its_exact_interval() {
    let got = binary(INTERVALS, 0.0, None);
    let interval = Some(ProbInterval { lo: 0.0625, hi: 0.375 });
    assert_eq!(
        (got.prob, got.epsilon, got.flags, got.interval),
        (0.125, Some(0.25), BinFlags::NONE, interval)
    );
    // No calibration point was in the other bin.
    assert_eq!(outcome(INTERVALS, 1.0, None), Outcome::Uncalibrated(Uncalibrated::EmptyBin));
}

#[test]
fn codes_are_looked_up_as_such() {
    let bytes = aligned(&hex(CODES));
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    let Calibrator::BinaryCode(calibrator) = artifact.calibrator() else { panic!("not over codes") };
    assert_eq!(calibrator.encoding(), SOFTMAX);
    let score = |encoding, code| QuantizedScore::new(encoding, code).unwrap();
    for (code, bin, prob) in
        [(-128, 0, 0.0625), (-65, 0, 0.0625), (-64, 1, 0.5), (63, 1, 0.5), (64, 2, 0.9375), (127, 2, 0.9375)]
    {
        let Ok(Outcome::Calibrated(got)) = calibrator.calibrate(score(SOFTMAX, code)) else {
            panic!("{code} is uncalibrated")
        };
        assert_eq!((got.bin, got.prob, got.epsilon), (bin, prob, Some(0.125)));
    }
    for other in [
        ScoreEncoding::U8 { scale: 1.0 / 256.0, zero_point: 0 },
        ScoreEncoding::I8 { scale: 1.0 / 255.0, zero_point: -128 },
        ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: 0 },
    ] {
        let error = calibrator.calibrate(score(other, 5)).unwrap_err();
        assert_eq!((error.expected, error.got), (SOFTMAX, other));
    }
}

#[test]
fn every_single_bit_flip_is_refused() {
    for form in forms() {
        let golden = hex(form.listing);
        for bit in (0..8 * golden.len()).step_by(step(97)) {
            let mut bad = golden.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let buffer = aligned(&bad);
            assert!(Artifact::parse(buffer.as_bytes()).is_err(), "{}: bit {bit}", form.name);
            for slot in slots(&bad) {
                let buffer = aligned(&slot);
                assert!(Artifact::parse_slot(buffer.as_bytes()).is_err(), "{}: bit {bit}", form.name);
            }
        }
    }
}

#[test]
fn every_truncation_is_refused() {
    for form in forms() {
        let golden = hex(form.listing);
        for len in (1..golden.len()).step_by(step(13)) {
            let needed = if len < 32 { 32 } else { golden.len() };
            let cut = aligned(&golden[..len]);
            let expected = ParseError::Truncated { needed, available: len };
            assert_eq!(Artifact::parse(cut.as_bytes()), Err(expected), "{}: {len}", form.name);
            for slot in slots(&golden[..len]) {
                // The erased rest of the slot is no part of the artifact, unless it happens to be its last bytes.
                let whole = slot.starts_with(&golden);
                let buffer = aligned(&slot);
                assert_eq!(Artifact::parse_slot(buffer.as_bytes()).is_ok(), whole, "{}: {len}", form.name);
            }
        }
    }
}
