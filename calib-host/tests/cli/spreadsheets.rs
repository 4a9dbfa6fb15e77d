//! Tables as pandas, R, statistics programs, databases and Excel write them, in several countries: read rightly, or refused with what
//! helps.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::workplace::Workplace;

/// Scores with their labels.
fn rows() -> impl Iterator<Item = (f64, bool)> {
    (0..40).map(|row| (f64::from(row * 37 % 40) / 64.0 + 0.125, row * 37 % 40 > 11 && row % 3 > 0))
}

/// A table: its header, what each row begins with, and how a score and a label are written.
fn table(header: &str, row: impl Fn(usize, f64, bool) -> String) -> String {
    let rows = (1..).zip(rows()).map(|(number, (score, label))| row(number, score, label) + "\n");
    format!("{header}\n{}", rows.collect::<String>())
}

/// What is between the score and the label.
fn separated(separator: &str) -> String {
    let header = format!("score{separator}label");
    table(&header, |_, score, label| format!("{score}{separator}{}", u8::from(label)))
}

fn with_comma(score: f64) -> String {
    score.to_string().replace('.', ",")
}

/// Labels of two words.
fn worded(no: &str, yes: &str) -> String {
    table("score,label", |_, score, label| format!("{score},{}", if label { yes } else { no }))
}

fn utf_16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    format!("\u{feff}{text}").encode_utf16().flat_map(to_bytes).collect()
}

