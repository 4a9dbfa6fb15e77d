//! The options for scores that are integer codes.

use calib_core::{QuantizedScore, ScoreEncoding};
use calib_fit::artifact::CodesError;
use clap::{Args, ValueEnum};

use crate::error::Error;

/// What kind of number a score is on the device.
#[derive(Args)]
#[command(next_help_heading = "Scores as integers")]
pub(crate) struct EncodingOptions {
    /// What kind of number a score is on the device, if not a float: the column of scores or margins, or the matrix of
    /// probabilities, then holds integer codes, which stand for scale * (code - zero point). The device looks them up without floating
    /// point. A matrix takes --reduction confidence or top-label, and may be columns of a table.
    #[arg(
        long,
        value_enum,
        value_name = "TYPE",
        requires = "scale",
        requires = "zero_point",
        hide_short_help = true
    )]
    score_encoding: Option<EncodingName>,
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

#[derive(Clone, Copy, ValueEnum)]
enum EncodingName {
    /// Codes from 0 to 255.
    U8,
    /// Codes from -128 to 127.
    I8,
    /// Codes from 0 to 65535.
    U16,
    /// Codes from -32768 to 32767.
    I16,
}

impl EncodingOptions {
    /// The encoding; `None` for floats.
    pub(crate) fn encoding(&self) -> Result<Option<ScoreEncoding>, Error> {
        let (Some(name), Some(scale), Some(zero_point)) = (self.score_encoding, self.scale, self.zero_point)
        else {
            return Ok(None);
        };
        let encoding = match name {
            EncodingName::U8 => ScoreEncoding::U8 { scale, zero_point },
            EncodingName::I8 => ScoreEncoding::I8 { scale, zero_point },
            EncodingName::U16 => ScoreEncoding::U16 { scale, zero_point },
            EncodingName::I16 => ScoreEncoding::I16 { scale, zero_point },
        };
        match QuantizedScore::from_key(encoding, 0) {
            Ok(_) => Ok(Some(encoding)),
            Err(_) => Err(Error::Compile(CodesError::Encoding.into())),
        }
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
