//! Each form of the command, as a user types it, and what it gives.

use serde_json::{Value, json};

use crate::data::{
    CLASSES, Json, TOP_FIT, UMD_FIT, algorithm1, binary, binary_place, close, csv, matrix_place, numbers,
    singles, without_origin,
};
use crate::npy::{f32s, f64s, i64s, labels};
use crate::workplace::{Run, Workplace};

#[test]
fn umd_from_a_csv_table() {
    let place = binary_place();
    place.says(UMD_FIT);
    let len = place.bytes("cal.bin").len();
    let got = place.inspect("cal.bin");
    let points = binary(400).iter().map(|&(score, label)| (f64::from(score), label == 1)).collect();
    let (edges, bins) = algorithm1(points, 10);
    let table = &got["tables"][0];
    let values: Vec<f64> = bins.iter().map(|&(n, positives)| positives as f64 / n as f64).collect();
    assert_eq!(singles(&table["edges"]), edges.iter().map(|&edge| edge as f32).collect::<Vec<_>>());
    assert_eq!(singles(&table["values"]), values.iter().map(|&value| value as f32).collect::<Vec<_>>());
    assert_eq!(got["len_bytes"], len);
    assert_eq!(
        (&got["method"], &got["reduction"], &got["n"]),
        (&json!("umd"), &json!("binary"), &json!(400))
    );
    assert_eq!(got["guarantee"]["theorem"], "Clopper and Pearson 1934, exact binomial intervals");
    let exact = got["guarantee"]["epsilon"].number();
    place.ok(&format!("{UMD_FIT} --bound hoeffding --intervals none --force"));
    let papers = place.inspect("cal.bin")["guarantee"].clone();
    assert_eq!(papers["theorem"], "Gupta and Ramdas 2021, Theorem 3");
    let epsilon = (200.0f64.ln() / 78.0).sqrt();
    let stored = papers["epsilon"].number();
    assert!(stored >= epsilon && stored - epsilon < 1e-7 && exact < 0.85 * stored);
    assert_eq!(got["flags"], json!({"ties_merged": false, "weighted": false, "class_uncalibrated": false}));
    assert_eq!(got["provenance"]["parameters"], "alpha=0.1 bins=10 boundary=ceil");
    assert_eq!(got["provenance"]["classifier"], Value::Null);
    said!();
}

#[test]
fn isotonic_from_a_csv_table() {
    let place = Workplace::new().with("cal.csv", "score,label\n0.8,1\n0.5,1\n0.2,0\n0.5,0\n");
    place.says("calib fit --method isotonic --scores cal.csv -o iso.bin");
    let table = &place.inspect("iso.bin")["tables"][0];
    assert_eq!(table["edges"], json!([0.35f32, 0.65f32]));
    assert_eq!(table["values"], json!([0.0f32, 0.5f32, 1.0f32]));
    assert_eq!(table["epsilon"], Value::Null);
    said!();
}

#[test]
fn the_words_of_inspect() {
    let place = Workplace::new().with("cal.csv", "score,label\n0.8,1\n0.5,1\n0.2,0\n0.5,0\n");
    place.ok("calib fit --method isotonic --scores cal.csv --classifier-id 0011223344556677 -o iso.bin");
    let got = place.inspect("iso.bin");
    place.says("calib inspect iso.bin");
    assert_eq!(got["provenance"]["classifier"], "0011223344556677");
    said!();
}

#[test]
fn the_probability_of_a_guarantee_has_no_more_digits_than_alpha() {
    for alpha in ["0.1", "0.9", "0.07", "0.001"] {
        let place = binary_place();
        place.says(&format!("calib fit --method umd --bins 4 --scores cal.csv --alpha {alpha} -o cal.bin"));
        place.says("calib inspect cal.bin");
    }
    said!();
}

