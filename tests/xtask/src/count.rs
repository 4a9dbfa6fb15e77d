//! How large the repository is: lines by kind, options by command.
//!
//! A line is a *test* if it stands in an inline module under `#[cfg(test)]`, in a file `tests.rs`, or in a crate's folder
//! `tests`. Lines of the folder `tests` at the root are counted like others, apart from the product.

use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

use crate::{output, run};

/// Lines by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// Files.
    pub files: usize,
    /// Lines of code.
    pub code: usize,
    /// All lines of tests.
    pub test: usize,
    /// Doc comments.
    pub doc: usize,
    /// Other comments, and blank lines.
    pub rest: usize,
}

impl Lines {
    /// Counts a file's lines; `path` is relative to the repository's root.
    pub fn of(path: &str, text: &str) -> Self {
        let mut lines = Self { files: 1, ..Self::default() };
        if is_test_file(path) {
            lines.test = text.lines().count();
            return lines;
        }
        for (line, is_test) in marked(text) {
            let line = line.trim_start();
            let count = match is_test {
                true => &mut lines.test,
                false if line.starts_with("///") || line.starts_with("//!") => &mut lines.doc,
                false if line.is_empty() || line.starts_with("//") => &mut lines.rest,
                false => &mut lines.code,
            };
            *count += 1;
        }
        lines
    }

    /// All of them.
    pub fn total(&self) -> usize {
        self.code + self.test + self.doc + self.rest
    }
}

impl AddAssign for Lines {
    fn add_assign(&mut self, other: Self) {
        self.files += other.files;
        self.code += other.code;
        self.test += other.test;
        self.doc += other.doc;
        self.rest += other.rest;
    }
}

fn is_test_file(path: &str) -> bool {
    path.ends_with("/tests.rs") || !path.starts_with("tests/") && path.contains("/tests/")
}

/// Each line, and whether it belongs to an inline module under `#[cfg(test)]`.
fn marked(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut marks = vec![false; lines.len()];
    for start in 0..lines.len() {
        let line = lines[start].trim_start();
        if marks[start] || !line.starts_with("#[cfg(") || !line.contains("test") || line.contains("not(") {
            continue;
        }
        // Other attributes may stand between.
        let behind = lines[start..].iter().position(|line| !line.trim_start().starts_with("#["));
        let Some(module) = behind.map(|at| start + at) else { continue };
        let is_module = lines[module].split_whitespace().any(|word| word == "mod");
        if is_module && lines[module].ends_with('{') {
            let indent = &lines[start][..lines[start].len() - line.len()];
            let end = lines[module..].iter().position(|line| line.strip_prefix(indent) == Some("}"));
            let end = module + end.unwrap_or(lines.len() - module - 1);
            marks[start..=end].fill(true);
        }
    }
    lines.into_iter().zip(marks)
}

/// The code of a file: its lines with their numbers, without comments, blank lines and tests.
pub fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = marked(text).enumerate().filter(|(_, (_, is_test))| !is_test);
    let lines = lines.map(|(at, (line, _))| (at + 1, line));
    lines.filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with("//"))
}

/// A repository's files with their text: those that git tracks, by their paths.
pub type Files = BTreeMap<String, String>;

/// Reads the files of a working tree that git tracks and whose names end with one of these.
///
/// # Errors
///
/// If git cannot list them.
pub fn tracked(root: &Path, ends: &[&str]) -> io::Result<Files> {
    let folder = root.to_string_lossy();
    let listed = output("git", &["-C", &folder, "ls-files", "--cached", "--others", "--exclude-standard"])
        .ok_or_else(|| io::Error::other("git cannot list the files"))?;
    let paths = listed.lines().filter(|path| ends.iter().any(|end| path.ends_with(end)));
    let read = |path: &str| Some((path.to_owned(), fs::read_to_string(root.join(path)).ok()?));
    Ok(paths.filter_map(read).collect())
}

