//! Rows that stand for several points, or for a share of one.

use serde_json::Value;

use crate::data::Json;
use crate::transcript::refused;
use crate::workplace::Workplace;

/// Distinct and tied scores with counts of labels 0 and 1.
fn rows() -> Vec<(f32, u32, u32)> {
    (0..60u32).map(|i| ((i as f32 + 0.5) / 60.0, i * 7 % 5, (i * 11 % 4) * (i / 15))).collect()
}

fn table(header: &str, row: impl Fn(&(f32, u32, u32)) -> String) -> String {
    format!("{header}\n{}", rows().iter().map(row).collect::<String>())
}

/// The same points three times: a row each, a row for each score and label, a row for each score.
fn place() -> Workplace {
    let repeated = |&(score, zeros, ones): &(f32, u32, u32)| {
        format!("{score},0\n").repeat(zeros as usize) + &format!("{score},1\n").repeat(ones as usize)
    };
    Workplace::new()
        .with("rows.csv", table("score,label", repeated))
        .with(
            "labels.csv",
            table("score,label,w", |(s, zeros, ones)| format!("{s},0,{zeros}\n{s},1,{ones}.0\n")),
        )
        .with("counts.csv", table("score,n,k", |(s, zeros, ones)| format!("{s},{},{ones}\n", zeros + ones)))
        .with(
            "counts.jsonl",
            rows().iter().fold(String::new(), |text, (s, zeros, ones)| {
                format!("{text}{{\"k\": {ones}, \"n\": {}, \"score\": {s}}}\n", zeros + ones)
            }),
        )
}

/// What a fit is, apart from the file that it came from.
fn without_origin(mut inspected: Value) -> Value {
    inspected["identity"].take();
    inspected["provenance"]["data_sha256"].take();
    inspected
}

#[test]
fn counts_are_the_repeated_rows() {
    let place = place();
    for method in [
        "umd --bins 4",
        "umd-original --rows-per-bin 40",
        "umd-randomized --bins 4 --seed 2",
        "ums --bins 4 --seed 2",
        "fixed-width --bins 10",
        "isotonic",
        "isotonic-interpolated",
        "isotonic --max-bins 3",
        "scaling-binning --bins 4 --seed 2",
        "platt",
        "beta",
        "temperature",
        "venn-abers",
    ] {
        let fit = |file: &str, options: &str| {
            place.ok(&format!(
                "calib fit --method {method} --scores {file} {options} -o {file}.bin --force --quiet"
            ));
            without_origin(place.inspect(&format!("{file}.bin")))
        };
        let expected = fit("rows.csv", "");
        assert_eq!(fit("counts.csv", "--count-columns n,k"), expected, "{method}");
        assert_eq!(fit("counts.jsonl", "--count-columns n,k"), expected, "{method}");
    }
}

#[cfg(feature = "arrow")]
#[test]
fn counts_are_read_from_every_format_by_name() {
    use crate::npy::{f32s, i64s};
    use crate::written::{arrow_file, arrow_stream, batch, column, npz, parquet};
    use arrow_array::{Float32Array, Int64Array, UInt16Array};

    let n = || rows().into_iter().map(|(_, zeros, ones)| zeros + ones);
    let k = || rows().into_iter().map(|row| row.2);
    let record = batch(&[
        ("score", column::<Float32Array>(rows().iter().map(|row| row.0).collect::<Vec<_>>())),
        ("n", column::<UInt16Array>(n().map(|n| n as u16).collect::<Vec<_>>())),
        ("k", column::<Int64Array>(k().map(i64::from).collect::<Vec<_>>())),
    ]);
    let arrays = [
        ("score", f32s(&[60], rows().iter().map(|row| row.0))),
        ("n", i64s(n().map(i64::from))),
        ("k", i64s(k().map(i64::from))),
    ];
    let place = place()
        .with("t.parquet", parquet(&record, parquet::basic::Compression::SNAPPY))
        .with("t.arrow", arrow_file(&record, None))
        .with("t.arrows", arrow_stream(&record, None))
        .with("t.npz", npz(&arrays, zip::CompressionMethod::Deflated));
    let fit = |file: &str| {
        place.ok(&format!("calib fit --method isotonic --scores {file} --count-columns n,k -o {file}.bin"));
        without_origin(place.inspect(&format!("{file}.bin")))
    };
    let expected = fit("counts.csv");
    for file in ["t.parquet", "t.arrow", "t.arrows", "t.npz"] {
        assert_eq!(fit(file), expected, "{file}");
    }
}

