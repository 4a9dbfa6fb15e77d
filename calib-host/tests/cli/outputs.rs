//! What outputs never do: replace an input, stay half written, or speak to the terminal.

use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::data::Json;
use crate::npy::{f32s, i64s};
use crate::refusal::good;
use crate::transcript::add;
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
            place.says(&line);
            assert!(place.everything() == before, "{line}: files were made or changed");
        }
    }
    said!();
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
    let command = report["origin"]["command"].text();
    // What a shell makes of it are the words that were given.
    let echo = format!("calib() {{ printf '%s\\n' \"$@\"; }}; {command}");
    let words = Command::new("sh").args(["-c", &echo]).output().unwrap();
    assert_eq!(String::from_utf8(words.stdout).unwrap(), args.map(|word| format!("{word}\n")).concat());
}

/// Without a standard output what is printed goes nowhere, and files are written as ever.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
#[test]
fn a_closed_standard_output_takes_nothing_away_from_files() {
    let place = crate::data::binary_place();
    place.ok(crate::data::UMD_FIT);
    place.ok("calib apply cal.bin --scores cal.csv -o open.csv");
    for line in [
        "inspect cal.bin --json",
        "assess --scores cal.csv",
        "apply cal.bin --scores cal.csv -o out.csv --json",
    ] {
        let closed = format!("exec '{}' {line} >&-", env!("CARGO_BIN_EXE_calib"));
        let run: Run =
            Command::new("sh").args(["-c", &closed]).current_dir(place.path()).output().unwrap().into();
        assert_eq!((run.code, &*run.stderr), (0, ""), "{line}");
    }
    assert_eq!(place.bytes("out.csv"), place.bytes("open.csv"));
}

/// What goes to standard output is what goes into a file, to the byte.
#[test]
fn a_dash_is_standard_output() {
    let place = good();
    for (line, file) in [
        ("fit --method umd --bins 2 --scores cal.csv", "a.bin"),
        ("fit --method temperature --logits logits.npy --labels labels.npy", "b.bin"),
        ("apply cal.bin --scores cal.csv", "c.csv"),
        ("apply cal.bin --scores cal.csv --format jsonl", "d.jsonl"),
        ("apply cal.bin --scores cal.csv --format npy", "e.npy"),
        ("apply cal.bin --scores cal.csv --format parquet", "f.parquet"),
        ("apply cal.bin --scores cal.csv --format arrow", "g.arrow"),
        ("plot reliability cal.bin --test cal.csv --same-rows", "h.svg"),
        ("plot reliability cal.bin --test cal.csv --same-rows --format png", "i.png"),
        ("export cal.bin --format c", "j.h"),
        ("export cal.bin --format bin", "k.bin"),
        ("threshold --scores cal.csv --sensitivity 0.5 --confidence 0.5", "l.bin"),
        ("sets --logits logits.npy --labels labels.npy", "m.bin"),
        ("adjust cal.bin --prevalence 0.1 --calibration-prevalence 0.3 --counter 1", "n.bin"),
    ] {
        let place = place.path();
        let run = |output: &str| {
            let args = format!("{line} -o {output}");
            let output =
                Command::new(env!("CARGO_BIN_EXE_calib")).args(args.split(' ')).current_dir(place).output();
            let output = output.unwrap();
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(0), "{args}: {stderr}");
            (output.stdout, stderr)
        };
        let (printed, told) = run("-");
        let (nothing, _) = run(file);
        assert!(printed == std::fs::read(place.join(file)).unwrap() && nothing.is_empty(), "{line}");
        assert!(
            !place.join("-").exists() && !told.contains(": -\n") && !told.contains("next:"),
            "{line}: {told}"
        );
    }
}

#[test]
fn standard_output_has_one_thing_on_it() {
    let place = good().with(
        "costs.toml",
        "[[action]]\nname = \"a\"\npositive = 1\nnegative = 0\nalarm = false\n\n[[action]]\nname = \"b\"\npositive = 0\nnegative = 1\nalarm = true\n",
    );
    let before = place.everything();
    for line in [
        "fit --method umd --bins 2 --scores cal.csv -o - --json",
        "apply cal.bin --scores cal.csv -o - --json",
        "keygen -o -",
        "decide --actions costs.toml cal.bin -o -",
        "bins --scores cal.csv --bins 2 --svg -",
        "plan --n 100 --svg -",
        "export cal.bin -o -",
    ] {
        place.says(&format!("calib {line}"));
        assert!(place.everything() == before, "{line}");
    }
    said!();
}

/// A reader gets nothing of rows that end in a fault, and may leave when it has seen enough.
#[test]
fn rows_on_standard_output_are_whole() {
    let rows = |count: usize, last: &str| {
        let rows = (0..count).map(|row| format!("0.{:05}\n", row * 37 % 100_000));
        format!("score\n{}{last}", rows.collect::<String>())
    };
    let place = good().with("bad.csv", rows(50_000, "x\n")).with("many.csv", rows(300_000, ""));
    place.says("calib apply cal.bin --scores bad.csv -o -");
    let line = format!("'{}' apply cal.bin --scores many.csv -o - | head -n 1", env!("CARGO_BIN_EXE_calib"));
    let piped = format!("set -o pipefail; {line}");
    let run: Run =
        Command::new("bash").args(["-c", &piped]).current_dir(place.path()).output().unwrap().into();
    assert_eq!((run.code, &*run.stdout, &*run.stderr), (0, "score,prob,bin,epsilon,flags,lo,hi\n", ""));
    said!();
}