/// Every table holds the same scores and labels.
fn readable() -> Vec<(&'static str, Vec<u8>)> {
    let plain = separated(",");
    let german = table("score;label", |_, score, label| format!("{};{}", with_comma(score), u8::from(label)));
    let french =
        table("score;label", |_, s, l| format!("{};{}", with_comma(s), if l { "VRAI" } else { "FAUX" }));
    let unicode_text = table("score\tlabel", |_, s, l| format!("{}\t{}", with_comma(s), u8::from(l)));
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(german.as_bytes()).unwrap();
    let text: Vec<(&str, String)> = vec![
        ("pandas", plain.clone()),
        ("pandas, index", table(",score,label", |i, s, l| format!("{i},{s},{}", u8::from(l)))),
        ("pandas, bool", worded("False", "True")),
        ("pandas, float labels", worded("0.0", "1.0")),
        ("pandas, sep=';'", separated(";")),
        ("pandas, sep='\\t'", separated("\t")),
        ("pandas, sep='|'", separated("|")),
        ("pandas, sep=';', decimal=','", german.clone()),
        ("pandas, QUOTE_ALL", table("\"score\",\"label\"", |_, s, l| format!("\"{s}\",\"{}\"", u8::from(l)))),
        ("pandas, %.6e", table("score,label", |_, s, l| format!("{s:e},{}", u8::from(l)))),
        ("R write.csv", table("\"\",\"score\",\"label\"", |i, s, l| format!("\"{i}\",{s},{}", u8::from(l)))),
        (
            "R write.csv2",
            table("\"\";\"score\";\"label\"", |i, s, l| format!("\"{i}\";{};{}", with_comma(s), u8::from(l))),
        ),
        ("R logical", worded("FALSE", "TRUE")),
        ("R factor", worded("\"no\"", "\"yes\"")),
        (
            "R fwrite, sep=\"|\"",
            table("score|label", |_, s, l| format!("{s}|{}", if l { "TRUE" } else { "FALSE" })),
        ),
        (
            "SPSS, German",
            table("id\tscore\tlabel", |i, s, l| format!("{i}\t{}\t{}", &with_comma(s)[1..], u8::from(l))),
        ),
        ("SAS", table("score,label", |_, s, l| format!("{},{}", &s.to_string()[1..], u8::from(l)))),
        (
            "Stata outsheet",
            table("score\tlabel", |_, s, l| format!("{}\t{}", &s.to_string()[1..], u8::from(l))),
        ),
        ("Excel, English", format!("\u{feff}{}", plain.replace('\n', "\r\n"))),
        ("Excel, German", format!("\u{feff}{}", german.replace('\n', "\r\n"))),
        (
            "Excel, WAHR",
            table("score;label", |_, s, l| {
                format!("{};{}", with_comma(s), if l { "WAHR" } else { "FALSCH" })
            }),
        ),
        ("Excel, French", french),
        ("Excel, sep=;", format!("sep=;\r\n{}", german.replace('\n', "\r\n"))),
        (
            "Excel, text beside",
            table("name;score;label", |i, s, l| format!("\"M, {i}\";{};{}", with_comma(s), u8::from(l))),
        ),
        ("PostgreSQL", worded("f", "t")),
        ("a form, German", worded("nein", "ja")),
        ("a form, French", worded("non", "oui")),
        ("a form, Y and N", worded("N", "Y")),
        ("spaces", table("score, label", |_, s, l| format!("{s}, {}", u8::from(l)))),
        (
            "R write.table, row names",
            table("\"score\",\"label\"", |i, s, l| format!("\"{i}\",{s},{}", u8::from(l))),
        ),
        (
            "R write.table, decimal commas",
            table("\"score\";\"label\"", |i, s, l| format!("\"{i}\";{};{}", with_comma(s), u8::from(l))),
        ),
        ("separators at the ends of rows", table("score,label", |_, s, l| format!("{s},{},", u8::from(l)))),
        (
            "at the ends of all lines",
            table("score;label;", |_, s, l| format!("{};{};", with_comma(s), u8::from(l))),
        ),
        (
            "NumPy savetxt",
            table("# score,label", |_, s, l| format!("{s:.18e},{:.18e}", f64::from(u8::from(l)))),
        ),
        ("comments", format!("# of 2024, a trial\n#\n# all sites\n{german}")),
        ("comments, no header", format!("# of 2024\n{}", plain.replace("score,label\n", ""))),
        ("a column called #", table("#,score,label", |i, s, l| format!("{i},{s},{}", u8::from(l)))),
        (
            "spaces before quotes",
            table("\"score\", \"label\"", |_, s, l| format!("\"{s}\", \"{}\"", u8::from(l))),
        ),
        (
            "a separator behind a space and a quote",
            table("name, score, label", |_, s, l| format!("\"M, J\", \"{s}\", {}", u8::from(l))),
        ),
        ("lines of spaces", format!("{plain}   \n\t\n")),
        ("line ends of old", plain.replace('\n', "\r")),
        ("labels 1,0", table("score;label", |_, s, l| format!("{};{},0", with_comma(s), u8::from(l)))),
        (
            "scientific, German",
            table("score;label", |_, s, l| format!("{};{}", format!("{s:E}").replace('.', ","), u8::from(l))),
        ),
        ("blank lines", format!("{}\n\n", separated(";").replacen('\n', "\n\n", 3))),
        ("no last line feed", german.trim_end().to_owned()),
        (
            "whole numbers and commas",
            table("age;score;label", |i, s, l| format!("{i};{};{}", with_comma(s), u8::from(l))),
        ),
        ("scikit-learn's words", plain.replace("score,label", "y_prob,y_true")),
        ("words of a framework", plain.replace("score,label", "Probability,Target")),
        ("capitals", plain.replace("score,label", "Score,LABEL")),
        (
            "the class that was predicted beside",
            table("y_true,y_pred,y_prob", |_, s, l| format!("{},{},{s}", u8::from(l), u8::from(s > 0.5))),
        ),
        ("R predict", german.replace("score;label", "p.hat;outcome")),
        ("no header", plain.replace("score,label\n", "")),
        ("no header, German", german.replace("score;label\n", "")),
        ("no header, Excel", format!("\u{feff}{}", plain.replace("score,label\n", "").replace('\n', "\r\n"))),
        ("pandas, columns without names", plain.replace("score,label", "0,1")),
        (
            "JSON lines",
            table("", |_, s, l| format!("{{\"score\":{s},\"label\":{l}}}")).trim_start().to_owned(),
        ),
        (
            "JSON lines, yes",
            table("", |_, s, l| format!("{{\"score\":{s},\"label\":\"{}\"}}", if l { "yes" } else { "no" }))
                .trim_start()
                .to_owned(),
        ),
    ];
    let mut all: Vec<_> = text.into_iter().map(|(name, text)| (name, text.into_bytes())).collect();
    all.push(("gzip", packed.finish().unwrap()));
    all.push(("Excel, Unicode text", utf_16(&unicode_text, u16::to_le_bytes)));
    all.push(("UTF-16, big-endian", utf_16(&plain, u16::to_be_bytes)));
    all.push(("UTF-16 without a mark", utf_16(&unicode_text, u16::to_le_bytes)[2..].to_vec()));
    all.push(("big-endian without a mark", utf_16(&plain, u16::to_be_bytes)[2..].to_vec()));
    all
}

const FIT: &str = "calib fit --method umd --bins 4 --scores table.csv -o out.cal --json";

