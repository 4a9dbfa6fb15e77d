//! The shapes of `W` in `W x + b`.

use super::product::{Number, add_outer, write_affine};

/// The parameters of each shape, in one list: weights, then intercepts.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) enum Shape {
    Temperature,
    Diagonal,
    Full,
}

impl Shape {
    /// The number of weights, before the intercepts.
    pub(crate) fn weights(self, classes: usize) -> usize {
        match self {
            Self::Temperature => 1,
            Self::Diagonal => classes,
            Self::Full => classes * classes,
        }
    }

    /// The one of two shapes that has the functions of both.
    pub(crate) fn or_larger(self, other: Self) -> Self {
        if self < other { other } else { self }
    }

    /// The parameters of the same function in a shape that is not smaller.
    pub(crate) fn parameters_in(self, larger: Self, classes: usize, parameters: &[f64]) -> Vec<f64> {
        let (weights, intercepts) = parameters.split_at(self.weights(classes));
        match (self, larger) {
            (Self::Temperature, Self::Diagonal | Self::Full) => {
                let mut parameters = larger.identity(classes);
                parameters.iter_mut().for_each(|weight| *weight *= weights[0]);
                parameters
            }
            (Self::Diagonal, Self::Full) => {
                let mut parameters = larger.identity(classes);
                let on_diagonal = parameters.iter_mut().step_by(classes + 1);
                on_diagonal.zip(weights).for_each(|(place, &weight)| *place = weight);
                parameters[classes * classes..].copy_from_slice(intercepts);
                parameters
            }
            _ => parameters.to_vec(),
        }
    }

    /// The parameters that change nothing.
    pub(crate) fn identity(self, classes: usize) -> Vec<f64> {
        match self {
            Self::Temperature => vec![1.0],
            Self::Diagonal => [vec![1.0; classes], vec![0.0; classes]].concat(),
            Self::Full => {
                let mut parameters = vec![0.0; classes * classes + classes];
                parameters.iter_mut().step_by(classes + 1).take(classes).for_each(|w| *w = 1.0);
                parameters
            }
        }
    }

    /// `W x + b` of rows of so many classes, which is linear in the parameters.
    pub(crate) fn scale<T: Number>(self, classes: usize, parameters: &[T], features: &[T], scaled: &mut [T]) {
        let (weights, intercepts) = parameters.split_at(self.weights(classes));
        match self {
            Self::Temperature => {
                scaled.iter_mut().zip(features).for_each(|(place, &x)| *place = weights[0] * x);
            }
            Self::Diagonal => {
                let rows = scaled.chunks_exact_mut(classes).zip(features.chunks_exact(classes));
                for (scaled, features) in rows {
                    let terms = weights.iter().zip(features).zip(intercepts);
                    scaled.iter_mut().zip(terms).for_each(|(place, ((&w, &x), &b))| *place = w * x + b);
                }
            }
            Self::Full => write_affine(scaled, (weights, intercepts), features),
        }
    }

    /// Adds the parameters' part of a change of `W x + b` in rows: the transpose of [`Shape::scale`].
    pub(crate) fn add_transposed<T: Number>(
        self,
        classes: usize,
        change: &[T],
        features: &[T],
        sum: &mut [T],
    ) {
        let (weights, intercepts) = sum.split_at_mut(self.weights(classes));
        if self == Self::Temperature {
            let terms = change.iter().zip(features).map(|(&c, &x)| c * x);
            weights[0] += terms.fold(T::zero(), |sum, term| sum + term);
            return;
        }
        for change in change.chunks_exact(classes) {
            intercepts.iter_mut().zip(change).for_each(|(b, &c)| *b += c);
        }
        if self == Self::Full {
            add_outer(weights, change, features, classes);
            return;
        }
        for (change, features) in change.chunks_exact(classes).zip(features.chunks_exact(classes)) {
            let terms = change.iter().zip(features);
            weights.iter_mut().zip(terms).for_each(|(w, (&c, &x))| *w += c * x);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Products of matrices, small ones and large ones, are those of the definition.
    #[test]
    fn scales_by_the_definition() {
        for (classes, n) in [(2, 1), (3, 40), (9, 1), (9, 40)] {
            let number = |i: usize| ((i * 7919) % 101) as f64 / 16.0 - 3.0;
            let features: Vec<f64> = (0..n * classes).map(number).collect();
            let change: Vec<f64> = (0..n * classes).map(|i| number(3 * i + 1)).collect();
            for shape in [Shape::Temperature, Shape::Diagonal, Shape::Full] {
                let len = shape.identity(classes).len();
                let parameters: Vec<f64> = (0..len).map(|i| number(5 * i + 2)).collect();
                let weight = |k: usize, j: usize| match shape {
                    Shape::Temperature => (0, f64::from(u8::from(k == j))),
                    Shape::Diagonal => (k, f64::from(u8::from(k == j))),
                    Shape::Full => (k * classes + j, 1.0),
                };
                let intercept = |k| shape.weights(classes) + k;
                let (mut scaled, mut sum) = (vec![0.0; n * classes], vec![0.0; len]);
                for (place, scaled) in scaled.iter_mut().enumerate() {
                    let (row, k) = (place / classes, place % classes);
                    for j in 0..classes {
                        let (index, used) = weight(k, j);
                        *scaled += used * parameters[index] * features[row * classes + j];
                        sum[index] += used * change[place] * features[row * classes + j];
                    }
                    if shape != Shape::Temperature {
                        *scaled += parameters[intercept(k)];
                        sum[intercept(k)] += change[place];
                    }
                }
                let (mut got, mut back) = (vec![f64::NAN; n * classes], vec![0.0; len]);
                shape.scale(classes, &parameters, &features, &mut got);
                shape.add_transposed(classes, &change, &features, &mut back);
                let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
                assert!(close(&got, &scaled) && close(&back, &sum), "{shape:?} {classes} {n}");
            }
        }
    }
}
