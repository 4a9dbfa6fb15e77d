//! `calib fit`

use std::cmp::Ordering;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use calib_core::artifact::Reduction;
use calib_core::{ClassifierId, QuantizedScore, ScoreEncoding};
use calib_host::artifact::CompileError;
use calib_host::assess::evidence_of_fit;
use calib_host::binary::Ums;
use calib_host::data::{DataError, RowsHash};
use calib_host::decide::{Actions, Envelope, Rule, with_decision};
use calib_host::error::{ScalingError, UnfittedReason};
use calib_host::files::{Place, check_output, write_file};
use calib_host::fit::{Unfitted, divided, fit_weighted};
use calib_host::input::{self, BinaryFiles, Costs, Sample, Source, Table, read_costs};
use calib_host::reduction::{Problems, fit_reduction};
use calib_host::{
    ArtifactOptions, BinaryData, BinaryMethod, FitError, ScoreKind, StoredArtifact, VectorData, VectorKind,
    Vectors, artifact_bytes, fit_binary, fit_joint, joint_artifact_bytes,
};
use clap::{Args, ValueEnum};
use indicatif::ProgressBar;

use crate::cli::bar::reading;
use crate::cli::error::Error;
use crate::cli::options::{
    ClusterColumn, ClusterSource, CodeOptions, MethodOptions, PointOptions, ReductionOption, SCORE_COLUMN,
    ScoreSource, artifact_of, bins_of_umd, bins_of_ums, parse_classifier, points_for,
};
use crate::cli::out::{print_json, stderr};
use crate::cli::read::{
    labels_of, predictions, question_independence, question_kind, question_margins, question_predictions,
    read_code_vectors, read_groups, read_vectors, row_labels,
};
use crate::cli::show::{ShownFit, Warnings, joint_json, joint_summary};

/// Fit a calibrator to held-out scores and labels, and write it.
#[derive(Args)]
pub(crate) struct FitCommand {
    /// Scores of class 1 in [0, 1], and labels: a table.
    ///
    /// The same as --scores FILE.
    #[arg(value_name = "FILE", group = "ScoreSource")]
    data: Option<PathBuf>,
    #[command(flatten)]
    source: ScoreSource,
    /// Labels, if not in the table of scores.
    ///
    /// A NumPy array of integers, or a table.
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// The column of scores in a table.
    ///
    /// Or of margins; in an NPZ archive the array of scores, logits or probabilities. For codes of several classes in a table the columns
    /// of all, in their order, separated by commas.
    #[arg(long, default_value = SCORE_COLUMN, value_name = "NAME")]
    score_column: String,
    /// The column of labels in a table.
    #[arg(long, default_value = "label", value_name = "NAME")]
    label_column: String,
    #[command(flatten)]
    method: MethodOptions,
    #[command(flatten)]
    reduction: ReductionOption,
    #[command(flatten)]
    cluster_column: ClusterColumn,
    /// The clusters, if not in the table of scores: a NumPy array of integers, or a table with --cluster-column or `cluster`.
    #[arg(long, value_name = "FILE")]
    clusters: Option<PathBuf>,
    /// A column of groups: a table of numbers for each.
    ///
    /// Such as the sex or the site, of a table of scores: each has a table of its own, and the guarantee holds for
    /// the bins of all of them together. The device is then told the group with every score.
    #[arg(long, value_name = "NAME")]
    group_column: Option<String>,
    #[command(flatten)]
    points: PointOptions,
    #[command(flatten)]
    codes: CodeOptions,
    /// May fail with this probability.
    ///
    /// The probability, over the draw of the points, with which the guarantee may fail.
    #[arg(long, default_value_t = 0.1, value_name = "ALPHA")]
    alpha: f64,
    /// Among how many choices of method and bins this one was chosen by these labels, as `calib compare` and `calib bins` say:
    /// the guarantee is then for alpha / M, so that it holds for any of them.
    #[arg(long, default_value_t = 1, value_name = "M", value_parser = clap::value_parser!(u32).range(1..))]
    candidates: u32,
    /// The sum of the alphas of earlier calibrations in the field, which the promise then tells.
    #[arg(long, default_value_t = 0.0, value_name = "A", value_parser = parse_spent)]
    alpha_spent: f64,
    /// Store the exact interval of every bin in the artefact, at 8 bytes a bin: the device then returns it.
    #[arg(long)]
    intervals: bool,
    /// The numbers in the artefact's tables: u16 takes half the room, and the device then rounds scores to the nearest
    /// 1/65535 and gives probabilities in steps of 1/32768. Rounded scores may tie, which voids a guarantee as all ties do.
    /// For methods that fit steps.
    #[arg(long, value_enum, default_value_t = TableWidth::F32)]
    table: TableWidth,
    /// The classifier that the scores come from, as 16 hex digits: a device with another one refuses the artefact.
    #[arg(long, value_name = "HEX", value_parser = parse_classifier)]
    classifier_id: Option<ClassifierId>,
    /// How new the calibrator is: a device refuses one with a lower counter than the one it holds. Raise it when older
    /// calibrators must not come back.
    #[arg(long, default_value_t = 0, value_name = "N")]
    counter: u32,
    /// A costs file (see `calib help decide`): the rule of its actions goes into the artefact.
    #[arg(long, value_name = "FILE")]
    actions: Option<PathBuf>,
    /// Where to write; of data.csv to data.cal if not said.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace an existing output.
    #[arg(long)]
    force: bool,
    /// Print the summary as JSON on standard output.
    #[arg(long)]
    json: bool,
}

