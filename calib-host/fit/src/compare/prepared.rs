//! Points made ready once for all methods that are fitted to them.

use std::borrow::Cow;

use calib_core::artifact::Reduction;

use super::data::{CompareData, Contender, Points};
use crate::artifact::{ArtifactOptions, StoredArtifact, artifact_bytes, joint_artifact_bytes};
use crate::binary::BinaryMethod;
use crate::data::{BinaryData, RowsDigest, ScoreKind, VectorData};
use crate::error::FitError;
use crate::fit::{Fit, divided, fit_binary};
use crate::joint::{JointMethod, fit_joint};
use crate::reduction::{Problems, ReductionOptions, fit_reduction};
use crate::stats::Seed;

/// A fit, as the device has it.
pub(super) struct Fitted {
    pub(super) stored: StoredArtifact,
    pub(super) epsilon: Option<f64>,
    pub(super) uncalibrated_tables: usize,
}

/// Points to fit some methods to, with what these need of them.
pub(super) struct Prepared<'p> {
    /// One point of each unit.
    points: Cow<'p, CompareData>,
    digest: RowsDigest,
    binary: Option<Result<BinaryData, String>>,
    vectors: Option<Result<VectorData, String>>,
    /// By reduction, and whether it takes top-two margins.
    problems: Vec<((Reduction, bool), Result<Problems, String>)>,
}

impl<'p> Prepared<'p> {
    /// Makes the points ready for these methods.
    pub(super) fn new<'c>(
        points: Cow<'p, CompareData>,
        contenders: impl Iterator<Item = &'c Contender>,
        seed: Seed,
    ) -> Self {
        let points = points.one_each(seed).map_or(points, Cow::Owned);
        let digest = points.rows_digest();
        let mut all = Self { points, digest, binary: None, vectors: None, problems: Vec::new() };
        for contender in contenders {
            match (&all.points.points, contender) {
                (Points::Binary(kind, points), Contender::Binary(_)) if all.binary.is_none() => {
                    all.binary = Some(binary_data(*kind, points));
                }
                (Points::Vectors { vectors, labels, .. }, Contender::Joint(_)) if all.vectors.is_none() => {
                    let data = VectorData::new(vectors, labels).map_err(|cause| cause.to_string());
                    all.vectors = Some(data);
                }
                (Points::Vectors { vectors, labels, .. }, other) => {
                    if let Some(division) = division(other)
                        && all.divided(division).is_none()
                    {
                        let problems = match division.1 {
                            true => Problems::of_top2_margins(vectors, labels, division.0),
                            false => Problems::new(vectors, labels, division.0),
                        };
                        all.problems.push((division, problems.map_err(|cause| cause.to_string())));
                    }
                }
                _ => {}
            }
        }
        all
    }

    /// The points divided in this way, if a method asked for it.
    fn divided(&self, division: (Reduction, bool)) -> Option<&Result<Problems, String>> {
        self.problems.iter().find(|(there, _)| *there == division).map(|(_, problems)| problems)
    }

    /// As `calib fit` writes artifacts.
    fn options(&self) -> ArtifactOptions {
        ArtifactOptions { rows: Some(self.digest.clone()), intervals: true, ..ArtifactOptions::default() }
    }

    /// Fits, and compiles.
    pub(super) fn fit(
        &self,
        contender: &Contender,
        (alpha, candidates): (f64, u32),
    ) -> Result<Fitted, String> {
        // Of those without a guarantee none can be broken.
        let candidates = if contender.may_guarantee() { candidates } else { 1 };
        let share = divided(alpha, candidates);
        let fit = match (&self.points.points, contender) {
            (Points::Binary(_, points), Contender::Binary(method)) => self.binary(points, method, share),
            (Points::Vectors { .. }, Contender::Joint(method)) => return self.joint(method),
            (Points::Vectors { .. }, Contender::Reduced(_, method) | Contender::ReducedByLead(_, method)) => {
                self.reduced(contender, method, share)
            }
            (Points::Binary(..), _) => return Err("it is for vectors of several classes".into()),
            (Points::Vectors { .. }, _) => return Err("it is for binary scores".into()),
        };
        let fit = fit?.chosen_among(candidates, alpha);
        let bytes = artifact_bytes(&fit, &self.options()).map_err(|cause| cause.to_string())?;
        Ok(Fitted {
            stored: StoredArtifact::from_bytes(&bytes).map_err(|cause| cause.to_string())?,
            epsilon: fit.guarantee.map(|guarantee| guarantee.epsilon),
            uncalibrated_tables: fit.unfitted.len(),
        })
    }

    fn binary(&self, points: &[(f32, bool)], method: &BinaryMethod, alpha: f64) -> Result<Fit, String> {
        // Bounds on one side are nothing to rank.
        let label = points[0].1;
        if points.iter().all(|point| point.1 == label) {
            return Err(FitError::OneClass { label: label.into(), n: points.len() as u64 }.to_string());
        }
        let data = ready(self.binary.as_ref())?;
        fit_binary(data, method, alpha)
            .and_then(|fit| Ok(fit.with_score_summaries([Some(data.score_summary()?)])))
            .map_err(|cause| cause.to_string())
    }

    fn reduced(&self, contender: &Contender, method: &ReductionOptions, alpha: f64) -> Result<Fit, String> {
        let problems = ready(division(contender).and_then(|division| self.divided(division)))?;
        fit_reduction(problems, method, alpha)
            .map(|fit| fit.with_score_summaries(problems.score_summaries()))
            .map_err(|cause| cause.to_string())
    }

    fn joint(&self, method: &JointMethod) -> Result<Fitted, String> {
        let fit = fit_joint(ready(self.vectors.as_ref())?, method);
        let fit = fit.map_err(|cause| cause.to_string())?;
        let bytes = joint_artifact_bytes(&fit, &self.options()).map_err(|cause| cause.to_string())?;
        let stored = StoredArtifact::from_bytes(&bytes).map_err(|cause| cause.to_string())?;
        Ok(Fitted { stored, epsilon: None, uncalibrated_tables: 0 })
    }
}

/// How a method divides vectors: by which reduction, and whether that takes top-two margins.
fn division(contender: &Contender) -> Option<(Reduction, bool)> {
    match contender {
        Contender::Reduced(reduction, _) => Some((*reduction, false)),
        Contender::ReducedByLead(reduction, _) => Some((*reduction, true)),
        Contender::Binary(_) | Contender::Joint(_) => None,
    }
}

/// What was made for the methods that were named.
fn ready<T>(made: Option<&Result<T, String>>) -> Result<&T, String> {
    made.expect("it was made for this method").as_ref().map_err(Clone::clone)
}

fn binary_data(kind: ScoreKind, points: &[(f32, bool)]) -> Result<BinaryData, String> {
    let (scores, labels) = points.iter().map(|&(s, label)| (f64::from(s), label)).unzip();
    let data = match kind {
        ScoreKind::Probability => BinaryData::new(scores, labels),
        ScoreKind::Margin => BinaryData::of_margins(scores, labels),
    };
    data.map_err(|cause| cause.to_string())
}
