//! `cargo xtask package`: what a release consists of, and a trial of each file as its users have it. Nothing is published.

mod archive;
mod c_library;
mod command;
mod crates;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

use anyhow::{Context, Result, ensure};
use xtask::{output, root, run, show};

use crate::flags;
use crate::notices::cargo_home;
use crate::setup::{ARM_LIBC, CMAKE, MAN, Needs, OPENSSL, PKG_CONFIG, QEMU_ARM, Setup};
use crate::steps::Steps;
use crate::wheel;

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The sums of all files in a folder, for `sha256sum --check`.
const SUMS: &str = "SHA256SUMS";

/// What `--only` makes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// The command `calib`, with what belongs to it.
    Command,
    /// The library for C.
    C,
    /// The Python package.
    Wheel,
    /// The packages of Rust.
    Crates,
}

impl FromStr for Kind {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "command" => Ok(Self::Command),
            "c" => Ok(Self::C),
            "wheel" => Ok(Self::Wheel),
            "crates" => Ok(Self::Crates),
            _ => Err("there are command, c, wheel and crates"),
        }
    }
}

/// Makes every file of a release, and tries each in an empty folder.
pub(crate) fn package(setup: Setup, flags::Package { only, sample }: &flags::Package) -> Result<()> {
    let is_made = |kind| only.is_none_or(|only| only == kind);
    let mut steps = Steps::new();
    steps.step("set-up", || {
        let mut needs = Needs { programs: &[&OPENSSL, &MAN], ..Needs::default() };
        if is_made(Kind::C) {
            needs.targets = &c_library::TARGETS;
            needs.programs = &[&OPENSSL, &MAN, &CMAKE, &PKG_CONFIG, &ARM_LIBC, &QEMU_ARM];
        }
        setup.provide(&needs)?;
        if is_made(Kind::C) {
            wheel::set_up(setup)?;
        }
        if is_made(Kind::Wheel) { wheel::set_up_alone(setup) } else { Ok(()) }
    })?;
    let folder = format!("package-{VERSION}{}", if *sample { "-sample" } else { "" });
    let folder = root().join("target").join(folder);
    if only.is_none() {
        cleared(&folder)?;
    }
    fs::create_dir_all(&folder)?;

    if is_made(Kind::Command) {
        steps.step("archive of the command", || command::make(&folder, *sample))?;
        steps.step("the command, unpacked", || command::test(&folder))?;
    }
    if is_made(Kind::C) {
        steps.step("archive of the library for C", || c_library::make(&folder))?;
        let mut unpacked = PathBuf::new();
        steps.step("the library for C, unpacked", || {
            unpacked = c_library::test(&folder)?;
            Ok(())
        })?;
        steps.step("the library for C beside an emlearn model, emulated", || {
            wheel::beside_emlearn(setup, &unpacked)
        })?;
    }
    if is_made(Kind::Wheel) {
        steps.step("wheel", || wheel::package(setup, &folder, *sample))?;
    }
    if is_made(Kind::Crates) {
        steps.step("packages of Rust", || crates::make(&folder, *sample))?;
    }
    sums(&folder)?;
    steps.summarize();
    println!("{}", fs::read_to_string(folder.join(SUMS))?.trim_end());
    println!("{}: nothing is published", folder.display());
    if *sample {
        println!("this is a sample, not for publication");
    }
    Ok(())
}

/// The machine that this runs on, as Rust names it.
fn host() -> Result<String> {
    let named = output("rustc", &["--print", "host-tuple"]).context("rustc does not name this machine")?;
    Ok(named.trim().into())
}

/// An empty folder, for what is packed or unpacked.
fn empty(name: &str) -> Result<PathBuf> {
    let folder = root().join("target/package-work").join(name);
    cleared(&folder)?;
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}

fn cleared(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    Ok(())
}

