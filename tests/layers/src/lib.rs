//! Keep the order of a crate's rooms.
//!
//! A *room* is a folder or a file below `src` that has its place in a list. A file may import rooms to the left of its own
//! room only, and spells an import of another room `crate::<room>::...`. Files must not import each other in a circle.
//!
//! ```
//! use calib_layers::Sources;
//!
//! let mut sources = Sources::default();
//! sources.add("ground/sums.rs", "use crate::roof::Tile;");
//! sources.add("roof/mod.rs", "pub struct Tile;");
//! let faults = sources.faults(&["ground", "roof"]);
//! assert_eq!(faults[0].to_string(), "ground/sums.rs:1: `ground` must not import `roof`, which is to its right");
//! ```
//!
//! Doc comments and what is compiled for tests only are skipped. Names that come out of macros are not seen.
#![forbid(unsafe_code)]

mod circles;
mod faults;
mod resolve;
mod source;
mod sources;

pub use faults::Fault;
pub use sources::Sources;