#[test]
fn real_weights_guarantee_nothing_and_say_so() {
    let halves = table("score,label,w", |(s, zeros, ones)| {
        format!("{s},0,{}\n{s},1,{}\n", f64::from(*zeros) / 2.0, f64::from(*ones) / 2.0)
    });
    let place = place().with("halves.csv", halves);
    for method in
        ["isotonic", "isotonic --max-bins 3", "isotonic-interpolated", "platt", "beta", "temperature"]
    {
        let fit = |options: &str| {
            place.json(&format!("calib fit --method {method} {options} -o out.bin --force --json --quiet"))
        };
        let expected = fit("--scores rows.csv")["tables"][0].clone();
        let fitted = fit("--scores halves.csv --weight-column w");
        assert_eq!((&fitted["n"], &fitted["weighted"]), (&120.into(), &true.into()), "{method}");
        assert!(fitted["guarantee"].is_null() && fitted["tables"][0]["counts"].is_null(), "{method}");
        assert!(fitted["statement"].text().contains("real weights"), "{method}");
        for name in ["edges", "values", "scores"] {
            assert_eq!(fitted["tables"][0][name], expected[name], "{method} {name}");
        }
        let inspected = place.inspect("out.bin");
        assert_eq!((&inspected["flags"]["weighted"], &inspected["n"]), (&true.into(), &120.into()));
        place.says("calib inspect out.bin");
    }
    for method in [
        "umd --bins 4",
        "umd-randomized --bins 4",
        "fixed-width --bins 4",
        "scaling-binning --bins 4",
        "venn-abers",
        "isotonic --smoothing 1",
    ] {
        place.says(&format!("calib fit --method {method} --scores halves.csv --weight-column w -o none.bin"));
    }
    said!();
}

#[test]
fn bad_weights_are_refused_with_their_place() {
    let weight = |content: &str| {
        let line = "calib fit --method isotonic --scores bad.csv --weight-column w -o out";
        refused(&[("bad.csv", content.into())], line);
    };
    weight("score,label,w\n0.1,0,1\n0.2,1,-0.5\n");
    weight("score,label,w\n0.1,0,nan\n0.2,1,1\n");
    weight("score,label,w\n0.1,0,1\n0.2,1,inf\n");
    weight("score,label,w\n0.1,0,0\n0.2,1,0\n");
    weight("score,label,w\n0.1,0,many\n0.2,1,1\n");
    weight("score,label\n0.1,0\n0.2,1\n");
    said!();
}

#[test]
fn bad_counts_are_refused_with_their_place() {
    let counts = |content: &str| {
        let line = "calib fit --method isotonic --scores bad.csv --count-columns n,k -o out";
        refused(&[("bad.csv", content.into())], line);
    };
    counts("score,n,k\n0.1,2,1\n0.2,3,4\n");
    counts("score,n,k\n0.1,2,0.5\n0.2,3,1\n");
    counts("score,n,k\n0.1,2,1\n0.2,3.5,1\n");
    counts("score,n,k\n0.1,2,-1\n0.2,3,1\n");
    counts("score,n,k\n0.1,9e15,1\n0.2,9e15,1\n");
    counts("score,n,k\n0.1,0,0\n0.2,0,0\n");
    said!();
}

#[test]
fn weights_need_a_table() {
    let labels = "--labels labels.npy --weight-column w -o out";
    refused(&[], &format!("calib fit --method isotonic --scores scores.npy {labels}"));
    refused(&[], &format!("calib fit --method isotonic --reduction top-label --logits logits.npy {labels}"));
    said!();
}

/// Weights have no unit: the same in another one gives the same fit, and never a guarantee.
#[test]
fn whole_weights_are_no_counts() {
    let in_units = |unit: f64| {
        table("score,label,w", |(s, zeros, ones)| {
            format!("{s},0,{}\n{s},1,{}\n", f64::from(*zeros) * unit, f64::from(*ones) * unit)
        })
    };
    let place = place().with("halves.csv", in_units(0.5)).with("many.csv", in_units(200.0));
    let fit = |file: &str| {
        let form = format!(
            "calib fit --method isotonic --scores {file} --weight-column w -o out.bin --force --json --quiet"
        );
        let mut fitted = place.json(&form);
        assert!(fitted["guarantee"].is_null() && fitted["weighted"] == true, "{fitted}");
        fitted["tables"][0].take()
    };
    assert_eq!(fit("labels.csv")["values"], fit("halves.csv")["values"]);
    assert_eq!(fit("labels.csv")["values"], fit("many.csv")["values"]);
    for method in ["umd --bins 4", "ums --bins 4", "fixed-width --bins 4", "umd-randomized --bins 4"] {
        let form = format!("calib fit --method {method} --scores many.csv --weight-column w -o none.bin");
        place.says(&form);
    }
    let both = "--weight-column n --count-columns n,k";
    place.says(&format!("calib fit --method umd --bins 4 --scores counts.csv {both} -o none.bin"));
    said!();
}

/// A weight is no number of points: of how few points a bin of one label rests is not known, and nothing is said of it.
#[test]
fn of_weights_no_fewest_points_are_told() {
    let row = |i: u32| {
        format!(
            "{},{},{}\n",
            f64::from(i) / 400.0,
            u32::from(i > 150 + i * 7 % 100),
            0.5 + f64::from(i % 5) / 2.0
        )
    };
    let table = format!("score,label,w\n{}", (0..400).map(row).collect::<String>());
    let place = Workplace::new().with("weighted.csv", table);
    let run = place.ok("calib fit weighted.csv --method isotonic --weight-column w -o w.cal");
    let shown = place.inspect("w.cal");
    assert!(
        shown["sample"]["pure_bins"].whole() > 0 && shown["sample"]["fewest_in_pure"].is_null(),
        "{shown}"
    );
    for text in [run.stderr, shown.to_string()] {
        assert!(!text.contains(&u32::MAX.to_string()), "{text}");
    }
}
