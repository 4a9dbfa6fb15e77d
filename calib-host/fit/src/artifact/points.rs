//! What was fitted, in words: what is independent among the rows, and the bins.

use calib_core::Artifact;
use calib_core::artifact::Method;

use crate::fit::parameter_of;
use crate::stats::thousands;

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
/// assert_eq!(points(&stored.artifact()), "4 clusters (of their 80 rows one each is a calibration observation)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn points(artifact: &Artifact<'_>) -> String {
    let n = thousands(artifact.header().n);
    match (cluster_rows(artifact), counting_devices(artifact)) {
        (Some(rows), _) => {
            format!("{n} clusters (of their {} rows one each is a calibration observation)", thousands(rows))
        }
        (None, Some(1)) => format!("{n} outcomes that 1 device counted"),
        (None, Some(devices)) => format!("{n} outcomes that {} devices counted", thousands(devices)),
        (None, None) => format!("{n} calibration observations"),
    }
}

/// The parameter that says how many devices counted the outcomes that a calibrator was made of.
pub(crate) const COUNTING_DEVICES: &str = "counting-devices";

/// Returns how many devices counted the outcomes that a calibrator was made of; `None` if it was fitted to rows.
pub(super) fn counting_devices(artifact: &Artifact<'_>) -> Option<u64> {
    parameter_of(artifact.header().provenance.parameters, COUNTING_DEVICES)?.parse().ok()
}

/// What has to be so for the guarantee of a calibrator that was made of counted outcomes, besides what a fit to rows takes: each in short,
/// and in full.
pub(super) const OF_COUNTED_OUTCOMES: [[&str; 2]; 2] = [
    [
        "which outcomes were reported, and when, depends on neither the label nor anything within the bin that predicts it",
        "Which outcomes were reported, and when, depends on neither the label nor anything within the bin that predicts it: \
         not on the score, not on a suspicion. A prediction counts when the time to follow it up is over. This time is the \
         same for both labels.",
    ],
    [
        "the counters were read at a time set in advance, not for what they showed",
        "The counters were read at a time that was set in advance, and not for what they showed. If an alarm about outcomes \
         was the reason, only outcomes that were reported after the alarm count.",
    ],
];

/// Returns how many rows there were of which one in each cluster was fitted to; `None` if every row was.
pub fn cluster_rows(artifact: &Artifact<'_>) -> Option<u64> {
    parameter_of(artifact.header().provenance.parameters, "cluster-rows")?.parse().ok()
}

/// The number of bins of a method's table in words; `None` of a function, which has none. A blend and a smooth function are stored in steps.
///
/// ```
/// use calib_core::artifact::Method;
/// use calib_fit::artifact::size_in_words;
///
/// assert_eq!([0, 1, 20].map(|bins| size_in_words(Method::Umd, bins)), [None, Some("1 bin".into()), Some("20 bins".into())]);
/// assert_eq!(size_in_words(Method::Blend, 144), Some("144 steps".into()));
/// assert_eq!(size_in_words(Method::Beta, 0), None);
/// ```
pub fn size_in_words(method: Method, bins: usize) -> Option<String> {
    use Method::{Beta, Blend, Platt, Quadratic, Temperature, Unchanged};
    let thing = match method {
        Blend | Platt | Beta | Temperature | Quadratic | Unchanged => "step",
        _ => "bin",
    };
    (bins > 0).then(|| number_of(bins as u64, thing))
}

/// So many of a thing, with its plural where it is not one.
///
/// ```
/// use calib_fit::artifact::number_of;
///
/// assert_eq!([0, 1, 2000].map(|count| number_of(count, "bin")), ["0 bins", "1 bin", "2,000 bins"]);
/// ```
pub fn number_of(count: u64, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", thousands(count))
}
