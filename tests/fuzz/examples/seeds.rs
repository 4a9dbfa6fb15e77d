//! Writes the seed corpora: `cargo run --example seeds`, from `tests/fuzz`.

use std::fs;
use std::path::{Path, PathBuf};

use calib_core::wire::{
    self, CalibratorStatus, Measurement, Missing, Prediction, Refusal, Reply, ReplyBody, Request, RequestBody,
};
use calib_core::{
    ArtifactWriter, BinFlags, Calibrated, ClassifierId, Guarantee, Header, HeaderFlags, Identity, Method,
    Outcome, ParseError, Provenance, Reduction, Score, ScoreEncoding, SectionKind, StepTable, Table, Theorem,
    Uncalibrated,
};
use serde::Serialize;
use sha2::{Digest, Sha256};

fn main() {
    let artefacts = [
        ("binary", binary(Method::Umd, Some(0.25))),
        ("isotonic", binary(Method::Isotonic, None)),
        ("top_label", top_label()),
    ];
    for (name, bytes) in artefacts {
        write("parse", name, &bytes);
    }
    for (name, body) in requests() {
        write("frame", name, &payload(&Request { id: 7, body }));
    }
    for (name, body) in replies() {
        write("frame", name, &payload(&Reply { id: 7, body }));
    }
    write("frame", "framed", &framed(&Request { id: 7, body: RequestBody::Score(0.5) }));
}

fn write(target: &str, name: &str, bytes: &[u8]) {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(target);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(name), bytes).unwrap();
}

fn header(method: Method, reduction: Reduction) -> Header<'static> {
    Header {
        method,
        reduction,
        encoding: ScoreEncoding::F32,
        classes: 2,
        bins: 3,
        n: 300,
        guarantee: None,
        flags: HeaderFlags::NONE,
        provenance: Provenance {
            data_sha256: [0; 32],
            tool_version: "0.1.0",
            parameters: "",
            classifier: None,
        },
    }
}

fn guarantee(theorem: Theorem) -> Option<Guarantee> {
    Some(Guarantee { theorem, alpha: 0.1, epsilon: 0.25 })
}

fn binary(method: Method, epsilon: Option<f32>) -> Vec<u8> {
    let mut header = header(method, Reduction::Binary);
    header.guarantee = epsilon.and_then(|_| guarantee(Theorem::Gr21Theorem3));
    header.provenance.classifier = Some(ClassifierId([7; 8]));
    let steps = StepTable::new(&[0.25, 0.75], &[0.1, 0.5, 0.9]).unwrap();
    artefact(&header, &[Some(Table { steps, epsilon })], &[])
}

/// Three classes, the second uncalibrated, with an empty bin and a section of the future.
fn top_label() -> Vec<u8> {
    let mut header = header(Method::Umd, Reduction::TopLabel);
    header.classes = 3;
    header.guarantee = guarantee(Theorem::Gr22Theorem1);
    header.flags = HeaderFlags::CLASS_UNCALIBRATED;
    let two = StepTable::new(&[0.5], &[0.4, 0.8]).unwrap();
    let one = StepTable::new(&[], &[1.0]).unwrap();
    let tables =
        [Some(Table { steps: two, epsilon: Some(0.25) }), None, Some(Table { steps: one, epsilon: None })];
    artefact(&header, &tables, &[(SectionKind::BinFlags as u16, &[0, 1, 0]), (99, b"later")])
}

fn artefact(header: &Header<'_>, tables: &[Option<Table<'_>>], more: &[(u16, &[u8])]) -> Vec<u8> {
    let mut buf = [0; 1024];
    let mut writer = ArtifactWriter::new(&mut buf);
    writer.header(header).unwrap();
    writer.tables(tables).unwrap();
    for &(kind, payload) in more {
        writer.section(kind, false, payload).unwrap();
    }
    writer.finish(|sections| Identity(Sha256::digest(sections)[..8].try_into().unwrap())).unwrap().to_vec()
}

fn requests() -> Vec<(&'static str, RequestBody)> {
    let values = || [0.25, 0.5, 0.25].into_iter().collect();
    vec![
        ("request_status", RequestBody::Status),
        ("request_classify", RequestBody::Classify(values())),
        ("request_score", RequestBody::Score(0.5)),
        ("request_logits", RequestBody::Logits(values())),
        ("request_probs", RequestBody::Probs(values())),
        ("request_measure", RequestBody::Measure { features: values(), repeat: 100 }),
    ]
}

fn replies() -> Vec<(&'static str, ReplyBody)> {
    let calibrated = Calibrated { prob: 0.75, bin: 2, epsilon: Some(0.1), flags: BinFlags::NONE };
    let prediction = |outcome| {
        ReplyBody::Prediction(Prediction { class: 1, score: Score::new(0.9).unwrap(), outcome, alarm: true })
    };
    let status = |calibrator| {
        ReplyBody::Status(wire::Status {
            firmware: "0.1.0".try_into().unwrap(),
            classifier: "wdbc".try_into().unwrap(),
            classifier_id: ClassifierId([7; 8]),
            features: 30,
            classes: 2,
            alarm_threshold: 0.5,
            stack_high_water_bytes: 2048,
            calibrator,
        })
    };
    let calibrator = CalibratorStatus {
        identity: Identity([9; 8]),
        len_bytes: 160,
        method: Method::Umd,
        reduction: Reduction::Binary,
        bins: 3,
        n: 300,
        guarantee: guarantee(Theorem::Gr21Theorem3),
    };
    let crc = ParseError::Crc { stored: 1, computed: 2 };
    vec![
        ("reply_prediction", prediction(Outcome::Calibrated(calibrated))),
        ("reply_uncalibrated", prediction(Outcome::Uncalibrated(Uncalibrated::Class))),
        ("reply_status", status(Ok(calibrator))),
        ("reply_damaged", status(Err(Missing::Artifact(crc)))),
        (
            "reply_measurement",
            ReplyBody::Measurement(Measurement {
                repeat: 100,
                empty_ticks: 1,
                classify_ticks: 2,
                calibrate_ticks: 3,
            }),
        ),
        ("reply_refused", ReplyBody::Refused(Refusal::FeatureCount { expected: 30, got: 3 })),
    ]
}

fn framed<T: Serialize>(message: &T) -> Vec<u8> {
    wire::encode(message, &mut [0; wire::MAX_FRAME]).unwrap().to_vec()
}

/// The message alone, without COBS and CRC: the target adds them.
fn payload<T: Serialize>(message: &T) -> Vec<u8> {
    let frame = framed(message);
    let mut decoded = cobs::decode_vec(&frame[..frame.len() - 1]).unwrap();
    decoded.truncate(decoded.len() - 4);
    decoded
}
