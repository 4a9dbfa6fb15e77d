//! The project's driver: `cargo xtask <command>`.

mod bench;
mod c_firmware;
mod demo;
mod devices;
mod engines;
mod examples;
mod exhaustive;
mod faults;
mod flags;
mod fuzz;
mod miri;
mod mutants;
mod notices;
mod package;
mod papers;
mod report_check;
mod setup;
mod steps;
mod test;
mod twin;
mod verify;
mod web;
mod wheel;

use std::process::ExitCode;

use anyhow::Result;
use xtask::{count, root};

use flags::{BenchCmd, Xtask, XtaskCmd};
use setup::Setup;

fn main() -> ExitCode {
    if std::env::args_os().len() == 1 {
        print!("{}", Xtask::commands());
        return ExitCode::SUCCESS;
    }
    match run(Xtask::from_env_or_exit()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(Xtask { no_install, subcommand }: Xtask) -> Result<()> {
    let setup = Setup { may_install: !no_install };
    match subcommand {
        XtaskCmd::Demo(_) => demo::demo(setup),
        XtaskCmd::Test(_) => test::test(setup),
        XtaskCmd::Verify(verify) => verify::verify(setup, verify.only),
        XtaskCmd::Twin(options) => twin::twin(&options),
        XtaskCmd::Papers(papers) => papers::papers(&papers),
        XtaskCmd::Faults(faults) => faults::faults(setup, &faults),
        XtaskCmd::CFirmware(options) => c_firmware::c_firmware(setup, &options),
        XtaskCmd::Bench(bench) => match bench.subcommand {
            BenchCmd::Host(host) => bench::host(setup, &host),
            BenchCmd::Monitor(monitor) => bench::monitor(setup, &monitor),
            BenchCmd::Coverage(coverage) => bench::coverage(&coverage),
            BenchCmd::Accuracy(accuracy) => wheel::accuracy(setup, &accuracy),
            BenchCmd::Python(python) => wheel::bench(setup, python.rows),
            BenchCmd::Device(device) => devices::count(setup, &device),
        },
        XtaskCmd::ReportCheck(_) => report_check::report_check(setup),
        XtaskCmd::Figures(_) => report_check::figures(setup),
        XtaskCmd::Notices(_) => notices::notices(),
        XtaskCmd::Package(options) => package::package(setup, &options),
        XtaskCmd::Web(options) => web::web(setup, options.check),
        XtaskCmd::Wheel(wheel) => wheel::wheel(setup, wheel.all).map(drop),
        XtaskCmd::Examples(_) => examples::examples(setup),
        XtaskCmd::Engines(engines) => engines::engines(setup, &engines),
        XtaskCmd::Exhaustive(_) => exhaustive::exhaustive(),
        XtaskCmd::Miri(_) => miri::miri(),
        XtaskCmd::Mutants(options) => mutants::mutants(setup, &options),
        XtaskCmd::Count(options) => count(options.commit.as_deref()),
        XtaskCmd::Stack(_) => devices::stack(setup),
        XtaskCmd::Sizes(_) => devices::sizes(setup),
        XtaskCmd::Reproducible(options) => devices::reproducible(setup, &options),
        XtaskCmd::Fuzz(fuzz) => fuzz::fuzz(setup, &fuzz),
    }
}

/// `cargo xtask count`
fn count(commit: Option<&str>) -> Result<()> {
    let ends = [".rs", "Cargo.toml", ".md"];
    let files = match commit {
        Some(commit) => count::of_commit(&root(), commit, &ends)?,
        None => count::tracked(&root(), &ends)?,
    };
    print!("{}", count::table(&files));
    Ok(())
}
