//! How pages, help, messages, doc comments and docstrings are written: sentences that are too long, and words that have a plain English
//! one in their place.

use std::collections::BTreeMap;

use xtask::count::{self, Files};

/// More words than these are too many for a sentence.
const MOST_WORDS: usize = 30;

/// Where doc comments and docstrings are read: the header for C is made of its package's.
const DOCUMENTED: [&str; 5] =
    ["calib-core/src", "calib-host/fit/src", "calib-host/io/src", "calib-host/python", "firmware/c/src"];

/// Words that readers look up in vain, and British spellings.
const WORDS: [&str; 63] = [
    "anew",
    "artefact",
    "artefacts",
    "behaviour",
    "beyond chance",
    "but for",
    "came true",
    "catalogue",
    "centre",
    "colour",
    "colours",
    "in force",
    "is said to be",
    "is told",
    "are told",
    "is void",
    "labelled",
    "licence",
    "licences",
    "mend",
    "mended",
    "mends",
    "modelled",
    "neighbour",
    "neighbours",
    "normalise",
    "normalised",
    "of before",
    "of its own",
    "of their own",
    "promise",
    "promised",
    "promises",
    "quantised",
    "randomised",
    "seldom",
    "somebody",
    "the very same",
    "too good to be true",
    "turned round",
    "unlabelled",
    "nothing was fitted to",
    "what became of",
    "whoever",
    "all the same",
    "by lot",
    "comes true",
    "for itself",
    "for sure",
    "hold together",
    "if not said",
    "is taken for",
    "judgement",
    "minimise",
    "neighbouring",
    "next to nothing",
    "optimisation",
    "quantisation",
    "rather of",
    "standardised",
    "surely",
    "works out",
    "worked out",
];

/// The sentences of a page's prose, without code and tables; of the reference its help, which is all code.
fn sentences(path: &str, page: &str) -> Vec<String> {
    let is_help = path.starts_with("docs/src/reference");
    let mut is_code = false;
    let mut prose = String::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
            prose += "\n\n";
        } else if is_code != is_help || line.starts_with(['|', '#']) || line.trim().is_empty() {
            prose += "\n\n";
        } else {
            let line = line.trim_start();
            let begins_item = line.starts_with(['-', '*'])
                || line.split_once(". ").is_some_and(|(n, _)| n.parse::<u32>().is_ok());
            prose += if begins_item { "\n\n" } else { " " };
            prose += line;
        }
    }
    let ended = prose.replace(". ", ".\n\n").replace("? ", "?\n\n").replace(": ", ":\n\n");
    ended
        .split("\n\n")
        .map(|sentence| sentence.trim().to_owned())
        .filter(|sentence| !sentence.is_empty())
        .collect()
}

fn is_long(sentence: &str) -> bool {
    sentence.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count() > MOST_WORDS
}

/// How many of the words a text has.
fn words_in(text: &str) -> usize {
    let separated = |c: char| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { ' ' };
    let text: String = text.chars().map(separated).collect();
    let text = format!(" {} ", text.split_whitespace().collect::<Vec<_>>().join(" "));
    WORDS.iter().map(|word| text.matches(&format!(" {word} ")).count()).sum()
}

/// What is between the quotes of code, over several lines as well.
fn quoted(code: &str) -> String {
    let code = code.replace("\\\"", "'").replace("'\"'", "''");
    code.split('"').skip(1).step_by(2).collect::<Vec<_>>().join(" ")
}

fn pages(files: &Files) -> impl Iterator<Item = (&String, Vec<String>)> {
    let is_page =
        |path: &str| path.starts_with("docs/src/") || !path.contains('/') || path.ends_with("README.md");
    let pages = files.iter().filter(move |(path, _)| path.ends_with(".md") && is_page(path));
    pages.map(|(path, page)| (path, sentences(path, page)))
}

