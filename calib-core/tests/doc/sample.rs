// The artifacts of the documentation's examples, which include this file.

use calib_core::{ArtifactBuffer, Identity, MarginTable, ProbInterval, ScoreEncoding, StepTable};
use calib_core::artifact::{ArtifactWriter, BandParts, Guarantee, Header, HeaderFlags, Method, MonitorParts, Provenance, Rate, Reduction, ScoreIntervalParts, Table, TableForm, Theorem};
use calib_core::decision::{
    Accuracy, AccuracyGuarantee, Action, Conformity, DecisionParts, OperatingParts, Quantile, Quantiles, SetParts, Threshold, Thresholds,
};
use calib_core::table::{CodeTable, Scaling, ScalingFunction};
use calib_core::vector::{Joint, ScalingInput, ScalingShape, VectorScaling};

/// Two bins of a binary classifier's score: below 0.5 the probability is 0.1, from 0.5 up it is 0.8.
pub fn binary() -> ArtifactBuffer<128> {
    write(&header(Reduction::Binary, 2, 2), |writer| writer.tables(&[steps()]).unwrap())
}

/// The same with what monitors compare with: 99 calibration scores, of which the 50th is the edge.
pub fn monitored() -> ArtifactBuffer<128> {
    write(&header(Reduction::Binary, 2, 2), |writer| {
        writer.tables(&[steps()]).unwrap();
        let gaps = &[&[50, 50][..]];
        writer.monitors(&MonitorParts { shift: 20, change: 10_000, guarantee: 100, gaps, edges: None }).unwrap();
    })
}

/// Platt scaling of a binary classifier's score, beside intervals of the scores below and from 0.5 up.
pub fn with_score_intervals() -> ArtifactBuffer<128> {
    let function = ScalingFunction::new(Scaling::PlattProb { a: 4.0, b: -2.0 }).unwrap();
    let header = Header { method: Method::Platt, guarantee: None, ..header(Reduction::Binary, 2, 0) };
    write(&header, |writer| {
        writer.tables(&[Some(Table { form: TableForm::Scaling(function), epsilon: None })]).unwrap();
        let intervals = [(0.0, 0.25), (0.5, 1.0)].map(|(lo, hi)| ProbInterval::new(lo, hi).unwrap());
        let tables = &[Some((&[0.5f32.to_bits()][..], &intervals[..]))];
        writer.score_intervals(&ScoreIntervalParts { rate: Rate::OfRange, alpha: 0.1, tables }).unwrap();
    })
}

/// The same function beside a band: at least 0.25 from 0.5 up, and at most 0.375 up to 0.5.
pub fn with_band() -> ArtifactBuffer<128> {
    let function = ScalingFunction::new(Scaling::PlattProb { a: 4.0, b: -2.0 }).unwrap();
    let header = Header { method: Method::Platt, guarantee: None, ..header(Reduction::Binary, 2, 0) };
    write(&header, |writer| {
        writer.tables(&[Some(Table { form: TableForm::Scaling(function), epsilon: None })]).unwrap();
        let lower = (&[0.5f32.to_bits()][..], &[0.0, 0.25][..]);
        let upper = (&[0.5f32.next_up().to_bits()][..], &[0.375, 1.0][..]);
        writer.band(&BandParts { alpha: 0.1, lower, upper }).unwrap();
    })
}

/// The two bins with a decision rule, which treats above 0.5.
pub fn with_decision() -> ArtifactBuffer<128> {
    let action = |name, alarm| Action { name, alarm, abstain: false, if_sure: None };
    write(&header(Reduction::Binary, 2, 2), |writer| {
        writer.tables(&[steps()]).unwrap();
        let actions = &[action("wait", false), action("treat", true)];
        let parts = DecisionParts { thresholds: &[0.5], intervals: &[0, 1], uncalibrated: 1, unsure: None, actions };
        writer.decision(&parts).unwrap();
    })
}

/// The thresholds 0.25 and 0.625 of a binary classifier's score, with guarantees about both.
pub fn with_operating_point() -> ArtifactBuffer<128> {
    let at = |key: f32, positives_above, negatives_above| Threshold {
        key: key.to_bits(),
        positives: 59,
        positives_above,
        negatives: 59,
        negatives_above,
    };
    let guarantee = |accuracy| AccuracyGuarantee { accuracy, level: 0.95, confidence: 0.95, prevalence: None };
    let groups = &[Thresholds { lower: at(0.25, 59, 20), upper: at(0.625, 30, 0) }];
    let guarantees = &[guarantee(Accuracy::Sensitivity), guarantee(Accuracy::Specificity)];
    let header = Header { method: Method::OperatingPoint, guarantee: None, ..header(Reduction::Binary, 2, 0) };
    write(&header, |writer| {
        writer.operating_points(&OperatingParts { groups, refer_raises: true, guarantees }).unwrap();
    })
}

