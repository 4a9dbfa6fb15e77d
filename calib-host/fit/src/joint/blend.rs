//! A blend of scaling functions of whole vectors.

use calib_core::vector::ScalingInput;
use rand::SeedableRng;
use rand::seq::index;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::rows::{Chunk, Rows};
use super::scaling::{VectorScalingMethod, VectorScalingModel, rows};
use super::shape::Shape;
use crate::binary::{ALONE, BlendWeight, Gain, exponential_weights};
use crate::data::VectorData;
use crate::error::VectorScalingError;
use crate::parallel;
use crate::stats::{CrossValidation, Seed, softmax};

/// The parts of the cross-validation, if there are as many rows.
const FOLDS: usize = 5;

/// How many rows decide the weights, at most.
const MOST_ROWS: usize = 1 << 14;

/// With more classes a matrix takes more than 4 KB of a device's flash, and is no candidate.
const MOST_CLASSES_OF_A_MATRIX: usize = 32;

/// How fast the weight of a candidate falls with its summed squared error. The error sums over the classes, so that an error of a probability
/// of two classes counts as that of one score under [`Blend`](crate::binary::Blend).
const ETA: f64 = 0.5;

/// How a blend of whole vectors came about.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BlendedVectors {
    /// The candidates with a weight, the largest first.
    pub weights: Vec<BlendWeight>,
    /// The change of the Brier score, summed over the classes, on held-out points.
    pub gain: Gain,
}

