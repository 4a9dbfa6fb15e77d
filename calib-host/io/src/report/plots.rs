//! The plots of a report, each with the table that it is drawn from.

use calib_core::ProbInterval;
use calib_fit::artifact::{scores_in_words, shortest};
use calib_fit::assess::{ReliabilityBin, Roc, RocPoint, Validity};
use calib_fit::stats::places;
use serde::Serialize;

use super::words::{number, percentages, range, top};
use crate::draw::{Axis, Chart, Mark, Plot, PlotText, finish};

/// ROC curves are drawn with at most so many points.
const DRAWN_POINTS: usize = 400;

/// With fewer rows a bin is noise: its mark has a whisker, and no line goes through it.
pub(super) const FEW: u64 = 10;

/// The bins of which a line says something: neighbors with rows enough.
fn runs(bins: &[ReliabilityBin]) -> impl Iterator<Item = &[ReliabilityBin]> {
    bins.split(|bin| bin.n < FEW).filter(|run| run.len() > 1)
}

/// The largest probability that a mark is drawn at.
fn largest(series: &[(&'static str, &[ReliabilityBin])]) -> f64 {
    let bins = series.iter().flat_map(|(_, bins)| bins.iter());
    bins.map(|bin| bin.mean_prob.max(bin.rate)).fold(0.0, f64::max)
}

/// A reliability diagram of one or two sets of bins, with the intervals of the bins as bands.
pub(super) fn bands(words: PlotText<'_>, series: &[(&'static str, &[ReliabilityBin])]) -> Plot {
    let largest = largest(series);
    let mut chart = Chart::new(
        Axis::probs("mean predicted probability", largest),
        Axis::probs("observed frequency", largest),
    );
    for (class, bins) in series {
        for run in runs(bins) {
            let ends = |bin: &ReliabilityBin| (bin.mean_prob, bin.interval.lo, bin.interval.hi);
            chart.band(&format!("band-{class}"), &run.iter().map(ends).collect::<Vec<_>>());
        }
    }
    chart.diagonal();
    for (class, bins) in series {
        let few = bins.iter().filter(|bin| bin.n < FEW);
        let whisker = format!("{class} whisker");
        few.for_each(|bin| chart.whisker(&whisker, bin.mean_prob, bin.interval.lo, bin.interval.hi));
        runs(bins).for_each(|run| chart.line(class, run.iter().map(|bin| (bin.mean_prob, bin.rate))));
        bins.iter().for_each(|bin| chart.mark(class, Mark::Circle, bin.mean_prob, bin.rate));
    }
    table(&chart, words, series)
}

/// A reliability diagram of one or two sets of bins, each with the style of its marks, `before` or `after`. The gray bars are
/// the shares of predictions of the last one.
pub(super) fn reliability(words: PlotText<'_>, series: &[(&'static str, &[ReliabilityBin])]) -> Plot {
    let largest = largest(series);
    let y = Axis::probs("observed frequency", largest);
    let end = y.hi;
    let mut chart = Chart::new(Axis::probs("mean predicted probability", largest), y);
    let last = series.last().map_or(&[][..], |last| last.1);
    let n: u64 = last.iter().map(|bin| bin.n).sum();
    for bin in last {
        let (lo, hi) = bin.lo.zip(bin.hi).unwrap_or((bin.mean_prob - 0.01 * end, bin.mean_prob + 0.01 * end));
        chart.bar("bar", lo, hi, end * bin.n as f64 / n as f64);
    }
    chart.diagonal();
    for (class, bins) in series {
        let (whisker, cross) = (format!("{class} whisker"), format!("{class} cross"));
        bins.iter().for_each(|bin| chart.whisker(&whisker, bin.mean_prob, bin.interval.lo, bin.interval.hi));
        runs(bins).for_each(|run| chart.line(class, run.iter().map(|bin| (bin.mean_prob, bin.rate))));
        bins.iter().for_each(|bin| chart.mark(class, Mark::Circle, bin.mean_prob, bin.rate));
        let crosses = bins.iter().filter_map(|bin| Some((bin.mean_prob, bin.top_label?)));
        crosses.for_each(|(x, y)| chart.mark(&cross, Mark::Plus, x, y));
    }
    table(&chart, words, series)
}

