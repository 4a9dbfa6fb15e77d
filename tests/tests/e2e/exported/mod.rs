//! Artifacts as source code: compiled for the host and for the cores, run, and compared with calib-core bit for bit.

pub(crate) mod artifacts;
mod asked;
mod hostile;
mod in_c;
mod in_rust;
mod joint;
pub(crate) mod margins;
pub(crate) mod rules;

use calib_host::io::export::{ExportError, export_c, export_rust};
use calib_tests::Board;

/// One core of each kind: without FPU and with, with an FPU that multiplies and adds in one, and RISC-V.
const BOARDS: [Board; 4] = [Board::Microbit, Board::Mps2An386, Board::Mps2An505, Board::Virt];

#[test]
fn c_agrees_with_calib_core_bit_for_bit_on_the_host_and_on_every_core() {
    let mut missing = 0;
    for artifacts::Exportable { name, stored } in
        artifacts::all().into_iter().chain([margins::with_an_empty_bin()])
    {
        let artifact = stored.artifact();
        let header = export_c(&stored, "calib").unwrap_or_else(|refused| panic!("{name}: {refused}"));
        let folder = tempfile::tempdir().unwrap();
        in_c::prepare(folder.path(), &artifact, &header);
        in_c::check_example(folder.path(), &header);
        let expected = asked::answers(&artifact);
        compare(&name, "the host", &in_c::on_host(folder.path()), &expected);
        for board in BOARDS {
            compare(&name, board.core(), &in_c::on_core(folder.path(), board), &expected);
        }
        let tables = artifact.tables();
        missing += (0..tables.count()).filter(|&index| tables.get(index).is_none()).count();
        println!("{name}: {} words", expected.len());
    }
    assert!(missing > 0, "no class stayed uncalibrated");
}

#[test]
fn rust_agrees_with_calib_core_bit_for_bit() {
    let (refused, all): (Vec<_>, Vec<_>) =
        artifacts::all().into_iter().partition(|one| one.name.contains("empty_bins"));
    for artifacts::Exportable { stored, .. } in &refused {
        let refused = export_rust(stored, "CALIB");
        assert!(matches!(refused, Err(ExportError::EmptyBins { empty: 5, bins: 20 })), "{refused:?}");
    }
    assert_eq!(refused.len(), 2);
    let folder = tempfile::tempdir().unwrap();
    let expected = in_rust::expected(&all);
    compare("all", "Rust", &in_rust::looked_up(folder.path(), &all), &expected);
    println!("{} words", expected.len());
}

fn compare(name: &str, place: &str, got: &[u32], expected: &[u32]) {
    let first = got.iter().zip(expected).position(|(got, expected)| got != expected);
    if let Some(first) = first {
        let near = first.saturating_sub(8)..(first + 4).min(got.len()).min(expected.len());
        panic!(
            "{name} on {place}: word {first} is {:#x} and should be {:#x}\n{:x?}\n{:x?}",
            got[first],
            expected[first],
            &got[near.clone()],
            &expected[near]
        );
    }
    assert_eq!(got.len(), expected.len(), "{name} on {place}");
}
