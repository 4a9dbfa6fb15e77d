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
mod report;
mod sets;
mod sql;
#[cfg(any(feature = "serial", feature = "probe"))]
mod status;
mod threshold;

use clap::Subcommand;

use crate::error::Error;
use crate::help::{Completions, Manual, Methods};

#[derive(Subcommand)]
pub(crate) enum Command {
    Fit(Box<fit::FitCommand>),
    Apply(apply::Apply),
    Assess(assess::Assess),
    Decide(Box<decide::Decide>),
    Threshold(Box<threshold::ThresholdCommand>),
    Sets(Box<sets::Sets>),
    Adjust(adjust::Adjust),
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
    /// Whether the command takes an interrupt for its end, and writes no file.
    pub(crate) fn ends_by_interrupt(&self) -> bool {
        #[cfg(feature = "serial")]
        if let Self::Monitor(_) = self {
            return true;
        }
        false
    }

    /// Does what is asked. `program` is the whole command line.
    pub(crate) fn run(self, quiet: bool, program: clap::Command) -> Result<(), Error> {
        match self {
            Self::Fit(fit) => fit.run(quiet),
            Self::Apply(apply) => apply.run(quiet),
            Self::Assess(assess) => assess.run(quiet),
            Self::Decide(decide) => decide.run(quiet),
            Self::Threshold(threshold) => threshold.run(quiet),
            Self::Sets(sets) => sets.run(quiet),
            Self::Adjust(adjust) => adjust.run(quiet),
            Self::Inspect(inspect) => inspect.run(),
            Self::Plan(plan) => plan.run(),
            #[cfg(feature = "serial")]
            Self::Push(push) => push.run(quiet),
            #[cfg(any(feature = "serial", feature = "probe"))]
            Self::Status(status) => status.run(),
            #[cfg(feature = "probe")]
            Self::Flash(flash) => flash.run(quiet),
            #[cfg(feature = "serial")]
            Self::Monitor(monitor) => monitor.run(quiet),
            #[cfg(feature = "serial")]
            Self::Label(label) => label.run(quiet),
            Self::Fleet(fleet) => fleet.run(quiet),
            Self::Sql(sql) => sql.run(quiet),
            Self::Keygen(keygen) => keygen.run(quiet),
            Self::Sign(sign) => sign.run(quiet),
            Self::Verify(verify) => verify.run(),
            Self::Bins(bins) => bins.run(quiet),
            Self::Compare(compare) => compare.run(quiet),
            Self::Report(report) => report.run(quiet),
            Self::Plot(plot) => plot.run(quiet),
            Self::Export(export) => export.run(),
            Self::Doctor(doctor) => doctor.run(),
            Self::Methods(methods) => methods.run(),
            Self::Completions(completions) => completions.run(program),
            Self::Manual(manual) => manual.run(program),
        }
    }
}
