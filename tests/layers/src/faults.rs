//! What breaks the order of the rooms.

use std::fmt;
use std::path::{Path as FilePath, PathBuf};

use crate::source::Path;
use crate::sources::{Module, Sources};

/// A line that breaks the order of the rooms.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The file, below `src`.
    pub file: PathBuf,
    /// The line, from 1 on.
    pub line: usize,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file.display(), self.line, self.what)
    }
}

/// The index of the room that a path from the crate's root leads into: of the rooms that contain it, the innermost.
fn room_of(rooms: &[&str], path: &[String]) -> Option<usize> {
    let contains = |room: &str| {
        path.iter().map(String::as_str).zip(room.split('/')).all(|(a, b)| a == b)
            && path.len() >= room.split('/').count()
    };
    (0..rooms.len()).filter(|&room| contains(rooms[room])).max_by_key(|&room| rooms[room].len())
}

impl Sources {
    /// What breaks the order of `rooms`: folders or files below `src`, from the ground up. A room may lie in another one
    /// (`device/serial` in `device`); the outer room then consists of what is in none of the inner ones.
    pub fn faults(&self, rooms: &[&str]) -> Vec<Fault> {
        let mut faults = Vec::new();
        for (module, file, source) in self.each() {
            let mut fault = |line, what| faults.push(Fault { file: file.into(), line, what });
            let Some(own) = room_of(rooms, module) else {
                fault(1, format!("{} is in no room", file.display()));
                continue;
            };
            let imports = source.imports.iter().map(|import| &import.path);
            for path in imports.chain(&source.paths) {
                if let Some(what) = self.fault_of(rooms, own, module, path) {
                    fault(path.line, what);
                }
            }
        }
        faults.extend(self.circle_faults());
        faults
    }

    /// What is wrong with a path in a file of the room `own`.
    fn fault_of(&self, rooms: &[&str], own: usize, module: &Module, path: &Path) -> Option<String> {
        let (_, source) = &self.files[module];
        let first = path.segments[0].as_str();
        // A keyword by itself says who sees an item: `pub(crate)`.
        if path.segments.len() == 1 && matches!(first, "crate" | "super" | "self") {
            return None;
        }
        let target = self.absolute(module, source, path)?;
        let Some(room) = room_of(rooms, &target) else {
            let spelled = path.segments.join("::");
            let is_of_root = first == "crate" || first == "super";
            return is_of_root.then(|| format!("`{spelled}` names no room: spell it `crate::<room>::...`"));
        };
        let (own_name, name) = (rooms[own], rooms[room]);
        if room > own {
            return Some(format!("`{own_name}` must not import `{name}`, which is to its right"));
        }
        let leaves = room != own && first == "super";
        leaves.then(|| format!("spell what is in `{name}` `crate::{}::...`", name.replace('/', "::")))
    }

