//! What an artifact keeps of the points that it was fitted to.

use calib_core::artifact::{ArtifactWriter, Header, HeaderFlags, WriteError};

use crate::binary::{Bin, TabulatedModel};
use crate::data::{RowsDigest, RowsHash, RowsSketch};
use crate::fit::Fit;
use crate::intervals::Intervals;
use crate::points::ScoreSummary;
use crate::stats::RangeMoments;

use super::monitors::monitor_scores;
use super::points::counting_devices;
use super::stored::StoredArtifact;

/// The kind of the section of [`SampleFacts`]: optional, so that firmware and older hosts skip it.
pub const SAMPLE_SECTION: u16 = 66;

/// The kind of the section with the sketch of the calibration rows, by which test rows among them are noticed: optional, likewise.
///
/// It has 16 bytes: the number of rows as a `u64`, and two `u32`s. These are how many of the lowest of 64 bits are left out of hashes, and
/// the limit that all hashes are below, without these bits. Then of each of up to 64 different rows, in ascending order, a `u32`: in the
/// upper 24 bits its hash,
/// without these, and in the lower 8 how often the row occurs, up to 255. All is little-endian.
pub const SKETCH_SECTION: u16 = 67;

/// What an artifact keeps of the points that it was fitted to, for anyone who judges or uses it: the device does not read it.
///
/// The section has kind 66 and 32 bytes: [`RowsHash::to_bytes`], then little-endian the `f32`s `tied` and `heaviest`, and the `u32`s
/// `pure_bins` and `fewest_in_pure`. If the number of positives is known, it follows as a `u64`. If there are [`ClassRanges`], their number of
/// ranges follows as a `u32`, and then the `f32`s of the means and the variances, of the negatives before the positives. Later versions may append
/// to it.
///
/// ```
/// use calib_fit::{ArtifactOptions, BinaryData, BinaryMethod, Isotonic, StoredArtifact, artifact_bytes, fit_binary};
///
/// let data = BinaryData::new(vec![0.25, 0.5, 0.5, 0.75], vec![false, true, false, true])?;
/// let fit = fit_binary(&data, &BinaryMethod::Isotonic(Isotonic::default()), 0.1)?;
/// let fit = fit.with_score_summaries([Some(data.score_summary()?)]);
/// let options = ArtifactOptions::default().rows(Some(data.rows_digest()?));
/// let sample = StoredArtifact::from_bytes(&artifact_bytes(&fit, &options)?)?.sample().unwrap();
/// assert_eq!(sample.rows, data.rows_digest()?.hash);
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
    /// How the ranges of the score are distributed in either class; `None` if there is not one table with such ranges.
    pub ranges: Option<ClassRanges>,
}

/// How the ranges of the score, or the bins, are distributed among the calibration rows of either class: the negatives, then the positives. See
/// [`RangeMoments`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ClassRanges {
    /// The number of ranges.
    pub count: u32,
    /// The mean of each class.
    pub means: [f32; 2],
    /// The variance of each class.
    pub variances: [f32; 2],
}

impl ClassRanges {
    /// Of the ranges beside the calibrator, or else of its bins, if their edges depend on no label.
    fn of(fit: &Fit, beside: Option<&Intervals>) -> Option<Self> {
        let [Some(table)] = &fit.tables[..] else { return None };
        let counts: Vec<(u64, u64)> = match beside {
            Some(found) => {
                found.tables().first()?.as_ref()?.bins().iter().map(|bin| (bin.n, bin.positives)).collect()
            }
            None if table.epsilon.is_some() && !fit.weighted => {
                table.model.bins().iter().map(|bin| (bin.n, bin.positives)).collect()
            }
            None => return None,
        };
        let of_class =
            |rows: fn(&(u64, u64)) -> u64| RangeMoments::of(&counts.iter().map(rows).collect::<Vec<_>>());
        let (negatives, positives) = (of_class(|range| range.0 - range.1)?, of_class(|range| range.1)?);
        Some(Self {
            count: counts.len() as u32,
            means: [negatives.mean as f32, positives.mean as f32],
            variances: [negatives.variance as f32, positives.variance as f32],
        })
    }

    fn words(self) -> [u32; 5] {
        let Self { count, means: [mean0, mean1], variances: [variance0, variance1] } = self;
        [count, mean0.to_bits(), mean1.to_bits(), variance0.to_bits(), variance1.to_bits()]
    }

    fn from_words(words: [u32; 5]) -> Self {
        let [count, numbers @ ..] = words;
        let [mean0, mean1, variance0, variance1] = numbers.map(f32::from_bits);
        Self { count, means: [mean0, mean1], variances: [variance0, variance1] }
    }
}

