//! The report as one page of HTML.

use calib_fit::artifact::{ASSUMPTIONS, LIMITS};
use calib_fit::assess::{BeforeAfter, BinnedEstimate, ClassAssessment, EstimateWithInterval, RangeTest};
use calib_fit::stats::{percent_of_success, thousands};
use minijinja::{AutoEscape, Environment, Value, context};

use super::classes::ranges;
use super::clinical::clinical_text;
use super::data::Report;
use super::groups::text as groups_text;
use super::metrics::{METRICS, Metric, TOP_LABEL_METRICS};
use super::threshold::operating_text;
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
        page.html(context! {
            report => self.head(),
            steps => self.steps,
            range_titles => RangeTest::COLUMNS,
            ranges => self.verdict.ranges.iter().map(RangeTest::cells).collect::<Vec<_>>(),
            metrics => self.metric_rows(),
            clinical => self.clinical.as_ref().map(clinical_text),
            groups => self.groups.as_ref().map(groups_text),
            classes => self.class_rows(),
            undrawn => ranges(&self.undrawn_classes),
            one_vs_rest => self.one_vs_rest(),
            decision => self.decision_text(),
            operating => self.operating_points.iter().enumerate().map(operating_text).collect::<Vec<_>>(),
            parts => Value::from_serialize(&self.parts),
            costs => self.cost_text(),
        })
    }

    /// The report without what the page shows in another form.
    fn head(&self) -> Value {
        context! {calibrator => self.calibrator,
            title => self.labels.title.as_deref().unwrap_or("Calibration report"),
            labels => self.labels,
            class_names => self.class_names,
            guarantee => self.guarantee,
            conditions => [(ASSUMPTIONS, &self.assumptions), (LIMITS, &self.limits)],
            warnings => self.warnings,
            guaranteed => self.guaranteed,
            doubtful => self.doubtful,
            uncalibrated => self.uncalibrated,
            n => self.metrics.after.n,
            hits => self.metrics.after.hits,
            kind => self.metrics.after.kind,
            binning => groups(&self.metrics.before.conf_ece),
            origin => self.origin,
            options => self.options,
            version => self.version,
            percent => percent_of_success(self.options.alpha),
            has_intervals => self.options.resamples > 0,
        }
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

    /// A line for every predicted class: class, rows, right ones, and two metrics before and after.
    fn class_rows(&self) -> Vec<[String; 7]> {
        let before = |class| self.metrics.before.classes.iter().find(|before| before.class == class);
        let row = |after: &ClassAssessment| {
            let (before, a) = (&before(after.class)?.assessment, &after.assessment);
            Some([
                after.class.to_string(),
                a.n.to_string(),
                a.hits.to_string(),
                number(before.brier.value),
                number(a.brier.value),
                number(before.conf_ece.value),
                number(a.conf_ece.value),
            ])
        };
        self.metrics.after.classes.iter().filter_map(row).collect()
    }
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
