//! Tables as pandas, R, statistics programs, databases and Excel write them, in several countries: read rightly, or refused with what
//! helps.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::transcript::note;
use crate::workplace::Workplace;

/// Scores with their labels.
fn rows() -> impl Iterator<Item = (f64, bool)> {
    (0..40).map(|row| (f64::from(row * 37 % 40) / 64.0 + 0.125, row * 37 % 40 > 11 && row % 3 > 0))
}

fn with_comma(score: f64) -> String {
    score.to_string().replace('.', ",")
}
/// A row by its form: `{i}` is its number, `{s}` the score, `{c}` the score with a comma, `{l}` the label, `{no|yes}` the label in
/// words.
fn row(form: &str, number: usize, score: f64, label: bool) -> String {
    let mut parts = form.split('{');
    parts.next().unwrap().to_owned()
        + &parts
            .map(|part| {
                let (name, rest) = part.split_once('}').unwrap();
                let value = match name {
                    "i" => number.to_string(),
                    "s" => score.to_string(),
                    "c" => with_comma(score),
                    "l" => u8::from(label).to_string(),
                    words => {
                        let (no, yes) = words.split_once('|').unwrap();
                        (if label { yes } else { no }).to_owned()
                    }
                };
                value + rest
            })
            .collect::<String>()
}
/// A table: its header, unless there is none, and the form of a row.
fn table(header: &str, form: &str) -> String {
    let rows = (1..).zip(rows()).map(|(number, (score, label))| row(form, number, score, label) + "\n");
    let header = if header.is_empty() { String::new() } else { format!("{header}\n") };
    header + &rows.collect::<String>()
}

/// What is between the score and the label.
fn separated(separator: &str) -> String {
    table(&format!("score{separator}label"), &format!("{{s}}{separator}{{l}}"))
}

/// Labels of two words.
fn worded(no: &str, yes: &str) -> String {
    table("score,label", &format!("{{s}},{{{no}|{yes}}}"))
}

fn utf_16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    format!("\u{feff}{text}").encode_utf16().flat_map(to_bytes).collect()
}

