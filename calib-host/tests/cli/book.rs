//! The book and the README: their commands print what stands beneath them, their links lead somewhere, and the reference is that of
//! the commands. `UPDATE_BOOK=1` writes outputs, reference, picture and Python's types again.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use calib_host::artifact::CodeType;
use calib_host::assess::{BinningScheme, ExtremeProbs, IntervalKind, ProperScore};
use calib_host::binary::Loss;
use calib_host::compare::Claim;
use calib_host::guarantee::GuaranteeBound;
use calib_host::job::{
    AlarmAction, ClassScore, FitOptions, MethodName, NamedMethod, ReductionName, ScalingName, TableWidth,
};
use calib_host::names::Named;
use sha2::{Digest, Sha256};

use crate::help::commands;
use crate::workplace::{Run, Workplace};

/// The folder of the pages of the commands.
const REFERENCE: &str = "reference";
/// The options of every command, which only the first page of the reference has.
const EVERYWHERE: [&str; 5] = ["--quiet", "--fail-on-warning", "--color", "-h, --help", "-V, --version"];

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().into()
}

fn is_update() -> bool {
    std::env::var_os("UPDATE_BOOK").is_some()
}

/// Compares a file with what it should be, or writes it if it differs.
#[track_caller]
fn is_current(path: &Path, expected: &str) {
    let held = fs::read_to_string(path).unwrap_or_default();
    if is_update() && held != expected {
        return fs::write(path, expected).unwrap();
    }
    let differs = held.lines().zip(expected.lines()).find(|(held, expected)| held != expected);
    let name = path.display();
    assert!(
        held == expected,
        "{name} is not current: {differs:#?}\nUPDATE_BOOK=1 cargo test --package calib-host --test cli book"
    );
}

/// The pages in a folder of the book.
fn pages_in(folder: &str) -> Vec<PathBuf> {
    let folder = fs::read_dir(root().join("docs/src").join(folder)).unwrap();
    let files = folder.map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.sort();
    pages
}

/// All pages of the book.
fn pages() -> Vec<PathBuf> {
    [pages_in(""), pages_in(REFERENCE)].concat()
}

/// A folder with the tables of the first steps.
fn first_steps() -> Workplace {
    let data = |name: &str| fs::read(root().join("docs/src/first-steps").join(name)).unwrap();
    Workplace::new().with("cal.csv", data("cal.csv")).with("test.csv", data("test.csv"))
}

/// What a command prints, for people first. Lengths of pages change with every word on them.
fn printed(place: &Workplace, line: &str) -> String {
    let words = shlex::split(line).unwrap();
    let mut command = place.command("");
    let run: Run =
        command.args(&words[1..]).env("COLUMNS", "80").stdin(Stdio::null()).output().unwrap().into();
    assert_eq!(run.code, 0, "{line}\n{}", run.stderr);
    // As on a terminal: the next command comes last.
    let next = run.stderr.find("next: ").filter(|&at| at == 0 || run.stderr[..at].ends_with('\n'));
    let (before, next) = run.stderr.split_at(next.unwrap_or(run.stderr.len()));
    let text = format!("{before}{}{next}", run.stdout);
    let plain = |line: &str| match line.split_once(", ").filter(|_| line.starts_with("wrote ")) {
        Some((start, _)) => format!("{start}, ... bytes\n"),
        None => format!("{line}\n"),
    };
    text.lines().map(plain).collect()
}

/// A page with the outputs of its `console` blocks as they are now.
fn with_outputs(text: &str) -> String {
    let (place, mut page, mut is_console) = (first_steps(), String::new(), false);
    for line in text.lines() {
        if is_console && !line.starts_with("```") {
            let Some(command) = line.strip_prefix("$ ") else { continue };
            page += &format!("{line}\n{}", printed(&place, command));
            continue;
        }
        is_console = line == "```console";
        page += &format!("{line}\n");
    }
    page
}

