//! `calib bundle`: what is in the folder, that equal inputs give equal bytes, and what is refused.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use calib_host::io::decision_log::{Decision, LogWriter};
use calib_host::io::files::{PrivateKey, read_artifact};
use calib_host::io::protocol::{self, Case, measure, read_protocol};
use calib_host::{BinaryData, Dataset};
use serde_json::{Value, json};
use tar::{Builder, EntryType, Header};

use crate::data::Json;
use crate::workplace::Workplace;

/// A bundle of a signed artifact with groups, an owner's statement, a protocol and a log.
pub(crate) const BUNDLE: &str = "calib bundle signed.cal --calibration cal.csv --test test.csv --group-column ward \
                                 --bootstrap 20 --about about.toml --protocol protocol.toml --log log.jsonl \
                                 --key owner.pem";

const ABOUT: &str = "users = [\"ward staff\"]\nuses = [\"triage\"]\nmisuses = [\"children\"]\nlimits = [\"one hospital\"]\n\
                     [model]\nname = \"ecg-net\"\nversion = \"3\"\n[answers]\n\"TRIPOD+AI 3a\" = \"see <our> study\"\n";

/// Scores of which each says half of the event rate, by another draw for every seed.
fn draws(n: u32, seed: u64) -> Vec<(f64, bool)> {
    let mut state = seed;
    let mut uniform = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    (0..n).map(|_| (uniform(), uniform())).map(|(score, other)| (score, other < score / 2.0)).collect()
}

/// A table of them. Every score has more digits than a figure of a report shows.
fn table(rows: &[(f64, bool)]) -> String {
    let row = |(at, (score, label)): (usize, &(f64, bool))| {
        format!("{score:.9},{},{}\n", u8::from(*label), if at % 2 == 0 { "A" } else { "B" })
    };
    "score,label,ward\n".to_owned() + &rows.iter().enumerate().map(row).collect::<String>()
}

/// A folder with all that goes into a bundle, and the bundle in `evidence`.
pub(crate) fn evidence() -> Workplace {
    let (calibration, test) = (draws(1200, 1), draws(700, 2));
    let place = Workplace::new()
        .with("cal.csv", table(&calibration))
        .with("test.csv", table(&test))
        .with("about.toml", ABOUT);
    place.ok("calib keygen -o owner.pem");
    place.ok("calib keygen -o other.pem");
    place.ok("calib fit cal.csv --method umd --bins 6 --counter 1 -o cal.cal");
    decided(&place, &test);
    place.ok(&format!("{BUNDLE} -o evidence"));
    place
}

/// Writes a protocol, a log in which two artifacts are refused after this one is signed, and the signed artifact.
fn decided(place: &Workplace, test: &[(f64, bool)]) {
    let path = |name: &str| place.path().join(name);
    let key = PrivateKey::read(&path("owner.pem")).unwrap();
    let (before, after) = protocol::STARTER.split_once("keys = [").unwrap();
    let rest = after.split_once("]\n").unwrap().1;
    let text = format!("{before}keys = [\"{}\"]\n{rest}", key.public())
        .replace("interval_width = 0.5 ", "epsilon = 0.2 ")
        .replace("[\"blend\", ", "[\"umd\", ");
    fs::write(path("protocol.toml"), text).unwrap();
    let protocol = read_protocol(&path("protocol.toml")).unwrap();
    let (scores, labels) = test.iter().copied().unzip();
    let rows = Dataset::from(BinaryData::new(scores, labels).unwrap().on_device());
    let mut writer = LogWriter::open(&path("log.jsonl")).unwrap();
    let mut decide = |name: &str, output: &str| {
        let new = read_artifact(&path(name)).unwrap();
        let measured = measure(&protocol, (&new, None), &rows, None).unwrap();
        let public = key.public();
        let history = writer.log().history(&protocol, &new, &measured, &public);
        let case = Case {
            new: &new,
            active: None,
            measured: &measured,
            key: &public,
            approves: false,
            history: &history,
        };
        let output = path(output);
        writer.decide(&key, &protocol, &case, (Some((&output, true)), 0)).unwrap().entry
    };
    let signed = decide("cal.cal", "signed.cal");
    assert_eq!(signed.decision, Decision::Signed, "{:?}", signed.lines);
    for bins in [2, 3] {
        place.ok(&format!("calib fit cal.csv --method umd --bins {bins} --counter 2 -o next{bins}.cal"));
        // The rows are not fresh.
        assert_eq!(decide(&format!("next{bins}.cal"), "no.cal").decision, Decision::Refused);
    }
}

