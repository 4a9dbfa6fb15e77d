//! Integer codes of several classes: fitted, applied, assessed and exported like the probabilities that they stand for.

use serde_json::Value;

use crate::data::{Json, noise, without_origin};
use crate::npy::{Npy, f32s, i8s, i64s, u16s};
use crate::transcript::refused;
use crate::workplace::Workplace;

const SOFTMAX: &str = "--score-encoding i8,1/256,-128";
const COLUMNS: &str = "c0,c1,c2,c3";
const ROWS: usize = 1200;
const CLASSES: usize = 4;

/// Steps of 1/256 that four classes share, the last of which is rarely predicted, and labels that follow them. Many rows have
/// equal largest entries.
fn steps() -> (Vec<[u16; CLASSES]>, Vec<i64>) {
    let row = |row: usize| {
        let sure = 80 + (row * 37 % 176) as u16;
        let second = (256 - sure) / [1, 2, 3][row % 3];
        let mut shares = [0; CLASSES];
        let first = if row % 40 == 39 { 3 } else { row * 7 % 3 };
        shares[first] = sure;
        shares[(first + 1) % CLASSES] = second;
        shares[(first + 2) % CLASSES] = 256 - sure - second;
        shares
    };
    let rows: Vec<_> = (0..ROWS).map(row).collect();
    let label = |(row, shares): (usize, &[u16; CLASSES])| {
        let mut below = noise(row) * 256.0;
        let class = shares.iter().position(|&share| {
            below -= f64::from(share);
            below < 0.0
        });
        class.unwrap_or(0) as i64
    };
    let labels = rows.iter().enumerate().map(label).collect();
    (rows, labels)
}

fn codes() -> Npy {
    let codes = steps().0.into_iter().flatten().map(|step| (i32::from(step) - 128) as i8);
    i8s(&[ROWS, CLASSES], codes)
}

/// The same rows as codes, in an array and in a table, as 16-bit codes, and as the probabilities that they stand for.
fn place() -> Workplace {
    let (rows, labels) = steps();
    let line = |(row, label): (&[u16; CLASSES], &i64)| {
        let codes = row.map(|step| (i32::from(step) - 128).to_string()).join(",");
        format!("{codes},{label}\n")
    };
    let table: String = rows.iter().zip(&labels).map(line).collect();
    let flat = || rows.iter().flatten().copied();
    Workplace::new()
        .with("codes.npy", codes().bytes())
        .with("codes.csv", format!("c0,c1,c2,c3,label\n{table}"))
        .with("wide.npy", u16s(&[ROWS, CLASSES], flat().map(|step| step * 255)).bytes())
        .with("probs.npy", f32s(&[ROWS, CLASSES], flat().map(|step| f32::from(step) / 256.0)).bytes())
        .with("wide_probs.npy", {
            let probs = flat().map(|step| f32::from(step * 255) * (1.0 / 65_280.0));
            f32s(&[ROWS, CLASSES], probs).bytes()
        })
        .with("labels.npy", i64s(labels).bytes())
}

/// Class, probability, epsilon and flags of every row, and what comes behind; bins without codes are left out, so that the
/// numbers of bins differ.
fn applied(place: &Workplace, artifact: &str, scores: &str) -> Vec<Vec<String>> {
    place.ok(&format!("calib apply {artifact} {scores} -o out.csv --force"));
    let (header, rows) = place.table("out.csv");
    assert_eq!(
        (&header[..5], rows.len()),
        (&["class", "prob", "bin", "epsilon", "flags"].map(str::to_owned)[..], ROWS)
    );
    let kept =
        |row: Vec<String>| row.into_iter().enumerate().filter(|(i, _)| *i != 2).map(|(_, field)| field);
    rows.into_iter().map(|row| kept(row).collect()).collect()
}

