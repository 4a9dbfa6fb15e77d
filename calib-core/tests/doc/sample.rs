// The artefacts of the documentation's examples, which include this file.

use calib_core::{ArtifactBuffer, Identity, MarginTable, ScoreEncoding, StepTable};
use calib_core::artifact::{ArtifactWriter, Guarantee, Header, HeaderFlags, Method, Provenance, Reduction, Table, TableForm, Theorem};
use calib_core::decision::{Action, DecisionParts};
use calib_core::table::CodeTable;
use calib_core::vector::{Joint, ScalingInput, ScalingShape, VectorScaling};

/// Two bins of a binary classifier's score: below 0.5 the probability is 0.1, from 0.5 up it is 0.8.
pub fn binary() -> ArtifactBuffer<128> {
    write(&header(Reduction::Binary, 2, 2), |writer| writer.tables(&[steps()]).unwrap())
}

/// The same with a decision rule, which treats above 0.5.
pub fn with_decision() -> ArtifactBuffer<128> {
    let action = |name, alarm| Action { name, alarm, abstain: false };
    write(&header(Reduction::Binary, 2, 2), |writer| {
        writer.tables(&[steps()]).unwrap();
        let actions = &[action("wait", false), action("treat", true)];
        let parts = DecisionParts { thresholds: &[0.5], intervals: &[0, 1], uncalibrated: 1, actions };
        writer.decision(&parts).unwrap();
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

/// The same table for each of three classes' lead of the predicted logit.
pub fn top_label_margin() -> ArtifactBuffer<128> {
    let flags = HeaderFlags::CLASS_MARGIN;
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
