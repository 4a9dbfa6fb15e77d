//! Tables and options that are wrong: what is wrong, where, and what to do.

use crate::npy::{f32s, f64s, i64s};
use crate::refusal::{TOP, text};
use crate::transcript::{bad_csv, bad_npy, refused};

#[test]
fn tables_without_rows() {
    ["", "score,label\n", "score,label", "\n\n"].into_iter().for_each(|csv| bad_csv(csv));
    said!();
}

#[test]
fn one_class_only() {
    for label in [0, 1] {
        let csv = format!("score,label\n0.1,{label}\n0.2,{label}\n0.3,{label}\n0.4,{label}\n");
        refused(&[("bad.csv", text(&csv))], "calib fit --method isotonic --scores bad.csv -o out");
        let line = "calib fit --method platt --scores scores.npy --labels bad.npy -o out";
        refused(&[("bad.npy", i64s([label; 40]).bytes())], line);
    }
    said!();
}

#[test]
fn scores_that_are_no_scores() {
    let long = "é".repeat(100);
    let numbers = ["NaN", "nan", "inf", "-inf", "-0.1", "1.5", "1.000000000001", "\"0,5\""];
    // The last number rounds to 1 as an f32. A message is one line of plain text, whatever the file holds.
    for score in numbers.into_iter().chain(["high", "", " ", "\"0\n.5\"", "\u{1b}[31m", &long]) {
        bad_csv(format!("score,label\n0.1,0\n0.2,1\n{score},1\n0.4,0\n"));
    }
    for score in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.1, 1.5] {
        bad_npy("scores", f64s(&[40], (0..40).map(|row| if row == 7 { score } else { 0.5 })).bytes());
    }
    refused(&[("bad.csv", text("score\n0.5\n2\n"))], "calib apply cal.bin --scores bad.csv -o out");
    said!();
}

#[test]
fn labels_that_are_no_labels() {
    for label in ["2", "-1", "1e3", "0.5", "sick", "truth", "NaN", ""] {
        bad_csv(format!("score,label\n0.1,0\n0.2,{label}\n0.3,1\n0.4,0\n"));
    }
    for (kind, first) in [("labels", 0), ("labels", -1), ("classes", 0), ("classes", -1)] {
        bad_npy(kind, i64s((0..40).map(|row| first + row)).bytes());
    }
    said!();
}

/// Lines are counted as an editor counts them, whatever the line ends, blank lines and quoted line breaks.
#[test]
fn lines_are_counted_as_an_editor_does() {
    for csv in [
        "score,label\n0.1,0\n0.2,1\nx,1\n",
        "score,label\r\n0.1,0\r\n0.2,1\r\nx,1\r\n",
        "score,label\n0.1,0\n\n\n0.2,1\n\nx,1\n",
        "score,label\r\n0.1,0\r\n\r\n0.2,1\r\n\r\nx,1\r\n",
        "\n\nscore,label\n0.1,0\nx,1\n",
        "\u{feff}score,label\n0.1,0\nx,1\n",
        "note,score,label\n\"a\nb\r\nc\",0.1,0\n,x,1\n",
        "score,label\n0.1,0\nx,1",
        "score,label\r\n0.1,0\r\n\r\n0.2,1,7\r\n",
    ] {
        bad_csv(csv);
    }
    bad_csv(b"score,label\r\n0.1,0\r\n\r\n0.2,\xff\r\n");
    said!();
}

#[test]
fn tables_of_another_form() {
    for csv in [
        "score,label\n0.1,0\n0.2\n",
        "score,label\n0.1,0\n0.2,1,2\n",
        // The quote is never closed.
        "score,label\n0.1,0\n\"0.2,1\n0.3,1\n",
        "pred,label\n0.1,0\n",
        "score,class\n0.1,0\n",
        "score,z\n0.1,0\n",
        "7,0.1,0\n8,0.2,1\n",
        "score,label,score\n0.1,0,0.1\n",
        "score,label,label\n0.1,0,0\n",
    ] {
        bad_csv(csv);
    }
    for csv in [&b"score,label\n0.1,0\n0.2,\xff\n"[..], b"sc\xffore,label\n0.1,0\n"] {
        bad_csv(csv);
    }
    said!();
}

#[test]
fn labels_that_do_not_match_the_scores() {
    let line = "calib fit --method umd --bins 2 --scores cal.csv --labels bad.csv -o out";
    for csv in ["class\n0\n1\n", "label\n0\n1\n"] {
        refused(&[("bad.csv", text(csv))], line);
    }
    refused(&[("bad.npy", i64s([0, 1]).bytes())], &line.replace("bad.csv", "bad.npy"));
    for kind in ["labels", "classes"] {
        bad_npy(kind, i64s([0, 1]).bytes());
    }
    bad_npy("probs", f32s(&[2, 2], [0.5; 4]).bytes());
    said!();
}

#[test]
fn too_few_points() {
    bad_csv("score,label\n0.1,0\n0.2,1\n0.3,1\n");
    let binary = "calib fit --method umd --rows-per-bin 9 --scores bad.csv -o out";
    // No hint proposes bins of so few points that nothing is known of them.
    for rows in ["0.1,0\n0.2,1\n0.3,1\n", "0.1,0\n"] {
        refused(&[("bad.csv", format!("score,label\n{rows}").into())], binary);
    }
    for options in ["--rows-per-bin 41", "--bins 21", "--bins 65536"] {
        refused(&[], &format!("calib fit {TOP} {options} --logits logits.npy --labels labels.npy -o out"));
    }
    said!();
}

#[test]
fn options_out_of_range() {
    for options in [
        "--bins 0",
        "--bins 65537",
        "--bins 18446744073709551615",
        "--rows-per-bin 0",
        "--rows-per-bin 1",
        "--bins 2 --alpha=0",
        "--bins 2 --alpha=1",
        "--bins 2 --alpha=10",
        "--bins 2 --alpha=nan",
        "--bins 2 --alpha=-0.1",
        "--bins 2 --alpha=1e-60",
        "--bins 2 --alpha=0.99999999999",
        "",
        "--bins two",
        "--bins 5,000",
        "--alpha ten",
        "--classifier-id 12",
        "--classifier-id 00112233445566zz",
    ] {
        refused(&[], &format!("calib fit --method umd {options} --scores cal.csv -o out"));
        refused(&[], &format!("calib fit {TOP} {options} --logits logits.npy --labels labels.npy -o out"));
    }
    for option in ["--bins 0", "--alpha 5", "--bootstrap 0"] {
        refused(&[], &format!("calib assess --probs cal.csv --prob-column score {option}"));
    }
    said!();
}

#[test]
fn options_that_do_not_go_together() {
    let matrix = "--reduction top-label --logits logits.npy --labels labels.npy";
    for options in [
        "--method isotonic --bins 3 --scores cal.csv",
        &format!("--method isotonic --bins 3 {matrix}"),
        "--method isotonic --rows-per-bin 30 --scores cal.csv",
        "--method umd --bins 3 --scores scores.npy",
        "--method umd --bins 3 --reduction top-label --logits logits.npy",
        "--method umd --bins 3 --logits logits.npy --labels labels.npy",
        "--method umd --bins 3 --reduction top-label --scores cal.csv",
        // The words are clap's.
        "--method umd --bins 3 --rows-per-bin 30 --scores cal.csv",
        &format!("--method umd --bins 3 --probs probs.npy {matrix}"),
        "--method umd --bins 3",
        "--epsilon 0.1 --bins 3 --scores cal.csv",
        "--method magic --scores cal.csv",
    ] {
        refused(&[], &format!("calib fit {options} -o out"));
    }
    said!();
}
