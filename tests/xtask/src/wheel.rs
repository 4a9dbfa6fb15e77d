//! `cargo xtask wheel`

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result, bail, ensure};
use xtask::{built, output, root, run, tool};

use crate::flags;
use crate::notices;
use crate::setup::Setup;
use crate::steps::Steps;

/// The environment of the tests that `cargo xtask verify` runs.
const NEWEST: &str = "newest";
/// With these packages the wheel is tested: the oldest NumPy and scikit-learn that it is for, and the newest.
const TESTED: [&str; 2] = ["oldest", NEWEST];
/// With netcal, whose calibrators the package takes over.
const NETCAL: &str = "netcal";

/// What the package does without any package but NumPy.
const ALONE: &str = "import calib_host, numpy
scores, draws = numpy.random.default_rng(1).random((2, 2000))
calibrator = calib_host.fit(scores, draws < scores)
assert 0.8 < calibrator.predict(numpy.array([0.9]))[0] < 1, calibrator";

/// How the extension module is built.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Profile {
    /// What is given away.
    Release,
    /// Soon, without what takes longest to build: Arrow, Parquet and pictures in PNG.
    Tests,
}

/// Builds the wheel for this machine's platform, and tests it in clean environments; with all, in one with netcal, too.
pub(crate) fn wheel(setup: Setup, all: bool) -> Result<PathBuf> {
    let mut steps = Steps::new();
    let mut environments = Vec::new();
    let mut netcal = None;
    steps.step("set-up", || {
        if all {
            netcal = Some(environment(NETCAL, setup)?);
        }
        environments = TESTED.iter().map(|name| environment(name, setup)).collect::<Result<_>>()?;
        environment("build", setup).map(drop)
    })?;
    let mut wheel = PathBuf::new();
    steps.step("building the wheel", || {
        wheel = build(&environment("build", setup)?, Profile::Release)?;
        Ok(())
    })?;
    for python in environments {
        steps.step("its tests in a clean environment", || {
            install(&python, &wheel)?;
            tests(&python)
        })?;
    }
    if let Some(python) = netcal {
        steps.step("what netcal fitted", || {
            install(&python, &wheel)?;
            run(pytest(&python).args(["-s", "test_netcal.py"]))
        })?;
    }
    steps.summarize();
    eprintln!("{} ({} bytes)", wheel.display(), fs::metadata(&wheel)?.len());
    eprintln!("other platforms' wheels are built on machines of theirs");
    Ok(wheel)
}

/// Makes the environments of [`verify`].
pub(crate) fn set_up(setup: Setup) -> Result<()> {
    environment("build", setup)?;
    environment(NEWEST, setup).map(drop)
}

/// Makes the environments of [`package`].
pub(crate) fn set_up_alone(setup: Setup) -> Result<()> {
    environment("build", setup)?;
    environment("alone", setup).map(drop)
}

/// Builds the wheel of a release and tests it, or in a sample the wheel that [`verify`] tests. Then installs it beside NumPy
/// alone, and copies it into a folder.
pub(crate) fn package(setup: Setup, into: &Path, sample: bool) -> Result<()> {
    let profile = if sample { Profile::Tests } else { Profile::Release };
    let wheel =
        if sample { build(&environment("build", setup)?, profile)? } else { self::wheel(setup, false)? };
    let alone = environment("alone", setup)?;
    install(&alone, &wheel)?;
    run(Command::new(&alone).args(["-m", "pip", "check"]))?;
    run(Command::new(alone.with_file_name("calib")).arg("--version"))?;
    run(Command::new(&alone).env_remove("PYTHONPATH").args(["-I", "-W", "error", "-c", ALONE]))?;
    fs::copy(&wheel, into.join(wheel.file_name().context("a wheel has a name")?))?;
    Ok(())
}

/// Tests the Python package with the newest packages.
pub(crate) fn verify(setup: Setup) -> Result<()> {
    let python = environment(NEWEST, setup)?;
    let wheel = build(&environment("build", setup)?, Profile::Tests)?;
    install(&python, &wheel)?;
    tests(&python)
}

/// Measures a release build of the package in the newest environment, of so many scores.
pub(crate) fn bench(setup: Setup, rows: Option<u64>) -> Result<()> {
    let python = environment(NEWEST, setup)?;
    let wheel = build(&environment("build", setup)?, Profile::Release)?;
    install(&python, &wheel)?;
    let rows = rows.map(|rows| format!("--rows={rows}"));
    run(Command::new(&python).arg(root().join("tests/python/bench.py")).args(rows))
}

/// Compares calibration methods of several packages, calib's by a build of the package: in the environment of the tests if that has all that is
/// asked for, and else in one of its own.
pub(crate) fn accuracy(setup: Setup, flags: &flags::Accuracy) -> Result<()> {
    let flags::Accuracy { quick, splits, sets, jobs, all, write } = flags;
    let (name, profile) = match (all, quick) {
        (true, _) => ("accuracy-all", Profile::Release),
        (false, true) => (NEWEST, Profile::Tests),
        (false, false) => ("accuracy", Profile::Release),
    };
    let python = environment(name, setup)?;
    let wheel = build(&environment("build", setup)?, profile)?;
    install(&python, &wheel)?;
    let number = |flag: &str, n: &Option<u64>| n.map(|n| format!("--{flag}={n}"));
    let mut command = Command::new(&python);
    command.arg(root().join("tests/accuracy"));
    command
        .args([number("splits", splits), number("sets", sets), number("jobs", jobs)].into_iter().flatten());
    command.args(quick.then_some("--quick"));
    command.arg("--records").arg(root().join("target/accuracy/records.json"));
    if *write {
        command.arg("--page").arg(root().join("docs/src/accuracy.md"));
    }
    run(&mut command)
}