/// Every table holds the same scores and labels.
fn readable() -> Vec<(&'static str, Vec<u8>)> {
    let plain = separated(",");
    let german = table("score;label", "{c};{l}");
    let unicode_text = table("score\tlabel", "{c}\t{l}");
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(german.as_bytes()).unwrap();
    let scientific =
        |form: fn(f64, bool) -> String| rows().map(|(s, l)| form(s, l) + "\n").collect::<String>();
    let text: Vec<(&str, String)> = vec![
        ("pandas", plain.clone()),
        ("pandas, index", table(",score,label", "{i},{s},{l}")),
        ("pandas, bool", worded("False", "True")),
        ("pandas, float labels", worded("0.0", "1.0")),
        ("pandas, sep=';'", separated(";")),
        ("pandas, sep='\\t'", separated("\t")),
        ("pandas, sep='|'", separated("|")),
        ("pandas, sep=';', decimal=','", german.clone()),
        ("pandas, QUOTE_ALL", table("\"score\",\"label\"", "\"{s}\",\"{l}\"")),
        ("pandas, %.6e", "score,label\n".to_owned() + &scientific(|s, l| format!("{s:e},{}", u8::from(l)))),
        ("R write.csv", table("\"\",\"score\",\"label\"", "\"{i}\",{s},{l}")),
        ("R write.csv2", table("\"\";\"score\";\"label\"", "\"{i}\";{c};{l}")),
        ("R logical", worded("FALSE", "TRUE")),
        ("R factor", worded("\"no\"", "\"yes\"")),
        ("R fwrite, sep=\"|\"", table("score|label", "{s}|{FALSE|TRUE}")),
        ("SPSS, German", table("id\tscore\tlabel", "{i}\t{c}\t{l}").replace("\t0,", "\t,")),
        ("SAS", plain.replace("\n0.", "\n.")),
        ("Stata outsheet", separated("\t").replace("\n0.", "\n.")),
        ("Excel, English", format!("\u{feff}{}", plain.replace('\n', "\r\n"))),
        ("Excel, German", format!("\u{feff}{}", german.replace('\n', "\r\n"))),
        ("Excel, WAHR", table("score;label", "{c};{FALSCH|WAHR}")),
        ("Excel, French", table("score;label", "{c};{FAUX|VRAI}")),
        ("Excel, sep=;", format!("sep=;\r\n{}", german.replace('\n', "\r\n"))),
        ("Excel, text beside", table("name;score;label", "\"M, {i}\";{c};{l}")),
        ("PostgreSQL", worded("f", "t")),
        ("a form, German", worded("nein", "ja")),
        ("a form, French", worded("non", "oui")),
        ("a form, Y and N", worded("N", "Y")),
        ("spaces", table("score, label", "{s}, {l}")),
        ("R write.table, row names", table("\"score\",\"label\"", "\"{i}\",{s},{l}")),
        ("R write.table, decimal commas", table("\"score\";\"label\"", "\"{i}\";{c};{l}")),
        ("separators at the ends of rows", table("score,label", "{s},{l},")),
        ("at the ends of all lines", table("score;label;", "{c};{l};")),
        (
            "NumPy savetxt",
            "# score,label\n".to_owned()
                + &scientific(|s, l| format!("{s:.18e},{:.18e}", f64::from(u8::from(l)))),
        ),
        ("comments", format!("# of 2024, a trial\n#\n# all sites\n{german}")),
        ("comments, no header", format!("# of 2024\n{}", table("", "{s},{l}"))),
        ("a column called #", table("#,score,label", "{i},{s},{l}")),
        ("spaces before quotes", table("\"score\", \"label\"", "\"{s}\", \"{l}\"")),
        ("a separator behind a space and a quote", table("name, score, label", "\"M, J\", \"{s}\", {l}")),
        ("lines of spaces", format!("{plain}   \n\t\n")),
        ("line ends of old", plain.replace('\n', "\r")),
        ("labels 1,0", table("score;label", "{c};{l},0")),
        (
            "scientific, German",
            "score;label\n".to_owned()
                + &scientific(|s, l| format!("{};{}", format!("{s:E}").replace('.', ","), u8::from(l))),
        ),
        ("blank lines", format!("{}\n\n", separated(";").replacen('\n', "\n\n", 3))),
        ("no last line feed", german.trim_end().to_owned()),
        ("whole numbers and commas", table("age;score;label", "{i};{c};{l}")),
        ("scikit-learn's words", table("y_prob,y_true", "{s},{l}")),
        ("words of a framework", table("Probability,Target", "{s},{l}")),
        ("capitals", table("Score,LABEL", "{s},{l}")),
        (
            "the class that was predicted beside",
            "y_true,y_pred,y_prob\n".to_owned()
                + &scientific(|s, l| format!("{},{},{s}", u8::from(l), u8::from(s > 0.5))),
        ),
        ("R predict", table("p.hat;outcome", "{c};{l}")),
        ("no header", table("", "{s},{l}")),
        ("no header, German", table("", "{c};{l}")),
        ("no header, Excel", format!("\u{feff}{}", table("", "{s},{l}").replace('\n', "\r\n"))),
        ("pandas, columns without names", table("0,1", "{s},{l}")),
        ("JSON lines", json("false", "true")),
        ("JSON lines, yes", json("\"no\"", "\"yes\"")),
    ];
    let mut all: Vec<_> = text.into_iter().map(|(name, text)| (name, text.into_bytes())).collect();
    all.push(("gzip", packed.finish().unwrap()));
    all.push(("Excel, Unicode text", utf_16(&unicode_text, u16::to_le_bytes)));
    all.push(("UTF-16, big-endian", utf_16(&plain, u16::to_be_bytes)));
    all.push(("UTF-16 without a mark", utf_16(&unicode_text, u16::to_le_bytes)[2..].to_vec()));
    all.push(("big-endian without a mark", utf_16(&plain, u16::to_be_bytes)[2..].to_vec()));
    all
}
/// JSON lines with labels of two kinds.
fn json(no: &str, yes: &str) -> String {
    let line = |(score, label)| format!("{{\"score\":{score},\"label\":{}}}\n", if label { yes } else { no });
    rows().map(line).collect()
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
        assert_eq!(fitted(&place, FIT), expected, "{name}");
    }
}

