//! The recalibration diagram: where calibration moves the probabilities of three classes.

use std::collections::BTreeMap;

use calib_fit::assess::ClassProbRows;
use serde::Serialize;

use super::words::number;
use crate::draw::{Axis, Chart, Plot, PlotText, finish};

/// The side of the triangle is divided into so many parts.
const PARTS: f64 = 12.0;

/// A cell of the triangle with test rows in it: means over the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(super) struct SimplexMean {
    n: u64,
    before: [f64; 3],
    after: [f64; 3],
    frequencies: [f64; 3],
}

/// The means of the rows in every small triangle that holds some, by the probabilities before calibration.
fn means(rows: &ClassProbRows) -> Vec<SimplexMean> {
    let (before, after) = (rows.before.class_wise(), rows.after.class_wise());
    let mut cells = BTreeMap::<[u64; 3], Vec<usize>>::new();
    let cell =
        |row: usize| [0, 1, 2].map(|class| ((before[class][row].prob * PARTS) as u64).min(PARTS as u64 - 1));
    (0..before[0].len()).for_each(|row| cells.entry(cell(row)).or_default().push(row));
    let mean = |mut rows: Vec<usize>| {
        // In an order of the probabilities, so that that of the rows does not matter.
        rows.sort_by(|&a, &b| {
            let key = |row: usize| [0, 1, 2].map(|class| [before[class][row].prob, after[class][row].prob]);
            key(a).partial_cmp(&key(b)).expect("no probability is NaN")
        });
        let n = rows.len() as f64;
        let of = |value: &dyn Fn(usize, usize) -> f64| {
            [0, 1, 2].map(|class| rows.iter().map(|&row| value(class, row)).sum::<f64>() / n)
        };
        SimplexMean {
            n: rows.len() as u64,
            before: of(&|class, row| before[class][row].prob),
            after: of(&|class, row| after[class][row].prob),
            frequencies: of(&|class, row| f64::from(u8::from(before[class][row].hit))),
        }
    };
    cells.into_values().map(mean).collect()
}

/// The height of a triangle of side 1.
const HEIGHT: f64 = 0.866_025_403_784_438_6;

/// Where probabilities lie in the triangle whose corners are class 0 on the left, 1 on the right and 2 above. Class-wise
/// probabilities are divided by their sum.
fn place(probs: [f64; 3]) -> (f64, f64) {
    let sum: f64 = probs.iter().sum();
    if sum == 0.0 {
        return place([1.0; 3]);
    }
    ((probs[1] + probs[2] / 2.0) / sum, probs[2] / sum * HEIGHT)
}

/// Draws arrows from the mean scores to the mean calibrated probabilities.
pub(super) fn simplex(rows: &ClassProbRows) -> Plot {
    let means = means(rows);
    // As wide as high in pixels.
    let mut chart = Chart::bare(Axis::new("", 0.0, 1.0), Axis::new("", 0.0, 0.885));
    let corner = |class: usize| {
        let mut probs = [0.0; 3];
        probs[class] = 1.0;
        probs
    };
    let half = |a: usize, b: usize| {
        let mut probs = [0.0; 3];
        (probs[a], probs[b]) = (0.5, 0.5);
        probs
    };
    for (class, region) in ["region0", "region1", "region2"].into_iter().enumerate() {
        let (next, last) = ((class + 1) % 3, (class + 2) % 3);
        chart.area(region, [corner(class), half(class, next), [1.0 / 3.0; 3], half(class, last)].map(place));
    }
    chart.line("frame", [0, 1, 2, 0].map(|class| place(corner(class))));
    for (class, (below, anchor)) in [(18.0, "start"), (18.0, "end"), (-6.0, "middle")].into_iter().enumerate()
    {
        chart.text(place(corner(class)), below, anchor, &format!("class {class}"));
    }
    for mean in &means {
        chart.arrow("arrow", place(mean.before), place(mean.after));
    }
    let three = |probs: [f64; 3]| probs.map(number).join(", ");
    let table = means
        .iter()
        .map(|mean| vec![mean.n.to_string(), three(mean.before), three(mean.after), three(mean.frequencies)]);
    let words = PlotText {
        id: "simplex",
        title: "Recalibration diagram",
        caption: format!(
            "Where calibration moves the probabilities of the three classes. The test rows are grouped by their scores, {PARTS} \
             parts to a side. Every arrow goes from the mean of a group's scores to the mean of its calibrated probabilities, \
             which are divided by their sum. The table has the frequencies of the classes beside them."
        ),
        legend: vec![
            ("arrow", "from the mean scores to the mean probabilities"),
            ("region0", "class 0 is the most probable"),
            ("region1", "class 1 is the most probable"),
            ("region2", "class 2 is the most probable"),
        ],
    };
    finish(&chart, words, vec!["rows", "mean scores", "mean probabilities", "frequencies"], table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use calib_fit::assess::ProbMatrix;

    #[test]
    fn the_table_holds_the_means_of_the_groups() {
        // Two groups: near class 0, where calibration moves to the middle, and near class 2, where it does nothing.
        let before = [[0.93, 0.05, 0.02], [0.95, 0.03, 0.02], [0.04, 0.06, 0.9]];
        let after = [[0.5, 0.25, 0.25], [0.5, 0.25, 0.25], [0.04, 0.06, 0.9]];
        let matrix = |probs: [[f64; 3]; 3]| ProbMatrix::new(probs.concat(), vec![0, 1, 2], 3);
        let rows =
            ClassProbRows { before: matrix(before), after: matrix(after), uncalibrated: 0, clusters: None };
        let plot = simplex(&rows);
        assert_eq!(plot.rows.len(), 2);
        assert!(plot.rows.contains(&vec![
            "2".into(),
            "0.9400, 0.0400, 0.0200".into(),
            "0.5000, 0.2500, 0.2500".into(),
            "0.5000, 0.5000, 0.0000".into(),
        ]));
        // One arrow and one dot.
        assert_eq!(plot.svg.matches("<path class=\"arrow\"").count(), 1);
        assert_eq!(plot.svg.matches("<circle class=\"arrow\"").count(), 1);
    }

    #[test]
    fn the_corners_are_a_triangle_of_equal_sides() {
        let corners = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(place);
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            let (dx, dy) = (corners[a].0 - corners[b].0, corners[a].1 - corners[b].1);
            assert!((dx.hypot(dy) - 1.0).abs() < 1e-12);
        }
        assert_eq!(place([0.2; 3]), place([1.0; 3]));
        assert_eq!(place([0.0; 3]), place([1.0; 3]));
    }
}
