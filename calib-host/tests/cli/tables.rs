//! Tables that are not as they should be, in every command that reads rows.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::data::{CLASSES, Json, binary, csv, matrix};
use crate::npy::{f32s, f64s, labels};
use crate::workplace::Workplace;

const ROWS: usize = 300;
const FIT: &str = "calib fit --method umd --bins 4";

/// The same rows as they should be, and with other names, other labels and gaps.
fn workplace() -> Workplace {
    let rows = binary(ROWS);
    let mut odd = String::from("id;y_true;y_prob\n;;\n");
    for (row, (score, label)) in rows.iter().enumerate() {
        let label = if *label == 1 { "case" } else { "control" };
        let _ = writeln!(odd, "{row};{label};{}", score.to_string().replace('.', ","));
        if row % 100 == 0 {
            let _ = writeln!(odd, "gap;;0,5\ngap;case;NA");
        }
    }
    Workplace::new().with("plain.csv", csv(&rows)).with("odd.csv", odd)
}

const ODD: &str = "--positive-label case --drop-missing";

/// The JSON of a command without what tells of the file.
fn told(place: &Workplace, line: &str) -> Value {
    let mut value = place.json(line);
    let object = value.as_object_mut().unwrap();
    for key in ["left_out", "notes", "artifact", "output", "provenance", "data_sha256", "files", "command"] {
        object.remove(key);
    }
    value
}

/// Every command reads an odd table as it reads the plain one.
#[test]
fn every_command_reads_an_odd_table_as_the_plain_one() {
    let place = workplace();
    place.ok(&format!("{FIT} --scores plain.csv -o cal.bin"));
    for command in [
        "calib fit --method umd --bins 4 --force -o a.bin --json --scores",
        "calib fit --method umd --bins 4 --table u16 --force -o a.bin --json --scores",
        "calib assess cal.bin --same-rows --json --scores",
        "calib assess --json --scores",
        "calib compare --methods umd,isotonic --bins 4 --folds 2 --repeats 1 --json --scores",
        "calib bins --bins 2,3 --bootstrap 20 --json --scores",
        "calib threshold --sensitivity 0.5 --force -o a.bin --json --scores",
        "calib sets --force -o a.bin --json --scores",
    ] {
        let mut expected = told(&place, &format!("{command} plain.csv"));
        let mut got = told(&place, &format!("{command} odd.csv {ODD}"));
        for value in [&mut expected, &mut got] {
            // The next command names the file, and the artifact's identity covers the hash of the file.
            for key in ["next", "identity", "content_id", "chosen"] {
                value.as_object_mut().unwrap().remove(key);
            }
        }
        assert_eq!(got, expected, "{command}");
    }
}

#[test]
fn apply_and_report_read_an_odd_table() {
    let place = workplace();
    place.ok(&format!("{FIT} --scores plain.csv -o cal.bin"));
    place.ok("calib apply cal.bin --scores plain.csv -o plain.out.csv");
    place.says("calib apply cal.bin --scores odd.csv --drop-missing -o odd.out.csv");
    let probs = |name: &str| {
        let (header, rows) = place.table(name);
        let at = header.iter().position(|name| name == "prob").unwrap();
        rows.into_iter().map(|row| row[at].clone()).collect::<Vec<_>>()
    };
    let kept: Vec<String> = {
        let (header, rows) = place.table("odd.out.csv");
        let [id, prob] = ["id", "prob"].map(|name| header.iter().position(|other| other == name).unwrap());
        // Without labels a row needs a score alone.
        assert_eq!(rows.iter().filter(|row| row[id] == "gap").count(), 3);
        rows.into_iter().filter(|row| row[id] != "gap").map(|row| row[prob].clone()).collect()
    };
    assert_eq!(kept, probs("plain.out.csv"));

    let line = format!(
        "calib report cal.bin --calibration odd.csv --test odd.csv --same-rows {ODD} -o r.html --json"
    );
    let report = place.json(&line);
    assert_eq!(report["left_out"], json!([{"file": "odd.csv", "rows": 7, "of": ROWS + 7}]));
    let page = place.text("r.html");
    assert!(page.contains("7 of 307 rows lack a value and are skipped"));
    place.says("calib adjust cal.bin --estimate-from odd.csv --drop-missing --counter 1 -o low.bin");
    said!();
}

