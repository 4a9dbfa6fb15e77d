//! What is exported of an artifact, whatever the language.

use calib_core::artifact::{HeaderFlags, Reduction, ScoreBins, TableForm};
use calib_core::{
    Artifact, BinFlags, Calibrator, ProbInterval, QuantizedScore, ScoreEncoding, VectorCalibrator,
};
use calib_fit::artifact::{StoredArtifact, guarantee_text, points, size_in_words};

/// Why an artifact has no form as source code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// A calibrator of whole vectors.
    #[error("`{0}` calibrates whole vectors, and source code in Rust holds only tables of one score")]
    Vectors(String),
    /// Bins without calibration points, of which a table in Rust does not tell.
    #[error(
        "{empty} of {bins} bins hold no calibration observation, and the tables of the export for Rust would present their \
         midpoints as probabilities"
    )]
    EmptyBins {
        /// The number of such bins.
        empty: usize,
        /// The number of bins over all tables.
        bins: u32,
    },
    /// The artifact has no table, and a form in Rust is one of tables.
    #[error(
        "the artifact has no table: in Rust, parse the artifact itself, which `include_bytes!` puts into flash"
    )]
    NoTables,
    /// The artifact asks for an action on an alarm of its monitors, and source code has no monitors.
    #[error(
        "the artifact requires an action after an alert of its monitors, and source code has no monitors"
    )]
    MonitorAction,
    /// The name is no identifier.
    #[error("`{0}` is not a valid name: use letters, digits and `_`, with a letter first")]
    Name(String),
    /// A template of C is wrong, which no artifact and no name can cause.
    #[error("the template of the header: {0}")]
    Template(String),
}

/// A table with what is known of its bins.
pub(super) struct Exported<'a> {
    pub(super) form: TableForm<'a>,
    pub(super) epsilon: Option<f32>,
    /// Whether each bin is empty.
    pub(super) empty: Vec<bool>,
    /// The bin of every 8-bit code, if the artifact holds them.
    pub(super) direct: Vec<u8>,
    /// The intervals of bins or ranges in their order; empty if the artifact has none. `None` for a bin without one.
    pub(super) intervals: Vec<Option<ProbInterval>>,
    /// The ranges of the score that the intervals are of; `None` if they are of the bins.
    pub(super) ranges: Option<ScoreBins<'a>>,
}

/// The tables of an artifact, under a name that is checked.
pub(super) fn exported<'a>(
    artifact: &Artifact<'a>,
    name: &str,
) -> Result<Vec<Option<Exported<'a>>>, ExportError> {
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_name {
        return Err(ExportError::Name(name.into()));
    }
    if artifact.monitor_action().is_some() {
        return Err(ExportError::MonitorAction);
    }
    let tables = artifact.tables();
    let has_intervals = has_intervals(artifact);
    let one = |index| {
        let found = tables.get(index)?;
        let is_empty = |bin| tables.bin_flags(index, bin as u16).contains(BinFlags::EMPTY);
        let direct = match found.form {
            TableForm::Codes(codes) if tables.has_direct_table() => {
                let score = |key| QuantizedScore::from_key(artifact.header().encoding, key).ok();
                (0..=255).filter_map(score).map(|score| codes.lookup(score).0 as u8).collect()
            }
            _ => Vec::new(),
        };
        let empty = (0..found.form.bins()).map(is_empty).collect();
        let bins = if has_intervals { tables.bins(index)? } else { 0 };
        let intervals = (0..bins).map(|bin| tables.interval(index, bin as u16)).collect();
        let ranges = tables.score_bins(index);
        Some(Exported { form: found.form, epsilon: found.epsilon, empty, direct, intervals, ranges })
    };
    Ok((0..tables.count()).map(one).collect())
}

/// The calibrator of an artifact that calibrates whole vectors.
pub(super) fn joint<'a>(artifact: &Artifact<'a>) -> Option<VectorCalibrator<'a>> {
    match artifact.calibrator() {
        Calibrator::Vector(joint @ (VectorCalibrator::Scaled(_) | VectorCalibrator::Binned(_))) => {
            Some(joint)
        }
        _ => None,
    }
}

/// Whether probabilities have an interval: of the score's bin, or of a range of the score.
fn has_intervals(artifact: &Artifact<'_>) -> bool {
    let tables = artifact.tables();
    let is_pair = |table| matches!(table, TableForm::VennAbers(_) | TableForm::MarginVennAbers(_));
    let is_venn_abers =
        (0..tables.count()).filter_map(|index| tables.get(index)).any(|found| is_pair(found.form));
    artifact.score_intervals().is_some()
        || (tables.has_intervals() && !is_venn_abers && artifact.header().reduction != Reduction::Normalized)
}

