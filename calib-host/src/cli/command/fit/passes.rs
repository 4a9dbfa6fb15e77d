//! Fits to what a database counted in two passes.

use std::path::Path;

use calib_host::data::RowsHash;
use calib_host::files::Place;
use calib_host::fit_binary;
use calib_host::input::{self, Source, read_second_pass};

use super::{DataOrigin, FitCommand, Fitted, usage};
use crate::cli::bar::reading;
use crate::cli::error::Error;
use crate::cli::read::Opened;
use crate::cli::show::Warnings;

impl FitCommand {
    /// Fits the tables of both passes: the same artefact as all rows have, but for the hash of the rows, which are not there.
    pub(super) fn passes(&self, first: &Path, quiet: bool) -> Result<Fitted, Error> {
        self.check_passes()?;
        let monitors = &self.written.monitors;
        let opened = Opened::read(first, &self.method, monitors.own_bins(), quiet)?;
        let second = self.passes.second();
        let second = second.map(|path| Source::read(path, &reading(quiet))).transpose()?;
        let kind = opened.first.buckets().kind();
        let counted = second.as_ref().map(|source| read_second_pass(source, kind)).transpose()?;
        let place = second.as_ref().map_or(opened.place.clone(), |source| Place::file(source.path()));
        let data = opened.first.points(&opened.open, counted.unwrap_or_default());
        let data = data.map_err(|cause| Error::pass(place, cause))?;
        let fit = fit_binary(&data, &opened.method, self.written.divided_alpha())
            .map_err(|cause| Error::fit(opened.place, cause))?;
        let sources: Vec<&Source> = std::iter::once(&opened.source).chain(&second).collect();
        Ok(Fitted {
            fit: fit.with_spreads([Some(opened.first.spread())]),
            // The hash of no rows, which no rows that it is judged by have.
            origin: DataOrigin { sha256: input::sha256(&sources), rows: RowsHash::default() },
            warnings: Warnings::default(),
            chosen: None,
            monitors: monitors.of_points(&data)?,
        })
    }

    /// Refuses what takes rows, of which counts have none.
    fn check_passes(&self) -> Result<(), Error> {
        let refused = [
            (self.clusters().is_some(), "--cluster-column draws a row of each cluster, and counts have none"),
            (
                self.group_column.is_some(),
                "--group-column divides rows, and both passes count all of them together: a query for each group (--from with a \
                 condition) gives it a calibrator of its own",
            ),
            (self.points.are_aggregated(), "both passes say themselves how many points a row is"),
            (self.labels.is_some(), "both passes count labels: leave out --labels"),
            (
                self.codes.encoding()?.is_some(),
                "of integer codes one pass tells everything: fit what `calib sql --score-encoding` asks for with --scores and \
                 --count-column",
            ),
            (
                self.written.is_compact(),
                "--table u16 rounds every score before the fit, and counts by bucket have none",
            ),
        ];
        match refused.into_iter().find(|(is_asked, _)| *is_asked) {
            Some((_, why)) => Err(usage(why)),
            None => Ok(()),
        }
    }
}
