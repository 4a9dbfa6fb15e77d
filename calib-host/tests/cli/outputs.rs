//! What outputs never do: replace an input, stay half written, or speak to the terminal.

use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::npy::{f32s, i64s};
use crate::refusal::good;
use crate::workplace::{Run, Workplace};

#[test]
fn an_output_never_replaces_an_input() {
    for line in [
        "calib fit --method umd --bins 2 --scores cal.csv -o cal.csv",
        "calib fit --method umd --bins 2 --scores scores.npy --labels labels.npy -o labels.npy",
        "calib apply cal.bin --scores cal.csv -o ./cal.csv",
        "calib apply cal.bin --scores cal.csv -o cal.bin",
        "calib apply cal.bin --scores cal.csv -o link.csv",
        "calib apply cal.bin --scores cal.csv -o hard.csv",
        "calib report cal.bin --calibration cal.csv --test cal.csv -o cal.csv",
        "calib plot reliability cal.bin --test cal.csv -o cal.bin",
        "calib bins --scores cal.csv --svg cal.csv",
        "calib export cal.bin --format c -o cal.bin",
    ] {
        let place = good();
        std::os::unix::fs::symlink(place.path().join("cal.csv"), place.path().join("link.csv")).unwrap();
        std::fs::hard_link(place.path().join("cal.csv"), place.path().join("hard.csv")).unwrap();
        let before = place.everything();
        for line in [line.to_owned(), format!("{line} --force")] {
            let run = place.run(&line);
            assert_eq!(run.code, 4, "{line}: {}", run.stderr);
            assert!(
                run.stderr.contains("is an input: writing there would lose it"),
                "{line}: {}",
                run.stderr
            );
            assert!(place.everything() == before, "{line}: files were made or changed");
        }
    }
}

#[test]
fn an_interrupt_leaves_nothing() {
    const ROWS: usize = 2_000_000;
    let place = Workplace::new()
        .with("scores.npy", f32s(&[ROWS], (0..ROWS).map(|row| row as f32 / ROWS as f32)).bytes())
        .with("labels.npy", i64s((0..ROWS as i64).map(|row| row % 2)).bytes());
    place.ok("calib fit --method umd --bins 4 --scores scores.npy --labels labels.npy -o cal.bin");
    let before = place.everything();
    for signal in ["-INT", "-TERM"] {
        let mut calib = place.command("apply cal.bin --scores scores.npy -o out.csv").spawn().unwrap();
        let begun = || {
            let names = place.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name());
            names.into_iter().any(|name| name.to_string_lossy().starts_with(".calib-"))
        };
        while !begun() {
            assert_eq!(calib.try_wait().unwrap(), None, "it ended before it was interrupted");
            thread::sleep(Duration::from_millis(1));
        }
        assert!(Command::new("kill").args([signal, &calib.id().to_string()]).status().unwrap().success());
        assert_eq!(calib.wait().unwrap().code(), Some(130), "{signal}");
        assert!(place.everything() == before, "{signal}: files were left");
    }
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let place = good();
    let name = "a\x1b]0;title\x07.bin";
    std::fs::copy(place.path().join("cal.bin"), place.path().join(name)).unwrap();
    for (args, code) in [(["inspect", name], 0), (["inspect", "b\x1b[2J.bin"], 3)] {
        let run = Run::from(place.command("").args(args).output().unwrap());
        assert_eq!(run.code, code, "{}", run.stderr);
        let shown = format!("{}{}", run.stdout, run.stderr);
        assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
        assert!(shown.contains("\\u{1b}"), "{shown:?}");
    }
}

#[test]
fn the_command_in_a_report_can_be_run_again() {
    let place = good();
    let name = "a&b $HOME 'x';.csv";
    std::fs::copy(place.path().join("cal.csv"), place.path().join(name)).unwrap();
    let args = ["report", "cal.bin", "--calibration", "cal.csv", "--test", name, "--same-rows", "--json"];
    let run = Run::from(place.command("").args(args).output().unwrap());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let command = report["origin"]["command"].as_str().unwrap();
    // What a shell makes of it are the words that were given.
    let echo = format!("calib() {{ printf '%s\\n' \"$@\"; }}; {command}");
    let words = Command::new("sh").args(["-c", &echo]).output().unwrap();
    assert_eq!(String::from_utf8(words.stdout).unwrap(), args.map(|word| format!("{word}\n")).concat());
}

/// What nobody can read is not printed in silence.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
#[test]
fn a_closed_standard_output_is_an_error() {
    let place = crate::data::binary_place();
    place.ok(crate::data::UMD_FIT);
    for (line, prints) in [
        ("inspect cal.bin", true),
        ("inspect cal.bin --json", true),
        ("assess --scores cal.csv", true),
        ("bins --scores cal.csv --bins 2,3", true),
        ("plan --n 400 --bins 10", true),
        ("compare --scores cal.csv --methods platt --folds 2 --repeats 1 --bootstrap 5", true),
        ("apply cal.bin --scores cal.csv -o out.csv", false),
    ] {
        let closed = format!("exec '{}' {line} >&-", env!("CARGO_BIN_EXE_calib"));
        let run: Run =
            Command::new("sh").args(["-c", &closed]).current_dir(place.path()).output().unwrap().into();
        let expected = match prints {
            true => (4, "error: cannot write to standard output: it is closed\n".to_owned()),
            false => (0, place.applied("out.csv")),
        };
        assert_eq!((run.code, run.stderr), expected, "{line}");
    }
}

#[test]
fn an_extension_of_another_kind_of_file_is_refused() {
    let place = good();
    for (line, problem) in [
        (
            "report cal.bin --calibration cal.csv --test cal.csv --same-rows -o r.pdf",
            "r.pdf has an extension of no page",
        ),
        (
            "plot reliability cal.bin --test cal.csv --same-rows -o x.jpg",
            "x.jpg has an extension of no picture",
        ),
    ] {
        let before = place.everything();
        let run = place.run(&format!("calib {line}"));
        assert!(run.code == 2 && run.stderr.contains(problem), "{}", run.stderr);
        assert_eq!(place.everything(), before);
    }
    place.ok("calib plot reliability cal.bin --test cal.csv --same-rows -o x.jpg --format svg");
}

#[test]
fn numbers_are_read_as_people_write_them() {
    let place = Workplace::new();
    let plain = place.ok("calib plan --n 100000 --epsilon 0.05 --alpha 0.1").stdout;
    assert_eq!(place.ok("calib plan --n 1e5 --epsilon 5% --alpha 10%").stdout, plain);
    assert_eq!(place.ok("calib plan --n 100_000 --epsilon .05").stdout, plain);
    let run = place.run("calib plan --n 2.5 --epsilon 0.05");
    assert!(
        run.code == 2 && run.stderr.contains("a whole number is expected, such as 25000 or 2.5e4"),
        "{}",
        run.stderr
    );
}
