//! Running other programs: cargo, and the tools that the project sets up.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, thread};

use anyhow::{Context, Result, bail};

/// The repository's root.
///
/// # Panics
///
/// If the crate was moved without the repository.
pub fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).expect("the crate is two folders below the root").to_path_buf()
}

/// The folder of programs that were unpacked because they could not be installed: each is at `bin/NAME`.
pub fn tools() -> PathBuf {
    root().join("target/tools")
}

/// What to call a program of the system by: the path of the unpacked one if there is one, otherwise the name.
pub fn tool(name: &str) -> OsString {
    let unpacked = tools().join("bin").join(name);
    if unpacked.exists() { unpacked.into() } else { name.into() }
}

/// A program that cargo built together with the one that runs this.
///
/// # Errors
///
/// If the system does not say where this program is.
pub fn built(name: &str) -> Result<PathBuf> {
    Ok(env::current_exe()?.with_file_name(format!("{name}{}", env::consts::EXE_SUFFIX)))
}

/// cargo in a folder: the cargo that runs this. It keeps nothing for the next change of a source, which would make a first
/// build a quarter slower; a developer's own calls do.
pub fn cargo(folder: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(folder).env("CARGO_INCREMENTAL", "0");
    command
}

/// cargo that builds the library for C as a static library for a target: `TARGET/release/libcalib_c.a` below `target_dir`.
pub fn c_library(target: &str, features: &[&str], target_dir: &Path) -> Command {
    let mut command = cargo(&root().join("firmware"));
    command
        .args(["rustc", "--quiet", "--locked", "--release", "--package", "calib-c"])
        .args(["--crate-type", "staticlib", "--features", &features.join(","), "--target", target])
        .arg("--target-dir")
        .arg(target_dir)
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    command
}

/// Runs a command that shows its own output.
///
/// # Errors
///
/// If the command cannot be run, or fails.
pub fn run(command: &mut Command) -> Result<()> {
    let shown = show(command);
    let status = command.stdin(Stdio::null()).status().with_context(|| format!("cannot run `{shown}`"))?;
    if status.success() { Ok(()) } else { bail!("`{shown}` failed ({status})") }
}

/// Runs two commands at once. The first shows its output as it comes, the second when both have ended.
///
/// # Errors
///
/// If one of them cannot be run, or fails; both run to their end.
pub fn beside(first: &mut Command, second: &mut Command) -> Result<()> {
    let shown = show(second);
    let (first, second) = thread::scope(|scope| {
        let second = scope.spawn(|| second.stdin(Stdio::null()).output());
        (run(first), second.join().expect("running a command does not panic"))
    });
    let second = second.with_context(|| format!("cannot run `{shown}`"))?;
    io::stdout().write_all(&second.stdout)?;
    io::stderr().write_all(&second.stderr)?;
    first?;
    if second.status.success() { Ok(()) } else { bail!("`{shown}` failed ({})", second.status) }
}

/// Runs a command for its standard output; `None` if it cannot be run or fails.
pub fn output(program: impl AsRef<OsStr>, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Copies a folder but for what has one of these names. A file that is the same already keeps its time, so that it is not
/// built again.
///
/// # Errors
///
/// If a file cannot be read or written.
pub fn copy(from: &Path, to: &Path, left_out: &[&str]) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if left_out.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy(&source, &target, left_out)?;
        } else if fs::read(&source)? != fs::read(&target).unwrap_or_default() || !target.exists() {
            fs::copy(&source, &target).with_context(|| format!("cannot copy {}", source.display()))?;
        }
    }
    Ok(())
}

/// A command as it would be typed, without the program's folder.
pub fn show(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args()).map(OsStr::to_string_lossy);
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_commands_each_may_fail() {
        let both = |first: &str, second: &str| beside(&mut Command::new(first), &mut Command::new(second));
        assert!(both("true", "true").is_ok());
        for (first, second, told) in
            [("false", "true", "`false`"), ("true", "false", "`false`"), ("true", "/none", "`none`")]
        {
            assert!(both(first, second).unwrap_err().to_string().contains(told));
        }
    }
}
