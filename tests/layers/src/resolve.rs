//! Which file defines what a path names.

use crate::source::{Path, Source};
use crate::sources::{Module, Sources};

/// How many imports of imports are followed.
const MOST_STEPS: usize = 20;

impl Sources {
    /// A path from the crate's root; `None` if it leads out of the crate.
    pub(crate) fn absolute(&self, file: &Module, source: &Source, path: &Path) -> Option<Module> {
        let mut module = [&file[..], &path.inside].concat();
        let mut rest = &path.segments[..];
        match rest[0].as_str() {
            "crate" => return Some(rest[1..].to_vec()),
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|first| first == "super") {
                    module.pop();
                    rest = &rest[1..];
                }
            }
            first if self.root().own_name.as_deref() == Some(first) => return self.of_root(&rest[1..]),
            first => {
                let own = [file, &path.segments[..1]].concat();
                if !self.is_module(&own) {
                    let known = source.imports.iter().find(|import| import.name == first)?;
                    if known.path == *path || known.path.segments[0] == first {
                        return None;
                    }
                    let known = self.absolute(file, source, &known.path)?;
                    return Some([&known[..], &rest[1..]].concat());
                }
            }
        }
        Some([&module[..], rest].concat())
    }

    /// What a path names that others read from the crate's root, which passes on names of rooms and of other crates.
    fn of_root(&self, path: &[String]) -> Option<Module> {
        let name = path.first()?;
        if self.is_module(&path[..1]) {
            return Some(path.to_vec());
        }
        let root = self.root();
        let known =
            root.imports.iter().find(|import| import.name == *name && import.path.segments[0] != *name)?;
        Some([&self.absolute(&Vec::new(), root, &known.path)?[..], &path[1..]].concat())
    }

    /// The file that defines what `path`, from the crate's root, names: `pub use` is seen through.
    pub(crate) fn definer(&self, path: &[String]) -> Option<Module> {
        self.definer_within(path, MOST_STEPS)
    }

    fn definer_within(&self, path: &[String], steps: usize) -> Option<Module> {
        let len = (0..=path.len()).rev().find(|&len| self.is_module(&path[..len]))?;
        let module = path[..len].to_vec();
        let (Some(name), Some(fewer)) = (path.get(len), steps.checked_sub(1)) else { return Some(module) };
        let (_, source) = &self.files[&module];
        if source.defined.contains(name) {
            return Some(module);
        }
        let named = source.imports.iter().find(|import| import.name == *name);
        let globs = source.imports.iter().filter(|import| import.name == "*");
        let imported = named.into_iter().chain(globs).find_map(|import| {
            let mut target = self.absolute(&module, source, &import.path)?;
            if import.name == "*" {
                target.pop();
                target.push(name.clone());
                let definer = self.definer_within(&target, fewer)?;
                return self.files[&definer].1.defined.contains(name).then_some(definer);
            }
            target.extend_from_slice(&path[len + 1..]);
            self.definer_within(&target, fewer)
        });
        Some(imported.unwrap_or(module))
    }

    /// The other files that a file needs, with the line that says so.
    pub(crate) fn needs(&self, file: &Module, source: &Source) -> Vec<(Module, usize)> {
        let is_used = |name: &String| source.paths.iter().any(|path| path.segments[0] == *name);
        let imports = source.imports.iter();
        let imports = imports.filter(|import| !import.is_passed_on || is_used(&import.name));
        // A word by itself is a name that was imported, or a local one.
        let paths = source.paths.iter().filter(|path| path.segments.len() > 1);
        let paths = imports.map(|import| &import.path).chain(paths);
        let needed = paths.filter_map(|path| {
            let is_glob = path.segments.last().is_some_and(|last| last == "*");
            let mut target = self.absolute(file, source, path)?;
            if is_glob {
                target.pop();
            }
            let definer = self.definer(&target)?;
            // A folder's name stands for what is in it, which is named elsewhere.
            let is_folder = definer == target && self.files[&definer].0.ends_with("mod.rs");
            (definer != *file && (is_glob || !is_folder)).then_some((definer, path.line))
        });
        needed.collect()
    }
}
