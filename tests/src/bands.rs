//! Scores around the edges of a band.

use calib_core::wire::Scores;
use calib_core::{Artifact, Margin, Score, ScoreEncoding};

/// The scores at every edge of both sides of an artifact's band, and those next to them; none if it has no band.
pub fn around_band_edges(artifact: &Artifact<'_>) -> Vec<Scores> {
    let encoding = artifact.header().encoding;
    let sides = artifact.band().map(|band| [band.lower().edges(), band.upper().edges()]);
    let edges = sides.into_iter().flatten().flatten();
    edges.flat_map(|&edge| [edge - 1, edge, edge + 1]).filter_map(|key| with_key(encoding, key)).collect()
}

/// A score with this key; `None` beyond the last.
fn with_key(encoding: ScoreEncoding, key: u32) -> Option<Scores> {
    match encoding {
        ScoreEncoding::F32 => Score::new(f32::from_bits(key)).ok().map(|score| Scores::Score(score.get())),
        ScoreEncoding::RoundedF32 if key > u16::MAX.into() => None,
        ScoreEncoding::RoundedF32 => Some(Scores::Score(key as f32 / f32::from(u16::MAX))),
        ScoreEncoding::Margin => Margin::from_key(key).map(|margin| Scores::Margin(margin.get())),
        ScoreEncoding::RoundedMargin => {
            Margin::from_key(key << 16).map(|margin| Scores::Margin(margin.get()))
        }
        codes => {
            let (lowest, highest) = codes.code_range()?;
            u16::try_from(key).ok().filter(|_| key <= highest.abs_diff(lowest)).map(Scores::Code)
        }
    }
}
