//! The file that says which actions there are and what they cost.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use calib_core::decision::SureBy;
pub use calib_fit::decide::Costs;
use calib_fit::decide::{Actions, ActionsError, Cost, CostedAction, Rule, RuleError};
use serde::de::{self, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use crate::files::{CostsError, FileError, Location, Problem, TomlText, read_text};

/// Far more than any number of actions takes.
const MAX_LEN_BYTES: u64 = 1 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    uncalibrated: Option<Spanned<String>>,
    unsure: Option<Spanned<String>>,
    cases: Option<Spanned<i64>>,
    #[serde(default)]
    action: Vec<Spanned<Entry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: Spanned<String>,
    positive: Spanned<f64>,
    negative: Spanned<f64>,
    alarm: bool,
    #[serde(default)]
    abstain: bool,
    #[serde(default, deserialize_with = "if_sure")]
    if_sure: Option<SureBy>,
    start_up: Option<Spanned<f64>>,
    above: Option<f64>,
    up_to: Option<f64>,
}

/// Reads `if_sure`.
fn if_sure<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SureBy>, D::Error> {
    struct By;
    impl Visitor<'_> for By {
        type Value = Option<SureBy>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("true, false or \"band\"")
        }

        fn visit_bool<E: de::Error>(self, is_sure: bool) -> Result<Self::Value, E> {
            Ok(is_sure.then_some(SureBy::Interval))
        }

        fn visit_str<E: de::Error>(self, by: &str) -> Result<Self::Value, E> {
            match by {
                "band" => Ok(Some(SureBy::Band)),
                other => Err(E::invalid_value(Unexpected::Str(other), &self)),
            }
        }
    }
    deserializer.deserialize_any(By)
}

/// Reads a costs file.
///
/// ```toml
/// uncalibrated = "refer"   # without a probability; by default the one that abstains, or else the one that alarms
/// cases = 10000            # over how many decisions start-up costs are spread; by default the rows at hand
///
/// [[action]]
/// name = "discharge"
/// positive = 100           # what a case costs in which the event happens,
/// negative = 0             # and one in which it does not
/// alarm = false
///
/// [[action]]
/// name = "refer"
/// positive = 5
/// negative = 5
/// alarm = true
/// abstain = true           # false by default
/// start_up = 20            # 0 by default
/// ```
///
/// With `if_sure = true` an action is only taken where everything that the guarantee allows leads to it. Elsewhere it is the action that
/// `unsure = "refer"` names before the first `[[action]]`, by default the one that abstains, or else the one without a probability.
/// `if_sure = "band"` asks for what the band at the score allows, in place of the interval of the bin or of the range of the score.
///
/// Every action may also state the interval of probabilities `(above, up_to]` in which it is taken, 0 and 1 by default.
///
/// # Errors
///
/// If it cannot be read, or says something else; with the line.
pub fn read_costs(path: &Path) -> Result<Costs, FileError> {
    let text = read_text(path, MAX_LEN_BYTES)?;
    if text.trim().is_empty() {
        return Err(FileError::input(Location::file(path), Problem::EmptyFile));
    }
    CostsText(TomlText { path, text: &text }).parse()
}

/// The text of a costs file.
struct CostsText<'a>(TomlText<'a>);

impl CostsText<'_> {
    fn parse(&self) -> Result<Costs, FileError> {
        let file: File = self.0.parse(|why| Problem::Costs(CostsError::Toml(why)))?;
        let mut actions = Vec::with_capacity(file.action.len());
        for entry in &file.action {
            let Entry { name, positive, negative, alarm, abstain, if_sure, start_up, .. } = entry.get_ref();
            actions.push(CostedAction {
                name: name.get_ref().clone(),
                positive: self.cost("positive", positive)?,
                negative: self.cost("negative", negative)?,
                start_up: start_up
                    .as_ref()
                    .map_or(Ok(Cost::default()), |cost| self.cost("start_up", cost))?,
                alarm: *alarm,
                abstain: *abstain,
                if_sure: *if_sure,
            });
        }
        let uncalibrated = file.uncalibrated.as_ref();
        let unsure = file.unsure.as_ref().map(|name| name.get_ref().as_str());
        let actions = Actions::new(actions, uncalibrated.map(|name| name.get_ref().as_str()))
            .and_then(|actions| actions.with_unsure(unsure))
            .map_err(|cause| self.actions_error(&file, cause))?;
        let cases = file.cases.as_ref().map(|cases| match u64::try_from(*cases.get_ref()) {
            Ok(count @ 1..) => Ok(count),
            _ => Err(self.error(cases.span(), CostsError::Cases(*cases.get_ref()))),
        });
        Ok(Costs { actions, stated: self.stated(&file)?, cases: cases.transpose()? })
    }

    fn cost(&self, key: &'static str, value: &Spanned<f64>) -> Result<Cost, FileError> {
        Cost::new(*value.get_ref()).map_err(|cause| self.error(value.span(), CostsError::Cost { key, cause }))
    }

    /// The rule, if the actions have intervals.
    fn stated(&self, file: &File) -> Result<Option<Rule>, FileError> {
        let has_interval = |entry: &Spanned<Entry>| {
            let entry = entry.get_ref();
            entry.above.is_some() || entry.up_to.is_some()
        };
        let Some(with) = file.action.iter().find(|entry| has_interval(entry)) else { return Ok(None) };
        let name = |entry: &Spanned<Entry>| entry.get_ref().name.get_ref().clone();
        if let Some(without) = file.action.iter().find(|entry| !has_interval(entry)) {
            let problem = CostsError::IntervalMissing { name: name(without), other: name(with) };
            return Err(self.error(without.get_ref().name.span(), problem));
        }
        let ends = |(i, entry): (usize, &Spanned<Entry>)| {
            let entry = entry.get_ref();
            (i, entry.above.unwrap_or(0.0), entry.up_to.unwrap_or(1.0))
        };
        let intervals: Vec<_> = file.action.iter().enumerate().map(ends).collect();
        Rule::stated(&intervals).map(Some).map_err(|cause| {
            let action = &file.action[cause.action()];
            let problem = match cause {
                RuleError::Overlap { below, from, to, .. } => {
                    let other = &file.action[below];
                    let line = self.0.line(other.get_ref().name.span().start);
                    CostsError::Overlap { name: name(action), other: name(other), line, from, to }
                }
                cause => CostsError::Rule { name: name(action), cause },
            };
            self.error(action.get_ref().name.span(), problem)
        })
    }

    fn actions_error(&self, file: &File, cause: ActionsError) -> FileError {
        let span = match &cause {
            ActionsError::Name { index, .. } | ActionsError::DuplicateName { index, .. } => {
                Some(file.action[*index].get_ref().name.span())
            }
            ActionsError::Single => file.action.first().map(|entry| entry.get_ref().name.span()),
            ActionsError::UnknownUncalibrated(_) => file.uncalibrated.as_ref().map(Spanned::span),
            ActionsError::UnknownUnsure(_) => file.unsure.as_ref().map(Spanned::span),
            _ => None,
        };
        match span {
            Some(span) => self.error(span, CostsError::Actions(cause)),
            None => FileError::input(Location::file(self.0.path), Problem::Costs(CostsError::Actions(cause))),
        }
    }

    fn error(&self, span: Range<usize>, problem: CostsError) -> FileError {
        self.0.error(span, Problem::Costs(problem))
    }
}
