//! What a fit promises, in plain sentences.

use calib_core::artifact::{Method, Reduction, Theorem};
use calib_host::{Fit, gr21_theorem3_smallest_n};

use super::decimals;

/// Above this, the summary says how many points a useful epsilon takes.
const USEFUL_EPSILON: f64 = 0.1;

/// What is promised, under which assumptions, and what is not.
pub(crate) fn promise(fit: &Fit) -> String {
    if fit.weighted {
        return "Nothing is guaranteed: the points have real weights, and theorems count points.".into();
    }
    let Some(guarantee) = fit.guarantee else { return no_promise(fit) };
    let percent =
        format!("{:.*}", decimals(guarantee.alpha).saturating_sub(2), 100.0 * (1.0 - guarantee.alpha));
    let assumption = match guarantee.theorem {
        Theorem::Gr21Theorem4 => {
            "if new data come from the same distribution as these and the device is handed a fresh random word each time"
        }
        Theorem::SampleSplit => "if new data come from the same distribution as these",
        _ => "if new data come from the same distribution as these and scores rarely repeat",
    };
    let mut text = format!(
        "With probability {percent} % over the draw of the {} calibration points, every bin's probability is within \
         {:.4} of the truth for {} ({}), {assumption}; nothing is promised within a bin, or once the data change.",
        fit.n,
        guarantee.epsilon,
        meant(fit.reduction),
        guarantee.theorem,
    );
    if fit.tables.iter().flatten().any(|table| table.model.bins().iter().any(|bin| bin.n == 0)) {
        text += " Nothing is guaranteed for empty bins.";
    }
    let tied: Vec<usize> = fit.tied_tables().collect();
    if !tied.is_empty() {
        let names = names(fit, &tied);
        text += &format!(" Nothing is guaranteed for {names}: equal scores straddle a bin boundary.");
    }
    let plain = matches!(guarantee.theorem, Theorem::Gr21Theorem3 | Theorem::Gr21Theorem4);
    if guarantee.epsilon > USEFUL_EPSILON && plain && fit.reduction == Reduction::Binary {
        let bins = fit.bins() as u64;
        let needed = gr21_theorem3_smallest_n(bins, guarantee.alpha, USEFUL_EPSILON);
        text += &format!(
            " That is wide: {bins} bins need {needed} points for an epsilon of {USEFUL_EPSILON}; fewer bins need fewer."
        );
    }
    text
}

/// Why nothing is promised.
fn no_promise(fit: &Fit) -> String {
    if fit.reduction == Reduction::Normalized {
        return "Nothing is guaranteed: dividing by the sum voids what holds for every class by itself; class-wise keeps it."
            .into();
    }
    match fit.method {
        Method::Umd | Method::UmdOriginal => {
            "Nothing is guaranteed: equal scores straddle a bin boundary, and without randomised ties the theorem does \
             not hold for them."
                .into()
        }
        Method::VennAbers => {
            "Nothing is guaranteed for a single probability: of the two ends of the interval, the one for the label that \
             comes true is calibrated."
                .into()
        }
        _ => format!("Nothing is guaranteed: {} has no distribution-free guarantee.", fit.method),
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

/// The names of tables, the first few of them.
fn names(fit: &Fit, tables: &[usize]) -> String {
    const SHOWN: usize = 8;
    let by_class =
        matches!(fit.reduction, Reduction::TopLabel | Reduction::ClassWise | Reduction::Normalized);
    let shown = tables.iter().take(SHOWN);
    let mut names = if by_class {
        let classes = shown.map(usize::to_string).collect::<Vec<_>>().join(", ");
        format!("{} {classes}", if tables.len() == 1 { "class" } else { "classes" })
    } else {
        shown.map(|&table| fit.table_name(table)).collect::<Vec<_>>().join("; ")
    };
    if tables.len() > SHOWN {
        names += &format!(" and {} more", tables.len() - SHOWN);
    }
    names
}
