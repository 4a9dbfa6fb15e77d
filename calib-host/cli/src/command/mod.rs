//! The commands, one a file: what each is asked, and how it is done.

mod adjust;
mod apply;
mod assess;
mod bins;
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
mod sql;
#[cfg(any(feature = "serial", feature = "probe"))]
mod status;
mod threshold;

use clap::{ArgMatches, Subcommand};

use crate::context::Context;
use crate::error::Error;
use crate::help::{Completions, Manual, Methods};
use crate::run::carry_out;

#[derive(Subcommand)]
pub(crate) enum Command {
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
    Sign(keys::Sign),
    Verify(keys::Verify),
    Bins(bins::Bins),
    Compare(Box<compare::Compare>),
    Report(report::ReportCommand),
    Plot(plot::PlotCommand),
    Export(export::Export),
    Doctor(doctor::Doctor),
    Methods(Methods),
    Completions(Completions),
    #[command(name = "man")]
    Manual(Manual),
}

impl Command {
    /// Does what is asked, as it was given.
    pub(crate) fn run(self, given: &ArgMatches, cx: &Context) -> Result<(), Error> {
        match self {
            Self::Fit(fit) => carry_out(*fit, given, cx),
            Self::Apply(apply) => carry_out(apply, given, cx),
            Self::Assess(assess) => carry_out(assess, given, cx),
            Self::Decide(decide) => carry_out(*decide, given, cx),
            Self::Threshold(threshold) => carry_out(*threshold, given, cx),
            Self::Sets(sets) => carry_out(*sets, given, cx),
            Self::Adjust(adjust) => carry_out(adjust, given, cx),
            Self::Recalibrate(recalibrate) => carry_out(recalibrate, given, cx),
            Self::Inspect(inspect) => carry_out(inspect, given, cx),
            Self::Plan(plan) => carry_out(plan, given, cx),
            #[cfg(feature = "serial")]
            Self::Push(push) => carry_out(push, given, cx),
            #[cfg(any(feature = "serial", feature = "probe"))]
            Self::Status(status) => carry_out(status, given, cx),
            #[cfg(feature = "probe")]
            Self::Flash(flash) => carry_out(flash, given, cx),
            #[cfg(feature = "serial")]
            Self::Monitor(monitor) => carry_out(monitor, given, cx),
            #[cfg(feature = "serial")]
            Self::Label(label) => carry_out(label, given, cx),
            Self::Fleet(fleet) => carry_out(fleet, given, cx),
            Self::Sql(sql) => carry_out(*sql, given, cx),
            Self::Keygen(keygen) => carry_out(keygen, given, cx),
            Self::Sign(sign) => carry_out(sign, given, cx),
            Self::Verify(verify) => carry_out(verify, given, cx),
            Self::Bins(bins) => carry_out(bins, given, cx),
            Self::Compare(compare) => carry_out(*compare, given, cx),
            Self::Report(report) => carry_out(report, given, cx),
            Self::Plot(plot) => carry_out(plot, given, cx),
            Self::Export(export) => carry_out(export, given, cx),
            Self::Doctor(doctor) => carry_out(doctor, given, cx),
            Self::Methods(methods) => carry_out(methods, given, cx),
            Self::Completions(completions) => carry_out(completions, given, cx),
            Self::Manual(manual) => carry_out(manual, given, cx),
        }
    }
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
