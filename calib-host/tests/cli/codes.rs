//! Scores that are integer codes.

use crate::data::Json;
use crate::transcript::refused;
use crate::workplace::Workplace;

const SOFTMAX: &str = "--score-encoding i8,1/256,-128";

/// So many rows of codes: label 1 about as often as the score says.
fn table(codes: impl Iterator<Item = i32>) -> String {
    let rows: String = codes
        .enumerate()
        .map(|(row, code)| format!("{code},{}\n", u8::from((row * 97 % 256) as i32 - 128 < code)))
        .collect();
    format!("score,label\n{rows}")
}

/// All 256 codes eight times, as 8-bit and as 16-bit codes.
fn place() -> Workplace {
    let all = || (0..2048).map(|i| i * 37 % 256 - 128);
    let wide = table(all()).lines().fold(String::new(), |text, line| match line.split_once(',') {
        Some((code, label)) if code != "score" => {
            text + &format!("{},{label}\n", code.parse::<i32>().unwrap() * 256 + 128 + 32_768)
        }
        _ => text + line + "\n",
    });
    Workplace::new().with("cal.csv", table(all())).with("u16.csv", wide).with(
        "floats.csv",
        table(all()).lines().fold(String::new(), |text, line| match line.split_once(',') {
            Some(("score", _)) => text + "score,label\n",
            Some((code, label)) => {
                text + &format!("{},{label}\n", (f64::from(code.parse::<i32>().unwrap()) + 128.0) / 256.0)
            }
            None => text,
        }),
    )
}

fn applied(place: &Workplace, artifact: &str, file: &str) -> Vec<Vec<String>> {
    place.ok(&format!("calib apply {artifact} --scores {file} -o out.csv --force"));
    let (header, rows) = place.table("out.csv");
    let from = header.iter().position(|name| name == "prob").unwrap();
    let prob_epsilon_flags = |row: &Vec<String>| [0, 2, 3].map(|i| row[from + i].clone()).to_vec();
    rows.iter().map(prob_epsilon_flags).collect()
}

#[test]
fn a_fit_to_codes_is_the_fit_to_the_scores_they_stand_for() {
    let place = place();
    for (method, guaranteed) in [
        ("umd --bins 5", true),
        ("umd --bins 5 --bound hoeffding", false),
        ("umd-original --bins 5", false),
        ("ums --bins 5 --seed 3", true),
        ("fixed-width --bins 10", true),
        ("fixed-width --bins 1000", true),
        ("isotonic", false),
        ("isotonic-interpolated", false),
        ("isotonic --max-bins 4", false),
        ("scaling-binning --bins 5 --seed 3", false),
        ("platt", false),
        ("platt-prob", false),
        ("beta", false),
        ("temperature", false),
    ] {
        let fit = |options: &str| {
            place.ok(&format!("calib fit --method {method} {options} -o out.bin --force --quiet"));
            place.inspect("out.bin")
        };
        fit("--scores floats.csv");
        let expected = applied(&place, "out.bin", "floats.csv");
        for direct in ["", "--table direct"] {
            let inspected = fit(&format!("--scores cal.csv {SOFTMAX} {direct}"));
            assert_eq!(inspected["tables"][0]["form"], "codes", "{method}");
            assert_eq!(inspected["tables"][0]["direct_table"], !direct.is_empty());
            assert_eq!(inspected["encoding"], "i8 (scale 0.00390625, zero point -128)");
            assert_eq!(inspected["guarantee"].is_object(), guaranteed, "{method}");
            assert_eq!(applied(&place, "out.bin", "cal.csv"), expected, "{method} {direct}");
            let assessed = place.json("calib assess --probs out.csv --json");
            assert_eq!(assessed["n"], 2048);
            let shown = place.ok("calib inspect out.bin --all").stdout;
            assert!(shown.contains("[-128, ") && shown.contains(", 127]"), "{shown}");
            let cost = if direct.is_empty() { "would take" } else { "takes" };
            assert!(shown.contains(&format!("bytes, a direct table {cost} 264 more")), "{shown}");
        }
    }
}

#[test]
fn tables_in_16_bits_have_no_direct_ones() {
    let place = place();
    place.ok(&format!("calib fit --method umd --bins 4 --scores cal.csv {SOFTMAX} --table u16 -o out.bin"));
    place.says("calib inspect out.bin");
    said!();
}

#[test]
fn sixteen_bits_take_steps_and_no_long_function() {
    let place = place();
    let encoding = "--score-encoding u16,1/65536,0";
    let fit = |method: &str| {
        place.says(&format!("calib fit --method {method} --scores u16.csv {encoding} -o out --force"))
    };
    for method in ["ums --bins 5", "isotonic", "scaling-binning-one-set --bins 5", "fixed-width --bins 10"] {
        fit(method);
        assert_eq!(applied(&place, "out", "u16.csv").len(), 2048);
        assert!(place.inspect("out")["tables"][0]["direct_table_len_bytes"].is_null());
    }
    fit("platt");
    fit("isotonic --table direct");
    said!();
}

#[test]
fn what_codes_cannot_say_is_refused() {
    let place = place();
    for method in ["umd-randomized --bins 4", "venn-abers"] {
        place.says(&format!("calib fit --method {method} --scores cal.csv {SOFTMAX} -o none"));
    }
    said!();
}

