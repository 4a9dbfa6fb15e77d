//! What was found of rows, as text.

use std::io::{self, Write};

use calib_fit::assess::ClinicalSummary;
use calib_fit::job::{
    Assessed, AssessedBeforeAfter, AssessedClasses, AssessedFigures, AssessedPredictions, AssessedRanks,
    AssessedVectors,
};

use super::assessment::{after_margins, assessment, before_after, clusters, each, top_k, vectors, verdict};
use super::clinical::clinical;
use super::first_figures;
use super::groups::groups;
use super::sets::set_figures;
use super::threshold::{at_operating_points, at_thresholds};

/// Prints the first figures, or all.
pub(crate) fn assessed(out: &mut impl Write, found: &Assessed, is_all: bool) -> io::Result<()> {
    if let Some((rows, count)) = found.clusters {
        clusters(out, rows, count)?;
    }
    if let Some(sets) = &found.sets {
        set_figures(&sets.figures, out)?;
    }
    match &found.figures {
        None => Ok(()),
        Some(AssessedFigures::Predictions(found)) => of_predictions(out, found, is_all),
        Some(AssessedFigures::BeforeAfter(found)) => of_before_after(out, found, is_all),
        Some(AssessedFigures::Vectors(found)) if !is_all => first_figures::of_vectors(out, found),
        Some(AssessedFigures::Classes(found)) if !is_all => {
            first_figures::of_vectors_before_after(out, found)
        }
        Some(AssessedFigures::Ranks(found)) if !is_all => first_figures::of_ranks(out, found),
        Some(AssessedFigures::Vectors(found)) => of_vectors(out, found),
        Some(AssessedFigures::Classes(found)) => {
            let AssessedClasses { verdict: said, before, after, uncalibrated, .. } = found;
            verdict(out, said)?;
            each(out, *uncalibrated, [before, after], of_vectors)
        }
        Some(AssessedFigures::Ranks(AssessedRanks { before, after, uncalibrated, .. })) => {
            each(out, *uncalibrated, [before, after], top_k)
        }
        Some(AssessedFigures::Operating(found)) => at_operating_points(out, &found.accuracies, found.alpha),
        Some(_) => Ok(()),
    }
}

fn of_predictions(out: &mut impl Write, found: &AssessedPredictions, is_all: bool) -> io::Result<()> {
    if is_all {
        assessment(out, &found.assessment, found.uncalibrated)?;
        found.clinical.iter().try_for_each(|found| clinical(out, "the probabilities", found))?;
    } else {
        first_figures::of_predictions(out, found)?;
    }
    found.groups.iter().try_for_each(|found| groups(out, found))
}

fn of_before_after(out: &mut impl Write, found: &AssessedBeforeAfter, is_all: bool) -> io::Result<()> {
    if is_all { all_before_after(out, found) } else { first_figures::of_before_after(out, found) }?;
    at_thresholds(out, &found.at_thresholds, found.alpha)?;
    at_operating_points(out, &found.operating, found.alpha)?;
    found.groups.iter().try_for_each(|found| groups(out, found))
}

fn all_before_after(out: &mut impl Write, found: &AssessedBeforeAfter) -> io::Result<()> {
    verdict(out, &found.verdict)?;
    match found.metrics.of_margins {
        true => after_margins(out, &found.metrics.both, found.uncalibrated)?,
        false => before_after(out, &found.metrics.both, found.uncalibrated)?,
    }
    if let Some(ClinicalSummary { before, after, .. }) = &found.clinical {
        before.iter().try_for_each(|found| clinical(out, "the scores", found))?;
        clinical(out, "the calibrated probabilities", after)?;
    }
    Ok(())
}

fn of_vectors(out: &mut impl Write, found: &AssessedVectors) -> io::Result<()> {
    vectors(out, &found.assessment, found.surface.as_ref(), found.top_k.as_ref())
}
