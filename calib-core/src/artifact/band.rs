//! A band around the calibration curve.

use super::error::ParseError;
use super::header::Header;
use super::pool::WordWriter;
use super::score_intervals::{are_edges, keys_of};
use crate::outcome::ProbInterval;
use crate::score::{FloatScore, ONE_BITS, QuantizedScore, ScoreEncoding};
use crate::table::search::count_up_to;

/// A band around the calibration curve, whatever calibrator gives the probability.
///
/// With probability at least `1 - alpha` over the labels of the calibration set: if a higher score never means a lower probability, the
/// probability of an event lies in the band for **every** score simultaneously. This holds given the calibration scores.
///
/// ```
/// use calib_core::{Artifact, Score};
///
/// # mod sample { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/sample.rs")); }
/// # let bytes = sample::with_band();
/// let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
/// let band = artifact.band().unwrap();
/// let at = |score| band.at(Score::new(score).unwrap()).map(|interval| (interval.lo, interval.hi));
/// assert_eq!((at(0.25), at(0.5), at(0.75)), (Some((0.0, 0.375)), Some((0.25, 0.375)), Some((0.25, 1.0))));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Band<'a> {
    encoding: ScoreEncoding,
    alpha: f32,
    lower: BandSide<'a>,
    upper: BandSide<'a>,
}

/// A side of a band: a function of the score that rises in steps.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct BandSide<'a> {
    edges: &'a [u32],
    values: &'a [u32],
}

/// What a [`Band`] section is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BandParts<'p> {
    /// The failure probability of the whole band, in `(0, 1)`.
    pub alpha: f32,
    /// The keys at which the lower side rises, and its values, one more than edges. The caller rounds them down.
    pub lower: (&'p [u32], &'p [f32]),
    /// The same of the upper side. The caller rounds its values up.
    pub upper: (&'p [u32], &'p [f32]),
}

impl<'a> Band<'a> {
    /// The largest number of edges of a side.
    pub const MAX_EDGES: usize = 255;

    /// Reads the payload of a section, and returns its words.
    pub(super) fn parse(payload: &'a [u8], header: &Header<'_>) -> Result<&'a [u32], ParseError> {
        let words: &[u32] = bytemuck::try_cast_slice(payload).map_err(|_| ParseError::Band)?;
        let fits = Self::trusted(words, header.encoding).is_some_and(|band| band.fits(header));
        if fits { Ok(words) } else { Err(ParseError::Band) }
    }

    /// Divides the words of a section, of which only the lengths are checked.
    pub(super) fn trusted(words: &'a [u32], encoding: ScoreEncoding) -> Option<Self> {
        let (&[alpha, edges], rest) = words.split_first_chunk()?;
        let edges = edges as usize;
        if edges > Self::MAX_EDGES {
            return None;
        }
        let (lower, upper) = rest.split_at_checked(2 * edges + 1)?;
        let (lower, upper) = (BandSide::of(lower)?, BandSide::of(upper)?);
        Some(Self { encoding, alpha: f32::from_bits(alpha), lower, upper })
    }

    /// Tells whether edges are ascending scores, values are ascending probabilities, and the lower side is nowhere above the upper one.
    fn fits(&self, header: &Header<'_>) -> bool {
        let keys @ [lowest, _] = keys_of(header);
        // The upper side never falls, so it is enough to look where the lower side rises.
        let mut rises = self.lower.edges.iter().chain([&lowest]);
        self.alpha > 0.0
            && self.alpha < 1.0
            && [&self.lower, &self.upper].iter().all(|side| side.fits(keys))
            && rises.all(|&key| self.lower.bits(key) <= self.upper.bits(key))
    }

    /// Returns the failure probability of the whole band.
    pub const fn alpha(&self) -> f32 {
        self.alpha
    }

    /// Returns the lower side.
    pub const fn lower(&self) -> BandSide<'a> {
        self.lower
    }

    /// Returns the upper side.
    pub const fn upper(&self) -> BandSide<'a> {
        self.upper
    }

    /// Returns the band at a score or a margin; `None` if the artifact takes other scores.
    #[inline]
    pub fn at<S: FloatScore>(&self, score: S) -> Option<ProbInterval> {
        match self.encoding {
            ScoreEncoding::F32 | ScoreEncoding::RoundedF32 if S::IS_MARGIN => None,
            ScoreEncoding::Margin | ScoreEncoding::RoundedMargin if !S::IS_MARGIN => None,
            ScoreEncoding::F32 | ScoreEncoding::Margin => Some(self.at_key(score.key())),
            ScoreEncoding::RoundedF32 | ScoreEncoding::RoundedMargin => {
                Some(self.at_key(score.rounded_key().into()))
            }
            _ => None,
        }
    }

    /// Returns the band at the code of a score; `None` if the artifact takes other scores.
    #[inline]
    pub fn at_code(&self, code: QuantizedScore) -> Option<ProbInterval> {
        (code.encoding() == self.encoding).then(|| self.at_key(code.key().into()))
    }

    /// Returns the band at a key, as [edges](BandSide::edges) are keys.
    #[inline]
    pub fn at_key(&self, key: u32) -> ProbInterval {
        let [lo, hi] = [self.lower.bits(key), self.upper.bits(key)].map(f32::from_bits);
        ProbInterval { lo, hi }
    }
}

impl<'a> BandSide<'a> {
    /// Divides words into edges and values, one more.
    fn of(words: &'a [u32]) -> Option<Self> {
        let (edges, values) = words.split_at_checked(words.len() / 2)?;
        if values.len() == edges.len() + 1 { Some(Self { edges, values }) } else { None }
    }

    // One for both sides.
    #[inline(never)]
    fn fits(&self, keys: [u32; 2]) -> bool {
        self.edges.len() <= Band::MAX_EDGES
            && are_edges(self.edges, keys)
            // Floats that are not negative are in the order of their bits.
            && self.values.is_sorted_by(|a, b| a <= b)
            && self.values.iter().all(|&value| value <= ONE_BITS)
    }

    /// Returns the keys at which the side rises: the bits of a probability, or the key of a margin or code; of 16-bit tables a rounded key.
    pub const fn edges(&self) -> &'a [u32] {
        self.edges
    }

    /// Returns the values in ascending order, one more than edges: a score at an edge has the value above it.
    pub fn values(&self) -> impl ExactSizeIterator<Item = f32> + use<'a> {
        self.values.iter().copied().map(f32::from_bits)
    }

    /// Returns the bits of the value at a key.
    fn bits(&self, key: u32) -> u32 {
        let step = count_up_to(self.edges, key);
        self.values.get(step).copied().unwrap_or_default()
    }
}

impl BandParts<'_> {
    /// Writes a payload, and returns its length in bytes; `None` if it does not fit, or a side has no value more than edges.
    pub(super) fn write(&self, space: &mut [u8]) -> Option<usize> {
        let edges = u32::try_from(self.lower.0.len()).ok()?;
        let mut out = WordWriter::new(space);
        out.words(&[self.alpha.to_bits(), edges])?;
        for (edges, values) in [self.lower, self.upper] {
            out.words(edges)?;
            out.floats(values.iter().copied())?;
            (edges.len() + 1 == values.len()).then_some(())?;
        }
        Some(out.len_bytes())
    }
}
