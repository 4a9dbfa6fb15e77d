//! A scaling function of an artifact as a table of steps, for source code that has no logarithms.

use calib_core::artifact::TableForm;
use calib_core::table::{MarginScaling, Scaling};
use calib_core::{Margin, MarginTable, Score, StepTable};

use crate::binary::{STEPS, ScalingModel, TabulatedModel};
use crate::stats::ScoreKind;

/// By how much rounding in single precision may move a value of a function.
const ROUNDING: f64 = 1e-6;

/// A scaling function in at most 64 steps that are equal in value.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionSteps {
    edges: Vec<f32>,
    values: Vec<f32>,
    kind: ScoreKind,
    /// The largest difference between a value and what `calib apply` returns, at any score, rounded up to four decimals.
    pub within: f64,
}

impl FunctionSteps {
    /// The steps of a form; `None` if it is no scaling function.
    pub fn of(form: &TableForm<'_>) -> Option<Self> {
        match form {
            TableForm::Scaling(function) => {
                let prob = |score: f64| Score::new(score as f32).map_or(0.0, |score| function.prob(score));
                let turn = match function.parameters() {
                    Scaling::Quadratic { a, b, c, .. } => {
                        let [a, b, c] = [a, b, c].map(f64::from);
                        ScalingModel::Quadratic { a, b, c }.turning_point()
                    }
                    _ => None,
                };
                Some(Self::tabulated(&prob, turn, ScoreKind::Probability))
            }
            TableForm::MarginScaling(function) => {
                let prob =
                    |margin: f64| Margin::new(margin as f32).map_or(0.0, |margin| function.prob(margin));
                let turn = match function.parameters() {
                    MarginScaling::Quadratic { a, b, c, scale, shift } => {
                        let [a, b, c, scale, shift] = [a, b, c, scale, shift].map(f64::from);
                        ScalingModel::QuadraticMargin { a, b, c, scale, shift }.turning_point()
                    }
                    _ => None,
                };
                Some(Self::tabulated(&prob, turn, ScoreKind::Margin))
            }
            _ => None,
        }
    }

    fn tabulated(prob: &dyn Fn(f64) -> f32, turn: Option<f64>, kind: ScoreKind) -> Self {
        let mut steps = TabulatedModel::of_function(&|score| prob(score).into(), turn, kind, STEPS);
        steps.within += ROUNDING;
        Self {
            edges: steps.edges.iter().map(|&edge| edge as f32).collect(),
            values: steps.values.iter().map(|&value| value as f32).collect(),
            kind,
            within: steps.stated_within(),
        }
    }

    /// The table.
    pub fn form(&self) -> Option<TableForm<'_>> {
        match self.kind {
            ScoreKind::Probability => StepTable::new(&self.edges, &self.values).map(TableForm::Steps).ok(),
            ScoreKind::Margin => MarginTable::new(&self.edges, &self.values).map(TableForm::MarginSteps).ok(),
        }
    }
}
