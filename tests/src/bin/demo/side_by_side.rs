//! Several calibrators of one classifier, side by side.

use anyhow::Result;
use calib_core::wire::{Answer, Beside, Measurement, ReplyBody, ScoreEcho};
use calib_core::{Logits, Outcome};
use calib_host::StoredArtifact;
use calib_host::assess::{AssessOptions, Assessment, Prediction, PredictionKind, Roc, assess};
use calib_tests::Parity;
use calib_tests::classifier::CodedRows;

use crate::instructions;

/// A calibrator that ran on the device.
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) stored: StoredArtifact,
    /// What it answered to the test rows.
    pub(crate) rows: Parity,
    pub(crate) measurement: Measurement,
}

/// Prints what each answers, costs, guarantees and reaches on the test rows, with the classifier's own scores first.
pub(crate) fn print(test: &CodedRows, columns: &[Column]) -> Result<()> {
    let line = |title: &str, first: &str, cells: &mut dyn Iterator<Item = String>| {
        let cells: String = cells.map(|cell| format!(" {cell:>20}")).collect();
        println!("    {title:<24} {first:>20}{cells}");
    };
    let each = |cell: &dyn Fn(&Column) -> String| columns.iter().map(cell).collect::<Vec<_>>().into_iter();
    println!("  side by side");
    line("", "classifier's score", &mut each(&|column| column.name.to_owned()));
    line("gives", "", &mut each(&|column| gives(&column.rows.replies[0]).to_owned()));
    line("bytes", "", &mut each(&|column| column.stored.artifact().len_bytes().to_string()));
    line(
        "instructions",
        "",
        &mut each(&|column| {
            let Measurement { calibrate_ticks, .. } = column.measurement;
            format!("{:.0}", instructions(column.measurement, calibrate_ticks))
        }),
    );
    line(
        "epsilon",
        "",
        &mut each(&|column| match column.stored.artifact().header().guarantee {
            Some(guarantee) => format!("{:.3}", guarantee.epsilon),
            None => "none".into(),
        }),
    );

    let labels = &test.rows.labels;
    let scores = scores(test)?;
    let before = assess(
        &predicted(&columns[0].rows, labels, raw_prob),
        PredictionKind::TopLabel,
        &AssessOptions::default(),
    );
    let after = |column: &Column| {
        assess(&predicted(&column.rows, labels, prob), PredictionKind::TopLabel, &AssessOptions::default())
    };
    type Metric = fn(&Assessment) -> f64;
    let metrics: [(&str, Metric); 2] = [
        ("Brier, prediction", |a| a.brier.value),
        ("top-label ECE", |a| a.tl_ece.expect("assessed as top-label").value),
    ];
    for (title, metric) in metrics {
        let cell = |column: &Column| format!("{:.4}", metric(&after(column)));
        line(title, &format!("{:.4}", metric(&before)), &mut each(&cell));
    }
    // Of the first column, whose score the classifier's is, and of each calibrator's own.
    line(
        "AUC of right, score",
        &auc(&columns[0].rows, labels, raw_score),
        &mut each(&|column| auc(&column.rows, labels, raw_score)),
    );
    line("AUC of right, calibrated", "", &mut each(&|column| auc(&column.rows, labels, prob)));
    let cw_ece = |rows: &[Vec<Option<f32>>]| format!("{:.4}", cw_ece(rows, labels));
    line(
        "class-wise ECE",
        &cw_ece(&scores),
        &mut each(&|column| match all_classes(&column.rows) {
            Some(rows) => cw_ece(&rows),
            None => String::new(),
        }),
    );
    line(
        "sum over classes",
        "1",
        &mut each(&|column| match all_classes(&column.rows) {
            Some(rows) => {
                let sums = rows.iter().map(|row| row.iter().flatten().sum::<f32>());
                let (lo, hi) = sums.fold((f32::INFINITY, 0.0f32), |(lo, hi), sum| (lo.min(sum), hi.max(sum)));
                if hi - lo < 1e-3 { "1".into() } else { format!("{lo:.2} to {hi:.2}") }
            }
            None => String::new(),
        }),
    );
    Ok(())
}

