//! What one file names, read from its tokens.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};

/// A path that a file names.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Path {
    /// At least one; the last one of a glob import is `*`.
    pub(crate) segments: Vec<String>,
    pub(crate) line: usize,
    /// The inline modules around it.
    pub(crate) inside: Vec<String>,
}

/// One leaf of a `use` item.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Import {
    pub(crate) path: Path,
    /// The name by which the file calls it.
    pub(crate) name: String,
    /// Whether it is passed on, by `pub use`.
    pub(crate) is_passed_on: bool,
}

/// What one file names outside of its tests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    pub(crate) imports: Vec<Import>,
    /// Paths outside of `use` items; most of them are single words.
    pub(crate) paths: Vec<Path>,
    /// The names of what the file defines.
    pub(crate) defined: BTreeSet<String>,
    /// Modules in files of their own that are compiled for tests only.
    pub(crate) test_modules: BTreeSet<String>,
    /// What the crate calls itself: `extern crate self as name`.
    pub(crate) own_name: Option<String>,
}

/// Words before the name of what is defined.
const DEFINING: [&str; 9] =
    ["struct", "enum", "union", "trait", "type", "fn", "const", "static", "macro_rules"];

impl Source {
    /// Reads a file.
    ///
    /// # Panics
    ///
    /// If the text does not consist of Rust's tokens.
    pub(crate) fn parse(text: &str) -> Self {
        let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("no Rust: {error}"));
        let mut source = Self::default();
        source.walk(tokens, &[]);
        source
    }

    fn walk(&mut self, tokens: TokenStream, inside: &[String]) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            at = match &tokens[at] {
                TokenTree::Punct(hash) if hash.as_char() == '#' => self.attribute(&tokens, at),
                TokenTree::Ident(word) => self.word(&tokens, at, word, inside),
                TokenTree::Group(group) => {
                    self.walk(group.stream(), inside);
                    at + 1
                }
                _ => at + 1,
            };
        }
    }

    /// Steps over an attribute, and over the item that it leaves to tests.
    fn attribute(&mut self, tokens: &[TokenTree], at: usize) -> usize {
        let is_inner = tokens.get(at + 1).is_some_and(|token| is_punct(token, '!'));
        let after = at + 1 + usize::from(is_inner);
        let Some(TokenTree::Group(group)) = tokens.get(after) else { return at + 1 };
        if group.delimiter() != Delimiter::Bracket {
            return at + 1;
        }
        if !is_for_tests(group.stream()) {
            return after + 1;
        }
        if is_inner {
            return tokens.len();
        }
        let ends = |token: &TokenTree| match token {
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            token => is_punct(token, ';') || is_punct(token, ','),
        };
        let item = &tokens[after + 1..];
        let len = item.iter().position(ends).map_or(item.len(), |end| end + 1);
        for (word, next) in item[..len].iter().zip(&item[..len][1..]) {
            if word.to_string() == "mod" {
                self.test_modules.insert(next.to_string());
            }
        }
        after + 1 + len
    }

    fn word(&mut self, tokens: &[TokenTree], at: usize, word: &Ident, inside: &[String]) -> usize {
        let word = word.to_string();
        if word == "use" {
            let end = tokens[at..].iter().position(|token| is_punct(token, ';'));
            let end = end.map_or(tokens.len(), |len| at + len);
            let is_passed_on = match &tokens[..at] {
                [.., before] if before.to_string() == "pub" => true,
                [.., before, TokenTree::Group(_)] => before.to_string() == "pub",
                _ => false,
            };
            self.imports(&tokens[at + 1..end], &[], inside, is_passed_on);
            return end + 1;
        }
        if word == "extern"
            && let [crate_word, self_word, as_word, TokenTree::Ident(name), ..] = &tokens[at + 1..]
            && [crate_word, self_word, as_word].map(ToString::to_string) == ["crate", "self", "as"]
        {
            self.own_name = Some(name.to_string());
            return at + 5;
        }
        if word == "mod"
            && let (Some(TokenTree::Ident(name)), Some(TokenTree::Group(body))) =
                (tokens.get(at + 1), tokens.get(at + 2))
        {
            let inside = [inside, &[name.to_string()]].concat();
            self.walk(body.stream(), &inside);
            return at + 3;
        }
        if word == "mod" {
            return at + 2;
        }
        if DEFINING.contains(&word.as_str()) {
            let name = tokens[at + 1..].iter().find_map(|token| match token {
                TokenTree::Ident(name) => Some(name.to_string()),
                _ => None,
            });
            self.defined.extend(name);
            return at + 1;
        }
        let (path, end) = path_at(tokens, at, inside);
        // `$crate::Name` and `.field` are no paths of this crate.
        let follows = at.checked_sub(1).map(|before| &tokens[before]);
        if !follows.is_some_and(|before| is_punct(before, '$') || is_punct(before, '.')) {
            self.paths.push(path);
        }
        end
    }

    /// Reads a tree of imports: `a::b`, `a::{b, c as d}`, `a::*`.
    fn imports(&mut self, tree: &[TokenTree], before: &[String], inside: &[String], is_passed_on: bool) {
        let Some(first) = tree.first() else { return };
        let line = first.span().start().line;
        let mut segments = before.to_vec();
        let mut at = 0;
        while let Some(token) = tree.get(at) {
            match token {
                TokenTree::Ident(word) if word == "as" => {
                    let name = tree.get(at + 1).map(ToString::to_string).unwrap_or_default();
                    self.import(segments, line, inside, name, is_passed_on);
                    return;
                }
                TokenTree::Ident(word) => segments.push(word.to_string()),
                TokenTree::Group(group) => {
                    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
                    for tree in tokens.split(|token| is_punct(token, ',')) {
                        self.imports(tree, &segments, inside, is_passed_on);
                    }
                    return;
                }
                token if is_punct(token, '*') => segments.push("*".into()),
                _ => {}
            }
            at += 1;
        }
        if segments.len() > 1 && segments.last().is_some_and(|last| last == "self") {
            segments.pop();
        }
        let name = segments.last().cloned().unwrap_or_default();
        self.import(segments, line, inside, name, is_passed_on);
    }

    fn import(
        &mut self,
        mut segments: Vec<String>,
        line: usize,
        inside: &[String],
        name: String,
        is_passed_on: bool,
    ) {
        if segments.len() > 1 && segments.last().is_some_and(|last| last == "self") {
            segments.pop();
        }
        let path = Path { segments, line, inside: inside.to_vec() };
        self.imports.push(Import { path, name, is_passed_on });
    }
}

