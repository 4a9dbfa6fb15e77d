//! `calib threshold`

use std::collections::BTreeMap;
use std::path::PathBuf;

use calib_core::decision::{Accuracy, AccuracyPromise};
use calib_core::{ClassifierId, QuantizedScore, ScoreEncoding};
use calib_fit::artifact::PointsOnDevice;
use calib_fit::operating::{Aim, Aims, GroupScores, KeyedScores, OperatingPoints, PredictiveValues, Sharing};
use calib_fit::stats::single_at_most;
use calib_fit::{ArtifactOptions, ScoreKind, StoredArtifact};
use calib_io::files::{Place, read_artifact};
use calib_io::input::{self, Column, Source, Table};
use clap::Args;
use serde_json::json;

use crate::context::Context;
use crate::error::Error;
use crate::kinds::FileKind;
use crate::next::{Given, Suggestion};
use crate::options::{
    ChildOptions, ClusterColumn, EncodingOptions, SCORE_COLUMN, binary_source, parse_classifier, parse_share,
};
use crate::read::{question_independence, question_margins, read_all, table_labels};
use crate::run::Run;
use crate::show::ShownThresholds;

/// Find a threshold that promises a sensitivity or specificity.
///
/// A threshold of the score, which is written as an artefact.
///
/// The promise needs no calibrated probability and few rows: 59 of class 1 are enough for 95 % of class 1 with 95 % confidence. It
/// holds for new rows that are drawn as these were, one per patient, whatever the distribution of the scores. With both a sensitivity
/// and a specificity there may be two thresholds, and scores in between are referred.
#[derive(Args)]
pub(crate) struct ThresholdCommand {
    /// Scores of class 1 of a binary classifier, in [0, 1], with labels.
    #[arg(long, value_name = "FILE", required_unless_present = "margins", help_heading = "Data")]
    scores: Option<PathBuf>,
    /// Margins of class 1 of a binary classifier: scores of any size.
    #[arg(long, value_name = "FILE", conflicts_with = "scores", help_heading = "Data")]
    margins: Option<PathBuf>,
    /// Labels, if not in the table of scores: a NumPy array of integers, or a table.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    labels: Option<PathBuf>,
    /// The column of scores or margins in a table.
    #[arg(long, default_value = SCORE_COLUMN, value_name = "NAME", help_heading = "Data")]
    score_column: String,
    /// The column of labels in a table.
    #[arg(long, default_value = "label", value_name = "NAME", help_heading = "Data")]
    label_column: String,
    #[command(flatten)]
    codes: EncodingOptions,
    #[command(flatten)]
    cluster_column: ClusterColumn,
    /// The clusters, if not in the table of scores.
    #[arg(long, value_name = "FILE", help_heading = "What rows are", hide_short_help = true)]
    clusters: Option<PathBuf>,
    /// The seed of the row that is drawn from each cluster.
    #[arg(
        long,
        default_value_t = 0,
        value_name = "SEED",
        help_heading = "Guarantees and intervals",
        hide_short_help = true
    )]
    seed: u64,
    /// The share of class 1 that is raised, or at least not cleared.
    #[arg(long, value_name = "P", value_parser = parse_share, help_heading = "Method and bins")]
    sensitivity: Option<f64>,
    /// The share of class 0 that is not raised.
    #[arg(long, value_name = "P", value_parser = parse_share, help_heading = "Method and bins")]
    specificity: Option<f64>,
    /// The confidence of each of the two, over the draw of the rows.
    #[arg(long, default_value_t = 0.95, value_name = "C", value_parser = parse_share, help_heading = "Guarantees and intervals")]
    confidence: f64,
    /// A column of groups, such as the sex or the site: each has thresholds of its own, and the promise holds for all of them
    /// together.
    #[arg(long, value_name = "NAME", help_heading = "What rows are", hide_short_help = true)]
    group_column: Option<String>,
    /// The groups have one threshold, with which the promise holds for each of them.
    #[arg(long, requires = "group_column", help_heading = "What rows are", hide_short_help = true)]
    common_threshold: bool,
    /// The share of class 1 where the device is used: what can be promised of the predictive values there.
    #[arg(long, value_name = "P", value_parser = parse_share, help_heading = "Method and bins")]
    prevalence: Option<f64>,
    /// A score between two thresholds raises the alarm, too.
    #[arg(long, help_heading = "Method and bins", hide_short_help = true)]
    refer_raises: bool,
    /// A binary calibrator that takes such scores: the thresholds go beside it. Without one the device has no probabilities.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    calibrator: Option<PathBuf>,
    /// The classifier that the scores come from, as 16 hex digits: a device with another one refuses the artefact.
    #[arg(long, value_name = "HEX", value_parser = parse_classifier, conflicts_with = "calibrator", help_heading = "The device", hide_short_help = true)]
    classifier_id: Option<ClassifierId>,
    #[command(flatten)]
    child: ChildOptions,
    /// Where to write the artefact.
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: PathBuf,
    /// Replace an existing output.
    #[arg(long, help_heading = "Output")]
    force: bool,
    /// Print JSON on standard output.
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Rows as they were read.
struct Rows {
    groups: Vec<GroupScores>,
    encoding: ScoreEncoding,
    n: u64,
    sha256: [u8; 32],
    /// Of how many rows these are one in each cluster.
    clustered: Option<u64>,
    /// What is doubtful about them, in sentences.
    doubts: Vec<String>,
}

