//! `cargo xtask stack`: how much stack a call can take, at most, on every core.
//!
//! `firmware/proof` has a function for everything that a device calls for every score. Its bound is the deepest path of
//! the graph of calls, which is read from the linked program; recursion and indirect calls are errors. The measuring
//! image is bounded in the same way, and what it uses in the emulator must not be above.

mod bound;
mod effect;
mod program;
mod registers;

use anyhow::{Result, bail};
use calib_tests::Board;

pub(crate) use bound::Bounds;
pub(crate) use program::Program;

use crate::device::{self, Stack};
use crate::prove;

/// One board for every target.
fn boards() -> impl Iterator<Item = Board> {
    Board::one_of_each(Board::target)
}

/// What a device calls, and the most stack in bytes that it may take.
const BUDGETS: [(&str, u64); 25] = [
    ("step_table", 256),
    ("compact_table", 256),
    ("randomized_table", 256),
    ("interpolated_table", 256),
    ("venn_abers_table", 256),
    ("code_table", 256),
    ("scaling_function", 256),
    ("margin_table", 256),
    ("compact_margin_table", 256),
    ("randomized_margin_table", 256),
    ("interpolated_margin_table", 256),
    ("venn_abers_margin_table", 256),
    ("margin_function", 256),
    // As `binary`; interpolating takes 8 bytes more of margins than of probabilities.
    ("binary_margin", 372),
    // With the range of the calibration scores in the artifact, and with intervals of score ranges beside its table.
    ("binary", 364),
    ("binary_code", 304),
    ("top_label_probs", 480),
    ("top_label_logits", 496),
    ("top_label_code", 304),
    ("top_label_codes", 360),
    ("top_label_margin", 468),
    ("top_label_code_margin", 336),
    ("decision", 256),
    // Whatever the classifier gives: quantized logits serve calibrators of codes and of floats.
    ("slot", 496),
    // The same with the calibrated class beside it, until rules, thresholds or sets have judged.
    ("slot_prediction", 632),
];

/// Prints the bounds with their deepest paths, and what was measured beside them; fails if one is over its budget.
pub(crate) fn stack() -> Result<()> {
    println!("The most stack that a call can take, in bytes, by firmware/proof:");
    let cores: Vec<String> = boards().map(|board| format!("{:>12}", board.core())).collect();
    println!("  {:20}{}  {:>8}", "", cores.join(""), "budget");
    let bounds = proof_bounds()?;
    for (name, budget) in BUDGETS {
        let of = |board: Board| {
            let bound = bounds.iter().find(|bound| bound.board == board && bound.name == name);
            bound.map_or(String::new(), |bound| bound.bound.bytes.to_string())
        };
        let cells: Vec<String> = boards().map(|board| format!("{:>12}", of(board))).collect();
        println!("  {name:20}{}  {budget:>8}", cells.join(""));
    }
    println!("\nThe nearest to its budget on every core, with the deepest path:");
    for board in boards() {
        let here = bounds.iter().filter(|bound| bound.board == board);
        let share = |bound: &&ProofBound| bound.bound.bytes * 1000 / budget(bound.name);
        let Some(ProofBound { name, bound, .. }) = here.max_by_key(share) else { continue };
        println!("  {name}, {}: {} bytes", board.core(), bound.bytes);
        bound.path.iter().for_each(|(function, bytes)| println!("    {bytes:4} {function}"));
    }
    println!("\nThe measuring image: high-water mark in the emulator, and bound:");
    for Stack { board, opt_level, name, measured_bytes, bound_bytes } in device::stack()? {
        println!("  {:11} {} {name:18} {measured_bytes:4} {bound_bytes:4}", board.core(), opt_level.name());
    }
    check_bounds(&bounds)
}

/// Fails if a bound is over its budget.
pub(crate) fn check() -> Result<()> {
    check_bounds(&proof_bounds()?)
}

/// The bound of a function of `firmware/proof`.
struct ProofBound {
    board: Board,
    name: &'static str,
    bound: bound::Bound,
}

fn proof_bounds() -> Result<Vec<ProofBound>> {
    let mut all = Vec::new();
    for board in boards() {
        let program = Program::read(&prove::image(board.target())?)?;
        let mut bounds = Bounds::new(&program)?;
        for (name, _) in BUDGETS {
            all.push(ProofBound { board, name, bound: bounds.of(name)? });
        }
    }
    Ok(all)
}

fn budget(name: &str) -> u64 {
    BUDGETS.iter().find(|(other, _)| *other == name).map_or(0, |(_, budget)| *budget)
}

fn check_bounds(bounds: &[ProofBound]) -> Result<()> {
    let mut over = String::new();
    for ProofBound { board, name, bound } in bounds {
        let allowed = budget(name);
        if bound.bytes > allowed {
            let (core, bytes) = (board.core(), bound.bytes);
            over.push_str(&format!("  {name} on {core}: {bytes}, at most {allowed}\n"));
            bound
                .path
                .iter()
                .for_each(|(function, bytes)| over.push_str(&format!("    {bytes:4} {function}\n")));
        }
    }
    if over.is_empty() { Ok(()) } else { bail!("calls can take more stack than they may\n{over}") }
}
