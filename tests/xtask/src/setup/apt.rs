//! apt: what it would do is simulated first, and done only if that adds packages and changes none. A program that could
//! come only at the cost of a package, or without root, is unpacked into `target/tools` if it runs from there.

use std::collections::BTreeSet;
use std::process::Command;

use anyhow::{Result, anyhow, bail, ensure};
use xtask::{output, run};

use super::{Program, Step};

/// From the repository's root.
pub(super) const UNPACK: &str = "tests/xtask/src/setup/unpack.sh";
/// What apt is told in a simulation and in earnest.
pub(super) const INSTALL: [&str; 4] = ["install", "--no-remove", "--no-install-recommends", "--no-upgrade"];

/// What apt would do, or what it said when it failed.
pub(super) type Simulated = Result<Simulation, String>;

/// What apt would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Simulation {
    /// Packages that are not there yet, as `name=version`.
    pub(super) adds: Vec<String>,
    /// What would happen to packages that are there, in words: each is one too many.
    pub(super) harms: Vec<String>,
}

impl Simulation {
    /// Reads the output of `apt-get --simulate install`: lines of `Inst NAME [OLD] (NEW ...)` and `Remv NAME [OLD]`.
    pub(super) fn parse(text: &str) -> Self {
        let mut simulation = Self::default();
        let bare = |word: &str| word.trim_matches(['[', ']', '(', ')']).to_owned();
        for line in text.lines() {
            match line.split_whitespace().collect::<Vec<_>>()[..] {
                ["Inst", name, old, new, ..] if old.starts_with('[') => {
                    simulation.harms.push(format!("replace {name} {} by {}", bare(old), bare(new)));
                }
                ["Inst", name, version, ..] => simulation.adds.push(format!("{name}={}", bare(version))),
                ["Remv" | "Purg", name, ref rest @ ..] => {
                    let old = rest.first().map_or(String::new(), |old| format!(" {}", bare(old)));
                    simulation.harms.push(format!("remove {name}{old}"));
                }
                _ => {}
            }
        }
        simulation
    }
}

/// What to do about programs that are missing.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// Packages to name to apt, and all that apt then adds.
    pub(super) wanted: Vec<&'static str>,
    pub(super) adds: Vec<String>,
    /// Packages to unpack where they change nothing, the programs in them, and why.
    pub(super) unpacked: Vec<String>,
    pub(super) programs: Vec<&'static str>,
    pub(super) reasons: Vec<String>,
}

impl Plan {
    /// Decides how each program comes: by apt where that only adds packages, otherwise unpacked where the program runs from
    /// any folder.
    ///
    /// # Errors
    ///
    /// If a program can come neither way, with what stands against it.
    pub(super) fn new(
        programs: &[&Program],
        is_root: bool,
        simulate: impl Fn(&[&str]) -> Simulated,
    ) -> Result<Self> {
        let known = |packages: &[&str]| {
            simulate(packages).map_err(|said| {
                let (list, said) = (packages.join(" "), said.trim_end());
                anyhow!(
                    "apt cannot install {list}:\n{said}\nhint: run `apt-get update`, or install what is missing yourself"
                )
            })
        };
        let (mut plan, mut wanted) = (Self::default(), BTreeSet::new());
        for program in programs {
            let Simulation { adds, harms } = known(program.apt)?;
            if program.is_movable && (!is_root || !harms.is_empty()) {
                let harm = format!("apt would {}", harms.join(", "));
                plan.reasons.push(if harms.is_empty() { "apt needs root".into() } else { harm });
                let new: Vec<String> = adds.into_iter().filter(|new| !plan.unpacked.contains(new)).collect();
                plan.unpacked.extend(new);
                plan.programs.push(program.name);
            } else {
                ensure!(harms.is_empty(), refusal(program.name, program.apt, &harms));
                wanted.extend(program.apt);
            }
        }
        plan.reasons.dedup();
        if !wanted.is_empty() {
            // Each adds only; together they must, too.
            let mut wanted: Vec<&str> = wanted.into_iter().collect();
            let Simulation { adds, harms } = known(&wanted)?;
            ensure!(harms.is_empty(), refusal(&wanted.join(", "), &wanted, &harms));
            // Naming what is installed already would mark it as chosen by hand.
            wanted.retain(|name| adds.iter().any(|new| new.split('=').next() == Some(name)));
            (plan.wanted, plan.adds) = (wanted, adds);
        }
        Ok(plan)
    }
}

fn refusal(what: &str, packages: &[&str], harms: &[String]) -> String {
    let (harms, list) = (harms.join(", "), packages.join(" "));
    format!(
        "to install {what}, apt would also {harms}; nothing was installed\nhint: where you agree to that, run `apt-get install \
         {list}` yourself; otherwise put the program into the PATH in another way; then run this again"
    )
}

/// What brings the programs.
pub(super) fn steps(programs: &[&Program], may_install: bool) -> Result<Vec<Step>> {
    // Root, or a sudo that asks for no password and takes no variables but those that it is told.
    let administrator = match output("id", &["-u"]) {
        Some(uid) if uid.trim() == "0" => Some("DEBIAN_FRONTEND=noninteractive"),
        _ => output("sudo", &["-n", "true"]).map(|_| "sudo -n env DEBIAN_FRONTEND=noninteractive"),
    };
    if let (true, Some(administrator)) = (may_install, administrator) {
        // Lists that are too old name packages that are gone.
        let line = format!("{administrator} apt-get --quiet=2 update");
        if let Err(cause) = run(Command::new("sh").args(["-c", &line])) {
            eprintln!("going on with the lists of packages that are here: {cause}");
        }
    }
    let Plan { wanted, adds, unpacked, programs, reasons } =
        Plan::new(programs, administrator.is_some(), simulate)?;
    let mut steps = Vec::new();
    if !wanted.is_empty() {
        let line = format!("{} {}", INSTALL.join(" "), wanted.join(" "));
        let Some(administrator) = administrator else {
            bail!("apt needs root: run `sudo apt-get {line}`, then this again");
        };
        let shown = format!("apt-get {line}\n    adds {}", adds.join(", "));
        steps.push(Step { line: format!("{administrator} apt-get --quiet=2 --yes {line}"), shown });
    }
    if !unpacked.is_empty() {
        let (names, reasons, list) = (programs.join(", "), reasons.join("; "), unpacked.join(", "));
        let shown = format!("{names}, in target/tools alone: {reasons}\n    unpacks {list}");
        let (names, list) = (programs.join(" "), unpacked.join(" "));
        steps.push(Step { line: format!("sh {UNPACK} target/tools '{names}' {list}"), shown });
    }
    Ok(steps)
}

/// What apt would do; nobody needs to be root for that. `--no-remove` would end it before it says what it would remove.
fn simulate(packages: &[&str]) -> Simulated {
    let mut command = Command::new("apt-get");
    let arguments = INSTALL.iter().filter(|argument| **argument != "--no-remove");
    let output = command.env("LC_ALL", "C").arg("--simulate").args(arguments).args(packages).output();
    let output = output.map_err(|cause| cause.to_string())?;
    let [said, complaints] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    if output.status.success() { Ok(Simulation::parse(&said)) } else { Err(said + &complaints) }
}
