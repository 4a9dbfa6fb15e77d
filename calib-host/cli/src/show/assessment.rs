//! Assessments as text.

use std::io::{self, Write};

use calib_fit::artifact::number_of;
use calib_fit::assess::{
    Assessment, BeforeAfter, BinnedEstimate, Binning, CEmpEstimate, EstimateWithInterval, FEWEST_EVENTS,
    Groups, GuaranteeOnRows, HullVolume, PredictionKind, RangeTest, RocSurface, SurfaceVolume,
    TopKAssessment, VectorAssessment, Verdict,
};
use calib_fit::stats::{percent_of_success, shown};

/// How wide the column of names is.
const NAME: usize = 18;

/// Prints an assessment of predictions.
pub(crate) fn assessment(out: &mut impl Write, assessment: &Assessment, uncalibrated: u64) -> io::Result<()> {
    head(out, assessment, uncalibrated)?;
    for (name, estimate) in plain(assessment) {
        line(out, name, estimate)?;
    }
    for (name, estimate) in binned(assessment) {
        binned_line(out, &name, &estimate)?;
    }
    tail(out, assessment)?;
    class_lines(out, "predicted", assessment.classes.iter().map(|c| (c.class, &c.assessment)))
}

/// Prints which number stands for which class, if labels are text.
pub(crate) fn class_names(out: &mut impl Write, names: Option<&[String]>) -> io::Result<()> {
    let Some(names) = names else { return Ok(()) };
    let named: Vec<String> =
        names.iter().enumerate().map(|(class, name)| format!("{class} = {name}")).collect();
    writeln!(out, "classes: {}", named.join(", "))
}

/// Prints an assessment of what margins were calibrated to. Margins themselves have an order and are no probabilities.
pub(crate) fn after_margins(out: &mut impl Write, both: &BeforeAfter, uncalibrated: u64) -> io::Result<()> {
    if let Some(auc) = both.before.auc {
        writeln!(out, "of the margins:")?;
        line(out, "auc", auc)?;
        writeln!(out, "of the calibrated probabilities:")?;
    }
    assessment(out, &both.after, uncalibrated)
}

/// Prints what the rows say in words, before any figure.
pub(crate) fn verdict(out: &mut impl Write, verdict: &Verdict) -> io::Result<()> {
    writeln!(out, "{}.", verdict.title())?;
    verdict.sentences.iter().try_for_each(|sentence| writeln!(out, "{sentence}"))?;
    range_lines(out, &verdict.ranges)?;
    writeln!(out)
}

/// Prints what the rows say of each bin with a guarantee, or of each score range with an interval: all of a few, else those outside.
fn range_lines(out: &mut impl Write, ranges: &[RangeTest]) -> io::Result<()> {
    /// No more lines stand in front of the figures.
    const MOST: usize = 30;
    let is_shown =
        |range: &&RangeTest| ranges.len() <= MOST || range.guarantee == GuaranteeOnRows::Contradicted;
    let shown: Vec<_> = ranges.iter().filter(is_shown).take(MOST).map(RangeTest::cells).collect();
    let titles = RangeTest::COLUMNS.map(String::from);
    let lines = || [&titles].into_iter().chain(&shown).filter(|_| !shown.is_empty());
    let widths: [usize; 7] =
        std::array::from_fn(|column| lines().map(|line| line[column].len()).max().unwrap_or_default());
    for [bin, scores, n, hits, rate, interval, guarantee] in lines() {
        let [w0, w1, w2, w3, w4, w5, _] = widths;
        writeln!(
            out,
            "  {bin:>w0$}  {scores:<w1$}  {n:>w2$}  {hits:>w3$}  {rate:<w4$}  {interval:<w5$}  {guarantee}"
        )?;
    }
    if shown.len() < ranges.len() {
        writeln!(out, "  {} more bins: --json has them", ranges.len() - shown.len())?;
    }
    Ok(())
}

/// Prints the bins or score ranges that contradict the guarantee.
pub(super) fn broken_lines(out: &mut impl Write, ranges: &[RangeTest]) -> io::Result<()> {
    let broken = ranges.iter().filter(|range| range.guarantee == GuaranteeOnRows::Contradicted);
    let broken: Vec<RangeTest> = broken.cloned().collect();
    range_lines(out, &broken)
}

