//! What the library for C takes of a program's flash.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use calib_core::artifact::Reduction;
use calib_host::binary::ScalingMethod;
use calib_host::io::export::export_c;
use calib_host::{
    ArtifactOptions, BinaryData, BinaryMethod, JointMethod, Problems, StoredArtifact, Umd, VectorData,
    artifact_bytes, fit_binary, fit_joint, intervals, joint_artifact_bytes,
};
use calib_tests::{Board, build_c_firmware, overconfident_logits};
use xtask::{c_library, root, run};

use super::BOARDS;
use super::flash::Flash;

/// What programs call, and what they can do with it: the functions of a row, and of those rows that it adds to.
const PROGRAMS: [Program; 9] = [
    Program { shown: "`calib_table_open`, `calib_table_score`", of: &[&TABLE] },
    Program { shown: "and all other `calib_table_...`", of: &[&TABLE, &EVERY_TABLE] },
    Program { shown: "`calib_open`, `calib_info`, `calib_apply_score`", of: &[&SCORES] },
    Program { shown: "and all other `calib_apply_...`", of: &[&SCORES, &EVERY_KIND] },
    Program { shown: "and the slots", of: &[&SCORES, &EVERY_KIND, &SLOTS] },
    Program { shown: "the first of these and counting", of: &[&SCORES, &COUNTING] },
    Program { shown: "a device: classifier, slots, serial line", of: &[&DEVICE] },
    Program { shown: "which counts", of: &[&DEVICE, &COUNTED] },
    Program { shown: "and keeps its counters in flash", of: &[&DEVICE, &PERSISTENT] },
];
/// The most that one binary table takes on either core, with everything that is said of it.
const TABLE_BYTES: u64 = 20_000;
const TABLE: [&str; 2] = ["calib_table_open", "calib_table_score"];
const EVERY_TABLE: [&str; 6] = [
    "calib_table_info",
    "calib_table_margin",
    "calib_table_code",
    "calib_table_band_score",
    "calib_table_band_margin",
    "calib_table_band_code",
];
const SCORES: [&str; 3] = ["calib_open", "calib_info", "calib_apply_score"];
const EVERY_KIND: [&str; 9] = [
    "calib_apply_margin",
    "calib_apply_code",
    "calib_apply_keys",
    "calib_apply_probs",
    "calib_apply_logits",
    "calib_apply_all_probs",
    "calib_apply_all_logits",
    "calib_apply_top_k_probs",
    "calib_apply_top_k_logits",
];
const SLOTS: [&str; 4] =
    ["calib_store_open", "calib_store_load", "calib_store_install", "calib_store_survey"];
const COUNTING: [&str; 4] =
    ["calib_monitors_open", "calib_monitors_begin", "calib_monitors_tell", "calib_monitors_read"];
/// A device counts by itself with what these opened.
const COUNTED: [&str; 1] = ["calib_monitors_open"];
const PERSISTENT: [&str; 1] = ["calib_monitors_open_persistent"];
const DEVICE: [&str; 3] = ["calib_device_open", "calib_device_take", "calib_device_classify"];

struct Program {
    shown: &'static str,
    of: &'static [&'static [&'static str]],
}

impl Program {
    fn functions(&self) -> impl Iterator<Item = &'static str> {
        self.of.iter().flat_map(|functions| functions.iter().copied())
    }
}

