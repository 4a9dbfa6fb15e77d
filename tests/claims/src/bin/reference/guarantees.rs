//! How often the guarantees of operating points, prediction sets and adjusted calibrators fail, over many calibration sets.

use anyhow::{Context, Result, ensure};
use calib_claims::truth::Truth;
use calib_core::ScoreEncoding;
use calib_host::adjust::{Adjustment, CalibrationPrevalence, Shift, adjusted};
use calib_host::operating::{Aim, Aims, GroupScores, KeyedScores, OperatingError, OperatingPoints, Sharing};
use calib_host::sets::{ConformityScores, PredictionSets, SetAim};
use calib_host::stats::clopper_pearson;
use calib_host::{
    ArtifactOptions, BinaryData, BinaryMethod, StoredArtifact, Umd, artifact_bytes, fit_binary,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const SETS: u64 = 10_000;
const SEED: u64 = 17;
const CONFIDENCE: f64 = 0.95;
const ALPHA: f64 = 0.1;
const SIZES: [usize; 4] = [30, 100, 500, 5000];
/// The share of class 1 in every sample.
const PREVALENCE: f64 = 0.4;

/// Scores of both classes, of which the device's own order and every true share are known: a draw `u` of class 1 becomes
/// `u^(1/power)`, and one of class 0 one less such a draw, each rounded down to a multiple of `1/atoms`.
#[derive(Clone, Copy)]
struct Scores {
    name: &'static str,
    /// `None` for the floats themselves.
    atoms: Option<f64>,
    /// The powers of class 0 and 1.
    powers: [f64; 2],
}

const SCORES: [Scores; 3] = [
    Scores { name: "continuous", atoms: None, powers: [3.0, 2.0] },
    Scores { name: "256 values", atoms: Some(256.0), powers: [3.0, 2.0] },
    Scores { name: "4 values", atoms: Some(4.0), powers: [3.0, 2.0] },
];

impl Scores {
    /// How far a point is on the side of its class: 1 is the surest.
    fn draw(self, class: usize, rng: &mut Xoshiro256PlusPlus) -> f64 {
        let side = f64::from(rng.random::<f32>()).powf(1.0 / self.powers[class]);
        // The float next to 1 is one of a device's scores, too.
        let side = f64::from(side as f32);
        self.atoms.map_or(side, |atoms| (side * atoms).floor().min(atoms - 1.0) / atoms)
    }

    /// The probability that a point of the class is at least so far on the side of its class.
    fn from(self, class: usize, side: f64) -> f64 {
        let side = self.atoms.map_or(side, |atoms| (side * atoms).ceil() / atoms);
        1.0 - side.clamp(0.0, 1.0).powf(self.powers[class])
    }

    /// Scores of class 1, and labels.
    fn sample(self, n: usize, rng: &mut Xoshiro256PlusPlus) -> (Vec<f64>, Vec<bool>) {
        let point = |_| {
            let label = rng.random::<f64>() < PREVALENCE;
            let side = self.draw(label.into(), rng);
            (if label { side } else { f64::from(1.0 - side as f32) }, label)
        };
        (0..n).map(point).unzip()
    }

    /// The sensitivity of a threshold of the device.
    fn sensitivity(self, key: u32) -> f64 {
        self.from(1, f32::from_bits(key).into())
    }

    /// The specificity of a threshold of the device: the negatives below it.
    fn specificity(self, key: u32) -> f64 {
        // Below a threshold is at most the number before it.
        let below = key.checked_sub(1).map(f32::from_bits);
        // In f32 the difference could be that of the threshold itself.
        below.map_or(0.0, |score| self.from(0, 1.0 - f64::from(score)))
    }
}

/// What is known of a guarantee after many sets.
#[derive(Default)]
struct GuaranteeTally {
    stated: u64,
    broken: u64,
    /// The sum of the exact probabilities of a breach for continuous scores.
    exact: f64,
}

impl GuaranteeTally {
    fn count(&mut self, is_broken: bool, exact: f64) {
        self.stated += 1;
        self.broken += u64::from(is_broken);
        self.exact += exact;
    }

    /// Prints a line, and fails if the guarantee is contradicted significantly more often than at its level.
    fn line(&self, name: &str, level: f64) -> Result<()> {
        if self.stated == 0 {
            println!("{name:<66} {level:>7.4} {:>8}", "refused: too few");
            return Ok(());
        }
        let interval = clopper_pearson(self.broken, self.stated, 0.01);
        let rate = |sum: f64| sum / self.stated as f64;
        let rare = if self.stated < SETS { format!("  stated for {}", self.stated) } else { String::new() };
        println!(
            "{name:<66} {level:>7.4} {:>8.4} {:>18} {:>8}{rare}",
            rate(self.broken as f64),
            format!("[{:.4}, {:.4}]", interval.lo, interval.hi),
            if self.exact > 0.0 { format!("{:.4}", rate(self.exact)) } else { String::new() },
        );
        ensure!(interval.lo <= level, "{name}: broken more often than at its level");
        Ok(())
    }
}

/// Prints how often each guarantee is contradicted, with its level, the 99 % interval and, where there is one, the exact probability for
/// continuous scores. Fails if a guarantee is contradicted significantly more often than at its level.
pub(super) fn guarantees() -> Result<()> {
    println!("\nguarantees that do not hold, of {SETS} calibration sets each, seed {SEED}");
    println!("{:<66} {:>7} {:>8} {:>18} {:>8}", "guarantee", "level", "broken", "99 % interval", "exact");
    for scores in SCORES {
        for n in SIZES {
            one_threshold(scores, n)?;
            sets(scores, n)?;
        }
        groups(scores)?;
    }
    label_shift()
}

fn rng(set: u64, n: usize) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(SEED + set + ((n as u64) << 32))
}