#[test]
fn commands_print_what_stands_beneath_them() {
    let mut commands = 0;
    for path in pages().into_iter().chain([root().join("README.md")]) {
        let text = fs::read_to_string(&path).unwrap();
        commands += text.matches("\n$ calib ").count();
        is_current(&path, &with_outputs(&text));
    }
    assert!(commands >= 5, "{commands}");
}

#[test]
fn the_picture_of_the_first_steps_is_that_of_the_commands() {
    let place = first_steps();
    place.ok("calib fit cal.csv");
    place.ok("calib plot before-and-after cal.cal --test test.csv -o p.svg");
    let picture = place.text("p.svg");
    is_current(&root().join("docs/src/first-steps/before-and-after.svg"), &picture);
}

/// A screenshot depends on a browser and its fonts, so the hash of what it shows is compared. `CHROMIUM=chromium` takes it again.
#[test]
fn the_picture_of_the_report_is_that_of_its_first_screen() {
    let place = first_steps();
    place.ok("calib fit cal.csv");
    printed(
        &place,
        "calib report cal.cal --calibration cal.csv --test test.csv --title 'First steps' -o report.html",
    );
    let page = place.text("report.html");
    let (end, _) = page.match_indices("</section>").nth(1).expect("a verdict, and a guarantee");
    let hash: String = Sha256::digest(&page[..end]).iter().map(|byte| format!("{byte:02x}")).collect();
    let (folder, hash) = (root().join("docs/src/first-steps"), hash + "\n");
    if let Some(chromium) = std::env::var_os("CHROMIUM") {
        let flags = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
                     --disable-component-update --disable-sync --hide-scrollbars --window-size=1280,900";
        let mut picture = std::ffi::OsString::from("--screenshot=");
        picture.push(folder.join("report.png"));
        let shown = std::process::Command::new(chromium)
            .args(flags.split(' '))
            .arg(picture)
            .arg(place.path().join("report.html"))
            .status();
        assert!(shown.expect("Chromium starts").success());
        fs::write(folder.join("report.hash"), &hash).unwrap();
    }
    let held = fs::read_to_string(folder.join("report.hash")).unwrap();
    assert_eq!(held, hash, "report.png is stale: run `cargo xtask figures`");
}

/// Firmware of others is built with it, and one is run: `cargo xtask examples`.
#[test]
fn the_calibrator_of_the_examples_is_that_of_the_first_steps() {
    let place = first_steps();
    place.ok("calib fit cal.csv");
    place.ok("calib export cal.cal -o cal.rs");
    let folder = root().join("firmware/examples/calibrator");
    let table = place.text("cal.rs");
    is_current(&folder.join("cal.rs"), &table);
    if is_update() {
        fs::write(folder.join("cal.cal"), place.bytes("cal.cal")).unwrap();
    }
    assert!(fs::read(folder.join("cal.cal")).unwrap() == place.bytes("cal.cal"), "cal.cal is not current");
}

/// The help of a command without exit codes and the options of every command.
fn own_help(help: &str) -> String {
    let (mut kept, mut heading) = (Vec::new(), None);
    for part in help.trim_end().split("\n\n").filter(|part| !part.starts_with("Exit codes:")) {
        let mut rest = part;
        if !part.starts_with(' ') {
            let titled = part.split_once('\n').filter(|(title, _)| title.ends_with(':'));
            heading = titled.map(|(title, _)| title);
            rest = titled.map_or(part, |(_, rest)| rest);
        }
        let first = rest.lines().next().unwrap_or_default().trim_start();
        if EVERYWHERE.iter().any(|name| first == *name || first.starts_with(&format!("{name} "))) {
            continue;
        }
        // A section may begin with an option that is left out. Its heading then stands above the next one.
        kept.push(heading.take().map_or_else(|| rest.to_owned(), |title| format!("{title}\n{rest}")));
    }
    kept.join("\n\n")
}