/// Scores of both float types; labels of every integer type, and booleans; either byte order; a column `(n, 1)`.
#[test]
fn arrays_of_every_type_give_the_same_tables() {
    let data = binary(300);
    let (scores, classes): (Vec<f32>, Vec<u8>) = data.iter().copied().unzip();
    let place = Workplace::new().with("cal.csv", csv(&data));
    place.ok("calib fit --method umd --bins 15 --scores cal.csv -o cal.bin");
    let expected = without_origin(place.inspect("cal.bin"));

    let single = f32s(&[300], scores.clone());
    let double = f64s(&[300], scores.iter().map(|&score| score.into()));
    let floats = [
        single.clone(),
        double.clone(),
        single.clone().big_endian(),
        double.big_endian(),
        single.clone().shape(&[300, 1]),
        single.shape(&[300, 1]).fortran(),
    ];
    let mut integers = vec![];
    for descr in ["|i1", "|u1", "|b1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8"] {
        integers.extend([labels(descr, &classes), labels(descr, &classes).big_endian()]);
    }
    let first = (&floats[0], &integers[0]);
    let pairs =
        floats.iter().map(|scores| (scores, first.1)).chain(integers.iter().map(|labels| (first.0, labels)));
    for (scores, labels) in pairs {
        let place = Workplace::new().with("scores.npy", scores.bytes()).with("labels.npy", labels.bytes());
        place.ok("calib fit --method umd --bins 15 --scores scores.npy --labels labels.npy -o b.bin");
        assert_eq!(without_origin(place.inspect("b.bin")), expected);
    }
}

#[test]
fn labels_may_be_in_a_table_of_their_own() {
    let data = binary(100);
    let column = |name: &str, field: fn(&(f32, u8)) -> String| {
        data.iter().fold(format!("{name}\n"), |text, row| text + &field(row) + "\n")
    };
    let place = Workplace::new()
        .with("both.csv", csv(&data))
        .with("p.csv", column("p", |row| row.0.to_string()))
        .with("y.csv", column("y", |row| format!("{}.0", row.1)))
        .with("y.npy", i64s(data.iter().map(|row| row.1.into())).bytes());
    place.ok("calib fit --method isotonic --scores both.csv -o both.bin");
    place.ok("calib fit --method isotonic --scores p.csv --score-column p --labels y.csv --label-column y -o csv.bin");
    place.ok("calib fit --method isotonic --scores p.csv --score-column p --labels y.npy -o npy.bin");
    let expected = without_origin(place.inspect("both.bin"));
    assert_eq!(without_origin(place.inspect("csv.bin")), expected);
    assert_eq!(without_origin(place.inspect("npy.bin")), expected);
}

/// A byte order mark, `\r\n`, blank lines, spaces around fields, quotes, other columns.
#[test]
fn tables_come_in_many_dialects() {
    let place = Workplace::new().with("plain.csv", "score,label\n0.2,0\n0.5,1\n0.5,0\n0.8,1\n").with(
        "odd.csv",
        "\u{feff}id, score ,label\r\n\"a,\r\nb\", 0.2,0\r\n\r\nc,0.5 , 1\r\nd,\"0.5\",0\r\ne,8e-1,1",
    );
    for name in ["plain", "odd"] {
        place.ok(&format!("calib fit --method isotonic --scores {name}.csv -o {name}.bin"));
    }
    assert_eq!(without_origin(place.inspect("odd.bin")), without_origin(place.inspect("plain.bin")));
}

