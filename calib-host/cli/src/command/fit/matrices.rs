//! Fits to matrices of several classes.

use std::io::Write;
use std::path::Path;

use calib_core::artifact::Reduction;
use calib_fit::data::{DataError, RowsHash};
use calib_fit::reduction::{Problems, fit_reduction};
use calib_fit::{VectorData, VectorKind, Vectors, fit_joint, joint_artifact_bytes};
use calib_io::files::Place;
use calib_io::input::{self, Source};

use crate::context::Context;
use crate::error::Error;
use crate::fitting::{Chosen, over_codes};
use crate::out::shown_path;
use crate::read::{
    MatrixColumns, predictions, question_kind, question_predictions, read_all, read_code_vectors,
    read_vectors, row_labels,
};
use crate::show::{Warnings, joint_json, joint_summary};

use super::{DataOrigin, Decision, Drawn, FitCommand, Fitted, decided, usage};

impl FitCommand {
    /// Fits a matrix under a reduction.
    pub(super) fn reduced(
        &self,
        path: &Path,
        (kind, by_margin): (VectorKind, bool),
        (reduction, is_chosen): (Reduction, bool),
        cx: &Context,
    ) -> Result<Fitted, Error> {
        let encoding = self.codes.encoding()?;
        let monitors = self.written.monitors.of_tables()?;
        let sources = self.matrix_sources(path, cx)?;
        let mut warnings = Warnings::default();
        let (problems, rows, drawn) = match encoding {
            Some(encoding) => {
                let mut codes = read_code_vectors(&sources[0], encoding, kind, &self.score_column)?;
                let labels = row_labels(&sources, self.matrix_columns(), codes.len(), codes.classes())?;
                let rows = codes.rows_hash(&labels.values);
                let compare = |a: usize, b: usize| codes.compare(a, b);
                let drawn = self.draw(&sources[0], &labels.values, compare)?;
                let labels = match &drawn {
                    Some(drawn) => {
                        codes = codes.part(&drawn.rows);
                        drawn.of(&labels.values)
                    }
                    None => labels.values,
                };
                let problems = match by_margin {
                    true => Problems::of_code_margins(&codes, &labels, reduction),
                    false => Problems::of_codes(&codes, &labels, reduction),
                };
                (problems, rows, drawn)
            }
            None => {
                let LabelledVectors { vectors, labels, rows, drawn, dependence } =
                    self.labelled_vectors(&sources, kind)?;
                if is_chosen && vectors.classes() == 2 {
                    return Err(usage(
                        "of two classes give class 1 with --scores (of a table with --score-column), or name a --reduction",
                    ));
                }
                warnings.doubts.extend(question_kind(&sources[0], &vectors).into_iter().chain(dependence));
                let problems = match by_margin {
                    true => Problems::of_class_margins(&vectors, &labels, reduction),
                    false => Problems::new(&vectors, &labels, reduction),
                };
                (problems, rows, drawn)
            }
        };
        let problems = problems.map_err(|cause| match cause {
            DataError::Reduction { .. } => Error::Data(cause),
            other => unreachable!("the rows were checked: {other}"),
        })?;
        let compact = encoding.is_none() && self.written.is_compact();
        let problems = if compact { problems.rounded() } else { problems };
        let fit = fit_reduction(&problems, &self.method.reduction()?, self.written.divided_alpha())
            .map_err(|cause| Error::fit(Place::file(sources[0].path()), cause))?;
        let fit = over_codes(fit.with_spreads(problems.spreads()), encoding)?;
        let sha256 = input::sha256(&sources.iter().collect::<Vec<_>>());
        Ok(Fitted {
            fit: self.drawn(fit, drawn),
            origin: DataOrigin { sha256, rows },
            warnings,
            chosen: self.method.why_tables(is_chosen.then_some(reduction)).map(Chosen::whatever_labels_say),
            monitors,
        })
    }

    /// Fits one calibrator of whole vectors.
    pub(super) fn joint(
        &self,
        path: &Path,
        kind: VectorKind,
        decision: Option<&Decision>,
        cx: &Context,
    ) -> Result<(), Error> {
        let method = self.method.joint()?;
        self.written.check_joint()?;
        let sources = self.matrix_sources(path, cx)?;
        let LabelledVectors { vectors, labels, rows, drawn, dependence } =
            self.labelled_vectors(&sources, kind)?;
        let doubts = question_kind(&sources[0], &vectors).into_iter().chain(dependence).collect();
        let warnings = Warnings { doubts, ..Warnings::default() };
        warnings.print(cx)?;
        let data = VectorData::new(&vectors, &labels).expect("the rows were checked");
        let fit =
            fit_joint(&data, &method).map_err(|cause| Error::fit(Place::file(sources[0].path()), cause));
        let fit = match drawn.filter(Drawn::left_some_out) {
            Some(drawn) => fit?.of_clusters(drawn.of_rows, self.method.seed()),
            None => fit?,
        };
        let sha256 = input::sha256(&sources.iter().collect::<Vec<_>>());
        let bytes =
            decided(joint_artifact_bytes(&fit, &self.options(DataOrigin { sha256, rows }, None))?, decision)?;
        let output = self.output();
        cx.write_output(&output, self.force, &bytes)?;
        if self.json {
            let mut value = joint_json(&fit, &output, bytes.len());
            warnings.add_to(&mut value);
            return cx.print_json(&value);
        }
        if !cx.quiet {
            writeln!(cx.stderr(), "{}", joint_summary(&fit, &shown_path(&output).to_string(), bytes.len()))?;
        }
        Ok(())
    }

    fn matrix_columns(&self) -> MatrixColumns<'_> {
        MatrixColumns { score: &self.score_column, label: &self.label_column }
    }

    /// The files of a matrix and its labels.
    fn matrix_sources(&self, path: &Path, cx: &Context) -> Result<Vec<Source>, Error> {
        let paths: Vec<_> = std::iter::once(path).chain(self.labels.as_deref()).collect();
        Ok(read_all(&paths, cx)?)
    }

    /// A matrix with its labels, checked against each other: all rows, or one of each cluster.
    fn labelled_vectors(&self, sources: &[Source], kind: VectorKind) -> Result<LabelledVectors, Error> {
        let vectors = read_vectors(&sources[0], kind, &self.score_column)?;
        let labels = row_labels(sources, self.matrix_columns(), vectors.len(), vectors.classes())?.values;
        let rows = vectors.rows_hash(&labels);
        Ok(match self.draw(&sources[0], &labels, |a, b| vectors.compare(a, b))? {
            Some(drawn) => {
                let (vectors, labels) = (vectors.part(&drawn.rows), drawn.of(&labels));
                LabelledVectors { vectors, labels, rows, drawn: Some(drawn), dependence: None }
            }
            None => {
                let dependence = question_predictions(&predictions(&vectors, &labels), None);
                LabelledVectors { vectors, labels, rows, drawn: None, dependence }
            }
        })
    }
}

/// A matrix with its labels.
struct LabelledVectors {
    vectors: Vectors,
    labels: Vec<i64>,
    /// The hash of all rows, those that were not drawn among them.
    rows: RowsHash,
    drawn: Option<Drawn>,
    /// What to warn of if rows do not look independent.
    dependence: Option<String>,
}
