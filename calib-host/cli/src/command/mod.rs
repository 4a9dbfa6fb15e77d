//! The commands, one a file: what each is asked, and how it is done.

mod adjust;
mod apply;
mod assess;
mod bins;
mod bundle;
mod compare;
mod decide;
mod doctor;
mod export;
mod fit;
#[cfg(feature = "probe")]
mod flash;
mod fleet;
#[cfg(feature = "serial")]
mod fleet_log;
mod inspect;
mod keys;
#[cfg(feature = "serial")]
mod label;
#[cfg(feature = "serial")]
mod monitor;
mod plan;
mod plot;
#[cfg(feature = "serial")]
mod push;
mod recalibrate;
mod report;
mod sets;
mod sign;
mod sql;
#[cfg(any(feature = "serial", feature = "probe"))]
mod status;
mod threshold;

use clap::{ArgMatches, Subcommand};

use crate::context::Context;
use crate::error::Error;
use crate::help::{Completions, Manual, Methods};
use crate::run::carry_out;

/// The commands, each with what it is asked.
macro_rules! commands {
    ($($(#[$built:meta])? $name:ident($asked:ty),)+) => {
        #[derive(Subcommand)]
        pub(crate) enum Command {
            $($(#[$built])? $name($asked),)+
        }

        impl Command {
            /// Does what is asked, as it was given.
            pub(crate) fn run(self, given: &ArgMatches, cx: &Context) -> Result<(), Error> {
                match self {
                    $($(#[$built])? Self::$name(command) => carry_out(command, given, cx),)+
                }
            }
        }
    };
}

commands! {
    Fit(Box<fit::FitCommand>),
    Apply(apply::Apply),
    Assess(assess::Assess),
    Decide(Box<decide::Decide>),
    Threshold(Box<threshold::ThresholdCommand>),
    Sets(Box<sets::Sets>),
    Adjust(adjust::Adjust),
    Recalibrate(recalibrate::Recalibrate),
    Inspect(inspect::Inspect),
    Plan(plan::PlanCommand),
    #[cfg(feature = "serial")]
    Push(push::Push),
    #[cfg(any(feature = "serial", feature = "probe"))]
    Status(status::Status),
    #[cfg(feature = "probe")]
    Flash(flash::Flash),
    #[cfg(feature = "serial")]
    Monitor(monitor::Monitor),
    #[cfg(feature = "serial")]
    Label(label::Label),
    Fleet(fleet::FleetCommand),
    Sql(Box<sql::Sql>),
    Keygen(keys::Keygen),
    RotateKey(keys::RotateKey),
    Sign(Box<sign::Sign>),
    Verify(keys::Verify),
    Bundle(bundle::BundleCommand),
    Bins(bins::Bins),
    Compare(Box<compare::Compare>),
    Report(report::ReportCommand),
    Plot(plot::PlotCommand),
    Export(export::Export),
    Doctor(doctor::Doctor),
    Methods(Methods),
    Completions(Completions),
    Man(Manual),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Run;

    #[test]
    fn every_command_that_shows_nothing_else_shows_that_it_is_at_work() {
        let at_work = [
            fit::FitCommand::AT_WORK,
            assess::Assess::AT_WORK,
            report::ReportCommand::AT_WORK,
            bins::Bins::AT_WORK,
        ];
        assert!(at_work.iter().all(Option::is_some));
        // It counts its fits.
        assert_eq!(compare::Compare::AT_WORK, None);
    }
}
