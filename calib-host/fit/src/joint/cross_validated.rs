//! Choosing a regularization by cross-validation.

use super::log_loss::Odir;
use super::scaling::{VectorScalingMethod, rows};
use crate::data::VectorData;
use crate::error::VectorScalingError;
use crate::stats::CrossValidation;

/// The penalties that are tried, of the off-diagonal weights and of the intercepts alike.
const PENALTIES: [f64; 7] = [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0];

impl VectorScalingMethod {
    /// The same method with the one of seven penalties, from 1e-5 to 10, whose log-loss on points left out is least; the
    /// larger among equals. A method without penalties stays as it is.
    ///
    /// # Errors
    ///
    /// If there is no finite optimum with any of them, or the number of parts is out of range.
    pub fn cross_validated(
        &self,
        data: &VectorData,
        log_probs: bool,
        parts: CrossValidation,
    ) -> Result<Self, VectorScalingError> {
        if !parts.is_possible(data.len()) {
            return Err(VectorScalingError::Folds { folds: parts.folds, n: data.len() });
        }
        let with: fn(Odir) -> Self = match self {
            Self::Matrix(_) => Self::Matrix,
            Self::Dirichlet(_) => Self::Dirichlet,
            _ => return Ok(*self),
        };
        let input = self.input(data, log_probs);
        let rows = rows(data, input);
        let methods = PENALTIES.map(|penalty| with(Odir { lambda: penalty, mu: penalty }));
        let mut sums = PENALTIES.map(|_| 0.0);
        for (kept, left_out) in parts.parts(data.len()) {
            let (kept, left_out) = (rows.part(kept), rows.part(left_out));
            // From the largest penalty on, each optimum is near the one before.
            let mut start = self.identity(data.classes());
            for (method, sum) in methods.iter().zip(&mut sums).rev() {
                // Without a finite optimum the loss may be anything.
                *sum += match method.fit_rows(&kept, input, start.clone()) {
                    Ok(model) => {
                        start = model.parameters();
                        model.log_loss(&left_out)
                    }
                    Err(_) => f64::INFINITY,
                };
            }
        }
        let mut best: Option<(f64, Self)> = None;
        for (&method, sum) in methods.iter().zip(sums) {
            if sum.is_finite() && best.is_none_or(|(least, _)| sum <= least) {
                best = Some((sum, method));
            }
        }
        best.map(|(_, method)| method).ok_or(VectorScalingError::Separated)
    }
}