#[test]
fn a_fit_to_codes_is_the_fit_to_the_probabilities_they_stand_for() {
    let place = place();
    let fit = |what: &str, output: &str| place.json(&format!("calib fit {what} -o {output} --force --json"));
    for reduction in ["confidence", "top-label"] {
        for method in [
            "umd --rows-per-bin 50",
            "ums --rows-per-bin 50 --seed 3",
            "fixed-width --bins 10",
            "isotonic",
            "isotonic-interpolated",
            "scaling-binning-one-set --bins 4",
            "platt",
            "beta",
        ] {
            let what = format!("--method {method} --reduction {reduction}");
            let on_probs = fit(&format!("{what} --probs probs.npy --labels labels.npy"), "probs.bin");
            let expected_rows = applied(&place, "probs.bin", "--probs probs.npy");
            for source in [
                "--probs codes.npy --labels labels.npy".to_owned(),
                format!("--probs codes.csv --score-column {COLUMNS}"),
            ] {
                let on_codes = fit(&format!("{what} {source} {SOFTMAX}"), "codes.bin");
                for key in ["n", "reduction", "guarantee", "statement", "uncalibrated"] {
                    assert_eq!(on_codes[key], on_probs[key], "{what}: {key}");
                }
                let inspected = place.inspect("codes.bin");
                assert_eq!(inspected["encoding"], "i8 (scale 0.00390625, zero point -128)");
                let forms = inspected["tables"].list().iter().filter(|table| !table.is_null());
                assert!(forms.clone().count() > 0 && forms.clone().all(|table| table["form"] == "codes"));
                for scores in ["--probs codes.npy", &format!("--probs codes.csv --score-column {COLUMNS}")] {
                    assert_eq!(applied(&place, "codes.bin", scores), expected_rows, "{what} {scores}");
                }
            }
        }
    }
}

#[test]
fn equal_codes_predict_the_lowest_class() {
    let place = place();
    let (rows, _) = steps();
    place.ok(&format!(
        "calib fit --method isotonic --reduction confidence --probs codes.npy --labels labels.npy {SOFTMAX} -o cal.bin"
    ));
    let mut ties = 0;
    for (row, applied) in rows.iter().zip(applied(&place, "cal.bin", "--probs codes.npy")) {
        let most = *row.iter().max().unwrap();
        ties += usize::from(row.iter().filter(|&&step| step == most).count() > 1);
        let first = row.iter().position(|&step| step == most).unwrap();
        assert_eq!(applied[0], first.to_string());
    }
    assert!(ties > 0);
}

#[test]
fn sixteen_bit_codes_and_tables_of_16_bits_and_direct_tables() {
    let place = place();
    let wide = "--score-encoding u16,1/65280,0";
    let what = "--method umd --rows-per-bin 50 --reduction top-label --labels labels.npy";
    place.ok(&format!("calib fit {what} --probs wide_probs.npy -o probs.bin"));
    place.ok(&format!("calib fit {what} --probs wide.npy {wide} -o wide.bin"));
    let expected = applied(&place, "probs.bin", "--probs wide_probs.npy");
    assert_eq!(applied(&place, "wide.bin", "--probs wide.npy"), expected);

    let fit = |options: &str| {
        place.ok(&format!("calib fit {what} --probs codes.npy {SOFTMAX} {options} -o cal.bin --force"));
        (place.inspect("cal.bin"), applied(&place, "cal.bin", "--probs codes.npy"))
    };
    let (plain, rows) = fit("");
    let (direct, same) = fit("--table direct");
    assert_eq!((&direct["tables"][0]["direct_table"], &same), (&true.into(), &rows));
    let more = direct["len_bytes"].whole() - plain["len_bytes"].whole();
    let each = direct["tables"][0]["direct_table_len_bytes"].whole();
    assert_eq!(more, 8 + each * CLASSES as u64);
    assert_eq!(plain["tables"][0]["direct_table"], false);
    let (compact, near) = fit("--table u16");
    assert!(compact["len_bytes"].as_u64() < plain["len_bytes"].as_u64());
    for (a, b) in rows.iter().zip(&near) {
        assert_eq!((&a[0], &a[3]), (&b[0], &b[3]));
        if !a[1].is_empty() {
            assert!(
                (a[1].parse::<f64>().unwrap() - b[1].parse::<f64>().unwrap()).abs() <= 0.5 / 32_768.0 + 1e-7
            );
        }
    }
}

/// An assessment without the edges of ranges, which are codes or scores.
fn without_edges(mut assessed: Value) -> Value {
    for range in assessed["verdict"]["ranges"].as_array_mut().unwrap() {
        let edges = range.as_object_mut().unwrap().remove("scores");
        assert!(edges.is_some(), "{range}");
    }
    assessed
}