/// Reads the files of a commit.
///
/// # Errors
///
/// If git does not know the commit, or tar fails.
pub fn of_commit(root: &Path, commit: &str, ends: &[&str]) -> anyhow::Result<Files> {
    let folder = root.join("target/count");
    fs::create_dir_all(&folder)?;
    let archive = folder.join("commit.tar");
    let mut git = Command::new("git");
    run(git.current_dir(root).args(["archive", "--output"]).arg(&archive).arg(commit))?;
    let listed = output("tar", &["--list", "--file", &archive.to_string_lossy()]).unwrap_or_default();
    run(Command::new("tar").current_dir(&folder).args(["--extract", "--file"]).arg(&archive))?;
    let paths = listed.lines().filter(|path| ends.iter().any(|end| path.ends_with(end)));
    let read = |path: &str| Some((path.to_owned(), fs::read_to_string(folder.join(path)).ok()?));
    Ok(paths.filter_map(read).collect())
}

/// The parts of the product and of its tests, with the folders of each: the first that holds a file has it.
const PARTS: [(&str, &[&str]); 16] = [
    ("calib-core/src", &["calib-core/src/"]),
    ("calib-core/tests", &["calib-core/"]),
    ("calib-fit/src", &["calib-host/fit/src/"]),
    ("calib-fit/tests", &["calib-host/fit/"]),
    ("calib-cli/src", &["calib-host/cli/src/", "calib-host/src/cli/"]),
    ("calib-io/src and calib-host/src", &["calib-host/io/src/", "calib-host/src/"]),
    ("calib-python", &["calib-host/python/"]),
    ("calib-web", &["calib-host/web/"]),
    ("calib-host: tests, examples", &["calib-host/"]),
    ("firmware/device, drivers", &["firmware/device/", "firmware/drivers/"]),
    ("firmware/c", &["firmware/c/"]),
    ("firmware, rest", &["firmware/"]),
    ("tests: harness, end to end", &["tests/src/", "tests/tests/"]),
    ("tests/xtask", &["tests/xtask/", "tests/run/"]),
    ("tests, rest", &["tests/"]),
    ("elsewhere", &[""]),
];

/// The table: lines of each part, and what else there is to count.
pub fn table(files: &Files) -> String {
    let mut parts = [Lines::default(); PARTS.len()];
    for (path, text) in files.iter().filter(|(path, _)| path.ends_with(".rs")) {
        let holds = |folders: &[&str]| folders.iter().any(|folder| path.starts_with(folder));
        let part = PARTS.iter().position(|(_, folders)| holds(folders)).unwrap_or(PARTS.len() - 1);
        parts[part] += Lines::of(path, text);
    }
    let (mut all, mut product) = (Lines::default(), Lines::default());
    let mut table = format!(
        "{:<34}{:>7}{:>9}{:>9}{:>9}{:>9}{:>9}\n",
        "", "files", "code", "test", "doc", "rest", "total"
    );
    let row = |name: &str, lines: &Lines| {
        let Lines { files, code, test, doc, rest } = lines;
        format!("{name:<34}{files:>7}{code:>9}{test:>9}{doc:>9}{rest:>9}{:>9}\n", lines.total())
    };
    for ((name, _), lines) in PARTS.iter().zip(&parts).filter(|(_, lines)| lines.files > 0) {
        table += &row(name, lines);
        all += *lines;
        if !name.starts_with("tests") {
            product += *lines;
        }
    }
    table += &row("product", &product);
    table += &row("all .rs", &all);
    let manifests = files.keys().filter(|path| path.ends_with("Cargo.toml"));
    let packages = manifests.filter(|path| files[*path].contains("[package]"));
    let (tests, others): (Vec<&String>, Vec<_>) = packages.partition(|path| path.starts_with("tests/"));
    table += &format!("packages {}, {} of them below tests\n", tests.len() + others.len(), tests.len());
    for (name, lib) in [
        ("calib-core", "calib-core/src/lib.rs"),
        ("calib-fit", "calib-host/fit/src/lib.rs"),
        ("calib-io", "calib-host/io/src/lib.rs"),
        ("calib-cli", "calib-host/cli/src/lib.rs"),
    ] {
        let names = files.get(lib).map_or(0, |text| root_names(text));
        let folder = lib.trim_end_matches("lib.rs");
        let below = files.iter().filter(|(path, _)| path.starts_with(folder));
        let fields: usize = below.map(|(_, text)| public_fields(text)).sum();
        table += &format!("{name}: {names} names at its root, {fields} public fields\n");
    }
    let options = options(files);
    let all: usize = options.values().sum();
    table += &format!("options: {all} places in {} commands\n", options.len());
    let listed = options.iter().map(|(command, count)| format!("  {command} {count}\n"));
    table + &listed.collect::<String>()
}

