//! The list of commands.

use std::fmt::Write;

use clap::Command;

/// The commands in the order in which they are needed.
pub(super) const COMMANDS: [(&str, &[&str]); 6] = [
    ("Calibrate", &["fit", "sql", "apply", "inspect", "recalibrate"]),
    ("Evaluate", &["assess", "report", "plot"]),
    ("Choose", &["compare", "bins", "plan"]),
    ("Decide", &["threshold", "sets", "decide", "adjust"]),
    (
        "Deploy",
        &[
            "export",
            "flash",
            "push",
            "status",
            "monitor",
            "label",
            "fleet",
            "keygen",
            "rotate-key",
            "sign",
            "verify",
            "bundle",
        ],
    ),
    ("Help and setup", &["help", "methods", "doctor", "completions", "man"]),
];

/// The list of commands.
pub(super) fn listing(program: &Command) -> String {
    let mut listing = String::new();
    for (heading, names) in COMMANDS {
        let _ = writeln!(listing, "{heading}:");
        for name in names {
            let found = program.get_subcommands().find(|command| command.get_name() == *name);
            // Some are for devices, which not every build is.
            let Some(command) = found else { continue };
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(listing, "  {name:<12} {about}");
        }
        listing.push('\n');
    }
    listing
}