/// A method that may be blended; `None` leaves the scores as they are.
type Candidate = (&'static str, Option<VectorScalingMethod>);

/// Blends structured matrix and vector scaling (sms, svs), temperature scaling and the scores as they are.
///
/// Each is fitted in five folds. Its weight is `exp(-(summed squared error of all held-out vectors) / 2)`, divided by the sum of all, as in
/// exponentially weighted aggregation. All are linear in the logarithms of the scores, so their mean is a function of the same kind: the
/// probabilities are the weighted geometric means, divided by their sum. A candidate with nearly all of the weight is taken alone.
///
/// # Errors
///
/// One class only, or no finite optimum of any candidate.
pub(super) fn fit(
    data: &VectorData,
    seed: Seed,
) -> Result<(VectorScalingModel, BlendedVectors), VectorScalingError> {
    let largest = VectorScalingMethod::StructuredMatrix;
    largest.check(data)?;
    let input = largest.input(data, true);
    let all = rows(data, input);
    let fit_all = |(name, method): Candidate| Ok((name, method, fit_one(method, &all, input)?));
    let fitted: Vec<Result<_, _>> = parallel::map(candidates(data.classes()), fit_all);
    let failed = fitted.iter().find_map(|fit| fit.as_ref().err().cloned());
    let fitted: Vec<_> = fitted.into_iter().filter_map(Result::ok).collect();

    let judged = judged(&all, seed);
    let division = CrossValidation { folds: FOLDS.min(judged.len()), seed };
    let parts = division.parts(judged.len());
    let parts: Vec<_> = parts.map(|(kept, left_out)| (judged.part(kept), judged.part(left_out))).collect();
    let in_folds = |(_, method, _): &(_, Option<VectorScalingMethod>, _)| {
        let of_fold = |(kept, _): &(Rows, Rows)| fit_one(*method, kept, input).ok();
        parallel::map(&parts, of_fold).into_iter().collect::<Option<Vec<_>>>()
    };
    let folds: Vec<Option<Vec<VectorScalingModel>>> = parallel::map(&fitted, in_folds);
    let error = |models: &Option<Vec<VectorScalingModel>>| {
        let of_folds = models.as_ref()?.iter().zip(&parts);
        Some(of_folds.flat_map(|(model, (_, left_out))| squared_errors(model, left_out)).sum())
    };
    let errors: Vec<Option<f64>> = folds.iter().map(error).collect();
    if errors.iter().flatten().count() == 1 {
        return Err(failed.unwrap_or(VectorScalingError::Separated));
    }
    let (mut weights, _) = exponential_weights(ETA, &errors, &vec![1.0; errors.len()]);
    if let Some(alone) = weights.iter().position(|&weight| weight >= ALONE) {
        weights.iter_mut().enumerate().for_each(|(at, weight)| *weight = f64::from(u8::from(at == alone)));
    }

    let model = mean(fitted.iter().map(|(.., model)| model).zip(weights.iter().copied()));
    let unchanged = VectorScalingModel::unchanged(data.classes(), input);
    let changes = parts.iter().enumerate().flat_map(|(at, (_, left_out))| {
        let of_fold =
            folds.iter().zip(&weights).filter_map(|(models, &weight)| Some((&models.as_ref()?[at], weight)));
        let blended = mean(of_fold);
        let before = squared_errors(&unchanged, left_out);
        squared_errors(&blended, left_out)
            .into_iter()
            .zip(before)
            .map(|(after, before)| after - before)
            .collect::<Vec<_>>()
    });
    let gain = Gain::of(changes);
    let mut weights: Vec<_> = fitted
        .iter()
        .zip(&weights)
        .filter(|(_, weight)| **weight > 0.0)
        .map(|(&(name, ..), &weight)| BlendWeight { name, weight })
        .collect();
    weights.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    Ok((model, BlendedVectors { weights, gain }))
}

fn candidates(classes: usize) -> Vec<Candidate> {
    let matrix =
        (classes <= MOST_CLASSES_OF_A_MATRIX).then_some(("sms", Some(VectorScalingMethod::StructuredMatrix)));
    let others = [
        ("svs", Some(VectorScalingMethod::StructuredVector)),
        ("temperature", Some(VectorScalingMethod::Temperature)),
        ("none", None),
    ];
    matrix.into_iter().chain(others).collect()
}

fn fit_one(
    method: Option<VectorScalingMethod>,
    rows: &Rows,
    input: ScalingInput,
) -> Result<VectorScalingModel, VectorScalingError> {
    match method {
        None => Ok(VectorScalingModel::unchanged(rows.classes(), input)),
        Some(method) if method.is_structured() => method.fit_structured(rows.clone(), input),
        Some(method) => method.fit_rows(rows, input, method.identity(rows.classes())),
    }
}

/// The rows that decide the weights: all, or a sample of very many.
fn judged(all: &Rows, seed: Seed) -> Rows {
    if all.len() <= MOST_ROWS {
        return all.clone();
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut drawn = index::sample(&mut rng, all.len(), MOST_ROWS).into_vec();
    drawn.sort_unstable();
    all.part(drawn)
}

/// The function whose parameters are the weighted means of others'. One without a weight counts for nothing, not even for the shape.
fn mean<'m>(models: impl Iterator<Item = (&'m VectorScalingModel, f64)>) -> VectorScalingModel {
    let counted: Vec<_> = models.filter(|(_, weight)| *weight > 0.0).collect();
    let (input, classes) = (counted[0].0.input, counted[0].0.classes());
    let shape = counted.iter().map(|(model, _)| model.shape()).fold(Shape::Temperature, Shape::or_larger);
    let mut sum = vec![0.0; shape.identity(classes).len()];
    for (model, weight) in counted {
        let parameters = model.parameters_in(shape);
        sum.iter_mut().zip(parameters).for_each(|(sum, parameter)| *sum += weight * parameter);
    }
    VectorScalingModel::of_parameters(input, shape, sum, classes)
}