/// The path whose first word is at `at`, and where it ends.
fn path_at(tokens: &[TokenTree], at: usize, inside: &[String]) -> (Path, usize) {
    let line = tokens[at].span().start().line;
    let mut segments = vec![tokens[at].to_string()];
    let mut end = at + 1;
    while let [colon, second, TokenTree::Ident(word), ..] = &tokens[end..] {
        if !(is_punct(colon, ':') && is_punct(second, ':')) {
            break;
        }
        segments.push(word.to_string());
        end += 3;
    }
    (Path { segments, line, inside: inside.to_vec() }, end)
}

fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

/// Whether an attribute is `cfg(test)` or `cfg(all(test, ...))`.
fn is_for_tests(attribute: TokenStream) -> bool {
    let words = attribute.to_string().replace(' ', "");
    words == "cfg(test)" || words.starts_with("cfg(all(test,")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imported(text: &str) -> Vec<(String, String, usize)> {
        let imports = Source::parse(text).imports;
        imports
            .into_iter()
            .map(|import| (import.path.segments.join("::"), import.name, import.path.line))
            .collect()
    }

    #[test]
    fn trees_of_imports_have_a_leaf_a_name() {
        let text = "use crate::a::{self, B as C, d::{E,\nF}};\nuse super::*;";
        let wanted = [
            ("crate::a", "a", 1),
            ("crate::a::B", "C", 1),
            ("crate::a::d::E", "E", 1),
            ("crate::a::d::F", "F", 2),
            ("super::*", "*", 3),
        ];
        assert_eq!(imported(text), wanted.map(|(path, name, line)| (path.into(), name.into(), line)));
    }

    #[test]
    fn tests_comments_and_strings_are_no_imports() {
        let text = "
            //! [`crate::Doc`]
            /// crate::Doc
            // crate::Comment
            #[cfg(test)]
            mod apart;
            #[cfg(test)]
            #[path = \"x.rs\"]
            use crate::Test;
            const TEXT: &str = \"crate::Text\";
            #[cfg(all(test, unix))]
            mod tests { use crate::Test; }
            fn f() -> crate::a::B { $crate::Macro }
        ";
        let source = Source::parse(text);
        assert_eq!(source.imports, []);
        let crates = source.paths.iter().filter(|path| path.segments[0] == "crate");
        assert_eq!(crates.map(|path| path.segments.join("::")).collect::<Vec<_>>(), ["crate::a::B"]);
        assert!(source.test_modules.contains("apart"));
    }
}
