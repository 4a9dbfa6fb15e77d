//! The report as one page of HTML.

use calib_fit::artifact::{ASSUMPTIONS, LIMITS};
use calib_fit::assess::{BeforeAfter, BinnedEstimate, EstimateWithInterval, RangeTest};
use calib_fit::stats::{percent_of_success, thousands};
use minijinja::{AutoEscape, Environment, Value, context};

use super::classes::{ClassWiseSummary, most_frequent, ranges};
use super::clinical::clinical_text;
use super::data::Report;
use super::groups::text as groups_text;
use super::metrics::{METRICS, Metric, TOP_LABEL_METRICS};
use super::threshold::{operating_text, threshold_text};
use super::words::{Cell, number};
use crate::draw::{Plot, STYLE, key};

/// The template does not match the report. It never happens with the templates that are compiled in.
#[derive(Debug, thiserror::Error)]
#[error("the page cannot be made: {0}")]
pub struct PageError(#[from] minijinja::Error);

impl Report {
    /// The page: one file that needs no other, with the same bytes for the same report.
    ///
    /// # Errors
    ///
    /// None with the templates that are compiled in.
    pub fn html(&self) -> Result<String, PageError> {
        let page = Page {
            name: "report.html",
            template: include_str!("report.html"),
            version: &self.version,
            identity: &self.calibrator.identity,
            verdict: context! {
                title => self.verdict.title(),
                is_bad => self.verdict.is_bad(),
                sentences => self.verdict.sentences,
            },
            plots: &self.plots,
        };
        let thresholds = self.decision.as_ref().map_or(&[][..], |decision| &decision.thresholds);
        page.html(context! {
            report => Value::from_serialize(self),
            title => self.labels.title.as_deref().unwrap_or("Calibration report"),
            percent => percent_of_success(self.options.alpha),
            binning => groups(&self.metrics.before.conf_ece),
            conditions => [(ASSUMPTIONS, &self.assumptions), (LIMITS, &self.limits)],
            steps => self.steps,
            range_titles => RangeTest::COLUMNS,
            ranges => self.verdict.ranges.iter().map(RangeTest::cells).collect::<Vec<_>>(),
            metrics => self.metric_rows(),
            clinical => self.clinical.as_ref().map(clinical_text),
            groups => self.groups.as_ref().map(groups_text),
            undrawn => ranges(&self.undrawn_classes),
            one_vs_rest => self.classes.as_ref().map(one_vs_rest),
            thresholds => thresholds.iter().enumerate().map(threshold_text).collect::<Vec<_>>(),
            operating => self.operating_points.iter().enumerate().map(operating_text).collect::<Vec<_>>(),
        })
    }

    /// The metrics before and after, and their change: name, meaning, and the three as text.
    fn metric_rows(&self) -> Vec<Value> {
        let BeforeAfter { before, after, change, .. } = &self.metrics;
        let row = |metric: &Metric| {
            // It may break before the bracket, not within.
            let shown = |found: EstimateWithInterval| format!("{found:#.4}");
            let of = |assessment| (metric.of)(assessment).map_or("undefined".into(), shown);
            let change = || (metric.change)(change).map_or(String::new(), |change| format!("{change:+#.4}"));
            let (before, change) = match self.of_margins && metric.name != "auc" {
                // A margin is no probability.
                true => Default::default(),
                false => (of(before), change()),
            };
            let cells = [
                Cell::new(format!("metrics.before.{}", metric.key), before),
                Cell::new(format!("metrics.after.{}", metric.key), of(after)),
                Cell::new(format!("metrics.change.{}", metric.key.replace('.', "_")), change),
            ];
            context! {name => metric.name, meaning => metric.meaning, cells => cells}
        };
        let top_label = TOP_LABEL_METRICS.iter().filter(|_| after.tl_ece.is_some());
        METRICS.iter().chain(top_label).map(row).collect()
    }
}

/// The largest number of classes in a table: those with the most rows.
const LISTED_CLASSES: usize = 200;

/// Which classes are listed and drawn against the rest.
fn one_vs_rest(classes: &ClassWiseSummary) -> Value {
    let counts = (0..).zip(classes.after.class_wise.iter().map(|class| class.hits));
    let (listed, unlisted) = most_frequent(counts, LISTED_CLASSES);
    context! {listed => listed, unlisted => ranges(&unlisted), undrawn => ranges(&classes.undrawn)}
}

/// A page: what all have, and the template of what this one has.
pub(super) struct Page<'p> {
    pub(super) name: &'p str,
    pub(super) template: &'p str,
    /// The version of calib that makes it.
    pub(super) version: &'p str,
    /// The artifact's name.
    pub(super) identity: &'p str,
    /// `title`, `sentences`, and whether they are bad news, `is_bad`.
    pub(super) verdict: Value,
    pub(super) plots: &'p [Plot],
}

impl Page<'_> {
    /// The page with what its own template takes.
    pub(super) fn html(&self, own: Value) -> Result<String, PageError> {
        let mut environment = Environment::new();
        environment.add_filter("thousands", |count: u64| thousands(count));
        environment.add_filter("number", |value: Option<f64>| value.map(number).unwrap_or_default());
        environment.add_filter("digits", |value: Option<f64>| {
            value.map_or(String::new(), |value| value.to_string())
        });
        environment.add_filter("single", |value: f64| (value as f32).to_string());
        environment.add_filter("whole", |value: f64| format!("{value:.0}"));
        environment.add_filter("percent_of_success", |alpha: f64| percent_of_success(alpha));
        environment.add_filter("share", |count: Option<u64>, all: u64| {
            count.map_or(String::new(), |count| format!("{:.1}%", 100.0 * count as f64 / all as f64))
        });
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        environment.add_template("parts.html", include_str!("parts.html"))?;
        environment.add_template("page.html", include_str!("page.html"))?;
        environment.add_template(self.name, self.template)?;
        let page = environment.get_template(self.name)?.render(context! {
            version => self.version,
            identity => self.identity,
            verdict => self.verdict,
            plots => figures(self.plots),
            chart_style => Value::from_safe_string(STYLE.into()),
            page_style => Value::from_safe_string(include_str!("report.css").into()),
            ..own
        })?;
        Ok(page)
    }
}

/// Plots as the templates have them.
fn figures(plots: &[Plot]) -> Vec<Value> {
    let figure = |plot: &Plot| {
        context! {
            id => plot.id,
            title => plot.title,
            caption => plot.caption,
            svg => Value::from_safe_string(plot.svg.clone()),
            legend => legend(plot),
            columns => plot.columns,
            rows => plot.rows,
        }
    };
    plots.iter().map(figure).collect()
}

/// The marks of a plot and what they mean.
fn legend(plot: &Plot) -> Vec<(Value, &'static str)> {
    let entry = |&(class, words): &(&str, &'static str)| (Value::from_safe_string(key(class)), words);
    plot.legend.iter().map(entry).collect()
}

/// How predictions are grouped, in words.
fn groups(estimate: &BinnedEstimate) -> String {
    use calib_fit::assess::Binning;
    match estimate.groups.binning {
        Binning::EqualWidth(bins) => format!("{bins} equal-width bins"),
        Binning::EqualMass(bins) | Binning::EqualMassKumar(bins) => format!("{bins} equal-frequency bins"),
        Binning::ByBin => "the calibrator's bins".into(),
        Binning::ByValue => "equal values together".into(),
    }
}
