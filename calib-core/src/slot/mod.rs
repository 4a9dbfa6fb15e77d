//! Two slots in flash, of which one always holds a calibrator once one was installed.
//!
//! ```text
//! slot    0            artefact, its last write unit filled up with erased bytes
//!         ...          erased
//!         len - 64     record: "CSLT", sequence u32, counter u32, artefact length u32, its CRC-32C u32, 8 zeros,
//!                      CRC-32C u32 of the 28 bytes before
//!         len - 32     mark: every bit programmed
//! ```
//!
//! # States of a slot, and who moves it
//!
//! ```text
//!            erase               write, read back        record, read back      mark, read back
//!   any ───────────────► empty ──────────────────► whole ────────────────► recorded ─────────► valid
//! ```
//!
//! A slot is *valid* if mark and record are there to the last bit, the artefact is what the record says, everything
//! between is erased, and the artefact is admitted. The *slot in force* is the valid one with the greater counter, and of
//! equal counters the greater sequence. An installation goes into the other slot, and nothing is ever copied back.
//!
//! # What holds
//!
//! The power may fail at any moment. Whatever erase or write is interrupted leaves each bit that it was to change either
//! way, and it may read otherwise every time; a completed one lasts. Then:
//!
//! 1. *The slot in force is firm.* Its mark was seen, so marking had begun, so record and artefact were complete.
//! 2. *The slot in force is untouched until another is valid*, but for its mark: an installation first writes
//!    the mark of the slot in force again, if this start did not write it. A mark that was cut short, and happened to be
//!    seen whole, might be gone at the next start, when the other slot is erased already. (Programming programmed bits
//!    changes nothing; flash takes that, even with error correction, if all bits of the unit are programmed.)
//! 3. *An acknowledged calibrator is in force until a later one is.* It is acknowledged when the mark was read back.
//! 4. *What is used is what was checked*: the artefact is copied to RAM and checked there, signature included, so bits that
//!    read otherwise every time cannot pass one check and fail another. The artefact is copied rather than read in place
//!    also because flash that is being erased or written cannot be read on most parts; a device with one slot that never
//!    changes while it runs reads it in place ([`Artifact::parse_slot`](crate::artifact::Artifact::parse_slot)).
//! 5. *Nothing is remembered but in flash*: a start after a reset is the same as after a power cut.
//!
//! With neither slot valid there is no calibrator, and [`SlotStore::load`] says why for both slots.
//!
//! # What protects against what
//!
//! | | accidents | forgery over the serial line | an older calibrator | an open debug port |
//! |---|---|---|---|---|
//! | CRC-32C | yes: every burst of up to 32 bits, others but for one in 2^32 | no | no | no |
//! | signature ([`TrustedKey`](TrustedKey)) | yes | yes, while the private key is secret | no: it was signed, too | no |
//! | counter | no | no: without a signature anybody writes any counter | yes, below the one in force, if signed | no |
//! | classifier's identity | mistakes of people | no | no | no |
//!
//! Whoever reaches the debug port replaces the program, the key in it, or both slots: lock the port. The counter is kept
//! in the slots alone: if both are lost, any signed calibrator is taken again.

mod admission;
mod buffer;
mod error;
mod install;
mod layout;
mod record;
mod store;
#[cfg(feature = "ed25519")]
mod trusted_key;

pub use admission::{Admission, Admitted, Anybody, Refused, SignatureError, Trust};
pub use buffer::{ArtifactBuffer, BufferFull};
pub use error::{InstallError, SlotFault};
pub use install::{Install, Progress, Receipt};
pub use layout::{Erased, LayoutError, SlotLayout};
pub use store::{SlotContent, SlotStore, slot_trailer};
#[cfg(feature = "ed25519")]
#[cfg_attr(docsrs, doc(cfg(feature = "ed25519")))]
pub use trusted_key::{NotAKey, TrustedKey};