#[test]
fn what_is_guessed_is_told_once_and_not_where_all_is_quiet() {
    let place = workplace();
    let line = format!("{FIT} --scores odd.csv {ODD} -o out.bin");
    place.says(&line);
    // What runs next reads the table in the same way.
    place.says(&format!("calib --quiet {} --force", line.strip_prefix("calib ").unwrap()));
    let notes = place.json(&format!("{line} --force --json"))["notes"].clone();
    assert_eq!(notes.list().len(), 5);
    said!();
}

/// The command that `compare` proposes reads the table as `compare` did.
#[test]
fn what_compare_proposes_reads_the_same_table() {
    let place = workplace();
    let run = place.ok(&format!(
        "calib compare --scores odd.csv {ODD} --methods umd,isotonic --bins 4 --folds 2 --repeats 1"
    ));
    let next = run.stderr.lines().find_map(|line| line.strip_prefix("next: ")).expect("a command");
    assert!(next.contains(ODD), "{next}");
    place.ok(next);
}

/// Whoever names a column means that one.
#[test]
fn a_column_that_is_named_is_not_guessed() {
    let place = workplace();
    place.says(&format!("{FIT} --scores odd.csv {ODD} --score-column Y-Prob -o out.bin"));
    said!();
}

/// A slip in a name is told.
#[test]
fn the_name_that_is_the_most_like_one_that_is_not_there_is_proposed() {
    for (header, options) in [
        ("my_probabilty,y", " --score-column my_probability"),
        ("my_score_a,label", " --score-column my_scroe_a"),
        ("score,lable", ""),
        ("Prediction,result", ""),
        ("p10,y", " --score-column p1"),
    ] {
        let place = Workplace::new().with("t.csv", csv(&binary(40)).replace("score,label", header));
        place.says(&format!("{FIT} --scores t.csv{options} -o out.bin"));
    }
    said!();
}

/// Rows that lack a value in one of two files are left out of both.
#[test]
fn rows_are_left_out_of_scores_and_labels_alike() {
    let rows = binary(ROWS);
    let scores = |gap: bool| {
        rows.iter().enumerate().map(move |(row, (score, _))| match row {
            7 if gap => f64::NAN,
            _ => f64::from(*score),
        })
    };
    let with_gap = |row: usize, label: u8| if row == 11 { String::new() } else { label.to_string() };
    let labels: String =
        rows.iter().enumerate().map(|(row, (_, label))| with_gap(row, *label) + "\n").collect();
    let kept: Vec<(f32, u8)> =
        rows.iter().enumerate().filter(|(row, _)| ![7, 11].contains(row)).map(|(_, row)| *row).collect();
    let place = Workplace::new()
        .with("kept.csv", csv(&kept))
        .with("s.npy", f64s(&[ROWS], scores(true)).bytes())
        .with("y.csv", format!("\"label\"\n{}", labels.replace("\n\n", "\n\"\"\n")));
    let line = format!("{FIT} --scores s.npy --labels y.csv --drop-missing --json -o out.bin");
    let got = place.json(&line);
    assert_eq!(got["left_out"], json!([{"file": "s.npy", "rows": 2, "of": ROWS}]));
    let expected = place.json(&format!("{FIT} --scores kept.csv --json -o kept.bin"));
    assert_eq!((&got["n"], &got["tables"]), (&expected["n"], &expected["tables"]));
}

/// The third label comes late, and the second in another piece than the first.
#[test]
fn long_tables_have_two_labels_and_a_count_of_gaps() {
    let long = |at: &[(usize, &str)]| {
        let mut text = String::from("score;label\n");
        for row in 0..150_000 {
            let label = if row < 90_000 { "no" } else { "maybe" };
            let line = at.iter().find(|(place, _)| *place == row).map(|(_, line)| *line);
            match line {
                Some(line) => text += line,
                None => {
                    let _ = write!(text, "0,{:06};{label}", row * 7919 % 1_000_000);
                }
            }
            text.push('\n');
        }
        text
    };
    let fit = format!("{FIT} --scores t.csv -o out.bin --force --json --positive-label maybe");
    let place = Workplace::new().with("t.csv", long(&[]));
    let got = place.json(&fit);
    assert_eq!(got["n"], 150_000);
    let place = place.with("t.csv", long(&[(140_000, "0,5;perhaps")]));
    place.says(&fit);
    let place = place.with("t.csv", long(&[(100, ";no"), (140_000, ";maybe"), (140_001, "NA;maybe")]));
    place.says(&fit);
    let got = place.json(&format!("{fit} --drop-missing"));
    assert_eq!((&got["n"], &got["left_out"][0]["rows"]), (&json!(149_997), &json!(3)));
    said!();
}