/// Prints that rows belong together, before anything that rests on it.
pub(crate) fn clusters(out: &mut impl Write, rows: usize, clusters: usize) -> io::Result<()> {
    writeln!(
        out,
        "{} of {}: resampled, and counted in exact intervals, as clusters",
        number_of(rows as u64, "row"),
        number_of(clusters as u64, "cluster")
    )
}

/// Prints two assessments of the same rows side by side.
pub(crate) fn before_after(out: &mut impl Write, both: &BeforeAfter, uncalibrated: u64) -> io::Result<()> {
    let BeforeAfter { before, after, change, .. } = both;
    head(out, after, uncalibrated)?;
    let width = if change.brier.interval.is_some() { 32 } else { 12 };
    // The longest name is that of the debiased estimate in a norm.
    const NAME: usize = 23;
    writeln!(out, "{:<NAME$} {:<width$} {:<width$} change", "", "before", "after")?;
    let mut row = |name: &str, before, after, change: Option<EstimateWithInterval>| {
        let change = change.map_or(String::new(), |change| format!("{change:+.6}"));
        let [before, after] = [before, after].map(|side: EstimateWithInterval| format!("{side:.6}"));
        writeln!(out, "{name:<NAME$} {before:<width$} {after:<width$} {change}")
    };
    let changes = |name: &str| match name {
        "accuracy" => Some(change.accuracy),
        "brier" => Some(change.brier),
        "log_loss" => Some(change.log_loss),
        "auc" => change.auc,
        "sharpness" => Some(change.sharpness),
        "c_emp" => Some(change.c_emp),
        "conf_ece" => Some(change.conf_ece),
        "conf_mce" => Some(change.conf_mce),
        "tl_ece" => change.tl_ece,
        "tl_mce" => change.tl_mce,
        "tl_mce_bin" => change.tl_mce_bin,
        name if name.starts_with("lp_ce") => Some(change.lp_ce),
        _ => None,
    };
    for ((name, before), (_, after)) in plain(before).into_iter().zip(plain(after)) {
        row(name, before, after, changes(name))?;
    }
    for ((name, before), (_, after)) in binned(before).into_iter().zip(binned(after)) {
        row(&name, before.plugin(), after.plugin(), changes(&name))?;
        if let (Some(before), Some(after)) = (debiased(&before), debiased(&after)) {
            let change = match &*name {
                "conf_ece" => Some(change.conf_ece_debiased),
                "tl_ece" => change.tl_ece_debiased,
                _ => Some(EstimateWithInterval { value: after.value - before.value, interval: None }),
            };
            row(&format!("  {name} debiased"), before, after, change)?;
        }
        if let (Some(before), Some(after)) = (before.chance(), after.chance()) {
            let change = EstimateWithInterval { value: after.value - before.value, interval: None };
            row(&format!("  {name} by chance"), before, after, Some(change))?;
        }
    }
    writeln!(
        out,
        "binned: {} before, {} after",
        groups(&before.conf_ece.groups),
        groups(&after.conf_ece.groups)
    )?;
    tail(out, after)
}

/// Prints an assessment of vectors.
pub(crate) fn vectors(
    out: &mut impl Write,
    vectors: &VectorAssessment,
    surface: Option<&RocSurface>,
    top_k: Option<&TopKAssessment>,
) -> io::Result<()> {
    let top = &vectors.top_label;
    head(out, top, 0)?;
    line(out, "accuracy", top.accuracy)?;
    line(out, "brier", vectors.brier)?;
    line(out, "log_loss", vectors.log_loss)?;
    binned_line(out, "cw_ece", &vectors.cw_ece)?;
    binned_line(out, "marginal_ce", &vectors.marginal_ce)?;
    if let Some(surface) = surface {
        surface_lines(out, surface)?;
    }
    writeln!(out, "the most probable class, as a prediction:")?;
    for (name, estimate) in plain(top).into_iter().filter(|(name, _)| *name != "accuracy") {
        line(out, name, estimate)?;
    }
    for (name, estimate) in binned(top) {
        binned_line(out, &name, &estimate)?;
    }
    tail(out, top)?;
    if let Some(top_k) = top_k {
        rank_lines(out, top_k)?;
    }
    class_lines(out, "against the rest", (0u16..).zip(&vectors.class_wise))
}

/// Prints an assessment of the first few ranks.
pub(crate) fn top_k(out: &mut impl Write, top_k: &TopKAssessment) -> io::Result<()> {
    rank_lines(out, top_k)
}

