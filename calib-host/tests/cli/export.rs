//! `calib export`. What it writes is compiled and run by `tests/tests/e2e/exported`.

use std::fmt::Write as _;

use calib_host::StoredArtifact;
use calib_host::export::{export_c, export_rust};

use super::workplace::Workplace;

/// Scores in steps of 1/400 up to 0.75.
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

#[test]
fn source_code_is_that_of_the_library() {
    let place = fitted("umd --bins 15");
    let stored = StoredArtifact::from_bytes(&place.bytes("cal.bin")).unwrap();
    for (format, expected) in
        [("c", export_c(&stored, "mine").unwrap()), ("rust", export_rust(&stored, "MINE").unwrap())]
    {
        let export = format!("export cal.bin --format {format} --name mine -o out.{format}");
        let run = place.command(&export).output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        assert_eq!(String::from_utf8(place.bytes(&format!("out.{format}"))).unwrap(), expected);
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
    assert!(String::from_utf8_lossy(&run.stderr).contains("fit a method with tables"));
    assert!(!place.path().join("cal.h").exists());
}
