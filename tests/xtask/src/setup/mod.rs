//! What a fresh machine lacks, and how the machine gets it unharmed: packages are added, and none is ever removed, upgraded
//! or downgraded.

mod apt;
mod brew;
mod program;
mod rustup;
mod unpack;

use anyhow::{Result, bail};
use calib_run::{cargo, output, root, run};

pub(crate) use program::{
    ARM_GCC, ARM_LIBC, CHROMIUM, CMAKE, CPP, JAVA, OPENSSL, Program, QEMU_ARM, QEMU_RISCV, RISCV_GCC,
    chromium,
};

/// What a command uses besides cargo.
#[derive(Default)]
pub(crate) struct Needs<'a> {
    /// Rust targets.
    pub(crate) targets: &'a [&'a str],
    /// rustfmt and clippy.
    pub(crate) components: bool,
    /// Programs of the system.
    pub(crate) programs: &'a [&'a Program],
    /// Commands of cargo's own that `cargo install` builds: the command, and its package.
    pub(crate) cargo: &'a [(&'a str, &'a str)],
    /// Whether mdBook is used, which `cargo install` builds, too.
    pub(crate) mdbook: bool,
    /// Whether cbindgen is used, which `cargo install` builds, too.
    pub(crate) cbindgen: bool,
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

impl Setup {
    /// Sees that everything is there that a command needs, and installs what is missing after it has listed it.
    ///
    /// # Errors
    ///
    /// If something is missing and may not be installed, cannot be installed, or can be installed only at the cost of what
    /// this machine has.
    pub(crate) fn provide(self, needs: &Needs<'_>) -> Result<()> {
        let missing: Vec<(&Program, String)> =
            needs.programs.iter().filter_map(|program| Some((*program, (program.check)().err()?))).collect();
        let mut steps = rustup::steps(needs.targets, needs.components)?;
        for (command, package) in needs.cargo {
            if output("cargo", &[command, "--version"]).is_none() {
                // What they do takes seconds; to optimise them takes minutes.
                let shown = format!("cargo install --locked --debug {package}");
                let mut install = cargo(&root());
                install.args(["install", "--locked", "--debug", package]);
                steps.push(Step { shown, work: Box::new(move || run(&mut install)) });
            }
        }
        // Of mdBook pages alone: no server, and no search.
        let programs: [(bool, &str, &[&str]); 2] = [
            (needs.mdbook, "mdbook", &["--no-default-features", "mdbook"]),
            (needs.cbindgen, "cbindgen", &["cbindgen"]),
        ];
        for (is_needed, program, arguments) in programs {
            if is_needed && output(program, &["--version"]).is_none() {
                let arguments = [&["install", "--locked", "--debug"], arguments].concat();
                let shown = format!("cargo {}", arguments.join(" "));
                let mut install = cargo(&root());
                install.args(&arguments);
                steps.push(Step { shown, work: Box::new(move || run(&mut install)) });
            }
        }
        if steps.is_empty() && missing.is_empty() {
            return Ok(());
        }
        let mut reasons: Vec<&str> = missing.iter().map(|(_, why)| &**why).collect();
        reasons.dedup();
        reasons.iter().for_each(|why| eprintln!("missing: {why}"));
        if !missing.is_empty() {
            let programs: Vec<&Program> = missing.iter().map(|(program, _)| *program).collect();
            steps.extend(system_steps(&programs, self.may_install)?);
        }
        eprintln!("{}", if self.may_install { "installing:" } else { "to be installed:" });
        steps.iter().for_each(|step| eprintln!("  {}", step.shown));
        if !self.may_install {
            bail!("something is missing, and with --no-install nothing is installed");
        }
        steps.into_iter().try_for_each(|step| (step.work)())?;
        match missing.iter().find_map(|(program, _)| (program.check)().err()) {
            None => Ok(()),
            Some(why) => bail!("still missing: {why}"),
        }
    }
}

/// How this system's package manager brings the programs.
fn system_steps(programs: &[&Program], may_install: bool) -> Result<Vec<Step>> {
    if output("apt-get", &["--version"]).is_some() {
        return apt::steps(programs, may_install);
    }
    if output("brew", &["--version"]).is_some() {
        return Ok(vec![brew::step(programs)]);
    }
    let names: Vec<&str> = programs.iter().map(|program| program.name).collect();
    bail!("there is neither apt nor Homebrew: install {}, then run this again", names.join(", "))
}