/// Compares what the package that [`verify`] installed predicts with what an emulated device answers, bit for bit, and follows the book's
/// page down to a device. `device-costs` is built, with the emulator.
pub(crate) fn on_a_device(setup: Setup) -> Result<()> {
    let python = environment(NEWEST, setup)?;
    let tests = ["test_device.py", "test_tutorial.py"];
    run(pytest(&python).args(tests).env("CALIB_DEVICE", built("device-costs")?))
}

/// Calibrates a forest that emlearn generates on an emulated core, by a library for C that was unpacked, and compares with the package's bits.
pub(crate) fn beside_emlearn(setup: Setup, library: &Path) -> Result<()> {
    let python = environment(NEWEST, setup)?;
    install(&python, &build(&environment("build", setup)?, Profile::Tests)?)?;
    let qemu = tool("qemu-system-arm");
    run(pytest(&python).args(["test_emlearn.py", "-k", "archive"]).env("CALIB_C", library).env("QEMU", qemu))
}

/// The interpreter of an environment with the packages that are listed for it, which is made if it is not there.
pub(crate) fn environment(name: &str, setup: Setup) -> Result<PathBuf> {
    let list = root().join("tests/python").join(name).with_extension("txt");
    let packages = fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?;
    let folder = root().join("target/python-environments").join(name);
    let python = folder.join("bin/python");
    // Written last, so that half an environment is made anew.
    let done = folder.join("packages.txt");
    if fs::read_to_string(&done).is_ok_and(|there| there == packages) {
        return Ok(python);
    }
    output("python3", &["-c", "import ensurepip, venv, sys; assert sys.version_info >= (3, 11)"]).context(
        "there is no python3 of version 3.11 or newer with venv: `apt-get install --no-remove python3-venv` brings it",
    )?;
    let shown = packages.lines().collect::<Vec<_>>().join(", ");
    if !setup.may_install {
        bail!("`pip install -r {}` in {} would bring {shown}", list.display(), folder.display());
    }
    eprintln!("installing {shown} in {}", folder.display());
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    run(pip(&python).arg("--requirement").arg(&list))?;
    fs::write(done, packages)?;
    Ok(python)
}

/// pip, about to install.
fn pip(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    command
}

/// Builds a wheel; its path.
fn build(python: &Path, profile: Profile) -> Result<PathBuf> {
    let root = root();
    let folder = root.join("target/wheels").join(format!("{profile:?}").to_lowercase());
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    // The wheel takes along what stands beside its pyproject.toml.
    notices::write("calib-host/python")?;
    let mut maturin = Command::new(python);
    maturin.args(["-m", "maturin", "build", "--locked", "--quiet", "--manifest-path"]);
    maturin.arg(root.join("calib-host/python/Cargo.toml"));
    maturin.arg("--target-dir").arg(root.join("target/python")).arg("--out").arg(&folder);
    maturin
        .env("CARGO_INCREMENTAL", "0")
        .env("CARGO", env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    maturin.args(match profile {
        Profile::Release => &["--profile", "release", "--features", "arrow,png"][..],
        Profile::Tests => &["--profile", "dev", "--no-default-features"],
    });
    run(&mut maturin)?;
    let mut wheels = fs::read_dir(&folder)?.map(|entry| Ok(entry?.path()));
    let is_wheel = |path: &Result<PathBuf>| {
        path.as_ref().is_ok_and(|path| path.extension().is_some_and(|extension| extension == "whl"))
    };
    let wheel = wheels.find(is_wheel).context("maturin made no wheel")??;
    let listed = output(python, &["-m", "zipfile", "--list", &wheel.to_string_lossy()]);
    let listed = listed.context("the wheel is no archive")?;
    for file in [notices::FILE, "LICENSE-MIT", "LICENSE-APACHE"] {
        ensure!(listed.contains(&format!("licenses/{file}")), "the wheel has no {file}:\n{listed}");
    }
    // What the index would refuse.
    run(Command::new(python).args(["-m", "twine", "--no-color", "check", "--strict"]).arg(&wheel))?;
    Ok(wheel)
}

/// Installs a wheel in place of the one that is there.
fn install(python: &Path, wheel: &Path) -> Result<()> {
    run(pip(python).args(["--force-reinstall", "--no-deps"]).arg(wheel))
}

/// The tests, then the examples of the installed package.
fn tests(python: &Path) -> Result<()> {
    run(&mut pytest(python))?;
    run(pytest(python).args(["--doctest-modules", "--pyargs", "calib_host"]))
}

/// pytest, about to run in the folder of the tests: these see the package that is installed, and leave nothing beside themselves.
fn pytest(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.current_dir(root().join("tests/python"));
    command.env_remove("PYTHONPATH").env("PYTHONDONTWRITEBYTECODE", "1");
    command.args(["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider"]);
    command
}
