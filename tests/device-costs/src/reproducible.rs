//! `cargo xtask reproducible`

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use calib_tests::classifier::Case;
use calib_tests::{Board, build_firmware_for, cargo_home, flashed_bytes, remapped_paths};
use sha2::{Digest, Sha256};
use xtask::{built, cargo, copy, output, root, run};

/// What a build is made of.
const SOURCES: [&str; 4] = ["calib-core", "calib-host", "firmware", "tests"];
const FILES: [&str; 2] = ["Cargo.toml", "Cargo.lock"];
/// What is there, but not to be copied.
const LEFT_OUT: [&str; 3] = ["target", "corpus", "artifacts"];
/// The boards of a sample.
const SAMPLE: [Board; 1] = [Board::Mps2An386];

/// The sources of a build, a folder for what is made of them, and an environment.
struct Place {
    sources: PathBuf,
    folder: PathBuf,
    variables: Vec<(&'static str, OsString)>,
}

/// Builds the firmware in two folders, with two users' environments, and runs `calib` in both: the images, the artifact
/// and the report must be the same bytes.
///
/// A sample takes one board, and the `calib` that was built with this program; otherwise both folders build their own.
pub(crate) fn reproducible(sample: bool) -> Result<()> {
    let boards = if sample { &SAMPLE[..] } else { Board::ALL };
    let classifier = root().join("target/classifier.json");
    fs::create_dir_all(root().join("target"))?;
    Case::breast_cancer()?.model.save(&classifier)?;
    let places = [Place::here()?, Place::elsewhere()?];
    for &board in boards {
        // The image that the tests run, which is there after them.
        let here = flashed_bytes(&build_firmware_for(board, &classifier)?)?;
        same(&format!("firmware of {}", board.name()), &here, &places[1].firmware(board, &classifier)?)?;
    }
    let program = if sample { Some(built("calib")?) } else { None };
    let programs = both(&places, |place| program.clone().map_or_else(|| place.calib(), Ok))?;
    for (place, program) in places.iter().zip(&programs) {
        place.fit_and_report(program)?;
    }
    for name in ["cal.bin", "report.html"] {
        let [one, two] = both(&places, |place| Ok(fs::read(place.folder.join("work").join(name))?))?;
        same(name, &one, &two)?;
    }
    Ok(())
}

fn both<T>(places: &[Place; 2], mut work: impl FnMut(&Place) -> Result<T>) -> Result<[T; 2]> {
    Ok([work(&places[0])?, work(&places[1])?])
}

/// Prints both hashes.
fn same(what: &str, one: &[u8], two: &[u8]) -> Result<()> {
    ensure!(!one.is_empty(), "{what} is empty");
    let [first, second] = [one, two].map(|bytes| {
        Sha256::digest(bytes).iter().take(16).map(|byte| format!("{byte:02x}")).collect::<String>()
    });
    println!("{what:<24} {:>7} bytes  {first}  {second}", one.len());
    let differing = one.iter().zip(two).position(|(one, two)| one != two);
    ensure!(one == two, "{what} differs, first at byte {}", differing.unwrap_or(one.len().min(two.len())));
    Ok(())
}

impl Place {
    /// The sources as they are here, and the environment of whoever runs this.
    fn here() -> Result<Self> {
        let folder = made(&root().join("target/reproducible/one"))?;
        Ok(Self { sources: root(), folder, variables: Vec::new() })
    }

