//! A truncated Newton method for smooth convex functions of many parameters.

use crate::cancel;

/// A smooth convex function.
pub(crate) trait Convex {
    /// The value and the gradient at `at`; whatever the other methods need is kept.
    fn move_to(&mut self, at: &[f64], gradient: &mut [f64]) -> f64;

    /// Gets the next two methods ready at the point last moved to, where the gradient has this norm.
    fn prepare(&mut self, norm: f64);

    /// The product of the Hessian, at the point last moved to, and a direction.
    fn hessian_times(&self, direction: &[f64], product: &mut [f64]);

    /// A direction, divided by something like the Hessian.
    fn precondition(&self, direction: &[f64], divided: &mut [f64]);

    /// How far a step moves what is predicted: 0 for no change, without a unit.
    fn reach(&self, step: &[f64]) -> f64;
}

/// What came of a minimization.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum End {
    /// The gradient vanishes and so does the next step.
    Minimum,
    /// The gradient vanishes, but the steps do not: the minimum is at infinity.
    AtInfinity,
    /// The gradient, of this norm, does not vanish.
    NotConverged(f64),
}

/// The norm of the gradient at which a minimization has converged.
pub(crate) const GRADIENT_NORM: f64 = 1e-10;

/// How far the next step may reach then.
const STEP_LIMIT: f64 = 1e-4;

/// The same two where a minimization only finds a start for another.
const APPROACH_NORM: f64 = 1e-3;
const APPROACH_STEP_LIMIT: f64 = 0.1;

/// How many steps beyond a vanishing gradient tell a minimum at infinity: each of Newton's steps toward it goes one
/// unit of logits further, and the gradient falls to 1/e.
const BEYOND: usize = 8;

const MAX_STEPS: usize = 300;

/// How many products with the Hessian a step may take: what is left undone is for the next one.
const MAX_PRODUCTS: usize = 1000;

/// Minimizes a function from `at` on, in place.
pub(crate) fn minimize(function: &mut impl Convex, at: &mut [f64]) -> End {
    descend(function, at, GRADIENT_NORM, STEP_LIMIT)
}

/// The same to fewer digits, for a point from which another minimization starts.
pub(crate) fn approach(function: &mut impl Convex, at: &mut [f64]) -> End {
    descend(function, at, APPROACH_NORM, APPROACH_STEP_LIMIT)
}

fn descend(function: &mut impl Convex, at: &mut [f64], gradient_norm: f64, most_reach: f64) -> End {
    let mut gradient = vec![0.0; at.len()];
    let mut beyond = 0;
    let mut current = function.move_to(at, &mut gradient);
    for _ in 0..MAX_STEPS {
        cancel::check_canceled();
        let norm = norm(&gradient);
        function.prepare(norm);
        let step = newton_step(function, &gradient);
        if norm <= gradient_norm {
            if function.reach(&step) <= most_reach {
                return End::Minimum;
            }
            beyond += 1;
            if beyond > BEYOND {
                return End::AtInfinity;
            }
        }
        let (from, mut length) = (at.to_vec(), 1.0);
        current = loop {
            for ((at, from), step) in at.iter_mut().zip(&from).zip(&step) {
                *at = from - length * step;
            }
            let next = function.move_to(at, &mut gradient);
            // Near the minimum the function is flat to its last bits, and the full step is the right one.
            if next <= current + 1e-14 * (1.0 + current.abs()) || length < 1e-10 {
                break next;
            }
            length /= 2.0;
        };
    }
    End::NotConverged(norm(&gradient))
}

/// The gradient divided by the Hessian, up to a fraction of its norm, by preconditioned conjugate gradients.
///
/// The fraction shrinks with the gradient, so that the last steps are as good as exact.
fn newton_step(function: &impl Convex, gradient: &[f64]) -> Vec<f64> {
    let len = gradient.len();
    let wanted = norm(gradient) * norm(gradient).clamp(1e-4, 0.1);
    let (mut step, mut residual) = (vec![0.0; len], gradient.to_vec());
    let (mut divided, mut product) = (vec![0.0; len], vec![0.0; len]);
    function.precondition(&residual, &mut divided);
    let mut direction = divided.clone();
    let mut size = dot(&residual, &divided);
    for _ in 0..(10 * len).clamp(50, MAX_PRODUCTS) {
        cancel::check_canceled();
        if norm(&residual) <= wanted {
            break;
        }
        function.hessian_times(&direction, &mut product);
        let curvature = dot(&direction, &product);
        // No curvature is left but rounding.
        if curvature <= 0.0 || !curvature.is_finite() {
            break;
        }
        let length = size / curvature;
        for ((step, residual), (direction, product)) in
            step.iter_mut().zip(&mut residual).zip(direction.iter().zip(&product))
        {
            *step += length * direction;
            *residual -= length * product;
        }
        function.precondition(&residual, &mut divided);
        let next = dot(&residual, &divided);
        for (direction, divided) in direction.iter_mut().zip(&divided) {
            *direction = divided + next / size * *direction;
        }
        size = next;
    }
    // Along a direction without curvature the gradient itself is as good as any.
    if step.iter().all(|&entry| entry == 0.0) { gradient.to_vec() } else { step }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}
