//! What an emulated device answers to scores that another program computed.

use std::fs;
use std::io::{BufWriter, Write, stdout};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use calib_classifier::linear::AlarmRule;
use calib_core::artifact::Reduction;
use calib_core::wire::{Answer, Beside, ReplyBody, RequestBody, Scores};
use calib_core::{ClassifierId, Outcome, ScoreEncoding};
use calib_host::io::files::read_artifact;
use calib_tests::{Board, Emulator, build_firmware_of, stand_in};

const BOARD: Board = Board::Mps2An386;
/// The classifier of an artifact that names none.
const ID: ClassifierId = ClassifierId(*b"stand-in");

/// Gives a device this artifact, asks it about the rows in a file, and prints a line for each: `CLASS:BITS` of every probability that
/// it answers, the bits in hex, or `CLASS:-` where it has none.
///
/// The file holds 32-bit little-endian numbers row by row: floats, or of codes integers.
pub(crate) fn answers(artifact: &Path, kind: &str, rows: &Path) -> Result<()> {
    let stored = read_artifact(artifact)?;
    let parsed = stored.artifact();
    let header = parsed.header();
    let outputs = if header.reduction == Reduction::Binary { 1 } else { usize::from(header.classes) };
    let bytes = fs::read(rows).with_context(|| format!("cannot read {}", rows.display()))?;
    let (numbers, rest) = bytes.as_chunks::<4>();
    ensure!(
        rest.is_empty() && numbers.len() % outputs == 0,
        "{}: {} bytes are no rows of {outputs} numbers",
        rows.display(),
        bytes.len()
    );
    let requests = numbers.chunks_exact(outputs).map(|row| request(kind, header.encoding, row));
    let requests: Vec<RequestBody> = requests.collect::<Result<_>>()?;

    let alarm = if outputs == 1 { AlarmRule::AtLeast(0.5) } else { AlarmRule::Below(0.5) };
    let id = header.provenance.classifier.unwrap_or(ID);
    let elf = build_firmware_of(BOARD, &stand_in(&format!("stand-in-{outputs}"), id, outputs, alarm)?)?;
    let mut device = Emulator::start_fast(BOARD, &elf, Some(artifact))?;
    let mut out = BufWriter::new(stdout().lock());
    for reply in device.pipeline(requests)? {
        let line: Vec<String> = match reply {
            ReplyBody::Answer(Answer { beside: Beside::Probs(probs), .. }) => {
                let prob =
                    |(class, &prob): (u16, &f32)| of_prob(class, Some(prob).filter(|prob| !prob.is_nan()));
                (0..).zip(&probs).map(prob).collect()
            }
            ReplyBody::Answer(Answer { class, outcome, beside, .. }) => {
                let mut line = vec![of_outcome(class, &outcome)];
                if let Beside::Ranked(others) = beside {
                    line.extend(others.iter().map(|ranked| of_outcome(ranked.class, &ranked.outcome)));
                }
                line
            }
            other => bail!("the device answers with {other:?}"),
        };
        writeln!(out, "{}", line.join(" "))?;
    }
    Ok(out.flush()?)
}

/// What asks about a row.
fn request(kind: &str, encoding: ScoreEncoding, row: &[[u8; 4]]) -> Result<RequestBody> {
    let floats = || row.iter().map(|&bytes| f32::from_le_bytes(bytes));
    let key = |bytes: &[u8; 4]| {
        let (lowest, _) = encoding.code_range().context("the artifact is not over codes")?;
        let code = i32::from_le_bytes(*bytes);
        code.checked_sub(lowest)
            .and_then(|key| u16::try_from(key).ok())
            .with_context(|| format!("{code} is no code"))
    };
    Ok(match (kind, row) {
        ("score", [score]) => RequestBody::predict(Scores::Score(f32::from_le_bytes(*score))),
        ("margin", [margin]) => RequestBody::predict(Scores::Margin(f32::from_le_bytes(*margin))),
        ("code", [code]) => RequestBody::predict(Scores::Code(key(code)?)),
        ("codes", _) => RequestBody::predict(Scores::Codes(row.iter().map(key).collect::<Result<_>>()?)),
        ("probs", _) => RequestBody::predict(Scores::Probs(floats().collect())),
        ("logits", _) => RequestBody::predict(Scores::Logits(floats().collect())),
        _ => bail!("{kind} of {} numbers: there are score, margin, code, codes, probs and logits", row.len()),
    })
}

fn of_outcome(class: u16, outcome: &Outcome) -> String {
    of_prob(class, outcome.calibrated().map(|calibrated| calibrated.prob))
}

fn of_prob(class: u16, prob: Option<f32>) -> String {
    match prob {
        Some(prob) => format!("{class}:{:08x}", prob.to_bits()),
        None => format!("{class}:-"),
    }
}
