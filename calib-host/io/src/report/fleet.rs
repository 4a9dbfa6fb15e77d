//! A page about a fleet: what the counters of all devices say.

use calib_fit::artifact::{StoredArtifact, number_of, points, table_label};
use calib_fit::fleet::{DeviceEvidence, Evidence, EvidenceLevel, FleetBin, FleetTable};
use calib_fit::stats::percent_of_success;
use minijinja::{Value, context};

use super::data::Origin;
use super::page::{Page, PageError};
use super::words::{number, percentages, range, top};
use crate::draw::{Axis, Chart, Mark, Plot, PlotText, finish};

/// At most so many tables are drawn.
const DRAWN_TABLES: usize = 12;
/// The number of devices that are listed: those with the largest e-values.
const LISTED_DEVICES: usize = 200;

/// What a page about a fleet is made of.
#[derive(Clone, Copy)]
pub struct FleetReport<'a> {
    /// The calibrator that all devices have.
    pub stored: &'a StoredArtifact,
    /// What its monitored tables' counters say.
    pub tables: &'a [FleetTable],
    /// The number of devices.
    pub devices: usize,
    /// The intervals of a table's shares cover all of its bins except with this probability.
    pub alpha: f64,
    /// The files, and the command.
    pub origin: &'a Origin,
}