/// A reliability diagram with its bins in a table.
fn table(chart: &Chart, words: PlotText<'_>, series: &[(&'static str, &[ReliabilityBin])]) -> Plot {
    let top_label = series.last().is_some_and(|last| last.1.iter().any(|bin| bin.top_label.is_some()));
    let mut columns =
        vec!["", "bin", "predictions", "events", "mean probability", "observed frequency", "interval"];
    columns.extend(top_label.then_some("top-label"));
    let row = |class: &str, bin: &ReliabilityBin| {
        let mut row = vec![
            class.to_owned(),
            match (bin.lo, bin.hi) {
                (Some(lo), Some(hi)) => range(lo, hi),
                _ => bin.bin.to_string(),
            },
            bin.n.to_string(),
            bin.hits.to_string(),
            number(bin.mean_prob),
            number(bin.rate),
            range(bin.interval.lo, bin.interval.hi),
        ];
        row.extend(bin.top_label.filter(|_| top_label).map(number));
        row
    };
    let rows = series.iter().flat_map(|(class, bins)| bins.iter().map(move |bin| row(class, bin)));
    finish(chart, words, columns, rows)
}

/// What theory says about a validity curve: at least `1 - alpha(epsilon)`.
pub(super) type Theory<'a> = Option<&'a dyn Fn(f64) -> f64>;

/// Which validity is drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ValidityKind {
    /// The fraction of predictions within epsilon.
    Marginal,
    /// Whether every bin is.
    Conditional,
}

/// The validity curves before and after, with what is guaranteed of it.
pub(super) fn validity(
    words: PlotText<'_>,
    (before, after): (Option<&Validity>, &Validity),
    kind: ValidityKind,
    theory: Theory<'_>,
) -> Plot {
    let end = axis_end(before, after);
    let curves = || before.map(|before| ("before", before)).into_iter().chain([("after", after)]);
    let label = match kind {
        ValidityKind::Marginal => "fraction of predictions within epsilon",
        ValidityKind::Conditional => "every bin within epsilon: 0 no, 1 yes",
    };
    let mut chart = Chart::new(Axis::new("epsilon", 0.0, end), Axis::unit(label));
    draw_theory(&mut chart, end, theory);
    for (class, curve) in curves() {
        match kind {
            ValidityKind::Marginal => {
                chart.steps(class, 0.0, curve.steps.iter().map(|step| (step.epsilon, step.valid)));
            }
            ValidityKind::Conditional => chart.steps(class, 0.0, [(curve.conditional(), 1.0)]),
        }
    }
    if kind == ValidityKind::Conditional {
        let rows = curves().map(|(side, curve)| vec![side.into(), number(curve.conditional())]);
        return finish(&chart, words, vec!["", "every bin is within"], rows);
    }
    let rows = grid(end).map(|epsilon| {
        let mut row = vec![number(epsilon)];
        row.extend(curves().map(|(_, curve)| number(curve.marginal(epsilon))));
        row.extend(theory.map(|theory| number(theory(epsilon))));
        row
    });
    let mut columns = vec!["epsilon"];
    columns.extend(curves().map(|(side, _)| side));
    columns.extend(theory.map(|_| "guaranteed"));
    finish(&chart, words, columns, rows)
}

fn draw_theory(chart: &mut Chart, end: f64, theory: Theory<'_>) {
    if let Some(theory) = theory {
        chart.line("theory", (0..=120).map(|i| end * f64::from(i) / 120.0).map(|e| (e, theory(e))));
    }
}

/// Twenty-one epsilons from 0 to the end of the axis.
fn grid(end: f64) -> impl Iterator<Item = f64> {
    (0..=20).map(move |i| end * f64::from(i) / 20.0)
}

/// A round number a little above the largest deviation.
fn axis_end(before: Option<&Validity>, after: &Validity) -> f64 {
    let largest = before.map_or(0.0, Validity::conditional).max(after.conditional()) * 1.05;
    [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75].into_iter().find(|&end| end >= largest).unwrap_or(1.0)
}