fn keyed(rows: (Vec<f64>, Vec<bool>)) -> Result<KeyedScores> {
    Ok(KeyedScores::of_scores(&BinaryData::new(rows.0, rows.1)?.on_device())?)
}

/// `None` if there are too few points for any guarantee.
fn find(groups: &[GroupScores], aims: Aims, sharing: Sharing) -> Result<Option<OperatingPoints>> {
    match OperatingPoints::find(groups, aims, sharing) {
        Err(OperatingError::TooFew { .. }) => Ok(None),
        found => Ok(Some(found?)),
    }
}

/// The probability that `k` of `m` lie on the wrong side of a level at most, for continuous scores.
fn exact(k: Option<u64>, m: u64, level: f64) -> f64 {
    let mut term = level.powf(m as f64);
    let mut sum = term;
    for j in 0..k.unwrap_or(0) {
        term *= (m - j) as f64 / (j + 1) as f64 * (1.0 - level) / level;
        sum += term;
    }
    sum
}

/// Sensitivity and specificity, alone and both at once, and what follows for the class that did not choose the threshold.
fn one_threshold(scores: Scores, n: usize) -> Result<()> {
    let [mut sensitive, mut specific, mut both, mut other, mut values] =
        [(); 5].map(|()| GuaranteeTally::default());
    let aim = |level| Some(Aim { level, confidence: CONFIDENCE });
    let level = if n < 100 { 0.75 } else { 0.9 };
    let mut confidence = 0.0;
    for set in 0..SETS {
        let all = keyed(scores.sample(n, &mut rng(set, n)))?;
        let group = [GroupScores { name: None, scores: all }];
        let found = |sensitivity, specificity| find(&group, Aims { sensitivity, specificity }, Sharing::Own);
        if let Some(found) = found(aim(level), None)? {
            let point = &found.points()[0];
            let truth = (scores.sensitivity(point.lower), scores.specificity(point.lower));
            let m = point.counts.positives;
            sensitive.count(truth.0 < level, exact(point.positives_allowed, m, level));
            let bounds = found.specificity_bounds(point).context("the negatives chose nothing")?;
            other.count(truth.1 < bounds.lo - 1e-12 || truth.1 > bounds.hi + 1e-12, 0.0);
            let guaranteed = found.predictive_values(point, PREVALENCE)?;
            let (raised, cleared) = (PREVALENCE * truth.0, (1.0 - PREVALENCE) * truth.1);
            let ppv = raised / (raised + (1.0 - PREVALENCE) * (1.0 - truth.1));
            let npv = cleared / (cleared + PREVALENCE * (1.0 - truth.0));
            confidence = guaranteed.confidence;
            values.count(ppv < guaranteed.ppv - 1e-12 || npv < guaranteed.npv - 1e-12, 0.0);
        }
        if let Some(found) = found(None, aim(level))? {
            let point = &found.points()[0];
            let m = point.counts.negatives;
            specific.count(scores.specificity(point.upper) < level, exact(point.negatives_allowed, m, level));
        }
        if let Some(found) = found(aim(level), aim(level))? {
            let point = &found.points()[0];
            both.count(
                scores.sensitivity(point.lower) < level || scores.specificity(point.upper) < level,
                0.0,
            );
        }
    }
    let name = |what: &str| format!("{}, n = {n}: {what}", scores.name);
    let delta = 1.0 - CONFIDENCE;
    sensitive.line(&name(&format!("sensitivity {level}")), delta)?;
    specific.line(&name(&format!("specificity {level}")), delta)?;
    both.line(&name("both at once"), 1.0 - CONFIDENCE * CONFIDENCE)?;
    other.line(&name("exact bounds of the other class"), delta)?;
    values.line(&name("both predictive values at a prevalence"), 1.0 - confidence)
}