/// The files of a folder.
pub(crate) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())).collect()
}

/// The one place of the tests that only read.
fn shared() -> &'static Workplace {
    static PLACE: OnceLock<Workplace> = OnceLock::new();
    PLACE.get_or_init(evidence)
}

#[test]
fn a_bundle_is_checked_with_and_without_the_rows() {
    let place = shared();
    let checked =
        place.json("calib bundle --check evidence --key owner.pem.pub --rows test.csv cal.csv --json");
    assert_eq!(checked["lie"], Value::Null);
    let steps = |found: &Value, is_checked: bool| -> Vec<String> {
        let steps = found["steps"].list().iter().filter(|step| step["is_checked"] == is_checked);
        steps.map(|step| step["what"].text().to_owned()).collect()
    };
    let all = [
        "files",
        "owner",
        "statement",
        "claims",
        "artifact",
        "report",
        "changes",
        "materials",
        "checklist",
        "rows",
    ];
    assert_eq!(steps(&checked, true), all);
    let without = place.json("calib bundle --check evidence --json");
    assert_eq!(steps(&without, false), ["owner", "rows"]);
    assert_eq!(place.run("calib bundle --check evidence").code, 0);
}

#[test]
fn claims_are_the_figures_of_the_report_and_of_assess() {
    let place = shared();
    let claims: Value =
        serde_json::from_slice(&files(&place.path().join("evidence"))["claims.json"]).unwrap();
    let words: Vec<&str> = claims["command"].list().iter().map(Value::text).collect();
    // The command of the claims does what it says, beside the rows.
    fs::copy(place.path().join("signed.cal"), place.path().join("artifact.cal")).unwrap();
    let report = place.json(&words.join(" "));
    let mut shown = 0;
    for claim in claims["claims"].list() {
        let value = report.pointer(claim["source"].text()).unwrap_or(&Value::Null);
        assert_eq!(value, &claim["value"], "{claim}");
        shown += u32::from(claim["shown"] == true);
    }
    for sentence in claims["sentences"].list() {
        assert_eq!(report.pointer(sentence["source"].text()).unwrap(), &sentence["text"]);
    }
    assert!(claims["claims"].list().len() > 2000 && shown > 50, "{shown}");
    let assessed = place.json("calib assess signed.cal --scores test.csv --bootstrap 20 --json");
    let claim = |id: &str| claims["claims"].list().iter().find(|claim| claim["id"] == id).unwrap();
    for metric in ["brier", "conf_ece", "auc", "log_loss"] {
        let claim = claim(&format!("metrics.after.{metric}"));
        assert_eq!(claim["value"], assessed["after"][metric]["value"]);
        assert_eq!(claim["interval"], assessed["after"][metric]["interval"]);
    }
    assert_eq!(claim("metrics.after.log_loss")["unit"], "nats");
    assert_eq!(claim("groups.groups.1.brier")["slice"], "B");
}

/// The same inputs give the same bytes, wherever and whenever.
#[test]
fn a_bundle_has_the_same_bytes_in_another_folder_and_time_zone() {
    let place = shared();
    let made = |folder: &Path, zone: &str, epoch: Option<&str>| {
        let (evidence, archive) = (folder.join("evidence"), folder.join("evidence.tar"));
        let absolute = |name: &str| place.path().join(name).display().to_string();
        let line: Vec<String> = BUNDLE
            .split_whitespace()
            .skip(1)
            .map(|word| if place.path().join(word).is_file() { absolute(word) } else { word.into() })
            .collect();
        let mut command = place.command("");
        command.args(line).arg("-o").arg(&evidence).arg("--archive").arg(&archive).env("TZ", zone);
        command.env_remove("SOURCE_DATE_EPOCH").envs(epoch.map(|epoch| ("SOURCE_DATE_EPOCH", epoch)));
        let run = command.current_dir(folder).output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        (files(&evidence), fs::read(archive).unwrap())
    };
    let folders = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let one = made(folders[0].path(), "UTC", None);
    let other = made(folders[1].path(), "Asia/Kathmandu", None);
    assert!(one == other);
    assert!(one.0 == files(&place.path().join("evidence")));
    let dated = made(folders[2].path(), "UTC", Some("951782400"));
    assert!(one.1 != dated.1);
    assert!(
        String::from_utf8_lossy(&dated.0["bom.cdx.json"]).contains("\"timestamp\": \"2000-02-29T00:00:00Z\"")
    );
    let check = place.command("bundle --check").arg(folders[2].path().join("evidence.tar")).output().unwrap();
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
}

