//! How accurate an artifact's operating points are on labelled rows.

use std::fmt;

use calib_core::Artifact;
use serde::Serialize;

use super::accuracy::DiagnosticAccuracy;
use crate::artifact::score_words;
use crate::stats::Clusters;

/// A labelled row by the order key that the device compares: the bits of a probability, the [key](calib_core::Margin::key) of
/// a margin or of a [code](calib_core::QuantizedScore::key).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyedRow {
    /// The key of the row's score.
    pub key: u32,
    /// The code of the row's group; 0 if thresholds are the same for all.
    pub group: usize,
    /// Whether the label is 1.
    pub label: bool,
}

/// Which scores a test is positive for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperatingTest {
    /// Those from the upper threshold up: the device raises.
    Raised,
    /// Those from the lower threshold up: the device does not clear.
    NotCleared,
}

/// The accuracy of a threshold.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OperatingAccuracy {
    /// The group whose threshold it is; `None` if all have the same.
    pub group: Option<String>,
    /// Which scores the test is positive for.
    pub test: OperatingTest,
    /// The threshold in words, such as "a score of 0.25"; `None` if no score reaches it.
    pub threshold: Option<String>,
    /// Whether the device raises its alarm from this threshold on, and not below.
    pub is_alarm: bool,
    /// The counts, and what follows from them.
    #[serde(flatten)]
    pub accuracy: DiagnosticAccuracy,
}

impl fmt::Display for OperatingAccuracy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(group) = &self.group {
            write!(f, "{group}: ")?;
        }
        f.write_str(match self.test {
            OperatingTest::Raised => "raised ",
            OperatingTest::NotCleared => "not cleared ",
        })?;
        match &self.threshold {
            Some(score) if self.is_alarm => write!(f, "at {score} or more, the alarm"),
            Some(score) => write!(f, "at {score} or more"),
            None => f.write_str("never"),
        }
    }
}

/// Counts what an artifact's operating points say of labelled rows, by group; empty if it has none. A guarantee is about the population: its
/// share of these rows may be below the guaranteed one by chance, and the interval tells how far.
///
/// # Panics
///
/// If alpha is not in `(0, 1)`, or there are clusters of another number of rows.
pub fn operating_accuracies(
    artifact: &Artifact<'_>,
    rows: &[KeyedRow],
    alpha: f64,
    clusters: Option<&Clusters>,
) -> Vec<OperatingAccuracy> {
    let Some(points) = artifact.operating_points() else { return Vec::new() };
    let names: Vec<&str> = artifact.groups().map_or(Vec::new(), |groups| groups.names().collect());
    let is_by_group = points.groups() > 1;
    let mut found = Vec::new();
    for (group, thresholds) in points.all().enumerate() {
        let own: Vec<usize> =
            (0..rows.len()).filter(|&row| !is_by_group || rows[row].group == group).collect();
        let clusters = clusters.map(|clusters| clusters.part(own.iter().copied()));
        let accuracy = |key: u32| {
            let tests: Vec<(bool, bool)> =
                own.iter().map(|&row| (rows[row].key >= key, rows[row].label)).collect();
            DiagnosticAccuracy::new(&tests, alpha, clusters.as_ref())
        };
        let one = |test, key, is_alarm| OperatingAccuracy {
            group: names.get(group).filter(|_| is_by_group).map(|&name| name.to_owned()),
            test,
            threshold: score_words(&points.encoding(), key),
            is_alarm,
            accuracy: accuracy(key),
        };
        let (lower, upper) = (thresholds.lower.key, thresholds.upper.key);
        found.push(one(OperatingTest::Raised, upper, !points.refers() || !points.refer_raises()));
        if points.refers() {
            found.push(one(OperatingTest::NotCleared, lower, points.refer_raises()));
        }
    }
    found
}
