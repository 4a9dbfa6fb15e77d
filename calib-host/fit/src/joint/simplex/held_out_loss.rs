//! What points that were left out say of a calibrator.

/// What cross-validation found about the number of regions that it chose, on points that were left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldOutLoss {
    /// The mean log-loss after calibration. It is a little too small, because the number of regions was chosen by it.
    pub log_loss: f64,
    /// The mean log-loss of the scores as they are.
    pub uncalibrated: f64,
    /// The standard error of the difference.
    pub standard_error: f64,
}

impl HeldOutLoss {
    /// From the losses of every point after calibration and before.
    pub(crate) fn new(pairs: impl Iterator<Item = (f64, f64)>) -> Self {
        let pairs: Vec<(f64, f64)> = pairs.collect();
        let n = pairs.len() as f64;
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / n;
        let (log_loss, uncalibrated) = (mean(&|pair| pair.0), mean(&|pair| pair.1));
        let change = log_loss - uncalibrated;
        let variance = mean(&|pair| (pair.0 - pair.1 - change).powi(2));
        Self { log_loss, uncalibrated, standard_error: (variance / n).sqrt() }
    }

    /// The log-loss less that of the scores as they are: below 0 is better.
    pub fn change(&self) -> f64 {
        self.log_loss - self.uncalibrated
    }

    /// Whether calibrating is better significantly: whether the upper end of the one-sided 95 % interval of the change is below 0.
    pub fn is_better(&self) -> bool {
        const QUANTILE: f64 = 1.645;
        self.change() + QUANTILE * self.standard_error < 0.0
    }
}

/// The log-loss of the probability that was given to what happened.
pub(crate) fn loss(prob: f64) -> f64 {
    -prob.max(f64::EPSILON).ln()
}
