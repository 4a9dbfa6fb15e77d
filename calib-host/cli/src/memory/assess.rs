//! `calib assess` for data in memory.

use std::path::Path;

use calib_core::artifact::Reduction;
use calib_core::{Calibrator, Margin, QuantizedScore, Score, ScoreEncoding};
use calib_fit::assess::{Binning, Evidence, Prediction, PredictionKind, ProbMatrix, RowGroups};
use calib_fit::data::{CodeVectors, DataError, RowsHash};
use calib_fit::sets::{Conformities, PredictionSets, SetFigures};
use calib_fit::stats::Clusters;
use calib_fit::{BinaryData, FitError, ScoreKind, StoredArtifact, VectorKind, Vectors};
use calib_io::files::{FileError, Place, Problem};
use calib_io::report::SAME_ROWS;
use serde_json::Value;

use super::fit::{Refused, Scores, binary_labels, codes_of};
use crate::assessing::{Assessing, Found, sets_json};
use crate::error::Error;
use crate::read::{
    BinaryScores, Looks, NamedArtifact, Subject, Surveyed, binary_rows, calibrates_alone, codes_of_classes,
    doubt_of_margins, every_class, predicted_rows, question_points, question_predictions, ranks, wide,
};

/// What errors call the calibrator.
const CALIBRATOR: &str = "the calibrator";
/// What errors call the data.
const SCORES: &str = "scores";

/// What is known of rows besides their scores.
#[derive(Clone, Debug)]
pub struct JudgedRows<'a> {
    /// What came true.
    pub labels: &'a [i64],
    /// Which of them belong together.
    pub clusters: Option<Clusters>,
    /// Of which group every row is.
    pub groups: Option<RowGroups>,
    /// Whether rows that the calibrator was fitted to may be judged: every figure is then too good to be true.
    pub same_rows: bool,
}

/// What was found of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// What `calib assess --json` prints of the same rows.
    pub json: Value,
    /// What the command warns of beside: what is doubtful about the rows, and what they say against the calibrator.
    pub warnings: Vec<String>,
}

/// Rows before and after a calibrator.
struct Calibrated {
    subject: Subject,
    hash: RowsHash,
    doubt: Option<String>,
}

impl Assessing {
    /// Assesses points of class 1 with their labels.
    ///
    /// ```
    /// use calib_fit::BinaryData;
    /// use calib_cli::Assessing;
    ///
    /// let data = BinaryData::new(vec![0.8; 100], (0..100).map(|row| row < 60).collect())?;
    /// let judged = Assessing::default().points(data)?;
    /// let ece = judged.json["conf_ece"]["value"].as_f64().unwrap();
    /// assert!((ece - 0.2).abs() < 1e-6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Points on a disk that cannot be read.
    ///
    /// # Panics
    ///
    /// If the options need rows: a bootstrap, other bins than those of equal width, or ranks.
    pub fn points(&self, data: BinaryData) -> Result<Judged, Refused> {
        Ok(self.judged_points(&Surveyed { before: data, after: None })?)
    }

    /// Whether [`points`](Self::points) are enough for these options.
    pub fn are_points_enough(&self) -> bool {
        self.is_of_points()
    }

    /// Assesses predictions, at least one.
    ///
    /// # Errors
    ///
    /// If ranks are asked for.
    pub fn predictions(
        &self,
        rows: Vec<Prediction>,
        kind: PredictionKind,
        (clusters, groups): (Option<Clusters>, Option<RowGroups>),
    ) -> Result<Judged, Refused> {
        let subject = Subject::Predictions { rows, kind, uncalibrated: 0, clusters, groups };
        Ok(self.judged(&subject, None, Vec::new(), None)?)
    }

    /// Assesses vectors of probabilities.
    ///
    /// # Errors
    ///
    /// None so far.
    pub fn vectors(&self, matrix: ProbMatrix, clusters: Option<Clusters>) -> Result<Judged, Refused> {
        Ok(self.judged(&Subject::Vectors(matrix, clusters), None, Vec::new(), None)?)
    }

    /// Assesses scores before and after a calibrator.
    ///
    /// # Errors
    ///
    /// As the command's, in the same sentences: among them that the rows are those of the fit.
    pub fn calibrated(
        &self,
        stored: &StoredArtifact,
        scores: Scores<'_>,
        rows: JudgedRows<'_>,
    ) -> Result<Judged, Refused> {
        Ok(self.judged_calibrated(stored, scores, rows)?)
    }

