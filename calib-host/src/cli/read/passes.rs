//! What a database counted in the first pass, and what it leaves open.

use std::path::Path;

use calib_host::files::Place;
use calib_host::input::{Source, read_first_pass};
use calib_host::passes::FirstPass;
use calib_host::{BinaryMethod, Umd};

use crate::cli::bar::reading;
use crate::cli::error::Error;
use crate::cli::options::MethodOptions;

/// The first pass, and what it leaves open to a method.
pub(crate) struct Opened {
    pub(crate) source: Source,
    pub(crate) place: Place,
    pub(crate) first: FirstPass,
    pub(crate) method: BinaryMethod,
    /// The buckets that the second pass looks into.
    pub(crate) open: Vec<f64>,
}

impl Opened {
    /// Reads the first pass. The method is the one that is asked for, and monitors may have so many bins of their own.
    pub(crate) fn read(
        path: &Path,
        method: &MethodOptions,
        monitor_bins: Option<u16>,
        quiet: bool,
    ) -> Result<Self, Error> {
        if method.is_left_open() {
            return Err(Error::Usage(
                "what is left open is chosen by all scores, which two passes do not tell: name the method and its bins, such as \
                 --method umd --bins 10"
                    .into(),
            ));
        }
        let source = Source::read(path, &reading(quiet))?;
        let first = read_first_pass(&source)?;
        let place = Place::file(path);
        let method = method.binary((first.len(), &place), first.buckets().kind(), None)?;
        let of_monitors = monitor_bins.map(|bins| BinaryMethod::Umd(Umd::new(bins.into())));
        let methods: Vec<BinaryMethod> = [method].into_iter().chain(of_monitors).collect();
        let open = first.open_buckets(&methods).map_err(|cause| Error::pass(place.clone(), cause))?;
        Ok(Self { source, place, first, method, open })
    }
}
