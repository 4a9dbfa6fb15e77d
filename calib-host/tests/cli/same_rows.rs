//! Rows that something was fitted to are not what it is judged by, unless that is asked for.

use calib_core::artifact::ArtifactWriter;
use calib_host::StoredArtifact;
use calib_host::artifact::{SAMPLE_SECTION, SKETCH_SECTION, identity};

use crate::data::{CLASSES, UMD_FIT, binary, csv, matrix};
use crate::decide::COSTS;
use crate::npy::{f32s, labels};
use crate::transcript::quote;
use crate::workplace::Workplace;

/// The calibration data, the same rows in another order and another format, and the rows with one label changed.
fn place() -> Workplace {
    let rows = binary(400);
    let mut turned = rows.clone();
    turned.reverse();
    let lines = turned.iter().map(|(score, label)| format!("{{\"label\":{label},\"score\":{score}}}\n"));
    let mut other = rows.clone();
    other[7].1 = 1 - other[7].1;
    let place = Workplace::new()
        .with("cal.csv", csv(&rows))
        .with("turned.jsonl", lines.collect::<String>())
        .with("other.csv", csv(&other))
        .with("costs.toml", COSTS);
    place.ok(UMD_FIT);
    place
}

/// Refuses the rows of the fit, lets them through by name with the warning first, and takes rows that differ in one label.
#[track_caller]
fn judges(place: &Workplace, form: &str, same: &str, other: &str) {
    let line = |rows: &str| form.replace("ROWS", rows);
    let before = place.everything();
    let refused = place.says(&line(same));
    assert_eq!((refused.stdout.as_str(), place.everything()), ("", before), "{form}");
    // Only what writes a file replaces one.
    let force = if form.contains(" -o ") { " --force" } else { "" };
    place.says(&format!("{} --same-rows{force}", line(same)));
    place.says(&format!("{}{force}", line(other)));
}

#[test]
fn every_command_that_judges_refuses_the_rows_of_the_fit() {
    let place = place();
    for form in [
        "calib assess cal.bin --scores ROWS",
        "calib report cal.bin --calibration cal.csv --test ROWS --bootstrap 20 -o report.html",
        "calib plot reliability cal.bin --test ROWS -o plot.svg",
        "calib decide --actions costs.toml cal.bin --scores ROWS --label-column label",
        "calib decide --actions costs.toml cal.bin --scores other.csv --validation ROWS",
    ] {
        judges(&place, form, "turned.jsonl", "other.csv");
    }
    let compare = "calib compare --methods umd,platt --bootstrap 20 --scores cal.csv --test ROWS";
    judges(&place, compare, "turned.jsonl", "other.csv");
    let bins = "calib bins --bins 2,5 --bootstrap 20 --scores cal.csv --test ROWS";
    judges(&place, bins, "turned.jsonl", "other.csv");
    // Without labels nothing is judged.
    place.says("calib decide --actions costs.toml cal.bin --scores cal.csv");
    said!();
}

/// Most rows of the fit are refused like all, and fewer are reported first.
#[test]
fn some_rows_of_the_fit_are_reported() {
    let (rows, others) = (binary(400), binary(1009));
    let part = csv(&[&rows[..150], &others[..450]].concat());
    let place =
        place().with("most.csv", csv(&rows[1..])).with("part.csv", part).with("new.csv", csv(&others));
    for form in [
        "calib assess cal.bin --scores ROWS --json",
        "calib report cal.bin --calibration cal.csv --test ROWS --bootstrap 20 --json",
    ] {
        let line = |rows: &str| form.replace("ROWS", rows);
        place.says(&line("most.csv"));
        let found = place.json(&format!("{} --same-rows", line("most.csv")));
        quote(&found["verdict"]["sentences"][0]);
        let found = place.json(&line("part.csv"));
        let share = found["verdict"]["overlap"]["share"].as_f64().unwrap();
        assert!((share - 0.25).abs() < 0.1, "{share}");
        assert_eq!(found["verdict"]["guarantee"], "not-tested");
        quote(&found["verdict"]["sentences"]);
        let found = place.json(&line("new.csv"));
        assert!(found["verdict"]["overlap"].is_null());
    }
    place.says("calib assess cal.bin --scores part.csv");
    for form in [
        "calib compare --methods umd,platt --bootstrap 20 --scores cal.csv --test ROWS",
        "calib bins --bins 2,5 --bootstrap 20 --scores cal.csv --test ROWS",
    ] {
        place.says(&form.replace("ROWS", "most.csv"));
    }
    said!();
}

#[test]
fn a_report_says_so_first() {
    let place = place();
    let report =
        "calib report cal.bin --calibration cal.csv --test turned.jsonl --bootstrap 20 --same-rows --json";
    let report = place.json(report);
    assert_eq!(report["origin"]["test_is_calibration"]["is_exact"], true);
    quote(&report["warnings"]);
    said!();
}