/// What was fitted, without what depends on the bytes of the file.
fn fitted(place: &Workplace, line: &str) -> Value {
    let got = place.json(line);
    serde_json::json!([got["n"], got["tables"]])
}

#[test]
fn ordinary_tables_are_read() {
    let expected = fitted(&Workplace::new().with("table.csv", separated(",")), FIT);
    assert_eq!(expected[0], 40);
    let tables = readable();
    assert!(tables.len() >= 60);
    for (name, bytes) in tables {
        let place = Workplace::new().with("table.csv", bytes);
        let run = place.run(FIT);
        assert_eq!(run.code, 0, "{name}: {}", run.stderr);
        assert_eq!(fitted(&place, &format!("{FIT} --force")), expected, "{name}");
    }
}

/// Labels of two kinds: the option says which is class 1.
#[test]
fn labels_of_two_kinds_are_read_with_the_one_that_is_class_1() {
    let expected = fitted(&Workplace::new().with("table.csv", separated(",")), FIT);
    let json = |no: &str, yes: &str| {
        table("", |_, s, l| format!("{{\"score\":{s},\"label\":{}}}", if l { yes } else { no }))
            .trim_start()
            .to_owned()
    };
    for (name, text, label) in [
        ("SPSS, 1 and 2", worded("1", "2"), "2"),
        ("SPSS, 2 is no", worded("2", "1"), "1"),
        ("floats", worded("1.0", "2.0"), "2"),
        ("SVM", worded("-1", "1"), "1"),
        ("SVM, turned round", worded("1", "-1"), "-1"),
        ("words", worded("control", "case"), "case"),
        ("words with spaces", worded("\"not sick \"", "sick"), "sick"),
        (
            "German",
            table("score;label", |_, s, l| {
                format!("{};{}", with_comma(s), if l { "krank" } else { "gesund" })
            }),
            "krank",
        ),
        ("words that have a meaning", worded("yes", "no"), "no"),
        ("booleans", worded("True", "False"), "false"),
        ("0 is class 1", worded("1", "0"), "0"),
        ("JSON lines", json("\"benign\"", "\"malignant\""), "malignant"),
        ("JSON lines, numbers", json("1", "2"), "2"),
    ] {
        let place = Workplace::new().with("table.csv", text);
        assert_eq!(fitted(&place, &format!("{FIT} --positive-label {label}")), expected, "{name}");
    }
}

/// Rows without a value, as many as are told, in every way that other programs write it.
#[test]
fn rows_that_lack_a_value_are_counted_and_left_out() {
    let expected = fitted(&Workplace::new().with("table.csv", separated(",")), FIT);
    for gap in
        ["", "NaN", "NA", "nan", "null", "#N/A", "<NA>", "None", "n/a", "NULL", "-nan", "1.#IND", "#NA"]
    {
        let rows = separated(",").replacen('\n', &format!("\n{gap},1\n0.5,{gap}\n{gap},{gap}\n"), 1);
        let place = Workplace::new().with("table.csv", rows);
        let line = format!("{FIT} --drop-missing");
        assert_eq!(fitted(&place, &line), expected, "{gap:?}");
        let run = place.ok(&format!("{line} --force"));
        assert!(
            run.stderr.contains("note: table.csv: 3 of 43 rows lack a value and are left out\n"),
            "{}",
            run.stderr
        );
        let left_out = serde_json::json!([{"file": "table.csv", "rows": 3, "of": 43}]);
        assert_eq!(run.json()["left_out"], left_out, "{gap:?}");
    }
    let place = Workplace::new().with("table.csv", separated(","));
    let got = place.json(&format!("{FIT} --drop-missing"));
    assert_eq!((&got["left_out"], &got["notes"]), (&serde_json::json!([]), &Value::Null));
}