/// What names the calibration data.
struct DataOrigin {
    /// The hash of the files.
    sha256: [u8; 32],
    /// The hash of the rows.
    rows: RowsHash,
}

/// What was fitted, from what, and what speaks against it.
struct Fitted {
    fit: calib_host::Fit,
    origin: DataOrigin,
    warnings: Warnings,
    chosen: Option<Chosen>,
}

/// What was chosen because nobody named it.
struct Chosen {
    /// What, and why.
    why: String,
    /// Among how many candidates by the scores.
    candidates: u32,
}

/// The numbers in a table.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum TableWidth {
    F32,
    U16,
}

impl FitCommand {
    pub(crate) fn run(self, quiet: bool) -> Result<(), Error> {
        if self.output.is_none() {
            check_output(&self.output(), self.inputs())?;
        }
        let compact = self.table == TableWidth::U16;
        if compact && self.codes.direct_table {
            return Err(usage("--direct-table goes with --table f32: leave one of them out"));
        }
        // Over codes every function is one of steps.
        if compact && self.codes.encoding()?.is_none() {
            self.method.check_steps("--table u16")?;
        }
        let reduction = self.reduction.get()?;
        self.points.check()?;
        if self.clusters().is_some() && self.points.are_aggregated() {
            return Err(usage(
                "of weighted or counted rows no one row can be drawn from a cluster: leave out --cluster-column, or give a row \
                 for every point",
            ));
        }
        if self.source.vectors().is_some() {
            self.points.check_no_matrix()?;
        }
        let kind = self.source.vectors().map(|(_, kind)| kind);
        let by_margin = self.reduction.is_by_margin(kind, reduction)?;
        if let Some(kind) = kind {
            self.codes.check_matrix(kind, reduction, by_margin)?;
        }
        // A mistake there is found before a long fit.
        let decision = self.actions.as_deref().map(Decision::read).transpose()?;
        let decision = decision.as_ref();
        let Fitted { fit, origin, warnings, chosen } = match (self.source.vectors(), reduction) {
            (None, None) => self.binary(quiet)?,
            (Some(_), _) if self.group_column.is_some() => {
                return Err(usage("--group-column needs a table of binary scores: --scores or --margins"));
            }
            (Some((path, kind)), Some(reduction)) => {
                self.reduced(path, (kind, by_margin), reduction, quiet)?
            }
            (Some((path, kind)), None) => return self.joint(path, kind, decision, quiet),
            (None, Some(_)) => {
                return Err(usage("--reduction needs a matrix: --logits or --probs instead of --scores"));
            }
        };
        let fit = if compact { fit.compacted()? } else { fit };
        let candidates =
            self.candidates.saturating_mul(chosen.as_ref().map_or(1, |chosen| chosen.candidates));
        let fit = fit.chosen_among(candidates, self.alpha).after_spending(self.alpha_spent);
        let bytes = decided(artifact_bytes(&fit, &self.options(origin))?, decision)?;
        write_file(&self.output(), self.force, |out| out.write_all(&bytes))?;
        let stored = StoredArtifact::from_bytes(&bytes).expect("just written");
        let chosen = chosen.map(|chosen| chosen.why);
        self.report((&fit, &stored), warnings.and_of(&stored.artifact()), chosen, quiet)
    }