/// Builds the library for both cores, links it, and prints bytes of flash.
pub(super) fn print_programs() -> Result<()> {
    println!(
        "\nBytes of flash of a C program that calls these functions of calib-c and nothing else, `arm-none-eabi-gcc --gc-sections`:\n"
    );
    let row = |name: &str, cells: [String; 2]| println!("  {name:56}{:>15}{:>15}", cells[0], cells[1]);
    row("", BOARDS.map(|board| board.core().into()));
    let libraries = [library(BOARDS[0])?, library(BOARDS[1])?];
    let mut measured = Vec::new();
    let headers = headers()?;
    for (shown, stored, call) in &headers {
        measured.push((*shown, [header(BOARDS[0], stored, call)?, header(BOARDS[1], stored, call)?]));
    }
    for program in &PROGRAMS {
        let weigh = |at: usize| linked(BOARDS[at], &libraries[at], program);
        measured.push((program.shown, [weigh(0)?, weigh(1)?]));
    }
    let example = [example(BOARDS[0])?, example(BOARDS[1])?];
    // The last of the two rows about one table.
    let (shown, of_table) = &measured[headers.len() + 1];
    ensure!(
        of_table.iter().all(|&bytes| bytes <= TABLE_BYTES),
        "{shown}: {of_table:?} bytes, of {TABLE_BYTES}"
    );
    measured.push(("the example, which counts, with classifier and drivers", example));
    measured.iter().for_each(|(name, bytes)| row(name, bytes.map(|bytes| bytes.to_string())));
    let bytes: Vec<[u64; 2]> = measured.into_iter().map(|(_, bytes)| bytes).collect();
    compare_readme(&bytes)
}

/// Compares the table of the library's README with what was measured, row by row, or writes it with `UPDATE_README=1`.
fn compare_readme(measured: &[[u64; 2]]) -> Result<()> {
    /// Another version of the linker's library moves a few bytes.
    const TOLERANCE: f64 = 0.02;
    let path = root().join("firmware/c/README.md");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let head = "| | Cortex-M0 | Cortex-M4F |\n|---|---|---|\n";
    let (before, table) = text.split_once(head).context("the README has the table of flash")?;
    let (rows, after) = table.split_once("\n\n").context("the table ends")?;
    let rows: Vec<&str> = rows.lines().collect();
    ensure!(
        rows.len() == measured.len(),
        "the README's table has {} rows for {}",
        rows.len(),
        measured.len()
    );
    let (mut written, mut stale) = (Vec::new(), Vec::new());
    for (row, measured) in rows.into_iter().zip(measured) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let &["", name, zero, four, ""] = &cells[..] else { bail!("{row} is no row of three cells") };
        let bytes =
            |cell: &str| cell.replace(',', "").parse::<u64>().with_context(|| format!("{cell} is no number"));
        let stated = [bytes(zero)?, bytes(four)?];
        let is_near =
            |(&stated, &measured): (&u64, &u64)| (stated as f64 / measured as f64 - 1.0).abs() <= TOLERANCE;
        if !stated.iter().zip(measured).all(is_near) {
            stale.push(format!("{name}: {stated:?} in the README, {measured:?} measured"));
        }
        written.push(format!("| {name} | {} | {} |", in_thousands(measured[0]), in_thousands(measured[1])));
    }
    if std::env::var_os("UPDATE_README").is_some() {
        let table = written.join("\n");
        return fs::write(&path, format!("{before}{head}{table}\n\n{after}"))
            .context("cannot write the README");
    }
    ensure!(stale.is_empty(), "run with UPDATE_README=1: {}", stale.join("; "));
    Ok(())
}

/// A number with a comma between thousands, as the README has them.
fn in_thousands(bytes: u64) -> String {
    match bytes {
        0..=999 => bytes.to_string(),
        _ => format!("{},{:03}", bytes / 1000, bytes % 1000),
    }
}

/// The library, as the page says that it is built.
fn library(board: Board) -> Result<PathBuf> {
    let target_dir = root().join("firmware/target/c-sizes");
    run(&mut c_library(board.target(), &["panic-handler"], &target_dir))?;
    Ok(target_dir.join(board.target()).join("release/libcalib_c.a"))
}

/// The bytes of a program that keeps these functions, in which nothing can panic.
fn linked(board: Board, library: &Path, program: &Program) -> Result<u64> {
    let flash = link(board, "void nothing(void) {}\n", program.functions(), Some(library))?;
    for function in program.functions() {
        let is_there = flash.symbols.iter().any(|symbol| symbol.name == function);
        ensure!(is_there, "{function} is not in the program that is to hold it");
    }
    let panics = flash.symbols.iter().find(|symbol| symbol.name.contains("panic"));
    ensure!(panics.is_none(), "{}: {panics:?} is linked", program.shown);
    Ok(flash.total_bytes())
}