#[test]
fn an_artifact_over_codes_is_assessed_reported_and_exported() {
    let place = place();
    let what = "--method umd --rows-per-bin 50 --reduction top-label --labels labels.npy";
    place.ok(&format!("calib fit {what} --probs probs.npy -o probs.bin"));
    place.ok(&format!("calib fit {what} --probs codes.npy {SOFTMAX} -o codes.bin"));
    let expected = without_edges(
        place.json("calib assess probs.bin --same-rows --probs probs.npy --labels labels.npy --json"),
    );
    for source in
        ["--probs codes.npy --labels labels.npy", &format!("--probs codes.csv --score-column {COLUMNS}")]
    {
        let got = place.json(&format!("calib assess codes.bin --same-rows {source} --json"));
        assert_eq!(without_edges(got), expected);
    }
    let page = |artifact: &str, scores: &str, options: &str| {
        place.json(&format!(
            "calib report {artifact} --same-rows --calibration {scores} --test {scores} {options} --bootstrap 20 --json"
        ))
    };
    let labels = "--calibration-labels labels.npy --test-labels labels.npy";
    let of_codes = page("codes.bin", "codes.npy", labels);
    let of_probs = page("probs.bin", "probs.npy", &format!("{labels} --probs"));
    assert_eq!(of_codes["calibrator"]["encoding"], "i8 (scale 0.00390625, zero point -128)");
    assert!(of_codes["metrics"]["after"]["n"].is_u64());
    assert_eq!(of_codes["metrics"], of_probs["metrics"]);
    assert_eq!(
        page("codes.bin", "codes.csv", &format!("--score-column {COLUMNS}"))["plots"],
        of_codes["plots"]
    );

    place.ok("calib export codes.bin --format c -o cal.h");
    let header = place.text("cal.h");
    assert!(header.contains("calib_top_label(") && header.contains("int8_t"), "{header}");
    place.ok("calib export codes.bin --format rust -o cal.rs");
    assert!(place.text("cal.rs").contains("CodeTable::new"));
    place.says("calib inspect codes.bin");
    said!();
}

#[test]
fn codes_of_binary_scores_are_assessed_and_reported_too() {
    let line = |row: usize| {
        let code = (row * 37 % 256) as i32 - 128;
        let label = u8::from(noise(row) * 256.0 < f64::from(code + 128));
        (code, label)
    };
    let rows: Vec<_> = (0..1024).map(line).collect();
    let codes: String = rows.iter().map(|(code, label)| format!("{code},{label}\n")).collect();
    let floats: String =
        rows.iter().map(|(code, label)| format!("{},{label}\n", f64::from(code + 128) / 256.0)).collect();
    let place = Workplace::new()
        .with("codes.csv", format!("score,label\n{codes}"))
        .with("floats.csv", format!("score,label\n{floats}"));
    place.ok("calib fit --method ums --bins 5 --scores floats.csv -o floats.bin");
    place.ok(&format!("calib fit --method ums --bins 5 --scores codes.csv {SOFTMAX} -o codes.bin"));
    let assessed = |name: &str| {
        without_edges(place.json(&format!("calib assess {name}.bin --same-rows --scores {name}.csv --json")))
    };
    assert_eq!(assessed("codes"), assessed("floats"));
    let reported = |name: &str| {
        place.json(&format!(
            "calib report {name}.bin --same-rows --calibration {name}.csv --test {name}.csv --bootstrap 20 --json"
        ))["plots"]
            .take()
    };
    assert_eq!(reported("codes"), reported("floats"));
}

/// A fit to this file, with what it needs.
#[track_caller]
fn bad(name: &'static str, content: impl AsRef<[u8]>, options: &str) {
    let line = format!(
        "calib fit --method isotonic --reduction top-label --probs {name} {SOFTMAX} {options} -o out"
    );
    refused(&[(name, content.as_ref().to_vec())], &line);
}

#[test]
fn bad_codes_are_refused_with_row_and_column() {
    let labels = "--labels labels.npy";
    let good = [0i64, 0, -128].repeat(40);
    let with = |at: usize, code: i64| {
        let mut codes = good.clone();
        codes[at] = code;
        i64s(codes).shape(&[40, 3]).bytes()
    };
    bad("bad.npy", with(7, 128), labels);
    bad("bad.npy", with(3, -1000), labels);
    bad("bad.npy", with(3, 20), labels);
    bad("bad.npy", f32s(&[40, 3], [0.5, 0.5, 0.0].repeat(40)).bytes(), labels);
    bad("bad.npy", i64s([]).shape(&[0, 3]).bytes(), labels);
    bad("bad.npy", i64s(good.clone()).bytes(), labels);
    bad("bad.npy", i64s([0i64; 120]).shape(&[60, 2]).bytes(), labels);
    let column = "--score-column a,b,c";
    let table = |rows: &str| format!("a,b,c,label\n0,0,-128,1\n{rows}");
    bad("bad.csv", table("0,128,0,0\n"), column);
    bad("bad.csv", table("0,0,0.5,0\n"), column);
    bad("bad.csv", table("100,100,100,0\n"), column);
    bad("bad.csv", table("0,0,-128,3\n"), column);
    bad("bad.csv", table(""), "--score-column a,b,d");
    bad("bad.csv", table(""), "--score-column a");
    let signed = "calib fit --method isotonic --reduction top-label --probs bad.csv --score-column a,b,c \
                  --score-encoding i8,1/128,0 -o out";
    refused(&[("bad.csv", table("").into_bytes())], signed);
    said!();
}