    fn judged_calibrated(
        &self,
        stored: &StoredArtifact,
        scores: Scores<'_>,
        rows: JudgedRows<'_>,
    ) -> Result<Judged, Error> {
        rows.check(&scores)?;
        if self.binning == Binning::ByBin && stored.artifact().header().bins == 0 {
            return Err(usage("--binning by-bin needs an artefact that has bins: this one is a function"));
        }
        let same_rows = rows.same_rows;
        let check = |hash: RowsHash| match stored.sample().is_some_and(|sample| sample.rows == hash) {
            true if !same_rows => Err(Error::SameRows { path: SCORES.into(), fitted: "the artefact was" }),
            same => Ok(same.then(|| SAME_ROWS.to_owned()).into_iter().collect::<Vec<_>>()),
        };
        if let Scores::Binary(ScoreKind::Probability, values) = &scores
            && rows.clusters.is_none()
            && rows.groups.is_none()
            && self.is_of_points()
            && calibrates_alone(stored)
        {
            check_scores(values)?;
            let labels = binary_labels(rows.labels)?;
            let found = Surveyed::of_scores(stored, values, &labels, self.seed).map_err(FileError::spill)?;
            let (surveyed, hash) = found.ok_or_else(all_uncalibrated)?;
            let mut told = check(hash)?;
            let mut judged = self.judged_points(&surveyed)?;
            told.append(&mut judged.warnings);
            return Ok(Judged { warnings: told, ..judged });
        }
        let named = NamedArtifact { path: Path::new(CALIBRATOR), stored: stored.clone(), seed: self.seed };
        let sets = self.sets(stored, &scores, rows.labels)?;
        let Calibrated { subject, hash, doubt } = named.calibrated(scores, rows)?;
        self.check(&subject)?;
        let told = check(hash)?;
        self.judged(&subject, doubt, told, sets.as_ref().map(sets_json))
    }

    fn judged_points(&self, surveyed: &Surveyed) -> Result<Judged, Error> {
        let fault = |cause: FitError| Error::fit(Place::file(Path::new(SCORES)), cause);
        let doubts: Vec<String> = question_points(&surveyed.before).map_err(fault)?.into_iter().collect();
        let found = self.of_points(surveyed).map_err(fault)?;
        let json = self.json(&found, &doubts, None, None);
        Ok(Judged { json, warnings: with_evidence(doubts, &found) })
    }

    fn judged(
        &self,
        subject: &Subject,
        doubt: Option<String>,
        mut told: Vec<String>,
        sets: Option<Value>,
    ) -> Result<Judged, Error> {
        self.check(subject)?;
        let clusters = subject.clusters();
        let dependence = question_predictions(&subject.first_predictions(), clusters);
        let doubts: Vec<String> = doubt.into_iter().chain(dependence).collect();
        let found = self.of_rows(subject);
        let json = self.json(&found, &doubts, sets, clusters);
        told.extend(with_evidence(doubts, &found));
        Ok(Judged { json, warnings: told })
    }

    /// How the prediction sets beside a calibrator do; `None` if it has none.
    fn sets(
        &self,
        stored: &StoredArtifact,
        scores: &Scores<'_>,
        labels: &[i64],
    ) -> Result<Option<SetFigures>, Error> {
        let artifact = stored.artifact();
        let Some(kept) = artifact.prediction_sets() else { return Ok(None) };
        let sets = PredictionSets::stored(kept);
        let rows = match scores {
            Scores::Binary(kind, values) => {
                let scores = values.iter().copied().map(f64::from).collect();
                let labels = binary_labels(labels)?;
                let data = match kind {
                    ScoreKind::Probability => BinaryData::new(scores, labels)?.on_device(),
                    ScoreKind::Margin => BinaryData::of_margins(scores, labels)?,
                };
                Conformities::of_scores(&data)?.0
            }
            Scores::Codes(_, codes) => Conformities::of_binary_codes(&codes_of(codes, kept.encoding())?),
            Scores::Vectors(kind, values, classes) => {
                Conformities::of_vectors(&Vectors::new(values.clone(), *classes, *kind)?, sets.score)?
            }
            Scores::CodeVectors(kind, codes, classes) => {
                let vectors = code_vectors(codes, *classes, kept.encoding(), *kind)?;
                match sets.score {
                    calib_fit::sets::ConformityScore::Margin => Conformities::of_codes(&vectors),
                    calib_fit::sets::ConformityScore::Softmax => Conformities::of_code_probs(&vectors)?,
                }
            }
        };
        let figures = SetFigures::of(&sets, &rows, labels, kept.never_empty(), self.alpha);
        Ok(Some(figures.map_err(|cause| Error::promise(Place::file(Path::new(SCORES)), cause))?))
    }
}

