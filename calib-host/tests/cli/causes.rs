//! Errors with the cause that is true, and a hint that works; and verdicts that do not say more than the rows do.

use std::process::Child;

use arrow_array::types::Int8Type;
use arrow_array::{DictionaryArray, Float64Array, LargeStringArray, ListArray, StringArray, StringViewArray};
use parquet::basic::Compression as Codec;
use serde_json::{Value, json};

use crate::data::{Json, binary, csv};
use crate::workplace::Workplace;
use crate::written::{arrow_file, arrow_stream, batch, column, parquet};

#[track_caller]
fn refused(place: &Workplace, line: &str, code: i32, words: &[&str]) {
    let run = place.run(line);
    assert_eq!(run.code, code, "{line}\n{}{}", run.stdout, run.stderr);
    for word in words {
        assert!(run.stderr.contains(word), "{line}: {word} is not in {}", run.stderr);
    }
}

/// Two decimals each of three classes, and 1,000 codes of 8 bits: sums of .99 and .8.
#[test]
fn rows_that_rounding_took_from_1_are_told_as_that() {
    let rounding = "if rounding did it, write more decimals, or divide each row by its sum";
    let rows = "0.5,0.3,0.2,1\n0.1,0.1,0.8,2\n".repeat(20);
    for (row, sum) in [
        ("0.33,0.33,0.33,0", "0.99"),
        ("0.34,0.34,0.34,0", "1.02"),
        ("0.2,0.3,0.3,0", "0.8"),
        ("0.4,0.4,0.4,0", "1.2"),
    ] {
        let place = Workplace::new().with("t.csv", format!("p0,p1,p2,label\n{row}\n{rows}"));
        for line in ["calib fit --probs t.csv -o x.bin", "calib sets --probs t.csv -o x.bin"] {
            let said = format!("t.csv, line 2: the probabilities sum to {sum}");
            refused(&place, line, 3, &[&said, rounding, "--logits instead of --probs"]);
        }
    }
    for row in ["0.2,0.2,0.2,0", "0.5,0.5,0.5,0"] {
        let place = Workplace::new().with("t.csv", format!("p0,p1,p2,label\n{row}\n{rows}"));
        let run = place.run("calib fit --probs t.csv -o x.bin");
        assert!(run.code == 3 && !run.stderr.contains("rounding"), "{}", run.stderr);
    }
}

/// As pandas writes a category or a string, and Polars a String.
#[test]
fn labels_that_are_texts_of_numbers_are_read_in_every_columnar_format() {
    let rows = binary(400);
    let texts: Vec<String> = rows.iter().map(|row| row.1.to_string()).collect();
    let texts = || texts.iter().map(String::as_str);
    let scores: Vec<f64> = rows.iter().map(|row| row.0.into()).collect();
    let place = Workplace::new().with("t.csv", csv(&rows));
    place.ok("calib fit t.csv --method isotonic -o csv.bin");
    let values = |name: &str| place.inspect(name)["tables"].clone();
    let expected = values("csv.bin");
    for (of, labels) in [
        ("dictionary", column::<DictionaryArray<Int8Type>>(texts().collect::<DictionaryArray<Int8Type>>())),
        ("text", column::<StringArray>(texts().collect::<Vec<_>>())),
        ("large", column::<LargeStringArray>(texts().collect::<Vec<_>>())),
        ("view", column::<StringViewArray>(texts().collect::<Vec<_>>())),
    ] {
        let table = batch(&[("score", column::<Float64Array>(scores.clone())), ("label", labels)]);
        for (name, bytes) in [
            ("t.arrow", arrow_file(&table, None)),
            ("t.arrows", arrow_stream(&table, None)),
            ("t.parquet", parquet(&table, Codec::SNAPPY)),
        ] {
            std::fs::write(place.path().join(name), bytes).unwrap();
            place.ok(&format!("calib fit {name} --method isotonic -o x.bin --force"));
            assert_eq!(values("x.bin"), expected, "{of} {name}");
        }
    }
}