/// How many names a crate's root gives: public modules, and what `pub use` names.
fn root_names(text: &str) -> usize {
    let code: Vec<&str> = code(text).map(|(_, line)| line.trim()).collect();
    let code = code.join(" ");
    let statements = code.split(';').map(str::trim);
    let names = |statement: &str| match statement.rsplit_once("pub use ") {
        Some((_, uses)) => uses.split(',').filter(|name| name.chars().any(char::is_alphanumeric)).count(),
        None => usize::from(statement.contains("pub mod ")),
    };
    statements.map(names).sum()
}

/// How many fields of structs are public.
fn public_fields(text: &str) -> usize {
    let is_field = |line: &str| {
        let name = line.trim_start().strip_prefix("pub ").and_then(|rest| rest.split_once(": "));
        line.starts_with(' ')
            && name.is_some_and(|(name, _)| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
    };
    code(text).filter(|(_, line)| is_field(line)).count()
}

/// The number of options of each command, read from the pages with their help. The options of every command are not on these pages.
pub fn options(files: &Files) -> BTreeMap<String, usize> {
    let pages = files.iter().filter_map(|(path, page)| {
        let name = path.strip_prefix("docs/src/reference/")?.strip_suffix(".md")?;
        Some((name.to_owned(), page.lines().filter(|line| is_option(line)).count()))
    });
    pages.collect()
}

/// Whether a line of the help begins an option.
fn is_option(line: &str) -> bool {
    let word = line.trim_start();
    let long = word.split("  ").next().unwrap_or_default().split(", ").last().unwrap_or_default();
    (2..=6).contains(&(line.len() - word.len())) && long.starts_with("--")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_of_one_kind() {
        let text = "//! Doc.\n\nuse x;\n// Why.\nfn f() {}\n\n#[cfg(test)]\nmod tests {\n    fn g() {}\n\n}\nfn h() {}\n";
        let expected = Lines { files: 1, code: 3, test: 5, doc: 1, rest: 3 };
        assert_eq!(Lines::of("calib-core/src/x.rs", text), expected);
        for file in ["calib-core/tests/x.rs", "calib-core/src/x/tests.rs"] {
            assert_eq!(Lines::of(file, text), Lines { files: 1, test: 12, ..Lines::default() });
        }
        assert_eq!(Lines::of("tests/tests/x.rs", text), expected);
        assert_eq!(code(text).collect::<Vec<_>>(), [(3, "use x;"), (5, "fn f() {}"), (12, "fn h() {}")]);
    }

    #[test]
    fn options_are_counted_by_command() {
        let page =
            "# calib fit\n  -o, --output <FILE>\n          --not-one\n      --bins <B>  Number\nx --none\n";
        let files =
            [("reference/fit.md", page), ("reference/sets.md", "      --alpha <A>\n"), ("x.md", page)];
        let files = Files::from(files.map(|(path, page)| (format!("docs/src/{path}"), page.to_owned())));
        assert_eq!(options(&files), BTreeMap::from([("fit".into(), 2), ("sets".into(), 1)]));
    }

    #[test]
    fn names_and_fields_are_counted() {
        let text = "pub mod a;\nmod b;\npub use b::{B, C,\n    D};\npub use e::E;\n";
        assert_eq!(root_names(text), 5);
        let text = "pub struct S {\n    /// Doc.\n    pub a: u8,\n    b: u8,\n    pub(crate) c: u8,\n}\npub fn f(a: u8) {}\n";
        assert_eq!(public_fields(text), 1);
    }
}