/// A file of the repository, with what stands for `@NAME@`.
fn filled(file: &str, values: &[(&str, &str)]) -> Result<String> {
    let file = root().join(file);
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let text = values.iter().fold(text, |text, (name, value)| text.replace(&format!("@{name}@"), value));
    let open = text.split('@').skip(1).step_by(2).find(|name| name.chars().all(|c| c.is_ascii_uppercase()));
    ensure!(
        open.is_none_or(str::is_empty),
        "{} has no value for @{}@",
        file.display(),
        open.unwrap_or_default()
    );
    Ok(text)
}

/// Writes a file, and the folders above it.
fn write(file: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    fs::create_dir_all(file.parent().context("a file has a folder")?)?;
    fs::write(file, content).with_context(|| format!("cannot write {}", file.display()))
}

/// Unpacks an archive as users do, in an empty folder: the only folder in it.
fn unpacked(archive: &Path, name: &str) -> Result<PathBuf> {
    let place = empty(name)?;
    run(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(&place))?;
    let mut there = fs::read_dir(&place)?;
    let folder = there.next().context("the archive is empty")??.path();
    ensure!(there.next().is_none(), "{} holds more than one folder", archive.display());
    Ok(folder)
}

/// Writes the sums of a folder's files.
fn sums(folder: &Path) -> Result<()> {
    let names: Vec<PathBuf> =
        archive::files(folder)?.into_iter().filter(|name| *name != Path::new(SUMS)).collect();
    let mut command = Command::new("openssl");
    let digested = command.args(["dgst", "-sha256", "-r"]).args(names).current_dir(folder).output()?;
    ensure!(digested.status.success(), "openssl: {}", String::from_utf8_lossy(&digested.stderr));
    write(&folder.join(SUMS), digested.stdout)
}

/// What a command prints, which must end well.
fn said(command: &mut Command) -> Result<String> {
    let shown = show(command);
    let ended = command.output().with_context(|| format!("cannot run `{shown}`"))?;
    let complaints = String::from_utf8_lossy(&ended.stderr);
    ensure!(ended.status.success(), "`{shown}` failed ({}): {complaints}", ended.status);
    Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
}

/// A setting for cargo's `--config` that keeps this machine's folders out of what is given away.
fn remapped_paths() -> Result<String> {
    let [sources, cargo_home] = [(root(), "/calib"), (cargo_home()?, "/cargo")]
        .map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()));
    Ok(format!("target.'cfg(all())'.rustflags=[{sources:?}, {cargo_home:?}]"))
}

/// Fails if a file names this machine's folders.
fn names_no_folder(file: &Path) -> Result<()> {
    let bytes = fs::read(file)?;
    for folder in [root(), cargo_home()?] {
        let name = folder.to_string_lossy();
        let found = bytes.windows(name.len()).any(|window| window == name.as_bytes());
        ensure!(!found, "{} contains {name}", file.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_without_a_value_is_an_error() {
        let file = "firmware/c/package/calib.pc";
        let all = [("TARGET", "t"), ("SIGNED", ""), ("VERSION", "1.2.3"), ("NAME", "n"), ("SYSTEM", " -lm")];
        assert!(filled(file, &all).unwrap().contains("Libs: -L${libdir} -ln -lm\n"));
        let error = filled(file, &all[..4]).unwrap_err().to_string();
        assert!(error.contains("no value for @SYSTEM@"), "{error}");
    }

    #[test]
    fn sums_are_of_every_file_but_themselves() {
        let folder = empty("test-of-sums").unwrap();
        write(&folder.join("b/c"), "").unwrap();
        write(&folder.join("a"), "abc").unwrap();
        sums(&folder).unwrap();
        let first = fs::read_to_string(folder.join(SUMS)).unwrap();
        sums(&folder).unwrap();
        assert_eq!(first, fs::read_to_string(folder.join(SUMS)).unwrap());
        assert_eq!(
            first,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad *a\n\
             e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 *b/c\n"
        );
    }
}
