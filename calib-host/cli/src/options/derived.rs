//! The options for an artifact that is made from another one.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use calib_core::ClassifierId;
use calib_fit::job::Target;
use calib_fit::{ArtifactOptions, StoredArtifact};
use clap::Args;

use super::headings::{DEVICE, OUTPUT};
use super::parse::count;
use crate::context::Context;
use crate::error::Error;

/// How new an artifact is, and where it goes.
#[derive(Args)]
pub(crate) struct DerivedOptions {
    /// Rollback counter: a device refuses an artifact with a lower counter than the one it holds.
    ///
    /// Required if the artifact is made from another artifact.
    #[arg(long, value_name = "N", value_parser = count::<u32>(..), help_heading = DEVICE, hide_short_help = true)]
    counter: Option<u32>,
    /// Output file for the artifact.
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) output: PathBuf,
    /// Replace an existing output.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) force: bool,
    /// Print JSON on standard output.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

impl DerivedOptions {
    /// Where a rule goes: beside a calibrator, or into an artifact that is made from these files alone.
    pub(crate) fn target<'a>(
        &self,
        calibrator: Option<(&Path, &'a StoredArtifact)>,
        data_sha256: [u8; 32],
        classifier: Option<ClassifierId>,
        cx: &Context,
    ) -> Result<Target<'a>, Error> {
        let counter = self.counter.unwrap_or(0);
        Ok(match calibrator {
            Some((path, parent)) => Target::Beside(parent, self.of(path, parent, cx)?),
            None => Target::Alone(Box::new(
                ArtifactOptions::default().data_sha256(data_sha256).classifier(classifier).counter(counter),
            )),
        })
    }

    /// The counter of an artifact made from the one at `path`. A warning reports that its signature is lost.
    pub(crate) fn of(&self, parent_path: &Path, parent: &StoredArtifact, cx: &Context) -> Result<u32, Error> {
        let artifact = parent.artifact();
        let (path, held) = (parent_path.display(), artifact.counter());
        let Some(counter) = self.counter else {
            return Err(Error::Usage(format!(
                "--counter is required for an artifact made from another one: {path} has the rollback counter {held}, and a device \
                 rejects a lower one than its own"
            )));
        };
        warn_of_counter(parent_path, parent, counter, cx)?;
        if artifact.signature().is_some() {
            let sentence =
                format!("{path} is signed, and what is made from it is not: sign that with `calib sign`");
            cx.warn(&[sentence])?;
        }
        Ok(counter)
    }
}

/// Warns if a device that holds the artifact at `path` refuses one with this counter that is made from it.
pub(crate) fn warn_of_counter(
    path: &Path,
    parent: &StoredArtifact,
    counter: u32,
    cx: &Context,
) -> Result<(), Error> {
    let (held, path) = (parent.artifact().counter(), path.display());
    let sentence = match counter.cmp(&held) {
        Ordering::Less => {
            format!("the counter of {path} is {held}: a device that holds it refuses {counter}")
        }
        Ordering::Equal if parent.artifact().signature().is_some() => format!(
            "{path} has the counter {held} itself: a device with a key that holds it refuses another calibrator with that counter, so give \
             --counter {} or more",
            held.saturating_add(1)
        ),
        _ => return Ok(()),
    };
    cx.warn(&[sentence])?;
    Ok(())
}
