//! Progress, which is for who looks at a terminal.

use std::process::{Command, Stdio};

use crate::data::{binary, csv};
use crate::workplace::Workplace;

/// What a command line leaves on a terminal, which `script` stands in for.
fn on_a_terminal(place: &Workplace, line: &str) -> String {
    let calib = env!("CARGO_BIN_EXE_calib");
    let line = line.replacen("calib", calib, 1);
    let mut script = Command::new("script");
    match cfg!(target_os = "linux") {
        true => script.args(["-q", "-e", "-c", &line, "/dev/null"]),
        false => script.args(["-q", "/dev/null"]).args(line.split_whitespace()),
    };
    let run = script.current_dir(place.path()).env("TERM", "xterm").stdin(Stdio::null()).output().unwrap();
    let screen = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(run.status.success(), "{line}: {screen}");
    screen
}

#[test]
fn progress_is_shown_on_a_terminal_and_nowhere_else() {
    let place = Workplace::new().with("cal.csv", csv(&binary(900)));
    let line = "calib compare --scores cal.csv --methods umd,platt --folds 5 --repeats 4 --bootstrap 100";
    let screen = on_a_terminal(&place, line);
    assert!(screen.contains(" fits, ") && screen.contains("uncalibrated"), "{screen}");
    // What is drawn is taken away again.
    assert!(screen.contains("\u{1b}["), "{screen}");
    let silent = on_a_terminal(&place, &format!("{line} --quiet"));
    assert!(!silent.contains(" fits, ") && silent.contains("uncalibrated"), "{silent}");
    place.says(line);
    said!();
}
