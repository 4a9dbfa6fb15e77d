//! The archive of the command, in the layout of `/usr/local`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use xtask::{built, cargo, copy, output, root, run};

use super::{VERSION, archive, empty, filled, host, names_no_folder, remapped_paths, said, unpacked, write};
use crate::notices;

/// A shell, the file of its completions, and where they are kept.
const SHELLS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/calib"),
    ("zsh", "share/zsh/site-functions/_calib"),
    ("fish", "share/fish/vendor_completions.d/calib.fish"),
];
const MANUAL: &str = "share/man/man1";
const DOCUMENTS: &str = "share/doc/calib";
/// A page for each command.
const REFERENCE: &str = "docs/src/reference";

fn name() -> Result<String> {
    Ok(format!("calib-{VERSION}-{}", host()?))
}

/// Builds the command, or takes the one that is built, and packs it.
pub(super) fn make(into: &Path, sample: bool) -> Result<()> {
    let program = if sample { built("calib")? } else { release()? };
    let name = name()?;
    let folder = empty("command")?.join(&name);
    fs::create_dir_all(folder.join("bin"))?;
    fs::copy(&program, folder.join("bin/calib"))
        .with_context(|| format!("there is no {}", program.display()))?;
    let printed = |words: &[&str]| said(Command::new(&program).args(words));
    for (shell, file) in SHELLS {
        write(&folder.join(file), printed(&["completions", shell])?)?;
    }
    write(&folder.join(MANUAL).join("calib.1"), printed(&["man"])?)?;
    for command in commands()? {
        write(&folder.join(MANUAL).join(format!("calib-{command}.1")), printed(&["man", &command])?)?;
    }
    let notices = notices::write(notices::CALIB)?;
    copy(notices.parent().context("a file has a folder")?, &folder.join(DOCUMENTS), &[])?;
    let readme = filled("calib-host/cli/package/README.md", &[("VERSION", VERSION), ("TARGET", &host()?)])?;
    write(&folder.join(DOCUMENTS).join("README.md"), readme)?;
    archive::pack(&folder, into).map(drop)
}

/// The names of all commands: those of their pages in the reference.
fn commands() -> Result<Vec<String>> {
    let pages = archive::files(&root().join(REFERENCE))?;
    Ok(pages.iter().filter_map(|page| Some(page.file_stem()?.to_string_lossy().into_owned())).collect())
}

/// `calib` with everything in it, as others would install it.
fn release() -> Result<PathBuf> {
    let target = root().join("target/package-build");
    run(cargo(&root())
        .args(["build", "--quiet", "--locked", "--release", "--package", "calib-host", "--all-features"])
        .arg("--target-dir")
        .arg(&target)
        .arg("--config")
        .arg(remapped_paths()?)
        .env_remove("RUSTFLAGS"))?;
    let program = target.join("release/calib");
    names_no_folder(&program)?;
    Ok(program)
}

/// Unpacks the archive, fits with it, and asks shells and `man` whether they can read its files.
pub(super) fn test(made: &Path) -> Result<()> {
    let folder = unpacked(&made.join(format!("{}.tar.gz", name()?)), "command-unpacked")?;
    let work = empty("command-used")?;
    let calib = |line: &str| {
        let mut command = Command::new(folder.join("bin/calib"));
        // None of this machine's settings.
        said(command.args(line.split(' ')).current_dir(&work).env_clear())
    };
    let version = calib("--version")?;
    ensure!(version == format!("calib {VERSION}\n"), "the unpacked command is {version}");
    let rows = (0..2000).map(|i| format!("{},{}\n", f64::from(i) / 2000.0, u8::from(i % 50 < i / 40)));
    write(&work.join("cal.csv"), format!("score,label\n{}", rows.collect::<String>()))?;
    calib("fit cal.csv --quiet")?;
    calib("apply cal.cal --scores cal.csv -o applied.csv --quiet")?;
    let applied = fs::read_to_string(work.join("applied.csv"))?;
    ensure!(applied.lines().count() == 2001, "the unpacked command gives {} lines", applied.lines().count());

    for (shell, file) in SHELLS {
        let file = folder.join(file);
        let text = fs::read_to_string(&file)?;
        for command in commands()? {
            ensure!(text.contains(&command), "{} does not complete {command}", file.display());
        }
        if output(shell, &["--version"]).is_some() {
            run(Command::new(shell).arg("-n").arg(&file))?;
        } else {
            eprintln!("not run: {shell}, which is not here, on {}", file.display());
        }
    }
    for page in archive::files(&folder.join(MANUAL))? {
        let mut man = Command::new("man");
        let shown =
            said(man.arg(folder.join(MANUAL).join(&page)).env("MANPAGER", "cat").env("MANWIDTH", "80"))?;
        for heading in ["NAME", "SYNOPSIS", "DESCRIPTION"] {
            ensure!(shown.contains(heading), "{} has no {heading}:\n{shown}", page.display());
        }
    }
    for file in ["LICENSE-APACHE", "LICENSE-MIT", notices::FILE, "README.md"] {
        ensure!(!fs::read(folder.join(DOCUMENTS).join(file))?.is_empty(), "{file} is empty");
    }
    Ok(())
}