/// Prints assessments of the same rows before and after, one below the other.
pub(crate) fn each<T, W: Write>(
    out: &mut W,
    uncalibrated: u64,
    both: [&T; 2],
    mut show: impl FnMut(&mut W, &T) -> io::Result<()>,
) -> io::Result<()> {
    if uncalibrated > 0 {
        writeln!(out, "left out, because uncalibrated: {uncalibrated}")?;
    }
    for (name, one) in ["before", "after"].iter().zip(both) {
        writeln!(out, "{name}:")?;
        show(out, one)?;
    }
    Ok(())
}

fn surface_lines(out: &mut dyn Write, surface: &RocSurface) -> io::Result<()> {
    let SurfaceVolume { value, interval, standard_error, tuples, .. } = surface.vus;
    let of = match standard_error {
        Some(error) => format!("of {tuples} tuples drawn: the draw has a standard error of {error:.6}"),
        None => format!("of all {tuples} tuples of one row a class"),
    };
    writeln!(out, "{:<NAME$} {:.6} ({of})", "vus", EstimateWithInterval { value, interval })?;
    if let Some(HullVolume { value, is_exact, .. }) = surface.vus_hull {
        let of = if is_exact { "exact" } else { "at least, of some of the thresholds" };
        writeln!(out, "{:<NAME$} {value:.6} ({of})", "vus_hull")?;
    }
    Ok(())
}

fn rank_lines(out: &mut dyn Write, top_k: &TopKAssessment) -> io::Result<()> {
    writeln!(out, "the {} most probable classes:", top_k.ranks.len())?;
    line(out, "accuracy", top_k.accuracy)?;
    line(out, "mean probability", top_k.mean_prob)?;
    for (rank, assessment) in top_k.ranks.iter().enumerate() {
        if let Some(tl_ece) = &assessment.tl_ece {
            binned_line(out, &format!("tl_ece, rank {}", rank + 1), tl_ece)?;
        }
    }
    Ok(())
}

fn head(out: &mut dyn Write, assessment: &Assessment, uncalibrated: u64) -> io::Result<()> {
    let share = 100.0 * assessment.hits as f64 / assessment.n as f64;
    let predictions = number_of(assessment.n, "prediction");
    writeln!(out, "{predictions}, {} ({}%)", number_of(assessment.hits, "event"), shown(1, share))?;
    remarks(out, assessment, uncalibrated)
}

/// Which rows are left out, and what their labels do not show.
pub(super) fn remarks(out: &mut dyn Write, assessment: &Assessment, uncalibrated: u64) -> io::Result<()> {
    if uncalibrated > 0 {
        writeln!(out, "left out, because uncalibrated: {uncalibrated}")?;
    }
    if let (PredictionKind::Binary, Some(label), Some(i)) =
        (assessment.kind, assessment.one_label(), assessment.rate.interval)
    {
        writeln!(
            out,
            "all labels are {}: they show nothing about the separation of classes, so auc is left out; rate of label 1: exact \
             {}% interval {i:.6}",
            u8::from(label),
            percent_of_success(assessment.c_emp.alpha)
        )?;
    }
    if let (Some(few @ 1..), true) = (assessment.few_events(), assessment.accuracy.interval.is_some()) {
        let label = u8::from(few == assessment.hits);
        writeln!(
            out,
            "only {few} with label {label}: too few for intervals of brier and log_loss, which need {FEWEST_EVENTS}"
        )?;
    }
    Ok(())
}

fn tail(out: &mut dyn Write, assessment: &Assessment) -> io::Result<()> {
    if assessment.conf_ece.by_chance.is_some() {
        writeln!(
            out,
            "by chance: calibrated probabilities of this many rows exceed it in about 5% of cases"
        )?;
    }
    let CEmpEstimate { bound, alpha, .. } = assessment.c_emp;
    let percent = percent_of_success(alpha);
    // A bound is rounded to the side on which it still holds.
    let lower = match bound.lo {
        0.0 => String::new(),
        lo => format!(
            "; in some range at least {:.1} (c_emp at least {lo:.6}), with {percent}% confidence again",
            (10_000.0 * lo).floor() / 10.0
        ),
    };
    match bound.hi < 1.0 {
        true => writeln!(
            out,
            "with {percent}% confidence, if the model was not fitted to these rows: c_emp at most {:.6}; in any range of probabilities, the expected \
             events differ from the predicted ones by at most {:.1} per 1000 rows{lower}",
            bound.hi,
            (10_000.0 * bound.hi).ceil() / 10.0
        )?,
        false => writeln!(out, "too few rows for a bound on c_emp of new rows")?,
    }
    if assessment.log_loss_clipped > 0 {
        writeln!(
            out,
            "{} gave probability 0 to the observed outcome: clipped in log_loss",
            number_of(assessment.log_loss_clipped, "prediction")
        )?;
    }
    Ok(())
}