fn gives(reply: &ReplyBody) -> &'static str {
    match reply {
        ReplyBody::Answer(Answer { beside: Beside::Probs(_), .. }) => "every class",
        ReplyBody::Answer(Answer { beside: Beside::Ranked(_), .. }) => "the first classes",
        _ => "the predicted class",
    }
}

/// The predictions that are calibrated, with the number that `prob` takes for their probability.
fn predicted(rows: &Parity, labels: &[u16], prob: fn(&Answer) -> Option<f32>) -> Vec<Prediction> {
    let answers = rows.predictions.iter().zip(labels);
    let row = |(answer, &label): (&Answer, &u16)| {
        let (class, hit) = (answer.class, answer.class == label);
        Some(Prediction { class, prob: prob(answer)?.into(), bin: 0, hit })
    };
    answers.filter_map(row).collect()
}

fn prob(answer: &Answer) -> Option<f32> {
    match answer.outcome {
        Outcome::Calibrated(calibrated) => Some(calibrated.prob),
        Outcome::Uncalibrated(_) => None,
    }
}

/// The area under the ROC curve of the number that `score` takes, for whether the prediction is right.
fn auc(rows: &Parity, labels: &[u16], score: fn(&Answer) -> Option<f32>) -> String {
    let answers = rows.predictions.iter().zip(labels);
    let points = answers.filter_map(|(answer, &label)| Some((score(answer)?.into(), answer.class == label)));
    Roc::new(points).map_or(String::new(), |roc| format!("{:.4}", roc.auc()))
}

/// What a calibrator took: a probability, a margin, or a top-two margin in codes.
fn raw_score(answer: &Answer) -> Option<f32> {
    match answer.score {
        ScoreEcho::F32(score) => Some(score.get()),
        ScoreEcho::Margin(margin) => Some(margin.get()),
        ScoreEcho::Top2Margin(top2_margin) => Some(top2_margin.into()),
        ScoreEcho::Code(_) => None,
    }
}

fn raw_prob(answer: &Answer) -> Option<f32> {
    match answer.score {
        ScoreEcho::F32(score) => Some(score.get()),
        ScoreEcho::Margin(_) | ScoreEcho::Code(_) | ScoreEcho::Top2Margin(_) => None,
    }
}

/// The classifier's softmax of every test row.
fn scores(test: &CodedRows) -> Result<Vec<Vec<Option<f32>>>> {
    let row = |logits: Vec<f32>| {
        let scores = Logits::new(&logits)?.scores();
        Ok(scores.map(|score| Some(score.get())).collect())
    };
    test.floats().into_iter().map(row).collect()
}

/// Every class's probability, if that is what the device gave.
fn all_classes(rows: &Parity) -> Option<Vec<Vec<Option<f32>>>> {
    let row = |reply: &ReplyBody| match reply {
        ReplyBody::Answer(Answer { beside: Beside::Probs(probs), .. }) => {
            Some(probs.iter().map(|&prob| Some(prob).filter(|prob| !prob.is_nan())).collect())
        }
        _ => None,
    };
    rows.replies.iter().map(row).collect()
}

/// The mean over classes of the calibration error of their probabilities.
fn cw_ece(rows: &[Vec<Option<f32>>], labels: &[u16]) -> f64 {
    let classes = rows[0].len();
    let of = |class: usize| {
        let points = rows.iter().zip(labels).filter_map(|(row, &label)| {
            let hit = usize::from(label) == class;
            Some(Prediction { class: 1, prob: row[class]?.into(), bin: 0, hit })
        });
        let points: Vec<Prediction> = points.collect();
        (!points.is_empty())
            .then(|| assess(&points, PredictionKind::Binary, &AssessOptions::default()).conf_ece.value)
    };
    let errors: Vec<f64> = (0..classes).filter_map(of).collect();
    errors.iter().sum::<f64>() / errors.len() as f64
}