/// Labels of two kinds: the option says which is class 1.
#[test]
fn labels_of_two_kinds_are_read_with_the_one_that_is_class_1() {
    let expected = fitted(&Workplace::new().with("table.csv", separated(",")), FIT);
    for (name, text, label) in [
        ("SPSS, 1 and 2", worded("1", "2"), "2"),
        ("SPSS, 2 is no", worded("2", "1"), "1"),
        ("floats", worded("1.0", "2.0"), "2"),
        ("SVM", worded("-1", "1"), "1"),
        ("SVM, turned round", worded("1", "-1"), "-1"),
        ("words", worded("control", "case"), "case"),
        ("words with spaces", worded("\"not sick \"", "sick"), "sick"),
        ("German", table("score;label", "{c};{gesund|krank}"), "krank"),
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
        let run = place.says(&format!("{line} --force"));
        let left_out = serde_json::json!([{"file": "table.csv", "rows": 3, "of": 43}]);
        assert_eq!(run.json()["left_out"], left_out, "{gap:?}");
    }
    let place = Workplace::new().with("table.csv", separated(","));
    let got = place.json(&format!("{FIT} --drop-missing"));
    assert_eq!((&got["left_out"], &got["notes"]), (&serde_json::json!([]), &Value::Null));
    said!();
}

/// What is wrong, and the option or the step that helps.
#[test]
fn what_is_not_read_is_refused_with_what_helps() {
    let percent = |sign: &str| -> String {
        let rows = rows().map(|(s, l)| format!("{}{sign},{}\n", 100.0 * s, u8::from(l)));
        "score,label\n".to_owned() + &rows.collect::<String>()
    };
    let latin_1 = separated(";").replace("score", "Gr\u{f6}\u{df}e;score").replace("\n0", "\nM;0");
    let both = rows().map(|(s, l)| format!("{},{s},{}\n", 1.0 - s, u8::from(l))).collect::<String>();
    let bytes: [(&str, Vec<u8>); 4] = [
        ("Latin-1", latin_1.chars().map(|c| c as u8).collect()),
        ("a new spreadsheet", [&b"PK\x03\x04"[..], &[0; 26], b"[Content_Types].xml"].concat()),
        ("an old spreadsheet", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec()),
        ("a pickle", b"\x80\x04\x95".to_vec()),
    ];
    let text = [
        ("several usual names", table("y_prob,proba,y_true", "{s},{s},{l}")),
        ("several labels", table("score,target,y_true", "{s},1,{l}")),
        ("unusual names", table("wert,klasse", "{s},{l}")),
        ("no header, an index", table("", "{i},{s},{l}")),
        ("decimal commas between commas", table("score,label", "{c},{l}")),
        ("decimal commas between commas, no header", table("", "{c},{l}")),
        ("decimal commas in quotes", table("score,label", "\"{c}\",{l}")),
        ("points for thousands", table("n;score;label", "{i}.000;{c};{l}")),
        ("spaces between fields", table("\"score\" \"label\"", "\"{i}\" {s} {l}")),
        ("a title above", format!("Results\n\n{}", separated(","))),
        ("both probabilities", format!("0,1,label\n{both}")),
        ("labels alone, no header", table("", "{l}")),
        ("no header, labels first", table("", "{l},{s}")),
        ("percent", percent("")),
        ("percent signs", percent(" %")),
        ("1 and 2", worded("1", "2")),
        ("-1 and 1", worded("-1", "1")),
        ("classes", worded("healthy", "very sick")),
        ("three classes", worded("healthy", "sick") + "0.5,unknown\n"),
        ("a gap", separated(",").replacen(",1\n", ",\n", 1)),
        ("gaps", separated(",").replace(",1\n", ",NA\n")),
        ("NaN", separated(",").replacen("\n0.", "\nnan,1\nnan,0\n0.", 1)),
    ];
    for (name, bytes) in text.map(|(name, text)| (name, text.into_bytes())).into_iter().chain(bytes) {
        note(&format!("table.csv: {name}"));
        let run = Workplace::new().with("table.csv", bytes).says(FIT);
        assert!(run.code == 3 && run.stderr.contains("\n  hint: "), "{name}: {run:?}");
    }
    said!();
}

