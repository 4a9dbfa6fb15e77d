//! The archive of the library for C, found by CMake and by pkg-config.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use xtask::{c_library, copy, root, run};

use super::{
    SUMS, VERSION, archive, empty, filled, host, names_no_folder, remapped_paths, said, sums, unpacked, write,
};
use crate::notices;

/// The cores, besides this machine, that the library comes for.
pub(super) const TARGETS: [&str; 2] = ["thumbv6m-none-eabi", "thumbv7em-none-eabihf"];
/// What a compiler for C calls them.
const CORES: [&str; 2] =
    ["-mcpu=cortex-m0 -mfloat-abi=soft", "-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16"];
/// Names of the library and of its module for pkg-config: without signatures, and with them.
const KINDS: [(bool, &str, &str); 2] =
    [(false, "calib_c", "calib"), (true, "calib_c_ed25519", "calib-ed25519")];
/// What Rust's standard library, which handles panics on this machine, is linked with.
const SYSTEM: &str = " -lpthread -ldl -lm";
/// What the program in the book says of calib-core's example.
const ANSWER: &str = "prob 0.6632 (bin average within 0.0965)\n";

fn name() -> String {
    format!("calib-c-{VERSION}")
}

/// Builds the library for each target, and packs it.
pub(super) fn make(into: &Path) -> Result<()> {
    let host = host()?;
    let folder = empty("c")?.join(name());
    copy(&root().join("firmware/c/include"), &folder.join("include"), &[])?;
    for target in TARGETS.into_iter().chain([&*host]) {
        let system = if target == host { SYSTEM } else { "" };
        let place = folder.join("lib").join(target);
        for (is_signed, library, module) in KINDS {
            let built = build(target, is_signed, target == host)?;
            names_no_folder(&built)?;
            write(&place.join(format!("lib{library}.a")), fs::read(built)?)?;
            let values = [
                ("TARGET", target),
                ("VERSION", VERSION),
                ("NAME", library),
                ("SYSTEM", system),
                ("SIGNED", if is_signed { ", signed" } else { "" }),
            ];
            let described = filled("firmware/c/package/calib.pc", &values)?;
            write(
                &place.join(format!("pkgconfig/{module}.pc")),
                described.replace("Name: calib", &format!("Name: {module}")),
            )?;
        }
    }
    let targets = [&TARGETS[..], &[&*host]].concat().join(", ");
    let values = [("VERSION", VERSION), ("HOST", &*host), ("TARGETS", &*targets)];
    for (file, to) in [
        ("calib-config.cmake", "lib/cmake/calib/calib-config.cmake"),
        ("calib-config-version.cmake", "lib/cmake/calib/calib-config-version.cmake"),
        ("README.md", "README.md"),
    ] {
        write(&folder.join(to), filled(&format!("firmware/c/package/{file}"), &values)?)?;
    }
    let notices = notices::write(notices::CALIB_C)?;
    copy(notices.parent().context("a file has a folder")?, &folder, &[])?;
    sums(&folder)?;
    archive::pack(&folder, into).map(drop)
}

/// Builds the library as `firmware/c/CMakeLists.txt` does, but without what debuggers read, which would name folders.
fn build(target: &str, is_signed: bool, is_host: bool) -> Result<PathBuf> {
    let to = root().join("target/package-libraries");
    let features = [(is_signed, "ed25519"), (!is_host, "panic-handler")];
    let features: Vec<&str> = features.iter().filter(|(wanted, _)| *wanted).map(|(_, name)| *name).collect();
    run(c_library(target, &features, &to)
        .arg("--config")
        .arg(remapped_paths()?)
        .env("RUSTC_WRAPPER", root().join("firmware/rustc-anywhere.sh"))
        .env("CARGO_PROFILE_RELEASE_DEBUG", "false"))?;
    Ok(to.join(target).join("release/libcalib_c.a"))
}

/// Unpacks the archive, and builds the program of the book's page with it: by CMake, also for the cores, and by pkg-config. Returns
/// the unpacked folder.
pub(super) fn test(made: &Path) -> Result<PathBuf> {
    let host = host()?;
    let folder = unpacked(&made.join(format!("{}.tar.gz", name())), "c-unpacked")?;
    let listed = fs::read_to_string(folder.join(SUMS))?;
    sums(&folder)?;
    ensure!(fs::read_to_string(folder.join(SUMS))? == listed, "{SUMS} is not of the files in the archive");
    for file in [notices::FILE, "LICENSE-MIT", "LICENSE-APACHE", "README.md"] {
        ensure!(listed.contains(&format!(" *{file}\n")), "the archive has no {file}");
    }

    let own = empty("c-used")?;
    let page = fs::read_to_string(root().join("docs/src/c-firmware.md"))?;
    let program = page.split("```c\n").nth(1).and_then(|rest| rest.split("```").next());
    write(&own.join("main.c"), program.context("the book's page has no program")?)?;
    let project = format!(
        "cmake_minimum_required(VERSION 3.16)\nproject(own C)\nfind_package(calib {VERSION} REQUIRED)\n\
         add_executable(own main.c)\ntarget_link_libraries(own PRIVATE calib::calib)\n"
    );
    write(&own.join("CMakeLists.txt"), project)?;
    let answers = |program: &Path| {
        let answer = said(Command::new(program).arg(root().join("calib-core/examples/calibrator.cal")))?;
        ensure!(answer == ANSWER, "{} says {answer}", program.display());
        Ok(())
    };
    for (is_signed, _, module) in KINDS {
        let signed = format!("-DCALIB_ED25519={is_signed}");
        let build = own.join(module);
        cmake(&own, &build, &[&signed, &format!("-DCMAKE_PREFIX_PATH={}", folder.display())])?;
        answers(&build.join("own"))?;
        for (target, core) in TARGETS.iter().zip(CORES) {
            let toolchain = root().join("firmware/c/example/arm-none-eabi.cmake");
            cmake(
                &own,
                &own.join(format!("{module}-{target}")),
                &[
                    &signed,
                    &format!("-DCALIB_RUST_TARGET={target}"),
                    &format!("-Dcalib_DIR={}", folder.join("lib/cmake/calib").display()),
                    &format!("-DCMAKE_TOOLCHAIN_FILE={}", toolchain.display()),
                    &format!("-DCMAKE_C_FLAGS=-mthumb {core}"),
                    "-DCMAKE_EXE_LINKER_FLAGS=--specs=rdimon.specs -Wl,--gc-sections",
                ],
            )?;
        }
        let line = format!("cc -std=c99 main.c $(pkg-config --cflags --libs {module}) -o by-pkg-config");
        let modules = folder.join("lib").join(&host).join("pkgconfig");
        run(Command::new("sh").args(["-c", &line]).current_dir(&own).env("PKG_CONFIG_PATH", modules))?;
        answers(&own.join("by-pkg-config"))?;
    }
    Ok(folder)
}

/// Configures and builds the project in a folder.
fn cmake(project: &Path, build: &Path, settings: &[&str]) -> Result<()> {
    said(Command::new("cmake").arg("-S").arg(project).arg("-B").arg(build).args(settings))?;
    said(Command::new("cmake").arg("--build").arg(build)).map(drop)
}
