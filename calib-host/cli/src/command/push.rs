//! `calib push`

use std::io::Write;
use std::path::PathBuf;

use calib_io::device::serial::{Stage, push};
use calib_io::files::read_artifact;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use crate::context::Context;
use crate::error::Error;
use crate::next::{Given, Suggestion};
use crate::options::headings::OUTPUT;
use crate::options::{Demanded, SerialLine};
use crate::run::Run;

/// Send a calibrator to a device over a serial link.
///
/// The device installs it.
///
/// The device keeps using its current calibrator until the new one is completely in flash and was read back. If
/// anything fails on the way, push again: the command continues where it stopped.
#[derive(Args)]
pub(crate) struct Push {
    /// Artifact.
    artifact: PathBuf,
    #[command(flatten)]
    demanded: Demanded,
    #[command(flatten)]
    line: SerialLine,
    /// Print JSON on standard output.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

impl Run for Push {
    fn run(self, cx: &Context) -> Result<(), Error> {
        let artifact = read_artifact(&self.artifact)?;
        self.demanded.check(Some((&self.artifact, &artifact)))?;
        let mut link = self.line.link()?;
        let bar = bar(cx);
        let mut resumed_at = None;
        let receipt = push(&mut link, &artifact, |stage| {
            // The first stage says what an earlier push has left on the device.
            resumed_at.get_or_insert(match stage {
                Stage::Sending { sent, .. } => sent,
                Stage::Installing { .. } => artifact.as_bytes().len() as u32,
            });
            let (what, position, total) = match stage {
                Stage::Sending { sent, total } => ("sending", sent, total),
                Stage::Installing { done, total } => ("installing", done, total),
            };
            bar.set_message(what);
            bar.set_length(total.into());
            bar.set_position(position.into());
        });
        bar.finish_and_clear();
        let receipt = receipt?;
        if self.json {
            return cx.print_json(&json!({
                "port": self.line.port,
                "identity": receipt.identity.to_string(),
                "slot": receipt.slot,
                "sequence": receipt.sequence,
                "resumed_at_bytes": resumed_at.unwrap_or(0),
                "damaged_frames": link.damaged(),
            }));
        }
        if !cx.quiet {
            let mut err = cx.stderr();
            writeln!(
                err,
                "{}: id {} is active, in slot {}, as installation {}",
                self.line.port, receipt.identity, receipt.slot, receipt.sequence
            )?;
        }
        Ok(())
    }

    fn next(given: &Given<'_>, _: &Context) -> Option<Suggestion> {
        given.status()
    }
}

fn bar(cx: &Context) -> ProgressBar {
    let target = if cx.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let style = ProgressStyle::with_template("{msg:<10} {wide_bar} {bytes}/{total_bytes}");
    ProgressBar::with_draw_target(None, target).with_style(style.expect("the template is in order"))
}
