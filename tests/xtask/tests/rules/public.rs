//! The public names of every package, which `tests/public-names.txt` lists: none vanishes unseen.

use std::collections::BTreeSet;
use std::fs;

use xtask::count::{self, Files};
use xtask::root;

use crate::{CLI_SRC, CORE_SRC, FIT_SRC, IO_SRC, sources};

const LIST: &str = "tests/public-names.txt";

/// What can be public.
const ITEMS: [&str; 9] =
    ["const fn", "fn", "struct", "enum", "trait", "type", "const", "static", "macro_rules!"];

/// The public names of a crate: of its root, and of its public modules.
fn public_names(files: &Files, package: &str, folder: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut left = vec![(package.to_owned(), format!("{folder}lib.rs"), folder.to_owned())];
    while let Some((path, file, folder)) = left.pop() {
        let Some(text) = files.get(&file) else { continue };
        let code: Vec<&str> = count::code(text).map(|(_, line)| line).collect();
        for name in given(&code.join("\n")) {
            names.insert(format!("{path}::{name}"));
        }
        for module in code.iter().filter_map(|line| line.strip_prefix("pub mod ")) {
            let module = module.trim_end_matches([';', ' ', '{']);
            let (path, below) = (format!("{path}::{module}"), format!("{folder}{module}/"));
            let files = [format!("{folder}{module}.rs"), format!("{below}mod.rs")];
            left.extend(files.map(|file| (path.clone(), file, below.clone())));
        }
    }
    names
}

/// The names that a file gives: what it declares or uses in public.
fn given(code: &str) -> Vec<String> {
    let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut names: Vec<String> = code
        .lines()
        .filter_map(|line| line.strip_prefix("pub "))
        .filter_map(|line| ITEMS.iter().find_map(|item| line.strip_prefix(item)?.strip_prefix(' ')))
        .map(word)
        .collect();
    let code = code.replace('\n', " ");
    for uses in code.split("pub use ").skip(1).filter_map(|rest| rest.split_once(';')) {
        let last = uses.0.rsplit(['{', ':']).next().unwrap_or_default();
        let name = |used: &str| word(used.rsplit(" as ").next().unwrap_or_default().trim());
        names.extend(last.split(',').map(name).filter(|name| !name.is_empty()));
    }
    names
}

#[test]
fn no_public_name_vanishes() {
    let files = sources();
    let packages =
        [("calib_core", CORE_SRC), ("calib_fit", FIT_SRC), ("calib_io", IO_SRC), ("calib_cli", CLI_SRC)];
    let now: BTreeSet<String> =
        packages.iter().flat_map(|(package, folder)| public_names(&files, package, folder)).collect();
    let list = root().join(LIST);
    if std::env::var_os("UPDATE_RATCHET").is_some() {
        let lines: String = now.iter().map(|name| format!("{name}\n")).collect();
        fs::write(&list, lines).expect("the list is written");
    }
    let listed = fs::read_to_string(&list).expect("the list is there");
    let gone: Vec<&str> = listed.lines().filter(|name| !now.contains(*name)).collect();
    assert!(
        gone.is_empty(),
        "public names are gone, which breaks programs: {gone:?}; if they are to, write {LIST} again with UPDATE_RATCHET=1"
    );
}

#[test]
fn names_are_found() {
    let code = "pub use a::{B, c as d,\n  E};\npub use f::G;\npub(crate) use h::I;\npub const fn j() {}\npub struct K<'a>;\nfn l() {}";
    assert_eq!(given(code), ["j", "K", "B", "d", "E", "G"]);
}
