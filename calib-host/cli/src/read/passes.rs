//! What a database counted in the first pass, and what it leaves open.

use std::path::Path;

use calib_fit::job::{MethodChoice, NamedMethod, ScoresOf};
use calib_fit::passes::{Buckets, FirstPass, GroupedPass, OpenGroup};
use calib_fit::reduction::ReductionOptions;
use calib_fit::{BinaryMethod, ScoreKind, Umd};
use calib_io::files::Location;
use calib_io::input::{Source, read_first_pass, read_first_pass_by_group};

use super::rows::{check_group_count, one_group};
use crate::context::Context;
use crate::error::Error;

/// The first pass, and what it leaves open to a method.
pub(crate) struct Opened {
    pub(crate) source: Source,
    pub(crate) place: Location,
    pub(crate) counted: Counted,
}

/// What was counted of all rows together, or by group, and the buckets that the second pass looks into.
pub(crate) enum Counted {
    Together { first: FirstPass, open: Vec<f64> },
    ByGroup { first: GroupedPass, open: Vec<OpenGroup> },
}

impl Opened {
    /// Reads the first pass, by group if there is a column of groups. The method is the requested one. Monitors of all rows
    /// together may have this many separate bins.
    pub(crate) fn read(
        path: &Path,
        method: &NamedMethod,
        group_column: Option<&str>,
        monitor_bins: Option<u16>,
        cx: &Context,
    ) -> Result<Self, Error> {
        let source = Source::read(path, &cx.reading())?;
        let place = Location::file(path);
        let counted = match group_column {
            Some(column) => Counted::by_group(&source, &place, method, column)?,
            None => Counted::together(&source, &place, method, monitor_bins)?,
        };
        Ok(Self { source, place, counted })
    }
}

/// The method that both passes are enough for: one that is named, with its bins.
fn named_method(method: &NamedMethod, kind: ScoreKind, by_group: bool) -> Result<ReductionOptions, Error> {
    match method.choice(ScoresOf::Binary { kind, encoding: None, by_group })? {
        MethodChoice::Binary(how) => Ok(how),
        _ => Err(Error::Usage(
            "calib chooses the method and bins from all scores, which two passes do not contain: name them, such as \
             --method umd --bins 10"
                .into(),
        )),
    }
}

impl Counted {
    fn together(
        source: &Source,
        place: &Location,
        method: &NamedMethod,
        monitor_bins: Option<u16>,
    ) -> Result<Self, Error> {
        let first = read_first_pass(source)?;
        let how = named_method(method, first.buckets().kind(), false)?;
        let method = how.method_for_score(first.len()).map_err(|cause| Error::fit(place.clone(), cause))?;
        let of_monitors = monitor_bins.map(|bins| BinaryMethod::Umd(Umd::new(bins.into())));
        let methods: Vec<BinaryMethod> = [method].into_iter().chain(of_monitors).collect();
        let open = first.open_buckets(&methods).map_err(|cause| Error::pass(place.clone(), cause))?;
        Ok(Self::Together { first, open })
    }

    fn by_group(
        source: &Source,
        place: &Location,
        method: &NamedMethod,
        column: &str,
    ) -> Result<Self, Error> {
        let first = read_first_pass_by_group(source, column)?;
        check_group_count(first.names().len(), column)?;
        if first.names().len() == 1 {
            return Err(one_group(column));
        }
        let options = named_method(method, first.buckets().kind(), true)?;
        let open = first.open_buckets(&options).map_err(|cause| Error::pass(place.clone(), cause))?;
        Ok(Self::ByGroup { first, open })
    }

    pub(crate) fn buckets(&self) -> Buckets {
        match self {
            Self::Together { first, .. } => first.buckets(),
            Self::ByGroup { first, .. } => first.buckets(),
        }
    }

    /// How many buckets the second pass looks into, how many rows these hold, and how many there are.
    pub(crate) fn sizes(&self) -> (usize, u64, u64) {
        match self {
            Self::Together { first, open, .. } => (open.len(), first.rows_in(open), first.len()),
            Self::ByGroup { first, open, .. } => {
                (open.iter().map(|open| open.buckets.len()).sum(), first.rows_in(open), first.len())
            }
        }
    }
}
