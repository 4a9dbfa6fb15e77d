//! What every command has, and how one is carried out.

use clap::ArgMatches;

use crate::context::Context;
use crate::error::Error;
use crate::kinds::FileKind;
use crate::next::{self, Given, Suggestion};
use crate::paths;

/// A command. What is a constant here is true of all its runs.
pub(crate) trait Run: Sized {
    /// What it is doing, if that may take long and nothing else shows it.
    const AT_WORK: Option<&str> = None;
    /// What `-o` will hold, if it is always the same kind.
    const OUTPUT: Option<FileKind> = None;
    /// Why `-o -` is refused, if it is.
    const NOT_STREAMED: Option<&str> = None;
    /// Whether it says itself what it wrote.
    const TELLS: bool = false;
    /// Whether it takes an interrupt for its end, and writes no file.
    const ENDS_BY_INTERRUPT: bool = false;

    /// Does what is asked.
    fn run(self, cx: &Context) -> Result<(), Error>;

    /// The command that usually follows.
    fn next(_: &Given<'_>, _: &Context) -> Option<Suggestion> {
        None
    }
}

impl<C: Run> Run for Box<C> {
    const AT_WORK: Option<&str> = C::AT_WORK;
    const OUTPUT: Option<FileKind> = C::OUTPUT;
    const NOT_STREAMED: Option<&str> = C::NOT_STREAMED;
    const TELLS: bool = C::TELLS;
    const ENDS_BY_INTERRUPT: bool = C::ENDS_BY_INTERRUPT;

    fn run(self, cx: &Context) -> Result<(), Error> {
        (*self).run(cx)
    }

    fn next(given: &Given<'_>, cx: &Context) -> Option<Suggestion> {
        C::next(given, cx)
    }
}

/// Checks the files that were named, does what is asked, and tells what to do next.
pub(crate) fn carry_out<C: Run>(command: C, given: &ArgMatches, cx: &Context) -> Result<(), Error> {
    if !C::ENDS_BY_INTERRUPT {
        leave_nothing_unfinished();
    }
    paths::check::<C>(given)?;
    let at_work = cx.at_work(C::AT_WORK);
    let done = command.run(cx);
    drop(at_work);
    if done.is_ok() && !cx.quiet {
        // Nothing is left to be told when standard error is closed.
        let _ = next::tell::<C>(given, cx);
    }
    done
}

/// Removes what is being written when the program is interrupted. In a page, ending the worker ends its files, too.
fn leave_nothing_unfinished() {
    #[cfg(not(target_family = "wasm"))]
    {
        /// The exit code after an interrupt, as shells have it.
        const INTERRUPTED: i32 = 130;
        // Without it an interrupt ends the program all the same, and leaves what it was writing.
        let _ = ctrlc::set_handler(|| {
            calib_io::files::remove_unfinished();
            std::process::exit(INTERRUPTED);
        });
    }
}
