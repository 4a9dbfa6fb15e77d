//! The command `calib` for a page, with three more words: `names`, `look` and `device`. What they find is JSON.
//!
//! The page runs it as a WASI program, whose files are those that the user dropped.
#![forbid(unsafe_code)]

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::{env, fs};

use anyhow::{Context, Result, bail};
use calib_core::predict::{OtherClasses, Output, Query};
use calib_core::score::{CodeVector, MAX_CLASSES};
use calib_core::{Artifact, Logits, Margin, Outcome, Probs, QuantizedScore, Score};
use calib_fit::job::{MethodName, ReductionName};
use calib_fit::names::Named;
use calib_io::files::read_artifact;
use calib_io::input::{Chunks, holds_classes, likely_column};
use serde_json::{Value, json};

fn main() -> ExitCode {
    let words: Vec<String> = env::args().collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let found = match words[..] {
        [_, "names"] => Ok(names()),
        [_, "look", file] => look(Path::new(file)),
        [_, "device", artifact, outputs] => device(Path::new(artifact), Path::new(outputs)),
        _ => return calib_cli::run_from(env::args_os()).into(),
    };
    match found {
        Ok(value) => {
            println!("{value}");
            ExitCode::SUCCESS
        }
        Err(cause) => {
            eprintln!("error: {cause:#}");
            ExitCode::FAILURE
        }
    }
}

/// What a user may choose, and what it means.
fn names() -> Value {
    fn of<N: Named>() -> Value {
        N::NAMES.iter().map(|(_, name, what)| json!([name, what])).collect()
    }
    json!({"methods": of::<MethodName>(), "reductions": of::<ReductionName>(), "version": env!("CARGO_PKG_VERSION")})
}

/// What a file holds.
fn look(file: &Path) -> Result<Value> {
    if fs::read(file)?.starts_with(b"CALB") {
        return Ok(json!({"holds": "artifact"}));
    }
    let options = Arc::default();
    let first = Chunks::open_all(file, &options, &|_| ()).and_then(|mut chunks| chunks.read_next());
    let holds_classes = holds_classes(file, "score", &options).unwrap_or_default();
    let table = match first {
        Ok(table) => table.context("no rows")?,
        // An array of two dimensions is no table.
        Err(_) if holds_classes => return Ok(json!({"holds": "classes", "columns": []})),
        Err(cause) => return Err(cause.into()),
    };
    let columns: Vec<String> = match table.is_lone_array() {
        true => Vec::new(),
        false => table.column_names().map(|name| name.trim().to_owned()).collect(),
    };
    let likely = |wanted: &str| match columns.iter().any(|name| name == wanted) {
        true => Some(wanted.to_owned()),
        false => likely_column(wanted, &columns).map(str::to_owned),
    };
    let holds = if holds_classes { "classes" } else { "scores" };
    Ok(json!({"holds": holds, "score": likely("score"), "label": likely("label"), "columns": columns}))
}

/// What a device with an artifact says of outputs of a classifier: those of one input a line, separated by commas.
fn device(artifact: &Path, outputs: &Path) -> Result<Value> {
    let stored = read_artifact(artifact)?;
    let artifact = stored.artifact();
    let text = fs::read_to_string(outputs)?;
    text.lines().map(|line| answer(&artifact, line)).collect()
}

fn answer(artifact: &Artifact<'_>, line: &str) -> Result<Value> {
    let numbers = line.split([',', ' ', '\t', ';']).filter(|word| !word.is_empty());
    let encoding = artifact.header().encoding;
    if encoding.is_quantized() {
        let code = |word: &str| Ok(QuantizedScore::new(encoding, word.parse()?)?);
        let codes = numbers.map(code).collect::<Result<Vec<_>>>()?;
        if let [code] = codes[..] {
            return said(artifact, &[Output::Code(code)]);
        }
        let keys: Vec<u16> = codes.iter().map(QuantizedScore::key).collect();
        return said(artifact, &[Output::Codes(CodeVector::new(encoding, &keys)?)]);
    }
    let floats = numbers.map(str::parse).collect::<Result<Vec<f32>, _>>()?;
    if let [score] = floats[..] {
        let margin = Output::Margin(Margin::new(score)?);
        return match Score::new(score) {
            Ok(score) => said(artifact, &[Output::Score(score), margin]),
            Err(cause) => said(artifact, &[margin]).context(cause),
        };
    }
    let logits = Output::Logits(Logits::new(&floats)?);
    match Probs::new(&floats) {
        Ok(probs) => said(artifact, &[Output::Probs(probs), logits]),
        Err(_) => said(artifact, &[logits]),
    }
}

/// What is said of the first of these outputs that the artifact takes.
fn said(artifact: &Artifact<'_>, outputs: &[Output<'_>]) -> Result<Value> {
    let mut space = [0.0; MAX_CLASSES];
    let mut refused = None;
    for &output in outputs {
        let (said, others) = match artifact.predict_classes(&Query::from(output), &mut space) {
            Ok(said) => said,
            Err(cause) => {
                refused.get_or_insert(cause);
                continue;
            }
        };
        let why = match said.first.outcome {
            Outcome::Calibrated(_) => None,
            Outcome::Uncalibrated(why) => Some(why.to_string()),
        };
        let prob = said.first.outcome.calibrated().map(|calibrated| calibrated.prob);
        let probs: Vec<Option<f32>> = match &others {
            OtherClasses::Probs(probs) => probs.iter().collect(),
            OtherClasses::Ranked(_) | OtherClasses::None => Vec::new(),
        };
        return Ok(json!({
            "class": said.first.class,
            "prob": prob,
            "bits": prob.map(|prob| format!("{:08x}", prob.to_bits())),
            "outcome": said.first.outcome,
            "why": why,
            "probs": probs,
            "verdict": said.verdict.map(|verdict| format!("{verdict:?}")),
            "action": said.action,
            "alarm": said.alarm,
        }));
    }
    match refused {
        Some(cause) => Err(cause.into()),
        None => bail!("no output"),
    }
}