impl FleetReport<'_> {
    /// The page: one file that needs no other, with the same bytes for the same counters.
    ///
    /// # Errors
    ///
    /// None with the templates that are compiled in.
    pub fn html(&self) -> Result<String, PageError> {
        let artifact = self.stored.artifact();
        let header = artifact.header();
        let plots: Vec<Plot> =
            self.tables.iter().take(DRAWN_TABLES).flat_map(|table| self.plots(table)).collect();
        let devices = match self.devices {
            1 => "1 device".into(),
            devices => format!("{devices} devices"),
        };
        let fleet = context! {
            method => header.method.to_string(),
            reduction => header.reduction.to_string(),
            parameters => header.provenance.parameters,
            tool_version => header.provenance.tool_version,
            points => points(&artifact),
            devices => devices,
            undrawn => self.tables.len().saturating_sub(DRAWN_TABLES),
        };
        let page = Page {
            name: "fleet.html",
            template: include_str!("fleet.html"),
            version: env!("CARGO_PKG_VERSION"),
            identity: &artifact.identity().to_string(),
            verdict: context! {
                title => self.title(),
                is_bad => self.worst() == EvidenceLevel::Alarm,
                sentences => self.tables.iter().flat_map(|table| self.verdict(table)).collect::<Vec<_>>(),
            },
            plots: &plots,
        };
        page.html(context! {
            fleet,
            tables => self.tables.iter().map(|table| self.devices(table)).collect::<Vec<_>>(),
            reading => READING,
            origin => Value::from_serialize(self.origin),
        })
    }

    /// The strongest that any table's counters say.
    fn worst(&self) -> EvidenceLevel {
        let guarantees = self.tables.iter().filter_map(|table| table.guarantee);
        let all = self.tables.iter().map(|table| table.shift).chain(guarantees);
        all.map(|evidence| evidence.level()).max().unwrap_or(EvidenceLevel::Quiet)
    }

    fn title(&self) -> &'static str {
        let is_alarm = |evidence: Evidence| evidence.level() == EvidenceLevel::Alarm;
        match self.worst() {
            // Of outcomes the alarm is about the probabilities; of scores it is not.
            EvidenceLevel::Alarm if !self.tables.iter().filter_map(|table| table.guarantee).any(is_alarm) => {
                "Alert: the scores are not like the reference scores. Only outcomes show whether the probabilities are still \
                 calibrated"
            }
            EvidenceLevel::Alarm => "Alert: do not rely on the calibrator",
            EvidenceLevel::Evidence => {
                "There is evidence against the calibrator, but not enough for an alert"
            }
            EvidenceLevel::Quiet
                if self.tables.iter().all(|table| table.predictions.iter().all(|&count| count == 0)) =>
            {
                "Nothing to evaluate: no prediction is known"
            }
            EvidenceLevel::Quiet | EvidenceLevel::Weak => {
                "Quiet: little or no evidence against the calibrator"
            }
        }
    }

    /// The name of a table; none where there is only one.
    fn name(&self, table: &FleetTable) -> Option<String> {
        let artifact = self.stored.artifact();
        (artifact.tables().count() > 1).then(|| table_label(&artifact, table.table))
    }

    /// What a table's counters say, in sentences.
    fn verdict(&self, table: &FleetTable) -> Vec<String> {
        let of = self.name(table).map_or(String::new(), |name| format!("{name}: "));
        let predictions: u64 = table.predictions.iter().sum();
        let labeled: u64 = table.bins.iter().map(|bin| bin.labeled).sum();
        let scores = match predictions {
            0 => "nothing to evaluate, as no prediction is known.".into(),
            _ => {
                let by = number_of(predictions, "prediction");
                said(table.shift, "distributed like the reference scores", &by)
            }
        };
        let outcomes = match table.guarantee {
            None => "no guarantee is about them.".into(),
            Some(_) if labeled == 0 => {
                "nothing to evaluate, as none is known: whether the guarantee still holds is unknown.".into()
            }
            Some(guarantee) => said(guarantee, "as frequent as guaranteed", &format!("{labeled} known ones")),
        };
        let mut sentences = vec![
            format!("{of}Scores: {scores}"),
            format!("{of}Outcomes: {outcomes}"),
            format!("{of}{}", alone(table)),
        ];
        let full = table.full().count();
        if full > 0 {
            sentences.push(format!(
                "{of}A counter is full in {full} of {} devices: later predictions or outcomes are not counted, and their \
                 e-value does not change.",
                table.devices.len()
            ));
        }
        sentences
    }

    /// The row of each device, those with the largest e-values first.
    fn devices(&self, table: &FleetTable) -> Value {
        let evidence = |device: &DeviceEvidence| {
            let part = |evidence: Evidence| evidence.log / f64::from(evidence.rarity).ln();
            part(device.shift).max(device.judged().map_or(f64::NEG_INFINITY, part))
        };
        let mut devices: Vec<&DeviceEvidence> = table.devices.iter().collect();
        devices.sort_by(|a, b| evidence(b).total_cmp(&evidence(a)));
        let row = |device: &&DeviceEvidence| {
            let said = |evidence: Evidence| evidence.to_string();
            [
                device.device.clone(),
                device.predictions.to_string(),
                device.labeled.to_string(),
                said(device.shift),
                device.judged().map_or(String::new(), said),
            ]
        };
        context! {
            name => self.name(table),
            alone => alone(table),
            devices => devices.iter().take(LISTED_DEVICES).map(row).collect::<Vec<_>>(),
            unlisted => devices.len().saturating_sub(LISTED_DEVICES),
        }
    }

    /// The outcomes of a table's bins beside what was guaranteed, and how predictions are shared out among the monitor's.
    fn plots(&self, table: &FleetTable) -> [Plot; 2] {
        let name = self.name(table);
        let title = |title: &str| name.as_ref().map_or(title.to_owned(), |name| format!("{title}, {name}"));
        [self.outcomes(table, &title("Outcomes")), self.occupancy(table, &title("Scores"))]
    }

    fn outcomes(&self, table: &FleetTable, title: &str) -> Plot {
        let mut drawn: Vec<(f64, &FleetBin)> =
            table.bins.iter().filter_map(|bin| Some((bin.prob?.into(), bin))).collect();
        drawn.sort_by(|a, b| a.0.total_cmp(&b.0));
        let shares =
            drawn.iter().map(|(prob, bin)| if bin.labeled > 0 { prob.max(share(bin)) } else { *prob });
        let largest = shares.fold(0.0, f64::max);
        let x = Axis::probs("predicted probability", largest);
        let half = HALF * x.hi;
        let mut chart = Chart::new(x, Axis::probs("observed frequency (all devices)", largest));
        chart.diagonal();
        for (prob, bin) in &drawn {
            if let Some(guaranteed) = bin.guaranteed {
                // As wide as a mark, so that bins next to each other stay apart.
                let place = |away: f64| ((prob + away).clamp(0.0, 1.0), guaranteed.lo, guaranteed.hi);
                chart.band("band", &[place(-half), place(half)]);
            }
        }
        for (prob, bin) in drawn.iter().filter(|(_, bin)| bin.labeled > 0) {
            chart.whisker("before whisker", *prob, bin.interval.lo, bin.interval.hi);
            chart.mark("before", Mark::Circle, *prob, share(bin));
        }
        let rows = table.bins.iter().enumerate().map(|(at, bin)| {
            let known =
                |text: fn(&FleetBin) -> String| if bin.labeled > 0 { text(bin) } else { String::new() };
            vec![
                at.to_string(),
                bin.prob.map_or(String::new(), |prob| number(prob.into())),
                bin.guaranteed.map_or("nothing".into(), |ends| range(ends.lo, ends.hi)),
                bin.labeled.to_string(),
                bin.positives.to_string(),
                known(|bin| number(share(bin))),
                known(|bin| range(bin.interval.lo, bin.interval.hi)),
            ]
        });
        let words = PlotText {
            id: &format!("outcomes-{}", table.table),
            title,
            caption: format!(
                "The observed event rate of known outcomes, in every bin and of all devices together. The {}% exact \
                 intervals cover all bins simultaneously, each at the bin's probability. A bin without an interval has no \
                 known outcome.",
                percent_of_success(self.alpha)
            ),
            legend: vec![
                ("band", "guaranteed"),
                ("before whisker", "observed, with its exact interval"),
                ("diagonal", "as predicted"),
            ],
        };
        finish(
            &chart,
            words,
            vec!["bin", "probability", "guaranteed", "outcomes", "positive", "event rate", "exact interval"],
            rows,
        )
    }

    fn occupancy(&self, table: &FleetTable, title: &str) -> Plot {
        let artifact = self.stored.artifact();
        let reference = artifact.monitors().and_then(|monitors| monitors.reference(table.table));
        let gaps: Vec<u64> =
            reference.map_or(Vec::new(), |reference| reference.each().map(u64::from).collect());
        let (expected, found) = (percentages(&gaps), percentages(&table.predictions));
        let top = top(expected.iter().chain(&found).copied());
        let bins = expected.len() as f64;
        let mut chart =
            Chart::new(Axis::new("bin of the monitor", 0.0, bins), Axis::new("predictions (%)", 0.0, top));
        for (at, &share) in found.iter().enumerate() {
            chart.bar("bar", at as f64, at as f64 + 1.0, share);
        }
        chart.levels("after", &expected);
        let rows = expected.iter().zip(&found).zip(&table.predictions).enumerate();
        let rows = rows.map(|(at, ((expected, found), count))| {
            vec![at.to_string(), format!("{expected:.2}%"), count.to_string(), format!("{found:.2}%")]
        });
        let words = PlotText {
            id: &format!("scores-{}", table.table),
            title,
            caption: "How predictions are distributed over the monitor's bins, and how the reference scores were. For these, \
                 each bin counts its gaps between reference scores. The e-value is about all bins at once."
                .into(),
            legend: vec![("bar", "predictions of all devices"), ("after", "gaps between the reference scores")],
        };
        finish(&chart, words, vec!["bin", "gaps", "predictions", "percentage"], rows)
    }
}

