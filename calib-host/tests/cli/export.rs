//! `calib export`. What it writes is compiled and run by `tests/tests/e2e/exported`.

use std::fmt::Write as _;

use calib_host::StoredArtifact;
use calib_host::io::export::{export_c, export_rust};

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
        assert_eq!(place.text(&format!("out.{format}")), expected);
    }
}

#[test]
fn the_extension_tells_the_form() {
    let place = fitted("umd --bins 5");
    for (file, format) in
        [("cal.h", "c"), ("cal.HPP", "c"), ("cal.rs", "rust"), ("copy.cal", "bin"), ("x.bin", "bin")]
    {
        place.ok(&format!("calib export cal.bin -o {file}"));
        place.ok(&format!("calib export cal.bin --format {format} -o said --force"));
        assert_eq!(place.bytes(file), place.bytes("said"), "{file}");
    }
    place.says("calib export cal.bin -o cal.txt");
    said!();
}

/// The decimals beside the bits give the same floats, and the first comment has alpha and a function that calls the tables.
#[test]
fn what_is_exported_can_be_read() {
    let place = fitted("umd --bins 5 --alpha 0.2");
    let stored = StoredArtifact::from_bytes(&place.bytes("cal.bin")).unwrap();
    for text in [export_c(&stored, "cal").unwrap(), export_rust(&stored, "CAL").unwrap()] {
        assert!(text.contains("alpha 0.2, epsilon 0."), "{text}");
        assert!(text.contains("example("), "{text}");
        let start = text.find("below: ").unwrap();
        let decimals = text[start..].split("*/").next().unwrap().split("Some(").next().unwrap();
        let decimals = decimals.replace("//", "");
        let pairs: Vec<&str> = decimals.split("; ").collect();
        assert_eq!(pairs.len(), 5, "{decimals}");
        let bits = |number: &str| number.trim().parse::<f32>().unwrap().to_bits();
        for (bin, pair) in pairs.into_iter().enumerate() {
            let (from, value) = pair.split_once(": ").unwrap();
            assert!(text.contains(&format!("{:#010x}", bits(value))), "{pair}");
            assert!(bin == 0 || text.contains(&format!("{:#010x}", bits(from))), "{pair}");
        }
    }
}

#[test]
fn the_artifact_itself_is_exported_unchanged() {
    let place = fitted("isotonic");
    let run = place.command("export cal.bin --format bin -o copy.bin").output().unwrap();
    assert!(run.status.success());
    assert_eq!(place.bytes("copy.bin"), place.bytes("cal.bin"));
}

#[test]
fn a_function_in_c_is_the_function() {
    let place = fitted("platt");
    place.says("calib export cal.bin -o cal.h");
    let header = String::from_utf8(place.bytes("cal.h")).unwrap();
    assert!(header.contains("return calib_sigmoid(calib_times(a, x) + b);"), "{header}");
    said!();
}

#[test]
fn what_has_no_source_code_is_a_wrong_use() {
    let place = fitted("umd --bins 4 --monitor --monitor-action alarm");
    place.says("calib export cal.bin --format c -o cal.h");
    let probs = (0..90).map(|i| format!("{},0.7,0.2,0.1\n", [0, 0, 1, 2][i % 4])).collect::<String>();
    let place = place.with("three.csv", format!("label,a,b,c\n{probs}"));
    place
        .ok("calib fit --method temperature --log-probs --probs three.csv --score-column a,b,c -o joint.cal");
    place.ok("calib sets --scores cal.csv --alpha 0.1 -o sets.cal");
    for artifact in ["joint", "sets"] {
        place.says(&format!("calib export {artifact}.cal --format rust -o cal.rs"));
        place.ok(&format!("calib export {artifact}.cal -o {artifact}.h"));
    }
    assert!(!place.path().join("cal.rs").exists() && !place.path().join("cal.h").exists());
    said!();
}
