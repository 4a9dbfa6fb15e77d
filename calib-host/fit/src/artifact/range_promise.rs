//! What intervals of ranges of the score promise, in plain sentences.

use calib_core::Artifact;
use calib_core::artifact::{Rate, Reduction, ScoreIntervals};

use super::points::cluster_rows;
use super::promise::{Condition, independent, repeated_scores, same_distribution};
use super::sample::SampleFacts;
use crate::stats::percent_of_success;

/// What the intervals guarantee.
pub(super) fn statement(artifact: &Artifact<'_>, found: ScoreIntervals<'_>) -> String {
    let as_before = match found.rate() {
        Rate::OfRange => "",
        _ => ", for scores distributed within the range as in the calibration set (some tie at the edges)",
    };
    let event = match artifact.header().reduction {
        Reduction::Binary => "",
        Reduction::ClassWise => " The event is that the class is right, for each class separately.",
        Reduction::TopKLabel { .. } | Reduction::TopKConfidence { .. } => {
            " The event is that the class with the rank is right."
        }
        _ => " The event is that the predicted class is right.",
    };
    let of_clusters =
        if cluster_rows(artifact).is_some() { " A new row is a random row of a random cluster." } else { "" };
    format!(
        "With at least {}% probability over the draw of the calibration set, the event rate of every score range lies in its interval\
         {as_before}.{event}{of_clusters}",
        percent_of_success(found.alpha()),
    )
}

/// What has to be so for that to hold. Method and number of bins may be chosen by the labels: the ranges depend on the scores alone.
pub(super) fn assumptions(
    artifact: &Artifact<'_>,
    found: ScoreIntervals<'_>,
    sample: Option<SampleFacts>,
) -> Vec<Condition> {
    let fixed = Condition::new(
        "the classifier was fixed without looking at these labels",
        "The classifier was fixed without looking at these labels. The method may be chosen by them: the ranges depend on the scores only.",
    );
    let mut all = vec![independent(artifact), fixed, same_distribution(artifact)];
    if found.rate() == Rate::OfRange {
        all.push(repeated_scores(sample));
    }
    all
}
