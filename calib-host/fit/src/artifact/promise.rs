//! What an artefact promises, in plain sentences.

use calib_core::artifact::{HeaderFlags, Method, Reduction, Theorem};
use calib_core::{Artifact, BinFlags};

use super::points::{cluster_rows, points};
use crate::fit::table_name;
use crate::guarantee::gr21_theorem3_smallest_n;

/// Above this, a guarantee is called wide.
const USEFUL_EPSILON: f64 = 0.1;

/// States what an artefact guarantees, under which assumptions, and for which bins and classes nothing is guaranteed; if
/// for none, why.
///
/// ```
/// use calib_fit::{BinaryData, BinaryMethod, Isotonic, StoredArtifact, artifact_bytes, fit_binary, promise};
///
/// let data = BinaryData::new(vec![0.25, 0.75], vec![false, true])?;
/// let fit = fit_binary(&data, &BinaryMethod::Isotonic(Isotonic::default()), 0.1)?;
/// let stored = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?).unwrap();
/// let sentence = "Nothing is guaranteed: isotonic has no distribution-free guarantee.";
/// assert_eq!(promise(&stored.artifact()), sentence);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn promise(artifact: &Artifact<'_>) -> String {
    let header = artifact.header();
    let Some(guarantee) = header.guarantee else { return why_nothing(artifact) };
    if guarantee.epsilon >= 1.0 {
        return format!(
            "Nothing is guaranteed: the bound is {:.4}, and every probability is within 1 of the truth anyway. More points a \
             bin narrow it.",
            guarantee.epsilon
        );
    }
    let assumption = match guarantee.theorem {
        Theorem::Gr21Theorem4 => {
            "if new data come from the same distribution as these and the device is handed a fresh random word each time"
        }
        Theorem::SampleSplit => "if new data come from the same distribution as these",
        _ => "if new data come from the same distribution as these and scores rarely repeat",
    };
    let mut text = format!(
        "With probability {} % over the draw of the {}, every bin's probability is within {:.4} of \
         the truth for {}{} ({}), {assumption}; nothing is promised within a bin, or once the data change.",
        percent_of_success(guarantee.alpha),
        points(artifact),
        guarantee.epsilon,
        meant(header.reduction),
        if cluster_rows(artifact).is_some() { " in a random row of a random cluster" } else { "" },
        guarantee.theorem,
    );
    if has_empty_bins(artifact) {
        text += " Scores in bins without calibration points are uncalibrated.";
    }
    let tables = artifact.tables();
    let each = || (0..tables.count()).map(|table| (table, tables.get(table)));
    // What is guaranteed of the others is not for a table whose equal scores straddle a boundary.
    let tied: Vec<usize> = each()
        .filter(|(_, table)| table.is_some_and(|table| table.epsilon.is_none()))
        .map(|(i, _)| i)
        .collect();
    if !tied.is_empty() {
        let names = names(artifact, &tied);
        text += &format!(" Nothing is guaranteed for {names}: equal scores straddle a bin boundary.");
    }
    let uncalibrated: Vec<usize> = each().filter(|(_, table)| table.is_none()).map(|(i, _)| i).collect();
    if !uncalibrated.is_empty() {
        let (names, are) =
            (names(artifact, &uncalibrated), if uncalibrated.len() == 1 { "is" } else { "are" });
        text += &format!(" Nothing is guaranteed for {names}, which {are} uncalibrated.");
    }
    text
}

/// Says how many points a useful epsilon takes, if the artefact's is wide: exactly where the theorem gives the number,
/// otherwise how many times as many, as epsilon falls with the root of the number.
///
/// ```
/// use calib_fit::artifact::points_for_a_useful_epsilon;
/// # use calib_fit::{BinaryData, BinaryMethod, StoredArtifact, Umd, artifact_bytes, fit_binary};
/// # let scores = (0..400).map(|i| f64::from(i) / 400.0).collect();
/// # let data = BinaryData::new(scores, (0..400).map(|i| i % 40 < i / 20).collect())?;
/// # let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(4)), 0.1)?;
/// # let stored = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?)?;
///
/// // 400 points in 4 bins promise 0.15.
/// let advice = points_for_a_useful_epsilon(&stored.artifact()).expect("0.15 is wide");
/// assert!(advice.contains("points"), "{advice}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn points_for_a_useful_epsilon(artifact: &Artifact<'_>) -> Option<String> {
    let header = artifact.header();
    let guarantee = header.guarantee?;
    let epsilon = f64::from(guarantee.epsilon);
    if epsilon <= USEFUL_EPSILON {
        return None;
    }
    let counts_points = matches!(guarantee.theorem, Theorem::Gr21Theorem3 | Theorem::Gr21Theorem4);
    let bins = header.bins;
    Some(if counts_points && header.reduction == Reduction::Binary {
        let needed = gr21_theorem3_smallest_n(bins.into(), as_written(guarantee.alpha), USEFUL_EPSILON);
        format!(
            "That is wide: {bins} bins need {needed} points for an epsilon of {USEFUL_EPSILON}; fewer bins need fewer."
        )
    } else {
        let times = (epsilon / USEFUL_EPSILON).powi(2);
        format!(
            "That is wide: an epsilon of {USEFUL_EPSILON} takes about {times:.1} times as many points in the bin with the fewest, \
             or fewer bins."
        )
    })
}

