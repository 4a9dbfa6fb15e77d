//! Which files of a crate import which, read from `use` items and paths.
//!
//! A room, which is a folder or a file below `src`, imports rooms to its left only, spelled `crate::<room>::...`. Files do not
//! import each other in a circle; `pub use` is seen through. Names that come out of macros are not seen.

use std::collections::{BTreeMap, BTreeSet};

use xtask::count;

/// A module's place from the crate's root.
type Module = Vec<String>;

/// A path that a file names, from the crate's root.
#[derive(Clone, Debug)]
struct Import {
    path: Module,
    /// What the file calls it, if that is a `use` item.
    name: Option<String>,
    is_passed_on: bool,
}

/// One file.
#[derive(Debug, Default)]
struct Source {
    imports: Vec<Import>,
    defined: BTreeSet<String>,
}

/// The files of a crate by their modules.
#[derive(Debug, Default)]
pub(crate) struct Sources(BTreeMap<Module, Source>);

const DEFINING: [&str; 8] = ["struct", "enum", "trait", "type", "fn", "const", "static", "macro_rules!"];

/// Splits at this character where no brace is open.
fn split_outside(text: &str, at: char) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (index, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ if c == at && depth == 0 => {
                parts.push(&text[start..index]);
                start = index + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// The paths of a `use` item's tree, each with the name that it gives.
fn leaves(tree: &str, before: &[String], found: &mut Vec<(Module, String)>) {
    for part in split_outside(tree, ',').into_iter().map(str::trim).filter(|part| !part.is_empty()) {
        let (path, group) = match part.split_once('{') {
            Some((path, group)) => {
                (path.trim_end_matches("::"), group.rsplit_once('}').map(|(group, _)| group))
            }
            None => (part, None),
        };
        let (path, alias) = path.split_once(" as ").map_or((path, None), |(path, alias)| (path, Some(alias)));
        let mut all = before.to_vec();
        all.extend(path.split("::").map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned));
        if let Some(group) = group {
            leaves(group, &all, found);
            continue;
        }
        if all.len() > 1 && all.last().is_some_and(|last| last == "self") {
            all.pop();
        }
        let name = alias.map(str::trim).or(all.last().map(String::as_str)).unwrap_or_default().to_owned();
        found.push((all, name));
    }
}

/// Words joined by `::` that stand in code.
fn paths(code: &str) -> impl Iterator<Item = Vec<String>> {
    let words = code.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':' || c == '$'));
    let words = words.filter(|word| word.contains("::") && !word.starts_with(':'));
    words.map(|word| word.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect())
}

impl Sources {
    /// The files of a crate, by their paths below `src`.
    pub(crate) fn new<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let files: Vec<(Module, &str)> =
            files.into_iter().map(|(path, text)| (module_of(path), text)).collect();
        let modules: BTreeSet<Module> = files.iter().map(|(module, _)| module.clone()).collect();
        let read = |(module, text)| {
            let source = read(&module, text, &modules);
            (module, source)
        };
        Self(files.into_iter().map(read).collect())
    }

    /// What breaks the order of the rooms.
    pub(crate) fn out_of_order(&self, rooms: &[&str]) -> Vec<String> {
        let mut breaches = Vec::new();
        let place = |name: &String| rooms.iter().position(|room| room == name);
        for (module, source) in self.0.iter().filter(|(module, _)| !module.is_empty()) {
            let Some(own) = place(&module[0]) else {
                breaches.push(format!("{} is in no room", module.join("::")));
                continue;
            };
            for path in source.imports.iter().map(|import| &import.path).filter(|path| !path.is_empty()) {
                let (file, path_name) = (module.join("::"), path.join("::"));
                match place(&path[0]) {
                    Some(room) if room > own => {
                        breaches.push(format!("{file} imports {path_name}, which is to its right"));
                    }
                    None => breaches.push(format!("{file} imports {path_name}: spell it crate::<room>::...")),
                    Some(_) => {}
                }
            }
        }
        breaches
    }

    /// The files that need themselves by a way over others, with the way.
    pub(crate) fn circles(&self) -> Vec<String> {
        let needs: BTreeMap<&Module, BTreeSet<&Module>> =
            self.0.iter().map(|(module, source)| (module, self.needs(module, source))).collect();
        let (mut told, mut circles) = (BTreeSet::new(), Vec::new());
        for &start in needs.keys() {
            let (mut from, mut queue) = (BTreeMap::new(), vec![start]);
            while let Some(module) = queue.pop() {
                for &needed in &needs[module] {
                    from.entry(needed).or_insert_with(|| {
                        queue.push(needed);
                        module
                    });
                }
            }
            if from.contains_key(start) && !told.contains(start) {
                let (mut way, mut at) = (vec![start], from[start]);
                while at != start {
                    way.push(at);
                    at = from[at];
                }
                told.extend(way.iter().copied());
                let names: Vec<String> = way.iter().rev().map(|module| module.join("::")).collect();
                circles.push(format!("files import each other: {}", names.join(" -> ")));
            }
        }
        circles
    }

    fn needs(&self, module: &Module, source: &Source) -> BTreeSet<&Module> {
        let imports = source.imports.iter().filter(|import| !import.is_passed_on);
        let definers = imports.filter_map(|import| {
            let is_glob = import.path.last().is_some_and(|last| last == "*");
            let target = &import.path[..import.path.len() - usize::from(is_glob)];
            // A folder's name stands for what is in it, which is named elsewhere.
            let definer = self.definer(target, 20)?;
            (is_glob || *definer != *target).then_some(definer)
        });
        definers.filter(|definer| *definer != module).collect()
    }

    /// The file that defines what a path from the root names.
    fn definer(&self, path: &[String], steps: usize) -> Option<&Module> {
        let len = (0..=path.len()).rev().find(|&len| self.0.contains_key(&path[..len]))?;
        let (module, source) = self.0.get_key_value(&path[..len])?;
        let (Some(name), Some(fewer)) = (path.get(len), steps.checked_sub(1)) else { return Some(module) };
        if source.defined.contains(name) {
            return Some(module);
        }
        let named = source.imports.iter().find(|import| import.name.as_ref() == Some(name));
        let globs = source.imports.iter().filter(|import| import.name.as_deref() == Some("*"));
        let found = named.into_iter().chain(globs).find_map(|import| {
            let mut target = import.path.clone();
            if import.name.as_deref() == Some("*") {
                target.pop();
                target.push(name.clone());
                let definer = self.definer(&target, fewer)?;
                return self.0[definer].defined.contains(name).then_some(definer);
            }
            self.definer(&target, fewer)
        });
        Some(found.unwrap_or(module))
    }
}

