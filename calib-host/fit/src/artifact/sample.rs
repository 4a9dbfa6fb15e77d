//! What an artifact keeps of the points that it was fitted to.

use calib_core::artifact::{Header, HeaderFlags};

use crate::binary::{Bin, TabulatedModel};
use crate::data::RowsHash;
use crate::fit::Fit;
use crate::points::Spread;

use super::monitors::monitor_scores;
use super::points::counting_devices;
use super::stored::StoredArtifact;

/// The kind of the section of [`SampleFacts`]: optional, so that firmware and older hosts skip it.
pub const SAMPLE_SECTION: u16 = 66;

/// What an artifact keeps of the points that it was fitted to, for whoever judges or uses it: the device does not read it.
///
/// The section has kind 66 and 32 bytes: [`RowsHash::to_bytes`], then little-endian the `f32`s `tied` and `heaviest`, and the `u32`s
/// `pure_bins` and `fewest_in_pure`. If the number of positives is known it follows as a `u64`. Later versions may append to it.
///
/// ```
/// use calib_fit::{ArtifactOptions, BinaryData, BinaryMethod, Isotonic, StoredArtifact, artifact_bytes, fit_binary};
///
/// let data = BinaryData::new(vec![0.25, 0.5, 0.5, 0.75], vec![false, true, false, true])?;
/// let fit = fit_binary(&data, &BinaryMethod::Isotonic(Isotonic::default()), 0.1)?;
/// let fit = fit.with_spreads([Some(data.spread()?)]);
/// let options = ArtifactOptions::default().rows(Some(data.rows_hash()?));
/// let sample = StoredArtifact::from_bytes(&artifact_bytes(&fit, &options)?)?.sample().unwrap();
/// assert_eq!(sample.rows, data.rows_hash()?);
/// // Half of the points share a score; the outer bins say 0 and 1, on the word of one point each.
/// assert_eq!((sample.tied, sample.pure_bins, sample.fewest_in_pure), (0.5, 2, Some(1)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SampleFacts {
    /// The hash of the rows.
    pub rows: RowsHash,
    /// The share of points whose score another point of their table has, too: of the table where it is the largest, of
    /// those with a guarantee if there are such. NaN if
    /// that was not looked at.
    pub tied: f32,
    /// The share of points with the most frequent score of their table, likewise.
    pub heaviest: f32,
    /// The number of bins that say exactly 0 or 1, because all their points have the same label.
    pub pure_bins: u32,
    /// The number of points of the emptiest of these; 0 if there are none, and `None` of weighted points, or if it is not below `u32::MAX`.
    pub fewest_in_pure: Option<u32>,
    /// The number of points with label 1; `None` if there are several classes or real weights, or if an older version wrote the
    /// artifact.
    pub positives: Option<u64>,
}

impl SampleFacts {
    pub(crate) fn of(fit: &Fit, rows: RowsHash) -> Self {
        let tables = || fit.tables.iter().flatten();
        // What is said of ties is about tables of which something is guaranteed, where there are such.
        let guaranteed = tables().any(|table| table.epsilon.is_some());
        let counted = || tables().filter(|table| table.epsilon.is_some() == guaranteed);
        let spreads = || counted().filter_map(|table| table.spread);
        let largest = |share: fn(Spread) -> f64| spreads().map(share).fold(f64::NAN, f64::max) as f32;
        let pure =
            || tables().flat_map(|table| table.model.bins()).filter(|bin| is_pure(bin)).map(|bin| bin.n);
        // Steps of functions rest on no points of their own.
        let steps = || {
            tables().filter_map(|table| table.model.tabulated()).map(TabulatedModel::extremes).sum::<usize>()
        };
        let narrow = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        Self {
            rows,
            tied: largest(|spread| spread.tied),
            heaviest: largest(|spread| spread.heaviest),
            pure_bins: narrow((pure().count() + steps()) as u64),
            // Weights are no numbers of points.
            fewest_in_pure: match pure().min() {
                None => Some(0).filter(|_| steps() == 0),
                Some(n) => u32::try_from(n).ok().filter(|_| !fit.weighted),
            },
            positives: fit.positives,
        }
    }

    /// What is known of the rows of a calibrator of whole vectors.
    pub(crate) fn of_rows(rows: RowsHash) -> Self {
        Self {
            rows,
            tied: f32::NAN,
            heaviest: f32::NAN,
            pure_bins: 0,
            fewest_in_pure: Some(0),
            positives: None,
        }
    }

    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let Self { rows, tied, heaviest, pure_bins, fewest_in_pure, positives } = self;
        let words = [tied.to_bits(), heaviest.to_bits(), pure_bins, fewest_in_pure.unwrap_or(u32::MAX)];
        let facts = rows.to_bytes().into_iter().chain(words.into_iter().flat_map(u32::to_le_bytes));
        facts.chain(positives.into_iter().flat_map(u64::to_le_bytes)).collect()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (rows, rest) = bytes.split_first_chunk()?;
        let word = |place: usize| rest.get(4 * place..)?.first_chunk().copied().map(u32::from_le_bytes);
        Some(Self {
            rows: RowsHash::from_bytes(*rows),
            tied: f32::from_bits(word(0)?),
            heaviest: f32::from_bits(word(1)?),
            pure_bins: word(2)?,
            fewest_in_pure: Some(word(3)?).filter(|&fewest| fewest < u32::MAX),
            positives: rest.get(16..).and_then(|rest| rest.first_chunk().copied()).map(u64::from_le_bytes),
        })
    }
}