/// The squared distance of each row's probabilities from its label.
fn squared_errors(model: &VectorScalingModel, rows: &Rows) -> Vec<f64> {
    let (shape, parameters, classes) = (model.shape(), model.parameters(), rows.classes());
    let of_chunk = |chunk: Chunk<'_>| -> Vec<f64> {
        let (mut features, mut scaled) = (Vec::new(), vec![0.0; chunk.block_len()]);
        let mut errors = Vec::with_capacity(chunk.labels.len());
        for block in chunk.blocks() {
            block.write_features(&mut features);
            let scaled = &mut scaled[..features.len()];
            shape.scale(classes, &parameters, &features, scaled);
            for (row, &label) in scaled.chunks_exact_mut(classes).zip(block.labels) {
                softmax(row);
                row[usize::from(label)] -= 1.0;
                errors.push(row.iter().map(|error| error * error).sum());
            }
        }
        errors
    };
    parallel::map(rows.chunks(), of_chunk).concat()
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::super::scaling::tests::draw;
    use super::*;
    use crate::data::{VectorKind, Vectors};

    /// Logits of some calibrated classifier, made too sure, with a class that is favored.
    fn drawn(classes: usize, n: usize, seed: u64, by: impl Fn(f64) -> f64) -> (Vectors, Vec<i64>) {
        draw(classes, n, seed, |z| {
            let mut z: Vec<f64> = z.iter().map(|&z| by(z)).collect();
            softmax(&mut z);
            z
        })
    }

    fn data((vectors, labels): &(Vectors, Vec<i64>)) -> VectorData {
        VectorData::new(vectors, labels).unwrap()
    }

    /// Some rows of sorted ones.
    fn part(data: &VectorData, rows: &[usize]) -> VectorData {
        let classes = data.classes();
        let values = rows.iter().flat_map(|&row| &data.values()[row * classes..][..classes]).copied();
        let labels: Vec<i64> = rows.iter().map(|&row| data.labels()[row].into()).collect();
        VectorData::new(&Vectors::new(values.collect(), classes, data.kind()).unwrap(), &labels).unwrap()
    }

    /// The squared error of vectors, summed over rows and classes.
    fn squared_error(probs: impl Fn(&[f64]) -> Vec<f64>, features: &[f64], data: &VectorData) -> f64 {
        let rows = features.chunks(data.classes()).zip(data.labels());
        let of_row = |(row, &label): (&[f64], &u16)| -> f64 {
            let probs = probs(row).into_iter().enumerate();
            probs.map(|(class, prob)| (prob - f64::from(u8::from(class == usize::from(label)))).powi(2)).sum()
        };
        rows.map(of_row).sum()
    }

    /// The weights by their definition, and the probabilities as geometric means.
    #[test]
    fn the_blend_is_that_of_the_definition() {
        for (classes, n, seed) in [(2, 60, 1), (3, 97, 2), (5, 300, 3)] {
            let all = data(&drawn(classes, n, seed, |z| 0.7 * z));
            let (model, blended) = fit(&all, seed).unwrap();
            let methods = candidates(classes);
            assert_eq!(methods.len(), 4);
            let unchanged = |row: &[f64]| {
                let mut row = row.to_vec();
                softmax(&mut row);
                row
            };
            let parts: Vec<_> = CrossValidation { folds: 5, seed }.parts(n).collect();
            let features = |data: &VectorData| model.features(data);
            let error = |&(_, method): &Candidate| -> f64 {
                let of_fold = |(kept, left_out): &(Vec<usize>, Vec<usize>)| {
                    let (kept, left_out) = (part(&all, kept), part(&all, left_out));
                    match method.map(|method| method.fit(&kept, true).unwrap()) {
                        Some(fitted) => {
                            squared_error(|row| fitted.probs(row), &features(&left_out), &left_out)
                        }
                        None => squared_error(unchanged, &features(&left_out), &left_out),
                    }
                };
                parts.iter().map(of_fold).sum()
            };
            let errors: Vec<f64> = methods.iter().map(error).collect();
            let sum: f64 = errors.iter().map(|error| (-0.5 * (error - errors[0])).exp()).sum();
            for ((name, _), error) in methods.iter().zip(&errors) {
                let weight = (-0.5 * (error - errors[0])).exp() / sum;
                let found = blended.weights.iter().find(|part| part.name == *name).unwrap().weight;
                assert!((found - weight).abs() < 1e-6, "{name} {found} {weight}");
            }
            assert!(blended.weights.windows(2).all(|pair| pair[0].weight >= pair[1].weight));

            let fitted: Vec<_> = methods
                .iter()
                .map(|(name, method)| {
                    let weight = blended.weights.iter().find(|part| part.name == *name).unwrap().weight;
                    (weight, method.map(|method| method.fit(&all, true).unwrap()))
                })
                .collect();
            for row in features(&all).chunks(classes) {
                let probs = |fitted: &Option<VectorScalingModel>| match fitted {
                    Some(fitted) => fitted.probs(row),
                    None => unchanged(row),
                };
                let geometric = |class: usize| -> f64 {
                    fitted
                        .iter()
                        .map(|(weight, fitted)| weight * probs(fitted)[class].ln())
                        .sum::<f64>()
                        .exp()
                };
                let sum: f64 = (0..classes).map(geometric).sum();
                for (class, prob) in model.probs(row).into_iter().enumerate() {
                    assert!((prob - geometric(class) / sum).abs() < 1e-9);
                }
            }
        }
    }

    /// Neither the order of rows nor the number of threads changes a bit.
    #[test]
    fn order_and_threads_do_not_matter() {
        let (vectors, labels) = drawn(4, 500, 7, |z| 1.4 * z);
        let expected = fit(&data(&(vectors.clone(), labels.clone())), 3).unwrap();
        let reversed = vectors.part(&(0..500).rev().collect::<Vec<_>>());
        let reversed = data(&(reversed, labels.into_iter().rev().collect()));
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| fit(&reversed, 3).unwrap())
        };
        assert!(on(1) == expected && on(3) == expected);
    }

    /// Of scores that are calibrated already nearly nothing is lost, and of others nearly all that the best candidate gains is gained.
    #[test]
    fn little_is_lost_against_the_best_in_hindsight() {
        let laws: [fn(f64) -> f64; 4] = [|z| z, |z| 0.4 * z, |z| 2.0 * z, |z| z + z.abs()];
        for (at, law) in laws.into_iter().enumerate() {
            let held_out = data(&drawn(4, 20_000, 100, law));
            let (mut of_blend, mut of_best) = (0.0, 0.0);
            for seed in 0..6 {
                let all = data(&drawn(4, 300, seed, law));
                let (model, blended) = fit(&all, seed).unwrap();
                let features = model.features(&held_out);
                let error = |fitted: &VectorScalingModel| {
                    squared_error(|row| fitted.probs(row), &features, &held_out) / held_out.len() as f64
                };
                let input = model.input;
                let all = rows(&all, input);
                let fitted = |(_, method): Candidate| error(&fit_one(method, &all, input).unwrap());
                of_best += candidates(4).into_iter().map(fitted).fold(f64::INFINITY, f64::min);
                of_blend += error(&model);
                // Of calibrated scores every change is a loss.
                assert!(at == 0 || !blended.gain.is_loss(), "{at} {seed}: {:?}", blended.gain);
            }
            assert!(of_blend < of_best * 1.005, "{at}: {of_blend} {of_best}");
        }
    }

    #[test]
    fn with_many_classes_there_is_no_matrix() {
        let (mut rng, classes) = (Xoshiro256PlusPlus::seed_from_u64(5), 40);
        let values: Vec<f32> = (0..400 * classes).map(|_| 4.0 * rng.random::<f32>()).collect();
        let labels = values.chunks(classes).enumerate().map(|(row, logits)| {
            let largest = (0..classes).max_by(|&a, &b| logits[a].total_cmp(&logits[b])).unwrap();
            if row % 3 == 0 { row as i64 % 40 } else { largest as i64 }
        });
        let labels = labels.collect();
        let vectors = Vectors::new(values, classes, VectorKind::Logits).unwrap();
        let (model, _) = fit(&data(&(vectors, labels)), 0).unwrap();
        assert!(model.weights.len() <= classes);
    }

    /// Without a finite optimum of any function there is no blend.
    #[test]
    fn degenerate_rows_have_an_error() {
        let rows = |rows: &[[f32; 3]], labels: &[i64]| {
            data(&(Vectors::new(rows.concat(), 3, VectorKind::Logits).unwrap(), labels.to_vec()))
        };
        let right = [[4.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 2.0]];
        assert_eq!(fit(&rows(&right, &[1; 3]), 0), Err(VectorScalingError::OneClass(3)));
        assert_eq!(fit(&rows(&right, &[0, 1, 2]), 0), Err(VectorScalingError::Separated));
        // A class in one row only is in no more than one fold, and the blend stands.
        let (vectors, mut labels) = drawn(3, 60, 4, |z| z);
        labels.iter_mut().for_each(|label| *label = (*label).min(1));
        labels[17] = 2;
        let (model, blended) = fit(&data(&(vectors, labels)), 0).unwrap();
        assert!(model.classes() == 3 && !blended.weights.is_empty());
    }
}