/// A group's name, which the only group has none of, and its rows.
type NamedRows = (Option<String>, Vec<usize>);

impl Run for ThresholdCommand {
    const AT_WORK: Option<&str> = Some("looking for thresholds");
    const OUTPUT: Option<FileKind> = Some(FileKind::Artefact);
    const TELLS: bool = true;

    fn run(self, cx: &Context) -> Result<(), Error> {
        let parent = self.calibrator.as_deref().map(read_artifact).transpose()?;
        let rows = self.read(parent.as_ref(), cx)?;
        cx.warn(&rows.doubts)?;
        let sharing = if self.common_threshold { Sharing::Common } else { Sharing::Own };
        let place = || Place::file(self.path().0);
        let points = OperatingPoints::find(&rows.groups, self.aims(), sharing)
            .map_err(|cause| Error::promise(place(), cause))?;
        let values = self.predictive_values(&points)?;
        let predictive = self.promises(&values);
        let on_device = PointsOnDevice {
            points: &points,
            encoding: rows.encoding,
            predictive: &predictive,
            refer_raises: self.refer_raises,
        };
        let parameters = self.parameters(&rows);
        let bytes = match self.calibrator.as_deref().zip(parent.as_ref()) {
            Some((path, parent)) => {
                on_device.beside(parent, &self.child.of(path, parent, parameters, cx)?)?
            }
            None => {
                let options = ArtifactOptions {
                    data_sha256: rows.sha256,
                    classifier: self.classifier_id,
                    counter: self.child.counter(),
                    ..ArtifactOptions::default()
                };
                on_device.alone(rows.n, &parameters, &options)?
            }
        };
        cx.write_output(&self.output, self.force, &bytes)?;
        let stored = StoredArtifact::from_bytes(&bytes).expect("just written");
        let shown =
            ShownThresholds { points: &points, values: &values, stored: &stored, output: &self.output };
        match (self.json, cx.quiet) {
            (true, _) => {
                let mut value = shown.json();
                value["warnings"] = json!(rows.doubts);
                cx.print_json(&value)
            }
            (false, true) => Ok(()),
            (false, false) => Ok(shown.print(&mut cx.stderr())?),
        }
    }

    fn next(given: &Given<'_>, _: &Context) -> Option<Suggestion> {
        given.assessed()
    }
}

impl ThresholdCommand {
    fn aims(&self) -> Aims {
        let aim = |level: Option<f64>| level.map(|level| Aim { level, confidence: self.confidence });
        Aims { sensitivity: aim(self.sensitivity), specificity: aim(self.specificity) }
    }

    /// The file of binary scores, and what these are.
    fn path(&self) -> (&std::path::Path, ScoreKind) {
        binary_source(self.scores.as_deref(), self.margins.as_deref()).expect("clap asks for one of them")
    }

    fn read(&self, parent: Option<&StoredArtifact>, cx: &Context) -> Result<Rows, Error> {
        let (path, kind) = self.path();
        let paths: Vec<_> = std::iter::once(path).chain(self.labels.as_deref()).collect();
        let sources = read_all(&paths, cx)?;
        let names: Vec<&str> = [&*self.score_column, &*self.label_column]
            .into_iter()
            .chain(self.group_column.as_deref())
            .collect();
        let table = Table::read_only(&sources[0], &names)?;
        let of_parent = parent.map(|parent| parent.artifact().header().encoding);
        let encoding = self.codes.encoding()?.or(of_parent.filter(ScoreEncoding::is_quantized));
        let codes = encoding.map(|_| table.codes(&self.score_column)).transpose()?;
        let scores = match (&codes, encoding) {
            (Some(codes), Some(encoding)) => input::scores_of_codes(codes, encoding, kind)?,
            _ => table.numbers(&self.score_column)?,
        };
        let labels = table_labels(&sources, &table, &self.label_column, scores.len())?;
        labels.check_classes(2)?;
        let all = input::binary_data(&scores, &labels, kind)?;
        let mut doubts = Vec::from_iter(question_margins(&sources[0], kind, &scores.device_scores(kind)?));
        let (kept, clustered) = self.kept(&sources[0], &scores, &labels)?;
        if clustered.is_none() {
            doubts.extend(question_independence(&all, None));
        }
        let codes = match (codes, encoding) {
            (Some(codes), Some(encoding)) => Some(input::codes(&codes, encoding)?),
            _ => None,
        };
        let keyed = |rows: &[usize]| match (&codes, encoding) {
            (Some(codes), Some(encoding)) => Ok(of_codes(encoding, codes, &labels, rows)),
            _ => {
                let data = input::binary_data(&scores.part(rows), &labels.part(rows), kind)?;
                KeyedScores::of_scores(&data).map_err(|cause| Error::fit(Place::file(path), cause))
            }
        };
        let groups = self.groups(&table, scores.len(), &kept, parent)?;
        let groups: Result<Vec<_>, Error> =
            groups.into_iter().map(|(name, rows)| Ok(GroupScores { name, scores: keyed(&rows)? })).collect();
        let float = if kind == ScoreKind::Margin { ScoreEncoding::Margin } else { ScoreEncoding::F32 };
        Ok(Rows {
            groups: groups?,
            encoding: encoding.unwrap_or(float),
            n: kept.len() as u64,
            sha256: input::sha256(&sources.iter().collect::<Vec<_>>()),
            clustered,
            doubts,
        })
    }