/// What is wrong, and the option or the step that helps.
#[test]
fn what_is_not_read_is_refused_with_what_helps() {
    let named = |header: &str| separated(",").replace("score,label", header).into_bytes();
    let worded = |no: &str, yes: &str| worded(no, yes).into_bytes();
    let percent = |sign: &str| table("score,label", |_, s, l| format!("{}{sign},{}", 100.0 * s, u8::from(l)));
    let latin_1 = separated(";").replace("score", "Gr\u{f6}\u{df}e;score").replace("\n0", "\nM;0");
    let latin_1: Vec<u8> = latin_1.chars().map(|c| c as u8).collect();
    let sheet = [&b"PK\x03\x04"[..], &[0; 26], b"[Content_Types].xml"].concat();
    for (name, bytes, problem, help) in [
        (
            "several usual names",
            table("y_prob,proba,y_true", |_, s, l| format!("{s},{s},{}", u8::from(l))).into_bytes(),
            "column score: there is no such column, and several that may be it: \"y_prob\", \"proba\"",
            "--score-column \"y_prob\"",
        ),
        (
            "several labels",
            table("score,target,y_true", |_, s, l| format!("{s},1,{}", u8::from(l))).into_bytes(),
            "several that may be it: \"target\", \"y_true\"",
            "--label-column \"target\"",
        ),
        (
            "unusual names",
            named("wert,klasse"),
            "there is no such column",
            "choose with --score-column, --label-column",
        ),
        (
            "no header, an index",
            table("", |i, s, l| format!("{i},{s},{}", u8::from(l))).trim_start().into(),
            "there is no such column",
            "the columns have no names, and are called 0 to 2: choose with --score-column and --label-column, as in --score-column 1 \
             --label-column 2",
        ),
        (
            "decimal commas between commas",
            table("score,label", |_, s, l| format!("{},{}", with_comma(s), u8::from(l))).into_bytes(),
            "line 2: the number of fields is 3, the header has 2",
            "where numbers have decimal commas, separate the fields by ;",
        ),
        (
            "decimal commas between commas, no header",
            table("", |_, s, l| format!("{},{}", with_comma(s), u8::from(l))).trim_start().into(),
            "there is no such column",
            "where numbers have decimal commas, separate the fields by ;",
        ),
        (
            "decimal commas in quotes",
            table("score,label", |_, s, l| format!("\"{}\",{}", with_comma(s), u8::from(l))).into_bytes(),
            "line 2, column score: \"0,125\" is not a number",
            "write 0.125 for 0,125",
        ),
        (
            "points for thousands",
            table("n;score;label", |i, s, l| format!("{i}.000;{};{}", with_comma(s), u8::from(l)))
                .into_bytes(),
            "line 2, column score: \"0,125\" is not a number",
            "no number has a point",
        ),
        (
            "spaces between fields",
            table("\"score\" \"label\"", |i, s, l| format!("\"{i}\" {s} {}", u8::from(l))).into_bytes(),
            "text follows the quote that closes it, on line 1",
            "separate fields by a comma, a semicolon, a tab or | (R: write.csv; NumPy: delimiter=\",\")",
        ),
        (
            "a title above",
            format!("Results\n\n{}", separated(",")).into_bytes(),
            "line 3: the number of fields is 2, the header has 1",
            "the names of the columns stand in the first line",
        ),
        (
            "both probabilities",
            table("0,1,label", |_, s, l| format!("{},{s},{}", 1.0 - s, u8::from(l))).into_bytes(),
            "column score: there is no such column",
            "if they are the probabilities of two classes, --score-column 1",
        ),
        (
            "labels alone, no header",
            table("", |_, _, l| u8::from(l).to_string()).trim_start().into(),
            "there is no such column",
            "choose with --score-column",
        ),
        (
            "no header, labels first",
            table("", |_, s, l| format!("{},{s}", u8::from(l))).trim_start().into(),
            "is not a whole number",
            "--score-column 1 --label-column 0",
        ),
        (
            "percent",
            percent("").into_bytes(),
            "is outside [0, 1]",
            "if these are percent, divide them by 100",
        ),
        ("percent signs", percent(" %").into_bytes(), "is not a number", "87.3 % is 0.873"),
        (
            "1 and 2",
            worded("1", "2"),
            "the labels are 1 and 2, not 0 and 1",
            "--positive-label 1 or --positive-label 2",
        ),
        (
            "-1 and 1",
            worded("-1", "1"),
            "the labels are -1 and 1, not 0 and 1",
            "--positive-label -1 or --positive-label 1",
        ),
        (
            "classes",
            worded("healthy", "very sick"),
            "the labels are \"healthy\" and \"very sick\", not 0 and 1",
            "--positive-label healthy or --positive-label 'very sick'",
        ),
        (
            "three classes",
            worded("healthy", "sick").iter().copied().chain(*b"0.5,unknown\n").collect(),
            "\"healthy\" is not a whole number",
            "for binary data 0 and 1",
        ),
        (
            "a gap",
            separated(",").replacen(",1\n", ",\n", 1).into_bytes(),
            "the field is empty",
            "--drop-missing",
        ),
        (
            "gaps",
            separated(",").replace(",1\n", ",NA\n").into_bytes(),
            "\"NA\" is not a whole number; 18 of 40 rows lack a value in this column",
            "--drop-missing",
        ),
        (
            "NaN",
            separated(",").replacen("\n0.", "\nnan,1\nnan,0\n0.", 1).into_bytes(),
            "line 2, column score: the value is NaN; 2 of 42 rows lack a value in this column",
            "--drop-missing",
        ),
        ("Latin-1", latin_1, "may be Latin-1 or Windows-1252", "save the file as UTF-8"),
        ("a new spreadsheet", sheet, "this is a spreadsheet", "save the sheet as \"CSV UTF-8\""),
        (
            "an old spreadsheet",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec(),
            "this is a spreadsheet",
            "save the sheet",
        ),
        ("a pickle", b"\x80\x04\x95".to_vec(), "this is a pickle", "DataFrame.to_parquet or to_csv"),
    ] {
        let run = Workplace::new().with("table.csv", bytes).run(FIT);
        assert_eq!(run.code, 3, "{name}: {}", run.stderr);
        let (error, hint) = run.stderr.split_once("\n  hint: ").expect("a hint");
        assert!(error.contains(problem) && hint.contains(help), "{name}: {}", run.stderr);
    }
}