#[test]
fn top_label_from_logits() {
    let (place, data) = matrix_place(400);
    let exact = place.json(&format!("{TOP_FIT} --json"))["guarantee"]["epsilon"].number();
    let report = place.json(&format!("{TOP_FIT} --bound hoeffding --force --json"));
    assert_eq!((&report["method"], &report["reduction"]), (&json!("umd"), &json!("top-label")));
    assert_eq!(report["len_bytes"], place.bytes("top.bin").len());
    assert_eq!(report["guarantee"]["theorem"], "Gupta and Ramdas 2022, Theorem 1");
    assert!(exact < 0.85 * report["guarantee"]["epsilon"].number());
    close(&report["guarantee"]["epsilon"], (160.0f64.ln() / 98.0).sqrt());
    for class in 0..2 {
        let points: Vec<_> = (0..400)
            .filter(|&row| data.predicted[row] == class)
            .map(|row| (data.scores[row], usize::from(data.labels[row]) == class))
            .collect();
        let n = points.len();
        let (edges, bins) = algorithm1(points, n / 50);
        let table = &report["tables"][class];
        assert_eq!(table["n"], n);
        assert_eq!(table["counts"], json!(bins.iter().map(|bin| bin.0).collect::<Vec<_>>()));
        assert_eq!(table["positives"], json!(bins.iter().map(|bin| bin.1).collect::<Vec<_>>()));
        let single_precision = |(got, expected): (f64, f64)| (got - expected).abs() < 1e-6;
        assert!(numbers(&table["edges"]).into_iter().zip(edges).all(single_precision));
    }
    let table = |class: usize| place.inspect("top.bin")["tables"][class].clone();
    assert_eq!((table(0)["bins"].as_u64(), table(1)["bins"].as_u64()), (Some(4), Some(3)));
}

#[test]
fn a_rare_class_is_said_to_be_uncalibrated_everywhere() {
    let (place, data) = matrix_place(400);
    let run = place.ok(TOP_FIT);
    let few = data.predicted.iter().filter(|&&class| class == 2).count();
    let reason = format!("{few} of 50 observations");
    assert_eq!(run.stderr.lines().nth(1), Some(&*format!("uncalibrated: class 2 ({reason})")));
    assert_eq!(
        place.json(&format!("{TOP_FIT} --json --force"))["uncalibrated"],
        json!([{"table": 2, "name": "class 2", "reason": reason}])
    );
    place.says("calib inspect top.bin");
    let inspected = place.inspect("top.bin");
    assert_eq!(
        (&inspected["flags"]["class_uncalibrated"], &inspected["tables"][2]),
        (&json!(true), &Value::Null)
    );

    place.ok("calib apply top.bin --logits val_logits.npy -o out.csv");
    let (_, rows) = place.table("out.csv");
    for (row, class) in rows.iter().zip(data.predicted) {
        assert_eq!(row[0], class.to_string());
        match class {
            2 => assert_eq!(row[1..], ["", "", "", "uncalibrated-class", "", ""]),
            _ => assert!(row[1..4].iter().all(|field| !field.is_empty()) && row[4].is_empty()),
        }
    }
    said!();
}

#[test]
fn memory_order_byte_order_and_precision_of_a_matrix_do_not_matter() {
    let (place, data) = matrix_place(400);
    place.ok(TOP_FIT);
    let expected = without_origin(place.inspect("top.bin"));
    let shape = [400, CLASSES];
    let single = f32s(&shape, data.logits.clone());
    let double = f64s(&shape, data.logits.iter().map(|&logit| logit.into()));
    for array in [
        single.clone().fortran(),
        single.clone().big_endian(),
        single.fortran().big_endian(),
        double.clone(),
        double.fortran().big_endian(),
    ] {
        let place = Workplace::new()
            .with("val_logits.npy", array.bytes())
            .with("val_labels.npy", labels("<i2", &data.labels).big_endian().bytes());
        place.ok(TOP_FIT);
        assert_eq!(without_origin(place.inspect("top.bin")), expected);
    }
}

#[test]
fn top_label_from_probabilities() {
    let (place, data) = matrix_place(400);
    let place = place.with("val_probs.npy", f32s(&[400, CLASSES], data.probs).bytes());
    let logits = place.json(&format!("{TOP_FIT} --json"));
    let probs = place.json(
        "calib fit --method umd --reduction top-label --rows-per-bin 50 --probs val_probs.npy --labels \
         val_labels.npy -o probs.bin --json",
    );
    for class in 0..2 {
        for part in ["n", "counts", "positives", "values"] {
            assert_eq!(probs["tables"][class][part], logits["tables"][class][part]);
        }
    }
    place.ok("calib apply top.bin --probs val_probs.npy -o out.csv");
    assert_eq!(place.table("out.csv").1.len(), 400);
}