    /// The rows that count: all, or one of each cluster, and then of how many.
    fn kept(
        &self,
        source: &Source,
        scores: &Column<f64>,
        labels: &Column<i64>,
    ) -> Result<(Vec<usize>, Option<u64>), Error> {
        let Some(clusters) = self.cluster_column.source(self.clusters.as_ref()) else {
            return Ok(((0..scores.len()).collect(), None));
        };
        let clusters = clusters.read(source, scores.len())?;
        let seen = |row: usize| (scores.values[row] as f32 + 0.0, labels.values[row]);
        let compare = |a: usize, b: usize| {
            let (a, b) = (seen(a), seen(b));
            a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
        };
        let kept = clusters.one_row_each(self.seed, compare);
        let left_some_out = kept.len() < scores.len();
        Ok((kept, left_some_out.then_some(scores.len() as u64)))
    }

    /// The groups with their rows: in the order of the calibrator's, or else of their names.
    fn groups(
        &self,
        table: &Table,
        rows: usize,
        kept: &[usize],
        parent: Option<&StoredArtifact>,
    ) -> Result<Vec<NamedRows>, Error> {
        let Some(column) = &self.group_column else { return Ok(vec![(None, kept.to_vec())]) };
        let names = table.names(column)?;
        input::check_rows(&names, rows, self.path().0)?;
        let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for &row in kept {
            groups.entry(&names.values[row]).or_default().push(row);
        }
        let mut groups: Vec<_> =
            groups.into_iter().map(|(name, rows)| (Some(name.to_owned()), rows)).collect();
        if let Some(of) = parent.and_then(|parent| parent.artifact().groups().copied()) {
            groups.sort_by_key(|(name, _)| name.as_deref().and_then(|name| of.code(name)).unwrap_or(u8::MAX));
        }
        Ok(groups)
    }

    /// What can be promised of the predictive values of each group; none without a prevalence.
    fn predictive_values(&self, points: &OperatingPoints) -> Result<Vec<PredictiveValues>, Error> {
        let Some(prevalence) = self.prevalence else { return Ok(Vec::new()) };
        let values = points.points.iter().map(|point| points.predictive_values(point, prevalence));
        values.collect::<Result<_, _>>().map_err(|cause| Error::promise(Place::file(self.path().0), cause))
    }

    /// What the artefact says of predictive values: the least of all groups, not above what is promised.
    fn promises(&self, values: &[PredictiveValues]) -> Vec<AccuracyPromise> {
        let least = |value: fn(&PredictiveValues) -> f64| {
            single_at_most(values.iter().map(value).fold(1.0, f64::min))
        };
        let confidence = least(|values| values.confidence);
        let promise = |accuracy, level: f32| AccuracyPromise {
            accuracy,
            level,
            confidence,
            prevalence: self.prevalence.map(|prevalence| prevalence as f32),
        };
        let both = [
            promise(Accuracy::PositivePredictiveValue, least(|values| values.ppv)),
            promise(Accuracy::NegativePredictiveValue, least(|values| values.npv)),
        ];
        let says_something = |promise: &AccuracyPromise| {
            promise.level > 0.0 && promise.level < 1.0 && promise.confidence > 0.0 && !values.is_empty()
        };
        both.into_iter().filter(says_something).collect()
    }

    /// What was done, as `name=value` separated by spaces.
    fn parameters(&self, rows: &Rows) -> String {
        let sharing =
            self.group_column.as_ref().map(|_| if self.common_threshold { "common" } else { "own" });
        let named = [
            ("sensitivity", self.sensitivity.map(|level| level.to_string())),
            ("specificity", self.specificity.map(|level| level.to_string())),
            ("confidence", Some(self.confidence.to_string())),
            ("thresholds", sharing.map(str::to_owned)),
            ("threshold-prevalence", self.prevalence.map(|prevalence| prevalence.to_string())),
            ("cluster-rows", rows.clustered.map(|rows| rows.to_string())),
            ("cluster-seed", rows.clustered.map(|_| self.seed.to_string())),
        ];
        let pairs = named.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value?)));
        pairs.collect::<Vec<_>>().join(" ")
    }
}

fn of_codes(
    encoding: ScoreEncoding,
    codes: &[QuantizedScore],
    labels: &Column<i64>,
    rows: &[usize],
) -> KeyedScores {
    KeyedScores::of_codes(encoding, rows.iter().map(|&row| (codes[row], labels.values[row] == 1)))
}