    fn circle_faults(&self) -> impl Iterator<Item = Fault> {
        let path = |module: &Module| -> &FilePath { &self.files[module].0 };
        self.circles().into_iter().map(move |circle| {
            let way: Vec<String> =
                circle.iter().map(|(file, line)| format!("{}:{line}", path(file).display())).collect();
            let (file, line) = &circle[0];
            let what = format!("files import each other in a circle: {}", way.join(" -> "));
            Fault { file: path(file).into(), line: *line, what }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(files: &[(&str, &str)]) -> Vec<String> {
        let mut sources = Sources::default();
        files.iter().for_each(|(path, text)| sources.add(path, text));
        let rooms = ["ground", "house/left", "house/right", "house", "roof"];
        sources.faults(&rooms).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_is_to_the_left_may_be_imported() {
        let files = [
            ("lib.rs", "mod ground; mod house; mod roof; pub use roof::Roof;"),
            ("ground/mod.rs", "mod sand; mod stone; pub use sand::Sand; pub use stone::Stone;"),
            ("ground/sand.rs", "use super::Stone; #[cfg(test)] mod tests { use crate::roof::Roof; }"),
            ("ground/stone.rs", "pub(crate) struct Stone; impl Stone { pub(super) fn f(&self) {} }"),
            ("house/mod.rs", "pub mod left; pub mod right; pub use left::Door;"),
            ("house/left.rs", "use crate::ground::Sand; pub struct Door;"),
            ("house/right.rs", "use crate::house::left::Door; use std::fmt;"),
            ("roof.rs", "use crate::{ground::Sand, house::Door}; pub struct Roof;"),
        ];
        assert_eq!(faults(&files), [""; 0]);
    }

    #[test]
    fn each_fault_has_its_line() {
        let files = [
            ("ground/mod.rs", "\nfn f(roof: crate::roof::Roof) {}"),
            ("house/mod.rs", "pub mod left;"),
            ("house/left.rs", "use crate::Roof;\nuse super::right::Window;\nuse crate::*;"),
            ("house/right.rs", "use super::left::Door;"),
            ("roof.rs", ""),
            ("shed/mod.rs", ""),
        ];
        let wanted = [
            "ground/mod.rs:2: `ground` must not import `roof`, which is to its right",
            "house/left.rs:1: `crate::Roof` names no room: spell it `crate::<room>::...`",
            "house/left.rs:2: `house/left` must not import `house/right`, which is to its right",
            "house/left.rs:3: `crate::*` names no room: spell it `crate::<room>::...`",
            "house/right.rs:1: spell what is in `house/left` `crate::house::left::...`",
            "shed/mod.rs:1: shed/mod.rs is in no room",
        ];
        let found = faults(&files);
        wanted.iter().for_each(|fault| assert!(found.contains(&(*fault).to_owned()), "{fault}: {found:#?}"));
    }

    /// `extern crate self as town`: the command spells paths as its library's users do.
    #[test]
    fn the_crates_own_name_hides_nothing() {
        let files = [
            (
                "lib.rs",
                "extern crate self as town; pub mod ground; pub mod house; pub mod roof; pub use roof::Roof; pub use far::Away;",
            ),
            (
                "ground/mod.rs",
                "use town::house;\nuse town::Roof;\nuse town::Away;\nfn f() { town::roof::g() }",
            ),
            ("house/mod.rs", "use town::ground::f;"),
            ("roof.rs", "pub struct Roof; pub fn g() {}"),
        ];
        let wanted = [
            "ground/mod.rs:1: `ground` must not import `house`, which is to its right",
            "ground/mod.rs:2: `ground` must not import `roof`, which is to its right",
            "ground/mod.rs:4: `ground` must not import `roof`, which is to its right",
        ];
        let found: Vec<String> =
            faults(&files).into_iter().filter(|fault| !fault.contains("circle")).collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn a_circle_is_found_through_the_face_of_its_room() {
        let files = [
            ("ground/mod.rs", "mod sand; mod stone; mod water; pub use sand::Sand; pub use stone::{Stone};"),
            ("ground/sand.rs", "use crate::ground::Stone;\npub struct Sand;"),
            ("ground/stone.rs", "use super::water;\npub struct Stone;\nfn f() { water::g() }"),
            ("ground/water.rs", "pub fn g() {\nsuper::Sand; }"),
        ];
        let circle = "ground/sand.rs:1: files import each other in a circle: ground/sand.rs:1 -> \
                      ground/stone.rs:1 -> ground/water.rs:2";
        assert_eq!(faults(&files), [circle]);
    }

    #[test]
    fn a_face_that_only_passes_names_on_is_in_no_circle() {
        let face = "mod sand; pub use sand::Sand; pub fn dig() {}";
        let sand = "use super::dig; pub struct Sand;";
        assert_eq!(faults(&[("ground/mod.rs", face), ("ground/sand.rs", sand)]), [""; 0]);
        let user = "mod sand; pub use sand::Sand; pub fn dig() -> Sand {}";
        assert_eq!(faults(&[("ground/mod.rs", user), ("ground/sand.rs", sand)]).len(), 1);
    }
}
