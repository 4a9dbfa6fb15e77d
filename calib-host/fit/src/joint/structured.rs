//! Structured vector and matrix scaling (Berta et al. 2025): a temperature, and beyond it what the rows can bear out.

use calib_core::vector::ScalingInput;

use super::rows::Rows;
use super::scaling::{VectorScalingMethod, VectorScalingModel};
use crate::error::VectorScalingError;

impl VectorScalingMethod {
    pub(super) fn is_structured(&self) -> bool {
        matches!(self, Self::StructuredVector | Self::StructuredMatrix)
    }

    /// Fits the temperature first, without a penalty. The other parameters start where they change nothing, and differing from
    /// there is penalized: with few rows the temperature is all that remains.
    pub(super) fn fit_structured(
        &self,
        mut rows: Rows,
        input: ScalingInput,
    ) -> Result<VectorScalingModel, VectorScalingError> {
        let classes = rows.classes();
        let temperature = Self::Temperature;
        let inverse_t = match temperature.fit_rows(&rows, input, temperature.identity(classes)) {
            Ok(model) => model.weights[0],
            // Equal scores stay equal at any temperature.
            Err(VectorScalingError::AllEqual) => 1.0,
            Err(error) => return Err(error),
        };
        rows.scale(inverse_t);
        let mut model = self.fit_rows(&rows, input, self.identity(classes))?;
        model.weights.iter_mut().for_each(|weight| *weight *= inverse_t);
        Ok(model)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::log_loss::Odir;
    use super::super::scaling::tests::draw;
    use super::*;
    use crate::data::{VectorData, VectorKind, Vectors};
    use crate::stats::softmax;

    const METHODS: [VectorScalingMethod; 2] =
        [VectorScalingMethod::StructuredVector, VectorScalingMethod::StructuredMatrix];

    fn data(rows: &[Vec<f32>], kind: VectorKind, labels: &[i64]) -> VectorData {
        VectorData::new(&Vectors::new(rows.concat(), rows[0].len(), kind).unwrap(), labels).unwrap()
    }

    /// Logits that are too large, with a class that is favored.
    fn overconfident(classes: usize, n: usize, seed: u64) -> VectorData {
        let (vectors, labels) = draw(classes, n, seed, |z| {
            let mut z: Vec<f64> = z.iter().map(|z| z * 0.4).collect();
            z[0] += 0.5;
            softmax(&mut z);
            z
        });
        VectorData::new(&vectors, &labels).unwrap()
    }

    fn inverse_t(data: &VectorData) -> f64 {
        VectorScalingMethod::Temperature.fit(data, true).unwrap().weights[0]
    }

    /// The mean log-loss.
    fn log_loss(model: &VectorScalingModel, data: &VectorData) -> f64 {
        let features = model.features(data);
        let rows = features.chunks(data.classes()).zip(data.labels());
        rows.map(|(row, &label)| -model.probs(row)[usize::from(label)].ln()).sum::<f64>() / data.len() as f64
    }

    /// The weights before the temperature, and the intercepts, less those that change nothing: of the diagonal, beside it, and
    /// of the intercepts.
    fn differences(model: &VectorScalingModel, inverse_t: f64) -> [Vec<f64>; 3] {
        let classes = model.classes();
        let on_diagonal = |i: usize| model.weights.len() == classes || i.is_multiple_of(classes + 1);
        let of = |wanted: bool, one: f64| {
            let weights = model.weights.iter().enumerate().filter(|&(i, _)| on_diagonal(i) == wanted);
            weights.map(|(_, weight)| weight / inverse_t - one).collect()
        };
        [of(true, 1.0), of(false, 0.0), model.intercepts.clone()]
    }

    /// What is minimized, by its definition.
    fn loss(model: &VectorScalingModel, data: &VectorData, inverse_t: f64) -> f64 {
        let (classes, n) = (data.classes() as f64, data.len() as f64);
        let [diagonal, others, intercepts] =
            differences(model, inverse_t).map(|all| all.iter().map(|x| x * x).sum::<f64>());
        let penalty = diagonal + (classes - 1.0) * others + intercepts;
        log_loss(model, data) + classes / n * penalty
    }

    /// Parameters from an implementation of the definition in NumPy 2.4, minimized by SciPy 1.17 (L-BFGS-B) after bisection for
    /// the temperature, on the same rows.
    #[test]
    fn parameters_are_those_of_scipy() {
        let rows: Vec<Vec<f32>> = (0..60u16)
            .map(|i| {
                let a = 1 + i * 17 % 40;
                let b = 1 + i * 29 % (63 - a);
                [a, b, 64 - a - b].map(|part| f32::from(part) / 64.0).to_vec()
            })
            .collect();
        let label = |(i, row): (usize, &Vec<f32>)| {
            let drawn = (i * 37 % 64) as f32 / 64.0;
            if i % 5 == 0 { 1 } else { i64::from(drawn >= row[0]) + i64::from(drawn >= row[0] + row[1]) }
        };
        let labels: Vec<i64> = rows.iter().enumerate().map(label).collect();
        let data = data(&rows, VectorKind::Probs, &labels);
        let close = |got: &[f64], expected: &[f64]| {
            assert!(got.len() == expected.len(), "{got:?}");
            assert!(got.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{got:?} {expected:?}");
        };
        close(&[inverse_t(&data)], &[1.198_799_125]);

        let vector = VectorScalingMethod::StructuredVector.fit(&data, false).unwrap();
        close(&vector.weights, &[1.287_933_923, 0.955_703_077, 1.554_874_809]);
        close(&vector.intercepts, &[0.066_549_848, -0.021_471_249, -0.045_078_599]);
        close(&[log_loss(&vector, &data)], &[0.794_074_507]);

        let matrix = VectorScalingMethod::StructuredMatrix.fit(&data, false).unwrap();
        let expected = [
            [1.403_696_992, -0.135_888_821, -0.081_101_596],
            [-0.085_206_957, 1.009_874_371, -0.034_634_892],
            [-0.017_241_976, 0.230_351_201, 1.430_272_098],
        ];
        close(&matrix.weights, &expected.concat());
        close(&matrix.intercepts, &[-0.103_585_124, -0.056_940_944, 0.160_526_067]);
        close(&[log_loss(&matrix, &data)], &[0.767_054_852]);
    }

    /// With the same rows again and again the penalties fade, and what is left is scaling without any.
    #[test]
    fn many_rows_leave_no_penalty() {
        let vectors = overconfident(3, 150, 11);
        let rows: Vec<Vec<f32>> = vectors.values().chunks(3).map(<[f32]>::to_vec).collect();
        let labels: Vec<i64> = vectors.labels().iter().map(|&label| label.into()).collect();
        let free = [VectorScalingMethod::Vector, VectorScalingMethod::Matrix(Odir::default())];
        for (method, free) in METHODS.into_iter().zip(free) {
            let limit = free.fit(&vectors, true).unwrap();
            let distance = |times: usize| {
                let repeated =
                    data(&vec![rows.clone(); times].concat(), VectorKind::Logits, &labels.repeat(times));
                let model = method.fit(&repeated, false).unwrap();
                let features = model.features(&vectors);
                let pairs = features.chunks(3).map(|row| (model.probs(row), limit.probs(row)));
                let largest = |(a, b): (Vec<f64>, Vec<f64>)| {
                    a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
                };
                pairs.map(largest).fold(0.0, f64::max)
            };
            let (once, often, very_often) = (distance(1), distance(10), distance(200));
            assert!(once > 2.0 * often && often > 10.0 * very_often, "{once} {often} {very_often}");
            assert!(very_often < 0.002, "{method:?} {very_often}");
        }
    }

    /// On few rows of many classes they lose less on other rows than the same shapes without penalties, and than doing nothing.
    #[test]
    fn few_rows_are_not_overfitted() {
        let held_out = overconfident(10, 4000, 21);
        for seed in 0..3 {
            let cal = overconfident(10, 300, seed);
            let fitted = |method: VectorScalingMethod| log_loss(&method.fit(&cal, true).unwrap(), &held_out);
            let mut unchanged = VectorScalingMethod::Temperature.fit(&cal, true).unwrap();
            unchanged.weights[0] = 1.0;
            let unchanged = log_loss(&unchanged, &held_out);
            let [svs, sms] = METHODS.map(fitted);
            assert!(svs < fitted(VectorScalingMethod::Vector), "{seed}");
            assert!(sms < fitted(VectorScalingMethod::Matrix(Odir::default())), "{seed}");
            assert!(svs < unchanged && sms < unchanged, "{seed}: {svs} {sms} {unchanged}");
        }
    }

    #[test]
    fn degenerate_rows() {
        use VectorScalingError::{OneClass, Reversed, Separated};
        let rows = |rows: &[[f32; 3]], labels: &[i64]| {
            data(&rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>(), VectorKind::Logits, labels)
        };
        let some = [[1.0, 0.0, 0.5], [2.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.0, 1.5, 1.0]];
        let right = [[4.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 2.0]];
        for method in METHODS {
            let fit = |all: &[[f32; 3]], labels: &[i64]| method.fit(&rows(all, labels), false);
            assert_eq!(fit(&some, &[1; 4]), Err(OneClass(4)));
            assert_eq!(fit(&right, &[0, 1, 2]), Err(Separated));
            assert_eq!(fit(&[&right[..], &[[3.0, 0.0, 0.0]]].concat(), &[1, 2, 0, 0]), Err(Reversed));
            // A class that no row has keeps a probability.
            let model = fit(&some, &[0, 1, 0, 1]).unwrap();
            let probs = model.probs(&[-1.0; 3]);
            assert!(probs[2] > 0.001 && probs[2] < probs[0].min(probs[1]), "{probs:?}");
            // Equal entries have no temperature, and leave the intercepts between equal probabilities and the frequencies.
            let model = fit(&[[1.5; 3]; 10], &[0, 0, 0, 0, 0, 0, 1, 1, 1, 2]).unwrap();
            let probs = model.probs(&[-(3f64.ln()); 3]);
            assert!(probs[0] > 0.34 && probs[0] < 0.6 && probs[2] > 0.1 && probs[2] < 0.33, "{probs:?}");
            assert!(probs[1] > probs[2] && probs[1] < probs[0], "{probs:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        /// The gradient of the definition vanishes. The sums over the classes that follow from it hold. Neither the order of
        /// rows, nor the names of classes, nor a number that is added to all logits of a row matters.
        #[test]
        fn the_fit_is_the_minimum(classes in 2usize..5, seed in any::<u64>(), n in 20usize..200) {
            let drawn = overconfident(classes, n, seed);
            for method in METHODS {
                let model = match method.fit(&drawn, false) {
                    Err(VectorScalingError::OneClass(_) | VectorScalingError::Separated | VectorScalingError::Reversed) => continue,
                    fit => fit.unwrap(),
                };
                let (t, h) = (inverse_t(&drawn), 1e-4);
                for parameter in 0..model.parameters().len() {
                    let moved = |by: f64| {
                        let mut model = model.clone();
                        match parameter.checked_sub(model.weights.len()) {
                            None => model.weights[parameter] += t * by,
                            Some(intercept) => model.intercepts[intercept] += by,
                        }
                        loss(&model, &drawn, t)
                    };
                    // Central differences are off by h^2 / 6 times a third derivative.
                    let slope = (moved(h) - moved(-h)) / (2.0 * h);
                    prop_assert!(slope.abs() < 2e-6, "{:?} {} {}", method, parameter, slope);
                }
                let [diagonal, _, intercepts] = differences(&model, t);
                prop_assert!(intercepts.iter().sum::<f64>().abs() < 1e-7);
                if method == VectorScalingMethod::StructuredMatrix {
                    for (class, own) in diagonal.iter().enumerate() {
                        let column = model.weights.iter().skip(class).step_by(classes);
                        let others = column.sum::<f64>() / t - (own + 1.0);
                        prop_assert!((own + (classes as f64 - 1.0) * others).abs() < 1e-7, "{:?}", model);
                    }
                }

                let rows: Vec<Vec<f32>> = drawn.values().chunks(classes).map(<[f32]>::to_vec).collect();
                let labels: Vec<i64> = drawn.labels().iter().map(|&label| label.into()).collect();
                let reversed_rows: Vec<_> = rows.iter().rev().cloned().collect();
                let reversed_labels: Vec<_> = labels.iter().rev().copied().collect();
                let reversed = data(&reversed_rows, VectorKind::Logits, &reversed_labels);
                prop_assert_eq!(&model, &method.fit(&reversed, false).unwrap());

                // Classes in the reverse order, and 8 more for every logit: logarithms of f32 differ in their last bits.
                let renamed: Vec<Vec<f32>> =
                    rows.iter().map(|row| row.iter().rev().map(|z| z + 8.0).collect()).collect();
                let last = classes as i64 - 1;
                let relabeled: Vec<i64> = labels.iter().map(|label| last - label).collect();
                let other = method.fit(&data(&renamed, VectorKind::Logits, &relabeled), false).unwrap();
                let features = model.features(&drawn);
                for row in features.chunks(classes) {
                    let turned: Vec<f64> = row.iter().rev().copied().collect();
                    let mut probs = other.probs(&turned);
                    probs.reverse();
                    prop_assert!(probs.iter().zip(model.probs(row)).all(|(a, b)| (a - b).abs() < 2e-5));
                }
            }
        }
    }
}
