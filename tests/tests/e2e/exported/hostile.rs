//! Names that try to become code: what compiles is what plain names give.

use std::fs;
use std::path::Path;

use calib_core::artifact::{
    ArtifactWriter, Guarantee, Header, HeaderFlags, Method, Provenance, Reduction, Table, TableForm, Theorem,
};
use calib_core::decision::{
    Accuracy, AccuracyGuarantee, Conformity, OperatingParts, Quantile, Quantiles, SetParts, Threshold,
    Thresholds,
};
use calib_core::{Identity, ScoreEncoding, StepTable};
use calib_host::StoredArtifact;
use calib_host::io::export::export_c;

use super::artifacts::Exportable;
use super::{compare, in_c, in_rust};

/// Ends and beginnings of comments, trigraphs, continued lines and marks of direction, around definitions that would be seen.
const NAMES: [&str; 12] = [
    "M*/int pwned=1;/*",
    "*/int pwned2(void);/*",
    "*",
    "/int pwned3=3;/*",
    "*\\",
    "*??/",
    "??/",
    "// pwned \\",
    "\u{202e}pwned\u{2066}",
    "\u{2028}int pwned4=4;",
    "\";int pwned5=5;//",
    "\u{e9}'; static PWNED: u8",
];

/// Tables and thresholds of these groups, made with these words.
fn artifact(names: &[&str], words: &str, with_sets: bool) -> StoredArtifact {
    let provenance =
        Provenance { data_sha256: [3; 32], tool_version: words, parameters: words, classifier: None };
    let guarantee = Guarantee { epsilon: 0.25, alpha: 0.1, theorem: Theorem::Gr21Theorem3 };
    let (reduction, classes, bins, flags) = match with_sets {
        true => (Reduction::Confidence, 3, 2, HeaderFlags::NONE),
        false => (Reduction::Binary, 2, 2 * names.len() as u32, HeaderFlags::GROUPED),
    };
    let header = Header {
        method: Method::Umd,
        reduction,
        encoding: ScoreEncoding::F32,
        classes,
        bins,
        n: 1000,
        guarantee: Some(guarantee),
        flags,
        provenance,
    };
    let mut bytes = vec![0; 16_384];
    let mut writer = ArtifactWriter::new(&mut bytes);
    writer.header(&header).unwrap();
    let form = TableForm::Steps(StepTable::new(&[0.5], &[0.25, 0.75]).unwrap());
    let count = if with_sets { 1 } else { names.len() };
    writer.tables(&vec![Some(Table { form, epsilon: Some(0.25) }); count]).unwrap();
    if with_sets {
        let quantiles = Quantiles::All(Quantile { rows: 60, key: 1 });
        let parts = SetParts {
            conformity: Conformity::Score,
            never_empty: true,
            alpha: 0.1,
            confidence: None,
            quantiles,
        };
        writer.prediction_sets(&parts).unwrap();
    } else {
        let at = Threshold { key: 5, positives: 60, positives_above: 59, negatives: 60, negatives_above: 9 };
        let groups = vec![Thresholds { lower: at, upper: at }; names.len()];
        let guarantees = [AccuracyGuarantee {
            accuracy: Accuracy::Sensitivity,
            level: 0.95,
            confidence: 0.9,
            prevalence: None,
        }];
        writer
            .operating_points(&OperatingParts {
                groups: &groups,
                refer_raises: true,
                guarantees: &guarantees,
            })
            .unwrap();
        writer.groups(names).unwrap();
    }
    StoredArtifact::from_bytes(writer.finish(|_| Identity(*b"identity")).unwrap()).unwrap()
}

/// Every object of the hostile header is that of plain names, byte for byte: in C99, C11, with trigraphs, and in C++.
#[test]
fn no_name_becomes_code_in_c() {
    let plain: Vec<String> = (0..NAMES.len()).map(|index| format!("g{index}")).collect();
    let plain: Vec<&str> = plain.iter().map(String::as_str).collect();
    for with_sets in [false, true] {
        let objects = |names: &[&str], words: &str| {
            let folder = tempfile::tempdir().unwrap();
            let header = export_c(&artifact(names, words, with_sets), "calib").unwrap();
            fs::write(folder.path().join("cal.h"), header).unwrap();
            in_c::objects(folder.path())
        };
        let hostile = objects(&NAMES, "*/int pwned=1;/*??/");
        for (object, expected) in hostile.iter().zip(objects(&plain, "plain")) {
            assert!(*object == expected, "not the same object");
            assert!(!object.windows(5).any(|bytes| bytes == b"pwned"));
        }
    }
}

/// The tables in Rust compile, which marks of direction would not, and are those of the artifact.
#[test]
fn no_name_becomes_code_in_rust() {
    let stored = artifact(&NAMES, "*/ pwned \u{202e}", false);
    let all = [Exportable { name: "hostile".into(), stored }];
    let folder = tempfile::tempdir().unwrap();
    let expected = in_rust::expected(&all);
    compare("hostile", "Rust", &in_rust::looked_up(folder.path(), &all), &expected);
    let source = fs::read_to_string(Path::new(folder.path()).join("src/hostile.in")).unwrap();
    assert!(source.contains("0 M*\\u{2f}int pwned=1;/\\u{2a}"), "{source}");
}