/// The ROC curves before and after, with the convex hull of the one before.
pub(super) fn roc(words: PlotText<'_>, before: &Roc, after: &Roc) -> Plot {
    let mut chart = Chart::new(Axis::unit("false positive rate"), Axis::unit("true positive rate"));
    chart.diagonal();
    let rates = |roc: &Roc, point: &RocPoint| {
        let totals = roc.totals();
        (point.fp as f64 / totals.fp as f64, point.tp as f64 / totals.tp as f64)
    };
    chart.line("hull", before.hull.iter().map(|point| rates(before, point)));
    for (class, roc) in [("before", before), ("after", after)] {
        chart.line(class, thinned(&roc.points).map(|point| rates(roc, point)));
    }
    let hull = thinned(&before.hull).map(|point| {
        let (fpr, tpr) = rates(before, point);
        vec![point.fp.to_string(), point.tp.to_string(), number(fpr), number(tpr)]
    });
    let columns = vec!["false positives", "true positives", "false positive rate", "true positive rate"];
    finish(&chart, words, columns, hull)
}

/// At most 401 of the points, the first and the last among them.
fn thinned(points: &[RocPoint]) -> impl Iterator<Item = &RocPoint> {
    let step = points.len().div_ceil(DRAWN_POINTS).max(1);
    let last = points.len() - 1;
    points.iter().enumerate().filter(move |(i, _)| i % step == 0 || *i == last).map(|(_, point)| point)
}

/// How many bars a distribution has.
pub(super) const BARS: usize = 40;

/// A distribution before calibration, after it, or both: class, name and counts in bars of equal width along an axis.
pub(super) fn distribution(
    words: PlotText<'_>,
    axis: Axis,
    series: &[(&'static str, &'static str, [u64; BARS])],
) -> Plot {
    let (lo, hi) = (axis.lo, axis.hi);
    let edge = |i: usize| lo + (hi - lo) * i as f64 / BARS as f64;
    let digits = places(3, &[(hi - lo) / BARS as f64]);
    let shares: Vec<Vec<f64>> = series.iter().map(|(_, _, counts)| percentages(counts)).collect();
    let mut chart = Chart::new(axis, Axis::new("rows (%)", 0.0, top(shares.iter().flatten().copied())));
    // What is before calibration lies in front.
    for ((class, ..), shares) in series.iter().zip(&shares).rev() {
        shares.iter().enumerate().for_each(|(i, &share)| chart.bar(class, edge(i), edge(i + 1), share));
    }
    let filled = (0..BARS).filter(|&i| series.iter().any(|(_, _, counts)| counts[i] > 0));
    let rows = filled.map(|i| {
        let range = format!("{:.digits$} to {:.digits$}", edge(i), edge(i + 1));
        std::iter::once(range).chain(series.iter().map(|(_, _, counts)| counts[i].to_string())).collect()
    });
    let columns = std::iter::once("from, to").chain(series.iter().map(|(_, name, _)| *name)).collect();
    finish(&chart, words, columns, rows)
}

/// The calibrated probability of every margin, in ascending order of margin.
pub(super) fn map(words: PlotText<'_>, (lo, hi): (f64, f64), points: &[(f64, f64)]) -> Plot {
    let largest = points.iter().map(|point| point.1).fold(0.0, f64::max);
    let mut chart = Chart::new(Axis::new("margin", lo, hi), Axis::probs("calibrated probability", largest));
    let inside = |point: &&(f64, f64)| (lo..=hi).contains(&point.0);
    chart.line("after", points.iter().filter(inside).copied());
    let rows = (0..=20).filter_map(|i| points.get(i * (points.len() - 1) / 20));
    let rows = rows.map(|&(margin, prob)| vec![number(margin), number(prob)]);
    finish(&chart, words, vec!["margin", "probability"], rows)
}

/// The most ranges whose event rates are drawn beside a band.
pub(super) const RANGES: usize = 15;

/// The band at a score.
pub(super) fn band_at(steps: &[([Option<f64>; 2], ProbInterval)], score: f64) -> ProbInterval {
    let above = steps.partition_point(|(ends, _)| ends[0].is_none_or(|from| from <= score));
    steps[above.saturating_sub(1)].1
}