/// Of the rows there are hashes and counts: no row, and no score but those that bound the calibrator's bins.
#[test]
fn no_row_is_in_a_bundle() {
    let place = shared();
    let all = files(&place.path().join("evidence"));
    let everywhere: String = all.values().map(|bytes| String::from_utf8_lossy(bytes)).collect();
    let words = everywhere.split(|c: char| !c.is_ascii_digit() && c != '.');
    let mut numbers: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
    numbers.sort_by(f64::total_cmp);
    let mut found = Vec::new();
    for name in ["cal.csv", "test.csv"] {
        let table = place.text(name);
        let rows: Vec<&str> = table.lines().skip(1).collect();
        assert!(rows.iter().all(|row| !everywhere.contains(row)), "{name}");
        let scores = rows.iter().map(|row| row.split(',').next().unwrap().parse::<f64>().unwrap());
        // As far from a score as its rounding to 32 bits may be.
        let is_there = |score: &f64| {
            let at = numbers.partition_point(|number| *number < score - 3e-8);
            numbers.get(at).is_some_and(|number| *number <= score + 3e-8)
        };
        found.push(scores.filter(is_there).count());
    }
    // Six bins have five edges between them, and a least and a greatest score, which are rounded outward.
    assert!(found[0] <= 7 && found[1] == 0, "{found:?}");
}

#[test]
fn what_makes_no_bundle_is_refused_before_anything_is_written() {
    let place = evidence();
    place.ok("calib sign cal.cal --key other.pem -o others.cal");
    fs::write(place.path().join("stray.toml"), "uses = [\"triage\"]\nuse = 1\n").unwrap();
    fs::write(place.path().join("typo.toml"), "[answers]\n\"TRIPOD+AI 3A\" = \"yes\"\n").unwrap();
    fs::write(place.path().join("cut.jsonl"), &place.bytes("log.jsonl")[..300]).unwrap();
    for line in [
        "calib bundle cal.cal --calibration cal.csv --test test.csv --key owner.pem -o new",
        "calib bundle others.cal --calibration cal.csv --test test.csv --key owner.pem -o new",
        "calib bundle signed.cal --calibration cal.csv --test missing.csv --key owner.pem -o new",
        "calib bundle signed.cal --calibration cal.csv --test cal.csv --key owner.pem -o new",
        "calib bundle signed.cal --calibration cal.csv --test test.csv --key owner.pem -o evidence",
        "calib bundle signed.cal --calibration cal.csv --test test.csv --key owner.pem -o no/folder",
        "calib bundle signed.cal --calibration cal.csv --test test.csv --key owner.pem --about stray.toml -o new",
        "calib bundle signed.cal --calibration cal.csv --test test.csv --key owner.pem --about typo.toml -o new",
        "calib bundle signed.cal --calibration cal.csv --test test.csv --key owner.pem --log cut.jsonl -o new",
        "calib bundle signed.cal --calibration cal.csv --key owner.pem -o new",
        "calib bundle --check evidence --test test.csv",
        "calib bundle --check missing",
        "calib bundle --check evidence --key owner.pem",
    ] {
        place.says(line);
        assert!(!place.path().join("new").exists(), "{line}");
    }
    said!();
}

#[test]
fn a_starter_is_a_protocol() {
    let place = shared();
    assert_eq!(place.ok("calib bundle --starter").stdout, protocol::STARTER);
}

/// An archive with entries of these kinds.
fn archive(entries: &[(&str, EntryType, &[u8])]) -> Vec<u8> {
    let mut tar = Builder::new(Vec::new());
    for (name, kind, bytes) in entries {
        let mut header = Header::new_gnu();
        // What a careful writer refuses, a hostile one writes.
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(bytes.len() as u64);
        if *kind == EntryType::Symlink {
            header.set_link_name("/etc/passwd").unwrap();
        }
        header.set_cksum();
        tar.append(&header, *bytes).unwrap();
    }
    tar.into_inner().unwrap()
}

