//! From a fit to dequantized scores to a table over the codes themselves.

use calib_core::{QuantizedScore, ScoreEncoding};

use super::error::{CodesError, CompileError, MAX_CODE_STEPS};
use super::kind::CODES_OF;
use super::tables::prob_on_device;
use crate::binary::{Bin, CodeModel, Model};
use crate::data::score_of_code;
use crate::fit::{Fit, FittedTable};
use crate::stats::ScoreKind;

impl Fit {
    /// The same function of codes: every code gets the bin of the score that it stands for, or the probability that the
    /// device's arithmetic gives for it. In a fit to probabilities a code that stands for a score outside `[0, 1]` gets that of 0
    /// or 1. In a fit to margins a code may stand for any finite number, and the parameters say `codes-of=margins`. In a fit to top-two margins of
    /// logits the table is over differences of codes. Bins that hold
    /// no code are left out, with their evidence; what is guaranteed for the others stays.
    ///
    /// Scores rise strictly with codes, so that a fit to the one is a fit to the other.
    ///
    /// # Errors
    ///
    /// As [`CodesError`] says.
    ///
    /// # Panics
    ///
    /// If [there are none of codes](calib_core::artifact::Reduction::takes_codes) under the fit's reduction.
    pub fn quantized(mut self, encoding: ScoreEncoding) -> Result<Self, CompileError> {
        assert!(self.reduction.takes_codes(), "there is no {} calibrator of codes", self.reduction);
        let by_top2_margin = self.is_by_top2_margin();
        for table in self.tables.iter_mut().flatten() {
            let of_keys = if by_top2_margin { encoding.of_top2_margins() } else { encoding };
            let model = table.quantized(self.scores, of_keys)?;
            *table = model.in_encoding(encoding);
        }
        if self.scores == ScoreKind::Margin && !by_top2_margin {
            let (name, value) = CODES_OF;
            self.parameters = format!("{} {name}={value}", self.parameters).trim_start().into();
        }
        Ok(self)
    }
}

impl FittedTable {
    fn quantized(&self, kind: ScoreKind, encoding: ScoreEncoding) -> Result<Self, CompileError> {
        let scores: Vec<f32> = keys(encoding)?.map(|code| score_of_code(kind, code)).collect();
        if scores.iter().any(|score| !score.is_finite()) {
            return Err(CodesError::Infinite.into());
        }
        let steps = match &self.model {
            Model::Steps(steps) => steps,
            Model::Scaling(_) | Model::Interpolated(_) | Model::Tabulated(_) => {
                return self.quantized_function(kind, encoding, &scores);
            }
            Model::Randomized(_) => return Err(CodesError::Method("umd-randomized").into()),
            Model::VennAbers(_) => return Err(CodesError::Method("venn-abers").into()),
            Model::Codes(_) => return Ok(self.clone()),
        };
        let bins: Vec<usize> = scores.iter().map(|&score| steps.bin(score.into())).collect();
        let (edges, kept) = runs(&bins);
        let bins: Vec<Bin> = kept.iter().map(|&bin| steps.bins[bin]).collect();
        let intervals = kept.iter().filter_map(|&bin| self.intervals.get(bin).copied()).collect();
        let values = bins.iter().map(|bin| bin.value).collect();
        let ties_merged = steps.ties_merged;
        let model = Model::Codes(CodeModel { encoding, edges, values, bins, ties_merged });
        Ok(Self { model, intervals, ..self.clone() })
    }

    /// The same table for scores in another encoding of as many codes.
    fn in_encoding(mut self, encoding: ScoreEncoding) -> Self {
        if let Model::Codes(codes) = &mut self.model {
            codes.encoding = encoding;
        }
        self
    }

    fn quantized_function(
        &self,
        kind: ScoreKind,
        encoding: ScoreEncoding,
        scores: &[f32],
    ) -> Result<Self, CompileError> {
        let probs = prob_on_device(&self.model, kind, scores)?;
        let (edges, values) = runs(&probs);
        if values.len() > MAX_CODE_STEPS {
            return Err(CodesError::TooManySteps(values.len()).into());
        }
        let values = values.into_iter().map(f64::from).collect();
        let model = CodeModel { encoding, edges, values, bins: Vec::new(), ties_merged: false };
        Ok(Self { model: Model::Codes(model), ..self.clone() })
    }
}

/// All scores of an encoding, in the order of their keys.
fn keys(encoding: ScoreEncoding) -> Result<impl Iterator<Item = QuantizedScore>, CodesError> {
    let (lowest, highest) = encoding.code_range().ok_or(CodesError::Encoding)?;
    QuantizedScore::new(encoding, lowest).map_err(|_| CodesError::Encoding)?;
    Ok((lowest..=highest).filter_map(move |code| QuantizedScore::new(encoding, code).ok()))
}

/// The places where a sequence changes, and its values between them.
fn runs<T: Copy + PartialEq>(values: &[T]) -> (Vec<u32>, Vec<T>) {
    let changes = values.windows(2).zip(1..).filter(|(pair, _)| pair[0] != pair[1]);
    let edges = changes.map(|(_, at)| at).collect();
    (edges, values.chunk_by(|a, b| a == b).map(|run| run[0]).collect())
}