/// A right calibrator, and two rows without an event.
#[test]
fn two_rows_of_one_label_say_neither_worse_nor_better() {
    let rows: String = (0..2000).map(|row| format!("0.02,{}\n", u8::from(row < 80))).collect();
    let place = Workplace::new()
        .with("cal.csv", format!("score,label\n{rows}"))
        .with("few.csv", "score,label\n0.02,0\n0.02,0\n")
        .with("ones.csv", "score,label\n0.02,1\n0.02,1\n");
    place.ok("calib fit cal.csv --method isotonic -o cal.bin");
    for test in ["few.csv", "ones.csv"] {
        for line in [
            format!("calib assess cal.bin {test}"),
            format!("calib assess cal.bin {test} --bootstrap 200"),
            format!("calib report cal.bin --calibration cal.csv --test {test} -o page.html --force"),
        ] {
            let run = place.ok(&line);
            let said = format!("{}{}", run.stdout, run.words()).replace('\n', " ");
            assert!(
                said.contains("too few events for an interval): the test rows do not show"),
                "{line}: {said}"
            );
            for verdict in
                ["surely", "probabilities worse", "probabilities better", "are worse", "are better"]
            {
                assert!(!said.contains(verdict), "{line}: {verdict} in {said}");
            }
        }
        if test == "few.csv" {
            assert!(place.text("page.html").contains("Calibration makes no significant difference"));
        }
    }
}

/// What pandas and Python write that is one object, and not one for each row.
#[test]
fn json_that_is_one_object_is_refused_with_a_hint_that_works() {
    let rows = binary(60);
    let number = |row: &(f32, u8)| json!({"score": row.0, "label": row.1});
    let by_index: serde_json::Map<String, Value> =
        rows.iter().enumerate().map(|(at, row)| (at.to_string(), number(row))).collect();
    let of = |name: &str| -> serde_json::Map<String, Value> {
        by_index.iter().map(|(at, row)| (at.clone(), row[name].clone())).collect()
    };
    let list = |name: &str| by_index.values().map(|row| row[name].clone()).collect::<Vec<_>>();
    let records: Vec<Value> = rows.iter().map(number).collect();
    let data: Vec<[Value; 2]> =
        records.iter().map(|row| [row["score"].clone(), row["label"].clone()]).collect();
    for (orient, table) in [
        ("index", Value::Object(by_index.clone())),
        ("columns", json!({"score": of("score"), "label": of("label")})),
        ("split", json!({"columns": ["score", "label"], "index": [0], "data": data})),
        ("table", json!({"schema": {"fields": []}, "data": records})),
        ("lists", json!({"score": list("score"), "label": list("label")})),
    ] {
        let place = Workplace::new().with("t.json", table.to_string());
        for line in ["calib fit t.json -o x.bin", "calib fit --probs t.json -o x.bin", "calib compare t.json"]
        {
            let cause =
                "t.json, line 1: the values of the object are lists or objects, and not those of one row";
            refused(
                &place,
                line,
                3,
                &[
                    cause,
                    "write one object a line; pandas does it with to_json(orient=\"records\", lines=True)",
                ],
            );
            assert!(!place.run(line).stderr.contains("reduction"), "{orient}");
        }
    }
    // As the hint has it; what is nested beside a score is not looked at.
    let line = |row: &Value| {
        let mut row = row.clone();
        row["more"] = json!({"list": [1]});
        format!("{row}\n")
    };
    let place = Workplace::new().with("t.json", records.iter().map(line).collect::<String>());
    place.ok("calib fit t.json -o x.bin");
}

#[test]
fn columns_of_lists_have_a_hint_of_their_own() {
    let rows = binary(60);
    let probs = |row: &(f32, u8)| [1.0 - f64::from(row.0), f64::from(row.0) / 2.0, f64::from(row.0) / 2.0];
    let lists = || {
        ListArray::from_iter_primitive::<arrow_array::types::Float64Type, _, _>(
            rows.iter().map(|row| Some(probs(row).map(Some))),
        )
    };
    let labels: Vec<f64> = rows.iter().map(|row| row.1.into()).collect();
    let table = batch(&[("p", column::<ListArray>(lists())), ("label", column::<Float64Array>(labels))]);
    let place = Workplace::new()
        .with("t.parquet", parquet(&table, Codec::SNAPPY))
        .with("t.arrow", arrow_file(&table, None))
        .with(
            "t.jsonl",
            rows.iter()
                .map(|row| format!("{{\"p\": [{}], \"label\": {}}}\n", row.0, row.1))
                .collect::<String>(),
        );
    for name in ["t.parquet", "t.arrow", "t.jsonl"] {
        let line = format!("calib fit {name} --score-column p -o x.bin");
        let hint = "of a column of lists make a column for each class, as pandas does with pandas.DataFrame(table[\"p\"].tolist())";
        refused(&place, &line, 3, &["column p: the column holds ", hint]);
        assert!(!place.run(&line).stderr.contains("to_json"), "{name}");
    }
    // As pandas makes it.
    let rows: String = rows
        .iter()
        .map(|row| (probs(row), row.1))
        .map(|([a, b, c], label)| format!("{a},{b},{c},{label}\n"))
        .collect();
    let place = Workplace::new().with("t.csv", format!("p0,p1,p2,label\n{rows}"));
    place.ok("calib fit --probs t.csv --method temperature -o x.bin");
}