#[test]
fn what_codes_of_classes_cannot_say_is_a_wrong_use() {
    let files = || [("codes.npy", codes().shape(&[ROWS, CLASSES]).bytes())];
    let fit = |options: &str| {
        let line = format!("calib fit --method isotonic {options} {SOFTMAX} -o out");
        refused(&files(), &line);
    };
    for reduction in ["class-wise", "normalized", "top-k-label --k 2", "top-k-confidence --k 2"] {
        fit(&format!("--reduction {reduction} --probs codes.npy --labels labels.npy"));
    }
    fit("--probs codes.npy --labels labels.npy");
    fit("--reduction top-label --logits codes.npy --labels labels.npy");
    fit("--reduction top-label --probs codes.npy");
    let table = [("codes.csv", b"a,b,label\n0,0,1\n".to_vec())];
    refused(
        &table,
        &format!("calib fit --method isotonic --reduction top-label --probs codes.csv {SOFTMAX} -o out"),
    );
    let place = place();
    for method in ["umd-randomized --bins 4", "venn-abers"] {
        place.says(&format!(
            "calib fit --method {method} --reduction confidence --probs codes.npy --labels labels.npy {SOFTMAX} -o none"
        ));
    }
    said!();
}

#[test]
fn other_scores_than_the_artifacts_are_told_apart() {
    let place = place()
        .with("three.npy", i8s(&[2, 3], [127i8, -128, -128, 0, 0, -128]).bytes())
        .with("logits.npy", f32s(&[1, CLASSES], [1.0, 2.0, 3.0, 4.0]).bytes());
    let what = "--method isotonic --reduction top-label --labels labels.npy";
    place.ok(&format!("calib fit {what} --probs codes.npy {SOFTMAX} -o codes.bin"));
    place.ok(&format!("calib fit {what} --probs probs.npy -o probs.bin"));
    for line in [
        "apply codes.bin --probs three.npy",
        "apply codes.bin --logits logits.npy",
        "apply codes.bin --probs probs.npy",
        "apply probs.bin --probs codes.npy",
    ] {
        place.says(&format!("calib {line} -o none"));
    }
    place.says("calib assess codes.bin --logits logits.npy --labels labels.npy");
    said!();
}

#[test]
fn tables_of_other_formats_hold_codes_too() {
    let place = place();
    let lines: String = place
        .table("codes.csv")
        .1
        .iter()
        .map(|row| {
            let [a, b, c, d, label] = &row[..] else { panic!("five columns") };
            format!("{{\"c0\": {a}, \"c1\": {b}, \"c2\": {c}, \"c3\": {d}, \"label\": {label}}}\n")
        })
        .collect();
    let place = place.with("codes.jsonl", lines);
    let fit = |source: &str| {
        place.ok(&format!(
            "calib fit --method umd --rows-per-bin 50 --reduction top-label {source} {SOFTMAX} -o out.bin --force"
        ));
        without_origin(place.inspect("out.bin"))
    };
    let expected = fit("--probs codes.npy --labels labels.npy");
    assert_eq!(fit(&format!("--probs codes.jsonl --score-column {COLUMNS}")), expected);
    assert_eq!(fit(&format!("--probs codes.csv --labels labels.npy --score-column {COLUMNS}")), expected);
}

#[cfg(feature = "arrow")]
#[test]
fn an_array_of_an_archive_is_a_matrix_of_codes() {
    use crate::written::npz;

    let members = [("probs", codes()), ("other", i8s(&[1, 2], [0i8, 0]))];
    let place = place().with("codes.npz", npz(&members, zip::CompressionMethod::Deflated));
    let fit = |source: &str| {
        place.ok(&format!(
            "calib fit --method isotonic --reduction top-label {source} --labels labels.npy {SOFTMAX} -o out --force"
        ));
        without_origin(place.inspect("out"))
    };
    let expected = fit("--probs codes.npy");
    assert_eq!(fit("--probs codes.npz"), expected);
    assert_eq!(fit("--probs codes.npz --score-column probs"), expected);
    place.says(
        "calib fit --method isotonic --reduction top-label --probs codes.npz --score-column other --labels labels.npy \
         --score-encoding i8,1/128,-128 -o none",
    );
    said!();
}
