//! apt: what it would do is simulated first, and done only if that adds packages and changes none.

use std::process::Command;

use anyhow::{Result, bail};
use calib_run::{output, run};

use super::{Program, Step, unpack};

/// What apt is told in a simulation and in earnest.
const INSTALL: [&str; 4] = ["install", "--no-remove", "--no-install-recommends", "--no-upgrade"];

/// A package as apt would install it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
}

/// What apt would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Simulation {
    /// Packages that are not there yet.
    adds: Vec<Package>,
    /// What would happen to packages that are there, in words: each is one too many.
    harms: Vec<String>,
}

impl Simulation {
    /// Reads the output of `apt-get --simulate install`: lines of `Inst NAME [OLD] (NEW ...)` and `Remv NAME [OLD]`.
    fn parse(text: &str) -> Self {
        let mut simulation = Self::default();
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let bare = |word: &str| word.trim_matches(['[', ']', '(', ')']).to_owned();
            match words[..] {
                ["Inst", name, old, new, ..] if old.starts_with('[') => {
                    simulation.harms.push(format!("replace {name} {} by {}", bare(old), bare(new)));
                }
                ["Inst", name, version, ..] => {
                    simulation.adds.push(Package { name: name.to_owned(), version: bare(version) });
                }
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
struct Plan {
    /// Packages to name to apt, and all that apt then adds.
    wanted: Vec<&'static str>,
    adds: Vec<Package>,
    /// Packages to unpack where they change nothing, the programs in them, and why.
    unpacked: Vec<Package>,
    unpacked_programs: Vec<&'static str>,
    reasons: Vec<String>,
}

impl Plan {
    /// Decides how each program comes: by apt where that only adds packages, otherwise unpacked where the program runs from
    /// any folder. `simulate` says what apt would do, or what it said when it failed.
    ///
    /// # Errors
    ///
    /// If a program can come neither way, with what stands against it.
    fn new(
        programs: &[&Program],
        is_root: bool,
        simulate: impl Fn(&[&str]) -> Result<Simulation, String>,
    ) -> Result<Self> {
        let mut plan = Self::default();
        let mut wanted: Vec<&str> = Vec::new();
        for program in programs {
            let Simulation { adds, harms } = known(program.apt, &simulate)?;
            if program.movable && (!is_root || !harms.is_empty()) {
                let harm = format!("apt would {}", harms.join(", "));
                plan.reasons.push(if harms.is_empty() { "apt needs root".into() } else { harm });
                plan.unpacked.extend(adds);
                plan.unpacked_programs.push(program.name);
            } else if harms.is_empty() {
                wanted.extend(program.apt);
            } else {
                bail!(refusal(program.name, program.apt, &harms));
            }
        }
        plan.reasons.dedup();
        let mut seen = Vec::new();
        plan.unpacked.retain(|package| {
            !seen.contains(package) && {
                seen.push(package.clone());
                true
            }
        });
        if wanted.is_empty() {
            return Ok(plan);
        }
        // Each adds only; together they must, too.
        let Simulation { adds, harms } = known(&wanted, &simulate)?;
        if !harms.is_empty() {
            bail!(refusal(&wanted.join(", "), &wanted, &harms));
        }
        // Naming what is installed already would mark it as chosen by hand.
        wanted.retain(|name| adds.iter().any(|package| package.name == *name));
        wanted.sort_unstable();
        wanted.dedup();
        (plan.wanted, plan.adds) = (wanted, adds);
        Ok(plan)
    }
}

fn known(packages: &[&str], simulate: impl Fn(&[&str]) -> Result<Simulation, String>) -> Result<Simulation> {
    simulate(packages).map_err(|said| {
        let list = packages.join(" ");
        anyhow::anyhow!(
            "apt cannot install {list}:\n{}\nhint: run `apt-get update`, or install what is missing yourself",
            said.trim_end()
        )
    })
}

fn refusal(what: &str, packages: &[&str], harms: &[String]) -> String {
    let list = packages.join(" ");
    format!(
        "to install {what}, apt would also {}; nothing was installed\nhint: where you agree to that, run `apt-get install {list}` \
         yourself; otherwise put the program into the PATH in another way; then run this again",
        harms.join(", ")
    )
}

/// What brings the programs.
pub(super) fn steps(programs: &[&Program], may_install: bool) -> Result<Vec<Step>> {
    let administrator = Administrator::here();
    if may_install && let Some(administrator) = administrator {
        // Lists that are too old name packages that are gone.
        if let Err(cause) = run(&mut administrator.apt_get(&["--quiet=2", "update"])) {
            eprintln!("going on with the lists of packages that are here: {cause}");
        }
    }
    let plan = Plan::new(programs, administrator.is_some(), simulate)?;
    let mut steps = Vec::new();
    if !plan.wanted.is_empty() {
        let Some(administrator) = administrator else {
            let list = plan.wanted.join(" ");
            bail!("apt needs root: run `sudo apt-get {} {list}`, then this again", INSTALL.join(" "));
        };
        let arguments = [&["--quiet=2", "--yes"], &INSTALL[..], &plan.wanted].concat();
        let shown = format!(
            "apt-get {} {}\n    adds {}",
            INSTALL.join(" "),
            plan.wanted.join(" "),
            listed(&plan.adds)
        );
        let work = Box::new(move || run(&mut administrator.apt_get(&arguments)));
        steps.push(Step { shown, work });
    }
    if !plan.unpacked.is_empty() {
        let shown = format!(
            "{}, in target/tools alone: {}\n    unpacks {}",
            plan.unpacked_programs.join(", "),
            plan.reasons.join("; "),
            listed(&plan.unpacked)
        );
        let (packages, names) = (plan.unpacked, plan.unpacked_programs);
        steps.push(Step { shown, work: Box::new(move || unpack::unpack(&packages, &names)) });
    }
    Ok(steps)
}

fn listed(packages: &[Package]) -> String {
    packages
        .iter()
        .map(|package| format!("{} {}", package.name, package.version))
        .collect::<Vec<_>>()
        .join(", ")
}

/// What apt would do; nobody needs to be root for that. `--no-remove` would end it before it says what it would remove.
fn simulate(packages: &[&str]) -> Result<Simulation, String> {
    let mut command = Command::new("apt-get");
    let arguments = INSTALL.iter().filter(|argument| **argument != "--no-remove");
    let output = command.env("LC_ALL", "C").arg("--simulate").args(arguments).args(packages).output();
    let output = output.map_err(|cause| cause.to_string())?;
    let (said, complaints) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.success() { Ok(Simulation::parse(&said)) } else { Err(format!("{said}{complaints}")) }
}

/// A way to run apt as root.
#[derive(Clone, Copy)]
enum Administrator {
    /// This process is root's.
    Root,
    /// sudo asks for no password.
    Sudo,
}

impl Administrator {
    fn here() -> Option<Self> {
        if output("id", &["-u"]).is_some_and(|uid| uid.trim() == "0") {
            return Some(Self::Root);
        }
        output("sudo", &["-n", "true"]).map(|_| Self::Sudo)
    }

    fn apt_get(self, arguments: &[&str]) -> Command {
        // sudo takes no variables but those that it is told.
        let words: &[&str] = match self {
            Self::Root => &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"],
            Self::Sudo => &["sudo", "-n", "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"],
        };
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).args(arguments);
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::{ARM_LIBC, CPP, QEMU_ARM, QEMU_RISCV};

    // Recorded on Debian 12 with the `qemu-utils` of its backports.
    const ADDS: &str = include_str!("recorded/adds.txt");
    const REMOVES: &str = include_str!("recorded/removes.txt");
    const DOWNGRADES: &str = include_str!("recorded/downgrades.txt");
    const UPGRADES: &str = include_str!("recorded/upgrades.txt");
    const NOTHING: &str = include_str!("recorded/nothing.txt");
    const IMPOSSIBLE: &str = include_str!("recorded/impossible.txt");

    fn names(packages: &[Package]) -> Vec<&str> {
        packages.iter().map(|package| &*package.name).collect()
    }

    #[test]
    fn additions_are_read_with_their_versions() {
        let simulation = Simulation::parse(ADDS);
        assert_eq!(simulation.harms, Vec::<String>::new());
        let compiler = Package { name: "gcc-arm-none-eabi".into(), version: "15:12.2.rel1-1".into() };
        assert_eq!(simulation.adds[1], compiler);
        assert_eq!(
            names(&simulation.adds),
            ["binutils-arm-none-eabi", "gcc-arm-none-eabi", "libnewlib-dev", "libnewlib-arm-none-eabi"]
        );
        assert_eq!(Simulation::parse(NOTHING), Simulation::default());
    }

    #[test]
    fn every_change_of_what_is_installed_is_a_harm() {
        let harms = |text| Simulation::parse(text).harms;
        assert_eq!(harms(REMOVES), ["remove qemu-utils 1:10.0.2+ds-2+deb13u1~bpo12+1"]);
        assert_eq!(
            harms(DOWNGRADES),
            ["replace qemu-utils 1:10.0.2+ds-2+deb13u1~bpo12+1 by 1:7.2+dfsg-7+deb12u18+b3"]
        );
        let upgrade = |name: &str| format!("replace {name} 3.0.19-1~deb12u2 by 3.0.22-1~deb12u2");
        assert_eq!(harms(UPGRADES), ["libssl-dev", "libssl3", "openssl"].map(upgrade));
        assert_eq!(harms("Purg exim4 [4.96-15+deb12u7]"), ["remove exim4 4.96-15+deb12u7"]);
    }

    /// What apt says of the emulator as recorded, and that it adds the rest.
    fn recorded(emulator: &'static str) -> impl Fn(&[&str]) -> Result<Simulation, String> {
        move |packages| {
            let text = match packages.contains(&"qemu-system-arm") {
                true => emulator.to_owned(),
                false => {
                    packages.iter().map(|name| format!("Inst {name} (1.0 Debian:12 [amd64])\n")).collect()
                }
            };
            Ok(Simulation::parse(&text))
        }
    }

    #[test]
    fn what_only_adds_is_installed_together() {
        let plan =
            Plan::new(&[&QEMU_ARM, &CPP], true, recorded("Inst qemu-system-arm (1 D)\nInst g++ (2 D)"));
        let plan = plan.unwrap();
        assert_eq!((plan.wanted, plan.unpacked), (vec!["g++", "qemu-system-arm"], vec![]));
    }

    #[test]
    fn an_emulator_that_costs_a_package_is_unpacked() {
        for (said, reason) in [
            (REMOVES, "apt would remove qemu-utils 1:10.0.2+ds-2+deb13u1~bpo12+1"),
            (
                DOWNGRADES,
                "apt would replace qemu-utils 1:10.0.2+ds-2+deb13u1~bpo12+1 by 1:7.2+dfsg-7+deb12u18+b3",
            ),
        ] {
            let plan = Plan::new(&[&QEMU_ARM, &ARM_LIBC], true, recorded(said)).unwrap();
            assert_eq!(plan.wanted, ["gcc-arm-none-eabi", "libnewlib-arm-none-eabi"]);
            assert_eq!(plan.unpacked_programs, ["qemu-system-arm"]);
            assert_eq!(plan.reasons, [reason]);
            assert_eq!(plan.unpacked, Simulation::parse(said).adds);
            assert!(names(&plan.unpacked).contains(&"libcapstone4"));
            assert!(!names(&plan.unpacked).contains(&"qemu-utils"));
        }
    }

    #[test]
    fn what_two_emulators_share_is_unpacked_once() {
        let plan = Plan::new(&[&QEMU_ARM, &QEMU_RISCV], true, |_| Ok(Simulation::parse(REMOVES))).unwrap();
        assert_eq!(plan.unpacked, Simulation::parse(REMOVES).adds);
        assert_eq!(plan.unpacked_programs, ["qemu-system-arm", "qemu-system-riscv32"]);
        assert_eq!(plan.reasons.len(), 1);
    }

    #[test]
    fn without_root_an_emulator_is_unpacked() {
        let adds = recorded("Inst qemu-system-arm (1:7.2 Debian:12)");
        let plan = Plan::new(&[&QEMU_ARM], false, adds).unwrap();
        assert_eq!((names(&plan.unpacked), plan.wanted), (vec!["qemu-system-arm"], vec![]));
        assert_eq!(plan.reasons, ["apt needs root"]);
    }

    #[test]
    fn a_compiler_that_costs_a_package_is_refused_with_the_way_out() {
        for said in [REMOVES, UPGRADES, DOWNGRADES] {
            let refused = Plan::new(&[&ARM_LIBC], true, |_| Ok(Simulation::parse(said))).unwrap_err();
            let refused = refused.to_string();
            assert!(refused.contains(&Simulation::parse(said).harms.join(", ")), "{refused}");
            assert!(refused.contains("nothing was installed"), "{refused}");
            assert!(
                refused.contains("`apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi`"),
                "{refused}"
            );
        }
    }

    #[test]
    fn packages_that_harm_together_alone_are_refused() {
        let simulate = |packages: &[&str]| {
            Ok(Simulation::parse(if packages.len() > 2 { UPGRADES } else { "Inst g++ (2 Debian:12)" }))
        };
        let refused = Plan::new(&[&CPP, &ARM_LIBC], true, simulate).unwrap_err().to_string();
        assert!(refused.contains("replace libssl3"), "{refused}");
    }

    #[test]
    fn what_apt_says_when_it_fails_is_handed_on() {
        let refused = Plan::new(&[&QEMU_ARM], true, |_| Err(IMPOSSIBLE.into())).unwrap_err().to_string();
        assert!(refused.contains("qemu-utils : Breaks: qemu-system-common"), "{refused}");
    }

    #[test]
    fn nothing_that_is_installed_is_named() {
        let only_newlib =
            |_: &[&str]| Ok(Simulation::parse("Inst libnewlib-arm-none-eabi (3.3.0 Debian:12)"));
        let plan = Plan::new(&[&ARM_LIBC], true, only_newlib).unwrap();
        assert_eq!(plan.wanted, ["libnewlib-arm-none-eabi"]);
        assert_eq!(INSTALL[1..], ["--no-remove", "--no-install-recommends", "--no-upgrade"]);
    }
}