impl SampleFacts {
    /// Whether these are facts of as many points as the header says, which every table has.
    fn agrees(&self, header: &Header<'_>, tables: usize) -> bool {
        let is_share = |share: f32| share.is_nan() || (0.0..=1.0).contains(&share);
        let Self { tied, heaviest, pure_bins, fewest_in_pure, positives, .. } = *self;
        is_share(tied)
            && is_share(heaviest)
            && u64::from(pure_bins) <= header.n.saturating_mul(tables as u64)
            && fewest_in_pure
                .is_none_or(|fewest| u64::from(fewest) <= header.n && (fewest == 0) == (pure_bins == 0))
            && positives.is_none_or(|positives| positives <= header.n)
    }
}

/// Whether all points of a bin have the same label, and its value says so.
fn is_pure(bin: &Bin) -> bool {
    bin.n > 0 && (bin.value == 0.0 || bin.value == 1.0)
}

impl StoredArtifact {
    /// What the artifact keeps of the points that it was fitted to; `None` if it is from an older version, or from a library that
    /// was not told the rows.
    pub fn sample(&self) -> Option<SampleFacts> {
        let payload = self.sections().find(|(kind, ..)| *kind == SAMPLE_SECTION)?.2;
        let sample = SampleFacts::from_bytes(payload)?;
        let is_weighted = self.artifact().header().flags.contains(HeaderFlags::WEIGHTED);
        Some(SampleFacts { fewest_in_pure: sample.fewest_in_pure.filter(|_| !is_weighted), ..sample })
    }

    /// Whether the numbers of calibration points in all sections go together.
    pub(super) fn counts_agree(&self) -> bool {
        let artifact = self.artifact();
        let header = artifact.header();
        let n = header.n;
        let has_sample = self.sections().any(|(kind, ..)| kind == SAMPLE_SECTION);
        let sample =
            self.sample().map_or(!has_sample, |sample| sample.agrees(header, artifact.tables().count()));
        // Rules beside tables may come from other rows.
        let is_alone = header.method.has_no_calibrator();
        let points = artifact.operating_points().filter(|_| is_alone).map_or(0, |points| {
            points
                .all()
                .map(|group| u64::from(group.upper.positives) + u64::from(group.upper.negatives))
                .sum()
        });
        let quantiles = artifact.prediction_sets().filter(|_| is_alone).map_or(0, |sets| {
            let classes = if sets.is_by_class() { sets.classes() } else { 1 };
            (0..classes)
                .filter_map(|class| sets.quantile(class))
                .map(|quantile| u64::from(quantile.rows))
                .sum()
        });
        let monitored = artifact.monitors().map_or(0, |monitors| {
            let references = (0..monitors.count()).filter_map(|table| monitors.to_count(table));
            references.map(|reference| u64::from(reference.gaps()) - 1).max().unwrap_or(0)
        });
        // What was made of counted outcomes keeps the monitors of the calibrator before, of more points.
        let compared = match counting_devices(&artifact) {
            Some(_) => u64::MAX,
            None => monitor_scores(&artifact).unwrap_or(n),
        };
        n <= MOST_POINTS && sample && points <= n && quantiles <= n && monitored <= compared
    }
}

/// The most points that a fit takes: the numbers up to here are all floats.
const MOST_POINTS: u64 = 1 << 53;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_later_versions_append_is_skipped_and_what_is_cut_off_is_nothing() {
        let rows = RowsHash::of_score(0.25, true);
        let unknown = SampleFacts {
            rows,
            tied: 0.5,
            heaviest: 0.25,
            pure_bins: 3,
            fewest_in_pure: Some(7),
            positives: None,
        };
        let known = SampleFacts { positives: Some(1 << 40), ..unknown };
        let (older, bytes) = (unknown.to_bytes(), known.to_bytes());
        assert_eq!((older.len(), bytes.len()), (32, 40));
        assert_eq!(SampleFacts::from_bytes(&[&bytes[..], &[1; 4]].concat()), Some(known));
        assert_eq!(SampleFacts::from_bytes(&bytes), Some(known));
        for cut in 32..40 {
            assert_eq!(SampleFacts::from_bytes(&bytes[..cut]), Some(unknown));
        }
        assert_eq!(SampleFacts::from_bytes(&older[..31]), None);
    }
}