/// Two groups of different scores, with thresholds of their own or one for both.
fn groups(scores: Scores) -> Result<()> {
    let second = Scores { powers: [2.0, 1.0], ..scores };
    for (sharing, name) in [(Sharing::Own, "of their own"), (Sharing::Common, "for all")] {
        for n in [200, 1000] {
            let (mut kept, level) = (GuaranteeTally::default(), 0.9);
            let aims = Aims { sensitivity: Some(Aim { level, confidence: CONFIDENCE }), specificity: None };
            for set in 0..SETS {
                let mut rng = rng(set, n + 1);
                let group = |name: &str, scores| GroupScores { name: Some(name.into()), scores };
                let (one, other) = (keyed(scores.sample(n, &mut rng))?, keyed(second.sample(n, &mut rng))?);
                let Some(found) = find(&[group("a", one), group("b", other)], aims, sharing)? else {
                    continue;
                };
                let keys = [found.points()[0].lower, found.points()[1].lower];
                let is_broken = scores.sensitivity(keys[0]) < level || second.sensitivity(keys[1]) < level;
                kept.count(is_broken, 0.0);
            }
            let name = format!("{}, two groups of {n}: sensitivity {level}, thresholds {name}", scores.name);
            kept.line(&name, 1.0 - CONFIDENCE)?;
        }
    }
    Ok(())
}

/// Prediction sets of two classes: of all rows, of every class, and over the draw of the calibration rows.
fn sets(scores: Scores, n: usize) -> Result<()> {
    let aim = |by_class, confidence| SetAim { alpha: ALPHA, by_class, confidence };
    let [mut marginal, mut zero, mut one] = [(); 3].map(|()| Mean::default());
    let [mut training, mut both] = [(); 2].map(|()| GuaranteeTally::default());
    for set in 0..SETS {
        let (values, labels) = scores.sample(n, &mut rng(set, n));
        let (rows, labels) = ConformityScores::of_scores(&BinaryData::new(values, labels)?.on_device())?;
        let labels: Vec<i64> = labels.into_iter().map(i64::from).collect();
        let fit = |aim| PredictionSets::fit(&rows, &labels, aim);
        let covered = |sets: &PredictionSets, class: usize| match sets.threshold(class).key {
            Some(key) => scores.from(class, f32::from_bits(key).into()),
            None => 1.0,
        };
        let all =
            |sets: &PredictionSets| (1.0 - PREVALENCE) * covered(sets, 0) + PREVALENCE * covered(sets, 1);
        marginal.add(1.0 - all(&fit(aim(false, None))?));
        let by_class = fit(aim(true, None))?;
        zero.add(1.0 - covered(&by_class, 0));
        one.add(1.0 - covered(&by_class, 1));
        let conditional = fit(aim(false, Some(CONFIDENCE)))?;
        let n = n as u64;
        let k = Aim { level: 1.0 - ALPHA, confidence: CONFIDENCE }.rank(n, 1);
        let is_broken = all(&conditional) < 1.0 - ALPHA;
        training.count(is_broken, k.map_or(0.0, |k| exact(Some(k), n, 1.0 - ALPHA)));
        let conditional = fit(aim(true, Some(CONFIDENCE)))?;
        both.count((0..2).any(|class| covered(&conditional, class) < 1.0 - ALPHA), 0.0);
    }
    let name = |what: &str| format!("{}, n = {n}: sets, {what}", scores.name);
    let exact = (ALPHA * (n as f64 + 1.0) + 1e-9).floor() / (n as f64 + 1.0);
    marginal.line(&name("a new row is missed"), Some(exact))?;
    zero.line(&name("a new row of class 0 is missed"), None)?;
    one.line(&name("a new row of class 1 is missed"), None)?;
    training.line(&name("more rows than alpha are missed"), 1.0 - CONFIDENCE)?;
    both.line(&name("more rows of a class than alpha are missed"), 1.0 - CONFIDENCE)
}