/// What is printed can be run again.
#[test]
fn a_path_that_begins_with_a_dash_is_no_option_of_the_next_command() {
    let rows = csv(&binary(400));
    let place = Workplace::new()
        .with("-z.csv", &rows)
        .with("-t.csv", csv(&binary(300)))
        .with("-s-t.csv", rows.replacen("score", "-s", 1));
    let next = |line: &str| {
        let run = place.ok(line);
        let next = run.stderr.lines().find_map(|line| line.strip_prefix("next: ")).map(str::to_owned);
        next.unwrap_or_else(|| panic!("{line}: {}", run.stderr))
    };
    let fit = next("calib fit --method isotonic -- -z.csv");
    assert_eq!(fit, "calib report ./-z.cal --calibration ./-z.csv --test TEST -o report.html");
    place.ok(&fit.replace("TEST", "./-t.csv"));
    let named = next("calib fit --method isotonic --scores=-s-t.csv --score-column=-s -o=-n.cal");
    assert_eq!(
        named,
        "calib report ./-n.cal --calibration ./-s-t.csv --test TEST '--score-column=-s' -o report.html"
    );
    place.ok(&format!("{} --force", named.replace('\'', "").replace("TEST", "./-s-t.csv --same-rows")));
    let judged = next("calib assess --scores=-t.csv -- -z.cal");
    assert!(
        judged.starts_with("calib report ./-z.cal --calibration CALIBRATION --test ./-t.csv "),
        "{judged}"
    );
    place.ok(&format!("{} --force", judged.replace("CALIBRATION", "./-z.csv")));
    let applied = next("calib apply --scores=-t.csv -o=-o.csv -- -z.cal");
    assert_eq!(applied, "calib assess --probs ./-o.csv");
    place.ok(&applied);
    place.ok("calib fit -o=-c.cal --method isotonic --counter 1 -- -z.csv");
    let sign = next("calib keygen -o=-k.pem");
    assert_eq!(sign, "calib sign ARTIFACT --key ./-k.pem -o signed.bin");
    place.ok(&sign.replace("ARTIFACT", "./-c.cal"));
    let labels =
        rows.lines().map(|line| line.replace(",0", ",5").replace(",1", ",-2") + "\n").collect::<String>();
    let place = place.with("l.csv", labels);
    let next = |line: &str| {
        let run = place.ok(line);
        run.stderr.lines().find_map(|line| line.strip_prefix("next: ")).unwrap().replace('\'', "")
    };
    for line in [
        "calib fit --method isotonic -o l.cal --positive-label=-2 l.csv",
        "calib compare --folds 2 --positive-label=-2 l.csv",
    ] {
        let next = next(line);
        assert!(next.contains(" --positive-label=-2"), "{next}");
        place.ok(&format!("{} --force", next.replace("TEST", "l.csv --same-rows")));
    }
    let compared = next("calib compare --folds 2 --scores=-z.csv");
    assert!(compared.contains(" ./-z.csv "), "{compared}");
    place.ok(&format!("{compared} --force"));
}

#[test]
fn a_query_is_printed_byte_for_byte() {
    let place = Workplace::new();
    let out = |dialect: &str, name: &str| {
        let mut command = place.command(&format!("sql --from t --dialect {dialect} --score-column"));
        let out = command.arg(name).output().unwrap();
        assert!(out.status.success(), "{name:?}");
        out.stdout
    };
    for name in ["a\tb", "a\u{202e}b", "a\u{9b}b", "\u{e9}\u{7f}"] {
        for (dialect, quote) in [("duckdb", "\""), ("spark", "`"), ("postgres", "\"")] {
            let text = out(dialect, name);
            let wanted = format!("{quote}{name}{quote}");
            assert!(text.windows(wanted.len()).any(|part| part == wanted.as_bytes()), "{name:?} {dialect}");
        }
    }
    let path = place.path().join("query.sql");
    let mut command = place.command("sql --from t --dialect duckdb --score-column");
    let status = command.arg("a\tb").stdout(std::fs::File::create(&path).unwrap()).status().unwrap();
    assert!(status.success());
    assert_eq!(std::fs::read(path).unwrap(), out("duckdb", "a\tb"));
}

