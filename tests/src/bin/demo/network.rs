//! The digits: a quantized network, whose one run serves calibrators of integers and of floats.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use calib_core::ScoreEncoding;
use calib_host::io::files::read_artifact;
use calib_tests::classifier::{CodedRows, NetworkCase};
use calib_tests::{Emulator, build_network_firmware, coded_rows, image_size};
use xtask::root;

use crate::side_by_side::{self, Column};
use crate::{
    BOARD, calib, measure, print_agreement, print_assessment, print_cost, print_guarantee, relative, sets,
    status, write_npy,
};

/// How often the work is repeated to count its instructions: the network takes many.
const REPEAT: u16 = 64;

/// A calibrator of the network.
struct Calibrator {
    name: &'static str,
    takes: Takes,
    options: &'static [&'static str],
}

/// What a calibrator is fitted to.
#[derive(Clone, Copy, PartialEq)]
enum Takes {
    /// The network's codes.
    Codes,
    /// What they stand for.
    Logits,
}

const CALIBRATORS: [Calibrator; 4] = [
    Calibrator { name: "blend", takes: Takes::Logits, options: &[] },
    Calibrator { name: "top-label", takes: Takes::Logits, options: &["--reduction", "top-label"] },
    Calibrator { name: "margin of codes", takes: Takes::Codes, options: &[] },
    Calibrator {
        name: "class-wise",
        takes: Takes::Logits,
        options: &["--method", "umd", "--reduction", "class-wise", "--rows-per-bin", "100"],
    },
];

/// The files that calibrators are fitted to.
struct Files {
    folder: PathBuf,
    codes: PathBuf,
    logits: PathBuf,
    labels: PathBuf,
}

/// Runs the case.
pub(crate) fn show() -> Result<()> {
    let case = NetworkCase::digits()?;
    let calibration = case.calibration.as_ref().context("there are no rows to calibrate on")?;
    println!("\n{}", case.network.name);
    println!(
        "  data         {} training rows, {} calibration rows, {} test rows",
        case.training_rows,
        calibration.codes.len(),
        case.test.codes.len()
    );
    let elf = build_network_firmware(BOARD, &case.file, case.alarm)?;
    println!(
        "  network      {} bytes of int8 layers, run by microflow: {} of {} rows have the codes of TensorFlow Lite, or the build would fail",
        case.network.bytes.len(),
        calibration.codes.len() + case.test.codes.len(),
        calibration.codes.len() + case.test.codes.len(),
    );
    let files = Files::write(calibration)?;
    let mut columns = Vec::new();
    for calibrator in &CALIBRATORS {
        let slot = files.fit(&case, calibrator)?;
        let stored = read_artifact(&slot)?;
        let mut device = Emulator::start_fast(BOARD, &elf, Some(&slot))?;
        let rows = coded_rows(&mut device, case.alarm, &stored.artifact(), &case.test)?;
        let what = format!("test rows ({})", calibrator.name);
        print_agreement(&what, &rows.differences, rows.predictions.len())?;
        let measurement = measure(&elf, &slot, &case.test.rows, REPEAT)?;
        if columns.is_empty() {
            print_assessment(true, &rows.predictions, &case.test.rows);
            print_guarantee(&stored);
            print_cost(&stored.artifact(), image_size(&elf)?, measurement, &status(&mut device)?);
        }
        columns.push(Column { name: calibrator.name, stored, rows, measurement });
    }
    let data = files.options(case.test.encoding, Takes::Logits);
    sets::show(&case, &data, &files.folder.join("sets.bin"), &elf)?;
    side_by_side::print(&case.test, &columns)
}

impl Files {
    fn write(rows: &CodedRows) -> Result<Self> {
        let folder = root().join("target/demo/digits");
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let [codes, logits, labels] = ["codes.npy", "logits.npy", "labels.npy"].map(|name| folder.join(name));
        let shape = [rows.codes.len() as u64, rows.codes[0].len() as u64];
        write_npy(&codes, &shape, rows.codes.concat())?;
        write_npy(&logits, &shape, rows.floats().concat())?;
        write_npy(&labels, &shape[..1], rows.rows.labels.iter().copied())?;
        Ok(Self { folder, codes, logits, labels })
    }

    /// The options that name the data.
    fn options(&self, encoding: ScoreEncoding, takes: Takes) -> Vec<String> {
        let scores = if takes == Takes::Codes { &self.codes } else { &self.logits };
        let mut options =
            ["--logits", &relative(scores), "--labels", &relative(&self.labels)].map(str::to_owned).to_vec();
        if let (Takes::Codes, ScoreEncoding::I8 { scale, zero_point }) = (takes, encoding) {
            options.extend(["--score-encoding".to_owned(), format!("i8,{scale},{zero_point}")]);
            options.extend(["--class-score", "margin"].map(str::to_owned));
        }
        options
    }

    /// Runs `calib fit`.
    fn fit(&self, case: &NetworkCase, calibrator: &Calibrator) -> Result<PathBuf> {
        let slot = self.folder.join(format!("{}.bin", calibrator.name.replace(' ', "-")));
        let data = self.options(case.test.encoding, calibrator.takes);
        let (id, output) = (case.network.id.to_string(), relative(&slot));
        let data = data.iter().map(String::as_str);
        let rest = ["--classifier-id", &id, "--force", "-o", &output];
        calib("fit", &calibrator.options.iter().copied().chain(data).chain(rest).collect::<Vec<_>>())?;
        Ok(slot)
    }
}
