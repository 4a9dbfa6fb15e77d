//! What applying an artifact costs on a device, from counts that were measured.
//!
//! The counts are of `firmware/bench` at opt-level 3; `cargo xtask bench device --write-baseline` writes them to
//! `cost.csv`. What lies between the measured sizes is interpolated; what is made of measured parts is summed up; for
//! all else nothing is said.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use calib_core::artifact::TableForm;
use calib_core::table::Scaling;
use calib_core::{Artifact, Calibrator, VectorCalibrator};
use serde::Serialize;

/// The measured numbers of bins of step tables, with the comparisons that a search in them takes.
const MEASURED_LEVELS: [(u32, f64); 2] = [(15, 4.0), (64, 6.0)];

/// The number of classes that was measured.
const MEASURED_CLASSES: f64 = 10.0;

/// What a call is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallInput {
    /// The score of class 1.
    Score,
    /// A probability for every class.
    Probs,
    /// A logit for every class.
    Logits,
}

/// How a cost is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostBasis {
    /// This size was measured.
    Measured,
    /// Between two sizes that were measured.
    Interpolated,
    /// Beyond the sizes that were measured.
    Extrapolated,
    /// The sum of parts that were measured, or of multiples of them.
    Composed,
}

/// The instructions of a call on one core.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CoreCost {
    /// The board's name in the emulator.
    pub board: &'static str,
    /// The core's name.
    pub core: &'static str,
    /// Instructions from the function's first to its return; checks of the input included.
    pub instructions: f64,
}

/// What a call costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DeviceCost {
    /// What it is given.
    pub input: CallInput,
    /// How the cost is known.
    pub basis: CostBasis,
    /// The same in words.
    pub how: &'static str,
    /// The cost on each of the six cores.
    pub cores: Vec<CoreCost>,
}

/// A sum of multiples of measured counts.
#[derive(Clone)]
struct Estimate {
    basis: CostBasis,
    terms: Vec<(f64, &'static str)>,
}

impl Estimate {
    fn measured(function: &'static str) -> Self {
        Self { basis: CostBasis::Measured, terms: vec![(1.0, function)] }
    }

