//! What a fresh machine lacks.

use std::process::Command;

use anyhow::{Result, bail};

use crate::run::{output, run};

/// Installs Rust targets through rustup.
pub(crate) fn targets(wanted: &[&str]) -> Result<()> {
    rustup("target", wanted)
}

/// Installs rustfmt and clippy through rustup.
pub(crate) fn components() -> Result<()> {
    rustup("component", &["rustfmt", "clippy"])
}

/// Installs the emulators through the system's package manager.
pub(crate) fn qemu() -> Result<()> {
    install(&[
        Program { name: "qemu-system-arm", apt: "qemu-system-arm", brew: "qemu" },
        Program { name: "qemu-system-riscv32", apt: "qemu-system-misc", brew: "qemu" },
    ])
}

/// Installs what the tests compare with, and what libFuzzer is built with.
pub(crate) fn test_tools() -> Result<()> {
    install(&[
        // A Mac has a program of this name that is not OpenSSL, and knows no Ed25519.
        Program { name: "openssl", apt: "openssl", brew: "openssl@3" },
        Program { name: "c++", apt: "g++", brew: "llvm" },
        // What exported headers are compiled with.
        Program { name: "arm-none-eabi-gcc", apt: "gcc-arm-none-eabi", brew: "arm-none-eabi-gcc" },
        Program { name: "riscv64-unknown-elf-gcc", apt: "gcc-riscv64-unknown-elf", brew: "riscv64-elf-gcc" },
    ])
}

/// A program, and the packages of Debian and Homebrew that hold it.
struct Program {
    name: &'static str,
    apt: &'static str,
    brew: &'static str,
}

impl Program {
    fn is_present(&self) -> bool {
        match self.name {
            "openssl" => output(self.name, &["version"]).is_some_and(|said| said.starts_with("OpenSSL")),
            // Homebrew's has a shorter name.
            "riscv64-unknown-elf-gcc" => {
                [self.name, "riscv64-elf-gcc"].iter().any(|name| output(name, &["--version"]).is_some())
            }
            name => output(name, &["--version"]).is_some(),
        }
    }
}

/// Installs the programs that are missing.
fn install(programs: &[Program]) -> Result<()> {
    let missing = || programs.iter().filter(|program| !program.is_present());
    let packages: Vec<&str> = missing().map(|program| program.apt).collect();
    if packages.is_empty() {
        return Ok(());
    }
    let list = packages.join(" ");
    if output("apt-get", &["--version"]).is_some() {
        let root = output("id", &["-u"]).is_some_and(|uid| uid.trim() == "0");
        let sudo = output("sudo", &["-n", "true"]).is_some();
        if !root && !sudo {
            bail!("programs are missing: run `sudo apt-get install {list}`");
        }
        eprintln!("installing {list}");
        let install = [&["install", "--yes", "--no-install-recommends"][..], &packages].concat();
        for arguments in [&["update"][..], &install] {
            let mut command = if root { Command::new("apt-get") } else { Command::new("sudo") };
            if !root {
                command.args(["-n", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
            }
            run(command.env("DEBIAN_FRONTEND", "noninteractive").arg("--quiet=2").args(arguments))?;
        }
    } else if output("brew", &["--version"]).is_some() {
        let mut formulas: Vec<&str> = missing().map(|program| program.brew).collect();
        formulas.dedup();
        eprintln!("installing {}", formulas.join(" "));
        run(Command::new("brew").arg("install").args(formulas))?;
    }
    match missing().next() {
        None => Ok(()),
        Some(Program { name, .. }) => {
            bail!("{name} is missing: install {list} and put it into the PATH, then run this again")
        }
    }
}

fn rustup(what: &str, wanted: &[&str]) -> Result<()> {
    let Some(installed) = output("rustup", &[what, "list", "--installed"]) else {
        bail!(
            "rustup is missing, which installs Rust's {what}s {}: see https://rustup.rs",
            wanted.join(", ")
        );
    };
    // Components are listed with the host's target behind their name.
    let present =
        |name: &&&str| installed.lines().any(|line| line == **name || line.starts_with(&format!("{name}-")));
    let missing: Vec<&str> = wanted.iter().filter(|name| !present(name)).copied().collect();
    if missing.is_empty() {
        return Ok(());
    }
    run(Command::new("rustup").args([what, "add"]).args(missing))
}
