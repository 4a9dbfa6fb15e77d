//! Homebrew.

use std::process::Command;

use calib_run::run;

use super::{Program, Step};

/// Keeps Homebrew from upgrading or cleaning up what is installed.
const ADD_ONLY: [(&str, &str); 4] = [
    ("HOMEBREW_NO_AUTO_UPDATE", "1"),
    ("HOMEBREW_NO_INSTALL_UPGRADE", "1"),
    ("HOMEBREW_NO_INSTALLED_DEPENDENTS_CHECK", "1"),
    ("HOMEBREW_NO_INSTALL_CLEANUP", "1"),
];

/// Installs the programs' formulas.
pub(super) fn step(programs: &[&Program]) -> Step {
    let mut formulas: Vec<&str> = programs.iter().flat_map(|program| program.brew).copied().collect();
    formulas.sort_unstable();
    formulas.dedup();
    let mut command = Command::new("brew");
    command.arg("install").args(&formulas).envs(ADD_ONLY);
    Step { shown: format!("brew install {}", formulas.join(" ")), work: Box::new(move || run(&mut command)) }
}