    /// Binary scores, and what they are.
    fn binary_source(&self) -> Option<(&Path, ScoreKind)> {
        let data = self.data.as_deref().map(|path| (path, ScoreKind::Probability));
        data.or(self.source.binary())
    }

    /// Where the artefact goes.
    fn output(&self) -> PathBuf {
        let scores = self.inputs().next().map(artifact_of);
        self.output.clone().or(scores).expect("clap asks for one of the sources")
    }

    /// The files of scores and labels.
    fn inputs(&self) -> impl Iterator<Item = &Path> {
        let scores =
            self.binary_source().map(|(path, _)| path).or(self.source.vectors().map(|(path, _)| path));
        scores.into_iter().chain(self.labels.as_deref())
    }

    /// Fits a matrix under a reduction.
    fn reduced(
        &self,
        path: &Path,
        (kind, by_margin): (VectorKind, bool),
        reduction: Reduction,
        quiet: bool,
    ) -> Result<Fitted, Error> {
        let encoding = self.codes.encoding()?;
        let sources = self.matrix_sources(path, quiet)?;
        let mut warnings = Warnings::default();
        let (problems, rows, drawn) = match encoding {
            Some(encoding) => {
                let mut codes = read_code_vectors(&sources[0], encoding, kind, &self.score_column)?;
                let labels = row_labels(&sources, &self.label_column, codes.len(), codes.classes())?;
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
        let compact = encoding.is_none() && self.table == TableWidth::U16;
        let problems = if compact { problems.rounded() } else { problems };
        let fit = fit_reduction(&problems, &self.method.reduction()?, self.divided_alpha())
            .map_err(|cause| Error::fit(Place::file(sources[0].path()), cause))?;
        let fit = over_codes(fit.with_spreads(problems.spreads()), encoding)?;
        let sha256 = input::sha256(&sources.iter().collect::<Vec<_>>());
        Ok(Fitted {
            fit: self.drawn(fit, drawn),
            origin: DataOrigin { sha256, rows },
            warnings,
            chosen: None,
        })
    }

    /// Fits one calibrator of whole vectors.
    fn joint(
        &self,
        path: &Path,
        kind: VectorKind,
        decision: Option<&Decision>,
        quiet: bool,
    ) -> Result<(), Error> {
        let method = self.method.joint()?;
        if self.intervals {
            return Err(usage("a calibrator of whole vectors has no intervals: leave out --intervals"));
        }
        if self.candidates > 1 || self.alpha_spent > 0.0 {
            return Err(usage(
                "a calibrator of whole vectors has no guarantee: leave out --candidates and --alpha-spent",
            ));
        }
        let sources = self.matrix_sources(path, quiet)?;
        let LabelledVectors { vectors, labels, rows, drawn, dependence } =
            self.labelled_vectors(&sources, kind)?;
        let doubts = question_kind(&sources[0], &vectors).into_iter().chain(dependence).collect();
        let warnings = Warnings { doubts, ..Warnings::default() };
        warnings.print()?;
        let data = VectorData::new(&vectors, &labels).expect("the rows were checked");
        // indicatif draws nothing when standard error is not a terminal.
        let spinner = if quiet { ProgressBar::hidden() } else { ProgressBar::new_spinner() };
        let spinner = spinner.with_message(format!("fitting {}", method.method()));
        spinner.enable_steady_tick(Duration::from_millis(100));
        let fit =
            fit_joint(&data, &method).map_err(|cause| Error::fit(Place::file(sources[0].path()), cause));
        spinner.finish_and_clear();
        let fit = match drawn.filter(Drawn::left_some_out) {
            Some(drawn) => fit?.of_clusters(drawn.of_rows, self.method.seed()),
            None => fit?,
        };
        let sha256 = input::sha256(&sources.iter().collect::<Vec<_>>());
        let bytes =
            decided(joint_artifact_bytes(&fit, &self.options(DataOrigin { sha256, rows }))?, decision)?;
        let output = self.output();
        write_file(&output, self.force, |out| out.write_all(&bytes))?;
        if self.json {
            let mut value = joint_json(&fit, &output, bytes.len());
            warnings.add_to(&mut value);
            return print_json(&value);
        }
        if !quiet {
            writeln!(stderr(), "{}", joint_summary(&fit, &output.display().to_string(), bytes.len()))?;
        }
        Ok(())
    }

    /// The files of a matrix and its labels.
    fn matrix_sources(&self, path: &Path, quiet: bool) -> Result<Vec<Source>, Error> {
        let paths: Vec<_> = std::iter::once(path).chain(self.labels.as_deref()).collect();
        Ok(Source::read_all(&paths, &reading(quiet))?)
    }

    /// A matrix with its labels, checked against each other: all rows, or one of each cluster.
    fn labelled_vectors(&self, sources: &[Source], kind: VectorKind) -> Result<LabelledVectors, Error> {
        let vectors = read_vectors(&sources[0], kind, &self.score_column)?;
        let labels = row_labels(sources, &self.label_column, vectors.len(), vectors.classes())?.values;
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

    fn clusters(&self) -> Option<ClusterSource<'_>> {
        self.cluster_column.source(self.clusters.as_ref())
    }

    /// Draws one row of each cluster, if rows belong together. `compare` orders rows by their scores.
    fn draw(
        &self,
        scores: &Source,
        labels: &[i64],
        compare: impl Fn(usize, usize) -> Ordering,
    ) -> Result<Option<Drawn>, Error> {
        let Some(source) = self.clusters() else { return Ok(None) };
        let clusters = source.read(scores, labels.len())?;
        let compare = |a: usize, b: usize| compare(a, b).then(labels[a].cmp(&labels[b]));
        let rows = clusters.one_row_each(self.method.seed(), compare);
        Ok(Some(Drawn { rows, of_rows: labels.len() as u64 }))
    }

    /// Records in a fit that its points were drawn; not if every row was.
    fn drawn(&self, fit: calib_host::Fit, drawn: Option<Drawn>) -> calib_host::Fit {
        match drawn.filter(Drawn::left_some_out) {
            Some(drawn) => fit.of_clusters(drawn.of_rows, self.method.seed()),
            None => fit,
        }
    }

    /// The alpha of the fit, which is one of so many.
    fn divided_alpha(&self) -> f64 {
        divided(self.alpha, self.candidates)
    }

    fn options(&self, origin: DataOrigin) -> ArtifactOptions {
        ArtifactOptions {
            data_sha256: origin.sha256,
            rows: Some(origin.rows),
            classifier: self.classifier_id,
            intervals: self.intervals,
            counter: self.counter,
            direct_table: self.codes.direct_table,
        }
    }

    /// Fits scores and labels.
    fn binary(&self, quiet: bool) -> Result<Fitted, Error> {
        // Weights, counts, codes, clusters and rounded scores are aggregated or drawn from: those tables are read as a whole.
        let encoding = self.codes.encoding()?;
        let (path, kind) = self.binary_source().expect("clap asks for one of the sources");
        if let Some(column) = &self.group_column {
            return self.grouped((path, kind), column, quiet);
        }
        let as_a_whole = self.points.are_aggregated() || self.clusters().is_some();
        if encoding.is_some() || kind == ScoreKind::Margin || as_a_whole || self.table == TableWidth::U16 {
            return self.aggregated((path, kind), encoding, quiet);
        }
        let files = BinaryFiles {
            scores: path,
            labels: self.labels.as_deref(),
            score_column: &self.score_column,
            label_column: &self.label_column,
        };
        let input = files.read(&reading(quiet))?;
        let fit = match self.method.is_left_open() {
            true => self.chosen(&input.data, &input.scores, (kind, None))?,
            false => {
                let method = self.method.binary((input.data.len(), &input.scores), kind, None)?;
                fit_binary(&input.data, &method, self.divided_alpha()).map(|fit| (fit, None))
            }
        };
        let input_place = input.scores.clone();
        let rows = input.data.rows_hash().map_err(|cause| Error::fit(input_place.clone(), cause))?;
        let (fit, chosen) = fit.map_err(|cause| {
            let one_class = matches!(cause, FitError::OneClass { .. });
            Error::fit(if one_class { input.labels.clone() } else { input.scores.clone() }, cause)
        })?;
        let spread = input.data.spread().map_err(|cause| Error::fit(input_place, cause))?;
        let mut warnings = warnings_of(&input.data).map_err(|cause| Error::fit(input.scores, cause))?;
        warnings.doubts.extend(question_independence(&input.data, None));
        let origin = DataOrigin { sha256: input.sha256, rows };
        Ok(Fitted { fit: fit.with_spreads([Some(spread)]), origin, warnings, chosen })
    }

    /// Fits scores of groups, each of which has a table of its own.
    fn grouped(&self, (path, kind): (&Path, ScoreKind), column: &str, quiet: bool) -> Result<Fitted, Error> {
        let other =
            self.points.are_aggregated() || self.clusters().is_some() || self.codes.encoding()?.is_some();
        if other {
            return Err(usage(
                "--group-column goes with a row for every point, and with floats: leave out counts, weights, clusters and codes",
            ));
        }
        let paths: Vec<_> = std::iter::once(path).chain(self.labels.as_deref()).collect();
        let sources = Source::read_all(&paths, &reading(quiet))?;
        let names = [&*self.score_column, &*self.label_column, column];
        let table = Table::read_only(&sources[0], &names)?;
        let labels = labels_of(&sources, &table, &self.label_column)?;
        let scores = table.numbers(&self.score_column)?;
        let place = Place::file(sources[0].path());
        let all = input::binary_data(&scores, &labels, kind)?;
        let fit_error = |cause| Error::fit(place.clone(), cause);
        let rows = all.rows_hash().map_err(fit_error)?;
        let mut warnings = warnings_of(&all).map_err(fit_error)?;
        warnings.doubts.extend(question_independence(&all, None));
        warnings.doubts.extend(question_margins(&sources[0], kind, &scores.device_scores(kind)?));

        let groups = read_groups(&sources[0], column, scores.len())?;
        let device = scores.device_scores(kind)?;
        let of_group = |(group, name): (usize, &String)| {
            let rows = || groups.rows_of(group);
            let scores: Vec<f64> = rows().map(|row| f64::from(device[row])).collect();
            let labels: Vec<bool> = rows().map(|row| labels.values[row] == 1).collect();
            (name.clone(), Problems::of_scores(&scores, &labels, kind))
        };
        let problems = Problems::by_group(groups.names().iter().enumerate().map(of_group).collect());
        let problems = problems.ok_or_else(|| {
            Error::Usage(format!("the column {column:?} names one group only: leave --group-column out"))
        })?;
        let problems = if self.table == TableWidth::U16 { problems.rounded() } else { problems };
        let fit =
            fit_reduction(&problems, &self.method.reduction()?, self.divided_alpha()).map_err(fit_error)?;
        let sha256 = input::sha256(&sources.iter().collect::<Vec<_>>());
        let fit = fit.with_spreads(problems.spreads());
        Ok(Fitted { fit, origin: DataOrigin { sha256, rows }, warnings, chosen: None })
    }

    /// Fits the bins that suit so many points. Where scores tie at an edge, so that `umd` has no guarantee, it is `ums`, and alpha is
    /// divided between both: which of them it is depends on the scores.
    fn chosen(
        &self,
        data: &BinaryData,
        place: &Place,
        (kind, codes): (ScoreKind, Option<(f32, f32)>),
    ) -> Result<Result<(calib_host::Fit, Option<Chosen>), FitError>, Error> {
        let (n, alpha) = (data.len(), self.divided_alpha());
        // The fit refuses any other alpha, and says why.
        let epsilon = self.method.epsilon().filter(|_| alpha > 0.0 && alpha < 1.0);
        let Some(chosen) = bins_of_umd(n, alpha, epsilon) else {
            let epsilon = epsilon.unwrap_or_default();
            let needed = points_for(epsilon, alpha).map_or(String::new(), |n| format!(": two bins take {n}"));
            return Err(Error::Usage(format!(
                "{place}: no bins of {n} points keep a guarantee within {epsilon}{needed}; leave --epsilon out, or take a larger one"
            )));
        };
        let umd = self.method.umd(chosen.bins, (kind, codes.is_some()))?;
        let fit = match fit_binary(data, &umd, alpha) {
            Ok(fit) => fit,
            Err(cause) => return Ok(Err(cause)),
        };
        let only = |why| Ok(Ok((fit.clone(), Some(Chosen { why, candidates: 1 }))));
        if fit.tied_tables().next().is_none() {
            return only(chosen.why);
        }
        let halved = divided(alpha, 2);
        let split =
            bins_of_ums(n, halved, epsilon).map(|split| Ums { bins: split.bins, seed: self.method.seed() });
        let split = split.and_then(|ums| fit_binary(data, &BinaryMethod::Ums(ums), halved).ok());
        let keeps = |fit: &calib_host::Fit| {
            fit.guarantee.is_some_and(|guarantee| epsilon.is_none_or(|epsilon| guarantee.epsilon <= epsilon))
        };
        match (split.filter(keeps), epsilon) {
            (Some(split), _) => {
                let why = format!(
                    "chosen: ums with {} bins, because scores tie at an edge, so that umd has no guarantee; --method umd --ties \
                     randomize has a narrower one, with random numbers on the device",
                    split.bins()
                );
                Ok(Ok((split, Some(Chosen { why, candidates: 2 }))))
            }
            (None, Some(epsilon)) => Err(Error::Usage(format!(
                "{place}: scores tie at the edges of bins, and neither umd nor ums keeps a guarantee within {epsilon}; leave --epsilon \
                 out, or take --method umd --ties randomize with --bins"
            ))),
            (None, None) => only(format!(
                "chosen: umd with {} bins; scores tie at an edge, so that it has no guarantee",
                fit.bins()
            )),
        }
    }

    /// Fits margins, weighted or counted points, codes, one point of each cluster, or scores for a table of 16-bit numbers.
    fn aggregated(
        &self,
        (path, kind): (&Path, ScoreKind),
        encoding: Option<ScoreEncoding>,
        quiet: bool,
    ) -> Result<Fitted, Error> {
        let paths: Vec<_> = std::iter::once(path).chain(self.labels.as_deref()).collect();
        let sources = Source::read_all(&paths, &reading(quiet))?;
        let names: Vec<&str> =
            [&*self.score_column, &*self.label_column].into_iter().chain(self.points.columns()).collect();
        let table = Table::read_only(&sources[0], &names)?;
        let mut labels = match self.points.counts_positives() {
            true => None,
            false => Some(labels_of(&sources, &table, &self.label_column)?),
        };
        let mut scores = match encoding {
            Some(encoding) => input::scores_of_codes(&table.codes(&self.score_column)?, encoding, kind)?,
            None => table.numbers(&self.score_column)?,
        };
        let mut sample = self.points.sample(&table, (&scores, kind), labels.as_ref())?;
        let doubt = question_margins(&sources[0], kind, &scores.device_scores(kind)?);
        // Of all rows, those that are not drawn among them.
        let place = Place::file(sources[0].path());
        let rows = sample.rows_hash().map_err(|cause| Error::fit(place.clone(), cause))?;
        let mut drawn = None;
        if let (Some(labels), Some(_)) = (&mut labels, self.clusters()) {
            // As the device has them: what it cannot tell apart has one order.
            let seen = |row: usize| scores.values[row] as f32 + 0.0;
            let compare = |a: usize, b: usize| seen(a).total_cmp(&seen(b));
            drawn = self.draw(&sources[0], &labels.values, compare)?;
            let some = drawn.as_ref().map(|drawn| &drawn.rows[..]).unwrap_or_default();
            (scores, *labels) = (scores.part(some), labels.part(some));
            sample = self.points.sample(&table, (&scores, kind), Some(labels))?;
        }
        let dependence = match (&sample, &drawn) {
            (Sample::Points(data), None) if !self.points.are_aggregated() => {
                question_independence(data, None)
            }
            _ => None,
        };
        let sample =
            if encoding.is_none() && self.table == TableWidth::U16 { sample.rounded() } else { sample };
        let fit_error = |cause| {
            let one_class = matches!(cause, FitError::OneClass { .. });
            let labels = labels.as_ref().map(|labels| labels.place().clone());
            Error::fit(labels.filter(|_| one_class).unwrap_or(place.clone()), cause)
        };
        let codes = encoding.and_then(range_of_codes);
        let method = |n| self.method.binary((n, &place), kind, codes);
        let (fit, chosen) = match &sample {
            Sample::Points(data) if self.method.is_left_open() => self.chosen(data, &place, (kind, codes))?,
            Sample::Points(data) => {
                fit_binary(data, &method(data.len())?, self.divided_alpha()).map(|fit| (fit, None))
            }
            Sample::Weighted(data) => {
                fit_weighted(data, &method(data.len())?, self.divided_alpha()).map(|fit| (fit, None))
            }
        }
        .map_err(fit_error)?;
        let mut warnings = warnings_of_sample(&sample).map_err(fit_error)?;
        warnings.doubts.extend(doubt.into_iter().chain(dependence));
        let spread = sample.spread().map_err(fit_error)?;
        let sha256 = input::sha256(&sources.iter().collect::<Vec<_>>());
        let fit = self.drawn(over_codes(fit.with_spreads([Some(spread)]), encoding)?, drawn);
        Ok(Fitted { fit, origin: DataOrigin { sha256, rows }, warnings, chosen })
    }

    fn report(
        &self,
        (fit, stored): (&calib_host::Fit, &StoredArtifact),
        warnings: Warnings,
        chosen: Option<String>,
        quiet: bool,
    ) -> Result<(), Error> {
        warnings.print()?;
        let output = self.output();
        let shown = ShownFit::new(fit, stored, &output);
        if self.json {
            let mut value = shown.json();
            value["chosen"] = chosen.into();
            warnings.add_to(&mut value);
            return print_json(&value);
        }
        if quiet {
            return Ok(());
        }
        let mut err = stderr();
        for line in shown.lines() {
            writeln!(err, "{line}")?;
        }
        if let Some(why) = chosen {
            writeln!(err, "{why}.")?;
        }
        if let Some(asked) =
            self.method.bins().filter(|&asked| fit.tied_tables().next() == Some(0) && fit.bins() < asked)
        {
            let left = fit.bins();
            writeln!(
                err,
                "Scores tie: of the {asked} bins {left} are left. --ties randomize keeps all of them."
            )?;
        }
        let is_separated =
            |unfitted: &Unfitted| unfitted.reason == UnfittedReason::Scaling(ScalingError::Separated);
        if fit.unfitted.iter().any(is_separated) {
            writeln!(err, "  hint: --targets bayes fits a slope where a threshold separates the labels")?;
        }
        Ok(())
    }
}

/// What the points that a calibrator is fitted to say against it.
fn warnings_of(data: &BinaryData) -> Result<Warnings, FitError> {
    let evidence = evidence_of_fit(data)?.into_iter().collect();
    Ok(Warnings { evidence, ..Warnings::default() })
}

/// What the lowest and the highest code stand for.
fn range_of_codes(encoding: ScoreEncoding) -> Option<(f32, f32)> {
    let (lowest, highest) = encoding.code_range()?;
    let score = |code| Some(QuantizedScore::new(encoding, code).ok()?.dequantized());
    score(lowest).zip(score(highest))
}

fn warnings_of_sample(sample: &Sample) -> Result<Warnings, FitError> {
    match sample {
        Sample::Points(data) => warnings_of(data),
        // The test counts points.
        Sample::Weighted(_) => Ok(Warnings::default()),
    }
}

/// The fit as one of codes, if scores are such.
fn over_codes(
    fit: calib_host::Fit,
    encoding: Option<ScoreEncoding>,
) -> Result<calib_host::Fit, CompileError> {
    match encoding {
        Some(encoding) => fit.over_codes(encoding),
        None => Ok(fit),
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

/// The rows that were drawn, one of each cluster.
struct Drawn {
    /// Which.
    rows: Vec<usize>,
    /// Of how many.
    of_rows: u64,
}

impl Drawn {
    /// Whether a cluster has several rows.
    fn left_some_out(&self) -> bool {
        self.rows.len() as u64 != self.of_rows
    }

    fn of<T: Copy>(&self, values: &[T]) -> Vec<T> {
        self.rows.iter().map(|&row| values[row]).collect()
    }
}

/// The actions of a costs file and their rule.
struct Decision {
    actions: Actions,
    rule: Rule,
}

impl Decision {
    fn read(path: &Path) -> Result<Self, Error> {
        let Costs { actions, stated, .. } = read_costs(path)?;
        let rule = match stated {
            Some(stated) => stated,
            None if actions.have_start_up() => {
                return Err(usage(
                    "start-up costs need the probabilities of a deployment: use `calib decide` with --probs or --scores",
                ));
            }
            None => Rule::bayes(&Envelope::new(&actions, |_| true)),
        };
        Ok(Self { actions, rule })
    }
}

/// An artefact with its decision rule, if there is one.
fn decided(artifact: Vec<u8>, decision: Option<&Decision>) -> Result<Vec<u8>, Error> {
    let Some(Decision { actions, rule }) = decision else { return Ok(artifact) };
    let stored = StoredArtifact::from_bytes(&artifact).expect("just written");
    Ok(with_decision(&stored, actions, rule).map_err(CompileError::from)?)
}

fn parse_spent(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(spent) if (0.0..1.0).contains(&spent) => Ok(spent),
        _ => Err("what was spent is a probability below 1, such as 0.2".into()),
    }
}

fn usage(text: &str) -> Error {
    Error::Usage(text.into())
}