#[test]
fn top_label_with_isotonic_and_with_fixed_bins() {
    let (place, _) = matrix_place(400);
    let files = "--reduction top-label --logits val_logits.npy --labels val_labels.npy --json";
    let isotonic = place.json(&format!("calib fit --method isotonic {files} -o iso.bin"));
    assert_eq!((&isotonic["guarantee"], &isotonic["tables"][2]), (&Value::Null, &Value::Null));
    for class in 0..2 {
        assert!(numbers(&isotonic["tables"][class]["values"]).is_sorted());
    }
    let fixed = place.json(&format!("calib fit --method umd --bins 5 --bound hoeffding {files} -o five.bin"));
    assert_eq!(fixed["guarantee"]["theorem"], "Gupta and Ramdas 2021, Theorem 3");
    assert!((0..3).all(|class| fixed["tables"][class]["values"].list().len() == 5));
}

#[test]
fn apply_keeps_the_columns_and_adds_its_own() {
    let place = binary_place()
        .with("new.csv", "id,score,note\n1,0,\"a, b\"\n2,0.5,\n3,1,\"say \"\"x\"\"\"\n4,2.5e-1,é\n");
    place.ok(UMD_FIT);
    let run = place.ok("calib apply cal.bin --scores new.csv -o out.csv");
    assert_eq!((run.stdout, run.stderr), (String::new(), place.applied("out.csv")));
    let (header, rows) = place.table("out.csv");
    assert_eq!(header, ["id", "score", "note", "prob", "bin", "epsilon", "flags", "lo", "hi"]);
    let kept: Vec<_> = rows.iter().map(|row| row[..3].join("|")).collect();
    assert_eq!(kept, ["1|0|a, b", "2|0.5|", "3|1|say \"x\"", "4|2.5e-1|é"]);

    let inspected = place.inspect("cal.bin");
    let table = &inspected["tables"][0];
    let (edges, values) = (numbers(&table["edges"]), numbers(&table["values"]));
    for (row, score) in rows.iter().zip([0.0, 0.5, 1.0, 0.25]) {
        let bin = edges.iter().filter(|&&edge| edge <= score).count();
        assert_eq!(row[4], bin.to_string());
        assert_eq!(row[3].parse::<f32>().unwrap(), values[bin] as f32);
        assert_eq!(row[5].parse::<f32>().unwrap(), table["epsilon"].number() as f32);
        // 400 scores from 0.00125 to 0.99875.
        let beyond = score == 0.0 || score == 1.0;
        assert_eq!(row[6], if beyond { "out-of-range" } else { "" });
    }
}

/// An artifact without a guarantee leaves epsilon empty.
#[test]
fn apply_to_an_array_of_scores() {
    let place = Workplace::new()
        .with("cal.csv", "score,label\n0.8,1\n0.5,1\n0.2,0\n0.5,0\n")
        .with("new.npy", f64s(&[3], [0.1, 0.35, 1.0]).bytes());
    place.ok("calib fit --method isotonic --intervals none --scores cal.csv -o iso.bin");
    place.ok("calib apply iso.bin --scores new.npy -o out.csv");
    let expected = "score,prob,bin,epsilon,flags\n0.1,0,0,,out-of-range\n0.35,0.5,1,,\n1,1,2,,out-of-range\n";
    assert_eq!(place.text("out.csv"), expected);
}

