//! Fits to all points and to parts, and the losses of the points that they left out.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};

use calib_core::artifact::Reduction;

use super::compared::{CompareOptions, ComparedMethod, FailedMethod, PairedDifference, fits};
use super::data::{Claim, CompareData, Contender};
use super::prepared::{Fitted, Prepared};
use crate::artifact::device_costs;
use crate::assess::{EstimateWithInterval, ProperScore};
use crate::parallel;

/// The held-out losses of a method, and what a fit to all points is like.
pub(super) struct Candidate {
    pub(super) losses: Vec<f64>,
    pub(super) compared: ComparedMethod,
}

/// The points that a fit leaves out.
pub(super) enum HeldOut<'a> {
    /// Repeat by repeat, part by part: the indices of the points outside and inside.
    Parts(Vec<Vec<(Vec<usize>, Vec<usize>)>>),
    Test(&'a CompareData),
}

/// Added to the seed, so that random words have a separate seed.
const WORDS: u64 = 0x9e37_79b9_7f4a_7c15;

/// All that a method is judged by.
pub(super) struct CrossValidator<'a> {
    points: &'a CompareData,
    held_out: HeldOut<'a>,
    options: &'a CompareOptions,
    candidates: u32,
    counted: Counted<'a>,
}

/// Counts fits, and tells how many there will be.
struct Counted<'a> {
    done: AtomicUsize,
    total: AtomicUsize,
    progress: &'a (dyn Fn(usize, usize) + Sync),
}

impl Counted<'_> {
    fn one_more(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        (self.progress)(done, self.total.load(Ordering::Relaxed));
    }
}

impl<'a> CrossValidator<'a> {
    /// Judges methods on what is held out; `candidates` share alpha.
    pub(super) fn new(
        points: &'a CompareData,
        held_out: HeldOut<'a>,
        options: &'a CompareOptions,
        candidates: u32,
        progress: &'a (dyn Fn(usize, usize) + Sync),
    ) -> Self {
        let counted = Counted { done: AtomicUsize::new(0), total: AtomicUsize::new(0), progress };
        Self { points, held_out, options, candidates, counted }
    }
}