/// What is no text is not for a terminal, and what is text has no control characters there.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_gets_text_alone() {
    let place = good().with("names.csv", "name,score\na\u{1b}]0;title\u{7},0.5\n");
    let on_terminal = |line: &str| {
        let line = format!("'{}' {line}", env!("CARGO_BIN_EXE_calib"));
        let script =
            Command::new("script").args(["-qec", &line, "typescript"]).current_dir(place.path()).output();
        Run::from(script.unwrap())
    };
    let run = on_terminal("fit --method umd --bins 2 --scores cal.csv -o -");
    add("calib fit -o - on a terminal", &run);
    let run = on_terminal("apply cal.bin --scores names.csv -o -");
    assert!(run.code == 0 && run.stdout.contains("a\\u{1b}]0;title\\u{7},0.5,"), "{run:?}");
    said!();
}

/// What a command wrote, for programs.
#[test]
fn what_was_written_is_told_as_json() {
    let place = good();
    let len = |name: &str| place.bytes(name).len();
    let got = place.json("calib apply cal.bin --scores cal.csv -o out.csv --json");
    assert_eq!((&got["output"], &got["len_bytes"]), (&"out.csv".into(), &len("out.csv").into()));
    let rows = place.bytes("out.csv").iter().filter(|&&byte| byte == b'\n').count() - 1;
    assert_eq!((&got["rows"], &got["warnings"]), (&rows.into(), &serde_json::json!([])));
    assert_eq!(got["identity"], place.inspect("cal.bin")["identity"]);
    let got = place.json("calib export cal.bin -o cal.h --json");
    assert_eq!((&got["format"], &got["len_bytes"]), (&"c".into(), &len("cal.h").into()));
    let got = place.json("calib plot reliability cal.bin --test cal.csv --same-rows -o p.svg --json");
    assert_eq!((&got["format"], &got["len_bytes"]), (&"svg".into(), &len("p.svg").into()));
    assert_eq!(got["warnings"].list().len(), 1, "{got}");
    let got = place.json("calib keygen -o k.pem --json");
    assert_eq!((&got["private_key"], &got["public_key"]), (&"k.pem".into(), &"k.pem.pub".into()));
    place.ok("calib fit --method umd --bins 2 --scores cal.csv --counter 1 -o counted.bin");
    let signed = place.json("calib sign counted.bin --key k.pem -o signed.bin --json");
    assert_eq!((&signed["key"], &signed["counter"]), (&got["key"], &1.into()));
    assert_eq!(
        (&signed["len_bytes"], &signed["warnings"]),
        (&len("signed.bin").into(), &serde_json::json!([]))
    );
    assert_eq!(place.json("calib verify signed.bin --key k.pem.pub --json")["key"], got["key"]);
}

#[test]
fn an_extension_of_another_kind_of_file_is_refused() {
    let place = good();
    for line in [
        "report cal.bin --calibration cal.csv --test cal.csv --same-rows -o r.pdf",
        "plot reliability cal.bin --test cal.csv --same-rows -o x.jpg",
    ] {
        let before = place.everything();
        place.says(&format!("calib {line}"));
        assert_eq!(place.everything(), before);
    }
    place.ok("calib plot reliability cal.bin --test cal.csv --same-rows -o x.jpg --format svg");
    said!();
}

#[test]
fn an_output_is_called_what_it_is() {
    let place = good();
    let before = place.everything();
    for command in [
        "fit --method umd --bins 5 --scores cal.csv",
        "sets --scores cal.csv --alpha 0.2",
        "threshold --scores cal.csv --sensitivity 0.9",
        "adjust cal.bin --prevalence 0.1",
    ] {
        for extension in ["h", "pdf", "html", "csv", "png"] {
            place.says(&format!("calib {command} -o x.{extension}"));
        }
    }
    for line in ["plan --n 500 --svg p.png", "bins --scores cal.csv --svg p.png"] {
        place.says(&format!("calib {line}"));
    }
    assert_eq!(place.everything(), before);
    for output in ["x", "x.art", "x.CAL", "v1.2"] {
        place.ok(&format!("calib fit --method umd --bins 5 --scores cal.csv -o {output}"));
    }
    said!();
}

#[test]
fn an_epsilon_alone_is_answered_with_the_points_that_it_takes() {
    let place = Workplace::new();
    let run = place.says("calib plan --epsilon 0.05");
    let json = place.json("calib plan --epsilon 0.05 --json");
    let plans = json["curve"].list();
    assert!(plans.len() > 3, "{}", run.stdout);
    for plan in plans {
        let (n, bins) = (plan["n"].whole(), plan["bins"].whole());
        assert!(run.stdout.lines().any(|line| line.ends_with(&format!(" {n}"))), "{n}: {}", run.stdout);
        let kept =
            place.json(&format!("calib plan --n {n} --bins {bins} --json"))["answer"]["epsilon"].number();
        assert!(kept <= 0.05, "{plan}");
        let fewer = place.json(&format!("calib plan --n {} --bins {bins} --json", n - bins));
        assert!(fewer["answer"]["epsilon"].number() > 0.05, "{plan}");
    }
    // Who has too few is told how many it takes.
    let run = place.says("calib plan --n 100 --epsilon 0.05");
    let needed = format!("; two bins need {}", plans[0]["n"]);
    assert!(run.stderr.contains(&needed), "{needed}: {}", run.stderr);
    said!();
}

#[test]
fn numbers_are_read_as_people_write_them() {
    let place = Workplace::new();
    let plain = place.ok("calib plan --n 100000 --epsilon 0.05 --alpha 0.1").stdout;
    assert_eq!(place.ok("calib plan --n 1e5 --epsilon 5% --alpha 10%").stdout, plain);
    assert_eq!(place.ok("calib plan --n 100_000 --epsilon .05").stdout, plain);
    place.says("calib plan --n 2.5 --epsilon 0.05");
    said!();
}
