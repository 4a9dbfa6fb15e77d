//! The options for an artefact that is made from another one.

use std::path::Path;

use calib_fit::StoredArtifact;
use calib_fit::artifact::Child;
use clap::Args;

use crate::context::Context;
use crate::error::Error;

/// How new an artefact is.
#[derive(Args)]
pub(crate) struct ChildOptions {
    /// How new the artefact is: a device refuses one with a lower counter than the one it holds. Needed where it is made from another
    /// artefact.
    #[arg(long, value_name = "N", help_heading = "The device", hide_short_help = true)]
    counter: Option<u32>,
}

impl ChildOptions {
    /// As new as this.
    pub(crate) fn at(counter: u32) -> Self {
        Self { counter: Some(counter) }
    }

    /// The counter of an artefact that is made from nothing else.
    pub(crate) fn counter(&self) -> u32 {
        self.counter.unwrap_or(0)
    }

    /// What an artefact made from the one at `path` says of itself. That its signature is lost is told.
    pub(crate) fn of(
        &self,
        path: &Path,
        parent: &StoredArtifact,
        parameters: String,
        cx: &Context,
    ) -> Result<Child, Error> {
        let artifact = parent.artifact();
        let (path, held) = (path.display(), artifact.counter());
        let Some(counter) = self.counter else {
            return Err(Error::Usage(format!(
                "--counter is needed where an artefact is made from another one: that of {path} is {held}, and a device refuses a \
                 lower one than it holds"
            )));
        };
        if counter < held {
            let sentence =
                format!("the counter of {path} is {held}: a device that holds it refuses {counter}");
            cx.warn(&[sentence])?;
        }
        if artifact.signature().is_some() {
            let sentence =
                format!("{path} is signed, and what is made from it is not: sign that with `calib sign`");
            cx.warn(&[sentence])?;
        }
        Ok(Child { counter, parameters })
    }
}