impl CrossValidator<'_> {
    /// The methods that can be fitted with their losses, and the others, each in the order given.
    pub(super) fn candidates(
        &self,
        contenders: &[(String, Contender)],
    ) -> (Vec<Candidate>, Vec<FailedMethod>) {
        self.counted.total.store(contenders.len() * fits(self.options.split), Ordering::Relaxed);
        let failure = |name: &String, reason| FailedMethod { name: name.clone(), reason };
        let named = contenders.iter().map(|(_, contender)| contender);
        let all = Prepared::new(Cow::Borrowed(self.points), named, self.options.bootstrap.seed);
        let whole: Vec<Result<Fitted, String>> =
            parallel::map(contenders, |(_, contender)| self.whole(&all, contender));
        drop(all);
        let places = match &self.held_out {
            HeldOut::Test(_) => 1,
            HeldOut::Parts(repeats) => repeats.iter().map(Vec::len).sum(),
        };
        let (mut fitted, mut failed) = (Vec::new(), Vec::new());
        for ((name, contender), whole) in contenders.iter().zip(whole) {
            match whole {
                Ok(whole) => fitted.push((name, contender, whole)),
                Err(reason) => failed.push(failure(name, reason)),
            }
        }
        if matches!(self.held_out, HeldOut::Parts(_)) {
            self.counted.total.store(contenders.len() + fitted.len() * places, Ordering::Relaxed);
        }
        let mut losses = self.losses_of_places(&fitted, places);
        let mut candidates = Vec::new();
        let count = fitted.len();
        for (method, (name, _, whole)) in fitted.iter().enumerate() {
            let of_places = (0..places).filter_map(|place| losses[place * count + method].take());
            // The first part that failed says why, whichever thread was first.
            match of_places.collect::<Result<Vec<_>, _>>() {
                Ok(of_places) => candidates.push(self.candidate(name, whole, &of_places)),
                Err(reason) => failed.push(failure(name, reason)),
            }
        }
        let rank = |failed: &FailedMethod| contenders.iter().position(|(name, _)| *name == failed.name);
        failed.sort_by_key(rank);
        (candidates, failed)
    }

    /// The losses of all methods in all places, those in the first place first.
    fn losses_of_places(
        &self,
        fitted: &[(&String, &Contender, Fitted)],
        places: usize,
    ) -> Vec<Option<Result<Vec<f64>, String>>> {
        let repeats = match &self.held_out {
            HeldOut::Test(test) => {
                return parallel::map(fitted, |(_, _, whole)| Some(self.losses(test, whole, 0)));
            }
            HeldOut::Parts(repeats) => repeats,
        };
        // All methods on one part, then on the next: so what is done tells how long the rest will take, and methods share what is
        // made of the part. There are as many parts at a time as keep all threads busy.
        let at_a_time = rayon::current_num_threads().div_ceil(fitted.len().max(1));
        let parts: Vec<_> = repeats.iter().flatten().enumerate().collect();
        let mut losses = Vec::with_capacity(places * fitted.len());
        for some in parts.chunks(at_a_time) {
            let seed = self.options.bootstrap.seed;
            let prepared = parallel::map(some, |&(place, (outside, inside))| {
                let named = fitted.iter().map(|method| method.1);
                let kept = Prepared::new(Cow::Owned(self.points.part(outside)), named, seed);
                (place as u64, kept, self.points.part(inside))
            });
            let jobs = prepared.iter().flat_map(|part| fitted.iter().map(move |method| (part, method.1)));
            losses.extend(parallel::map(jobs, |((place, kept, left_out), contender)| {
                let fitted = self.fit(kept, contender);
                let losses = fitted.and_then(|fitted| self.losses(left_out, &fitted, *place));
                self.counted.one_more();
                Some(losses)
            }));
        }
        losses
    }

    /// A fit to all points.
    fn whole(&self, all: &Prepared<'_>, contender: &Contender) -> Result<Fitted, String> {
        let fitted = if self.options.score == ProperScore::LogLoss
            && self.points.claim() == Some(Claim::AllClasses)
            && matches!(contender, Contender::Reduced(Reduction::ClassWise, _))
        {
            Err("its probabilities need not sum to one, and the log-loss is proper only if they do".into())
        } else {
            self.fit(all, contender)
        };
        self.counted.one_more();
        fitted
    }

    /// What is known of a method, by the losses of all parts.
    fn candidate(&self, name: &str, whole: &Fitted, of_places: &[Vec<f64>]) -> Candidate {
        let clipped = of_places.iter().map(|losses| self.clipped(losses)).sum();
        let losses = match &self.held_out {
            HeldOut::Test(_) => of_places.concat(),
            HeldOut::Parts(repeats) => {
                let mut losses = vec![0.0; self.points.len()];
                for ((_, inside), of_part) in repeats.iter().flatten().zip(of_places) {
                    for (&i, loss) in inside.iter().zip(of_part) {
                        losses[i] += loss / repeats.len() as f64;
                    }
                }
                losses
            }
        };
        let log_loss_clipped = (self.options.score == ProperScore::LogLoss).then_some(clipped);
        Candidate { losses, compared: ComparedMethod { log_loss_clipped, ..self.compared(name, whole) } }
    }

    /// How many losses are those of what was given the probability 0.
    fn clipped(&self, losses: &[f64]) -> u64 {
        let most = self.options.score.loss(0.0, true);
        losses.iter().filter(|&&loss| loss >= most).count() as u64
    }

    fn fit(&self, points: &Prepared<'_>, contender: &Contender) -> Result<Fitted, String> {
        points.fit(contender, (self.options.alpha, self.candidates))
    }

    /// The losses of the part in this place.
    fn losses(&self, points: &CompareData, fitted: &Fitted, place: u64) -> Result<Vec<f64>, String> {
        // Words that a randomized method breaks ties with now must have nothing to do with those of its fit, or of other
        // parts.
        let seed = (self.options.bootstrap.seed ^ WORDS).wrapping_add(place);
        points.losses(&fitted.stored, self.options.score, seed)
    }

    /// What a fit to all points is like, without its losses.
    fn compared(&self, name: &str, whole: &Fitted) -> ComparedMethod {
        let artifact = whole.stored.artifact();
        let unknown = EstimateWithInterval { value: f64::NAN, interval: None };
        let narrow_enough = |wanted| whole.epsilon.is_some_and(|epsilon| epsilon <= wanted);
        ComparedMethod {
            name: name.into(),
            parameters: artifact.header().provenance.parameters.into(),
            log_loss_clipped: None,
            uncalibrated_tables: whole.uncalibrated_tables,
            loss: unknown,
            change: unknown,
            behind_best: PairedDifference { value: f64::NAN, standard_error: f64::NAN },
            epsilon: whole.epsilon,
            meets_epsilon: self.options.epsilon.map(narrow_enough),
            len_bytes: artifact.len_bytes(),
            cost: device_costs(&artifact).into_iter().find(|cost| cost.input == self.points.input()),
        }
    }
}
