//! `calib fit`

use std::io::Write;
use std::path::PathBuf;

use calib_core::{ClassifierId, Method, Theorem};
use calib_host::input::{self, CsvTable, Source};
use calib_host::{
    BinaryMethod, Boundary, Error, FitError, Isotonic, Origin, Place, TopLabelData, TopLabelOptions, Umd,
    artifact_bytes, fit_binary, fit_top_label, gr21_theorem3_smallest_n, write_file,
};
use clap::{Args, ValueEnum};
use serde_json::json;

use super::options::{ScoreSource, read_labels};
use super::{decimals, print_json};

/// The points per bin that Gupta and Ramdas 2022 suggest at least, for classes fitted without bins of fixed mass.
const ISOTONIC_MIN_POINTS: usize = 50;

/// Fit a calibrator to held-out scores and labels, and write it as an artefact.
#[derive(Args)]
pub(crate) struct Fit {
    /// The calibration method.
    #[arg(long, value_enum)]
    method: MethodName,
    /// How a multi-class problem is reduced to binary ones.
    #[arg(long, value_enum)]
    reduction: Option<ReductionName>,
    #[command(flatten)]
    source: ScoreSource,
    /// Labels, if not in the table of scores: a NumPy array of integers, or a CSV table.
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// The column of scores in a CSV table.
    #[arg(long, default_value = "score", value_name = "NAME")]
    score_column: String,
    /// The column of labels in a CSV table.
    #[arg(long, default_value = "label", value_name = "NAME")]
    label_column: String,
    /// The number of bins; with top-label, of every class.
    #[arg(long, value_name = "B", conflicts_with = "points_per_bin")]
    bins: Option<usize>,
    /// The calibration points per bin: the number of bins follows from the data, with top-label for each class. A
    /// class with fewer points stays uncalibrated.
    #[arg(long, value_name = "K")]
    points_per_bin: Option<usize>,
    /// The probability with which the guarantee may fail.
    #[arg(long, default_value_t = 0.1, value_name = "ALPHA")]
    alpha: f64,
    /// Which order statistics are the boundaries of uniform-mass bins.
    #[arg(long, value_enum, default_value_t = BoundaryName::Ceil)]
    boundary: BoundaryName,
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
enum MethodName {
    /// Uniform-mass binning (Gupta and Ramdas 2021, Algorithm 1): comes with a guarantee.
    Umd,
    /// Isotonic regression: comes without one.
    Isotonic,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum ReductionName {
    /// One calibrator per predicted class (Gupta and Ramdas 2022).
    TopLabel,
}

#[derive(Clone, Copy, ValueEnum)]
enum BoundaryName {
    /// Round the boundary's rank up, as in Algorithm 1.
    Ceil,
    /// Round it down.
    Floor,
}

impl Fit {
    pub(crate) fn run(self, quiet: bool) -> Result<(), Error> {
        let (fit, sources) = match (self.source.vectors(), self.reduction) {
            (None, None) => self.binary(quiet)?,
            (Some((path, kind)), Some(ReductionName::TopLabel)) => {
                let labels =
                    self.labels.as_deref().ok_or_else(|| usage("--labels is needed beside a matrix"))?;
                let sources = [Source::read(path, !quiet)?, Source::read(labels, !quiet)?];
                let vectors = input::vectors(&sources[0], kind)?;
                let labels = read_labels(&sources[1], &self.label_column)?;
                input::check_rows(&labels, vectors.len(), path)?;
                labels.check_classes(vectors.classes())?;
                let data =
                    TopLabelData::from_vectors(&vectors, &labels.values).expect("the rows were checked");
                let fit = fit_top_label(&data, &self.top_label_options()?, self.alpha)
                    .map_err(|cause| Error::fit(Place::file(path), cause))?;
                (fit, sources.into())
            }
            (Some(_), None) => {
                return Err(usage("a matrix of scores needs a reduction, such as --reduction top-label"));
            }
            (None, Some(_)) => {
                return Err(usage("--reduction needs a matrix: --logits or --probs instead of --scores"));
            }
        };
        let origin = Origin {
            data_sha256: input::sha256(&sources.iter().collect::<Vec<_>>()),
            classifier: self.classifier_id,
        };
        let bytes = artifact_bytes(&fit, &origin)?;
        write_file(&self.output, self.force, |out| out.write_all(&bytes))?;
        self.report(&fit, bytes.len(), quiet)
    }