impl SampleFacts {
    pub(crate) fn of(fit: &Fit, rows: RowsHash, beside: Option<&Intervals>) -> Self {
        let tables = || fit.tables.iter().flatten();
        // What is said of ties is about tables of which something is guaranteed, where there are such.
        let guaranteed = tables().any(|table| table.epsilon.is_some());
        let counted = || tables().filter(|table| table.epsilon.is_some() == guaranteed);
        let score_summaries = || counted().filter_map(|table| table.score_summary);
        let largest =
            |share: fn(ScoreSummary) -> f64| score_summaries().map(share).fold(f64::NAN, f64::max) as f32;
        let pure =
            || tables().flat_map(|table| table.model.bins()).filter(|bin| is_pure(bin)).map(|bin| bin.n);
        // Steps of functions rest on no separate points.
        let steps = || {
            tables().filter_map(|table| table.model.tabulated()).map(TabulatedModel::extremes).sum::<usize>()
        };
        let narrow = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        Self {
            rows,
            tied: largest(|score_summary| score_summary.tied),
            heaviest: largest(|score_summary| score_summary.heaviest),
            pure_bins: narrow((pure().count() + steps()) as u64),
            // Weights are no numbers of points.
            fewest_in_pure: match pure().min() {
                None => Some(0).filter(|_| steps() == 0),
                Some(n) => u32::try_from(n).ok().filter(|_| !fit.weighted),
            },
            positives: fit.positives,
            ranges: ClassRanges::of(fit, beside),
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
            ranges: None,
        }
    }

    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let Self { rows, tied, heaviest, pure_bins, fewest_in_pure, positives, ranges } = self;
        let words = [tied.to_bits(), heaviest.to_bits(), pure_bins, fewest_in_pure.unwrap_or(u32::MAX)];
        let facts = rows.to_bytes().into_iter().chain(words.into_iter().flat_map(u32::to_le_bytes));
        // What is behind the positives needs them.
        let ranges = ranges.filter(|_| positives.is_some()).into_iter().flat_map(ClassRanges::words);
        let positives = positives.into_iter().flat_map(u64::to_le_bytes);
        facts.chain(positives).chain(ranges.flat_map(u32::to_le_bytes)).collect()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (rows, rest) = bytes.split_first_chunk()?;
        let word = |place: usize| rest.get(4 * place..)?.first_chunk().copied().map(u32::from_le_bytes);
        let ranges: Option<Vec<u32>> = (6..11).map(word).collect();
        Some(Self {
            rows: RowsHash::from_bytes(*rows),
            tied: f32::from_bits(word(0)?),
            heaviest: f32::from_bits(word(1)?),
            pure_bins: word(2)?,
            fewest_in_pure: Some(word(3)?).filter(|&fewest| fewest < u32::MAX),
            positives: rest.get(16..).and_then(|rest| rest.first_chunk().copied()).map(u64::from_le_bytes),
            ranges: ranges.and_then(|words| Some(ClassRanges::from_words(words.try_into().ok()?))),
        })
    }
}

impl SampleFacts {
    /// Whether these are facts of as many points as the header says, which every table has.
    fn agrees(&self, header: &Header<'_>, tables: usize) -> bool {
        let is_share = |share: f32| share.is_nan() || (0.0..=1.0).contains(&share);
        let Self { tied, heaviest, pure_bins, fewest_in_pure, positives, ranges, .. } = *self;
        is_share(tied)
            && is_share(heaviest)
            && u64::from(pure_bins) <= header.n.saturating_mul(tables as u64)
            && fewest_in_pure
                .is_none_or(|fewest| u64::from(fewest) <= header.n && (fewest == 0) == (pure_bins == 0))
            && positives.is_none_or(|positives| positives <= header.n)
            && ranges.is_none_or(|ranges| ranges.variances.iter().all(|&variance| variance >= 0.0))
    }
}

/// Writes what is kept of the rows: the facts, and the sketch if there are any rows.
pub(super) fn write_rows(
    facts: SampleFacts,
    rows: &RowsDigest,
    writer: &mut ArtifactWriter<'_>,
) -> Result<(), WriteError> {
    writer.section(SAMPLE_SECTION, false, &facts.to_bytes())?;
    match rows.sketch.is_empty() {
        true => Ok(()),
        false => writer.section(SKETCH_SECTION, false, &rows.sketch.to_bytes()),
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

    /// How the ranges of the score that the artifact answers with are distributed among the negatives and among the positives that it
    /// was fitted to. It is `None` if that is not known.
    pub fn class_ranges(&self) -> Option<(usize, [RangeMoments; 2])> {
        let artifact = self.artifact();
        let sample = self.sample()?;
        let (ranges, positives) = (sample.ranges?, sample.positives?);
        let count = match artifact.score_intervals() {
            Some(found) => found.table(0)?.intervals().len(),
            None => artifact.tables().get(0)?.form.bins(),
        };
        let of = |class: usize, n: u64| {
            let (mean, variance) = (ranges.means[class].into(), ranges.variances[class].into());
            RangeMoments { n, mean, variance }
        };
        let negatives = artifact.header().n.checked_sub(positives)?;
        (count == ranges.count as usize).then(|| (count, [of(0, negatives), of(1, positives)]))
    }

    /// The sketch of the rows that the artifact was fitted to; `None` if it has none.
    pub fn sketch(&self) -> Option<RowsSketch> {
        RowsSketch::from_bytes(self.sections().find(|(kind, ..)| *kind == SKETCH_SECTION)?.2)
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
            ranges: None,
        };
        let known = SampleFacts { positives: Some(1 << 40), ..unknown };
        let ranges = ClassRanges { count: 15, means: [-0.5, 0.75], variances: [0.25, 0.125] };
        let ranged = SampleFacts { ranges: Some(ranges), ..known };
        assert_eq!(SampleFacts { positives: None, ..ranged }.to_bytes(), unknown.to_bytes());
        let all = ranged.to_bytes();
        assert_eq!((all.len(), SampleFacts::from_bytes(&all)), (60, Some(ranged)));
        for cut in 40..60 {
            assert_eq!(SampleFacts::from_bytes(&all[..cut]), Some(known));
        }
        let (older, bytes) = (unknown.to_bytes(), known.to_bytes());
        assert_eq!((older.len(), bytes.len()), (32, 40));
        assert_eq!(SampleFacts::from_bytes(&[&all[..], &[1; 4]].concat()), Some(ranged));
        assert_eq!(SampleFacts::from_bytes(&bytes), Some(known));
        for cut in 32..40 {
            assert_eq!(SampleFacts::from_bytes(&bytes[..cut]), Some(unknown));
        }
        assert_eq!(SampleFacts::from_bytes(&older[..31]), None);
    }
}
