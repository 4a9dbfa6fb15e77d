//! What was fitted, in words: what is independent among the rows, and the bins.

use calib_core::Artifact;

use crate::fit::parameter_of;

/// Counts what is independent among the rows that were fitted to: the calibration points, or clusters of rows of which each
/// gave one.
///
/// ```
/// use calib_fit::artifact::points;
/// use calib_fit::{BinaryData, BinaryMethod, StoredArtifact, Umd, artifact_bytes, fit_binary};
///
/// let data = BinaryData::new(vec![0.125, 0.25, 0.75, 0.875], vec![false, true, false, true])?;
/// let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(2)), 0.1)?.of_clusters(80, 0);
/// let stored = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?)?;
/// assert_eq!(points(&stored.artifact()), "4 clusters (of their 80 rows one each is a calibration point)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn points(artifact: &Artifact<'_>) -> String {
    let n = artifact.header().n;
    match cluster_rows(artifact) {
        Some(rows) => format!("{n} clusters (of their {rows} rows one each is a calibration point)"),
        None => format!("{n} calibration points"),
    }
}

/// Returns how many rows there were of which one in each cluster was fitted to; `None` if every row was.
pub fn cluster_rows(artifact: &Artifact<'_>) -> Option<u64> {
    parameter_of(artifact.header().provenance.parameters, "cluster-rows")?.parse().ok()
}

/// The number of bins in words; `None` of a function, which has none.
///
/// ```
/// use calib_fit::artifact::bins_in_words;
///
/// assert_eq!([0, 1, 20].map(bins_in_words), [None, Some("1 bin".into()), Some("20 bins".into())]);
/// ```
pub fn bins_in_words(bins: usize) -> Option<String> {
    match bins {
        0 => None,
        1 => Some("1 bin".into()),
        more => Some(format!("{more} bins")),
    }
}