#[test]
fn apply_to_a_matrix() {
    let (place, _) = matrix_place(400);
    place.ok(TOP_FIT);
    let place = place.with("test_logits.npy", f32s(&[2, 3], [0.0, 2.0, 0.0, 5.0, -1.0, -1.0]).bytes());
    place.ok("calib apply top.bin --logits test_logits.npy -o out.csv");
    let (header, rows) = place.table("out.csv");
    assert_eq!(header, ["class", "prob", "bin", "epsilon", "flags", "lo", "hi"]);
    let inspected = place.inspect("top.bin");
    for (row, (class, score)) in rows.iter().zip([(1, 0.786_986), (0, 0.995_067)]) {
        let table = &inspected["tables"][class];
        let bin = numbers(&table["edges"]).iter().filter(|&&edge| edge <= score).count();
        let field = |name: &str| table[name].number() as f32;
        assert_eq!(row[..3], [class.to_string(), row[1].clone(), bin.to_string()]);
        assert_eq!(row[1].parse::<f32>().unwrap(), numbers(&table["values"])[bin] as f32);
        assert_eq!(row[3].parse::<f32>().unwrap(), field("epsilon"));
    }
}

#[test]
fn fit_apply_assess_in_a_row() {
    let place = binary_place();
    place.ok(UMD_FIT);
    place.ok("calib apply cal.bin --scores cal.csv -o out.csv");
    let got = place.json("calib assess --probs out.csv --bin-column bin --json");
    // On its own calibration data a bin is off by the points on its boundaries only.
    assert!(got["conf_ece"]["value"].number() < 0.02);
    assert_eq!((&got["n"], &got["binning"]["bins"]), (&json!(400), &json!(10)));
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let (place, _) = matrix_place(400);
    let place = place.with("cal.csv", csv(&binary(400)));
    for (form, output) in [
        (UMD_FIT, "cal.bin"),
        ("calib fit --method isotonic --scores cal.csv -o iso.bin", "iso.bin"),
        (TOP_FIT, "top.bin"),
        ("calib apply cal.bin --scores cal.csv -o out.csv", "out.csv"),
        ("calib apply top.bin --logits val_logits.npy -o top.csv", "top.csv"),
    ] {
        place.ok(form);
        let first = place.bytes(output);
        place.ok(&format!("{form} --force"));
        assert_eq!(place.bytes(output), first, "{form}");
    }
}

#[test]
fn the_order_of_rows_does_not_matter() {
    let mut data = binary(400);
    let forward = Workplace::new().with("cal.csv", csv(&data));
    data.reverse();
    data.swap(17, 200);
    let backward = Workplace::new().with("cal.csv", csv(&data));
    for form in [UMD_FIT, "calib fit --method isotonic --scores cal.csv -o cal.bin --force"] {
        forward.ok(form);
        backward.ok(form);
        let (one, other) = (forward.inspect("cal.bin"), backward.inspect("cal.bin"));
        assert_ne!(one["provenance"]["data_sha256"], other["provenance"]["data_sha256"]);
        assert_eq!(without_origin(one), without_origin(other));
    }
}

#[test]
fn ties_cost_the_papers_guarantee_and_are_told() {
    let rows: Vec<_> =
        binary(400).iter().map(|&(score, label)| ((score * 16.0).round() / 16.0, label)).collect();
    let place = Workplace::new().with("cal.csv", csv(&rows));
    place.says(UMD_FIT);
    let report = place.json(&format!("{UMD_FIT} --force --json"));
    assert!(report["guarantee"].is_object() && report["tables"][0]["ties_merged"] == json!(true));
    let hoeffding = format!("{UMD_FIT} --bound hoeffding --intervals none --force");
    place.says(&hoeffding);
    let report = place.json(&format!("{hoeffding} --json"));
    assert_eq!((&report["guarantee"], &report["tables"][0]["ties_merged"]), (&Value::Null, &json!(true)));
    assert!(report["statement"].text().starts_with("Nothing is guaranteed: equal scores straddle"));
    place.says("calib inspect cal.bin");
    place.ok("calib apply cal.bin --scores cal.csv -o out.csv");
    assert!(place.table("out.csv").1.iter().all(|row| row[4].is_empty() && !row[2].is_empty()));
    said!();
}

