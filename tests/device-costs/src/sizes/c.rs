//! What the library for C takes of a program's flash.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use calib_tests::{Board, build_c_firmware};
use xtask::{cargo, root, run};

use super::BOARDS;
use super::flash::Flash;

/// What programs call, and what they can do with it: the functions of a row, and of those rows that it adds to.
const PROGRAMS: [Program; 7] = [
    Program { shown: "`calib_open`, `calib_info`, `calib_apply_score`", of: &[&SCORES] },
    Program { shown: "and all other `calib_apply_...`", of: &[&SCORES, &EVERY_KIND] },
    Program { shown: "and the slots", of: &[&SCORES, &EVERY_KIND, &SLOTS] },
    Program { shown: "the first and counting", of: &[&SCORES, &COUNTING] },
    Program { shown: "a device: classifier, slots, serial line", of: &[&DEVICE] },
    Program { shown: "which counts", of: &[&DEVICE, &COUNTED] },
    Program { shown: "and keeps its counters in flash", of: &[&DEVICE, &PERSISTENT] },
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
    for program in &PROGRAMS {
        let weigh = |at: usize| linked(BOARDS[at], &libraries[at], program);
        measured.push((program.shown, [weigh(0)?, weigh(1)?]));
    }
    let example = [example(BOARDS[0])?, example(BOARDS[1])?];
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
    let firmware = root().join("firmware");
    let target_dir = firmware.join("target/c-sizes");
    run(cargo(&firmware)
        .args([
            "rustc",
            "--quiet",
            "--locked",
            "--release",
            "--package",
            "calib-c",
            "--crate-type",
            "staticlib",
        ])
        .args(["--features", "panic-handler", "--target", board.target()])
        .arg("--target-dir")
        .arg(&target_dir)
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS"))?;
    Ok(target_dir.join(board.target()).join("release/libcalib_c.a"))
}

/// The bytes of a program that keeps these functions.
fn linked(board: Board, library: &Path, program: &Program) -> Result<u64> {
    let folder = root().join("firmware/target/c-sizes");
    let (source, elf) = (folder.join("none.c"), folder.join("program.elf"));
    fs::write(&source, "void nothing(void) {}\n")
        .with_context(|| format!("cannot write {}", source.display()))?;
    let core: &[&str] = match board == Board::Mps2An386 {
        true => &["-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"],
        false => &["-mcpu=cortex-m0", "-mfloat-abi=soft"],
    };
    let mut link = Command::new("arm-none-eabi-gcc");
    link.args(["-mthumb", "-O2", "-nostartfiles", "--specs=nano.specs", "--specs=nosys.specs"]).args(core);
    link.args(["-Wl,--gc-sections", "-Wl,--entry=nothing", "-Wl,-z,noexecstack"]);
    link.args(program.functions().map(|function| format!("-Wl,--undefined={function}")));
    run(link.arg(&source).arg(library).arg("-o").arg(&elf))?;
    let flash = Flash::read(&elf)?;
    for function in program.functions() {
        let is_there = flash.symbols.iter().any(|symbol| symbol.name == function);
        ensure!(is_there, "{function} is not in the program that is to hold it");
    }
    Ok(flash.total_bytes())
}

/// The bytes of the whole example.
fn example(board: Board) -> Result<u64> {
    Ok(Flash::read(&build_c_firmware(board, "sizes001")?)?.total_bytes())
}
