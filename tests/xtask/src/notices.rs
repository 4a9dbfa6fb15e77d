//! `cargo xtask notices`: what other people's packages ask to come along with a program or a library that holds them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result, bail, ensure};
use xtask::{cargo, root};

/// The file beside the licenses of calib itself.
pub(crate) const FILE: &str = "THIRD-PARTY.txt";

/// The folder of the command's notices.
pub(crate) const CALIB: &str = "target/notices/calib";
/// That of the page.
pub(crate) const CALIB_WEB: &str = "target/notices/calib-web";
/// That of the library for C.
pub(crate) const CALIB_C: &str = "target/notices/calib-c";

/// What is given away: where its file goes, the folder of its workspace, and what cargo is told to build.
const GIVEN_AWAY: [(&str, &str, &[&str]); 4] = [
    (CALIB, ".", &["--package", "calib-host", "--all-features"]),
    ("calib-host/python", "calib-host/python", &["--all-features"]),
    (CALIB_WEB, "calib-host/web", &["--target", "wasm32-wasip1"]),
    (CALIB_C, "firmware", &["--package", "calib-c", "--features", "ed25519", "--target", "all"]),
];

/// The files of a package that hold its license or a notice begin like this, in any case.
const NAMES: [&str; 6] = ["licen", "copying", "copyright", "notice", "unlicense", "ofl"];

/// Writes the notices of everything that is given away.
pub(crate) fn notices() -> Result<()> {
    for (folder, ..) in GIVEN_AWAY {
        println!("{}", write(folder)?.display());
    }
    Ok(())
}

/// Writes the notices that go into a folder, and returns the file.
pub(crate) fn write(folder: &str) -> Result<PathBuf> {
    let (_, workspace, what) =
        GIVEN_AWAY.into_iter().find(|(known, ..)| *known == folder).context("nothing is given away there")?;
    let text = of(&root().join(workspace), what)?;
    let folder = root().join(folder);
    fs::create_dir_all(&folder)?;
    for license in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(root().join(license), folder.join(license))?;
    }
    let file = folder.join(FILE);
    fs::write(&file, text)?;
    Ok(file)
}

/// Every package that is linked in, with its license, and then every text that they ask to be handed on.
fn of(workspace: &Path, what: &[&str]) -> Result<String> {
    let listed = cargo(workspace)
        .args(["tree", "--locked", "--edges", "normal,no-proc-macro", "--prefix", "none"])
        .args(["--format", "{p}|{l}|{r}"])
        .args(what)
        .output()
        .context("cannot run cargo")?;
    ensure!(listed.status.success(), "cargo tree: {}", String::from_utf8_lossy(&listed.stderr));
    let mut text = String::from(
        "This contains parts of the Rust standard library (MIT OR Apache-2.0), of calib (MIT OR Apache-2.0), and of these packages:\n\n",
    );
    let mut texts = BTreeMap::<String, BTreeSet<String>>::new();
    for package in packages(&String::from_utf8(listed.stdout)?)? {
        writeln!(text, "{} {}: {} ({})", package.name, package.version, package.license, package.repository)?;
        let own = licenses(&package.name, &package.version)?;
        for own in own {
            texts.entry(own).or_default().insert(format!("{} {}", package.name, package.version));
        }
    }
    for (license, of) in texts {
        let of: Vec<String> = of.into_iter().collect();
        write!(text, "\n{}\n{}:\n\n{}\n", "-".repeat(78), of.join(", "), license.trim_end())?;
    }
    Ok(text)
}

/// A package of somebody else.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Package {
    name: String,
    version: String,
    license: String,
    repository: String,
}

/// The packages of other people in what cargo lists, each once.
fn packages(listed: &str) -> Result<BTreeSet<Package>> {
    let mut found = BTreeSet::new();
    for line in listed.lines().filter(|line| !line.is_empty()) {
        let mut fields = line.trim_end_matches(" (*)").split('|');
        let (Some(package), Some(license), Some(repository)) = (fields.next(), fields.next(), fields.next())
        else {
            bail!("not a line of a package: {line}");
        };
        // A package of this repository has its folder behind the version.
        let [name, version] = package.split(' ').collect::<Vec<_>>()[..] else { continue };
        ensure!(!license.is_empty(), "{name} {version} names no license");
        let version = version.trim_start_matches('v').into();
        found.insert(Package {
            name: name.into(),
            version,
            license: license.into(),
            repository: repository.into(),
        });
    }
    ensure!(!found.is_empty(), "cargo lists no package");
    Ok(found)
}

/// The folder of cargo's downloads.
pub(crate) fn cargo_home() -> Result<PathBuf> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    home.or_else(|| Some(env::home_dir()?.join(".cargo"))).context("there is no home folder")
}

/// The texts in a package as cargo unpacked it. Some have none: their license is named in the list.
fn licenses(name: &str, version: &str) -> Result<Vec<String>> {
    let registries =
        fs::read_dir(cargo_home()?.join("registry/src")).context("cargo has unpacked no package")?;
    let unpacked = registries.filter_map(|entry| Some(entry.ok()?.path().join(format!("{name}-{version}"))));
    let folder = unpacked.into_iter().find(|folder| folder.is_dir());
    let folder = folder.with_context(|| format!("cargo has not unpacked {name} {version}: `cargo fetch`"))?;
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let is_license = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        path.is_file() && NAMES.iter().any(|start| name.starts_with(start))
    };
    let read = |path: PathBuf| Ok(String::from_utf8_lossy(&fs::read(path)?).replace("\r\n", "\n"));
    files.into_iter().filter(is_license).map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_others_are_listed_once_and_none_is_without_a_license() {
        let listed = "calib-core v0.1.0 (/calib/calib-core)|MIT OR Apache-2.0|\n\nsubtle v2.6.1|BSD-3-Clause|https://a\n\
                      crc v3.4.0|MIT|https://b\nsubtle v2.6.1|BSD-3-Clause|https://a (*)\n";
        let found = packages(listed).unwrap();
        let names: Vec<String> =
            found.iter().map(|one| format!("{} {} {}", one.name, one.version, one.license)).collect();
        assert_eq!(names, ["crc 3.4.0 MIT", "subtle 2.6.1 BSD-3-Clause"]);
        assert!(
            packages("x v1.0.0||https://c\n").unwrap_err().to_string().contains("x v1.0.0 names no license")
        );
        assert!(packages("").is_err());
    }

    /// The text of every package that is linked into the library for C, whose licenses all ask for it.
    #[test]
    fn what_is_linked_in_hands_its_notices_on() {
        let text = of(&root().join("firmware"), GIVEN_AWAY[3].2).unwrap();
        assert!(text.contains("\ncurve25519-dalek 5.0.0: BSD-3-Clause ("), "{text}");
        assert!(text.contains("Redistributions in binary form must reproduce the above copyright"), "{text}");
        assert!(!text.contains("calib-core"), "{text}");
    }
}