/// Half the width of what was guaranteed of a bin.
const HALF: f64 = 0.01;

/// How to read an e-value.
const READING: [&str; 6] = [
    "The e-value is the wealth of a bettor who began with 1 and bet that something has changed. If nothing has changed, the \
     probability that it reaches 20 at any time is at most 1/20 per fleet.",
    "Scores are compared with the reference scores: those of the calibration set, unless --monitor-scores gave others. If \
     patients come again, or reference scores were selected, they differ although nothing has changed: count one prediction \
     per patient.",
    "Unchanged scores say nothing about outcomes. Only known outcomes show whether outcomes are as frequent as guaranteed, \
     and only in bins that have known outcomes.",
    "Which outcomes become known, and when, must depend on neither the label nor anything within the bin that predicts it.",
    "Which devices are added up, and when, must not depend on what they counted. A device that was lost or replaced keeps its last counts in \
     the sum.",
    "A single device may have an alert by chance while the fleet has none: the stated number is the most that is expected \
     if nothing has changed.",
];

fn share(bin: &FleetBin) -> f64 {
    bin.positives as f64 / bin.labeled as f64
}

/// The evidence that predictions or outcomes are not as expected. `by` states their number.
fn said(evidence: Evidence, expected: &str, by: &str) -> String {
    let found = match evidence.level() {
        EvidenceLevel::Alarm => "alert. They",
        EvidenceLevel::Evidence => "evidence, no alert. There is some evidence that they",
        EvidenceLevel::Weak => "weak evidence, no alert. There is weak evidence that they",
        EvidenceLevel::Quiet => "quiet. There is little or no evidence that they",
    };
    format!("{found} are not {expected}, by {by} ({}).", levels(evidence))
}

/// The e-value, and what an alert needs.
fn levels(evidence: Evidence) -> String {
    match evidence.level() {
        EvidenceLevel::Quiet => format!("alert at e-value {}", evidence.rarity),
        _ => format!("e-value {}, alert at {}", evidence.e_value(), evidence.rarity),
    }
}

/// Which devices have an alert, and how many would if nothing has changed.
fn alone(table: &FleetTable) -> String {
    let alarmed: Vec<&str> = table.alone().map(|device| &*device.device).collect();
    let shown = alarmed.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    let which = match alarmed.len() {
        0 => String::new(),
        1..=SHOWN => format!(" ({shown})"),
        more => format!(" ({shown} and {} more)", more - SHOWN),
    };
    format!(
        "{} of {} devices have their own alert{which}. If nothing has changed, at most {} have one on average. Devices with the \
         same calibrator raise false alerts together.",
        alarmed.len(),
        table.devices.len(),
        (table.expected_alone() * 100.0).round() / 100.0
    )
}

/// How many devices are named in a sentence.
const SHOWN: usize = 10;
