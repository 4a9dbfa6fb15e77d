//! Examples of every command. A test runs them all, in this order, in one folder.

/// The examples of every command under its name, those that make files before those that take them; of each what it is for, and the
/// command line. The first of a command is the one that `-h` shows.
const EXAMPLES: &str = include_str!("examples.txt");

/// The examples of a command, as `--help` shows them; none has no entry.
fn of(command: &str) -> &'static str {
    let name = format!("[{command}]\n");
    EXAMPLES.split("\n\n").find_map(|entry| entry.strip_prefix(&name)).unwrap_or_default()
}

/// What `-h` says at its end.
pub(super) fn short(command: &str) -> String {
    let lines = of(command).lines().skip(1).take_while(|line| !line.starts_with("  #"));
    let line = lines.collect::<Vec<_>>().join("\n");
    if line.is_empty() { line } else { format!("Example: {}", line.trim_start()) }
}

/// What `--help` says at its end.
pub(super) fn long(command: &str) -> String {
    format!("Examples:\n{}\n", of(command).trim_end())
}
