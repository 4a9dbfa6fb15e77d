//! Paths and values that begin with a dash, and are no options.

/// A path that no command takes for an option.
pub(crate) fn no_option(path: String) -> String {
    if path.starts_with('-') && path != "-" { format!("./{path}") } else { path }
}

/// An option with its value, which may begin with a dash.
pub(crate) fn option(name: &str, value: String) -> Vec<String> {
    match value.starts_with('-') {
        true => vec![format!("{name}={value}")],
        false => vec![name.to_owned(), value],
    }
}
