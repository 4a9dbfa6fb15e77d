//! What a fresh machine lacks, and how the machine gets it unharmed: packages are added, and none is ever removed, upgraded
//! or downgraded.

mod apt;
mod program;
#[cfg(test)]
mod tests;

use std::fs;
use std::process::Command;

use anyhow::{Result, bail, ensure};
use xtask::{cargo, output, root, run, show};

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

/// One thing to be done, and the words for it.
struct Step {
    shown: String,
    work: Box<dyn FnOnce() -> Result<()>>,
}

impl Step {
    fn of(mut command: Command) -> Self {
        Self { shown: show(&command), work: Box::new(move || run(&mut command)) }
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
        steps.into_iter().try_for_each(|step| (step.work)())?;
        programs
            .iter()
            .try_for_each(|program| program.check().map_err(|why| anyhow::anyhow!("still missing: {why}")))
    }
}

/// What brings Rust's missing targets and components, and programs that cargo builds.
fn of_rust(needs: &Needs<'_>) -> Result<Vec<Step>> {
    let is_command = |name: &str| output("cargo", &[name, "--version"]).is_some();
    let targets = needs.targets.iter().copied().filter(|target| !has_target(target));
    let components = [("rustfmt", "fmt"), ("clippy", "clippy")].into_iter();
    let components = components.filter(|(_, command)| needs.components && !is_command(command));
    let mut steps = Vec::new();
    for (what, missing) in
        [("target", targets.collect::<Vec<_>>()), ("component", components.map(|(name, _)| name).collect())]
    {
        if !missing.is_empty() {
            let list = missing.join(" ");
            ensure!(
                output("rustup", &["--version"]).is_some(),
                "rustup is missing, which installs Rust's {what}s {list}: see https://rustup.rs"
            );
            let mut command = Command::new("rustup");
            command.args([what, "add"]).args(missing);
            steps.push(Step::of(command));
        }
    }
    for name in needs.cargo {
        let is_there = match name.strip_prefix("cargo-") {
            Some(command) => is_command(command),
            None => output(name, &["--version"]).is_some(),
        };
        if !is_there {
            let mut command = cargo(&root());
            // What they do takes seconds; to optimise them takes minutes. Of mdBook pages alone: no server, and no search.
            command.args(["install", "--locked", "--debug", name]);
            command.args((*name == "mdbook").then_some("--no-default-features"));
            steps.push(Step::of(command));
        }
    }
    Ok(steps)
}

/// Whether the compiler finds the target's `core`, wherever it came from.
fn has_target(target: &str) -> bool {
    let folder = output("rustc", &["--print", "target-libdir", "--target", target]).unwrap_or_default();
    let Ok(mut files) = fs::read_dir(folder.trim()) else { return false };
    files.any(|file| file.is_ok_and(|file| file.file_name().to_string_lossy().starts_with("libcore-")))
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
    let mut formulas: Vec<&str> = programs.iter().flat_map(|program| program.brew).copied().collect();
    formulas.sort_unstable();
    formulas.dedup();
    let mut command = Command::new("brew");
    command.arg("install").args(formulas);
    // It neither upgrades nor cleans up what is installed.
    command.envs(
        ["AUTO_UPDATE", "INSTALL_UPGRADE", "INSTALLED_DEPENDENTS_CHECK", "INSTALL_CLEANUP"]
            .map(|what| (format!("HOMEBREW_NO_{what}"), "1")),
    );
    Ok(vec![Step::of(command)])
}
