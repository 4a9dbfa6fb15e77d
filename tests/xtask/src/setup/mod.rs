//! What a fresh machine lacks, and how the machine gets it unharmed: packages are added, and none is ever removed, upgraded
//! or downgraded.

mod apt;
mod program;
#[cfg(test)]
mod tests;

use std::process::{Command, Output};
use std::{env, fs, io};

use anyhow::{Result, bail, ensure};
use xtask::{output, root, run, tools};

pub(crate) use program::*;

/// What a command uses besides cargo.
#[derive(Default)]
pub(crate) struct Needs<'a> {
    /// Rust targets.
    pub(crate) targets: &'a [&'a str],
    /// rustfmt and clippy.
    pub(crate) components: bool,
    /// Programs of the system.
    pub(crate) programs: &'a [&'a Program],
    /// Packages that `cargo install` builds, each with a program of the same name.
    pub(crate) cargo: &'a [&'a str],
}

/// Installs what is missing, or only says what is missing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    /// Whether anything may be installed.
    pub(crate) may_install: bool,
}

/// A line for the shell, and what is shown of it.
struct Step {
    line: String,
    shown: String,
}

impl From<String> for Step {
    fn from(line: String) -> Self {
        Self { shown: line.clone(), line }
    }
}

impl Setup {
    /// Sees that everything is there that a command needs, and installs what is missing after it has listed it.
    ///
    /// # Errors
    ///
    /// If something is missing and may not be installed, cannot be installed, or can be installed only at the cost of what
    /// this machine has.
    pub(crate) fn provide(self, needs: &Needs<'_>) -> Result<()> {
        let missing = needs.programs.iter().filter_map(|program| Some((*program, program.check().err()?)));
        let (programs, mut reasons): (Vec<&Program>, Vec<String>) = missing.unzip();
        reasons.dedup();
        reasons.iter().for_each(|why| eprintln!("missing: {why}"));
        let mut steps = of_rust(needs)?;
        if !programs.is_empty() {
            steps.extend(of_system(&programs, self.may_install)?);
        }
        if steps.is_empty() {
            return Ok(());
        }
        eprintln!("{}", if self.may_install { "installing:" } else { "to be installed:" });
        steps.iter().for_each(|step| eprintln!("  {}", step.shown));
        ensure!(self.may_install, "something is missing, and with --no-install nothing is installed");
        let at_root = |step: &Step| run(Command::new("sh").args(["-c", &step.line]).current_dir(root()));
        steps.iter().try_for_each(at_root)?;
        let still = programs.iter().find_map(|program| program.check().err());
        still.map_or(Ok(()), |why| bail!("still missing: {why}"))
    }
}

/// Runs a line in a folder of its own, with what was unpacked before what is installed.
fn shell(line: &str) -> io::Result<Output> {
    let folder = root().join("target/set-up");
    fs::create_dir_all(&folder)?;
    let installed = env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(tools().join("bin")).chain(env::split_paths(&installed));
    let path = env::join_paths(folders).map_err(io::Error::other)?;
    Command::new("sh").args(["-c", line]).current_dir(folder).env("PATH", path).output()
}

fn succeeds(line: &str) -> bool {
    shell(line).is_ok_and(|ended| ended.status.success())
}

/// Builds a program, in one folder with the others: what several of them are made of is built once.
const CARGO_INSTALL: &str = "CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=false CARGO_TARGET_DIR=target/set-up/cargo \
                             cargo install --locked --debug";

/// What brings Rust's missing targets and components, and programs that cargo builds.
fn of_rust(needs: &Needs<'_>) -> Result<Vec<Step>> {
    // The compiler finds the target's `core`, wherever it came from.
    let has_target = |target: &&&str| {
        succeeds(&format!("ls \"$(rustc --print target-libdir --target {target})\"/libcore-*"))
    };
    let targets = needs.targets.iter().filter(|target| !has_target(target));
    let mut lines: Vec<String> = targets.map(|target| format!("rustup target add {target}")).collect();
    for (component, trial) in [("rustfmt", "cargo fmt --version"), ("clippy", "cargo clippy --version")] {
        if needs.components && !succeeds(trial) {
            lines.push(format!("rustup component add {component}"));
        }
    }
    if !lines.is_empty() && !succeeds("rustup --version") {
        bail!("rustup is missing, for `{}`: see https://rustup.rs", lines.join("` and `"));
    }
    for name in needs.cargo {
        if !succeeds(&format!("{} --version", name.replace("cargo-", "cargo "))) {
            // What they do takes seconds; to optimize them, or to describe them for a debugger, takes minutes. Of mdBook pages
            // alone: no server, and no search.
            let features = if *name == "mdbook" { " --no-default-features" } else { "" };
            lines.push(format!("{CARGO_INSTALL} {name}{features}"));
        }
    }
    Ok(lines.into_iter().map(Step::from).collect())
}

/// How this system's package manager brings the programs.
fn of_system(programs: &[&Program], may_install: bool) -> Result<Vec<Step>> {
    if output("apt-get", &["--version"]).is_some() {
        return apt::steps(programs, may_install);
    }
    if output("brew", &["--version"]).is_none() {
        let names: Vec<&str> = programs.iter().map(|program| program.name).collect();
        bail!("there is neither apt nor Homebrew: install {}, then run this again", names.join(", "));
    }
    let formulas: Vec<&str> = programs.iter().map(|program| program.brew).collect();
    // It neither upgrades nor cleans up what is installed.
    Ok(vec![Step::from(format!(
        "HOMEBREW_NO_AUTO_UPDATE=1 HOMEBREW_NO_INSTALL_UPGRADE=1 HOMEBREW_NO_INSTALLED_DEPENDENTS_CHECK=1 \
         HOMEBREW_NO_INSTALL_CLEANUP=1 brew install {}",
        formulas.join(" ")
    ))])
}