/// An artifact from before the hash is known by the bytes of its file alone.
#[test]
fn an_older_artifact_is_known_by_the_files() {
    let place = place();
    let older = without_section(&place.bytes("cal.bin"), SAMPLE_SECTION);
    let place = place.with("older.bin", older);
    assert!(place.inspect("older.bin")["sample"].is_null());
    place.says("calib assess older.bin --scores cal.csv");
    place.ok("calib assess older.bin --scores turned.jsonl");
    // Without a sketch all rows are known, and some are not.
    let plain = without_section(&place.bytes("cal.bin"), SKETCH_SECTION);
    let place = place.with("plain.bin", plain);
    place.says("calib assess plain.bin --scores turned.jsonl");
    place.ok("calib assess plain.bin --scores other.csv");
    said!();
}

/// An artifact without its section of this kind, which it has.
pub(crate) fn without_section(artifact: &[u8], left_out: u16) -> Vec<u8> {
    let stored = StoredArtifact::from_bytes(artifact).unwrap();
    let mut space = vec![0; artifact.len()];
    let mut writer = ArtifactWriter::new(&mut space);
    let (found, others): (Vec<_>, Vec<_>) = stored.sections().partition(|(kind, ..)| *kind == left_out);
    assert_eq!(found.len(), 1);
    for (kind, mandatory, payload) in others {
        writer.section(kind, mandatory, payload).unwrap();
    }
    writer.finish(identity).unwrap().to_vec()
}

#[test]
fn vectors_codes_counts_and_weights_are_known_again() {
    let data = matrix(400);
    let turned = |row: usize| (399 - row) * CLASSES..(400 - row) * CLASSES;
    let logits: Vec<f32> = (0..400).flat_map(|row| data.logits[turned(row)].to_vec()).collect();
    let mut other = data.labels.clone();
    other[3] = (other[3] + 1) % CLASSES as u8;
    let reversed: Vec<u8> = data.labels.iter().rev().copied().collect();
    let place = Workplace::new()
        .with("logits.npy", f32s(&[400, CLASSES], data.logits).bytes())
        .with("turned.npy", f32s(&[400, CLASSES], logits).bytes())
        .with("labels.npy", labels("<i8", &data.labels).bytes())
        .with("reversed.npy", labels("<i8", &reversed).bytes())
        .with("other.npy", labels("<i8", &other).bytes());
    for method in [
        "umd --bins 3 --reduction top-label",
        "umd --bins 3 --reduction class-wise",
        "temperature",
        "isotonic --reduction top-k-label --k 2",
    ] {
        place.ok(&format!(
            "calib fit --method {method} --logits logits.npy --labels labels.npy -o classes.bin --force"
        ));
        let form = "calib assess classes.bin --logits ROWS";
        judges(&place, form, "turned.npy --labels reversed.npy", "logits.npy --labels other.npy");
    }
    let form = "calib compare --methods umd --bins 3 --reductions class-wise --bootstrap 20 --logits logits.npy --labels labels.npy --test ROWS";
    judges(&place, form, "turned.npy --test-labels reversed.npy", "logits.npy --test-labels other.npy");

    let codes: Vec<(i32, u8)> = (0..300).map(|i| (i * 7 % 251 - 128, u8::from(i % 250 > 120))).collect();
    let table = |rows: &[(i32, u8)]| {
        let lines = rows.iter().map(|(score, label)| format!("{score},{label}\n"));
        format!("score,label\n{}", lines.collect::<String>())
    };
    let mut other = codes.clone();
    other[0].1 = 1 - other[0].1;
    let place = place.with("codes.csv", table(&codes)).with("other.csv", table(&other));
    place
        .ok("calib fit --method ums --bins 3 --scores codes.csv --score-encoding i8,1/256,-128 -o codes.bin");
    judges(&place, "calib assess codes.bin --scores ROWS", "codes.csv", "other.csv");

    // Of the score 0.25 two rows, of which one has label 1; and so on.
    let rows = "score,label\n0.25,0\n0.25,1\n0.5,0\n0.75,1\n0.75,1\n";
    let place = place
        .with("rows.csv", rows)
        .with("one.csv", rows.replace("0.5,0", "0.5,1"))
        .with("counts.csv", "score,n,k\n0.25,2,1\n0.5,1,0\n0.75,2,2\n")
        .with("weights.csv", "score,label,w\n0.25,0,0.5\n0.25,1,1.5\n0.5,0,0.25\n0.75,1,2.5\n0.75,1,0.75\n");
    place.ok("calib fit --method isotonic --scores counts.csv --count-columns n,k -o counts.bin");
    place.ok("calib fit --method isotonic --scores weights.csv --weight-column w -o weights.bin");
    for artifact in ["counts", "weights"] {
        let form = format!("calib assess {artifact}.bin --scores ROWS");
        judges(&place, &form, "rows.csv", "one.csv");
    }
    said!();
}