    fn binary(&self, quiet: bool) -> Result<(calib_host::Fit, Vec<Source>), Error> {
        let path = self.source.scores.as_deref().expect("clap asks for one of the sources");
        let mut sources = vec![Source::read(path, !quiet)?];
        if let Some(labels) = &self.labels {
            sources.push(Source::read(labels, !quiet)?);
        }
        let (scores, labels) = if sources[0].is_npy() {
            let labels = sources.get(1).ok_or_else(|| usage("--labels is needed beside a NumPy array"))?;
            (input::read_npy(&sources[0])?.numbers()?, read_labels(labels, &self.label_column)?)
        } else {
            let table = CsvTable::parse(&sources[0])?;
            let labels = match sources.get(1) {
                Some(labels) => read_labels(labels, &self.label_column)?,
                None => table.labels(&self.label_column)?,
            };
            (table.numbers(&self.score_column)?, labels)
        };
        let data = input::binary_data(&scores, &labels)?;
        let fit_error = |cause| {
            let one_class = matches!(cause, FitError::OneClass { .. });
            Error::fit(if one_class { labels.place().clone() } else { Place::file(path) }, cause)
        };
        let method = match self.method {
            MethodName::Umd => {
                let bins = match (self.bins, self.points_per_bin) {
                    (Some(bins), _) => bins,
                    (None, Some(k @ 0..2)) => return Err(fit_error(FitError::PointsPerBin(k))),
                    (None, Some(k)) => (data.len() / k).max(1),
                    (None, None) => return Err(usage("umd needs --bins or --points-per-bin")),
                };
                BinaryMethod::Umd(self.umd(bins))
            }
            MethodName::Isotonic => {
                self.refuse_bins()?;
                if self.points_per_bin.is_some() {
                    return Err(usage("isotonic chooses its bins itself: leave out --points-per-bin"));
                }
                BinaryMethod::Isotonic(Isotonic)
            }
        };
        Ok((fit_binary(&data, &method, self.alpha).map_err(fit_error)?, sources))
    }

    fn top_label_options(&self) -> Result<TopLabelOptions, Error> {
        let boundary = self.boundary.into();
        Ok(match (self.method, self.bins, self.points_per_bin) {
            (MethodName::Umd, Some(bins), _) => TopLabelOptions::UmdBins(self.umd(bins)),
            (MethodName::Umd, None, Some(points_per_bin)) => {
                TopLabelOptions::UmdPointsPerBin { points_per_bin, boundary }
            }
            (MethodName::Umd, None, None) => return Err(usage("umd needs --bins or --points-per-bin")),
            (MethodName::Isotonic, _, k) => {
                self.refuse_bins()?;
                TopLabelOptions::Isotonic { min_points: k.unwrap_or(ISOTONIC_MIN_POINTS) }
            }
        })
    }

    fn umd(&self, bins: usize) -> Umd {
        Umd { bins, boundary: self.boundary.into() }
    }

    fn refuse_bins(&self) -> Result<(), Error> {
        match self.bins {
            Some(_) => Err(usage("isotonic chooses its bins itself: leave out --bins")),
            None => Ok(()),
        }
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
                "tables": fit.tables.iter().map(|table| table.as_ref().map(|table| json!({
                    "n": table.n,
                    "epsilon": table.epsilon,
                    "ties_merged": table.model.ties_merged,
                    "edges": table.model.edges,
                    "values": table.model.bins.iter().map(|bin| bin.value).collect::<Vec<_>>(),
                    "counts": table.model.bins.iter().map(|bin| bin.n).collect::<Vec<_>>(),
                    "positives": table.model.bins.iter().map(|bin| bin.positives).collect::<Vec<_>>(),
                }))).collect::<Vec<_>>(),
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

/// What is promised, under which assumptions, and what is not, in plain sentences.
fn promise(fit: &calib_host::Fit) -> String {
    let Some(guarantee) = fit.guarantee else {
        return match fit.method {
            Method::Umd => {
                "Nothing is guaranteed: equal scores straddle a bin boundary, and without randomised ties \
                            the theorem does not hold for them."
                    .into()
            }
            _ => format!("Nothing is guaranteed: {} has no distribution-free guarantee.", fit.method),
        };
    };
    let percent =
        format!("{:.*}", decimals(guarantee.alpha).saturating_sub(2), 100.0 * (1.0 - guarantee.alpha));
    let mut text = format!(
        "With probability {percent} % over the draw of the {} calibration points, every bin's probability is within \
         {:.4} of the truth for its scores ({}), if new data come from the same distribution as these and scores \
         rarely repeat; nothing is promised within a bin, or once the data change.",
        fit.n, guarantee.epsilon, guarantee.theorem,
    );
    let tied: Vec<usize> = fit.tied_tables().collect();
    if !tied.is_empty() {
        let plural = list("class", "classes", &tied);
        text += &format!(" Nothing is guaranteed for {plural}: equal scores straddle a bin boundary.");
    }
    if guarantee.epsilon > USEFUL_EPSILON
        && guarantee.theorem == Theorem::Gr21Theorem3
        && fit.tables.len() == 1
    {
        let bins = fit.bins() as u64;
        let needed = gr21_theorem3_smallest_n(bins, guarantee.alpha, USEFUL_EPSILON);
        text += &format!(
            " That is wide: {bins} bins need {needed} points for an epsilon of {USEFUL_EPSILON}; fewer bins need fewer."
        );
    }
    text
}

/// Above this, the summary says how many points a useful epsilon takes.
const USEFUL_EPSILON: f64 = 0.1;

fn list(one: &str, many: &str, indices: &[usize]) -> String {
    let names: Vec<String> = indices.iter().map(usize::to_string).collect();
    format!("{} {}", if indices.len() == 1 { one } else { many }, names.join(", "))
}

fn usage(text: &str) -> Error {
    Error::Usage(text.into())
}

fn parse_classifier(text: &str) -> Result<ClassifierId, String> {
    let mut id = [0; 8];
    hex::decode_to_slice(text, &mut id).map_err(|_| "a classifier id has 16 hex digits".to_owned())?;
    Ok(ClassifierId(id))
}

impl From<BoundaryName> for Boundary {
    fn from(name: BoundaryName) -> Self {
        match name {
            BoundaryName::Ceil => Self::Ceil,
            BoundaryName::Floor => Self::Floor,
        }
    }
}
