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

/// Installs the emulator through the system's package manager.
pub(crate) fn qemu() -> Result<()> {
    let present = || output("qemu-system-arm", &["--version"]).is_some();
    if present() {
        return Ok(());
    }
    if output("apt-get", &["--version"]).is_some() {
        const INSTALL: [&str; 4] = ["install", "--yes", "--no-install-recommends", "qemu-system-arm"];
        let root = output("id", &["-u"]).is_some_and(|uid| uid.trim() == "0");
        let sudo = output("sudo", &["-n", "true"]).is_some();
        if !root && !sudo {
            bail!("QEMU is missing: run `sudo apt-get install {}`", INSTALL[3]);
        }
        eprintln!("installing {}", INSTALL[3]);
        for arguments in [&["update"][..], &INSTALL] {
            let mut command = if root { Command::new("apt-get") } else { Command::new("sudo") };
            if !root {
                command.args(["-n", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
            }
            run(command.env("DEBIAN_FRONTEND", "noninteractive").arg("--quiet=2").args(arguments))?;
        }
    } else if output("brew", &["--version"]).is_some() {
        eprintln!("installing qemu");
        run(Command::new("brew").args(["install", "qemu"]))?;
    }
    if present() { Ok(()) } else { bail!("QEMU is missing: install qemu-system-arm, then run this again") }
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
