//! How a score's probability is found, by form.

use calib_core::{Artifact, ScoreEncoding, TableForm};

use super::Exported;

/// What the tables of an artefact are, all of one form.
pub(super) struct Lookup {
    pub(super) kind: Kind,
    /// The type of an edge.
    pub(super) key: &'static str,
    /// The type of a value.
    pub(super) value: &'static str,
    /// Whether a bin is empty.
    pub(super) has_empty: bool,
    pub(super) has_direct: bool,
    encoding: ScoreEncoding,
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
}

impl Lookup {
    pub(super) fn of(artifact: &Artifact<'_>, tables: &[Option<Exported<'_>>]) -> Self {
        let encoding = artifact.header().encoding;
        // An artefact has a table, or it would not parse.
        let kind = match tables.iter().flatten().next().map(|table| table.form) {
            Some(TableForm::Randomized(_)) => Kind::Randomized,
            Some(TableForm::Interpolated(_)) => Kind::Interpolated,
            Some(TableForm::VennAbers(_)) => Kind::VennAbers,
            Some(TableForm::Codes(_)) => Kind::Codes,
            Some(TableForm::Compact(_)) => Kind::Compact,
            _ => Kind::Steps,
        };
        let is_byte = matches!(encoding, ScoreEncoding::U8 { .. } | ScoreEncoding::I8 { .. });
        let key = match kind {
            Kind::Codes | Kind::Compact if is_byte => "uint8_t",
            Kind::Codes | Kind::Compact => "uint16_t",
            _ => "uint32_t",
        };
        let value = if kind == Kind::Compact { "uint16_t" } else { "uint32_t" };
        let has_empty = tables.iter().flatten().any(|table| table.empty.contains(&true));
        Self { kind, key, value, has_empty, has_direct: artifact.tables().has_direct_table(), encoding }
    }

    /// The type of a code; `None` for floats.
    pub(super) const fn code_type(&self) -> Option<&'static str> {
        match self.encoding {
            ScoreEncoding::U8 { .. } => Some("uint8_t"),
            ScoreEncoding::I8 { .. } => Some("int8_t"),
            ScoreEncoding::U16 { .. } => Some("uint16_t"),
            _ => None,
        }
    }

    /// What a table has besides edges and values: a type and a name.
    pub(super) fn extra(&self) -> Vec<(&'static str, &'static str)> {
        let by_kind = match self.kind {
            Kind::Randomized => Some(("uint32_t", "tie")),
            Kind::Interpolated => Some(("uint32_t", "slope")),
            Kind::VennAbers => Some(("uint32_t", "upper")),
            Kind::Steps | Kind::Codes | Kind::Compact => None,
        };
        let empty = self.has_empty.then_some(("uint8_t", "empty"));
        let direct = self.has_direct.then_some(("uint8_t", "direct"));
        [by_kind, empty, direct].into_iter().flatten().collect()
    }

    /// The search, and the function that calibrates a score.
    pub(super) fn functions(&self) -> String {
        let search = match self.kind {
            _ if self.has_direct => "",
            Kind::Randomized => include_str!("search_ties.h"),
            _ => include_str!("search.h"),
        };
        let epsilon = match self.has_empty {
            // -1
            true => "table->empty && table->empty[bin] ? 0xbf800000u : table->epsilon",
            false => "table->epsilon",
        };
        let calibrate = match self.encoding.code_range() {
            None => include_str!("floats.h").to_owned(),
            Some((lowest, highest)) => include_str!("codes.h")
                .replace("LOWEST", &lowest.to_string())
                .replace("HIGHEST", &highest.to_string()),
        };
        let calibrate = calibrate.replace("FIND\n", self.find()).replace("EPSILON", epsilon);
        search.to_owned() + &self.with_word(&calibrate)
    }

    /// With the argument for the random word, if the tables take one.
    pub(super) fn with_word(&self, text: &str) -> String {
        let (argument, word) =
            if self.kind == Kind::Randomized { ("uint32_t draw, ", "draw, ") } else { ("", "") };
        text.replace("WORD_ARGUMENT", argument).replace("WORD", word)
    }

    /// How `bin` and `value` are found.
    const fn find(&self) -> &'static str {
        match (self.kind, self.encoding.is_quantized(), self.has_direct) {
            (Kind::Steps, ..) => include_str!("find_step.h"),
            (Kind::Randomized, ..) => include_str!("find_randomized.h"),
            (Kind::Interpolated, ..) => include_str!("find_interpolated.h"),
            (Kind::VennAbers, ..) => include_str!("find_venn_abers.h"),
            (Kind::Codes, _, false) => include_str!("find_code.h"),
            (Kind::Codes, _, true) => include_str!("find_direct.h"),
            (Kind::Compact, true, _) => include_str!("find_compact_code.h"),
            (Kind::Compact, false, _) => include_str!("find_rounded.h"),
        }
    }
}
