//! The band around the calibration curve.

use calib_core::artifact::Band;
use calib_core::predict::Output;
use calib_core::{Margin, ProbInterval, QuantizedScore, Score};

use crate::calibrator::{Opened, calib_calibrator_t};
use crate::error::{CALIB_ERROR_KIND, CALIB_ERROR_SCORE, Result, code};
use crate::memory::{OutParam, Span};
use crate::vectors::encoding_of_codes;

/// The band at a score. If a higher score never means a lower probability, the probability of an event lies in the band for every score
/// simultaneously. This fails with probability at most `alpha` over the labels of the calibration set.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct calib_band_t {
    /// The lower end.
    pub low: f32,
    /// The upper end.
    pub high: f32,
    /// The largest probability that the band does not hold for all scores.
    pub alpha: f32,
}

impl calib_band_t {
    /// A band at one score; none if there is no band, or it is of other scores.
    pub(crate) fn of(
        band: Option<Band<'_>>,
        at: impl FnOnce(&Band<'_>) -> Option<ProbInterval>,
    ) -> Result<Self> {
        let band = band.ok_or(CALIB_ERROR_KIND)?;
        let at = at(&band).ok_or(CALIB_ERROR_KIND)?;
        Ok(Self { low: at.lo, high: at.hi, alpha: band.alpha() })
    }
}

/// Writes the band at one output.
///
/// # Safety
///
/// As [`calib_band_score`].
unsafe fn band(
    calibrator: *const calib_calibrator_t,
    band: *mut calib_band_t,
    output: impl FnOnce(&Opened) -> Result<Output<'static>>,
) -> i32 {
    // SAFETY: the caller's.
    let opened = unsafe { Opened::look(calibrator) };
    let told = opened.and_then(|opened| {
        // SAFETY: the caller's.
        let place = unsafe { OutParam::new(band, &[&[Span::of(calibrator), opened.bytes()]]) }?;
        let artifact = opened.artifact().ok_or(CALIB_ERROR_KIND)?;
        let output = output(opened)?;
        place.write(calib_band_t::of(artifact.band(), |_| artifact.band_at(&output))?);
        Ok(())
    });
    code(told)
}

/// The band at a binary score, a float from 0 to 1. `CALIB_ERROR_KIND` if the artifact has no band, or accepts other scores; `band` is then left
/// as it was.
///
/// # Safety
///
/// Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_band_score(
    calibrator: *const calib_calibrator_t,
    score: f32,
    band: *mut calib_band_t,
) -> i32 {
    let output = |_: &Opened| Score::new(score).map(Output::Score).map_err(|_| CALIB_ERROR_SCORE);
    // SAFETY: the caller's.
    unsafe { self::band(calibrator, band, output) }
}

/// The band at a binary margin, any finite float.
///
/// # Safety
///
/// Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_band_margin(
    calibrator: *const calib_calibrator_t,
    margin: f32,
    band: *mut calib_band_t,
) -> i32 {
    let output = |_: &Opened| Margin::new(margin).map(Output::Margin).map_err(|_| CALIB_ERROR_SCORE);
    // SAFETY: the caller's.
    unsafe { self::band(calibrator, band, output) }
}

/// The band at a binary score's integer code, in the encoding that `calib_info` states.
///
/// # Safety
///
/// Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_band_code(
    calibrator: *const calib_calibrator_t,
    integer_code: i32,
    band: *mut calib_band_t,
) -> i32 {
    let output = |opened: &Opened| {
        let score = QuantizedScore::new(encoding_of_codes(opened.slot())?, integer_code);
        score.map(Output::Code).map_err(|_| CALIB_ERROR_SCORE)
    };
    // SAFETY: the caller's.
    unsafe { self::band(calibrator, band, output) }
}
