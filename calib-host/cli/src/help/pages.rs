//! Completions for shells, and pages for `man`.

use std::io::{self, Write};

use clap::{Args, Command};
use clap_complete::Shell;

use super::laid_out;
use crate::context::Context;
use crate::error::Error;
use crate::run::Run;

/// Print completions for a shell
///
/// For bash: `calib completions bash > ~/.local/share/bash-completion/completions/calib`. For zsh: `calib completions zsh > _calib`, in
/// a folder of `$fpath`. For fish: `calib completions fish > ~/.config/fish/completions/calib.fish`.
#[derive(Args)]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

impl Run for Completions {
    fn run(self, cx: &Context) -> Result<(), Error> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut laid_out(cx.program.clone()), "calib", &mut script);
        Ok(cx.stdout().write_all(&script)?)
    }
}

/// Print a manual page
///
/// `calib man fit | man -l -` shows the page of `calib fit`; without a command it is the page of calib itself.
#[derive(Args)]
pub(crate) struct Manual {
    /// A command, such as `fit`.
    command: Option<String>,
}

impl Run for Manual {
    fn run(self, cx: &Context) -> Result<(), Error> {
        let program = laid_out(cx.program.clone());
        let page = match self.command {
            None => program,
            Some(name) => {
                let found = program.find_subcommand(&name).cloned();
                found.ok_or_else(|| Error::Usage(format!("there is no command {name:?}")))?
            }
        };
        Ok(cx.stdout().write_all(&manual(page)?)?)
    }
}

/// The page of a command.
pub(super) fn manual(command: Command) -> io::Result<Vec<u8>> {
    // A page is the long help: it has what `-h` leaves out.
    let command = command.mut_args(|arg| arg.hide_short_help(false));
    // Man breaks lines itself.
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text)?;
    Ok(text)
}