#[test]
fn bad_codes_are_refused_with_their_place() {
    let fit = |rows: &str, encoding: &str| {
        let content = format!("score,label\n{rows}").into_bytes();
        let line = format!("calib fit --method isotonic --scores bad.csv {encoding} -o out");
        refused(&[("bad.csv", content)], &line);
    };
    fit("5,1\n128,0\n", SOFTMAX);
    fit("0.5,1\n1,0\n", SOFTMAX);
    fit("5,1\n-3,0\n", "--score-encoding i8,0.01,0");
    said!();
}

#[test]
fn impossible_encodings_are_usage_errors() {
    let place = place();
    for encoding in [
        "--score-encoding i8,1/256",
        "--score-encoding i8,1/256,0,0",
        "--score-encoding i9,1/256,0",
        "--score-encoding i8,1/256,0.5",
        "--score-encoding i8,0,0",
        "--score-encoding i8,1/256,128",
        "--table direct",
    ] {
        place.says(&format!("calib fit --method isotonic --scores cal.csv {encoding} -o none"));
    }
    said!();
}

#[test]
fn codes_that_do_not_occur_are_clamped() {
    // Codes from 0 up only; those below stand for scores below 0.
    let rows = table((0..400).map(|i| i % 101));
    let place = Workplace::new().with("cal.csv", rows).with("new.csv", "score\n-100\n0\n100\n127\n");
    place.ok("calib fit --method platt-prob --scores cal.csv --score-encoding i8,0.01,0 -o out");
    let got = applied(&place, "out", "new.csv");
    assert!(got[0] == got[1] && got[2] == got[3] && got[0] != got[3], "{got:?}");
}

#[test]
fn heavy_ties_are_right_and_honest() {
    let guarantee = |content: String, method: &str| {
        let place = Workplace::new().with("cal.csv", content);
        let fit = place
            .json(&format!("calib fit --method {method} --scores cal.csv {SOFTMAX} -o out --json --quiet"));
        let n: u64 = fit["tables"][0]["counts"].list().iter().map(|n| n.whole()).sum();
        (fit["guarantee"].is_object(), fit["bins"].whole(), n)
    };
    // All codes as often as each other, one code only, and nine tenths on one.
    let all = || table((0..2048).map(|i| i * 37 % 256 - 128));
    let one = || table(std::iter::repeat_n(5, 400));
    let most = || table((0..2000).map(|i| if i % 10 == 0 { i / 10 - 100 } else { 60 }));
    for (method, expected) in [
        // Equal codes straddle boundaries: no theorem of a paper, whatever the distribution. Exact intervals hold given the scores.
        ("umd --bins 8 --bound hoeffding", [(false, 8, 2048), (false, 1, 400), (false, 3, 2000)]),
        ("umd --bins 8", [(true, 8, 2048), (true, 1, 400), (true, 3, 2000)]),
        // Edges that the values' points did not choose: the actual counts are guaranteed.
        ("fixed-width --bins 8", [(true, 8, 2048), (true, 8, 400), (true, 8, 2000)]),
        ("isotonic", [(false, 0, 2048), (false, 1, 400), (false, 0, 2000)]),
    ] {
        for (got, expected) in
            [all(), one(), most()].map(|content| guarantee(content, method)).into_iter().zip(expected)
        {
            assert_eq!((got.0, got.2), (expected.0, expected.2), "{method}");
            // Pooling decides how many bins isotonic regression has.
            assert!(expected.1 == 0 && got.1 > 1 || got.1 == expected.1, "{method}: {got:?} {expected:?}");
        }
    }
}

/// JSON speaks of codes and scores as their user does; the keys that the device compares have a name of their own.
#[test]
fn json_gives_edges_in_the_users_units() {
    let place = place();
    let numbers = |value: &serde_json::Value| -> Vec<f64> {
        value.list().iter().map(|number| number.number()).collect()
    };
    for table in ["f32", "u16"] {
        let fitted = place.json(&format!(
            "calib fit --method ums --bins 5 --scores cal.csv {SOFTMAX} --table {table} -o codes.bin --force --json"
        ));
        let (fitted, inspected) = (&fitted["tables"][0], &place.inspect("codes.bin")["tables"][0]);
        for told in [fitted, inspected] {
            let (edges, keys) = (numbers(&told["edges"]), numbers(&told["keys"]));
            assert!(
                edges.len() == 4 && edges.iter().zip(&keys).all(|(code, key)| code + 128.0 == *key),
                "{told}"
            );
        }
        assert_eq!((&fitted["edges"], &fitted["keys"]), (&inspected["edges"], &inspected["keys"]));
    }
    let shown =
        place.ok("calib fit --method ums --bins 5 --scores floats.csv --table u16 -o floats.bin --json");
    let (fitted, inspected) = (&shown.json()["tables"][0], &place.inspect("floats.bin")["tables"][0]);
    assert_eq!(fitted["edges"], inspected["edges"]);
    for (score, key) in numbers(&inspected["edges"]).into_iter().zip(numbers(&inspected["keys"])) {
        assert_eq!((score * 65_535.0).round(), key);
        assert!(score > 0.0 && score < 1.0);
    }
}