impl NamedArtifact<'_> {
    /// Calibrates rows in memory.
    fn calibrated(&self, scores: Scores<'_>, rows: JudgedRows<'_>) -> Result<Calibrated, Error> {
        let JudgedRows { labels, clusters, groups, .. } = rows;
        if groups.is_some() && !matches!(scores, Scores::Binary(..) | Scores::Codes(..)) {
            return Err(usage("--group-column goes with one score a row"));
        }
        match scores {
            Scores::Binary(kind, values) => {
                let scores = match kind {
                    ScoreKind::Probability => BinaryScores::Scores(check_scores(&values)?),
                    ScoreKind::Margin => BinaryScores::Margins(check_margins(&values)?),
                };
                self.calibrated_scores((scores, kind), labels, clusters, groups)
            }
            Scores::Codes(kind, codes) => {
                let artifact = self.stored.artifact();
                let encoding = match artifact.operating_points() {
                    Some(points) => points.encoding(),
                    None => self.binary_encoding(kind)?,
                };
                if !encoding.is_quantized() {
                    return Err(self.mismatch("integer codes of one score"));
                }
                let scores = BinaryScores::Codes(codes_of(codes, encoding)?);
                self.calibrated_scores((scores, kind), labels, clusters, groups)
            }
            Scores::Vectors(kind, values, classes) => {
                let vectors = Vectors::new(values, classes, kind)?;
                self.calibrated_vectors(&vectors, &class_labels(labels, classes)?, clusters.as_ref())
            }
            Scores::CodeVectors(kind, codes, classes) => {
                let Some((encoding, taken)) = codes_of_classes(&self.stored.artifact()) else {
                    return Err(self.mismatch("vectors of integer codes"));
                };
                if kind != taken {
                    return Err(self.mismatch(match kind {
                        VectorKind::Logits => "logits",
                        VectorKind::Probs => "probabilities",
                    }));
                }
                let codes = code_vectors(codes, classes, encoding, kind)?;
                let labels = class_labels(labels, classes)?;
                let applied = self.predicted_of_codes(&codes, kind)?;
                let rows = predicted_rows(&applied, &labels, Path::new(SCORES), clusters.as_ref())?;
                let subject = Subject::BeforeAfter(rows, self.stored.clone(), None);
                Ok(Calibrated { subject, hash: codes.rows_hash(&wide(&labels)), doubt: None })
            }
        }
    }

    fn calibrated_scores(
        &self,
        (scores, kind): (BinaryScores, ScoreKind),
        labels: &[i64],
        clusters: Option<Clusters>,
        groups: Option<RowGroups>,
    ) -> Result<Calibrated, Error> {
        binary_labels(labels)?;
        let artifact = self.stored.artifact();
        let operating = match artifact.operating_points() {
            Some(_) => Some(self.operating_of(&scores.keyed(), labels, groups.as_ref(), clusters.clone())?),
            None => None,
        };
        if let (Calibrator::None, Some(rows)) = (artifact.calibrator(), &operating) {
            let hash = rows.hash;
            let subject = Subject::Operating(operating.expect("just seen"), self.stored.clone());
            return Ok(Calibrated { subject, hash, doubt: None });
        }
        self.binary_encoding(kind)?;
        let doubt = scores.could_be_probs().then(|| doubt_of_margins(Path::new(SCORES)));
        let applied = self.checked_scores(scores, groups.as_ref())?.all_applied(&self.stored, self.seed);
        let (rows, hash) = binary_rows(&applied, labels, kind, (clusters.as_ref(), groups));
        if rows.after.is_empty() {
            return Err(all_uncalibrated());
        }
        Ok(Calibrated { subject: Subject::BeforeAfter(rows, self.stored.clone(), operating), hash, doubt })
    }

    fn calibrated_vectors(
        &self,
        vectors: &Vectors,
        labels: &[u16],
        clusters: Option<&Clusters>,
    ) -> Result<Calibrated, Error> {
        let doubt = Looks::like_anything().and(vectors).doubt(Path::new(SCORES));
        let hash = vectors.rows_hash(&wide(labels));
        let subject = match self.stored.artifact().header().reduction {
            Reduction::TopLabel | Reduction::Confidence => {
                let applied = self.predicted(vectors)?;
                let rows = predicted_rows(&applied, labels, Path::new(SCORES), clusters)?;
                Some(Subject::BeforeAfter(rows, self.stored.clone(), None))
            }
            Reduction::TopKLabel { .. } | Reduction::TopKConfidence { .. } => {
                ranks(self.apply(vectors)?, labels, clusters)
            }
            _ => {
                let applied = self.apply(vectors)?;
                let (predicted, all) = every_class(applied, (vectors, Path::new(SCORES)), labels, clusters)?;
                all.map(|all| Subject::ClassProbs { predicted, all, stored: self.stored.clone() })
            }
        };
        Ok(Calibrated { subject: subject.ok_or_else(all_uncalibrated)?, hash, doubt })
    }
}

