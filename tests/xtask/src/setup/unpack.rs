//! Packages of Debian, unpacked into the project's own folder of builds: nothing of the machine changes.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use calib_run::{run, tools};

use super::apt::Package;

/// Downloads and unpacks the packages, and writes a script for each program that starts it with its own libraries.
pub(super) fn unpack(packages: &[Package], programs: &[&str]) -> Result<()> {
    let (downloads, unpacked) = (tools().join("downloads"), tools().join("unpacked"));
    for folder in [&downloads, &unpacked] {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let names = packages.iter().map(|Package { name, version }| format!("{name}={version}"));
    let mut download = Command::new("apt-get");
    // apt's own user may not write to every folder.
    download.args(["download", "--quiet=2", "-o", "APT::Sandbox::User=root"]).args(names);
    run(download.current_dir(&downloads))?;
    for file in fs::read_dir(&downloads)? {
        run(Command::new("dpkg-deb").arg("--extract").arg(file?.path()).arg(&unpacked))?;
    }
    fs::remove_dir_all(&downloads)?;
    programs.iter().try_for_each(|program| write_script(program, &unpacked))
}

fn write_script(program: &str, unpacked: &Path) -> Result<()> {
    ensure!(unpacked.join("usr/bin").join(program).exists(), "the packages hold no {program}");
    let mut libraries = BTreeSet::new();
    library_folders(unpacked, &mut libraries)?;
    let folder = tools().join("bin");
    fs::create_dir_all(&folder)?;
    let place = folder.join(program);
    // Renamed when it is whole: that it is there says that the program is.
    let draft = folder.join(format!("{program}.new"));
    fs::write(&draft, script(program, unpacked, &libraries))?;
    fs::set_permissions(&draft, fs::Permissions::from_mode(0o755))?;
    fs::rename(&draft, &place).with_context(|| format!("cannot write {}", place.display()))
}

/// A script that finds the libraries wherever the folder is moved to.
fn script(program: &str, unpacked: &Path, libraries: &BTreeSet<PathBuf>) -> String {
    let below = libraries.iter().filter_map(|folder| folder.strip_prefix(unpacked).ok());
    let path: Vec<String> = below.map(|folder| format!("$unpacked/{}", folder.display())).collect();
    format!(
        "#!/bin/sh\nunpacked=$(dirname \"$(readlink -f \"$0\")\")/../unpacked\nLD_LIBRARY_PATH=\"{}\" exec \
         \"$unpacked/usr/bin/{program}\" \"$@\"\n",
        path.join(":")
    )
}

/// The folders that hold shared libraries.
fn library_folders(folder: &Path, found: &mut BTreeSet<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let (name, path) = (entry.file_name(), entry.path());
        if entry.file_type()?.is_dir() {
            library_folders(&path, found)?;
        } else if name.to_string_lossy().starts_with("lib") && name.to_string_lossy().contains(".so.") {
            found.insert(folder.to_owned());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::*;

    #[test]
    fn a_script_starts_the_program_with_its_libraries_and_arguments() {
        let folder = std::env::temp_dir().join(format!("calib-unpack-{}", std::process::id()));
        let (unpacked, bin) = (folder.join("unpacked"), folder.join("bin"));
        let (programs, libraries) = (unpacked.join("usr/bin"), unpacked.join("usr/lib/a b"));
        [&programs, &libraries, &bin].into_iter().try_for_each(fs::create_dir_all).unwrap();
        fs::write(libraries.join("libx.so.1"), "").unwrap();
        fs::write(libraries.join("module.so"), "").unwrap();
        fs::write(programs.join("echoes"), "#!/bin/sh\necho \"$LD_LIBRARY_PATH\" \"$@\"\n").unwrap();
        let mut found = BTreeSet::new();
        library_folders(&unpacked, &mut found).unwrap();
        assert_eq!(found, BTreeSet::from([libraries]));
        fs::write(bin.join("echoes"), script("echoes", &unpacked, &found)).unwrap();
        for program in [programs.join("echoes"), bin.join("echoes")] {
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        }
        // While another test starts a program, its child still has the script open for writing.
        let said = loop {
            match Command::new(bin.join("echoes")).args(["one", "two words"]).output() {
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {}
                said => break said.unwrap(),
            }
        };
        let said = String::from_utf8(said.stdout).unwrap();
        let expected = format!("{}/../unpacked/usr/lib/a b one two words\n", bin.display());
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(said, expected);
    }
}