    fn composed(mut self, terms: impl IntoIterator<Item = (f64, &'static str)>) -> Self {
        self.basis = CostBasis::Composed;
        self.terms.extend(terms);
        self
    }

    fn times(mut self, factor: f64) -> Self {
        self.terms.iter_mut().for_each(|term| term.0 *= factor);
        self
    }
}

/// What a call of the artifact's calibrator costs on the six cores, for every input that it takes: the result with its
/// epsilon and flags, without the random word of a randomized artifact and without a decision. Of several tables the largest
/// counts.
///
/// Empty for forms that were not measured: randomized, Venn-Abers, 16-bit and code tables, and calibrators of whole vectors.
///
/// ```
/// use calib_fit::artifact::{CallInput, device_costs};
/// # use calib_fit::{BinaryData, BinaryMethod, StoredArtifact, Umd, artifact_bytes, fit_binary};
/// # let scores = (0..400).map(|i| f64::from(i) / 400.0).collect();
/// # let data = BinaryData::new(scores, (0..400).map(|i| i % 40 < i / 20).collect())?;
/// # let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(4)), 0.1)?;
/// # let stored = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?)?;
///
/// // A table of four bins, on six cores.
/// let costs = device_costs(&stored.artifact());
/// assert_eq!(costs[0].input, CallInput::Score);
/// assert!(costs[0].cores.iter().all(|core| core.instructions < 500.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn device_costs(artifact: &Artifact<'_>) -> Vec<DeviceCost> {
    let Some(table) = largest_table(artifact) else { return Vec::new() };
    let classes = f64::from(artifact.header().classes);
    match artifact.calibrator() {
        Calibrator::Binary(_) => vec![cost(CallInput::Score, table)],
        Calibrator::TopLabel(_) => {
            VECTOR_INPUTS.map(|input| cost(input.0, of_vector(table.clone(), input.1, classes, 1.0))).into()
        }
        Calibrator::Vector(VectorCalibrator::ClassWise(_) | VectorCalibrator::Normalized(_)) => VECTOR_INPUTS
            .map(|input| cost(input.0, of_vector(table.clone(), input.1, classes, classes)))
            .into(),
        _ => Vec::new(),
    }
}

/// Inputs with the function that was measured with them.
const VECTOR_INPUTS: [(CallInput, &str); 2] =
    [(CallInput::Probs, "top_label_probs"), (CallInput::Logits, "top_label_logits")];

/// Calibrating a score with the artifact's largest table.
fn largest_table(artifact: &Artifact<'_>) -> Option<Estimate> {
    let tables = artifact.tables();
    let forms = (0..tables.count()).filter_map(|table| Some(tables.get(table)?.form));
    of_table(forms.max_by_key(TableForm::bins)?)
}

/// Calibrating a score with a table.
fn of_table(form: TableForm<'_>) -> Option<Estimate> {
    // What is around a search: reading the table, epsilon and flags.
    let evidence = [(1.0, "calibrate_15"), (-1.0, "parsed_15")];
    let search = |function| Some(Estimate::measured(function).composed(evidence));
    match form {
        TableForm::Steps(steps) => Some(of_steps(steps.bins() as u32)),
        // Its cost grows with the number of knots as that of steps does.
        TableForm::Interpolated(knots) => {
            let more = levels(knots.segments() as u32) - MEASURED_LEVELS[0].1;
            let per_level = more / (MEASURED_LEVELS[1].1 - MEASURED_LEVELS[0].1);
            let grown = [(per_level, "parsed_64"), (-per_level, "parsed_15")];
            Some(search("interpolated_15")?.composed(grown))
        }
        TableForm::Scaling(function) => match function.parameters() {
            Scaling::PlattLogit { .. } => search("platt_logit"),
            Scaling::PlattProb { .. } => search("platt_prob"),
            Scaling::Beta { .. } => search("beta"),
            Scaling::Temperature { .. } => search("temperature"),
            _ => None,
        },
        _ => None,
    }
}

/// The comparisons that a search among so many bins takes.
fn levels(bins: u32) -> f64 {
    f64::from(bins.max(1).next_power_of_two().ilog2())
}

/// Calibrating a score with a step table: linear in the number of comparisons.
fn of_steps(bins: u32) -> Estimate {
    let [(small, at_small), (large, at_large)] = MEASURED_LEVELS;
    let share = (levels(bins) - at_small) / (at_large - at_small);
    let basis = match share {
        _ if bins == small || bins == large => CostBasis::Measured,
        0.0..=1.0 => CostBasis::Interpolated,
        _ => CostBasis::Extrapolated,
    };
    Estimate { basis, terms: vec![(1.0 - share, "calibrate_15"), (share, "calibrate_64")] }
}

/// Calibrating a vector: the argmax, for logits the softmax, which grow with the number of classes, and so many searches.
fn of_vector(table: Estimate, function: &'static str, classes: f64, searches: f64) -> Estimate {
    let share = classes / MEASURED_CLASSES;
    let is_measured = table.basis == CostBasis::Measured
        && table.terms.contains(&(1.0, "calibrate_15"))
        && share == 1.0
        && searches == 1.0;
    if is_measured {
        return Estimate::measured(function);
    }
    table.times(searches).composed([(share, function), (-share, "calibrate_15")])
}

fn cost(input: CallInput, estimate: Estimate) -> DeviceCost {
    let on_core = |(&(board, core), counts): (&(&'static str, &'static str), &Counts)| {
        let term = |(factor, function): &(f64, &str)| factor * counts[function];
        CoreCost { board, core, instructions: estimate.terms.iter().map(term).sum() }
    };
    let how = match estimate.basis {
        CostBasis::Measured => "measured for this size",
        CostBasis::Interpolated => {
            "interpolated between what was measured with 15 and with 64 bins, in the number of comparisons"
        }
        CostBasis::Extrapolated => {
            "extrapolated from what was measured with 15 and with 64 bins, in the number of comparisons"
        }
        CostBasis::Composed => {
            "put together from parts that were measured: the lookup, what is around it, and the vector of 10 classes"
        }
    };
    DeviceCost { input, basis: estimate.basis, how, cores: MEASURED.iter().map(on_core).collect() }
}

/// Instructions by function.
type Counts = BTreeMap<&'static str, f64>;

/// The measured instructions of the functions of `firmware/bench`, by board in the emulator and name of its core.
static MEASURED: LazyLock<BTreeMap<(&str, &str), Counts>> = LazyLock::new(|| {
    let mut boards: BTreeMap<_, Counts> = BTreeMap::new();
    for line in include_str!("cost.csv").lines().skip(1) {
        let [board, core, function, count] = line.split(',').collect::<Vec<_>>()[..] else { continue };
        boards.entry((board, core)).or_default().insert(function, count.parse().expect("counts are numbers"));
    }
    boards
});

#[cfg(test)]
mod tests {
    use super::*;

    /// What an estimate comes to on a core.
    fn on(core: &str, estimate: Estimate) -> f64 {
        cost(CallInput::Score, estimate)
            .cores
            .into_iter()
            .find(|cost| cost.core == core)
            .unwrap()
            .instructions
    }

    #[test]
    fn a_size_between_is_between() {
        let at = |bins| on("Cortex-M4F", of_steps(bins));
        assert!(at(15) < at(32) && at(32) < at(64) && at(64) < at(1000));
        assert!((at(32) - (at(15) + at(64)) / 2.0).abs() < 1e-9);
        let basis = [1, 15, 16, 32, 64, 100].map(|bins| of_steps(bins).basis);
        let (measured, between, beyond) =
            (CostBasis::Measured, CostBasis::Interpolated, CostBasis::Extrapolated);
        assert_eq!(basis, [beyond, measured, between, between, measured, beyond]);
    }

    #[test]
    fn ten_classes_of_fifteen_bins_are_what_was_measured() {
        for (_, function) in VECTOR_INPUTS {
            let measured_size = of_vector(of_steps(15), function, 10.0, 1.0);
            assert_eq!(measured_size.basis, CostBasis::Measured);
            let more = of_vector(of_steps(15), function, 20.0, 1.0);
            let (small, large) = (on("RV32IMAC", measured_size), on("RV32IMAC", more.clone()));
            assert!(small < large && large < 2.0 * small && more.basis == CostBasis::Composed);
        }
    }

    #[test]
    fn every_function_was_measured_on_every_board() {
        let used =
            ["calibrate_15", "calibrate_64", "parsed_15", "parsed_64", "interpolated_15", "platt_logit"];
        let used = used.into_iter().chain(["platt_prob", "beta", "temperature"]);
        for function in used.chain(VECTOR_INPUTS.map(|input| input.1)) {
            MEASURED.values().for_each(|counts| assert!(counts[function] > 1.0));
        }
    }
}
