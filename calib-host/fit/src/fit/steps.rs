//! Smooth functions as tables of steps.

use calib_core::artifact::Method;

use super::fitted::Fit;
use crate::binary::{Model, STEPS};

impl Fit {
    /// The same with each smooth function in a table of at most 64 steps that are equal in value. The parameters state the number of steps and
    /// the largest difference between a value and the function, at any score; with several tables the largest of all. Functions that are steps
    /// anyway stay as they are.
    ///
    /// A device finds a step in tens of instructions, where a function takes thousands, and a table can be exported for C.
    ///
    /// ```
    /// use calib_fit::{BinaryData, BinaryMethod, binary::ScalingMethod, fit::parameter_of, fit_binary};
    ///
    /// let scores = (0..400).map(|i| f64::from(i) / 400.0).collect();
    /// let data = BinaryData::new(scores, (0..400).map(|i| i % 40 < i / 20).collect())?;
    /// let fit = fit_binary(&data, &BinaryMethod::Scaling(ScalingMethod::Beta), 0.1)?.in_steps();
    /// assert_eq!(parameter_of(fit.parameters(), "steps"), Some("64"));
    /// assert_eq!(parameter_of(fit.parameters(), "within"), Some("0.0033"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn in_steps(mut self) -> Self {
        let (mut steps, mut within) = (0, 0.0_f64);
        for table in self.tables.iter_mut().flatten() {
            if let Some(model) = table.model.in_steps(self.scores, STEPS) {
                (steps, within) = (steps.max(model.values.len()), within.max(model.stated_within()));
                table.model = Model::Tabulated(model);
            }
        }
        if steps > 0 {
            self.parameters =
                format!("{} steps={steps} within={within:.4}", self.parameters).trim_start().into();
        }
        self
    }

    /// Whether the tables are steps of a smooth function.
    pub(crate) fn is_tabulated(&self) -> bool {
        let is_table = |model: &Model| matches!(model, Model::Tabulated(_));
        self.method != Method::Blend && self.tables.iter().flatten().any(|table| is_table(&table.model))
    }
}

#[cfg(test)]
mod tests {
    use calib_core::{Calibrator, Margin, Score};

    use super::*;
    use crate::artifact::{ArtifactOptions, StoredArtifact, artifact_bytes};
    use crate::binary::{BinaryMethod, Isotonic, ScalingMethod};
    use crate::data::BinaryData;
    use crate::fit::{fit_binary, parameter_of};
    use crate::stats::{ScoreKind, sigmoid};

    const N: u32 = 2000;

    fn data(kind: ScoreKind, truth: impl Fn(f64) -> f64) -> BinaryData {
        let share = |i: u32| (f64::from(i) + 0.5) / f64::from(N);
        let labels = (0..N).map(|i| f64::from(i.wrapping_mul(7919) % N) / f64::from(N) < truth(share(i)));
        match kind {
            ScoreKind::Probability => BinaryData::new((0..N).map(share).collect(), labels.collect()),
            ScoreKind::Margin => {
                BinaryData::of_margins((0..N).map(|i| 12.0 * share(i) - 6.0).collect(), labels.collect())
            }
        }
        .unwrap()
        .on_device()
    }

    fn function(model: &Model) -> Box<dyn Fn(f64) -> f64> {
        match model.clone() {
            Model::Scaling(model) => Box::new(move |score| model.prob(score)),
            Model::Interpolated(model) => Box::new(move |score| model.prob(score)),
            model => panic!("{model:?}"),
        }
    }

