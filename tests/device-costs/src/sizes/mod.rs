//! `cargo xtask sizes`: where the flash goes, in a whole firmware and in programs that hold one part of calib, in Rust and in C.
//!
//! A symbol's bytes count for the crate that its name begins with, though functions of other crates may be compiled into
//! it: what each part takes is the size of a program with nothing else.

mod c;
mod flash;

use anyhow::{Result, anyhow};
use calib_tests::classifier::Case;
use calib_tests::{Board, build_firmware_for};

use crate::device::OptLevel;
use flash::Flash;
use xtask::{cargo, root, run};

/// One core without and one with a floating-point unit.
const BOARDS: [Board; 2] = [Board::Microbit, Board::Mps2An386];
/// The features of `firmware/sizes`, and what a program with each can do.
const PARTS: [(&str, &str); 6] = [
    ("fixed-table", "a lookup in a table of 15 bins in a `const`"),
    ("binary", "an artifact checked, and a lookup: binary, any method"),
    ("counted", "that, counted, and a look for a shift"),
    ("watched", "that, and all monitors, with outcomes"),
    ("any-calibrator", "the second for every kind of calibrator"),
    ("frames", "that, and the frames of the serial protocol"),
];
/// What logs, of the part that does not.
const SILENT: &str = "binary";
const LOGS: [(&str, &str); 2] =
    [("log-prob", "its probability (an `f32`)"), ("log-calibrated", "all of the `Calibrated`")];
/// How many symbols of a firmware are printed.
const SHOWN: usize = 20;

/// Builds and weighs them.
pub(crate) fn sizes(c_alone: bool) -> Result<()> {
    if c_alone {
        return c::print_programs();
    }
    let classifier = root().join("target/classifier.json");
    Case::breast_cancer()?.model.save(&classifier)?;
    for board in BOARDS {
        print_firmware(board, &Flash::read(&build_firmware_for(board, &classifier)?)?);
    }
    println!("Bytes of flash of a program that holds one part (firmware/sizes), code + constants:\n");
    print_heads();
    for (feature, shown) in PARTS {
        let cells = weigh(feature)?.map(|flash| format!("{} + {}", flash.text_bytes, flash.rodata_bytes));
        print_row(shown, &cells);
    }
    println!("\nBytes that a line of defmt's log adds to the second, without the way that the line takes:\n");
    print_heads();
    let silent = weigh(SILENT)?.map(|flash| flash.total_bytes());
    print_row("no line: code and constants", &silent.map(|bytes| bytes.to_string()));
    for (feature, shown) in LOGS {
        let logs = weigh(feature)?.map(|flash| flash.total_bytes());
        let cells: Vec<String> = silent
            .iter()
            .zip(logs)
            .map(|(silent, logs)| format!("{logs} ({:+})", logs as i64 - *silent as i64))
            .collect();
        print_row(shown, &cells);
    }
    c::print_programs()
}

fn print_firmware(board: Board, flash: &Flash) {
    let total = flash.total_bytes();
    let share = |bytes: u64| 100.0 * bytes as f64 / total as f64;
    println!(
        "{} ({}), the firmware with a binary classifier: {total} bytes of flash, {} of code and {} of constants\n",
        board.name(),
        board.core(),
        flash.text_bytes,
        flash.rodata_bytes
    );
    let line = |bytes, owner: Option<&str>, name: &str| {
        let text = format!("  {bytes:6} {:5.1} %  {:17} {name}", share(bytes), owner.unwrap_or("-"));
        println!("{}", text.trim_end());
    };
    flash
        .symbols
        .iter()
        .take(SHOWN)
        .for_each(|symbol| line(symbol.bytes, symbol.owner.as_deref(), &symbol.name));
    println!("\n  by crate:");
    let owners = flash.by_owner();
    let named: u64 = owners.iter().map(|(_, bytes)| bytes).sum();
    owners
        .iter()
        .for_each(|&(owner, bytes)| line(bytes, owner, if owner.is_none() { "not of Rust" } else { "" }));
    line(total.saturating_sub(named), None, "constants without a name, padding");
    println!();
}

/// A core and how the program is compiled.
const COLUMNS: [(Board, OptLevel); 4] = [
    (BOARDS[0], OptLevel::Speed),
    (BOARDS[0], OptLevel::Size),
    (BOARDS[1], OptLevel::Speed),
    (BOARDS[1], OptLevel::Size),
];

/// The sizes of the program with this feature, by column.
fn weigh(feature: &str) -> Result<[Flash; 4]> {
    let flashes: Result<Vec<Flash>> =
        COLUMNS.iter().map(|&(board, level)| build(feature, board, level)).collect();
    flashes?.try_into().map_err(|_| anyhow!("a program for every column"))
}

fn build(feature: &str, board: Board, opt_level: OptLevel) -> Result<Flash> {
    let firmware = root().join("firmware");
    let target_dir = firmware.join("target/sizes");
    run(cargo(&firmware)
        .args(["build", "--quiet", "--locked", "--release", "--package", "calib-sizes"])
        .args(["--features", feature, "--target", board.target()])
        .arg("--target-dir")
        .arg(&target_dir)
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", opt_level.name())
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS"))?;
    Flash::read(&target_dir.join(board.target()).join("release/calib-sizes"))
}

fn print_heads() {
    print_row("", &COLUMNS.map(|(board, level)| format!("{}, {}", board.core(), level.name())));
}

fn print_row(name: &str, cells: &[String]) {
    let cells: Vec<String> = cells.iter().map(|cell| format!("{cell:>15}")).collect();
    println!("  {name:56}{}", cells.join(""));
}