#[test]
fn a_hostile_archive_or_folder_is_named() {
    let place = Workplace::new();
    let lie = |name: &str| {
        let run = place.run(&format!("calib bundle --check {name} --json"));
        assert_eq!(run.code, 1, "{}", run.stderr);
        run.json()["lie"]["name"].text().to_owned()
    };
    let file = EntryType::Regular;
    let mut oversized = archive(&[("claims.json", file, b"{}")]);
    // The size of the entry, in octal: 8 GiB less a byte.
    oversized[124..135].copy_from_slice(b"77777777777");
    let mut header = Header::from_byte_slice(&oversized[..512]).clone();
    header.set_cksum();
    oversized[..512].copy_from_slice(header.as_bytes());
    for (expected, bytes) in [
        ("path", archive(&[("../claims.json", file, b"{}")])),
        ("path", archive(&[("/claims.json", file, b"{}")])),
        ("not-a-file", archive(&[("claims.json", EntryType::Symlink, b"")])),
        ("not-a-file", archive(&[("claims.json", EntryType::Link, b"")])),
        ("not-a-file", archive(&[("claims.json", EntryType::Char, b"")])),
        ("stray-file", archive(&[("rows.csv", file, b"0.5,1")])),
        ("stray-file", archive(&[("folder/claims.json", file, b"{}")])),
        ("file-twice", archive(&[("claims.json", file, b"{}"), ("claims.json", file, b"{}")])),
        ("too-large", oversized),
        ("missing-file", archive(&[("claims.json", file, b"{}")])),
        ("archive", b"PK\x03\x04 not a tar archive".repeat(100)),
        ("archive", Vec::new()),
    ] {
        fs::write(place.path().join("hostile.tar"), bytes).unwrap();
        assert_eq!(lie("hostile.tar"), expected);
    }
    let folder = place.path().join("hostile");
    fs::create_dir(&folder).unwrap();
    assert_eq!(lie("hostile"), "missing-file");
    fs::create_dir(folder.join("claims.json")).unwrap();
    assert_eq!(lie("hostile"), "not-a-file");
    fs::remove_dir(folder.join("claims.json")).unwrap();
    // A file of 300 MB that takes no place on the disk.
    fs::File::create(folder.join("report.html")).unwrap().set_len(300 << 20).unwrap();
    assert_eq!(lie("hostile"), "too-large");
    #[cfg(unix)]
    {
        fs::remove_file(folder.join("report.html")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.join("report.html")).unwrap();
        assert_eq!(lie("hostile"), "not-a-file");
    }
}

#[test]
fn the_bill_of_materials_has_the_figures_and_the_packages() {
    let all = files(&shared().path().join("evidence"));
    let bom: Value = serde_json::from_slice(&all["bom.cdx.json"]).unwrap();
    let claims: Value = serde_json::from_slice(&all["claims.json"]).unwrap();
    let card = &bom["metadata"]["component"]["modelCard"];
    let shown: Vec<&Value> = claims["claims"].list().iter().filter(|claim| claim["shown"] == true).collect();
    let metrics = card["quantitativeAnalysis"]["performanceMetrics"].list();
    assert_eq!(metrics.len(), shown.len());
    for (metric, claim) in metrics.iter().zip(shown) {
        assert_eq!((&metric["type"], metric["value"].text()), (&claim["id"], &*claim["value"].to_string()));
    }
    assert_eq!(card["considerations"]["useCases"], json!(["triage"]));
    let names: Vec<&str> =
        bom["components"].list().iter().map(|component| component["name"].text()).collect();
    assert_eq!(names[..4], ["ecg-net", "cal.csv", "test.csv", "calib"]);
    for package in ["calib-core", "calib-fit", "calib-io", "ed25519-dalek", "serde_json"] {
        assert!(names.contains(&package), "{package}");
    }
    // What only tests need is no part of the program.
    assert!(!names.contains(&"insta") && !names.contains(&"proptest"));
    let rows = &bom["components"][1]["data"][0]["contents"]["properties"][0];
    assert_eq!(rows, &json!({"name": "calib:rows", "value": "1200"}));
}