#[test]
fn a_column_that_spark_takes_for_a_variable_is_refused() {
    let place = Workplace::new();
    for option in ["--score-column a${x}b", "--label-column ${y}", "--group-column ${env:HOME}"] {
        let line = format!("calib sql --dialect spark --from t {option}");
        refused(&place, &line, 2, &["Spark puts a variable in the place of ${...}", "rename the column"]);
        place.ok(&line.replace("spark", "duckdb"));
    }
    place.ok("calib sql --dialect spark --from t --score-column $a{b}");
}

/// Six at once leave the two halves of one pair.
#[test]
fn keys_that_are_written_at_once_are_a_pair() {
    let place = Workplace::new().with("t.csv", csv(&binary(100)));
    place.ok("calib fit t.csv --method isotonic --counter 1 -o cal.bin");
    for round in 0..12 {
        let all: Vec<Child> =
            (0..6).map(|_| place.command("keygen -o k.pem --force --quiet").spawn().unwrap()).collect();
        for mut one in all {
            assert!(one.wait().unwrap().success(), "{round}");
        }
        place.ok("calib sign cal.bin --key k.pem -o signed.bin --force");
        let run = place.run("calib verify signed.bin --key k.pem.pub");
        assert_eq!(run.code, 0, "{round}: {}", run.stderr);
    }
}

/// Where nothing is guaranteed, that is told once, and no other epsilon is spoken of.
#[test]
fn an_epsilon_of_1_or_more_is_no_wide_one() {
    let rows = |every: u32| {
        let row = |i: u32| format!("{},{}\n", f64::from(i) / 512.0, u8::from(i % every == 5));
        format!("score,label\n{}", (0..450).map(row).collect::<String>())
    };
    let [nothing, wide] = ["There is no useful guarantee", "Epsilon is wider than every probability"];
    let place = Workplace::new().with("rare.csv", rows(1000));
    let place = place.with("t.csv", rows(90));
    for (table, options, told) in [
        ("t.csv", "--bins 150 --bound hoeffding", [true, false]),
        ("t.csv", "--bins 4 --bound hoeffding", [false, true]),
        ("rare.csv", "--bins 150 --bound hoeffding", [true, false]),
        ("rare.csv", "--bins 3", [false, true]),
    ] {
        for json in ["", "--all"] {
            let said = place
                .ok(&format!("calib fit {table} --method umd {options} {json} -o x.bin --force"))
                .words();
            assert_eq!([nothing, wide].map(|words| said.contains(words)), told, "{table} {options}: {said}");
        }
        let held = place.ok("calib inspect x.bin").stdout;
        assert_eq!(held.contains(nothing), told[0], "{held}");
    }
}

/// Within chance the values of bins may fall: the guarantee holds. What chance does not explain is told.
#[test]
fn bins_that_fall_are_told_where_chance_does_not_explain_it() {
    let table = |rates: [u32; 4]| {
        let row = |i: u32| {
            let (bin, at) = (i / 500, i % 500);
            format!("{},{}\n", f64::from(i) / 2048.0, u8::from(at * 7 % 100 < rates[bin as usize]))
        };
        format!("score,label\n{}", (0..2000).map(row).collect::<String>())
    };
    let told = "warning: The calibrator is not increasing everywhere: the event rate falls from within [0.";
    let place = Workplace::new()
        .with("chance.csv", table([11, 23, 18, 60]))
        .with("falls.csv", table([11, 43, 18, 60]));
    for method in ["umd --bins 4", "ums --bins 4", "umd-randomized --bins 4"] {
        let [chance, falls] = ["chance", "falls"]
            .map(|name| place.ok(&format!("calib fit {name}.csv --method {method} -o {name}.bin --force")));
        assert!(!chance.stderr.contains("increasing"), "{method}: {}", chance.stderr);
        assert!(falls.stderr.contains(told), "{method}: {}", falls.stderr);
        let values = place.inspect("chance.bin")["tables"][0]["values"].clone();
        let values = values.list().iter().map(Json::number).collect::<Vec<_>>();
        assert!(!values.is_sorted(), "{method}: {values:?}");
    }
    assert_eq!(place.run("calib fit falls.csv --method umd --bins 4 -o x.bin --fail-on-warning").code, 6);
    let isotonic = place.ok("calib fit falls.csv --method isotonic -o x.bin --force");
    assert!(!isotonic.stderr.contains("increasing"), "{}", isotonic.stderr);
}