/// Prediction sets of three classes, by the margins of their logits.
pub fn with_prediction_sets() -> ArtifactBuffer<128> {
    let key = calib_core::Margin::new(-1.0).unwrap().key();
    let quantiles = Quantiles::All(Quantile { rows: 59, key });
    let parts = SetParts {
        conformity: Conformity::Margin, never_empty: false, alpha: 0.1, confidence: None, quantiles,
    };
    let header = Header { method: Method::PredictionSet, guarantee: None, ..header(Reduction::Joint, 3, 0) };
    write(&header, |writer| writer.prediction_sets(&parts).unwrap())
}

/// Two bins of a binary classifier's score for each of two groups.
pub fn by_group() -> ArtifactBuffer<128> {
    let child = StepTable::new(&[0.25], &[0.25, 0.75]).unwrap();
    let child = Some(Table { form: TableForm::Steps(child), epsilon: Some(0.125) });
    write(&Header { flags: HeaderFlags::GROUPED, ..header(Reduction::Binary, 2, 4) }, |writer| {
        writer.tables(&[steps(), child]).unwrap();
        writer.groups(&["adult", "child"]).unwrap();
    })
}

/// Two bins of the codes of an int8 softmax, of which class 1's score is calibrated.
pub fn codes() -> ArtifactBuffer<128> {
    let encoding = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };
    let form = TableForm::Codes(CodeTable::new(&[128], &[0.1, 0.8], encoding).unwrap());
    let table = Some(Table { form, epsilon: Some(0.125) });
    write(&Header { encoding, ..header(Reduction::Binary, 2, 2) }, |writer| writer.tables(&[table]).unwrap())
}

/// Two bins of a binary classifier's margin: below 1 the probability is 0.1, from 1 up it is 0.8.
pub fn margins() -> ArtifactBuffer<128> {
    let header = Header { encoding: ScoreEncoding::Margin, ..header(Reduction::Binary, 2, 2) };
    write(&header, |writer| writer.tables(&[margin_steps()]).unwrap())
}

/// The same table for each of three classes' top-two margin of the predicted logit.
pub fn top_label_margin() -> ArtifactBuffer<128> {
    let flags = HeaderFlags::TOP2_MARGIN;
    write(&Header { flags, encoding: ScoreEncoding::Margin, ..header(Reduction::TopLabel, 3, 6) }, |writer| {
        writer.tables(&[margin_steps(); 3]).unwrap();
    })
}

/// A table for each of three classes but the last, which had too few calibration points.
pub fn top_label() -> ArtifactBuffer<128> {
    let flags = HeaderFlags::CLASS_UNCALIBRATED;
    write(&Header { flags, ..header(Reduction::TopLabel, 3, 4) }, |writer| {
        writer.tables(&[steps(), steps(), None]).unwrap();
    })
}

/// The same table for each of three classes.
pub fn class_wise() -> ArtifactBuffer<128> {
    write(&header(Reduction::ClassWise, 3, 6), |writer| writer.tables(&[steps(); 3]).unwrap())
}

/// The same table for the first and the second of three classes.
pub fn top_k() -> ArtifactBuffer<128> {
    write(&header(Reduction::TopKConfidence { k: 2 }, 3, 4), |writer| writer.tables(&[steps(); 2]).unwrap())
}

/// Temperature scaling of three classes' logits.
pub fn joint() -> ArtifactBuffer<128> {
    let shape = ScalingShape::Temperature { inverse_t: 0.5 };
    let joint = Joint::Scaled(VectorScaling::new(3, ScalingInput::Logits, shape).unwrap());
    let header =
        Header { method: Method::Temperature, guarantee: None, ..header(Reduction::Joint, 3, 0) };
    write(&header, |writer| writer.joint(&joint).unwrap())
}

fn steps() -> Option<Table<'static>> {
    let form = TableForm::Steps(StepTable::new(&[0.5], &[0.1, 0.8]).unwrap());
    Some(Table { form, epsilon: Some(0.125) })
}

fn margin_steps() -> Option<Table<'static>> {
    let form = TableForm::MarginSteps(MarginTable::new(&[1.0], &[0.1, 0.8]).unwrap());
    Some(Table { form, epsilon: Some(0.125) })
}

fn header(reduction: Reduction, classes: u16, bins: u32) -> Header<'static> {
    Header {
        method: Method::Umd,
        reduction,
        encoding: ScoreEncoding::F32,
        classes,
        bins,
        n: 1000,
        guarantee: Some(Guarantee { theorem: Theorem::Gr21Theorem3, alpha: 0.1, epsilon: 0.125 }),
        flags: HeaderFlags::NONE,
        provenance: Provenance { data_sha256: [0; 32], tool_version: "0.1.0", parameters: "", classifier: None },
    }
}

fn write(header: &Header<'_>, put: impl FnOnce(&mut ArtifactWriter<'_>)) -> ArtifactBuffer<128> {
    let mut bytes = [0; 512];
    let mut writer = ArtifactWriter::new(&mut bytes);
    writer.header(header).unwrap();
    put(&mut writer);
    let mut buffer = ArtifactBuffer::new();
    // The host takes the SHA-256 of the sections for an identity.
    buffer.extend_from_slice(writer.finish(|_| Identity(*b"examples")).unwrap()).unwrap();
    buffer
}