    /// A copy of the sources in a folder of another name and depth, as somebody else, on the other side of the earth, with
    /// cargo's files elsewhere.
    fn elsewhere() -> Result<Self> {
        let folder = made(&root().join("target/reproducible/a longer name/deeper/two"))?;
        fill(&folder)?;
        let home = folder.join("home");
        let own = home.join("cargo files");
        fs::create_dir_all(own.join("registry"))?;
        // What was downloaded is downloaded; it is unpacked anew.
        for part in ["index", "cache"] {
            let (from, to) = (cargo_home()?.join("registry").join(part), own.join("registry").join(part));
            if !to.exists() {
                symlink(&from, &to).with_context(|| format!("cannot link {}", from.display()))?;
            }
        }
        let mut variables: Vec<(&str, OsString)> = vec![
            ("HOME", home.into()),
            ("CARGO_HOME", own.into()),
            ("USER", "somebody".into()),
            ("LOGNAME", "somebody".into()),
            ("TZ", "Pacific/Auckland".into()),
            ("LC_ALL", "C".into()),
            ("SOURCE_DATE_EPOCH", "1".into()),
            ("CARGO_NET_OFFLINE", "true".into()),
        ];
        // rustup looks for its toolchains in the home folder.
        if let Some(rustup) = output("rustup", &["show", "home"]) {
            variables.push(("RUSTUP_HOME", rustup.trim().into()));
        }
        Ok(Self { sources: folder.clone(), folder, variables })
    }

    fn cargo(&self, folder: &str) -> Command {
        let mut command = cargo(&self.sources.join(folder));
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
        command
    }

    /// What a board's flash holds, built in a copy of the sources.
    fn firmware(&self, board: Board, classifier: &Path) -> Result<Vec<u8>> {
        let own = self.variables.iter().find(|(name, _)| *name == "CARGO_HOME");
        let cargo_home = own.map_or_else(cargo_home, |(_, home)| Ok(home.into()))?;
        run(self
            .cargo("firmware")
            .args(["build", "--quiet", "--release", "--locked", "--package", "boards"])
            .args(["--features", board.name(), "--target", board.target()])
            .env("CALIB_CLASSIFIER", classifier)
            .env("RUSTC_WRAPPER", self.sources.join("firmware/rustc-anywhere.sh"))
            .arg("--config")
            .arg(remapped_paths(&self.sources, &cargo_home)))?;
        flashed_bytes(&self.sources.join("firmware/target").join(board.target()).join("release/boards"))
    }

    /// Builds `calib`, without what reads large formats and drives probes: what is left fits and reports.
    fn calib(&self) -> Result<PathBuf> {
        let build = [
            "build",
            "--quiet",
            "--locked",
            "--package",
            "calib-host",
            "--no-default-features",
            "--features",
            "cli",
        ];
        // Not where this very program and the tests' `calib` are.
        let target = self.folder.join("target");
        run(self.cargo("").args(build).arg("--target-dir").arg(&target))?;
        Ok(target.join("debug/calib"))
    }

    /// Fits a calibrator to the same data as everywhere, and reports on it.
    fn fit_and_report(&self, calib: &Path) -> Result<()> {
        let folder = self.folder.join("work");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        let folder = made(&folder)?;
        let mut rows = String::from("score,label\n");
        for i in 0..2000 {
            rows += &format!("{},{}\n", f64::from(i) / 2000.0, u8::from(i % 50 < i / 40));
        }
        fs::write(folder.join("cal.csv"), rows)?;
        let calib = |line: &str| {
            let mut command = Command::new(calib);
            command.current_dir(&folder).args(line.split_whitespace());
            run(command.envs(self.variables.iter().map(|(name, value)| (name, value))))
        };
        calib(
            "fit --method umd --bins 10 --scores cal.csv --score-column score --label-column label -o cal.bin",
        )?;
        calib("report cal.bin --calibration cal.csv --test cal.csv --same-rows -o report.html")
    }
}

/// Copies what is built into a folder, in place of what was copied the last time.
fn fill(folder: &Path) -> Result<()> {
    for part in SOURCES {
        clear(&folder.join(part))?;
        copy(&root().join(part), &folder.join(part), &LEFT_OUT)?;
    }
    for file in FILES {
        fs::copy(root().join(file), folder.join(file))?;
    }
    Ok(())
}

/// Removes the sources in a folder, if it is there; what was built from them stays.
fn clear(folder: &Path) -> Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        if LEFT_OUT.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            clear(&path)?;
        } else {
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    Ok(())
}

/// Makes a folder; what was built in it stays.
fn made(folder: &Path) -> Result<PathBuf> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(fs::canonicalize(folder)?)
}