#[test]
fn the_help_of_a_page_is_without_what_every_command_has() {
    let help = "Do it\n\nUsage: calib x\n\nOutput:\n      --quiet\n          Hush\n\n      --color <WHEN>\n          \
                Color\n          \n          [default: auto]\n\n      --colors\n          Two\n\n  -h, --help\n          \
                Help\n\nExamples:\n  calib x\n\nExit codes: 0 done\n";
    let own = "Do it\n\nUsage: calib x\n\nOutput:\n      --colors\n          Two\n\nExamples:\n  calib x";
    assert_eq!(own_help(help), own);
    assert_eq!(own_help("Do it\n\nOutput:\n      --quiet\n\nExamples:\n  x"), "Do it\n\nExamples:\n  x");
}

#[test]
#[cfg(all(feature = "arrow", feature = "png", feature = "probe", feature = "serial"))]
fn the_reference_is_the_help_of_the_commands() {
    let (place, book) = (Workplace::new(), root().join("docs/src"));
    let mut index =
        "# Commands and exit codes\n\nA test writes this page and the pages of the commands from the help.\n\
         Every command has the options and exit codes below.\n\n"
            .to_owned();
    index += &format!("```text\n{}\n```\n\n", printed(&place, "calib --help").trim_end());
    let (mut expected, mut entries) = (Vec::new(), String::new());
    for name in commands(&place).iter().filter(|name| !matches!(&***name, "help" | "methods")) {
        let help = own_help(&printed(&place, &format!("calib {name} --help")));
        let path = book.join(REFERENCE).join(format!("{name}.md"));
        let end = "[Options of every command, and exit codes](../reference.md)";
        is_current(&path, &format!("# calib {name}\n\n```text\n{help}\n```\n\n{end}\n"));
        expected.push(path);
        index += &format!("- [calib {name}]({REFERENCE}/{name}.md)\n");
        entries += &format!("  - [calib {name}]({REFERENCE}/{name}.md)\n");
    }
    is_current(&book.join("reference.md"), &index);
    expected.sort();
    assert_eq!(pages_in(REFERENCE), expected, "a page without a command");
    let summary = fs::read_to_string(book.join("SUMMARY.md")).unwrap();
    let others = summary.lines().filter(|line| !line.starts_with("  - [calib "));
    let listed = |line: &str| match line.ends_with("(reference.md)") {
        true => format!("{line}\n{entries}"),
        false => format!("{line}\n"),
    };
    is_current(&book.join("SUMMARY.md"), &others.map(listed).collect::<String>());
}

/// The names by which the headings of a page are linked to.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut is_code = false;
    let is_heading = |line: &&str| {
        is_code ^= line.starts_with("```");
        !is_code && line.starts_with('#')
    };
    let slug = |line: &str| {
        let words = line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        words.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
    };
    text.lines().filter(is_heading).map(slug).collect()
}

/// A page with the pages that it includes: a link of these also starts at the page's folder.
fn with_included(page: &Path) -> String {
    let text = fs::read_to_string(page).unwrap();
    let names = text.split("{{#include ").skip(1).map(|rest| rest.split('}').next().unwrap());
    let part = |name: &str| {
        let (file, anchor) = name.split_once(':').unwrap_or((name, ""));
        let whole = fs::read_to_string(page.parent().unwrap().join(file)).unwrap();
        match whole.split_once(&format!("ANCHOR: {anchor}")).filter(|_| !anchor.is_empty()) {
            Some((_, rest)) => rest.split(&format!("ANCHOR_END: {anchor}")).next().unwrap().to_owned(),
            None => whole,
        }
    };
    let included: String = names.filter(|name| name.contains(".md")).map(part).collect();
    text + &included
}