    /// The device's values at a dense grid of scores, at every edge and next to it: no farther from the function than the parameters state,
    /// somewhere nearly as far, and never against it.
    #[test]
    fn the_largest_difference_is_what_is_stated() {
        use ScalingMethod as S;
        let (few, p, m) = (Isotonic::default(), ScoreKind::Probability, ScoreKind::Margin);
        let scaling = BinaryMethod::Scaling;
        let [rises, falls, turns, rare]: [fn(f64) -> f64; 4] =
            [|s| s * s, |s| 0.9 - 0.8 * s, |s| 0.2 + 2.4 * (s - 0.5).powi(2), |s| 0.002 + 0.02 * s];
        for (method, kind, truth, most) in [
            (scaling(S::PlattLogit), p, rises, 0.008),
            (scaling(S::PlattLogit), p, falls, 0.008),
            (scaling(S::PlattProb), p, rises, 0.008),
            (scaling(S::Beta), p, rises, 0.008),
            (scaling(S::Beta), p, rare, 0.008),
            (BinaryMethod::LeastSquares(S::Beta), p, rises, 0.008),
            (scaling(S::Temperature), p, rises, 0.008),
            (scaling(S::Quadratic), p, rises, 0.016),
            (scaling(S::Quadratic), p, turns, 0.016),
            (BinaryMethod::Unchanged, p, rises, 0.008),
            (BinaryMethod::IsotonicInterpolated(few), p, rises, 0.008),
            (BinaryMethod::IsotonicCentered(few), p, rises, 0.008),
            (BinaryMethod::IsotonicCentered(few), p, rare, 0.0005),
            (scaling(S::PlattMargin), m, rises, 0.008),
            (scaling(S::PlattMargin), m, rare, 0.008),
            (scaling(S::TemperatureMargin), m, |s| sigmoid(6.0 * s - 3.0), 0.008),
            (scaling(S::QuadraticMargin), m, turns, 0.016),
            (BinaryMethod::IsotonicInterpolated(few), m, rises, 0.008),
        ] {
            let exact = fit_binary(&data(kind, truth), &method, 0.1).unwrap();
            let fit = exact.clone().in_steps();
            let stated: f64 = parameter_of(fit.parameters(), "within").unwrap().parse().unwrap();
            let Model::Tabulated(steps) = &fit.tables[0].as_ref().unwrap().model else {
                panic!("{method:?}")
            };
            assert!(
                steps.values.len() <= STEPS && stated <= most && steps.within <= stated,
                "{method:?} {stated}"
            );
            let stored =
                StoredArtifact::from_bytes(&artifact_bytes(&fit, &ArtifactOptions::default()).unwrap())
                    .unwrap();
            let artifact = stored.artifact();
            let on_device = |score: f32| {
                let outcome = match artifact.calibrator() {
                    Calibrator::Binary(calibrator) => calibrator.calibrate(Score::new(score).unwrap()),
                    Calibrator::BinaryMargin(calibrator) => calibrator.calibrate(Margin::new(score).unwrap()),
                    _ => panic!("not of one score"),
                };
                outcome.calibrated().unwrap().prob
            };
            let function = function(&exact.tables[0].as_ref().unwrap().model);
            let edges = steps.edges.iter().flat_map(|&edge| [(edge as f32).next_down(), edge as f32]);
            let mut probes: Vec<f32> = match kind {
                ScoreKind::Probability => {
                    (0..=100_000).map(|i| i as f32 / 1e5).chain([1e-7, 1e-30]).collect()
                }
                ScoreKind::Margin => {
                    (0..=100_000).map(|i| i as f32 / 1e3 - 50.0).chain([f32::MIN, f32::MAX]).collect()
                }
            };
            probes.extend(edges);
            probes.sort_by(f32::total_cmp);
            let mut largest = 0.0_f64;
            let mut before: Option<(f32, f64)> = None;
            for probe in probes {
                let (value, exact) = (on_device(probe), function(probe.into()));
                assert_eq!(value, steps.prob(probe.into()) as f32);
                largest = largest.max((f64::from(value) - exact).abs());
                if let Some((value_before, exact_before)) = before {
                    let (of_steps, of_function) = (value - value_before, exact - exact_before);
                    // Next to where it turns, both slopes are in one step.
                    assert!(f64::from(of_steps) * of_function >= 0.0, "{method:?} at {probe}");
                }
                before = Some((value, exact));
            }
            assert!(largest <= steps.within, "{method:?}: {largest} beyond {}", steps.within);
            assert!(largest > 0.9 * steps.within, "{method:?}: {largest}, far below {}", steps.within);
        }
    }

    #[test]
    fn steps_stay_as_they_are() {
        let fit = fit_binary(
            &data(ScoreKind::Probability, |s| s),
            &BinaryMethod::Isotonic(Isotonic::default()),
            0.1,
        );
        let fit = fit.unwrap();
        assert_eq!(fit.clone().in_steps(), fit);
    }
}
