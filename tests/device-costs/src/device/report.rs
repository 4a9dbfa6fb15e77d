//! The table of costs.

use std::io::Write;
use std::process::{Command, Stdio};

use calib_tests::{Board, function_assembly};

use super::amortized;
use super::image::{Measured, OptLevel};

/// A line of the table: what it shows, and the functions for 15 and 64 bins.
const ROWS: [(&str, &str, Option<&str>); 60] = [
    ("C, linear scan, no checks", "c_linear_15", Some("c_linear_64")),
    ("C, newlib's bsearch, no checks", "c_bsearch_15", Some("c_bsearch_64")),
    ("C, binary search, no checks", "c_binary_15", Some("c_binary_64")),
    ("C, binary search, checks", "c_binary_checked_15", Some("c_binary_checked_64")),
    ("C, Platt with newlib's expf", "c_platt_newlib", None),
    ("FixedTable", "fixed_15", Some("fixed_64")),
    ("FixedTable, in batches of `Score`s", "batch_15", Some("batch_64")),
    ("the same with `Score::new`", "batch_checked_15", Some("batch_checked_64")),
    ("StepTable of an artifact", "parsed_15", Some("parsed_64")),
    ("the same by `partition_point`", "looped_15", Some("looped_64")),
    ("BinaryCalibrator, with evidence", "calibrate_15", Some("calibrate_64")),
    ("the same, intervals of ranges", "ranges_15", Some("ranges_64")),
    ("Platt on the logit, likewise", "ranges_platt", None),
    ("beta, likewise", "ranges_beta", None),
    ("FixedCodeTable, 16 bits", "u16_15", Some("u16_64")),
    ("CompactTable, 16-bit codes", "compact_15", Some("compact_64")),
    ("CompactTable, floats rounded", "compact_rounded_15", Some("compact_rounded_64")),
    ("DirectTable, 8 bits", "direct_u8", None),
    ("InterpolatedTable", "interpolated_15", None),
    ("Platt on the probability", "platt_prob", None),
    ("Platt on the logit", "platt_logit", None),
    ("beta", "beta", None),
    ("temperature", "temperature", None),
    ("sigmoid (libm)", "platt_libm", None),
    ("sigmoid_fast (micromath)", "platt_micromath", None),
    ("top-label of 10, probabilities", "top_label_probs", None),
    ("top-label of 10, logits", "top_label_logits", None),
    ("FixedMarginTable", "fixed_margin_15", Some("fixed_margin_64")),
    ("sigmoid, then FixedTable", "sigmoid_fixed_15", None),
    ("MarginTable of an artifact", "parsed_margin_15", Some("parsed_margin_64")),
    ("BinaryMarginCalibrator", "calibrate_margin_15", Some("calibrate_margin_64")),
    ("CompactTable, int16 codes", "compact_i16_15", Some("compact_i16_64")),
    ("CompactTable, margins", "compact_margin_15", None),
    ("top-two margin of 2 / 10 int8 logits", "top2_margin_i8_2", Some("top2_margin_i8_10")),
    ("top-two margin of 100 / 1000 int8 logits", "top2_margin_i8_100", Some("top2_margin_i8_1000")),
    ("the same of 10, of an artifact", "calibrate_top2_margin_i8_10", None),
    ("top-label of 10 by margin, logits", "top_label_margin", None),
    ("threshold, probability", "threshold_score", None),
    ("threshold, margin", "threshold_margin", None),
    ("threshold, int8 code", "threshold_i8", None),
    ("set of 10, int8 logits", "set_i8_10", None),
    ("set of 10, logits", "set_logits_10", None),
    ("monitor: to count a prediction", "monitor_count", None),
    ("a shift, looked for every 256th", "monitor_shift", None),
    ("a change, with every prediction", "monitor_change", None),
    ("a guarantee, every 256th outcome", "monitor_guarantee", None),
    ("a prediction, with a guarantee", "predicted_15", None),
    ("the same, counted", "counted_15", None),
    ("the same, evidence worked out", "counted_look_15", None),
    ("the same, all monitors", "watched_15", None),
    ("the same, evidence worked out", "watched_look_15", None),
    ("an outcome, counted", "told_15", None),
    ("the same, evidence worked out", "told_look_15", None),
    ("a prediction, top-label of 10", "predicted_top_label", None),
    ("the same, counted", "counted_top_label", None),
    ("the same, evidence worked out", "counted_look_top_label", None),
    ("the same, all monitors", "watched_top_label", None),
    ("the same, evidence worked out", "watched_look_top_label", None),
    ("FixedTable of 128 / 256", "fixed_128", Some("fixed_256")),
    ("FixedTable of 512 / 1024", "fixed_512", Some("fixed_1024")),
];

/// What the peers are compared with, for the ratio.
const REFERENCE: [&str; 2] = ["fixed_15", "fixed_64"];