#[test]
fn an_error_in_another_dialect_names_the_line_of_the_file() {
    let text = "score;label\r\n\r\n0,5;1\r\n\"0,25\";0\r\nx;1\r\n";
    Workplace::new().with("table.csv", text).says(FIT);
    said!();
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
            place.says(&format!("{FIT} --force"));
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
    said!();
}

/// Both columns are whole numbers: the decisions of a classifier.
#[test]
fn decisions_without_a_header_keep_their_first_row() {
    for first in ["0,1", "1,0"] {
        let rows: String = (0..50).map(|row| format!("{},{}\n", row % 2, row % 5 % 2)).collect();
        let place = Workplace::new().with("table.csv", format!("{first}\n{rows}"));
        let run = place.says("calib assess --scores table.csv --json");
        assert_eq!(run.json()["n"], 51, "{first}");
    }
    said!();
}

/// pandas numbers columns that have no names, and writes floats with a point.
#[test]
fn numbers_of_columns_are_names_and_that_is_told() {
    for rows in [40, 60_000] {
        let body: String =
            (0..rows).map(|row| format!("0.{:04},{}\n", row * 37 % 10_000, row % 3 % 2)).collect();
        let place = Workplace::new().with("table.csv", format!("0,1\n{body}"));
        let run = place.says(FIT);
        assert_eq!(run.json()["n"], rows);
    }
    // Of labels alone the first is data, and a header would be one row too many: an error.
    let scores: String = (0..50).map(|row| format!("0.{row:02}\n")).collect();
    let labels: String = (0..50).map(|row| format!("{}\n", row % 2)).collect();
    let place = Workplace::new().with("s.csv", format!("score\n{scores}")).with("y.csv", labels.clone());
    let line = "calib fit --method umd --bins 4 --scores s.csv --labels y.csv -o out.cal --force --json";
    assert_eq!(place.json(line)["n"], 50);
    place.with("y.csv", format!("0\n{labels}")).says(line);
    said!();
}

/// Labels in words, without a header: the first line is told by the words that come again.
#[test]
fn words_without_a_header_are_labels() {
    let expected = fitted(&Workplace::new().with("table.csv", separated(",")), FIT);
    for (text, option) in [
        (worded("control", "case"), " --positive-label case"),
        (worded("False", "True"), ""),
        (worded("no", "yes").replace(',', "\t"), ""),
        (table("score;label", "{c};{nein|ja}"), ""),
    ] {
        let body = text.split_once('\n').unwrap().1;
        let place = Workplace::new().with("table.csv", body);
        assert_eq!(fitted(&place, &format!("{FIT}{option}")), expected, "{body}");
    }
}

/// What would be read as something else without a word of an error.
#[test]
fn nothing_is_taken_for_scores_that_cannot_be() {
    let place = Workplace::new()
        .with("plain.csv", separated(","))
        .with("y.csv", table("", "{l}"))
        .with("commas.csv", table("", "{c}"))
        .with("labels_first.csv", table("", "{l},{s}"));
    place.ok("calib fit --method umd --bins 4 --scores plain.csv -o plain.cal");
    for line in [
        "calib fit --method umd --bins 4 --scores commas.csv --labels y.csv -o out.cal",
        "calib fit --method umd --bins 4 --scores y.csv -o out.cal",
        "calib assess --scores y.csv",
        "calib assess --scores labels_first.csv --labels y.csv",
        "calib apply plain.cal --scores commas.csv -o out.csv",
        "calib apply plain.cal --scores labels_first.csv -o out.csv",
    ] {
        place.says(line);
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
    said!();
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
