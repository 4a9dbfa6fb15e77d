//! What speaks against a fit.

use crate::data::ScoreKind;
use crate::dataset::{Content, Dataset};
use crate::error::FitError;
use crate::job::finding::{Finding, KindGuess};

/// What the data of a fit say against how they were read.
pub(super) fn findings_of(data: &Dataset) -> Result<Vec<Finding>, FitError> {
    let kind = match data.content() {
        Content::Vectors(vectors, _) => KindGuess::of_no_rows().and(vectors).finding(),
        _ if data.score_kind() == Some(ScoreKind::Margin) && !data.is_of_passes() => {
            let score_summary = data
                .score_summary()?
                .filter(|score_summary| 0.0 <= score_summary.lowest && score_summary.highest <= 1.0);
            score_summary.map(|_| Finding::RawScoresInUnitInterval)
        }
        _ => None,
    };
    let kind = Finding::of_classes_as_scores(data).or(kind);
    let one_class = match data.content() {
        Content::Vectors(_, labels) => {
            labels.first().filter(|first| labels.iter().all(|label| label == *first))
        }
        _ => None,
    };
    let findings = one_class.map(|&class| Finding::OneClass(class)).into_iter().chain(kind);
    let findings = findings.chain(if data.is_of_passes() { None } else { Finding::of_floats(data) });
    let findings = findings.chain(Finding::of_groups(data));
    Ok(findings.chain(data.repeats()?.map(Finding::Dependence)).collect())
}
