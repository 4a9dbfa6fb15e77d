//! Long work shows how far it is on a terminal, and nowhere else.

use std::fs::{self, File};
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use calib_tests::{calib, terminals};

/// What a comparison that takes a while says on a terminal, with these options.
fn said_on_a_terminal(options: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..4000)
        .map(|row| format!("{},{}\n", f64::from(row) / 4000.0, u8::from(row % 40 < row / 200)))
        .collect();
    fs::write(folder.path().join("scores.csv"), format!("score,label\n{rows}")).unwrap();
    let (mut near, name, far) = terminals().unwrap();
    let stderr = File::options().write(true).open(&name).unwrap();
    let mut child = Command::new(calib())
        .current_dir(folder.path())
        .args(["compare", "--scores", "scores.csv", "--folds", "5", "--repeats", "4"])
        .args(options)
        .env("TERM", "xterm")
        .env_remove("NO_COLOR")
        .stdout(Stdio::null())
        .stderr(stderr)
        .spawn()
        .unwrap();
    let has_ended = AtomicBool::new(false);
    let (ended, said) = thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let (mut said, mut part) = (Vec::new(), [0; 4096]);
            loop {
                // Asked for before: what is written until then is read still.
                let is_last = has_ended.load(Ordering::SeqCst);
                match near.read(&mut part) {
                    Ok(len @ 1..) => said.extend_from_slice(&part[..len]),
                    // Nobody has written for as long as the port waits.
                    _ if is_last => return String::from_utf8_lossy(&said).into_owned(),
                    _ => {}
                }
            }
        });
        let ended = child.wait().unwrap();
        has_ended.store(true, Ordering::SeqCst);
        (ended, reader.join().unwrap())
    });
    drop(far);
    assert!(ended.success(), "{ended}: {said}");
    said
}

#[test]
fn a_comparison_shows_its_fits_on_a_terminal() {
    let said = said_on_a_terminal(&[]);
    assert!(said.contains(" fits, ") && said.contains("next: calib fit"), "{said:?}");
    // What is shown meanwhile is taken away again: the line of the bar is cleared.
    let (_, after) = said.rsplit_once(" fits, ").unwrap();
    assert!(after.contains("\u{1b}[2K"), "{after:?}");
    assert!(!said_on_a_terminal(&["--quiet"]).contains("fits"));
}
