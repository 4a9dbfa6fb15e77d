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
        ("blank lines", format!("{}\n\n", separated(";").replacen('\n', "\n\n", 3))),
        ("no last line feed", german.trim_end().to_owned()),
        (
            "whole numbers and commas",
            table("age;score;label", |i, s, l| format!("{i};{};{}", with_comma(s), u8::from(l))),
        ),
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
    assert!(tables.len() >= 37);
    for (name, bytes) in tables {
        let place = Workplace::new().with("table.csv", bytes);
        let run = place.run(FIT);
        assert_eq!(run.code, 0, "{name}: {}", run.stderr);
        assert_eq!(fitted(&place, &format!("{FIT} --force")), expected, "{name}");
    }
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
            "scikit-learn's words",
            named("y_prob,y_true"),
            "column label: there is no such column",
            "--score-column \"y_prob\" --label-column \"y_true\"",
        ),
        (
            "the label's word",
            named("score,target"),
            "column label: there is no such column",
            "--label-column \"target\"",
        ),
        (
            "another case",
            named("Score,Label"),
            "column label: there is no such column",
            "did you mean \"Label\"?",
        ),
        (
            "no header",
            separated(",").replace("score,label\n", "").into_bytes(),
            "there is no such column",
            "put a line with the names",
        ),
        (
            "percent",
            percent("").into_bytes(),
            "is outside [0, 1]",
            "if these are percent, divide them by 100",
        ),
        ("percent signs", percent(" %").into_bytes(), "is not a number", "87.3 % is 0.873"),
        ("1 and 2", worded("1", "2"), "the label 2 is out of range", "for binary data 0 and 1"),
        ("-1 and 1", worded("-1", "1"), "the label -1 is out of range", "for binary data 0 and 1"),
        (
            "classes",
            worded("healthy", "sick"),
            "\"healthy\" is not a whole number",
            "for binary data 0 and 1",
        ),
        (
            "a gap",
            separated(",").replacen(",1\n", ",\n", 1).into_bytes(),
            "the field is empty",
            "remove or repair the row",
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
        run.stderr.starts_with("error: table.csv, line 5, column score: \"x\" is not a number"),
        "{}",
        run.stderr
    );
}