/// The metrics that need no bins.
fn plain(a: &Assessment) -> Vec<(&'static str, EstimateWithInterval)> {
    let c_emp = EstimateWithInterval { value: a.c_emp.value, interval: None };
    let mut lines = vec![("accuracy", a.accuracy), ("brier", a.brier), ("log_loss", a.log_loss)];
    lines.extend(a.auc.map(|auc| ("auc", auc)));
    lines.extend([("sharpness", a.sharpness), ("c_emp", c_emp)]);
    lines
}

/// The metrics of binned predictions.
fn binned(a: &Assessment) -> Vec<(String, BinnedEstimate)> {
    let lp_name = format!("lp_ce, p = {}", a.lp_ce.p);
    let mut lines = vec![
        ("conf_ece".to_owned(), a.conf_ece),
        ("conf_mce".to_owned(), a.conf_mce),
        (lp_name, a.lp_ce.estimate),
    ];
    if a.kind == PredictionKind::TopLabel {
        let named = [("tl_ece", a.tl_ece), ("tl_mce", a.tl_mce), ("tl_mce_bin", a.tl_mce_bin)];
        lines.extend(named.into_iter().filter_map(|(name, estimate)| Some((name.to_owned(), estimate?))));
    }
    lines
}

fn debiased(estimate: &BinnedEstimate) -> Option<EstimateWithInterval> {
    let value = estimate.debiased?;
    Some(EstimateWithInterval { value, interval: estimate.debiased_interval })
}

fn line(out: &mut dyn Write, name: &str, estimate: EstimateWithInterval) -> io::Result<()> {
    writeln!(out, "{name:<NAME$} {estimate:.6}")
}

fn binned_line(out: &mut dyn Write, name: &str, estimate: &BinnedEstimate) -> io::Result<()> {
    let debiased = debiased(estimate).map_or(String::new(), |debiased| format!(", debiased {debiased:.6}"));
    let by_chance =
        estimate.by_chance.map_or(String::new(), |by_chance| format!(", by chance {by_chance:.6}"));
    writeln!(
        out,
        "{name:<NAME$} {:.6}{debiased}{by_chance} ({})",
        estimate.plugin(),
        groups(&estimate.groups)
    )
}

/// How predictions are grouped, in words.
fn groups(groups: &Groups) -> String {
    let held = number_of(groups.groups, "group");
    let occur = if groups.groups == 1 { "occurs" } else { "occur" };
    let singles = match groups.singles {
        0 => String::new(),
        singles => format!(", {singles} of a single prediction"),
    };
    match groups.binning {
        Binning::EqualWidth(bins) => format!("{bins} equal-width bins, {held} {occur}{singles}"),
        Binning::EqualMass(bins) | Binning::EqualMassKumar(bins) => {
            format!("{bins} equal-frequency bins, {held} {occur}{singles}")
        }
        Binning::ByBin => format!("{held} by the calibrator's bins{singles}"),
        Binning::ByValue => format!("{held} by value{singles}"),
    }
}

/// A line a class.
fn class_lines<'a>(
    out: &mut dyn Write,
    title: &str,
    classes: impl Iterator<Item = (u16, &'a Assessment)>,
) -> io::Result<()> {
    let mut classes = classes.peekable();
    if classes.peek().is_some() {
        let title = format!("class, {title}");
        writeln!(
            out,
            "{title:<24} {:>9} {:>9} {:>10} {:>10} {:>10} {:>10}",
            "n", "hits", "brier", "log_loss", "ece", "debiased"
        )?;
    }
    for (class, a) in classes {
        writeln!(
            out,
            "{class:<24} {:>9} {:>9} {:>10} {:>10} {:>10} {:>10}",
            a.n,
            a.hits,
            shown(6, a.brier.value),
            shown(6, a.log_loss.value),
            shown(6, a.conf_ece.value),
            shown(6, a.conf_ece.debiased.unwrap_or(f64::NAN))
        )?;
    }
    Ok(())
}