#[test]
fn an_error_in_another_dialect_names_the_line_of_the_file() {
    let text = "score;label\r\n\r\n0,5;1\r\n\"0,25\";0\r\nx;1\r\n";
    let run = Workplace::new().with("table.csv", text).run(FIT);
    assert!(
        run.stderr.contains("\nerror: table.csv, line 5, column score: \"x\" is not a number"),
        "{}",
        run.stderr
    );
}

/// A table without a header, its first row a score of 0, as a text of some rows and as one that is read in pieces.
#[test]
fn a_first_row_of_0_and_1_is_data_where_other_scores_are_written_so() {
    for (separator, rows) in [(",", 600), (",", 60_000), (";", 600), (";", 60_000)] {
        let scores = |row: usize| row * 37 % 101;
        let body = |point: &str| {
            let line = |row: usize| {
                let score = match scores(row) {
                    0 => "0".to_owned(),
                    100 => "1".to_owned(),
                    score => format!("0{point}{score:02}"),
                };
                format!("{score}{separator}{}\n", u8::from(row == 0 || row.is_multiple_of(3)))
            };
            (0..rows).map(line).collect::<String>()
        };
        let point = if separator == ";" { "," } else { "." };
        let body = body(point);
        assert!(body.starts_with(&format!("0{separator}1\n")) && body.contains(&format!("\n0{separator}")));
        let named = Workplace::new().with("table.csv", format!("score{separator}label\n{body}"));
        let expected = fitted(&named, FIT);
        assert_eq!(expected[0], rows);
        for start in ["", "\u{feff}"] {
            let place = Workplace::new().with("table.csv", format!("{start}{body}"));
            assert_eq!(fitted(&place, FIT), expected, "{separator} {rows} {start:?}");
            let run = place.ok(&format!("{FIT} --force"));
            let note = "note: table.csv: the first line is data, so the columns are called 0 to 1\n";
            assert_eq!(run.stderr.matches(note).count(), 1, "{}", run.stderr);
        }
        // An error names the line of the file.
        let place = Workplace::new().with("table.csv", format!("{body}x{separator}1\n"));
        let (run, line) = (place.run(FIT), rows + 1);
        assert!(
            run.code == 3 && run.stderr.contains(&format!("error: table.csv, line {line}, column ")),
            "{}",
            run.stderr
        );
    }
}

/// Both columns are whole numbers: the decisions of a classifier.
#[test]
fn decisions_without_a_header_keep_their_first_row() {
    for first in ["0,1", "1,0"] {
        let rows: String = (0..50).map(|row| format!("{},{}\n", row % 2, row % 5 % 2)).collect();
        let place = Workplace::new().with("table.csv", format!("{first}\n{rows}"));
        let run = place.ok("calib assess --scores table.csv --json");
        assert_eq!(run.json()["n"], 51, "{first}");
        assert!(run.stderr.contains("the first line is data"), "{}", run.stderr);
    }
}

