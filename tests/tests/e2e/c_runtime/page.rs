//! The book's page "Use the C library" builds as it stands there, with cargo and with a library that is built already, and its program
//! answers in the emulator as the page says.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use calib_tests::{Board, build_c_firmware, calib};

const QEMU: &str = "qemu-system-arm";
/// The score of the page's program, by four digits.
const SCORE: &str = "0.93";

/// The blocks of one language that stand below a heading, in order.
fn blocks(page: &str, heading: &str, language: &str) -> Vec<String> {
    let below = page.split_once(&format!("\n## {heading}\n")).expect("the page has the heading").1;
    let section = below.split("\n## ").next().unwrap_or(below);
    let fence = format!("```{language}\n");
    section.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap().into()).collect()
}

/// What a line of the shell prints, in a folder; without cargo, if it is not to be found.
fn shell(folder: &Path, line: &str, has_cargo: bool) -> String {
    let mut command = Command::new("sh");
    command
        .current_dir(folder)
        .args(["-c", line])
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    if !has_cargo {
        let path = env::var_os("PATH").unwrap();
        let without = env::split_paths(&path).filter(|folder| !folder.join("cargo").exists());
        command.env("PATH", env::join_paths(without).unwrap());
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&[&*output.stdout, &*output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{line}: {said}");
    said
}

#[test]
fn the_page_builds_and_its_program_answers() {
    let root = fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap();
    let page = fs::read_to_string(root.join("docs/src/c-firmware.md")).unwrap();
    let heading = "On a Cortex-M";
    let own = tempfile::tempdir().unwrap();
    let own = own.path();
    symlink(&root, own.join("calib")).unwrap();
    let [main, start] = <[String; 2]>::try_from(blocks(&page, heading, "c")).unwrap();
    let files = [
        ("CMakeLists.txt", blocks(&page, heading, "cmake").remove(0)),
        ("own.ld", blocks(&page, heading, "text").remove(0)),
        ("main.c", main),
        ("start.c", start),
    ];
    for (name, text) in files {
        fs::write(own.join(name), text).unwrap();
    }
    let commands = blocks(&page, heading, "sh").remove(0);
    let [fit, build, emulate] = <[&str; 3]>::try_from(commands.lines().collect::<Vec<_>>()).unwrap();

    // Where nothing can be installed, the emulator is unpacked.
    let emulate = &emulate.replacen(QEMU, &xtask::tool(QEMU).display().to_string(), 1);

    let rows = (0..600).map(|row| (f64::from(row) / 600.0, u8::from(row % 40 < row / 20)));
    let rows: String = rows.map(|(score, label)| format!("{score},{label}\n")).collect();
    fs::write(own.join("cal.csv"), format!("score,label\n{rows}")).unwrap();
    let program = calib();
    let fit = fit.strip_prefix("calib ").expect("the page begins with a fit");
    shell(own, &format!("{} {fit}", program.display()), true);
    fs::write(own.join("one.csv"), format!("score\n{SCORE}\n")).unwrap();
    shell(own, &format!("{} apply cal.bin --scores one.csv -o applied.csv", program.display()), true);
    let applied = fs::read_to_string(own.join("applied.csv")).unwrap();
    let prob: f64 =
        applied.lines().nth(1).unwrap().split(',').nth(1).unwrap().parse().expect("a probability");

    // What the firmware of other tests compiles is the library of the page.
    build_c_firmware(Board::Mps2An386, "stand-in").unwrap();
    let cargo_folder = root.join("firmware/target/c");
    let with = |define: &str| build.replacen("-B build", &format!("-B build -D {define}"), 1);
    shell(own, &with(&format!("CALIB_CARGO_DIR={}", cargo_folder.display())), true);
    let expected = format!("prob {prob:.4} (bin average within ");
    let said = shell(own, emulate, true);
    assert!(said.starts_with(&expected), "{said}: {expected}");

    let library = cargo_folder.join("thumbv7em-none-eabihf/release/libcalib_c.a");
    fs::remove_dir_all(own.join("build")).unwrap();
    shell(own, &with(&format!("CALIB_LIBRARY={}", library.display())), false);
    assert_eq!(shell(own, emulate, true), said);
}