/// Says why nothing is guaranteed.
fn why_nothing(artifact: &Artifact<'_>) -> String {
    let header = artifact.header();
    if header.flags.contains(HeaderFlags::WEIGHTED) {
        return "Nothing is guaranteed: the points have real weights, and theorems count points.".into();
    }
    if header.reduction == Reduction::Normalized {
        return "Nothing is guaranteed: dividing by the sum voids what holds for every class by itself; class-wise keeps it."
            .into();
    }
    match header.method {
        Method::Umd | Method::UmdOriginal => {
            "Nothing is guaranteed: equal scores straddle a bin boundary, and the theorem does not hold for them. ums and \
             fixed-width keep a guarantee, and so does umd with ties broken at random, but not over integer codes."
                .into()
        }
        Method::VennAbers => {
            "Nothing is guaranteed for a single probability: of p0 and p1, the one for the label that comes true is \
             calibrated; they are no confidence interval."
                .into()
        }
        Method::UmdRandomized => {
            "Nothing is guaranteed: the points on the boundaries are kept, and the theorem for ties broken at random leaves \
             them out."
                .into()
        }
        method => format!("Nothing is guaranteed: {method} has no distribution-free guarantee."),
    }
}

/// What a bin's probability is compared with.
fn meant(reduction: Reduction) -> &'static str {
    match reduction {
        Reduction::TopLabel => "its class, when predicted with its scores",
        Reduction::Confidence => {
            "predictions with its scores, all classes taken together (for a single class it may be off)"
        }
        Reduction::ClassWise => "its class, at its scores",
        Reduction::TopKLabel { .. } => "its class, when it has its rank with its scores",
        Reduction::TopKConfidence { .. } => {
            "the classes with its rank and its scores, taken together (for a single class it may be off)"
        }
        _ => "its scores",
    }
}

/// Whether a bin of a table rests on no calibration point.
fn has_empty_bins(artifact: &Artifact<'_>) -> bool {
    let tables = artifact.tables();
    let bins = |table: usize| tables.get(table).map_or(0, |table| table.form.bins());
    let is_empty = |table: usize, bin: usize| tables.bin_flags(table, bin as u16).contains(BinFlags::EMPTY);
    (0..tables.count()).any(|table| (0..bins(table)).any(|bin| is_empty(table, bin)))
}

/// The names of tables, the first few of them.
fn names(artifact: &Artifact<'_>, tables: &[usize]) -> String {
    const SHOWN: usize = 8;
    let header = artifact.header();
    let shown = tables.iter().take(SHOWN);
    let mut names = match header.reduction {
        Reduction::TopLabel | Reduction::ClassWise | Reduction::Normalized => {
            let classes = shown.map(usize::to_string).collect::<Vec<_>>().join(", ");
            format!("{} {classes}", if tables.len() == 1 { "class" } else { "classes" })
        }
        reduction => {
            let name = |&table: &usize| table_name(reduction, header.classes.into(), table);
            shown.map(name).collect::<Vec<_>>().join("; ")
        }
    };
    if tables.len() > SHOWN {
        names += &format!(" and {} more", tables.len() - SHOWN);
    }
    names
}

/// `1 - alpha` in percent, with as many digits as alpha has.
fn percent_of_success(alpha: f32) -> String {
    let decimals = alpha.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len());
    format!("{:.*}", decimals.saturating_sub(2), 100.0 * (1.0 - as_written(alpha)))
}

/// An `f32` as the decimal number that a person wrote.
fn as_written(value: f32) -> f64 {
    value.to_string().parse().expect("a printed number is a number")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probability_has_no_more_digits_than_alpha() {
        for (alpha, percent) in [(0.1, "90"), (0.9, "10"), (0.07, "93"), (0.001, "99.9"), (0.25, "75")] {
            assert_eq!(percent_of_success(alpha), percent);
        }
    }
}
