//! The options that demand a decision of a log.

use std::path::{Path, PathBuf};

use calib_fit::StoredArtifact;
use calib_io::decision_log::DecisionLog;
use calib_io::files::{FileError, Location, LogError, Problem};
use calib_io::protocol::read_protocol;
use clap::Args;

use super::headings::DATA;
use crate::error::Error;

/// A protocol and a log that must state that an artifact was signed.
#[derive(Args)]
pub(crate) struct Demanded {
    /// Protocol under which the artifact must have been signed (`calib sign --protocol`).
    #[arg(long, value_name = "FILE", requires = "log", help_heading = DATA)]
    protocol: Option<PathBuf>,
    /// Log of decisions that must state it.
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    log: Option<PathBuf>,
    /// Hash of an entry that the log must contain, as `calib sign` printed it: finds a log that was cut short.
    #[arg(long, value_name = "SHA256", requires = "log", help_heading = DATA, hide_short_help = true)]
    head: Option<String>,
}

impl Demanded {
    /// The log, verified as far as the options ask, and its path; `None` if there is none.
    ///
    /// # Errors
    ///
    /// If the log is not whole, or does not state that the artifact was signed.
    pub(crate) fn check(
        &self,
        artifact: Option<(&Path, &StoredArtifact)>,
    ) -> Result<Option<(&Path, DecisionLog)>, Error> {
        let Some(path) = &self.log else { return Ok(None) };
        if artifact.is_some() && self.protocol.is_none() {
            return Err(Error::Usage(
                "a log says under which protocol an artifact was signed: add --protocol".into(),
            ));
        }
        let log = DecisionLog::read(path)?;
        let fault = |cause: LogError| FileError::input(Location::file(path), Problem::Log(cause));
        if let Some(head) = &self.head {
            log.check_head(head).map_err(fault)?;
        }
        if let Some(protocol) = &self.protocol {
            let read = read_protocol(protocol)?;
            log.check_protocol(&read).map_err(fault)?;
            if let Some((name, stored)) = artifact {
                log.signed(&read, stored).map_err(|cause| {
                    Error::Mismatch(format!(
                        "{}: {cause}\n  protocol  {}\n  log       {}",
                        name.display(),
                        protocol.display(),
                        path.display()
                    ))
                })?;
            }
        }
        Ok(Some((path, log)))
    }
}
