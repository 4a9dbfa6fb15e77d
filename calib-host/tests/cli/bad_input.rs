//! Tables and options that are wrong: what is wrong, where, and what to do.

use insta::assert_snapshot;

use crate::npy::{f32s, f64s, i64s};
use crate::refusal::{TOP, text};
use crate::transcript::Transcript;

#[test]
fn tables_without_rows() {
    let mut said = Transcript::default();
    ["", "score,label\n", "score,label", "\n\n"].into_iter().for_each(|csv| said.csv(csv));
    assert_snapshot!(said.0);
}

#[test]
fn one_class_only() {
    let mut said = Transcript::default();
    for label in [0, 1] {
        let csv = format!("score,label\n0.1,{label}\n0.2,{label}\n0.3,{label}\n0.4,{label}\n");
        said.refused(&[("bad.csv", text(&csv))], "calib fit --method isotonic --scores bad.csv -o out");
        let line = "calib fit --method platt --scores scores.npy --labels bad.npy -o out";
        said.refused(&[("bad.npy", i64s([label; 40]).bytes())], line);
    }
    assert_snapshot!(said.0);
}

#[test]
fn scores_that_are_no_scores() {
    let mut said = Transcript::default();
    let long = "é".repeat(100);
    let numbers = ["NaN", "nan", "inf", "-inf", "-0.1", "1.5", "1.000000000001", "\"0,5\""];
    // The last number rounds to 1 as an f32. A message is one line of plain text, whatever the file holds.
    for score in numbers.into_iter().chain(["high", "", " ", "\"0\n.5\"", "\u{1b}[31m", &long]) {
        said.csv(format!("score,label\n0.1,0\n0.2,1\n{score},1\n0.4,0\n"));
    }
    for score in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.1, 1.5] {
        said.npy("scores", f64s(&[40], (0..40).map(|row| if row == 7 { score } else { 0.5 })).bytes());
    }
    said.refused(&[("bad.csv", text("score\n0.5\n2\n"))], "calib apply cal.bin --scores bad.csv -o out");
    assert_snapshot!(said.0);
}

#[test]
fn labels_that_are_no_labels() {
    let mut said = Transcript::default();
    for label in ["2", "-1", "1e3", "0.5", "sick", "truth", "NaN", ""] {
        said.csv(format!("score,label\n0.1,0\n0.2,{label}\n0.3,1\n0.4,0\n"));
    }
    for (kind, first) in [("labels", 0), ("labels", -1), ("classes", 0), ("classes", -1)] {
        said.npy(kind, i64s((0..40).map(|row| first + row)).bytes());
    }
    assert_snapshot!(said.0);
}

/// Lines are counted as an editor counts them, whatever the line ends, blank lines and quoted line breaks.
#[test]
fn lines_are_counted_as_an_editor_does() {
    let mut said = Transcript::default();
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
        said.csv(csv);
    }
    said.csv(b"score,label\r\n0.1,0\r\n\r\n0.2,\xff\r\n");
    assert_snapshot!(said.0);
}

#[test]
fn tables_of_another_form() {
    let mut said = Transcript::default();
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
        said.csv(csv);
    }
    for csv in [&b"score,label\n0.1,0\n0.2,\xff\n"[..], b"sc\xffore,label\n0.1,0\n"] {
        said.csv(csv);
    }
    assert_snapshot!(said.0);
}

#[test]
fn labels_that_do_not_match_the_scores() {
    let mut said = Transcript::default();
    let line = "calib fit --method umd --bins 2 --scores cal.csv --labels bad.csv -o out";
    for csv in ["class\n0\n1\n", "label\n0\n1\n"] {
        said.refused(&[("bad.csv", text(csv))], line);
    }
    said.refused(&[("bad.npy", i64s([0, 1]).bytes())], &line.replace("bad.csv", "bad.npy"));
    for kind in ["labels", "classes"] {
        said.npy(kind, i64s([0, 1]).bytes());
    }
    said.npy("probs", f32s(&[2, 2], [0.5; 4]).bytes());
    assert_snapshot!(said.0);
}

#[test]
fn too_few_points() {
    let mut said = Transcript::default();
    said.csv("score,label\n0.1,0\n0.2,1\n0.3,1\n");
    let binary = "calib fit --method umd --points-per-bin 9 --scores bad.csv -o out";
    // No hint proposes bins of so few points that nothing is known of them.
    for rows in ["0.1,0\n0.2,1\n0.3,1\n", "0.1,0\n"] {
        said.refused(&[("bad.csv", format!("score,label\n{rows}").into())], binary);
    }
    for options in ["--points-per-bin 41", "--bins 21", "--bins 65536"] {
        said.refused(
            &[],
            &format!("calib fit {TOP} {options} --logits logits.npy --labels labels.npy -o out"),
        );
    }
    assert_snapshot!(said.0);
}

#[test]
fn options_out_of_range() {
    let mut said = Transcript::default();
    for options in [
        "--bins 0",
        "--bins 65537",
        "--bins 18446744073709551615",
        "--points-per-bin 0",
        "--points-per-bin 1",
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
        said.refused(&[], &format!("calib fit --method umd {options} --scores cal.csv -o out"));
        said.refused(
            &[],
            &format!("calib fit {TOP} {options} --logits logits.npy --labels labels.npy -o out"),
        );
    }
    for option in ["--bins 0", "--alpha 5", "--bootstrap 0"] {
        said.refused(&[], &format!("calib assess --probs cal.csv --prob-column score {option}"));
    }
    assert_snapshot!(said.0);
}

#[test]
fn options_that_do_not_go_together() {
    let mut said = Transcript::default();
    let matrix = "--reduction top-label --logits logits.npy --labels labels.npy";
    for options in [
        "--method isotonic --bins 3 --scores cal.csv",
        &format!("--method isotonic --bins 3 {matrix}"),
        "--method isotonic --points-per-bin 30 --scores cal.csv",
        "--method umd --bins 3 --scores scores.npy",
        "--method umd --bins 3 --reduction top-label --logits logits.npy",
        "--method umd --bins 3 --logits logits.npy --labels labels.npy",
        "--method umd --bins 3 --reduction top-label --scores cal.csv",
        // The words are clap's.
        "--method umd --bins 3 --points-per-bin 30 --scores cal.csv",
        &format!("--method umd --bins 3 --probs probs.npy {matrix}"),
        "--method umd --bins 3",
        "--epsilon 0.1 --bins 3 --scores cal.csv",
        "--method magic --scores cal.csv",
    ] {
        said.refused(&[], &format!("calib fit {options} -o out"));
    }
    assert_snapshot!(said.0);
}
