//! The files of a crate.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::source::Source;

/// A module's path from the crate's root, which is empty itself.
pub(crate) type Module = Vec<String>;

/// The files below a crate's `src`, except for what is compiled for tests only.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    pub(crate) files: BTreeMap<Module, (PathBuf, Source)>,
    /// What `lib.rs` and `main.rs` say.
    root: Source,
}

impl Sources {
    /// Reads all files below `src`.
    ///
    /// # Errors
    ///
    /// If a folder or a file cannot be read.
    ///
    /// # Panics
    ///
    /// If a file is not Rust.
    pub fn read(src: impl AsRef<Path>) -> io::Result<Self> {
        let src = src.as_ref();
        let mut sources = Self::default();
        let mut folders = vec![src.to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder)? {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let inside = path.strip_prefix(src).map_err(io::Error::other)?;
                    sources.add(inside, &std::fs::read_to_string(&path)?);
                }
            }
        }
        Ok(sources)
    }

    /// Adds a file, by its path below `src`. `lib.rs` and `main.rs`, which say what the crate consists of, are in no room.
    ///
    /// # Panics
    ///
    /// If the text is not Rust.
    pub fn add(&mut self, path: impl AsRef<Path>, text: &str) {
        let path = path.as_ref();
        let mut module: Module =
            path.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if module.last().is_some_and(|last| last == "mod") {
            module.pop();
        }
        let source = Source::parse(text);
        if module == ["lib"] || module == ["main"] {
            self.root.test_modules.extend(source.test_modules);
            self.root.imports.extend(source.imports);
            self.root.own_name = self.root.own_name.take().or(source.own_name);
        } else {
            self.files.insert(module, (path.to_path_buf(), source));
        }
    }

    pub(crate) fn is_module(&self, module: &[String]) -> bool {
        self.files.contains_key(module)
    }

    /// What the crate's root says.
    pub(crate) fn root(&self) -> &Source {
        &self.root
    }

    pub(crate) fn is_for_tests(&self, module: &[String]) -> bool {
        let of_root = module.first().is_some_and(|first| self.root.test_modules.contains(first));
        of_root
            || (1..module.len()).any(|len| {
                let parent = self.files.get(&module[..len]);
                parent.is_some_and(|(_, source)| source.test_modules.contains(&module[len]))
            })
    }

    /// The files that are not for tests only.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&Module, &Path, &Source)> {
        let files = self.files.iter().filter(|(module, _)| !self.is_for_tests(module));
        files.map(|(module, (path, source))| (module, path.as_path(), source))
    }
}
