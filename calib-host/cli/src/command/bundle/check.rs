//! Checking a bundle.

use std::io::Write;
use std::path::PathBuf;

use calib_io::bundle::{BundleReadError, Checked, DataClaim, Lie, Step, check, read_bundle};
use calib_io::files::PublicKey;
use clap::Args;
use serde_json::json;

use super::recipe::file_name;
use super::remake::{Inputs, remade};
use crate::command::report::sha256_of_file;
use crate::context::Context;
use crate::error::Error;
use crate::options::headings::DATA;

#[derive(Args)]
pub(crate) struct CheckBundle {
    /// Check a bundle: a folder, or an archive of it.
    #[arg(long, value_name = "BUNDLE", help_heading = DATA)]
    check: PathBuf,
    /// With --check: compute all figures again from these files of rows.
    ///
    /// These are the files that the bundle was made from, in any order, and the costs file if there was one. calib finds each by its SHA-256.
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "check", help_heading = DATA)]
    rows: Vec<PathBuf>,
    /// The owner's public key. Who makes a bundle gives the private one by the same option.
    #[arg(skip)]
    pub(super) key: Option<PathBuf>,
    #[arg(skip)]
    pub(super) json: bool,
}

impl CheckBundle {
    pub(super) fn run(self, cx: &Context) -> Result<(), Error> {
        let key = self.key.as_deref().map(PublicKey::read).transpose()?;
        let mut steps = Vec::new();
        let found = self.find(key.as_ref(), &mut steps, cx);
        let found = found.map_or_else(|cause| cause.map(Some), |()| Ok(None))?;
        self.show(&steps, found.as_ref(), cx)?;
        match found {
            Some(lie) => Err(Error::Mismatch(format!("{}: {}: {lie}", self.check.display(), lie.name()))),
            None => Ok(()),
        }
    }

    /// Checks all that can be checked: an error within is a lie, one outside is of a file.
    fn find(
        &self,
        key: Option<&PublicKey>,
        steps: &mut Vec<Step>,
        cx: &Context,
    ) -> Result<(), Result<Lie, Error>> {
        let bundle = read_bundle(&self.check).map_err(|cause| match cause {
            BundleReadError::Lie(lie) => Ok(lie),
            BundleReadError::File(cause) => Err(cause.into()),
        })?;
        let checked = check(&bundle, key, steps).map_err(Ok)?;
        if self.rows.is_empty() {
            checked.without_rows(steps);
            return Ok(());
        }
        let inputs = self.inputs(&checked)?;
        let made = remade(&checked.claims.command, &checked.artifact, &inputs, cx)
            .map_err(|cause| Ok(Lie::NoReport(cause.to_string())))?;
        checked.compare(&made.report, made.rows, steps).map_err(Ok)
    }

    /// The files of the claims, each found by its hash.
    fn inputs(&self, checked: &Checked) -> Result<Inputs, Result<Lie, Error>> {
        let mut inputs = Inputs::new();
        for path in &self.rows {
            let sha256 = hex::encode(sha256_of_file(path).map_err(Err)?);
            let of_these = |data: &&DataClaim| data.sha256 == sha256;
            let options: Vec<_> = checked.claims.data.iter().filter(of_these).collect();
            if options.is_empty() {
                return Err(Ok(Lie::OtherRows(file_name(path))));
            }
            inputs.extend(options.into_iter().map(|data| (data.option.clone(), path.clone())));
        }
        match checked.claims.data.iter().find(|data| !inputs.contains_key(&data.option)) {
            Some(DataClaim { role, file, sha256, .. }) => {
                Err(Ok(Lie::MissingRows { role: role.clone(), file: file.clone(), sha256: sha256.clone() }))
            }
            None => Ok(inputs),
        }
    }

    fn show(&self, steps: &[Step], lie: Option<&Lie>, cx: &Context) -> Result<(), Error> {
        if self.json {
            let lie = lie.map(|lie| json!({"name": lie.name(), "text": lie.to_string()}));
            return cx.print_json(&json!({"bundle": self.check, "steps": steps, "lie": lie}));
        }
        let mut out = cx.stdout();
        for Step { what, found, is_checked } in steps {
            writeln!(out, "{:<12}{:<13}{found}", what, if *is_checked { "checked" } else { "not checked" })?;
        }
        match lie {
            Some(lie) => writeln!(out, "{:<25}{}", "not true", lie.name())?,
            None => writeln!(out, "No lie was found.")?,
        }
        Ok(())
    }
}