/// A mean of probabilities.
#[derive(Default)]
struct Mean {
    sum: f64,
    squares: f64,
}

impl Mean {
    fn add(&mut self, prob: f64) {
        self.sum += prob;
        self.squares += prob * prob;
    }

    /// Prints a line, and fails if the mean is significantly above alpha.
    fn line(&self, name: &str, exact: Option<f64>) -> Result<()> {
        let n = SETS as f64;
        let mean = self.sum / n;
        let half = 2.576 * ((self.squares / n - mean * mean).max(0.0) / n).sqrt();
        println!(
            "{name:<66} {ALPHA:>7.4} {mean:>8.4} {:>18} {:>8}",
            format!("[{:.4}, {:.4}]", mean - half, mean + half),
            exact.map(|exact| format!("{exact:.4}")).unwrap_or_default(),
        );
        ensure!(mean - half <= ALPHA, "{name}: more often than alpha");
        Ok(())
    }
}

/// Every bin's guarantee at another prevalence, with the prevalence of the calibration points known or counted.
fn label_shift() -> Result<()> {
    let truths = [
        Truth::uniform("continuous, P = s^2", |s| s * s),
        Truth::uniform("continuous, P = s/2 + 1/4", |s| s / 2.0 + 0.25),
        Truth::uniform("continuous, P = s/10 (rare)", |s| s / 10.0),
    ];
    let alpha_prevalence = 0.05;
    for truth in &truths {
        for n in [500, 5000] {
            for to in [0.02, 0.3, 0.8] {
                let [mut known, mut counted] = [(); 2].map(|()| GuaranteeTally::default());
                let (_, from) = truth.bins(std::iter::empty())[0];
                for set in 0..SETS / 10 {
                    let data = truth.draw(n, &mut rng(set, n));
                    let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(8)), ALPHA)?;
                    let positives = fit.positives().context("a binary fit counts them")?;
                    let before =
                        StoredArtifact::from_bytes(&artifact_bytes(&fit, &ArtifactOptions::default())?)?;
                    let estimate =
                        CalibrationPrevalence::Counted { positives, n: n as u64, alpha: alpha_prevalence };
                    for (kept, from_) in
                        [(&mut known, CalibrationPrevalence::Stated(from)), (&mut counted, estimate)]
                    {
                        let shift = Shift::new(from_, to)?;
                        let adjustment = Adjustment::new(shift);
                        let after = StoredArtifact::from_bytes(&adjusted(&before, &adjustment)?)?;
                        kept.count(is_off(&after, truth, from, to)?, 0.0);
                    }
                }
                let name = |what: &str| format!("{}, n = {n}, to {to}: {what}", truth.name);
                known.line(&name("every bin, prevalence known"), ALPHA)?;
                counted.line(&name("every bin, prevalence counted"), ALPHA + alpha_prevalence)?;
            }
        }
    }
    Ok(())
}

/// Whether some bin's truth at the new prevalence is farther off than epsilon, or outside the bin's interval.
fn is_off(after: &StoredArtifact, truth: &Truth, from: f64, to: f64) -> Result<bool> {
    let artifact = after.artifact();
    ensure!(artifact.header().encoding == ScoreEncoding::F32, "scores are floats");
    let table = artifact.tables().get(0).context("a binary artifact has a table")?;
    let epsilon = f64::from(table.epsilon.context("scores are continuous")?);
    let calib_core::artifact::TableForm::Steps(steps) = table.form else { anyhow::bail!("umd fits steps") };
    let bins = truth.bins(steps.edges().iter().map(|&edge| (f64::from(edge), 0.0)));
    let ratio = to / (1.0 - to) * ((1.0 - from) / from);
    let off = |(bin, (value, (_, prob))): (u16, (f32, (f64, f64)))| {
        let new = ratio * prob / (ratio * prob + 1.0 - prob);
        let interval = artifact.tables().interval(0, bin);
        let is_outside =
            interval.is_none_or(|interval| new < f64::from(interval.lo) || new > f64::from(interval.hi));
        (f64::from(value) - new).abs() > epsilon || is_outside
    };
    Ok((0..).zip(steps.values().zip(bins)).any(off))
}
