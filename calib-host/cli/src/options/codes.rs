//! The options for scores that are integer codes.

use calib_core::ScoreEncoding;
use calib_fit::artifact::CodeType;
use calib_fit::names::Named;
use clap::Args;

use crate::error::Error;

/// What kind of number a score is on the device.
#[derive(Args)]
#[command(next_help_heading = "Scores as integers")]
pub(crate) struct EncodingOptions {
    /// Integers that the scores are on the device: type (u8, i8, u16 or i16), scale and zero point.
    ///
    /// The column of scores or raw scores, or the matrix of probabilities, then holds integer codes. A code stands for
    /// scale * (code - zero point). The scale is a number, or a fraction such as 1/256. For TFLite's int8 softmax:
    /// i8,1/256,-128.
    ///
    /// The device looks codes up without floating point. A matrix needs --reduction confidence or top-label, and may be
    /// columns of a table.
    #[arg(long, value_name = "TYPE,SCALE,ZERO", value_parser = parse_encoding, hide_short_help = true)]
    score_encoding: Option<Encoding>,
}

/// A type, a scale and a zero point, which may not go together.
type Encoding = (CodeType, f32, i32);

impl EncodingOptions {
    /// The encoding; `None` for floats.
    pub(crate) fn encoding(&self) -> Result<Option<ScoreEncoding>, Error> {
        let Some((name, scale, zero_point)) = self.score_encoding else { return Ok(None) };
        let encoding = name.encoding(scale, zero_point);
        encoding.map(Some).map_err(|cause| Error::Compile(cause.into()))
    }
}

fn parse_encoding(text: &str) -> Result<Encoding, String> {
    let [name, scale, zero_point] = text.split(',').map(str::trim).collect::<Vec<_>>()[..] else {
        return Err("a type, a scale and a zero point are expected, such as i8,1/256,-128".into());
    };
    let name = CodeType::named(name).map_err(|cause| cause.to_string())?;
    let zero_point =
        zero_point.parse().map_err(|_| "the zero point is a whole number, such as -128".to_owned())?;
    Ok((name, parse_scale(scale)?, zero_point))
}

/// A number, or one divided by another.
fn parse_scale(text: &str) -> Result<f32, String> {
    let scale = match text.split_once('/') {
        Some((above, below)) => {
            above.trim().parse::<f64>().ok().zip(below.trim().parse::<f64>().ok()).map(|(a, b)| a / b)
        }
        None => text.parse().ok(),
    };
    match scale.map(|scale| scale as f32) {
        Some(scale) if scale > 0.0 && scale.is_finite() => Ok(scale),
        _ => Err("the scale is a number above 0, such as 0.00390625 or 1/256".into()),
    }
}