/// One class tied, the other not: the paper's guarantee is for the other one only, the exact one for both.
#[test]
fn a_tied_class_is_named() {
    let (place, mut data) = matrix_place(400);
    for row in (0..400).filter(|&row| data.predicted[row] == 0) {
        data.logits[row * CLASSES] = if row % 2 == 0 { 1.0 } else { 2.0 };
    }
    let place = place.with("val_logits.npy", f32s(&[400, CLASSES], data.logits).bytes());
    place.says(TOP_FIT);
    assert!(place.inspect("top.bin")["tables"][0]["epsilon"].is_number());
    place.says(&format!("{TOP_FIT} --bound hoeffding --force"));
    let inspected = place.inspect("top.bin");
    assert_eq!(inspected["tables"][0]["epsilon"], Value::Null);
    assert_eq!(inspected["tables"][1]["epsilon"], inspected["guarantee"]["epsilon"]);
    said!();
}

#[test]
fn json_is_alone_on_standard_output() {
    let (place, _) = matrix_place(400);
    let place = place.with("cal.csv", csv(&binary(400)));
    for form in
        [UMD_FIT, TOP_FIT, "calib inspect cal.bin", "calib assess --probs cal.csv --prob-column score"]
    {
        let run = place.says(&format!("{form} --json"));
        assert!(run.json().is_object());
    }
    place.says("calib inspect cal.csv --json");
    said!();
}

#[test]
fn quiet_is_quiet() {
    let (place, _) = matrix_place(400);
    let place = place.with("cal.csv", csv(&binary(400)));
    for form in [
        UMD_FIT,
        TOP_FIT,
        "calib apply cal.bin --scores cal.csv -o out.csv",
        "calib assess --probs cal.csv --prob-column score",
        "calib inspect cal.bin",
    ] {
        place.says(&format!("{form} --quiet"));
    }
    let first = UMD_FIT.replace("calib fit", "calib --quiet fit --force");
    place.says(&first);
    assert_ne!(place.run("calib inspect missing.bin --quiet").stderr, "");
    said!();
}

/// What is piped holds no carriage returns and no escape codes: no progress bar and no color.
#[test]
fn a_pipe_gets_plain_text() {
    let place = Workplace::new().with("cal.csv", csv(&binary(200_000)));
    let plain = |run: Run| !(run.stdout + &run.stderr).contains(['\r', '\u{1b}']);
    assert!(plain(place.ok(UMD_FIT)));
    assert!(plain(place.run("calib fit --method umd --bins x --scores cal.csv -o x.bin")));
    assert!(plain(place.run("calib fit --help")));
    assert!(plain(place.run("calib inspect cal.csv")));
}

#[cfg(unix)]
#[test]
fn scores_may_come_from_a_pipe() {
    use std::process::Stdio;

    let place = binary_place();
    place.ok(UMD_FIT);
    let file = std::fs::File::open(place.path().join("cal.csv")).unwrap();
    let mut cat = std::process::Command::new("cat").stdin(file).stdout(Stdio::piped()).spawn().unwrap();
    let mut calib = place.command("apply cal.bin --scores /dev/stdin -o piped.csv");
    let run: Run = calib.stdin(cat.stdout.take().unwrap()).output().unwrap().into();
    cat.wait().unwrap();
    assert_eq!((run.code, run.stderr), (0, place.applied("piped.csv")));
    place.ok("calib apply cal.bin --scores cal.csv -o out.csv");
    assert_eq!(place.bytes("piped.csv"), place.bytes("out.csv"));
}

/// A reader that has seen enough, such as `head`, is no failure.
#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let place = Workplace::new().with("cal.csv", csv(&binary(40_000)));
    place.ok("calib fit --method umd --bins 20000 --scores cal.csv -o big.bin");
    let mut calib = place.command("inspect big.bin");
    let mut child =
        calib.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let run: Run = child.wait_with_output().unwrap().into();
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}

#[test]
fn the_version_and_the_help_are_printed() {
    let place = Workplace::new();
    assert_eq!(place.ok("calib --version").stdout, format!("calib {}\n", env!("CARGO_PKG_VERSION")));
    for command in ["fit", "apply", "assess", "inspect"] {
        assert!(
            place.ok(&format!("calib {command} --help")).stdout.contains(&format!("Usage: calib {command}"))
        );
    }
}
