//! Which methods are compared.

use std::iter;

use calib_fit::job::{ClassScore, ContenderName, ContenderOptions, ReductionName};
use calib_fit::stats::Seed;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::headings::METHOD;
use super::parse::{count, named, named_among};

/// Methods and their bins.
#[derive(Args)]
#[command(next_help_heading = METHOD)]
pub(crate) struct MethodChoice {
    /// Methods to compare, separated by commas.
    #[arg(long, value_parser = choice(), value_delimiter = ',', default_value = "all", value_name = "NAMES")]
    methods: Vec<Option<ContenderName>>,
    /// Reductions that apply binary methods to a matrix, separated by commas: class-wise and normalized, or confidence
    /// and top-label with --claim top-label.
    #[arg(long, value_parser = reduction(), value_delimiter = ',', value_name = "NAMES", hide_short_help = true)]
    reductions: Option<Vec<ReductionName>>,
    /// Number of bins of methods that have one: 10 without a matrix.
    #[arg(long, value_name = "B", value_parser = count::<usize>(1..=65_536))]
    bins: Option<usize>,
    /// Calibration rows per bin under a reduction: 50 without --bins.
    #[arg(long, value_name = "K", conflicts_with = "bins", value_parser = count::<usize>(2..), hide_short_help = true)]
    rows_per_bin: Option<usize>,
    /// Scores of the predicted class to try with confidence and top-label, separated by commas: both for --logits with
    /// --claim top-label.
    #[arg(long, value_parser = named::<ClassScore>(), value_delimiter = ',', value_name = "SCORES", hide_short_help = true)]
    class_scores: Option<Vec<ClassScore>>,
}

impl MethodChoice {
    /// What is compared.
    pub(crate) fn contenders(&self) -> ContenderOptions {
        let mut options = ContenderOptions::default();
        if !self.methods.contains(&None) {
            options.methods = self.methods.iter().copied().flatten().collect();
        }
        (options.bins, options.rows_per_bin) = (self.bins, self.rows_per_bin);
        options.reductions.clone_from(&self.reductions);
        options.class_scores.clone_from(&self.class_scores);
        options
    }

    /// The options with which `calib fit` fits what goes by this name here.
    pub(crate) fn options_of_fit(&self, name: &str, seed: Seed) -> Option<Vec<String>> {
        let fit = self.contenders().fit_of(name, seed)?;
        let class_score = (fit.class_score != ClassScore::default()).then_some(fit.class_score);
        let given = [
            ("--method", fit.method.map(|method| method.to_string())),
            ("--reduction", fit.reduction.map(|reduction| reduction.to_string())),
            ("--class-score", class_score.map(|score| score.to_string())),
            ("--bins", fit.bins.map(|bins| bins.to_string())),
            ("--max-bins", fit.max_bins.map(|bins| bins.to_string())),
            ("--resolution", fit.resolution.map(|steps| steps.to_string())),
            ("--folds", fit.folds.map(|parts| parts.to_string())),
            ("--rows-per-bin", fit.rows_per_bin.map(|points| points.to_string())),
            ("--seed", (seed != 0).then(|| seed.to_string())),
        ];
        let words = given.into_iter().filter_map(|(option, value)| Some([option.to_owned(), value?]));
        Some(words.flatten().collect())
    }
}

/// A method by its name; `None` for all.
fn choice() -> impl TypedValueParser<Value = Option<ContenderName>> {
    let names =
        ContenderName::all().map(ContenderName::name).filter(|name| name.parse::<ContenderName>().is_ok());
    let names = iter::once("all").chain(names);
    PossibleValuesParser::new(names).map(|name| name.parse().ok())
}

/// A reduction that gives one class.
fn reduction() -> impl TypedValueParser<Value = ReductionName> {
    named_among(|name| !matches!(name, ReductionName::TopKLabel | ReductionName::TopKConfidence))
}
