//! What the page says about classes, decisions and costs, as text.

use calib_fit::artifact::CallInput;
use calib_fit::assess::BinnedEstimate;
use calib_fit::stats::percent_of_success;
use minijinja::{Value, context};

use super::classes::{ClassWiseSide, ranges};
use super::data::Report;
use super::threshold::threshold_text;
use super::words::number;

/// Tables hold at most so many classes, those with the most rows.
const LISTED_CLASSES: usize = 200;

impl Report {
    /// Every class against the rest: the metrics, a line for every class, and which classes are left out.
    pub(super) fn one_vs_rest(&self) -> Option<Value> {
        let classes = self.classes.as_ref()?;
        let debiased = |estimate: &BinnedEstimate| estimate.debiased.map_or(String::new(), number);
        type Of<'a> = &'a dyn Fn(&ClassWiseSide) -> String;
        let metric = |name: &str, meaning: &str, of: Of<'_>| {
            [name.to_owned(), meaning.into(), of(&classes.before), of(&classes.after)]
        };
        let metrics = [
            metric("brier", "squared error, summed over the classes", &|side| number(side.brier)),
            metric("log_loss", "mean negative log-likelihood, in nats", &|side| number(side.log_loss)),
            metric("cw_ece", "mean over classes of their calibration errors", &|s| number(s.cw_ece.value)),
            metric("cw_ece, debiased", "the same minus its bias", &|side| debiased(&side.cw_ece)),
            metric("marginal_ce", "root of the mean of their squares", &|s| number(s.marginal_ce.value)),
            metric("marginal_ce, debiased", "the same minus its bias", &|side| debiased(&side.marginal_ce)),
        ];
        let counts = (0..).zip(classes.after.class_wise.iter().map(|class| class.hits));
        let (listed, unlisted) = super::classes::most_frequent(counts, LISTED_CLASSES);
        let row = |&class: &u16| {
            let [before, after] =
                [&classes.before, &classes.after].map(|side| &side.class_wise[usize::from(class)]);
            [
                class.to_string(),
                after.hits.to_string(),
                number(before.brier.value),
                number(after.brier.value),
                number(before.conf_ece.value),
                number(after.conf_ece.value),
            ]
        };
        Some(context! {n => classes.n,
            uncalibrated => classes.uncalibrated,
            metrics => metrics,
            rows => listed.iter().map(row).collect::<Vec<_>>(),
            undrawn => ranges(&classes.undrawn),
            drawn => classes.drawn.len(),
            all => classes.after.class_wise.len(),
            unlisted => ranges(&unlisted),
        })
    }

    /// The decision rule and its cost.
    pub(super) fn decision_text(&self) -> Option<Value> {
        let decision = self.decision.as_ref()?;
        let n: u64 = decision.intervals.iter().map(|interval| interval.n).sum();
        let share = |count: u64| format!("{:.1}%", 100.0 * count as f64 / n as f64);
        let rows: Vec<_> = decision
            .intervals
            .iter()
            .map(|interval| {
                let above = interval.above.map_or("[0".to_owned(), |above| format!("({above}"));
                let marks = [
                    (interval.alarm, "raises the alarm"),
                    (interval.abstain, "leaves the decision to others"),
                ];
                let marks: Vec<&str> = marks.iter().filter(|mark| mark.0).map(|mark| mark.1).collect();
                context! {action => interval.action,
                    interval => format!("{above}, {}]", interval.up_to),
                    marks => marks.join(", "),
                    positive => interval.positive.map(|cost| cost.to_string()),
                    negative => interval.negative.map(|cost| cost.to_string()),
                    n => interval.n,
                    share => share(interval.n),
                    share_before => interval.n_before.map(share),
                    hits => interval.hits,
                }
            })
            .collect();
        let cost = decision.cost.as_ref().map(|cost| {
            let interval = &cost.interval;
            context! {expected => number(cost.expected),
                deviation => [number(interval.deviation.lo), number(interval.deviation.hi)],
                guaranteed => [number(interval.guaranteed.lo), number(interval.guaranteed.hi)],
                vacuous => interval.vacuous,
                percent => percent_of_success(cost.validation.delta),
                c_emp => number(cost.validation.c_emp),
                observed => number(cost.observed),
                observed_before => cost.observed_before.map(number),
            }
        });
        Some(context! {in_artifact => decision.in_artifact,
            uncalibrated => decision.uncalibrated,
            rows => rows,
            thresholds => decision.thresholds.iter().enumerate().map(threshold_text).collect::<Vec<_>>(),
            cost => cost,
        })
    }

    /// The instructions of a call, a line for every core, a column for every input.
    pub(super) fn cost_text(&self) -> Option<Value> {
        let first = self.device_cost.first()?;
        let inputs = self.device_cost.iter().map(|cost| match cost.input {
            CallInput::Score => "a score",
            CallInput::Probs => "a vector of probabilities",
            CallInput::Logits => "a vector of logits",
        });
        let row = |(i, core): (usize, &calib_fit::artifact::CoreCost)| {
            let counts = self.device_cost.iter().map(|cost| format!("{:.0}", cost.cores[i].instructions));
            context! {core => core.core, counts => counts.collect::<Vec<_>>()}
        };
        Some(context! {inputs => inputs.collect::<Vec<_>>(),
            how => first.how,
            rows => first.cores.iter().enumerate().map(row).collect::<Vec<_>>(),
        })
    }
}