/// Prints instructions, ratios, bytes and stack of every core.
pub(super) fn print(all: &[Measured]) {
    println!(
        "Instructions a call, from the function's first instruction to its return: the mean of 4096 calls over 1024"
    );
    println!(
        "uniform scores, minus a call of a function that only returns, plus that return. QEMU, an instruction a"
    );
    println!("nanosecond. 15 bins / 64 bins; in brackets the multiple of FixedTable.");
    for measured in all {
        let Measured { board, opt_level, costs, bytes, no_peers, .. } = measured;
        println!("\n{} ({}, {}), opt-level {}", board.core(), board.name(), board.target(), opt_level.name());
        if let Some(why) = no_peers {
            println!("  no functions in C: {why}");
        }
        println!(
            "  {:32} {:>26}  {:>11}  {:>11}  {:>9}",
            "", "instructions", "least..most", "code bytes", "stack"
        );
        for (title, small, large) in ROWS {
            let Some(cost) = costs.get(small) else { continue };
            let count = |name: &str, reference: &str| {
                let count = costs.get(name).map(|cost| cost.instructions)?;
                let ratio = count / costs.get(reference)?.instructions;
                Some(format!("{count:.1} ({ratio:.1})"))
            };
            let counts = [Some(small), large].into_iter().zip(REFERENCE);
            let counts: Vec<String> =
                counts.filter_map(|(name, reference)| count(name?, reference)).collect();
            let range = cost.range.map_or(String::new(), |(least, most)| format!("{least:.1}..{most:.1}"));
            let code = bytes.get(code_symbol(small));
            let code = code.map_or(String::new(), u64::to_string);
            let stack = cost.stack_bytes.map_or(String::new(), |bytes| bytes.to_string());
            println!("  {title:32} {:>26}  {range:>11}  {code:>11}  {stack:>9}", counts.join(" / "));
        }
        let tables = [("FIXED_15", 15), ("FIXED_64", 64), ("U16_15", 15), ("U16_64", 64), ("DIRECT", 256)];
        let tables: Vec<String> = tables
            .iter()
            .filter_map(|(symbol, bins)| bytes.get(*symbol).map(|bytes| format!("{symbol} {bytes} ({bins})")))
            .collect();
        println!("  table bytes (bins): {}", tables.join(", "));
        amortized::print(costs);
        if *opt_level == OptLevel::Speed {
            print_cycles(measured);
        }
    }
}

/// The symbol of a function that several rows share.
pub(super) fn code_symbol(name: &str) -> &str {
    match name {
        "parsed_15" | "parsed_20" | "parsed_64" => "parsed",
        "looped_15" | "looped_64" => "looped",
        "compact_15" | "compact_64" => "compact",
        "compact_rounded_15" | "compact_rounded_64" => "compact_rounded",
        "calibrate_15" | "calibrate_64" | "ranges_15" | "ranges_64" | "ranges_platt" | "ranges_beta" => {
            "calibrate"
        }
        "parsed_margin_15" | "parsed_margin_64" => "parsed_margin",
        "calibrate_margin_15" | "calibrate_margin_64" => "calibrate_margin",
        "compact_margin_15" => "compact_margin",
        "compact_i16_15" | "compact_i16_64" => "compact_i16",
        "interpolated_15" => "interpolated",
        "predicted_15" => "calibrate",
        "predicted_top_label" => "top_label_probs",
        "counted_look_15" => "counted_15",
        "watched_look_15" => "watched_15",
        "told_look_15" => "told_15",
        "counted_look_top_label" => "counted_top_label",
        "watched_look_top_label" => "watched_top_label",
        "platt_prob" | "platt_logit" | "beta" | "temperature" => "scaling",
        name => name,
    }
}

/// Cycles of the straight path, as llvm-mca estimates them, where it knows the core.
fn print_cycles(measured: &Measured) {
    let cpu = match measured.board {
        Board::Mps2An386 => "cortex-m4",
        Board::Mps2An500 => "cortex-m7",
        _ => return,
    };
    let mut shown = Vec::new();
    for name in ["fixed_15", "fixed_64", "c_binary_15", "c_binary_64"] {
        if let Some(cycles) = function_assembly(&measured.elf, name).ok().and_then(|text| mca(cpu, &text)) {
            shown.push(format!("{name} {cycles:.0}"));
        }
    }
    match shown.is_empty() {
        true => println!(
            "  no cycles: llvm-mca or arm-none-eabi-objdump is missing, or knows no such core ({cpu})"
        ),
        false => {
            println!("  cycles of the code in a row, once through ({cpu}, llvm-mca): {}", shown.join(", "))
        }
    }
}

fn mca(cpu: &str, assembly: &str) -> Option<f64> {
    let mut child = Command::new("llvm-mca")
        .args(["-mtriple=thumbv7em-none-eabihf", &format!("-mcpu={cpu}"), "-iterations=100", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    child.stdin.take()?.write_all(assembly.as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let total = text.lines().find_map(|line| line.strip_prefix("Total Cycles:"))?;
    total.trim().parse::<f64>().ok().map(|cycles| cycles / 100.0)
}
