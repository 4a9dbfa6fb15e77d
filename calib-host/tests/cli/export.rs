//! `calib export`, with the C compiled by the host's compiler and compared bit for bit.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use calib_core::{Calibrator, Score};
use calib_host::StoredArtifact;

use super::workplace::Workplace;

const MAIN: &str = r#"
#include "cal.h"
#include <stdio.h>
int main(void) {
    unsigned bits;
    while (scanf("%x", &bits) == 1) {
        struct calib_result r = {0, 0, 0};
        uint32_t prob, epsilon;
        float score;
        memcpy(&score, &bits, 4);
        int status = calib_calibrate(0, score, &r);
        memcpy(&prob, &r.prob, 4);
        memcpy(&epsilon, &r.epsilon, 4);
        printf("%d %u %08x %08x\n", status, (unsigned)r.bin, (unsigned)prob, (unsigned)epsilon);
    }
    struct calib_result r;
    return calib_calibrate(1, 0.5f, &r) == CALIB_UNCALIBRATED ? 0 : 1;
}
"#;

/// Scores in steps of 1/400 up to 0.75, so that bins of equal width above are empty.
fn fitted(method: &str) -> Workplace {
    let rows: String = (0..300).fold("score,label\n".into(), |mut rows, i| {
        let _ = writeln!(rows, "{},{}", f64::from(i) / 400.0, u8::from(i % 30 < i / 10));
        rows
    });
    let place = Workplace::new().with("cal.csv", rows);
    let run = place.command(&format!("fit --method {method} --scores cal.csv -o cal.bin")).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    place
}

fn compile(place: &Workplace, compiler: &str, arguments: &[&str]) {
    let built = Command::new(compiler)
        .args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion", "-Wshadow"])
        .args(arguments)
        .current_dir(place.path())
        .output()
        .expect("a compiler for C and C++: Rust's linker needs one, too");
    assert!(built.status.success(), "{compiler}: {}", String::from_utf8_lossy(&built.stderr));
}

#[test]
fn c_agrees_with_calib_core_bit_for_bit() {
    for method in ["fixed-width --bins 20", "umd --bins 15", "isotonic", "umd --bins 1"] {
        let place = fitted(method);
        let run = place.command("export cal.bin --format c -o cal.h").output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let place = place.with("main.c", MAIN);
        compile(&place, "cc", &["-std=c99", "-O2", "main.c", "-o", "main"]);
        // What no compiler of the field objects to, the C++ ones included.
        compile(&place, "c++", &["-std=c++11", "-fsyntax-only", "-x", "c++", "main.c"]);

        let stored = StoredArtifact::from_bytes(&place.bytes("cal.bin")).unwrap();
        let artifact = stored.artifact();
        let Calibrator::Binary(calibrator) = artifact.calibrator() else { panic!("not binary") };
        let edges = artifact.tables().get(0).unwrap().form.edges().to_vec();
        let mut scores: Vec<f32> = (0..=20_000).map(|i| i as f32 / 20_000.0).collect();
        scores.extend(edges.iter().flat_map(|edge| [edge.next_down(), *edge, edge.next_up()]));
        let odd =
            [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, -0.1, 1.0f32.next_up(), f32::MAX];
        scores.extend(odd);
        scores.extend([f32::from_bits(1), 1.0f32.next_down()]);

        let input: String = scores.iter().fold(String::new(), |mut input, score| {
            let _ = writeln!(input, "{:x}", score.to_bits());
            input
        });
        let mut child = Command::new(place.path().join("main"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let feeder = std::thread::spawn(move || stdin.write_all(input.as_bytes()).unwrap());
        let output = child.wait_with_output().unwrap();
        feeder.join().unwrap();
        assert!(output.status.success(), "a table that is not there is uncalibrated");
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(text.lines().count(), scores.len());
        for (score, line) in scores.iter().zip(text.lines()) {
            let expected = match Score::new(*score) {
                Err(_) => "1 0 00000000 00000000".to_owned(),
                Ok(score) => {
                    let c = calibrator.calibrate(score);
                    let epsilon = c.epsilon.unwrap_or(-1.0);
                    format!("0 {} {:08x} {:08x}", c.bin, c.prob.to_bits(), epsilon.to_bits())
                }
            };
            assert_eq!(line, expected, "{method}: score {score}");
        }
    }
}

#[test]
fn the_artefact_itself_is_exported_unchanged() {
    let place = fitted("isotonic");
    let run = place.command("export cal.bin --format bin -o copy.bin").output().unwrap();
    assert!(run.status.success());
    assert_eq!(place.bytes("copy.bin"), place.bytes("cal.bin"));
}

#[test]
fn what_has_no_source_code_is_a_wrong_use() {
    let place = fitted("platt");
    let run = place.command("export cal.bin --format c -o cal.h").output().unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stderr).contains("only step tables"));
    assert!(!place.path().join("cal.h").exists());
}
