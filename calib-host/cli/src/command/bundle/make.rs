//! Making a bundle.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use calib_io::bundle::{Bundle, BundleError, BundleFile, BundleParts, DataClaim, Lie, LinkedPackage};
use calib_io::files::{FileError, Location, OutputError, PrivateKey, Problem, read_artifact};
use calib_io::report::Report;
use clap::Args;
use serde_json::json;

use super::recipe::recipe;
use super::remake::{Inputs, remade};
use crate::command::report::{ROLES, ReportArgs};
use crate::context::Context;
use crate::error::Error;
use crate::options::headings::{DATA, OUTPUT};

/// What this program is built of.
const PACKAGES: &str = include_str!(concat!(env!("OUT_DIR"), "/packages.txt"));

/// Write or check a folder of evidence about a calibrator.
///
/// The folder has the signed artifact, its report, every figure of the report (claims.json), a bill of materials
/// (CycloneDX), a checklist for reviewers, and a signed statement over all files. It has no row of the data: of each
/// file of rows there is the SHA-256 and the number of rows.
///
/// With --check, calib checks such a folder, or its archive. It compares signatures, hashes and figures. With --rows,
/// calib also computes every figure again. It exits with 1 at the first thing that is not so, and names it.
#[derive(Args)]
pub(crate) struct MakeBundle {
    #[command(flatten)]
    asked: ReportArgs,
    /// Private key that signed the artifact; with --check: the public key.
    ///
    /// The private key signs the bundle. Get the public key from the owner, and not from the bundle.
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    key: PathBuf,
    /// What you state of the model and its use, in TOML.
    ///
    /// Its keys are users, uses, misuses, limits, a table model and a table answers. The book has an example.
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    about: Option<PathBuf>,
    /// Protocol that changes of the calibrator have to keep.
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    protocol: Option<PathBuf>,
    /// Log of decisions under the protocol.
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    log: Option<PathBuf>,
    /// Folder to write; it must not exist.
    #[arg(short, long, value_name = "FOLDER", help_heading = OUTPUT)]
    output: PathBuf,
    /// Also write the folder as a tar archive.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    archive: Option<PathBuf>,
    /// Print JSON on standard output.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

impl MakeBundle {
    pub(super) fn run(self, cx: &Context) -> Result<(), Error> {
        if self.output.symlink_metadata().is_ok() {
            return Err(OutputError::FolderExists(self.output).into());
        }
        let key = PrivateKey::read(&self.key)?;
        let artifact = read_artifact(&self.asked.data.artifact)?;
        let created = created()?;
        // Before anything is computed, it is clear that the bundle can be signed.
        BundleParts::check_signature(&artifact, &key).map_err(|cause| self.refuse(cause))?;
        let command = recipe(cx);
        let inputs: Inputs =
            self.asked.inputs().map(|(option, path)| (option.into(), path.clone())).collect();
        let made = remade(&command, &artifact, &inputs, cx)?;
        let data = data_of(&made.report, &inputs, made.rows);
        cx.warn(&made.report.warnings)?;
        let read = |path: &Option<PathBuf>| path.as_deref().map(small_file).transpose();
        let parts = BundleParts {
            artifact: &artifact,
            report: &made.report,
            data,
            command,
            created: created.as_ref().map(|(_, text)| text.clone()),
            about: read(&self.about)?,
            protocol: read(&self.protocol)?,
            log: read(&self.log)?,
            packages: &LinkedPackage::list(PACKAGES),
            key: &key,
        };
        let bundle = Bundle::new(parts).map_err(|cause| self.refuse(cause))?;
        bundle.write(&self.output)?;
        if let Some(path) = &self.archive {
            let archive = bundle.archive(created.map_or(0, |(seconds, _)| seconds))?;
            cx.write_output(path, false, &archive)?;
        }
        if self.json {
            let files: Vec<&str> = bundle.files().map(|(file, _)| BundleFile::name(file)).collect();
            return cx.print_json(&json!({
                "output": self.output,
                "archive": self.archive,
                "files": files,
                "identity": artifact.artifact().identity().to_string(),
                "key": key.public().id().to_string(),
                "warnings": made.report.warnings,
            }));
        }
        if !cx.quiet {
            let count = bundle.files().count();
            writeln!(
                cx.stderr(),
                "wrote {}: {count} files, signed with key {}",
                self.output.display(),
                key.public().id()
            )?;
        }
        Ok(())
    }

    /// States of which file it is why there is no bundle.
    fn refuse(&self, cause: BundleError) -> Error {
        let given = match &cause {
            BundleError::Part(Lie::About(_)) => self.about.as_ref(),
            BundleError::Part(Lie::Log(_)) => self.log.as_ref(),
            BundleError::Part(Lie::Protocol(_)) => self.protocol.as_ref(),
            _ => None,
        };
        Error::Bundle { path: given.unwrap_or(&self.asked.data.artifact).clone(), cause }
    }
}

/// The files of a report, with the option that names each.
fn data_of(report: &Report, inputs: &Inputs, [calibration, test]: [u64; 2]) -> Vec<DataClaim> {
    let option = |role: &str| ROLES.iter().find(|(_, known)| *known == role).map(|(option, _)| *option);
    let files = report.origin.files.iter().filter_map(|file| Some((option(&file.role)?, file)));
    let rows = |option: &str| match option {
        "actions" => None,
        _ if option.starts_with("test") => Some(test),
        _ => Some(calibration),
    };
    let claim = |(option, file): (&str, &calib_io::report::FileOrigin)| DataClaim {
        option: option.into(),
        role: file.role.clone(),
        file: file.name.clone(),
        sha256: file.sha256.clone(),
        rows: rows(option),
    };
    files.filter(|(option, _)| inputs.contains_key(*option)).map(claim).collect()
}

/// The most bytes of what the owner states, of a protocol, and of a log.
const MOST_LEN_BYTES: u64 = 16 << 20;

fn small_file(path: &Path) -> Result<Vec<u8>, Error> {
    let read_error = |source| FileError::Read { path: path.into(), source };
    let too_large = fs::metadata(path).map_err(read_error)?.len() > MOST_LEN_BYTES;
    if too_large {
        return Err(Error::input(Location::file(path), Problem::FileTooLarge { max: MOST_LEN_BYTES }));
    }
    Ok(fs::read(path).map_err(read_error)?)
}

/// The time that `SOURCE_DATE_EPOCH` gives: in seconds since 1970, and as in RFC 3339. calib states no other time.
fn created() -> Result<Option<(u64, String)>, Error> {
    let Some(text) = std::env::var_os("SOURCE_DATE_EPOCH") else { return Ok(None) };
    // 9999 is the last year of RFC 3339.
    let seconds =
        text.to_str().and_then(|text| text.parse().ok()).filter(|&seconds| seconds < 253_402_300_800);
    match seconds {
        Some(seconds) => Ok(Some((seconds, rfc3339(seconds)))),
        None => Err(Error::Usage("SOURCE_DATE_EPOCH is a number of seconds since 1970".into())),
    }
}

/// The date by the algorithm `civil_from_days` of Howard Hinnant (chrono-Compatible Low-Level Date Algorithms).
fn rfc3339(seconds: u64) -> String {
    let (days, time) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Years begin in March here.
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, after) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = year_of_era + era * 400 + after;
    let [hour, minute, second] = [time / 3600, time / 60 % 60, time % 60];
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_a_date() {
        for (seconds, date) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(rfc3339(seconds), date);
        }
    }
}
