//! How a score's probability is found, by form.

use calib_core::artifact::TableForm;
use calib_core::{Artifact, ScoreEncoding};

use crate::export::exported::Exported;
use crate::export::function::Function;

/// What the tables of an artifact are, all of one form.
pub(super) struct Lookup {
    pub(super) kind: Kind,
    /// Whether a bin is empty.
    pub(super) has_empty: bool,
    has_direct: bool,
    /// Whether a result has an interval.
    pub(super) has_bounds: bool,
    /// Whether the interval is of a range of the score.
    pub(super) has_ranges: bool,
    /// The type of an edge.
    key: &'static str,
    /// The type of a value.
    value: &'static str,
    encoding: ScoreEncoding,
    /// The functions, one of each kind.
    pub(super) functions: Vec<Function>,
}

/// An array of a table: its name, and the type of a number.
#[derive(Clone, Copy, serde::Serialize)]
pub(super) struct ArrayPart {
    pub(super) name: &'static str,
    #[serde(rename = "type")]
    pub(super) number: &'static str,
}

/// The form, as far as C cares.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Steps,
    Randomized,
    Interpolated,
    VennAbers,
    Codes,
    Compact,
    Function,
}

impl Lookup {
    pub(super) fn of(artifact: &Artifact<'_>, tables: &[Option<Exported<'_>>]) -> Self {
        let encoding = artifact.header().encoding;
        // An artifact has a table, or it would not parse.
        let kind = match tables.iter().flatten().next().map(|table| table.form) {
            Some(TableForm::Randomized(_) | TableForm::MarginRandomized(_)) => Kind::Randomized,
            Some(TableForm::Interpolated(_) | TableForm::MarginInterpolated(_)) => Kind::Interpolated,
            Some(TableForm::VennAbers(_) | TableForm::MarginVennAbers(_)) => Kind::VennAbers,
            Some(TableForm::Codes(_)) => Kind::Codes,
            Some(TableForm::Compact(_)) => Kind::Compact,
            Some(TableForm::Scaling(_) | TableForm::MarginScaling(_)) => Kind::Function,
            _ => Kind::Steps,
        };
        let key = match kind {
            Kind::Codes | Kind::Compact if encoding.is_byte() => "uint8_t",
            Kind::Codes | Kind::Compact => "uint16_t",
            _ => "uint32_t",
        };
        let value = if kind == Kind::Compact { "uint16_t" } else { "uint32_t" };
        let has_empty = tables.iter().flatten().any(|table| table.empty.contains(&true));
        let mut functions: Vec<Function> =
            tables.iter().flatten().filter_map(|table| Function::of(&table.form)).collect();
        functions.sort_by_key(|function| function.kind);
        functions.dedup_by_key(|function| function.kind);
        Self {
            functions,
            kind,
            key,
            value,
            has_empty,
            has_direct: artifact.tables().has_direct_table(),
            has_bounds: tables.iter().flatten().any(|table| !table.intervals.is_empty()),
            has_ranges: artifact.score_intervals().is_some(),
            encoding,
        }
    }

    pub(super) const fn is_code(&self) -> bool {
        self.encoding.is_quantized()
    }

    pub(super) const fn is_margin(&self) -> bool {
        self.encoding.is_margin()
    }

    /// What is searched for: a key, or the bits that are one.
    pub(super) const fn key(&self) -> &'static str {
        if self.is_margin() { "key" } else { "word.bits" }
    }

    /// What is searched for among the ranges.
    pub(super) const fn range_key(&self) -> &'static str {
        match (self.kind, self.is_code(), self.is_margin()) {
            (_, true, _) => "key",
            (Kind::Compact, _, true) => "key >> 16",
            _ => self.key(),
        }
    }

    /// What stands in a table that is written in decimals.
    pub(super) const fn beginning_with(&self) -> &'static str {
        match (self.kind, self.is_code(), self.is_margin()) {
            (Kind::Interpolated, ..) => "knots between which it is a line, and their probabilities",
            (Kind::VennAbers, ..) => {
                "from each score on the probabilities with the label 0 and with the label 1"
            }
            (_, true, _) => "the probability from each code on",
            (_, _, true) => "the probability from each margin on",
            _ => "the probability from each score on",
        }
    }

    /// The arrays of a table.
    pub(super) fn parts(&self) -> Vec<ArrayPart> {
        let part = |name, number| Some(ArrayPart { name, number });
        let by_kind = match self.kind {
            Kind::Randomized => part("tie", "uint32_t"),
            Kind::Interpolated => part("slope", "uint32_t"),
            Kind::VennAbers => part("upper", "uint32_t"),
            Kind::Steps | Kind::Codes | Kind::Compact | Kind::Function => None,
        };
        let empty = if self.has_empty { part("empty", "uint8_t") } else { None };
        let direct = if self.has_direct { part("direct", "uint8_t") } else { None };
        let range = if self.has_ranges { part("range", self.key) } else { None };
        let [lo, hi] = ["lo", "hi"].map(|end| if self.has_bounds { part(end, "uint32_t") } else { None });
        let edge = if self.kind == Kind::Function { None } else { part("edge", self.key) };
        let all = [edge, part("value", self.value), by_kind, empty, direct, range, lo, hi];
        all.into_iter().flatten().collect()
    }

    /// The template of the search, if there is one.
    pub(super) fn search(&self) -> Option<&'static str> {
        match self.kind {
            _ if self.has_direct || self.kind == Kind::Function => None,
            Kind::Randomized => Some("search_ties.h"),
            _ => Some("search.h"),
        }
    }

    /// The template of how `bin` and `value` are found.
    pub(super) const fn find(&self) -> &'static str {
        match (self.kind, self.is_code(), self.has_direct) {
            (Kind::Steps, ..) => "find_step.h",
            (Kind::Function, ..) => "find_function.h",
            (Kind::Randomized, ..) => "find_randomized.h",
            (Kind::Interpolated, ..) => "find_interpolated.h",
            (Kind::VennAbers, ..) => "find_venn_abers.h",
            (Kind::Codes, _, false) => "find_code.h",
            (Kind::Codes, _, true) => "find_direct.h",
            (Kind::Compact, true, _) => "find_compact_code.h",
            (Kind::Compact, false, _) if self.is_margin() => "find_rounded_margin.h",
            (Kind::Compact, false, _) => "find_rounded.h",
        }
    }
}