/// The doc comments of a file in Rust, or the docstrings of one in Python, as a page.
fn documentation(path: &str, text: &str) -> String {
    if path.ends_with(".rs") {
        let doc = |line: &str| {
            let line = line.trim_start();
            line.strip_prefix("///").or(line.strip_prefix("//!")).unwrap_or_default().trim().to_owned()
        };
        return text.lines().map(doc).collect::<Vec<_>>().join("\n");
    }
    let is_prose = |line: &&str| [">>>", "..."].iter().all(|code| !line.trim_start().starts_with(code));
    let docstrings = text.split("\"\"\"").skip(1).step_by(2);
    let prose = |text: &str| {
        let lines = text.lines().map(|line| Some(line).filter(is_prose).unwrap_or_default());
        lines.collect::<Vec<_>>().join("\n")
    };
    docstrings.map(prose).collect::<Vec<_>>().join("\n\n")
}

/// The sentences of the documentation of each package.
fn documented(files: &Files) -> impl Iterator<Item = (String, Vec<String>)> {
    DOCUMENTED.into_iter().map(|package| {
        let is_code =
            |path: &str| path.starts_with(package) && (path.ends_with(".rs") || path.ends_with(".py"));
        let code = files.iter().filter(|(path, _)| is_code(path));
        let all = code.flat_map(|(path, text)| sentences(path, &documentation(path, text)));
        (format!("documentation of {package}"), all.collect())
    })
}

/// Long sentences of each page, and of each package's documentation.
pub(crate) fn long_sentences(files: &Files) -> BTreeMap<String, usize> {
    let pages = pages(files).map(|(path, all)| (path.clone(), all));
    pages
        .chain(documented(files))
        .map(|(place, all)| (place, all.iter().filter(|sentence| is_long(sentence)).count()))
        .collect()
}

/// Words of each page, of each package's documentation, and of the messages in each package.
pub(crate) fn words(files: &Files) -> BTreeMap<String, usize> {
    let pages = pages(files).map(|(path, all)| (path.clone(), all));
    let mut found: BTreeMap<String, usize> = pages
        .chain(documented(files))
        .map(|(place, all)| (place, all.iter().map(|sentence| words_in(sentence)).sum()))
        .collect();
    for package in ["calib-host/cli/src", "calib-host/fit/src", "calib-host/io/src"] {
        let code = files.iter().filter(|(path, _)| path.starts_with(package) && path.ends_with(".rs"));
        let of_file = |text| count::code(text).map(|(_, line)| line).collect::<Vec<_>>().join(" ");
        found.insert(package.to_owned(), code.map(|(_, text)| words_in(&quoted(&of_file(text)))).sum());
    }
    found
}

#[test]
fn long_sentences_and_odd_words_are_found() {
    let long = "one two three four five six seven eight nine ten ".repeat(3);
    let page = format!(
        "# A {long}\n\n{long}eleven\nends. Here it begins anew.\n- {long}\n\n```sh\n{long}x y\n```\n| {long} x |\n"
    );
    let of = |path: &str, text: &str| Files::from([(path.to_owned(), text.to_owned())]);
    assert_eq!(long_sentences(&of("docs/src/x.md", &page)).values().sum::<usize>(), 1);
    assert_eq!(words(&of("docs/src/x.md", &page))["docs/src/x.md"], 1);
    let help = format!("Not help.\n\n```text\n{long}ten and one.\n```\n");
    assert_eq!(long_sentences(&of("docs/src/reference/x.md", &help)).values().sum::<usize>(), 1);
    let message = "fn f() {\n    g(\"is told, but for \\\n       whoever\", somebody, \"a \\\" seldom\", '\"', anew, \"x\");\n}\n";
    assert_eq!(words(&of("calib-host/cli/src/x.rs", message))["calib-host/cli/src"], 4);
    let comment = format!(
        "//! Anew.\n/// {long}\n/// eleven, a neighbour.\n///\n/// ```\n/// {long}x\n/// ```\nfn f() {{}} // anew\n"
    );
    let docstring = format!(
        "def f():\n    \"\"\"Whoever.\n\n    {long}x\n\n    >>> anew\n    \"\"\"\n    anew = \"anew\"\n"
    );
    for (place, text, odd) in
        [("firmware/c/src/x.rs", &comment, 2), ("calib-host/python/python/x.py", &docstring, 1)]
    {
        assert_eq!(long_sentences(&of(place, text)).values().sum::<usize>(), 1, "{place}");
        assert_eq!(words(&of(place, text)).values().sum::<usize>(), odd, "{place}");
    }
}