/// Artifacts for headers: with as many bins as that of the first steps, a function, and the default of three classes.
fn headers() -> Result<[(&'static str, StoredArtifact, &'static str); 3]> {
    const SCORE: &str = "int risk(float, struct risk_result *);\nint risk(float score, struct risk_result *result)\n\
         {\n    return risk_calibrate(0, score, result);\n}\n";
    const VECTOR: &str = "int risk(const float *, float *, uint32_t *, struct risk_result *);\nint risk(const float *probs, \
         float *calibrated, uint32_t *predicted, struct risk_result *result)\n\
         {\n    return risk_all_classes(probs, calibrated, predicted, result);\n}\n";
    let (scores, labels) = (0..700).map(|i| (f64::from(i) / 700.0, i % 70 < i / 10)).unzip();
    let data = BinaryData::new(scores, labels)?.on_device();
    let binary = |method: BinaryMethod, options: ArtifactOptions| {
        anyhow::Ok(StoredArtifact::from_bytes(&artifact_bytes(&fit_binary(&data, &method, 0.1)?, &options)?)?)
    };
    let of_bins = ArtifactOptions::default().intervals(true);
    let of_ranges = ArtifactOptions::default().score_intervals(Some(intervals::fit(&data, 0.1)?));
    let (logits, labels) = overconfident_logits(3, 1000)?;
    let vectors = VectorData::new(&logits, &labels)?;
    let problems = Problems::new(&logits, &labels, Reduction::TopLabel)?;
    let of_classes =
        ArtifactOptions::default().score_intervals(Some(intervals::fit_predicted(&problems, 0.1)?));
    let joint = fit_joint(&vectors, &JointMethod::Blend { seed: 0 })?;
    Ok([
        ("a header of `calib export`, 7 bins", binary(BinaryMethod::Umd(Umd::new(7)), of_bins)?, SCORE),
        (
            "a header, Platt scaling",
            binary(BinaryMethod::Scaling(ScalingMethod::PlattLogit), of_ranges)?,
            SCORE,
        ),
        (
            "a header, the default of three classes",
            StoredArtifact::from_bytes(&joint_artifact_bytes(&joint, &of_classes)?)?,
            VECTOR,
        ),
    ])
}

/// The bytes of a program that calls a header.
fn header(board: Board, stored: &StoredArtifact, call: &str) -> Result<u64> {
    let source = format!("{}\n{call}void nothing(void) {{}}\n", export_c(stored, "risk")?);
    Ok(link(board, &source, ["risk"].into_iter(), None)?.total_bytes())
}

/// A program of this source that keeps these functions.
fn link<'f>(
    board: Board,
    source: &str,
    functions: impl Iterator<Item = &'f str>,
    library: Option<&Path>,
) -> Result<Flash> {
    let folder = root().join("firmware/target/c-sizes");
    let (file, elf) = (folder.join("none.c"), folder.join("program.elf"));
    fs::write(&file, source).with_context(|| format!("cannot write {}", file.display()))?;
    let core: &[&str] = match board == Board::Mps2An386 {
        true => &["-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"],
        false => &["-mcpu=cortex-m0", "-mfloat-abi=soft"],
    };
    let mut link = Command::new("arm-none-eabi-gcc");
    link.args(["-mthumb", "-O2", "-ffunction-sections", "-fdata-sections", "-nostartfiles"]).args(core);
    link.args(["--specs=nano.specs", "--specs=nosys.specs"]);
    link.args(["-Wl,--gc-sections", "-Wl,--entry=nothing", "-Wl,-z,noexecstack"]);
    link.args(functions.map(|function| format!("-Wl,--undefined={function}")));
    run(link.arg(&file).args(library).arg("-o").arg(&elf))?;
    Flash::read(&elf)
}

/// The bytes of the whole example.
fn example(board: Board) -> Result<u64> {
    Ok(Flash::read(&build_c_firmware(board, "sizes001")?)?.total_bytes())
}
