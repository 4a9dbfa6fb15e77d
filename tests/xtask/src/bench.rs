//! `cargo xtask bench host`

use anyhow::{Result, ensure};
use calib_run::{cargo, root, run};

use crate::flags;
use crate::setup::Setup;

/// Measures this machine with a release build of `calib-bench-host`.
pub(crate) fn host(setup: Setup, flags::Host { rows, large, streams, netcal }: &flags::Host) -> Result<()> {
    ensure!(
        [rows, large, streams].into_iter().flatten().count() <= 1,
        "--rows is of fits in memory, --large and --streams of files: give one of them"
    );
    let mut arguments = Vec::new();
    for (flag, number) in [("--rows", rows), ("--large", large), ("--streams", streams)] {
        arguments.extend(number.iter().flat_map(|number| [flag.to_owned(), number.to_string()]));
    }
    arguments.extend(netcal.then(|| "--netcal".to_owned()));
    arguments.extend((!setup.may_install).then(|| "--no-install".to_owned()));
    eprintln!("building for release");
    run(cargo(&root())
        .args(["run", "--quiet", "--locked", "--release", "--package", "calib-bench-host", "--"])
        .args(arguments))
}
