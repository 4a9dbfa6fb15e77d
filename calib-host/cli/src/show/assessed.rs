//! What was found of rows, as text.

use std::io;

use calib_fit::assess::ClinicalSummary;
use calib_fit::job::{
    Assessed, AssessedBeforeAfter, AssessedClasses, AssessedFigures, AssessedPredictions, AssessedRanks,
    AssessedVectors,
};

use super::assessment::{after_margins, assessment, before_after, clusters, each, top_k, vectors, verdict};
use super::clinical::clinical;
use super::groups::groups;
use super::sets::set_figures;
use super::threshold::{at_operating_points, at_thresholds};
use crate::out::stdout;

/// Prints it.
pub(crate) fn assessed(found: &Assessed) -> io::Result<()> {
    if let Some((rows, count)) = found.clusters {
        clusters(rows, count)?;
    }
    if let Some(sets) = &found.sets {
        set_figures(&sets.figures, &mut stdout())?;
    }
    match &found.figures {
        None => Ok(()),
        Some(AssessedFigures::Predictions(found)) => of_predictions(found),
        Some(AssessedFigures::BeforeAfter(found)) => of_before_after(found),
        Some(AssessedFigures::Vectors(found)) => of_vectors(found),
        Some(AssessedFigures::Classes(found)) => {
            let AssessedClasses { verdict: said, before, after, uncalibrated } = found;
            verdict(said)?;
            each(*uncalibrated, [before, after], of_vectors)
        }
        Some(AssessedFigures::Ranks(AssessedRanks { before, after, uncalibrated })) => {
            each(*uncalibrated, [before, after], top_k)
        }
        Some(AssessedFigures::Operating(found)) => {
            at_operating_points(&mut stdout(), &found.accuracies, found.alpha)
        }
        Some(_) => Ok(()),
    }
}

fn of_predictions(found: &AssessedPredictions) -> io::Result<()> {
    assessment(&found.assessment, found.uncalibrated)?;
    found.clinical.iter().try_for_each(|found| clinical("the probabilities", found))?;
    found.groups.iter().try_for_each(groups)
}

fn of_before_after(found: &AssessedBeforeAfter) -> io::Result<()> {
    verdict(&found.verdict)?;
    match found.metrics.of_margins {
        true => after_margins(&found.metrics.both, found.uncalibrated)?,
        false => before_after(&found.metrics.both, found.uncalibrated)?,
    }
    if let Some(ClinicalSummary { before, after }) = &found.clinical {
        before.iter().try_for_each(|found| clinical("the scores", found))?;
        clinical("the calibrated probabilities", after)?;
    }
    at_thresholds(&mut stdout(), &found.at_thresholds, found.alpha)?;
    at_operating_points(&mut stdout(), &found.operating, found.alpha)?;
    found.groups.iter().try_for_each(groups)
}

fn of_vectors(found: &AssessedVectors) -> io::Result<()> {
    vectors(&found.assessment, found.surface.as_ref(), found.top_k.as_ref())
}