/// Gaps of an array that is read in pieces are counted in all of them.
#[test]
fn gaps_of_a_long_array_are_counted() {
    let rows = 150_000;
    let scores = (0..rows).map(|row| if row % 50_000 == 1 { f64::NAN } else { 0.25 });
    let targets: Vec<u8> = (0..rows).map(|row| u8::from(row % 3 == 0)).collect();
    let place = Workplace::new()
        .with("s.npy", f64s(&[rows], scores).bytes())
        .with("y.npy", labels("<i8", &targets).bytes());
    place.says(&format!("{FIT} --scores s.npy --labels y.npy -o out.bin"));
    said!();
}

/// What `predict_proba` of a binary classifier gives.
#[test]
fn of_two_columns_that_sum_to_one_the_second_is_taken() {
    let rows = binary(ROWS);
    let both = |row: &(f32, u8)| [1.0 - row.0, row.0];
    let pairs = f32s(&[ROWS, 2], rows.iter().flat_map(both));
    let targets: Vec<u8> = rows.iter().map(|(_, label)| *label).collect();
    let scored = rows.iter().flat_map(|(score, label)| [*score, f32::from(*label)]);
    let place = Workplace::new()
        .with("plain.csv", csv(&rows))
        .with("p.npy", pairs.bytes())
        .with("f.npy", pairs.fortran().bytes())
        .with("y.npy", labels("<i8", &targets).bytes())
        .with("rows.npy", f32s(&[ROWS, 2], scored).bytes());
    let expected = place.json(&format!("{FIT} --scores plain.csv -o a.bin --json"));
    for file in ["p.npy", "f.npy"] {
        let line = format!("{FIT} --scores {file} --labels y.npy -o b.bin --json --force");
        let run = place.ok(&line);
        assert_eq!(run.json()["tables"], expected["tables"]);
        let note = format!(
            "note: {file}: the second of two probabilities that sum to one is used, as the score of class 1\n"
        );
        assert_eq!(run.stderr.matches(&note).count(), 1, "{}", run.stderr);
        let run = place.ok(&format!("calib apply a.bin --scores {file} --force -o out.npy"));
        assert!(run.stderr.contains(&note), "{}", run.stderr);
    }
    // In pieces, whose columns lie far apart.
    let long: Vec<f32> = (0..150_000).map(|row| (row as f32 + 0.5) / 150_000.0).collect();
    let both = f32s(&[150_000, 2], long.iter().flat_map(|score| [1.0 - score, *score])).fortran();
    let targets: Vec<u8> = (0..150_000u32).map(|row| u8::from(row % 3 == 0)).collect();
    let place = place
        .with("long.npy", both.bytes())
        .with("one.npy", f32s(&[150_000], long).bytes())
        .with("many.npy", labels("<i8", &targets).bytes());
    let fit =
        |file: &str| place.json(&format!("{FIT} --scores {file} --labels many.npy -o d.bin --force --json"));
    assert_eq!(fit("long.npy")["tables"], fit("one.npy")["tables"]);
    // A score and a label side by side are no two probabilities.
    place.says(&format!("{FIT} --scores rows.npy --labels y.npy -o c.bin"));
    said!();
}

