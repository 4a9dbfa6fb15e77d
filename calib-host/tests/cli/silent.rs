//! Files that are damaged or doubtful: refused with the line, or told. None is read as something else without a word.

use std::io::Write;
use std::process::Stdio;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::npy::{f64s, labels};
use crate::workplace::{Run, Workplace};

/// A calibrator in `cal.bin`.
fn place() -> Workplace {
    let rows: String =
        (0..60).map(|row| format!("{},{}\n", f64::from(row) / 60.0, u8::from(row % 7 * row > 90))).collect();
    let place = Workplace::new().with("fit.csv", format!("score,label\n{rows}"));
    place.ok("calib fit fit.csv --method isotonic -o cal.bin");
    place
}

/// Every command that reads a table of scores and labels.
const READERS: [&str; 6] = [
    "calib fit --method isotonic --scores t.csv -o new.bin",
    "calib fit --method isotonic --margins t.csv -o new.bin",
    "calib assess cal.bin --scores t.csv",
    "calib assess --probs t.csv --prob-column score",
    "calib apply cal.bin --scores t.csv -o out.csv",
    "calib compare t.csv",
];

#[track_caller]
fn refused(place: &Workplace, line: &str, words: &[&str]) {
    let run = place.run(line);
    assert_eq!(run.code, 3, "{line}\n{}{}", run.stdout, run.stderr);
    for word in words {
        assert!(run.stderr.contains(word), "{line}: {word} is not in {}", run.stderr);
    }
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text).unwrap();
    packed.finish().unwrap()
}

