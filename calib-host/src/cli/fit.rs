//! `calib fit`

use std::io::Write;
use std::path::PathBuf;

use calib_core::ClassifierId;
use calib_host::input::{self, BinaryFiles, Source};
use calib_host::{
    ArtifactOptions, Error, FitError, FittedTable, Model, Place, ScalingModel, TopLabelData, artifact_bytes,
    fit_binary, fit_top_label, write_file,
};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::method::MethodOptions;
use super::options::{SCORE_COLUMN, ScoreSource, read_labels, read_vectors};
use super::print_json;
use super::promise::{list, promise};

/// Fit a calibrator to held-out scores and labels, and write it as an artefact.
#[derive(Args)]
pub(crate) struct Fit {
    #[command(flatten)]
    method: MethodOptions,
    /// How a multi-class problem is reduced to binary ones.
    #[arg(long, value_enum)]
    reduction: Option<ReductionName>,
    #[command(flatten)]
    source: ScoreSource,
    /// Labels, if not in the table of scores: a NumPy array of integers, or a table.
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// The column of scores in a table; in an NPZ archive the array of scores, logits or probabilities.
    #[arg(long, default_value = SCORE_COLUMN, value_name = "NAME")]
    score_column: String,
    /// The column of labels in a table.
    #[arg(long, default_value = "label", value_name = "NAME")]
    label_column: String,
    /// The probability with which the guarantee may fail.
    #[arg(long, default_value_t = 0.1, value_name = "ALPHA")]
    alpha: f64,
    /// Store the exact interval of every bin in the artefact, at 8 bytes a bin: the device then returns it.
    #[arg(long)]
    intervals: bool,
    /// The classifier that the scores come from, as 16 hex digits: a device with another one refuses the artefact.
    #[arg(long, value_name = "HEX", value_parser = parse_classifier)]
    classifier_id: Option<ClassifierId>,
    /// Where to write the artefact.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Replace an existing output.
    #[arg(long)]
    force: bool,
    /// Print the summary as JSON on standard output.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum ReductionName {
    /// One calibrator per predicted class (Gupta and Ramdas 2022).
    TopLabel,
}

impl Fit {
    pub(crate) fn run(self, quiet: bool) -> Result<(), Error> {
        let (fit, data_sha256) = match (self.source.vectors(), self.reduction) {
            (None, None) => self.binary(quiet)?,
            (Some((path, kind)), Some(ReductionName::TopLabel)) => {
                let labels =
                    self.labels.as_deref().ok_or_else(|| usage("--labels is needed beside a matrix"))?;
                let sources = Source::read_all(&[path, labels], !quiet)?;
                let vectors = read_vectors(&sources[0], kind, &self.score_column)?;
                let labels = read_labels(&sources[1], &self.label_column)?;
                input::check_rows(&labels, vectors.len(), sources[0].path())?;
                labels.check_classes(vectors.classes())?;
                let data =
                    TopLabelData::from_vectors(&vectors, &labels.values).expect("the rows were checked");
                let fit = fit_top_label(&data, &self.method.top_label()?, self.alpha)
                    .map_err(|cause| Error::fit(Place::file(sources[0].path()), cause))?;
                (fit, input::sha256(&sources.iter().collect::<Vec<_>>()))
            }
            (Some(_), None) => {
                return Err(usage("a matrix of scores needs a reduction, such as --reduction top-label"));
            }
            (None, Some(_)) => {
                return Err(usage("--reduction needs a matrix: --logits or --probs instead of --scores"));
            }
        };
        let options =
            ArtifactOptions { data_sha256, classifier: self.classifier_id, intervals: self.intervals };
        let bytes = artifact_bytes(&fit, &options)?;
        write_file(&self.output, self.force, |out| out.write_all(&bytes))?;
        self.report(&fit, bytes.len(), quiet)
    }