/// Probabilities of several classes in the columns of a table.
#[test]
fn columns_of_classes_are_a_matrix() {
    let all = matrix(900);
    let table = |word: &str, first: usize| {
        let names: Vec<String> = (0..CLASSES).map(|class| format!("{word}{}", class + first)).collect();
        let mut text = format!("id,{},label\n", names.join(","));
        for (row, probs) in all.probs.chunks(CLASSES).enumerate() {
            let probs: Vec<String> = probs.iter().map(f32::to_string).collect();
            let _ = writeln!(text, "r{row},{},{}", probs.join(","), all.labels[row]);
        }
        text
    };
    let json_lines: String = all
        .probs
        .chunks(CLASSES)
        .zip(&all.labels)
        .map(|(p, label)| format!("{{\"label\":{label},\"p2\":{},\"p0\":{},\"p1\":{}}}\n", p[2], p[0], p[1]))
        .collect();
    let numbers = |values: &[f32]| values.iter().map(f32::to_string).collect::<Vec<_>>().join(";");
    let no_header: String = all.probs.chunks(CLASSES).map(|p| numbers(p).replace('.', ",") + "\n").collect();
    let place = Workplace::new()
        .with("p.npy", f32s(&[900, CLASSES], all.probs.iter().copied()).bytes())
        .with("y.npy", labels("<i8", &all.labels).bytes())
        .with("p.csv", table("p", 0))
        .with("from1.csv", table("prob_", 1))
        .with("p.jsonl", json_lines)
        .with("no_header.csv", no_header)
        .with("two.csv", table("p", 0).replace("id,", "q0,").replace("label", "q1"));
    let fit =
        "calib fit --method umd --reduction top-label --rows-per-bin 50 -o out.bin --force --json --probs";
    let expected = place.json(&format!("{fit} p.npy --labels y.npy"))["tables"].clone();
    for line in [
        "p.csv",
        "p.csv --score-column p0..p2",
        "p.csv --score-column p0,p1,p2",
        "from1.csv",
        "p.jsonl",
        "no_header.csv --labels y.npy",
        "two.csv --score-column p0..2 --label-column q1",
    ] {
        let run = place.ok(&format!("{fit} {line}"));
        assert_eq!(run.json()["tables"], expected, "{line}");
        let is_told = run.stderr.contains("as 3 classes");
        assert_eq!(is_told, !line.contains("--score-column"), "{}", run.stderr);
    }
    // The other commands find them, too.
    let calibration = place.json("calib assess --probs p.csv --json");
    assert_eq!(
        calibration["top_label"],
        place.json("calib assess --probs p.npy --labels y.npy --json")["top_label"]
    );
    place.ok("calib apply out.bin --probs p.csv -o out.csv");
    place.ok("calib report out.bin --calibration p.csv --test p.csv --same-rows -o r.html");

    let refused = |line: &str| {
        place.says(&format!("{fit} {line}"));
    };
    refused("two.csv");
    refused("p.csv --score-column p0..p3");
    place.says(&format!("{fit} p.csv --positive-label 2"));
    let place = Workplace::new()
        .with("cats.csv", "cat,dog,label\n0.5,0.5,1\n")
        .with("bad.csv", "p0,p1,label\n0.5,0.5,1\n0.5,0.75,0\n");
    place.says(&format!("{fit} cats.csv"));
    place.says(&format!("{fit} bad.csv"));
    said!();
}

/// The label of a row is compared with the class that was predicted: as 0 or 1 it would be another one.
#[test]
fn a_positive_label_is_refused_beside_predicted_classes() {
    let place = Workplace::new().with("t.csv", "class,prob,label\n3,0.9,3\n4,0.8,3\n");
    place.says("calib assess --probs t.csv --class-column class --positive-label 3");
    said!();
}

/// Whatever else a command reads of a row, without it the row is left out as well.
#[test]
fn a_row_that_lacks_a_cluster_a_group_or_a_weight_is_left_out() {
    const COLUMNS: [&str; 7] = ["score", "label", "patient", "site", "w", "n", "k"];
    let row = |row: usize, gap: &str| {
        let value = |name: &str| match name {
            _ if name == gap => String::new(),
            "score" => format!("0.{:03}", row * 37 % 400),
            "label" | "k" => (row % 2).to_string(),
            "patient" => format!("p{}", row / 2),
            "site" => ["north", "south"][row % 4 / 2].to_owned(),
            _ => "1".to_owned(),
        };
        COLUMNS.map(value).join(",") + "\n"
    };
    for (gap, line) in [
        ("patient", "calib assess --cluster-column patient --bootstrap 20 --scores"),
        ("patient", "calib fit --method umd --bins 2 --cluster-column patient -o a.bin --force --scores"),
        ("site", "calib fit --method umd --bins 2 --group-column site -o a.bin --force --scores"),
        ("w", "calib fit --method isotonic --weight-column w -o a.bin --force --scores"),
        ("n", "calib fit --method isotonic --count-columns n,k -o a.bin --force --scores"),
        ("k", "calib fit --method isotonic --count-columns n,k -o a.bin --force --scores"),
    ] {
        let rows: String = (0..100).map(|number| row(number, if number == 50 { gap } else { "" })).collect();
        let place = Workplace::new().with("t.csv", format!("{}\n{rows}", COLUMNS.join(",")));
        let got = place.json(&format!("{line} t.csv --drop-missing --json"));
        assert_eq!(got["left_out"], json!([{"file": "t.csv", "rows": 1, "of": 100}]), "{line}");
    }
}