/// A band over the score, with the calibrated probability and the event rates of rows in ascending order of score: score, probability, label.
pub(super) fn band(
    words: PlotText<'_>,
    axis: Axis,
    steps: &[([Option<f64>; 2], ProbInterval)],
    points: &[(f64, f64, bool)],
) -> Plot {
    let ends = [axis.lo, axis.hi];
    let mut chart = Chart::new(axis, Axis::unit("probability of an event"));
    let level = |(scores, at): &([Option<f64>; 2], ProbInterval)| {
        let ends = [scores[0].unwrap_or(ends[0]), scores[1].unwrap_or(ends[1])];
        ends.map(|score| (score, at.lo.into(), at.hi.into()))
    };
    chart.band("band", &steps.iter().flat_map(level).collect::<Vec<_>>());
    let inside: Vec<_> = points.iter().filter(|point| (ends[0]..=ends[1]).contains(&point.0)).collect();
    let rates: Vec<(f64, f64)> = inside
        .chunks(inside.len().div_ceil(RANGES).max(1))
        .map(|rows| {
            let n = rows.len() as f64;
            let hits = rows.iter().filter(|point| point.2).count();
            (rows.iter().map(|point| point.0).sum::<f64>() / n, hits as f64 / n)
        })
        .collect();
    let step = inside.len().div_ceil(DRAWN_POINTS).max(1);
    let last = inside.len().saturating_sub(1);
    let drawn = inside.iter().enumerate().filter(|(at, _)| at % step == 0 || *at == last);
    chart.line("after", drawn.map(|(_, point)| (point.0, point.1)));
    chart.line("before", rates.iter().copied());
    rates.iter().for_each(|&(score, rate)| chart.mark("before", Mark::Circle, score, rate));
    let row = |(scores, at): &([Option<f64>; 2], ProbInterval)| {
        vec![
            scores_in_words(scores.map(|end| end.map(|end| end as f32).map(shortest))),
            number(at.lo.into()),
            number(at.hi.into()),
        ]
    };
    finish(&chart, words, vec!["scores", "at least", "at most"], steps.iter().map(row))
}

/// A bin of an artifact: its probability, and how many rows of both data sets fall into it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Occupancy {
    /// The class of the table; 1 for binary artifacts.
    pub class: u16,
    /// The bin.
    pub bin: u32,
    /// The probability that it gives, averaged over the rows where it is not constant.
    pub prob: f64,
    /// Calibration rows.
    pub calibration: u64,
    /// Test rows.
    pub test: u64,
}

/// At most so many bins are listed behind their plot, those with the most rows.
pub(super) const LISTED_BINS: usize = 400;

/// How the rows of both data sets are shared out among the bins of an artifact.
pub(super) fn occupancy(words: PlotText<'_>, bins: &[Occupancy]) -> Plot {
    let shares = |rows: fn(&Occupancy) -> u64| percentages(&bins.iter().map(rows).collect::<Vec<_>>());
    let (calibration, test) = (shares(|bin| bin.calibration), shares(|bin| bin.test));
    let top = top(calibration.iter().chain(&test).copied());
    let mut chart = Chart::new(Axis::new("bin", 0.0, bins.len() as f64), Axis::new("rows (%)", 0.0, top));
    chart.levels("before", &calibration);
    chart.levels("after", &test);
    let mut listed: Vec<&Occupancy> = bins.iter().collect();
    listed.sort_by_key(|bin| std::cmp::Reverse(bin.calibration + bin.test));
    listed.truncate(LISTED_BINS);
    listed.sort_by_key(|bin| (bin.class, bin.bin));
    let rows = listed.into_iter().map(|bin| {
        vec![
            bin.class.to_string(),
            bin.bin.to_string(),
            number(bin.prob),
            bin.calibration.to_string(),
            bin.test.to_string(),
        ]
    });
    finish(&chart, words, vec!["class", "bin", "probability", "calibration rows", "test rows"], rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_curve_is_thinned_and_keeps_its_ends() {
        let points: Vec<RocPoint> = (0..1_000_000).map(|i| RocPoint { fp: i, tp: i }).collect();
        let drawn: Vec<_> = thinned(&points).collect();
        assert!(drawn.len() <= DRAWN_POINTS + 1);
        assert_eq!((drawn[0].fp, drawn[drawn.len() - 1].fp), (0, 999_999));
    }
}