    /// Fits scores and labels, and gives the hash of their files.
    fn binary(&self, quiet: bool) -> Result<(calib_host::Fit, [u8; 32]), Error> {
        let files = BinaryFiles {
            scores: self.source.scores.as_deref().expect("clap asks for one of the sources"),
            labels: self.labels.as_deref(),
            score_column: &self.score_column,
            label_column: &self.label_column,
        };
        let input = files.read(!quiet)?;
        let method = self.method.binary(input.data.len(), &input.scores)?;
        let fit = fit_binary(&input.data, &method, self.alpha).map_err(|cause| {
            let one_class = matches!(cause, FitError::OneClass { .. });
            Error::fit(if one_class { input.labels } else { input.scores }, cause)
        })?;
        Ok((fit, input.sha256))
    }

    fn report(&self, fit: &calib_host::Fit, len_bytes: usize, quiet: bool) -> Result<(), Error> {
        let uncalibrated: Vec<usize> = fit.uncalibrated_classes().collect();
        let promise = promise(fit);
        if self.json {
            return print_json(&json!({
                "output": self.output,
                "len_bytes": len_bytes,
                "method": fit.method.to_string(),
                "reduction": fit.reduction.to_string(),
                "n": fit.n,
                "bins": fit.bins(),
                "guarantee": fit.guarantee.map(|g| json!({
                    "theorem": g.theorem.to_string(),
                    "alpha": g.alpha,
                    "epsilon": g.epsilon,
                })),
                "promise": promise,
                "uncalibrated_classes": uncalibrated,
                "tables": fit.tables.iter().map(|table| table.as_ref().map(table_json)).collect::<Vec<_>>(),
            }));
        }
        if quiet {
            return Ok(());
        }
        let mut err = std::io::stderr().lock();
        writeln!(
            err,
            "{} points, {} ({}), {} bins, {len_bytes} bytes: {}",
            fit.n,
            fit.method,
            fit.reduction,
            fit.bins(),
            self.output.display()
        )?;
        if !uncalibrated.is_empty() {
            writeln!(err, "uncalibrated, with too few points: {}", list("class", "classes", &uncalibrated))?;
        }
        writeln!(err, "{promise}")?;
        Ok(())
    }
}

/// A table's numbers, by their names.
fn table_json(table: &FittedTable) -> Value {
    let bins = table.model.bins();
    let values = || bins.iter().map(|bin| bin.value).collect::<Vec<_>>();
    let mut value = match &table.model {
        Model::Steps(steps) => {
            json!({"edges": steps.edges, "values": values(), "ties_merged": steps.ties_merged})
        }
        Model::Randomized(steps) => json!({"edges": steps.edges, "words": steps.words, "values": values()}),
        Model::Interpolated(line) => json!({"scores": line.scores, "values": line.values}),
        Model::VennAbers(table) => json!({"edges": table.edges, "p0": table.p0, "p1": table.p1}),
        Model::Scaling(ScalingModel::PlattLogit { a, b } | ScalingModel::PlattProb { a, b }) => {
            json!({"a": a, "b": b})
        }
        Model::Scaling(ScalingModel::Beta { a, b, c }) => json!({"a": a, "b": b, "c": c}),
        Model::Scaling(ScalingModel::Temperature { inverse_t }) => json!({"temperature": 1.0 / inverse_t}),
        _ => json!({}),
    };
    value["n"] = table.n.into();
    value["epsilon"] = table.epsilon.into();
    if !bins.is_empty() {
        value["counts"] = bins.iter().map(|bin| bin.n).collect();
        value["positives"] = bins.iter().map(|bin| bin.positives).collect();
    }
    if !table.intervals.is_empty() {
        value["intervals"] = json!(table.intervals);
    }
    value
}

fn usage(text: &str) -> Error {
    Error::Usage(text.into())
}

fn parse_classifier(text: &str) -> Result<ClassifierId, String> {
    let mut id = [0; 8];
    hex::decode_to_slice(text, &mut id).map_err(|_| "a classifier id has 16 hex digits".to_owned())?;
    Ok(ClassifierId(id))
}
