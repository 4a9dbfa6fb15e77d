//! The options for scores that are integer codes.

use calib_core::ScoreEncoding;
use calib_fit::artifact::CodeType;
use clap::Args;

use super::parse::named;
use crate::error::Error;

/// What kind of number a score is on the device.
#[derive(Args)]
#[command(next_help_heading = "Scores as integers")]
pub(crate) struct EncodingOptions {
    /// What kind of number a score is on the device, if not a float: the column of scores or margins, or the matrix of
    /// probabilities, then holds integer codes, which stand for scale * (code - zero point). The device looks them up without floating
    /// point. A matrix takes --reduction confidence or top-label, and may be columns of a table.
    #[arg(long, value_name = "TYPE", value_parser = named::<CodeType>(), requires = "scale", requires = "zero_point", hide_short_help = true)]
    score_encoding: Option<CodeType>,
    /// The difference between the scores of neighbouring codes, as a number or as 1/256. For TFLite's int8 softmax: 1/256.
    #[arg(long, value_name = "S", value_parser = parse_scale, allow_negative_numbers = true, requires = "score_encoding", hide_short_help = true)]
    scale: Option<f32>,
    /// The code that stands for the score 0. For TFLite's int8 softmax: -128.
    #[arg(
        long,
        value_name = "Z",
        allow_negative_numbers = true,
        requires = "score_encoding",
        hide_short_help = true
    )]
    zero_point: Option<i32>,
}

impl EncodingOptions {
    /// The encoding; `None` for floats.
    pub(crate) fn encoding(&self) -> Result<Option<ScoreEncoding>, Error> {
        let (Some(name), Some(scale), Some(zero_point)) = (self.score_encoding, self.scale, self.zero_point)
        else {
            return Ok(None);
        };
        let encoding = name.encoding(scale, zero_point);
        encoding.map(Some).map_err(|cause| Error::Compile(cause.into()))
    }
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
