//! Writes the codes that a device's network gives for the rows of a NumPy array: `cargo xtask twin` builds and runs it.

use std::error::Error;
use std::process::ExitCode;

use calib_classifier::OutputKind;
use calib_classifier::network::Codes;
use calib_classifier::tflite::Array;
use calib_core::ScoreEncoding;
use calib_firmware::Classifier;
use calib_twin::{CLASSIFIER, Reference, run};

// The macro makes public structs of the options.
#[allow(missing_docs, unreachable_pub)]
mod flags {
    use std::path::PathBuf;

    xflags::xflags! {
        /// The codes of a device's network.
        cmd twin {
            /// Rows of features.
            required --features file: PathBuf
            /// Where the codes go.
            required -o, --output file: PathBuf
            /// Where the logits go that the codes stand for, as float32.
            optional --logits file: PathBuf
            /// Replace files that are there.
            optional --force
        }
    }
}

fn main() -> ExitCode {
    match twin(&flags::Twin::from_env_or_exit()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn twin(flags::Twin { features, output, logits, force }: &flags::Twin) -> Result<(), Box<dyn Error>> {
    let ScoreEncoding::I8 { scale, zero_point } = CLASSIFIER.encoding() else {
        return Err("a network's output is int8".into());
    };
    let rows = Reference::load()?.check()?;
    let (name, id) = (CLASSIFIER.name(), CLASSIFIER.id());
    println!("{name} ({id}): all {rows} rows of the reference give TensorFlow Lite's codes");
    let codes = run(&Array::features(features)?)?;
    codes.write(output, *force)?;
    let kind = match (CLASSIFIER.outputs(), CLASSIFIER.output_kind()) {
        (1, _) => "margins",
        (_, OutputKind::Logits) => "logits",
        (_, OutputKind::Probs) => "probs",
    };
    println!("{}: {} rows of {} codes", output.display(), codes.rows().len(), codes.columns);
    // What is fitted to the codes of logits takes their top-two margin: the softmax takes floats.
    let by_top2_margin = if kind == "logits" { " --class-score margin" } else { "" };
    println!(
        "hint: calib fit --{kind} {} --score-encoding i8 --scale {scale} --zero-point={zero_point}{by_top2_margin} --classifier-id {id}",
        output.display()
    );
    let Some(logits) = logits else { return Ok(()) };
    if kind != "logits" {
        return Err(format!("{name} gives {kind}, and no logits: --logits is of no use").into());
    }
    let encoding = Codes { scale, zero_point: zero_point as i8 };
    let values = codes.values.iter().map(|&code| encoding.dequantize(code)).collect();
    Array { values, columns: codes.columns }.write(logits, *force)?;
    println!("{}: what they stand for, as float32, for calibrators of floats", logits.display());
    Ok(())
}