fn utf_16(text: &str) -> Vec<u8> {
    format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// A table of which row 11 has another note; fields are separated by commas.
fn with_note(rows: usize, note: &str, at: usize) -> String {
    let line = |row: usize| {
        let note = if row == at { note } else { "x" };
        format!("0.{:04},{},{note}\n", row * 7919 % 9000 + 500, u8::from(row * 31 % 7 > 3))
    };
    format!("score,label,note\n{}", (0..rows).map(line).collect::<String>())
}

#[test]
fn a_quote_without_an_end_is_refused_with_its_line() {
    let text = with_note(60, "\"open", 10);
    let place = place().with("t.csv", &text);
    for line in READERS {
        refused(
            &place,
            line,
            &[
                "t.csv, line 12",
                "a quote opens a field here, and no quote closes it",
                "hint: remove the quote",
            ],
        );
    }
    for separator in [";", "\t", "|"] {
        let place = place.path().join("t.csv");
        std::fs::write(&place, text.replace(',', separator)).unwrap();
        let run = Workplace::new().with("t.csv", text.replace(',', separator)).run(READERS[0]);
        assert!(
            run.code == 3 && run.stderr.contains("line 12: a quote opens"),
            "{separator:?} {}",
            run.stderr
        );
    }
    for bytes in [gzip(text.as_bytes()), utf_16(&text)] {
        let run = Workplace::new().with("t.csv", bytes).run(READERS[0]);
        assert!(run.code == 3 && run.stderr.contains("line 12: a quote opens"), "{}", run.stderr);
    }
    let mut piped = place
        .command("fit --method isotonic --scores - -o new.bin")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    piped.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let run = Run::from(piped.wait_with_output().unwrap());
    assert!(run.code == 3 && run.stderr.contains("standard input, line 12: a quote opens"), "{}", run.stderr);
    // Read in many chunks.
    let place = place.with("t.csv", with_note(100_000, "\"open", 60_000));
    for line in READERS {
        refused(&place, line, &["line 60002: a quote opens"]);
    }
    // As test rows and as calibration rows of a report, and in counted tables.
    let place = place.with("t.csv", &text);
    for line in [
        "calib report cal.bin --calibration fit.csv --test t.csv -o page.html",
        "calib report cal.bin --calibration t.csv --test fit.csv -o page.html",
    ] {
        refused(&place, line, &["t.csv, line 12: a quote opens", "hint: remove the quote"]);
    }
    let counted = |note: &str| {
        let row = |row: u32| format!("0.{},9,{},{}\n", row + 10, row % 9, if row == 10 { note } else { "x" });
        format!("score,n,k,note\n{}", (0..60).map(row).collect::<String>())
    };
    let line = "calib fit t.csv --count-columns n,k --method isotonic -o new.bin";
    let place = place.with("t.csv", counted("\"open"));
    refused(&place, line, &["t.csv, line 12: a quote opens a field here, and no quote closes it"]);
    let place = place.with("t.csv", counted("\"shut\"x"));
    refused(&place, line, &["t.csv, line 12: a quote opens a field here, and text follows the quote"]);
    let place = place.with("t.csv", counted("x"));
    place.ok(line);
    // In the header.
    let place = place.with("t.csv", text.replacen("note", "\"note", 1));
    refused(&place, READERS[0], &["t.csv, line 1: a quote opens"]);
}

#[test]
fn text_behind_a_closing_quote_is_refused_with_both_lines() {
    let pair = "score,label,note\n0.9,1,a\n0.1,0,\"b\n0.8,1,c\n0.2,0,d\n0.7,1,\"e\n0.3,0,f\n";
    let place = place().with("t.csv", pair);
    for line in READERS {
        refused(
            &place,
            line,
            &[
                "t.csv, line 3: a quote opens a field here, and text follows the quote that closes it, on line 6",
            ],
        );
    }
    for (note, line) in [("\"x\"y", 12), ("\"say \\\"hi\\\"\"", 12), ("\"x\"\"", 12), ("\"x\u{201d}", 12)] {
        let place = Workplace::new().with("t.csv", with_note(30, note, 10));
        refused(&place, READERS[0], &[&format!("t.csv, line {line}: a quote opens")]);
    }
    // A quote within a field is a letter, and spaces behind a quote are none.
    for note in ["5\" pipe", "\"x\" ", "\"5\"\" pipe\""] {
        let place = Workplace::new().with("t.csv", with_note(30, note, 10));
        assert!(place.ok(READERS[0]).stderr.contains("30 observations"), "{note}");
    }
}

#[test]
fn a_field_over_lines_that_look_like_rows_is_told() {
    let text = "score,label,note\n0.9,1,a\n0.1,0,\"b\n0.8,1,c\n0.2,0,\"\n0.7,1,e\n0.3,0,f\n";
    let place = place().with("t.csv", text);
    let note = "note: t.csv: lines 3 to 5 are one field in quotes, and look like several rows: is a quote missing, or one too many?";
    for line in READERS {
        assert!(place.run(line).stderr.starts_with(note), "{line}: {}", place.run(line).stderr);
    }
    // Notes of people, over several lines.
    let text = text.replace("\"b\n0.8,1,c\n0.2,0,\"", "\"came late,\nwent home\"");
    let run = place.with("t.csv", text).ok("calib assess --probs t.csv --prob-column score");
    assert!(!run.stderr.contains("one field"), "{}", run.stderr);
}

#[test]
fn a_damaged_line_is_no_blank_one() {
    for (separator, columns) in [(",", "score,label"), (";", "score;label"), ("\t", "score\tlabel")] {
        let mut bytes = format!("{columns}\n0.1{separator}0\n").into_bytes();
        bytes.extend(b"0\xff\n");
        bytes.extend(format!("0.3{separator}1\n0.4{separator}1\n").bytes());
        let place = place().with("t.csv", &bytes);
        for line in READERS {
            refused(&place, line, &["t.csv, line 3", "not UTF-8"]);
        }
        refused(&place.with("t.csv", gzip(&bytes)), READERS[0], &["t.csv, line 3", "not UTF-8"]);
    }
}

#[test]
fn a_file_that_is_cut_within_a_character_is_refused() {
    let rows: String =
        (0..300).map(|row| format!("Jos\u{e9},0.{:03},{}\n", row * 7 % 997, row % 2)).collect();
    let text = format!("name,score,label\n{rows}");
    let at = text.as_bytes().iter().enumerate().filter(|(_, byte)| **byte == 0xc3).nth(150).unwrap().0;
    let place = place().with("t.csv", &text.as_bytes()[..=at]);
    for line in READERS {
        refused(&place, line, &["t.csv, line 152", "not UTF-8"]);
    }
    let whole = utf_16(&text);
    for cut in [whole.len() - 1, whole.len() - 3] {
        refused(&Workplace::new().with("t.csv", &whole[..cut]), READERS[0], &["t.csv, line 30", "cut off"]);
    }
    let mut half = whole;
    half[100..102].copy_from_slice(&0xD800u16.to_le_bytes());
    refused(&Workplace::new().with("t.csv", half), READERS[0], &["a character is damaged or cut off here"]);
}

#[test]
fn a_header_with_a_name_too_few_is_refused_unless_rows_have_names() {
    for separator in [",", ";", "\t"] {
        let text = "score,label\n0.91,1,0\n0.12,0,1\n0.83,1,0\n0.25,0,0\n".replace(',', separator);
        let place = place().with("t.csv", text);
        for line in READERS {
            refused(&place, line, &["t.csv, line 2: the number of fields is 3, the header has 2"]);
        }
    }
    let named = "score,label\nann,0.91,1\nbob,0.12,0\ncyd,0.83,1\ndan,0.25,0\n";
    let run = place().with("t.csv", named).ok("calib assess --probs t.csv --prob-column score");
    assert!(
        run.stderr.contains("note: t.csv: the header has one name fewer than the rows have fields"),
        "{}",
        run.stderr
    );
}

#[test]
fn what_is_guessed_is_told() {
    let rows = |row: &dyn Fn(i32) -> String| (0..40).map(row).collect::<String>();
    let german = format!("score;label\n{}", rows(&|row| format!("0,{:03};{}\n", row * 23 % 997, row % 2)));
    let words =
        format!("score,label\n{}", rows(&|row| format!("0.{row},{}\n", ["nein", "ja"][row as usize % 2])));
    for (text, notes) in [
        (
            german.as_str(),
            &["semicolons separate the fields", "commas in numbers are read as decimal commas"][..],
        ),
        (&words, &["the label nein is read as 0, and ja as 1"]),
    ] {
        let run = Workplace::new().with("t.csv", text).ok(READERS[0]);
        for note in notes {
            assert!(run.stderr.contains(&format!("note: t.csv: {note}")), "{note}: {}", run.stderr);
        }
    }
    let plain = Workplace::new().with("t.csv", german.replace(',', ".").replace(';', ",")).ok(READERS[0]);
    assert!(!plain.stderr.contains("note:"), "{}", plain.stderr);
}

#[test]
fn thousands_are_no_decimals() {
    for separator in [";", "\t"] {
        let rows: String = (0..60)
            .map(|row| {
                format!("{};{}\n", if row == 40 { "1,910".into() } else { (row * 17).to_string() }, row % 2)
            })
            .collect();
        let text = format!("score;label\n{rows}").replace(';', separator);
        let place = place().with("t.csv", text);
        refused(
            &place,
            READERS[1],
            &[
                "t.csv, line 42, column score",
                "the comma in \"1,910\" may separate thousands",
                "write 1910 for 1,910; or 1.910",
            ],
        );
        refused(&place, "calib apply cal.bin --scores t.csv -o out.csv", &["may separate thousands"]);
    }
    // In another chunk than the first.
    let rows: String = (0..100_000)
        .map(|row| {
            format!("{};{}\n", if row == 90_000 { "-1,910".into() } else { (row % 900).to_string() }, row % 2)
        })
        .collect();
    refused(
        &Workplace::new().with("t.csv", format!("score;label\n{rows}")),
        READERS[1],
        &["t.csv, line 90002, column score"],
    );
    // One number that can be nothing else tells.
    let decimal = "score;label\n1,910;1\n0,125;0\n2,500;1\n-0,5;0\n";
    assert!(Workplace::new().with("t.csv", decimal).ok(READERS[1]).stderr.contains("decimal commas"));
    let quoted = "score,label\n\"1,985\",1\n\"625\",1\n\"-1,380\",0\n";
    refused(
        &Workplace::new().with("t.csv", quoted),
        READERS[1],
        &["write 1985 for 1,985; or 1.985, if it is a decimal comma"],
    );
}

/// Rows of a number, as exports of several countries write it, and a label.
fn with_points_between_thousands(separator: &str, number: impl Fn(u32) -> u32) -> String {
    let text = |number: u32| match number {
        0..1000 => number.to_string(),
        _ => format!("{}.{:03}", number / 1000, number % 1000),
    };
    (0..60).map(|row| format!("{}{separator}{}\n", text(number(row)), row % 2)).collect()
}

#[test]
fn points_between_thousands_are_no_decimal_points() {
    let plain: String =
        (0..60).map(|row| format!("{},{}\n", row * 39, u8::from(row % 7 * row > 90))).collect();
    let place = Workplace::new().with("fit.csv", format!("score,label\n{plain}"));
    place.ok("calib fit --margins fit.csv --method isotonic -o cal.bin");
    let write = |text: &str| std::fs::write(place.path().join("t.csv"), text).unwrap();
    let fault = [
        "t.csv, line 28, column score: ",
        "the point in \"1.014\" may separate thousands or be a decimal point",
        "hint: write 1014 for 1.014; or 1.0140, if it is a decimal point",
    ];
    for separator in [";", "\t", "|", ","] {
        let text =
            format!("score{separator}label\n{}", with_points_between_thousands(separator, |row| row * 39));
        write(&text);
        for line in [
            "calib fit --margins t.csv -o new.bin",
            "calib fit --margins t.csv --drop-missing -o new.bin",
            "calib assess cal.bin --margins t.csv",
            "calib apply cal.bin --margins t.csv -o out.csv",
            "calib compare --margins t.csv",
            "calib threshold --margins t.csv --sensitivity 0.8 -o new.bin",
            "calib sets --margins t.csv -o new.bin",
            "calib report cal.bin --test t.csv --calibration fit.csv -o out.html",
        ] {
            refused(&place, line, &fault);
        }
        // In quotes, and of rows of which some are read otherwise.
        write(&text.replace("1.014", "\"1.014\""));
        refused(&place, "calib fit --margins t.csv -o new.bin", &fault);
    }
    for output in ["new.bin", "out.csv", "out.html"] {
        assert!(!place.path().join(output).exists(), "{output}");
    }
    // Of one file in several chunks, of which the last ones alone have points.
    let rows = (0..100_000).map(|row| match row {
        0..90_000 => format!("{};{}\n", row % 900, row % 2),
        _ => format!("1.{:03};{}\n", row % 900, row % 2),
    });
    write(&format!("score;label\n{}", rows.collect::<String>()));
    refused(&place, "calib fit --margins t.csv -o new.bin", &["t.csv, line 90002, column score"]);
    refused(&place, "calib apply cal.bin --margins t.csv -o out.csv", &["t.csv, line 90002, column score"]);
    // Weights, and numbers of points.
    let rows = |header: &str, row: &dyn Fn(u32) -> String| {
        format!("{header}\n{}", (0..60).map(row).collect::<String>())
    };
    write(&rows("score;label;w", &|row| {
        format!("0.{};{};{}\n", 10 + row, row % 2, [12, 1, 350][row as usize % 3])
    }));
    place.ok("calib fit t.csv --weight-column w --method isotonic -o weighted.bin");
    let weights = ["12", "1.200", "350"];
    write(&rows("score;label;w", &|row| {
        format!("0.{};{};{}\n", 10 + row, row % 2, weights[row as usize % 3])
    }));
    refused(
        &place,
        "calib fit t.csv --weight-column w --method isotonic -o new.bin",
        &["t.csv, line 3, column w", "write 1200 for 1.200; or 1.2, if"],
    );
    write(&rows("score;n;k", &|row| {
        format!("0.{};{};{}\n", 10 + row, ["2.000", "915"][row as usize % 2], row)
    }));
    refused(
        &place,
        "calib fit t.csv --count-columns n,k --method isotonic -o new.bin",
        &["t.csv, line 2, column n", "write 2000 for 2.000; or 2.0, if"],
    );
    // Beside decimal commas a point is no decimal point.
    let late = |row: u32| {
        let weight = if row < 1000 { "12" } else { "1.125" };
        format!("0,{};{};{weight}\n", 100 + row % 800, row % 2)
    };
    write(&format!("score;label;w\n{}", (0..1100).map(late).collect::<String>()));
    refused(
        &place,
        "calib fit t.csv --weight-column w --method isotonic -o new.bin",
        &["t.csv, line 1002, column w", "may separate thousands"],
    );
    // Decimals are taken without a word, and what is doubtful is told.
    write(&rows("score;label;w", &|row| format!("{}.125;{};1.250\n", row % 5, row % 2)));
    let run = place.ok("calib fit --margins t.csv --weight-column w --method isotonic -o w.bin");
    assert!(!run.stderr.contains("thousands"), "{}", run.stderr);
    write(&rows("score;label;w", &|row| {
        format!("0.{};{};{}\n", 10 + row, row % 2, ["1", "1.333"][row as usize % 2])
    }));
    let run = place.ok("calib fit t.csv --weight-column w --method isotonic -o w.bin --force");
    let note = "t.csv, column w: the point in \"1.333\" is read as a decimal point; if it separates thousands, write 1333";
    assert_eq!(run.stderr.matches(note).count(), 1, "{}", run.stderr);
}

#[test]
fn margins_that_32_bit_floats_do_not_tell_apart_are_told() {
    // Margins around 0, of which label 1 is the more frequent the higher they are.
    let table = |offset: f64| {
        let row = |row: u32| {
            let margin = f64::from(row * 389 % 1000) / 125.0 - 4.0;
            format!("{},{}\n", offset + margin, u8::from(f64::from(row * 7919 % 1009) / 126.0 - 4.0 < margin))
        };
        format!("score,label\n{}", (0..1000).map(row).collect::<String>())
    };
    let place = Workplace::new();
    for (offset, told) in [
        (0.0, None),
        (1e4, None),
        (
            1e6,
            Some(
                "between 999996 and 1000004, where the 32-bit floats of the device are 0.0625 apart: subtract 1000000 from",
            ),
        ),
        (
            -1e7,
            Some(
                "between -10000004 and -9999996, where the 32-bit floats of the device are 1 apart: subtract -10000000 from",
            ),
        ),
        (
            1e9,
            Some(
                "between 1000000000 and 1000000000, where the 32-bit floats of the device are 64 apart: subtract 1000000000 from",
            ),
        ),
    ] {
        std::fs::write(place.path().join("t.csv"), table(offset)).unwrap();
        for line in [
            "calib fit --margins t.csv -o x.bin --force",
            "calib fit --margins t.csv --method isotonic -o x.bin --force",
            "calib fit --margins t.csv --method umd --bins 4 -o x.bin --force",
            "calib threshold --margins t.csv --sensitivity 0.8 -o x.bin --force",
            "calib sets --margins t.csv -o x.bin --force",
        ] {
            let run = place.ok(line);
            let expected = usize::from(told.is_some());
            assert_eq!(
                run.stderr.matches("The margins of t.csv are").count(),
                expected,
                "{line}: {}",
                run.stderr
            );
            assert!(run.stderr.contains(told.unwrap_or_default()), "{line}: {}", run.stderr);
            // Once is enough.
            assert!(offset == 0.0 || !run.stderr.contains("The margins lie so far from 0"), "{}", run.stderr);
        }
    }
}

#[test]
fn groups_of_one_label_are_told() {
    let table = |label: &dyn Fn(u32) -> bool| {
        let row = |row: u32| {
            let score = f64::from(row * 37 % 300) / 300.0;
            format!("{score},{},{}\n", u8::from(label(row)), ["a", "b", "c"][row as usize % 3])
        };
        format!("score,label,g\n{}", (0..300).map(row).collect::<String>())
    };
    let place = Workplace::new();
    let warned = |text: String, words: &str| {
        std::fs::write(place.path().join("t.csv"), text).unwrap();
        for method in ["", "--method isotonic", "--method umd --bins 2"] {
            let run = place.ok(&format!("calib fit t.csv --group-column g {method} -o x.bin --force"));
            assert_eq!(
                run.stderr.contains("nothing is learned about the other"),
                !words.is_empty(),
                "{}",
                run.stderr
            );
            assert!(run.stderr.contains(words), "{}", run.stderr);
        }
    };
    let high = |row: u32| row * 37 % 300 > 150;
    warned(table(&high), "");
    warned(
        table(&|row| row % 3 > 0 && high(row)),
        "warning: All labels of group a are 0: nothing is learned",
    );
    warned(
        table(&|row| row % 3 == 1 || row % 3 == 2 && high(row)),
        "warning: In 2 groups all labels are equal, as in group a, where they are 0: nothing is learned",
    );
}

#[test]
fn small_guarantees_have_digits() {
    let place = place();
    place.ok("calib fit fit.csv --method umd --bins 4 -o umd.bin");
    let run = place.ok("calib adjust umd.bin --prevalence 1e-9 --counter 1 -o rare.bin");
    assert!(
        run.stderr.contains("within 0.00000") && !run.stderr.contains("within 0.0000 of"),
        "{}",
        run.stderr
    );
}

#[test]
fn signs_between_thousands_are_named() {
    for [text, number] in [
        ["1.234.567", "1234567"],
        ["1.910,25", "1910.25"],
        ["-1.234.567,5", "-1234567.5"],
        ["1'868.5", "1868.5"],
        ["1 868", "1868"],
        ["1'868", "1868"],
        ["1\u{202f}868", "1868"],
        ["12\u{a0}345,5", "12345.5"],
        ["1_000", "1000"],
    ] {
        let rows: String = (0..20).map(|row| format!("{text};{}\n", row % 2)).collect();
        let place = place().with("t.csv", format!("score;label\n{rows}"));
        let line = "calib fit --method isotonic --margins t.csv -o new.bin";
        refused(&place, line, &["t.csv, line 2, column score: ", &format!("write {number} for ")]);
    }
}

#[test]
fn what_stands_for_no_value_is_no_name() {
    let markers = ["NA", "nan", "NaN", "None", "NULL", "null", "N/A", "#N/A", "<NA>", "\\N", "NaT", ""];
    let table = |marker: &str| {
        let row = |row: i32| {
            let name = if row < 30 { marker.to_owned() } else { format!("P{row}") };
            format!("0.{:02},{},{name}\n", row * 37 % 100, row % 2)
        };
        format!("score,label,patient\n{}", (0..40).map(row).collect::<String>())
    };
    let place = place();
    let lines = |column: &str| {
        [
            format!("calib fit --method isotonic t.csv {column} patient -o new.bin"),
            format!("calib assess --probs t.csv --prob-column score {column} patient"),
        ]
    };
    for marker in markers {
        std::fs::write(place.path().join("t.csv"), table(marker)).unwrap();
        for line in lines("--cluster-column").into_iter().chain(lines("--group-column")) {
            refused(
                &place,
                &line,
                &["t.csv, line 2, column patient: the value is missing; 30 of 40 rows lack a value"],
            );
        }
    }
    let left =
        place.run("calib fit --method isotonic t.csv --cluster-column patient --drop-missing -o new.bin");
    assert!(left.stderr.contains("30 of 40 rows lack a value and are skipped"), "{}", left.stderr);
    for sign in ["-", ".", "?", "--"] {
        std::fs::write(place.path().join("t.csv"), table(sign)).unwrap();
        refused(&place, &lines("--group-column")[1], &["may stand for a missing value, and is no name"]);
    }
    let json: String = (0..40)
        .map(|row| format!("{{\"score\": 0.{row}, \"label\": {}, \"patient\": \"NA\"}}\n", row % 2))
        .collect();
    let place = place.with("t.jsonl", json);
    refused(
        &place,
        "calib assess --probs t.jsonl --prob-column score --cluster-column patient",
        &["the value is missing"],
    );
}

#[test]
fn a_name_of_most_rows_is_asked_about() {
    for name in ["unknown", "missing", "999", "-1", "''"] {
        let row = |row: i32| {
            let name = if row < 90 { name.to_owned() } else { format!("P{row}") };
            format!("0.{:03},{},{name}\n", row * 37 % 1000, row % 2)
        };
        let rows: String = (0..120).map(row).collect();
        let place = Workplace::new().with("t.csv", format!("score,label,patient\n{rows}"));
        for line in [
            "calib fit t.csv --method isotonic --cluster-column patient -o new.bin",
            "calib assess --probs t.csv --prob-column score --cluster-column patient",
            "calib compare t.csv --cluster-column patient",
        ] {
            let run = place.ok(line);
            assert!(
                run.stderr.contains("column patient: 90 of 120 rows have the name "),
                "{line}: {}",
                run.stderr
            );
        }
    }
}

#[test]
fn names_that_look_the_same_are_told() {
    for [one, other] in [["A", "a"], ["\u{e9}", "e\u{301}"], ["x", "x\u{200b}"], ["ward 3", "ward\u{a0}3"]] {
        let rows: String = (0..80)
            .map(|row| {
                format!("0.{:02},{},{}\n", row * 37 % 100, row % 3 % 2, if row % 2 > 0 { one } else { other })
            })
            .collect();
        let place = Workplace::new().with("t.csv", format!("score,label,site\n{rows}"));
        let run = place.ok("calib assess --probs t.csv --prob-column score --group-column site");
        assert!(
            run.stderr.starts_with("note: t.csv, column site: ") && run.stderr.contains("are two names"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn scores_that_cannot_be_scores_are_told() {
    let table = |score: fn(i32, i32) -> String| {
        let rows = (0..400).map(|row| {
            let label = i32::from(row * 7919 % 400 > 250);
            format!("{},{label}\n", score(row, label))
        });
        format!("score,label\n{}", rows.collect::<String>())
    };
    for (score, words) in [
        (
            (|_, label| label.to_string()) as fn(i32, i32) -> String,
            "is its label: did you pass the column of labels",
        ),
        (
            |row, label| (label ^ i32::from(row % 5 == 0)).to_string(),
            "Every score of t.csv is 0 or 1: are these predicted classes?",
        ),
        (
            |row, _| format!("{}", f64::from(row) / 400.0),
            "The scores hardly separate the labels: the area under the ROC curve is ",
        ),
    ] {
        let place = Workplace::new().with("t.csv", table(score));
        let run = place.ok("calib fit t.csv --method isotonic -o new.bin");
        assert!(run.stderr.starts_with("warning: ") && run.stderr.contains(words), "{words}: {}", run.stderr);
    }
    let place = place().with("t.csv", table(|_, label| label.to_string()));
    let run = place.ok("calib assess cal.bin --scores t.csv");
    assert!(run.stderr.contains("is its label"), "{}", run.stderr);
}

#[test]
fn json_lines_as_python_writes_them_are_read() {
    let lines = |score: &str| {
        let line = |row: i32| {
            format!("{{\"score\": {score}, \"label\": \"{}\", \"loss\": NaN, \"note\": \"NaN \\\" Infinity\", \"gain\": -Infinity}}\n", row % 2)
            .replace("ROW", &format!("0.{row:02}"))
        };
        (10..50).map(line).collect::<String>()
    };
    let run = Workplace::new()
        .with("t.jsonl", lines("ROW"))
        .ok("calib fit --method isotonic --scores t.jsonl -o new.bin");
    assert!(run.stderr.contains("40 observations"), "{}", run.stderr);
    let place = Workplace::new().with("t.jsonl", lines("NaN"));
    refused(
        &place,
        "calib fit --method isotonic --scores t.jsonl -o new.bin",
        &["the value is missing; 40 of 40 rows lack a value"],
    );
    let place = Workplace::new().with("t.jsonl", lines("Infinity"));
    refused(&place, "calib fit --method isotonic --scores t.jsonl -o new.bin", &["the value is infinite"]);
}

#[test]
fn an_archive_with_an_array_twice_is_refused() {
    let column = |values: &[f64]| f64s(&[values.len()], values.iter().copied()).bytes();
    let (up, down): (Vec<f64>, Vec<f64>) =
        (0..20).map(|row| (f64::from(row) / 20.0, 1.0 - f64::from(row) / 20.0)).unzip();
    let label = labels("<i4", &(0..20).map(|row| u8::from(row > 9)).collect::<Vec<_>>()).bytes();
    for second in ["score.npy", "score"] {
        // The writer refuses a name twice: the second is written under another one of the same length.
        let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, bytes) in [
            ("score.npy", column(&up)),
            ("label.npy", label.clone()),
            (&second.replace("score", "scorf"), column(&down)),
        ] {
            writer.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            writer.write_all(&bytes).unwrap();
        }
        let mut archive = writer.finish().unwrap().into_inner();
        while let Some(at) = archive.windows(5).position(|window| window == b"scorf") {
            archive[at + 4] = b'e';
        }
        let place = place().with("t.npz", archive);
        refused(&place, "calib fit --method isotonic --scores t.npz -o new.bin", &["t.npz: not "]);
        refused(&place, "calib apply cal.bin --scores t.npz -o out.csv", &["t.npz: not "]);
    }
}

/// Nothing ends a program but its own word: not a header that claims gigabytes, a device without an end, or more resamples than memory.
#[cfg(unix)]
#[test]
fn what_has_no_end_is_refused() {
    let header = b"\x93NUMPY\x03\x00\xf0\xff\xff\xff";
    let wide = format!("{}\n", ",".repeat(1 << 20));
    let place = place().with("t.npy", header).with("wide.csv.gz", gzip(wide.as_bytes()));
    refused(
        &place,
        "calib fit --method isotonic --scores t.npy --labels t.npy -o new.bin",
        &["t.npy: not a NumPy array: its header is cut off"],
    );
    refused(
        &place,
        "calib fit --method isotonic --scores wide.csv.gz -o new.bin",
        &["there are more than 131072 columns"],
    );
    let long = format!("score,label,note\n0.5,1,{}", "x".repeat(65 << 20));
    refused(&place.with("t.csv", long), READERS[0], &["t.csv, line 2: a row is longer than 64 MiB"]);
    let place = self::place();
    for (line, words) in [
        ("calib inspect /dev/zero", "larger than any artifact, which has at most 64 MiB"),
        ("calib apply /dev/zero --scores fit.csv -o out.csv", "larger than any artifact"),
        ("calib decide cal.bin --actions /dev/zero --scores fit.csv", "larger than 1 MiB"),
        ("calib fleet cal.bin /dev/zero", "larger than 64 MiB"),
        ("calib fit --method isotonic --scores /dev/zero -o new.bin", "larger than 64 MiB"),
        ("calib sign cal.bin --key /dev/zero -o signed.bin", "not a private Ed25519 key"),
    ] {
        refused(&place, line, &[words]);
    }
    for line in [
        "calib assess cal.bin --scores fit.csv --bootstrap 4294967295",
        "calib bins fit.csv --bootstrap 4294967295",
    ] {
        let run = place.run(line);
        assert!(run.code == 2 && run.stderr.contains("100000"), "{line}: {}", run.stderr);
    }
    let mut command = place.command("assess --probs fit.csv --prob-column score");
    let run = Run::from(command.env("RAYON_NUM_THREADS", "1000000").output().unwrap());
    assert_eq!(run.code, 0, "{}", run.stderr);
}

#[cfg(unix)]
#[test]
fn a_pipe_is_no_output() {
    let place = place();
    assert!(std::process::Command::new("mkfifo").arg(place.path().join("p")).status().unwrap().success());
    for line in [
        "calib fit fit.csv --method isotonic -o p --force",
        "calib apply cal.bin --scores fit.csv -o p --force",
        "calib export cal.bin -o p --force",
        "calib keygen -o p --force",
    ] {
        let run = place.run(line);
        assert!(
            run.code == 4 && run.stderr.contains("cannot write p: it is not a regular file"),
            "{line}: {}",
            run.stderr
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn help_that_cannot_be_written_is_an_error() {
    let place = Workplace::new();
    for arguments in ["--help", "--version", "fit --help"] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let run = Run::from(place.command(arguments).stdout(full).output().unwrap());
        assert!(
            run.code == 4 && run.stderr.contains("cannot write to standard output"),
            "{arguments}: {}",
            run.stderr
        );
    }
}

#[test]
fn a_group_without_a_plain_name_leaves_the_calibrator_as_it_was() {
    let names = [
        "South\tWest",
        "\"South\nWest\"",
        "South\u{1b}West",
        "South\u{85}West",
        "Department of Cardiology, 2nd",
    ];
    for name in names {
        let rows: String = (0..200)
            .map(|row| {
                let name = if row % 2 > 0 { name.replace(',', " ") } else { "North".into() };
                format!("0.{:03},{},{name}\n", row * 37 % 997, row % 3 % 2)
            })
            .collect();
        let place = Workplace::new().with("t.csv", format!("score,label,site\n{rows}")).with("g.cal", "kept");
        refused(
            &place,
            "calib fit t.csv --group-column site --method umd --bins 1 -o g.cal --force",
            &["a name has 1 to 24 bytes of plain text"],
        );
        assert_eq!(place.bytes("g.cal"), b"kept");
    }
}

#[test]
fn devices_of_names_that_look_the_same_are_warned_of() {
    let place = Workplace::new().with("t.csv", {
        let rows: String = (0..400)
            .map(|row| format!("{},{}\n", f64::from(row) / 400.0, u8::from(row * 7 % 400 < row)))
            .collect();
        format!("score,label\n{rows}")
    });
    place.ok("calib fit t.csv --method umd --bins 4 --monitor -o cal.bin");
    for (name, file) in [("ward 3", "a.json"), ("Ward 3", "b.json")] {
        let args = ["fleet", "cal.bin", "--new", name, "-o", file];
        assert!(place.command("").args(args).output().unwrap().status.success());
    }
    let run = place.ok("calib fleet cal.bin a.json b.json");
    assert!(run.stderr.contains("\"Ward 3\" and \"ward 3\" are two devices"), "{}", run.stderr);
    // Two that have counted nothing are no reason to doubt, nor are two that counted otherwise.
    assert!(!run.stderr.contains("have the same counters"), "{}", run.stderr);
    for (name, first) in [("c", 20), ("d", 20), ("e", 21)] {
        let mut counters: serde_json::Value = serde_json::from_slice(&place.bytes("a.json")).unwrap();
        counters["device"] = name.into();
        let predictions = &mut counters["tables"][0]["predictions"];
        (predictions[0], predictions[1]) = (first.into(), 7.into());
        std::fs::write(place.path().join(format!("{name}.json")), counters.to_string()).unwrap();
    }
    let twice = place.ok("calib fleet cal.bin c.json d.json e.json");
    assert!(twice.stderr.contains("\"c\" and \"d\" have the same counters"), "{}", twice.stderr);
    assert!(!place.ok("calib fleet cal.bin c.json e.json").stderr.contains("have the same counters"));
}

/// How many rows were read, and how many were written.
#[test]
fn rows_are_counted() {
    let gaps = "score,label\n0.2,1\n,0\n0.4,1\nNA,0\n0.5,1\n";
    let place = place()
        .with("t.csv", "score,label\n0.2,1\n0.5,0\n")
        .with("gaps.csv", gaps)
        .with("one.csv", "score\n0.5\n");
    for (line, told, counts) in [
        ("t.csv", "2 rows read, 2 written", (2, 2)),
        ("gaps.csv --drop-missing", "5 rows read, 3 written", (5, 3)),
        ("one.csv", "1 row read, 1 written", (1, 1)),
    ] {
        let line = format!("calib apply cal.bin {line} -o out.csv --force");
        let run = place.ok(&line);
        assert!(run.stderr.contains(told), "{line}: {}", run.stderr);
        let json = place.json(&format!("{line} --json"));
        assert_eq!((json["rows_read"].as_u64(), json["rows"].as_u64()), (Some(counts.0), Some(counts.1)));
    }
}

/// One thing has no plural.
#[test]
fn one_is_no_plural() {
    let place = place().with("one.csv", "score,label\n0.5,1\n").with("gap.csv", "score,label\n0.5,1\n,0\n");
    for (line, told, not) in [
        ("calib assess cal.bin one.csv", "1 prediction, 1 event", "1 predictions"),
        ("calib assess --probs one.csv --prob-column score --all", "1 group occurs", "1 groups"),
        (
            "calib apply cal.bin gap.csv --drop-missing -o out.csv",
            "1 of 2 rows lacks a value and is skipped",
            "lack a",
        ),
    ] {
        let run = place.ok(line);
        let said = run.stdout + &run.stderr;
        assert!(said.contains(told) && !said.contains(not), "{line}: {said}");
    }
}

/// Neither a number that no float holds, nor a label that no index is, is read as another one.
#[test]
fn numbers_that_are_too_small_or_too_large_are_told_as_they_are_written() {
    let csv = |score: &str, label: &str| {
        let rows: String = (1..40).map(|row| format!("0.{row:02},{}\n", row % 2)).collect();
        format!("score,label\n{rows}{score},{label}\n")
    };
    let lines = |score: &str, label: &str| {
        let rows: String =
            (1..40).map(|row| format!("{{\"score\": 0.{row:02}, \"label\": {}}}\n", row % 2)).collect();
        format!("{rows}{{\"score\": {score}, \"label\": {label}}}\n")
    };
    for (name, text) in [("t.csv", csv("1e-999", "0")), ("t.jsonl", lines("1e-999", "0"))] {
        let place = place().with(name, text);
        for line in [READERS[0], READERS[1], READERS[2], READERS[4]] {
            refused(
                &place,
                &line.replace("t.csv", name),
                &[name, "line 4", "1e-999 is not 0", "hint: write 0"],
            );
        }
    }
    const HUGE: [&str; 2] = ["9223372036854775808", "9223372036854775809"];
    for (name, text) in [("t.csv", csv("0.5", HUGE[1])), ("t.jsonl", lines("0.5", HUGE[1]))] {
        let place = place().with(name, text);
        refused(&place, &READERS[0].replace("t.csv", name), &[name, HUGE[1]]);
    }
    // Two of them are two labels, which one float stands for.
    let rows: String = (0..40).map(|row| format!("0.{row:02},{}\n", HUGE[row % 2])).collect();
    let place = place().with("t.csv", format!("score,label\n{rows}"));
    refused(&place, READERS[0], &[&format!("the labels are {} and {}", HUGE[0], HUGE[1])]);
    let positive = |label: &str| {
        place.json(&format!(
            "calib fit --method umd --bins 1 t.csv --positive-label {label} -o {label}.cal --json"
        ));
        place.inspect(&format!("{label}.cal"))["tables"][0]["values"][0].clone()
    };
    assert_eq!((positive(HUGE[0]), positive(HUGE[1])), (0.5.into(), 0.5.into()));
}

/// Weights that leave nothing of one label are told as that.
#[test]
fn weights_that_make_all_others_nothing_are_told() {
    let rows: String = (0..60)
        .map(|row| format!("0.{row:02},{},{}\n", row % 2, if row == 7 { "1e20" } else { "1" }))
        .collect();
    let place = Workplace::new().with("t.csv", format!("score,label,w\n{rows}"));
    for method in ["isotonic", "platt"] {
        let line = format!("calib fit t.csv --weight-column w --method {method} -o new.bin");
        refused(
            &place,
            &line,
            &["column w", "the largest weight, 1e20", "of label 0 count as 0", "cap the weights"],
        );
    }
}

/// Of rare events the figures say something.
#[test]
fn rare_events_have_digits() {
    let counts = |positives: [u64; 3]| {
        let row = |(score, k): (&str, u64)| format!("{score},100000,{k}\n");
        let rows: String = ["0.0001", "0.0004", "0.002"].into_iter().zip(positives).map(row).collect();
        format!("score,n,k\n{rows}")
    };
    let place = Workplace::new().with("cal.csv", counts([3, 10, 55])).with("test.csv", counts([2, 11, 49]));
    place.ok("calib fit cal.csv --count-columns n,k --method isotonic -o rare.cal");
    let told = place.ok("calib assess rare.cal test.csv --count-columns n,k --all").stdout;
    for words in ["falls from 0.00020737 to 0.00020658 (change -0.00000079", "62 events (0.021%)"] {
        assert!(told.contains(words), "{words}\n{told}");
    }
    assert!(!told.contains("-0.0000,") && !told.contains("0.0%"), "{told}");
    let told = place.ok("calib adjust rare.cal --prevalence 1e-9 --counter 1 -o rarer.cal").stderr;
    assert!(told.contains("probabilities at a prevalence of 0.000000001, from 0.0002"), "{told}");

    // The axes of pictures end where the probabilities do, not at 1.
    let rows: String =
        (0..4000).map(|row| format!("0.00{:02},{}\n", row % 40 + 10, u8::from(row % 800 == 7))).collect();
    let place = place.with("rows.csv", format!("score,label\n{rows}"));
    for plot in ["before-and-after", "corp", "reliability", "distribution"] {
        place.ok(&format!("calib plot {plot} rare.cal --test rows.csv -o {plot}.svg"));
        let svg = place.text(&format!("{plot}.svg"));
        assert!(svg.contains(">0.002</text>") && !svg.contains(">0.8</text>"), "{plot}");
    }
}

/// What a command cannot do without an option that others have is told.
#[test]
fn margins_and_a_table_by_itself_are_taken_or_refused_with_what_helps() {
    let rows: String = (0..200)
        .map(|row| format!("{},{}\n", f64::from(row) / 200.0, u8::from(row * 7 % 200 < row)))
        .collect();
    let place = Workplace::new().with("t.csv", format!("score,label\n{rows}"));
    place.ok("calib threshold t.csv --sensitivity 0.8 -o one.cal");
    place.ok("calib threshold --scores t.csv --sensitivity 0.8 -o other.cal");
    assert_eq!(place.bytes("one.cal"), place.bytes("other.cal"));
    let run = place.run("calib bins --margins t.csv");
    assert!(run.code == 2 && run.stderr.contains("use `calib compare --margins`"), "{}", run.stderr);
}

/// That there is one label only is the cause, and not that something was reversed.
#[test]
fn rows_of_one_label_are_told_as_that() {
    for label in [0, 1] {
        let rows: String = (0..200).map(|row| format!("{},{label}\n", f64::from(row) / 200.0)).collect();
        let place = Workplace::new().with("t.csv", format!("score,label\n{rows}"));
        let run = place.ok("calib fit t.csv --method umd --bins 4 -o one.cal");
        let told = format!(
            "warning: Every calibrated probability is {label}: all labels of the calibration set were {label}"
        );
        assert!(run.stderr.starts_with(&told) && !run.stderr.contains("reversed"), "{}", run.stderr);
    }
}

/// What an artifact carries is in its JSON, as the fit's own has it.
#[test]
fn inspect_has_the_intervals_of_the_fit() {
    let rows: String = (0..400)
        .map(|row| format!("{},{}\n", f64::from(row) / 400.0, u8::from(row * 7 % 400 < row)))
        .collect();
    let place = Workplace::new().with("t.csv", format!("score,label\n{rows}"));
    let fit = place.json("calib fit t.csv --method umd --bins 4 -o with.cal --json");
    place.ok("calib fit t.csv --method isotonic --intervals none -o without.cal");
    let of = |name: &str| place.inspect(name)["tables"][0]["intervals"].clone();
    let shown = of("with.cal");
    assert_eq!(shown.as_array().map(Vec::len), Some(4));
    for (bin, shown) in shown.as_array().unwrap().iter().enumerate() {
        let own = &fit["tables"][0]["intervals"][bin];
        for end in ["lo", "hi"] {
            let [shown, own] = [shown, own].map(|interval| interval[end].as_f64().unwrap());
            assert!((shown - own).abs() < 1e-6, "{bin} {end}: {shown} {own}");
        }
    }
    assert!(of("without.cal").is_null());
}

/// Scores of rare events, right as they are, from 1e-6 to 0.002.
fn rare_events(n: u32, every: u32) -> String {
    let row = |i: u32| {
        let score = 1e-6 * 2000f64.powf((f64::from(i) + 0.5) / f64::from(n));
        format!("{score:.9},{}\n", u8::from(i * 7919 % n < n / every && i > n / 2))
    };
    format!("score,label\n{}", (0..n).map(row).collect::<String>())
}

#[test]
fn what_nobody_asked_for_keeps_the_order_of_rare_events() {
    let place = Workplace::new()
        .with("cal.csv", rare_events(20_000, 4_000))
        .with("test.csv", rare_events(19_000, 3_800));
    let fit = place.ok("calib fit cal.csv -o cal.bin --all").words();
    for words in [
        "Between the lowest and the highest calibration score its steps differ from it by at most 0.000",
        ", and elsewhere by at most ",
    ] {
        assert!(fit.contains(words), "{words}: {fit}");
    }
    for nothing in ["-0.00000,", "+0.00000,", " 0.000 to ", " 0.000 wide", "error of 0.00000."] {
        assert!(!fit.contains(nothing), "{nothing}: {fit}");
    }
    place.ok("calib apply cal.bin test.csv -o out.csv");
    let table = std::fs::read_to_string(place.path().join("out.csv")).unwrap();
    let different: std::collections::BTreeSet<&str> = table
        .lines()
        .skip(1)
        .map(|line| line.split(',').find(|cell| cell.len() > 3 && cell.contains('.')).unwrap())
        .collect();
    assert!(different.len() >= 16, "{different:?}");
    let judged = place.run("calib assess cal.bin test.csv");
    for words in
        ["gives all scores the same probability", "loses part of the order", "less than 0.00 outside"]
    {
        assert!(
            !judged.stderr.contains(words) && !judged.stdout.contains(words),
            "{}{}",
            judged.stderr,
            judged.stdout
        );
    }
    let held = place.ok("calib inspect cal.bin --all").stdout;
    assert!(!held.contains(" 0.0000 to 0.0000\n"), "{held}");
}

#[test]
fn steps_that_are_exactly_0_or_1_are_told() {
    let of = |rows: i32| {
        let row = |i| format!("{},{}\n", f64::from(i) / f64::from(rows), u8::from(i > rows / 2));
        let rows: String = (0..rows).map(row).collect();
        Workplace::new().with("t.csv", format!("score,label\n{rows}"))
    };
    let place = of(7000);
    // By default no value is 0 or 1, even if the labels leave nothing open.
    let run = place.ok("calib fit t.csv -o default.bin --all");
    assert!(run.stderr.contains("Blend       venn-abers 58%, few-steps 42%"), "{}", run.stderr);
    assert!(!run.words().contains("the values 0 or 1"), "{}", run.stderr);
    let run = place.ok("calib fit --method isotonic t.csv -o new.bin --all");
    assert!(
        run.words().contains(
            "2 bins have the values 0 or 1, from as few as 3,499 observations: this does not show that the other outcome never happens"
        ),
        "{}",
        run.stderr
    );
    let place = of(700);
    let run = place.ok("calib fit --method isotonic t.csv -o new.bin");
    assert!(
        run.words()
            .contains("2 bins have the values 0 or 1, from as few as 349 observations: this does not show"),
        "{}",
        run.stderr
    );
    let held = place.ok("calib inspect new.bin --all").stdout;
    assert!(held.contains("scores up to 0: ") && !held.contains("0.00000000000000"), "{held}");
}

#[test]
fn few_rows_are_told_as_what_they_are() {
    let of = |rows: &str| Workplace::new().with("t.csv", format!("score,label\n{rows}"));
    let place = of("0.5,1\n");
    refused(&place, "calib fit t.csv -o new.bin", &["1 calibration observation is too few for 2 bins"]);
    let run = of("0.2,0\n0.8,1\n").ok("calib fit t.csv -o new.bin");
    for words in ["The blend is significantly worse than the unchanged scores", "1 interval, 0.950 wide"] {
        assert!(run.words().contains(words), "{words}: {}", run.stderr);
    }
    let run = of("0.2,0\n0.8,1\n0.5,0\n").ok("calib fit t.csv -o new.bin");
    assert!(
        run.words().contains("The blend is not significantly better than the unchanged scores"),
        "{}",
        run.stderr
    );
    let place = of("0.08,0\n0.23,1\n0.25,0\n");
    let run = place.ok("calib fit t.csv -o new.bin");
    assert!(
        run.stderr.contains("3 observations, blend (binary)")
            && run.words().contains("The blend is significantly worse than the unchanged scores"),
        "{}",
        run.stderr
    );
    let run = place.ok("calib fit --method none t.csv -o none.bin");
    assert!(!run.words().contains("Steps of"), "{}", run.stderr);
    assert!(!place.ok("calib inspect none.bin --all").stdout.contains("steps="));
}

#[test]
fn every_command_asks_about_scores_that_cannot_be_scores() {
    let table = |score: fn(i32, i32) -> String| {
        let rows = (0..400).map(|row| {
            let label = i32::from(row * 7919 % 400 > 250);
            format!("{},{label}\n", score(row, label))
        });
        format!("score,label\n{}", rows.collect::<String>())
    };
    let other =
        |i: i32| format!("0.{:04},{}\n", i * 7919 % 9000 + 500, u8::from(i * 7919 % 9000 > i * 31 % 9000));
    let other = format!("score,label\n{}", (0..300).map(other).collect::<String>());
    for (score, words) in [
        ((|_, label| label.to_string()) as fn(i32, i32) -> String, "is its label"),
        (
            |row, label| (label ^ i32::from(row % 5 == 0)).to_string(),
            "is 0 or 1: are these predicted classes?",
        ),
        (|row, _| format!("{}", f64::from(row) / 400.0), "The scores hardly separate the labels"),
        (
            |row, label| format!("{}", f64::from(row) / 4000.0 + 0.8 * f64::from(1 - label)),
            "Higher scores go with class 0",
        ),
    ] {
        let place = place().with("t.csv", table(score)).with("other.csv", other.clone());
        for line in [
            "calib compare t.csv",
            "calib compare other.csv --test t.csv",
            "calib bins t.csv",
            "calib threshold t.csv --sensitivity 0.5 -o new.bin",
            "calib sets --scores t.csv -o new.bin",
            "calib assess --scores t.csv",
            "calib assess --probs t.csv --prob-column score",
            "calib report cal.bin --calibration fit.csv --test t.csv -o page.html",
        ] {
            std::fs::remove_file(place.path().join("new.bin")).ok();
            std::fs::remove_file(place.path().join("page.html")).ok();
            let run = place.run(line);
            let warned = run.stderr.matches(words).count();
            assert!(run.code == 0 && warned == 1, "{line}: {words} {warned} times in {}", run.stderr);
        }
    }
}

#[test]
fn few_events_recommend_no_method() {
    let rows: String =
        (0..500).map(|i| format!("{:.3},{}\n", f64::from(i) / 500.0, u8::from(i * 7919 % 500 < i))).collect();
    let few =
        |n: i32, label: i32| (0..n).map(|i| format!("0.{:02},{label}\n", i % 90 + 5)).collect::<String>();
    let table = |rows: &str| format!("score,label\n{rows}");
    let place = Workplace::new()
        .with("cal.csv", table(&rows))
        .with("two.csv", table("0.02,0\n0.02,0\n"))
        .with("one.csv", table(&few(60, 1)))
        .with("nine.csv", table(&(few(300, 0) + &few(9, 1))));
    for (line, events) in [
        ("calib compare cal.csv --test two.csv", "0 of 2 rows have the rarer outcome"),
        ("calib compare cal.csv --test one.csv", "0 of 60 rows have"),
        ("calib compare nine.csv", "9 of 309 rows have"),
    ] {
        let run = place.ok(line);
        let says = run.stdout.contains(&format!("Leave it uncalibrated: {events}"));
        assert!(
            says && !run.stdout.contains("0.0004, ") && !run.stderr.contains("next: calib fit"),
            "{}{}",
            run.stdout,
            run.stderr
        );
    }
    assert!(place.ok("calib compare cal.csv").stdout.contains(" ["));
}

#[test]
fn probabilities_of_two_classes_that_rounding_took_out_are_told_as_that() {
    let rows = [[-2.2e-16, 1.000_000_000_000_000_2], [0.5, 0.5], [0.75, 0.25]];
    let place = Workplace::new()
        .with("p.npy", f64s(&[60, 2], (0..20).flat_map(|_| rows.concat())).bytes())
        .with("l.npy", labels("<i4", &[1, 0, 1].repeat(20)).bytes());
    refused(
        &place,
        "calib fit --scores p.npy --labels l.npy -o new.bin",
        &["rounding took the score out of [0, 1]"],
    );
}

#[test]
fn margins_far_from_zero_are_not_called_reversed() {
    let rows: String = (0..200).map(|i| format!("{},{}\n", 1000 + i, u8::from(i > 120))).collect();
    let place = Workplace::new().with("t.csv", format!("score,label\n{rows}"));
    let line = "calib fit --margins t.csv --method temperature -o new.bin";
    refused(&place, line, &["or the scores lie too far to one side"]);
}

#[test]
fn a_file_without_an_end_that_is_no_table_has_a_hint_of_its_own() {
    let place = place();
    place.ok("calib fit fit.csv --method umd --bins 3 --monitor -o monitored.bin");
    for line in [
        "calib decide cal.bin --actions /dev/zero --counter 1 -o new.bin",
        "calib fleet cal.bin /dev/zero",
        "calib fleet monitored.bin /dev/zero",
        "calib fleet monitored.bin --verify /dev/zero",
    ] {
        let run = place.run(line);
        assert!(
            run.code == 3
                && run.stderr.contains("is this the file that is meant?")
                && run.stderr.contains(" MiB")
                && !run.stderr.contains(" 0 "),
            "{line}: {}",
            run.stderr
        );
    }
}

#[test]
fn sets_that_leave_a_class_out_are_warned_of() {
    // Class 2 is rare, and never the likeliest.
    let row = |i: u32| {
        let (first, rare) = (0.7 + f64::from(i % 20) / 100.0, 0.02 + f64::from(i % 7) / 1000.0);
        let label = if i.is_multiple_of(40) { 2 } else { u32::from(i.is_multiple_of(9)) };
        format!("{first:.4},{:.4},{rare:.4},{label}\n", 1.0 - first - rare)
    };
    let table = format!("p0,p1,p2,label\n{}", (0..2000).map(row).collect::<String>());
    let place = Workplace::new().with("t.csv", table);
    let run = place.run("calib sets --probs t.csv -o new.bin --fail-on-warning --quiet");
    assert_eq!(run.code, 6, "{}", run.stderr);
    for words in [
        "warning: The guarantee is for all classes together, and does not hold for class",
        "class 2 is in the sets of 0 of its 50 rows",
        "--by-class",
    ] {
        assert!(run.stderr.contains(words), "{words}: {}", run.stderr);
    }
    let by_class = place.run("calib sets --probs t.csv -o by.bin --by-class --fail-on-warning");
    assert_eq!(by_class.code, 0, "{}", by_class.stderr);
}

#[test]
fn rows_of_one_of_several_classes_are_told_as_that() {
    let rows: String = (0..300)
        .map(|i| format!("0.5,{:.3},{:.3},0\n", 0.2 + f64::from(i) / 1000.0, 0.3 - f64::from(i) / 1000.0))
        .collect();
    let place = Workplace::new().with("t.csv", format!("p0,p1,p2,label\n{rows}"));
    let run = place.ok("calib fit --probs t.csv -o new.bin");
    assert!(
        run.stderr
            .contains("warning: All labels of t.csv are 0: nothing is learned about the other classes."),
        "{}",
        run.stderr
    );
}

#[test]
fn what_a_plan_says_next_gives_what_it_guaranteed() {
    let run = Workplace::new().ok("calib plan --n 1000");
    assert!(run.stderr.contains("next: calib fit CALIBRATION --method umd --bins B\n"), "{}", run.stderr);
    let rows: String = (0..1000).map(|i| format!("{},{}\n", f64::from(i) / 1000.0, i % 2)).collect();
    let place = Workplace::new().with("t.csv", format!("score,label\n{rows}"));
    let fit = place.ok("calib fit t.csv --method umd --bins 5 -o new.bin");
    let stated = fit.stderr.split("is within ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
    let planned = run.stdout.contains("5       200     0.0849");
    assert!(planned && stated.parse::<f64>().unwrap() <= 0.0849, "{}", fit.stderr);
    let run = place.run("calib fit t.csv --weight-column score -o new.bin");
    assert!(run.code == 2 && run.stderr.contains("--method platt or --method isotonic"), "{}", run.stderr);
}