/// The module of a file below `src`.
fn module_of(path: &str) -> Module {
    let path = path.trim_end_matches(".rs").trim_end_matches("mod").trim_end_matches('/');
    path.split('/').filter(|part| !part.is_empty() && *part != "lib").map(str::to_owned).collect()
}

fn read(module: &Module, text: &str, modules: &BTreeSet<Module>) -> Source {
    let mut source = Source::default();
    let code: Vec<&str> = count::code(text).map(|(_, line)| line).collect();
    let (mut uses, mut rest) = (Vec::new(), String::new());
    let mut item: Option<(bool, String)> = None;
    let mut is_attribute = false;
    for line in code {
        let trimmed = line.trim();
        // What an attribute names is seen where it is used.
        if is_attribute || trimmed.starts_with("#[") {
            is_attribute = !trimmed.ends_with(']');
            continue;
        }
        let tree = trimmed.strip_prefix("use ").map(|tree| (false, tree));
        let passed = || trimmed.starts_with("pub").then(|| trimmed.split_once("use ")).flatten();
        match (&mut item, tree.or_else(|| passed().map(|(_, tree)| (true, tree)))) {
            (Some((_, all)), _) => all.push_str(trimmed),
            (None, Some((is_passed_on, tree))) => item = Some((is_passed_on, tree.to_owned())),
            (None, None) => {
                let words: Vec<&str> =
                    trimmed.split(|c: char| c != '_' && c != '!' && !c.is_alphanumeric()).collect();
                for pair in words.windows(2).filter(|pair| DEFINING.contains(&pair[0])) {
                    source.defined.insert(pair[1].to_owned());
                }
                rest.push_str(line);
                rest.push('\n');
            }
        }
        if item.as_ref().is_some_and(|(_, all)| all.ends_with(';')) {
            uses.extend(item.take());
        }
    }
    let mut named = BTreeMap::new();
    for (is_passed_on, tree) in uses {
        let mut found = Vec::new();
        leaves(tree.trim_end_matches(';'), &[], &mut found);
        for (path, name) in found {
            if let Some(path) = absolute(module, &path, modules, &named) {
                named.insert(name.clone(), path.clone());
                source.imports.push(Import { path, name: Some(name), is_passed_on });
            }
        }
    }
    let named_paths = paths(&rest).filter_map(|path| absolute(module, &path, modules, &named));
    let named_paths: BTreeSet<Module> = named_paths.filter(|path| !path.is_empty()).collect();
    source.imports.extend(named_paths.into_iter().map(|path| Import {
        path,
        name: None,
        is_passed_on: false,
    }));
    source
}

/// A path from the crate's root; `None` if it leads out of the crate.
fn absolute(
    module: &Module,
    path: &[String],
    modules: &BTreeSet<Module>,
    named: &BTreeMap<String, Module>,
) -> Option<Module> {
    let supers = path.iter().take_while(|part| *part == "super").count();
    if supers > 0 {
        let base = module.len().checked_sub(supers)?;
        return Some([&module[..base], &path[supers..]].concat());
    }
    match path.first()?.as_str() {
        "crate" => Some(path[1..].to_vec()),
        "self" => Some([&module[..], &path[1..]].concat()),
        first => {
            let child = [&module[..], &path[..1]].concat();
            if modules.contains(&child) {
                return Some([&child[..], &path[1..]].concat());
            }
            named.get(first).map(|known| [&known[..], &path[1..]].concat())
        }
    }
}