/// pandas numbers columns that have no names, and writes floats with a point.
#[test]
fn numbers_of_columns_are_names_and_that_is_told() {
    for rows in [40, 60_000] {
        let body: String =
            (0..rows).map(|row| format!("0.{:04},{}\n", row * 37 % 10_000, row % 3 % 2)).collect();
        let place = Workplace::new().with("table.csv", format!("0,1\n{body}"));
        let run = place.ok(FIT);
        assert_eq!(run.json()["n"], rows);
        let note = "note: table.csv: the first line, 0 to 1, is taken for the names of the columns; if it is data, write a line with \
                    names above it\n";
        assert_eq!(run.stderr.matches(note).count(), 1, "{}", run.stderr);
    }
    // Of labels alone the first is data, and a header would be one row too many: an error.
    let scores: String = (0..50).map(|row| format!("0.{row:02}\n")).collect();
    let labels: String = (0..50).map(|row| format!("{}\n", row % 2)).collect();
    let place = Workplace::new().with("s.csv", format!("score\n{scores}")).with("y.csv", labels.clone());
    let line = "calib fit --method umd --bins 4 --scores s.csv --labels y.csv -o out.cal --force --json";
    assert_eq!(place.json(line)["n"], 50);
    let run = place.with("y.csv", format!("0\n{labels}")).run(line);
    assert!(run.code == 3 && run.stderr.contains("the first line is data"), "{}", run.stderr);
}

/// Labels in words, without a header: the first line is told by the words that come again.
#[test]
fn words_without_a_header_are_labels() {
    let expected = fitted(&Workplace::new().with("table.csv", separated(",")), FIT);
    for (text, option) in [
        (worded("control", "case"), " --positive-label case"),
        (worded("False", "True"), ""),
        (worded("no", "yes").replace(',', "\t"), ""),
        (table("score;label", |_, s, l| format!("{};{}", with_comma(s), if l { "ja" } else { "nein" })), ""),
    ] {
        let body = text.split_once('\n').unwrap().1;
        let place = Workplace::new().with("table.csv", body);
        assert_eq!(fitted(&place, &format!("{FIT}{option}")), expected, "{body}");
    }
}

/// What would be read as something else without a word of an error.
#[test]
fn nothing_is_taken_for_scores_that_cannot_be() {
    let no_header = |row: &dyn Fn(usize, f64, bool) -> String| {
        (1..).zip(rows()).map(|(number, (score, label))| row(number, score, label) + "\n").collect::<String>()
    };
    let place = Workplace::new()
        .with("plain.csv", separated(","))
        .with("y.csv", no_header(&|_, _, l| u8::from(l).to_string()))
        .with("commas.csv", no_header(&|_, s, _| with_comma(s)))
        .with("labels_first.csv", no_header(&|_, s, l| format!("{},{s}", u8::from(l))));
    place.ok("calib fit --method umd --bins 4 --scores plain.csv -o plain.cal");
    for line in [
        "calib fit --method umd --bins 4 --scores commas.csv --labels y.csv -o out.cal",
        "calib fit --method umd --bins 4 --scores y.csv -o out.cal",
        "calib assess --scores y.csv",
        "calib assess --scores labels_first.csv --labels y.csv",
        "calib apply plain.cal --scores commas.csv -o out.csv",
        "calib apply plain.cal --scores labels_first.csv -o out.csv",
    ] {
        let run = place.run(line);
        assert_eq!(run.code, 3, "{line}: {}", run.stderr);
        assert!(run.stderr.contains("there is no such column\n  hint: the column"), "{line}: {}", run.stderr);
    }
    // Whoever names the columns is believed, and the labels alone are labels.
    let expected = fitted(&place, FIT.replace("table.csv", "plain.csv").as_str());
    for files in ["labels_first.csv --score-column 1 --label-column 0", "plain.csv --labels y.csv"] {
        assert_eq!(
            fitted(&place, &format!("{} --force", FIT.replace("table.csv", files))),
            expected,
            "{files}"
        );
    }
}

/// Whole numbers at the start do not tell how others are written.
#[test]
fn decimal_commas_may_begin_late() {
    for rows in [300, 60_000] {
        let table = |comma: &str, separator: &str| {
            let row = |row: usize| match row {
                0..150 => format!("{}{separator}{}\n", row % 2, row % 2),
                row => format!("0{comma}{:03}{separator}{}\n", row * 37 % 1000, row % 3 % 2),
            };
            format!("score{separator}label\n{}", (0..rows).map(row).collect::<String>())
        };
        let fit = |text: String| fitted(&Workplace::new().with("table.csv", text), FIT);
        assert_eq!(fit(table(",", ";")), fit(table(".", ",")), "{rows}");
    }
}