impl Exported<'_> {
    /// The table in decimals that give its bits again: from each score, margin or code on which probability, line by line; of a line
    /// between knots the knots, of a function and of rounded floats nothing. `lowest` is the least code, if scores are such.
    pub(super) fn decimals(&self, lowest: Option<i32>) -> Vec<String> {
        let pairs: Vec<String> = match &self.form {
            TableForm::Steps(table) => steps(table.edges(), table.values()),
            TableForm::MarginSteps(table) => steps(table.edges(), table.values()),
            TableForm::Randomized(table) => steps(table.edges(), table.values()),
            TableForm::MarginRandomized(table) => steps(table.edges(), table.values()),
            TableForm::Interpolated(table) => knots(table.x(), table.y()),
            TableForm::MarginInterpolated(table) => knots(table.x(), table.y()),
            TableForm::VennAbers(table) => between(table.edges(), table.p0(), table.p1()),
            TableForm::MarginVennAbers(table) => between(table.edges(), table.p0(), table.p1()),
            TableForm::Codes(table) => {
                codes(table.edges().iter().map(|&edge| edge.into()), table.values(), lowest)
            }
            TableForm::Compact(table) => {
                let edges = table.edges().iter().map(|&edge| edge.into());
                codes(edges, table.values(), lowest)
            }
            _ => Vec::new(),
        };
        let more = pairs.len().saturating_sub(SHOWN_BINS);
        let mut text = pairs[..pairs.len() - more].join("; ");
        if more > 0 {
            text += &format!("; and {more} more");
        }
        if text.is_empty() { Vec::new() } else { wrapped(&text) }
    }
}

/// As many bins are written in decimals.
const SHOWN_BINS: usize = 64;

fn steps(edges: &[f32], values: impl Iterator<Item = f32>) -> Vec<String> {
    let first = std::iter::once("below".to_owned());
    let from = first.chain(edges.iter().map(|edge| format!("{edge:?}")));
    from.zip(values).map(|(from, value)| format!("{from}: {value:?}")).collect()
}

fn knots(x: &[f32], y: &[f32]) -> Vec<String> {
    x.iter().zip(y).map(|(x, y)| format!("{x:?}: {y:?}")).collect()
}

fn between(edges: &[f32], p0: impl Iterator<Item = f32>, p1: impl Iterator<Item = f32>) -> Vec<String> {
    let first = std::iter::once("below".to_owned());
    let from = first.chain(edges.iter().map(|edge| format!("{edge:?}")));
    from.zip(p0.zip(p1)).map(|(from, (p0, p1))| format!("{from}: {p0:?} to {p1:?}")).collect()
}

fn codes(
    edges: impl Iterator<Item = i64>,
    values: impl Iterator<Item = f32>,
    lowest: Option<i32>,
) -> Vec<String> {
    let Some(lowest) = lowest else { return Vec::new() };
    let first = std::iter::once("below".to_owned());
    let from = first.chain(edges.map(|edge| (i64::from(lowest) + edge).to_string()));
    from.zip(values).map(|(from, value)| format!("{from}: {value:?}")).collect()
}

/// The type of a score in C.
pub(super) fn score_type(encoding: &ScoreEncoding) -> &'static str {
    let Some((lowest, _)) = encoding.code_range() else { return "float" };
    match (lowest < 0, encoding.is_byte()) {
        (false, true) => "uint8_t",
        (true, true) => "int8_t",
        (false, false) => "uint16_t",
        (true, false) => "int16_t",
    }
}

/// The first lines: what this is, and what it guarantees.
pub(super) fn title(stored: &StoredArtifact) -> Vec<String> {
    let artifact = &stored.artifact();
    let header = artifact.header();
    let encoding = match header.encoding {
        ScoreEncoding::F32 => String::new(),
        encoding => format!(", of scores in {encoding}"),
    };
    let encoding = match header.flags.contains(HeaderFlags::TOP2_MARGIN) {
        true => format!("{encoding}: the largest logit minus the second largest"),
        false => encoding,
    };
    let mut lines = vec![
        format!("calib {}, artifact {}:", env!("CARGO_PKG_VERSION"), artifact.identity()),
        format!(
            "{} ({}){encoding}, {}{}.",
            header.method,
            header.reduction,
            size_in_words(header.method, header.bins as usize)
                .map_or(String::new(), |bins| format!("{bins}, ")),
            points(artifact)
        ),
    ];
    if artifact.decision().is_some() {
        lines.push("The artifact's rule for decisions is not here.".into());
    }
    if let Some(groups) = artifact.groups().filter(|_| header.flags.contains(HeaderFlags::GROUPED)) {
        let names: Vec<String> =
            groups.names().enumerate().map(|(code, name)| format!("{code} {name}")).collect();
        let per_group = artifact.tables().count() / groups.count();
        lines.push(format!(
            "Each group has {per_group} of the tables, in the order of the groups: {}.",
            names.join(", ")
        ));
    }
    if header.reduction == Reduction::Normalized && artifact.tables().has_intervals() {
        lines.push("Probabilities that are divided by their sum have no intervals.".into());
    }
    let tables = artifact.tables();
    if (0..tables.count()).any(|table| tables.score_range(table).is_some()) {
        lines.push("Scores outside the range of the calibration observations are not marked here.".into());
    }
    if let Some(guarantee) = header.guarantee {
        // In decimals as short as they go, which of alpha are those that were asked for.
        lines.push(format!(
            "alpha {:?}, epsilon {:?}: see below for what they mean.",
            guarantee.alpha, guarantee.epsilon
        ));
    }
    lines.push(String::new());
    lines.extend(guarantee_text(stored).lines().iter().flat_map(|line| wrapped(line)));
    lines
}

/// Breaks a text into lines of up to 110 characters.
pub(super) fn wrapped(text: &str) -> Vec<String> {
    const WIDTH: usize = 110;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut().filter(|line| line.chars().count() + 1 + word.chars().count() <= WIDTH) {
            Some(line) => *line = format!("{line} {word}"),
            None => lines.push(word.into()),
        }
    }
    lines
}
