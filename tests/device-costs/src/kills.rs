//! An emulator that is killed during updates over a terminal.

use std::time::Instant;

use anyhow::Result;
use calib_tests::classifier::Case;
use calib_tests::{Board, build_updatable_firmware};
use xtask::root;

use crate::load::calibrator;

/// Kills the emulator during so many updates.
pub(crate) fn kills(count: usize) -> Result<()> {
    let start = Instant::now();
    let model = Case::breast_cancer()?.model;
    let classifier = root().join("target/classifier.json");
    model.save(&classifier)?;
    let elf = build_updatable_firmware(Board::Virt, &classifier, None)?;
    let artifacts = [calibrator(&model, 20)?, calibrator(&model, 60)?];
    let report = calib_tests::kills(&elf, [&artifacts[0], &artifacts[1]], count)?;
    println!("{report} ({:.0} s)", start.elapsed().as_secs_f64());
    Ok(())
}