impl JudgedRows<'_> {
    /// That there is a label, a cluster and a group for every row of scores.
    fn check(&self, scores: &Scores<'_>) -> Result<(), Error> {
        let rows = scores.rows();
        if rows == 0 {
            return Err(DataError::Empty.into());
        }
        if rows != self.labels.len() {
            return Err(DataError::LabelCount { scores: rows, labels: self.labels.len() }.into());
        }
        let beside = [
            ("clusters", self.clusters.as_ref().map(Clusters::rows)),
            ("groups", self.groups.as_ref().map(RowGroups::rows)),
        ];
        match beside.iter().find(|(_, len)| len.is_some_and(|len| len != rows)) {
            Some((what, len)) => {
                Err(usage(&format!("{rows} rows of scores but {} {what}", len.unwrap_or_default())))
            }
            None => Ok(()),
        }
    }
}

impl BinaryScores {
    /// Their keys in the order of thresholds, and the scores as the device has them.
    fn keyed(&self) -> Vec<(u32, f32)> {
        match self {
            Self::Scores(scores) => scores.iter().map(|score| (score.get().to_bits(), score.get())).collect(),
            Self::Margins(margins) => margins.iter().map(|margin| (margin.key(), margin.get())).collect(),
            Self::Codes(codes) => {
                codes.iter().map(|code: &QuantizedScore| (code.key().into(), code.dequantized())).collect()
            }
        }
    }
}

fn with_evidence(doubts: Vec<String>, found: &Found) -> Vec<String> {
    doubts.into_iter().chain(found.evidence().iter().map(Evidence::to_string)).collect()
}

fn check_scores(values: &[f32]) -> Result<Vec<Score>, DataError> {
    let score =
        |(row, &value): (usize, &f32)| Score::new(value).map_err(|cause| DataError::Score { row, cause });
    values.iter().enumerate().map(score).collect()
}

fn check_margins(values: &[f32]) -> Result<Vec<Margin>, DataError> {
    let margin =
        |(row, &value): (usize, &f32)| Margin::new(value).map_err(|cause| DataError::Score { row, cause });
    values.iter().enumerate().map(margin).collect()
}

fn code_vectors(
    codes: &[i64],
    classes: usize,
    encoding: ScoreEncoding,
    kind: VectorKind,
) -> Result<CodeVectors, DataError> {
    match kind {
        VectorKind::Probs => CodeVectors::new(codes, classes, encoding),
        VectorKind::Logits => CodeVectors::of_logits(codes, classes, encoding),
    }
}

fn class_labels(labels: &[i64], classes: usize) -> Result<Vec<u16>, DataError> {
    let class = |(row, &label): (usize, &i64)| match u16::try_from(label) {
        Ok(class) if usize::from(class) < classes => Ok(class),
        _ => Err(DataError::Class { row, class: label, classes }),
    };
    labels.iter().enumerate().map(class).collect()
}

fn all_uncalibrated() -> Error {
    Error::input(Place::file(Path::new(SCORES)), Problem::AllUncalibrated)
}

fn usage(text: &str) -> Error {
    Error::Usage(text.into())
}