#[test]
fn every_link_leads_somewhere_and_every_page_is_listed() {
    let summary = fs::read_to_string(root().join("docs/src/SUMMARY.md")).unwrap();
    let book = root().join("docs/src");
    for page in pages() {
        let name = page.strip_prefix(&book).unwrap().to_str().unwrap();
        assert!(
            name == "SUMMARY.md" || summary.contains(&format!("({name})")),
            "{name} is not in the summary"
        );
    }
    let others = ["README.md", "CONTRIBUTING.md", "SECURITY.md"].map(|name| root().join(name));
    let mut links = 0;
    for page in pages().into_iter().chain(others) {
        let text = with_included(&page);
        for target in text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            if target.starts_with("http") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            assert!(file.exists(), "{}: {target}", page.display());
            if !anchor.is_empty() {
                let there = anchors(&fs::read_to_string(&file).unwrap());
                assert!(there.contains(anchor), "{}: {target}: {there:?}", page.display());
            }
            links += 1;
        }
    }
    assert!(links > 40, "{links}");
}

#[test]
fn the_readme_is_short() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.lines().count() <= 140, "{}", readme.lines().count());
    assert!(readme.contains("\ncargo xtask demo ") && readme.contains("\ncargo xtask test "));
}

/// An alias of the Python package for names of scikit-learn and of calib: in one line if that is not too long.
fn literal<T: Named>(alias: &str, others: &[&str]) -> String {
    let names = others.iter().copied().chain(T::NAMES.iter().map(|(_, name, _)| *name));
    let names: Vec<String> = names.map(|name| format!("{name:?}")).collect();
    let line = format!("{alias} = Literal[{}]\n", names.join(", "));
    let lines = format!("{alias} = Literal[\n    {},\n]\n", names.join(",\n    "));
    if line.len() > 121 { lines } else { line }
}

/// The options of Python's `fit` that functions around it pass on, with their types: all but what is fitted to.
fn options_of_fit() -> Vec<(String, String)> {
    let path = root().join("calib-host/python/python/calib_host/_calibrator.py");
    let text = fs::read_to_string(path).unwrap();
    let (_, signature) = text.split_once("\ndef fit(").expect("a function");
    let (_, options) = signature.split_once("\n    # rows\n").expect("the first options");
    let lines = options.lines().take_while(|line| !line.starts_with(')'));
    let option = |line: &str| {
        let (name, rest) = line.split_once(": ")?;
        Some((name.trim().to_owned(), rest.rsplit_once(" = ")?.0.to_owned()))
    };
    lines.filter_map(option).collect()
}

#[test]
fn types_of_python_have_the_names_of_calib() {
    let path = root().join("calib-host/python/python/calib_host/_types.py");
    let mut text = fs::read_to_string(&path).unwrap();
    let literals = [
        literal::<MethodName>("Method", &[]),
        literal::<ReductionName>("Reduction", &[]),
        literal::<ClassScore>("ClassScore", &[]),
        literal::<ScalingName>("Scaling", &[]),
        literal::<Loss>("Loss", &[]),
        literal::<TableWidth>("Table", &[]),
        literal::<GuaranteeBound>("Bound", &[]),
        literal::<AlarmAction>("MonitorAction", &[]),
        literal::<CodeType>("CodeType", &[]),
        literal::<ProperScore>("Metric", &[]),
        literal::<Claim>("Claim", &[]),
        literal::<BinningScheme>("Binning", &["uniform", "quantile"]),
        literal::<IntervalKind>("Intervals", &[]),
        literal::<ExtremeProbs>("ExtremeProbs", &[]),
    ];
    let [first, last] = ["\nMethod = ", "\nStrategy = "].map(|alias| text.find(alias).expect("an alias") + 1);
    text.replace_range(first..last, &literals.concat());
    let options = options_of_fit();
    let class = text.find("\nclass FitOptions").expect("the class of options");
    let docs = text[class..].find("\n\n").expect("the end of its first line") + 2;
    text.truncate(class + docs);
    text.extend(options.iter().map(|(name, kind)| format!("    {name}: {kind}\n")));
    is_current(&path, &text);
    // Every option of the library that is read by its name is there.
    for name in NamedMethod::NAMES.iter().chain(FitOptions::NAMES).filter(|name| **name != "method") {
        assert!(options.iter().any(|(option, _)| option == name), "fit in Python has no {name}");
    }
}
