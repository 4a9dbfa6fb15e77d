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
//! A slot is *valid* if mark and record are right to the last bit, the artefact is the record's, the bytes between them are erased,
//! and the artefact is admitted. The *slot in force* is the valid slot with the greater counter; of equal counters, with the greater
//! sequence. An installation goes into the other slot, and nothing is ever copied back.
//!
//! # What holds
//!
//! The power may fail at any moment. An interrupted erase or write leaves each of its bits in either state, and such a bit may read
//! otherwise every time. A completed erase or write lasts. Then:
//!
//! 1. *The slot in force is firm.* Its mark was read, so marking had begun, so record and artefact were complete.
//! 2. *The slot in force is untouched until another is valid*, except for its mark. An installation first writes the mark of the slot
//!    in force again, unless it was written since the start. Otherwise a mark that was cut short, but was once read as complete,
//!    might be gone at the next start, after the other slot was erased. (Programming programmed bits changes nothing; flash takes
//!    this, even with error correction, if all bits of the unit are programmed.)
//! 3. *An acknowledged calibrator is in force until a later one is.* It is acknowledged after its mark was read back.
//! 4. *The bytes in use are the bytes that were checked.* The artefact is copied to RAM and checked there, with its signature, so
//!    bits that read otherwise every time cannot pass one check and fail another. The copy has another reason, too: on most parts
//!    flash cannot be read while it is erased or written. A device with one slot, which never changes while the device runs, reads
//!    the artefact in place ([`Artifact::parse_slot`](crate::artifact::Artifact::parse_slot)).
//! 5. *Only the flash remembers*: a start after a reset is the same as a start after a power cut.
//!
//! If neither slot is valid there is no calibrator, and [`SlotStore::load`] returns the fault of each slot.
//!
//! # What protects against what
//!
//! | | accidents | forgery over the serial line | an older calibrator | an open debug port |
//! |---|---|---|---|---|
//! | CRC-32C | yes: every burst of up to 32 bits, others but for one in 2^32 | no | no | no |
//! | signature (`TrustedKey`) | yes | yes, while the private key is secret | no: it was signed, too | no |
//! | counter | no | no: without a signature anybody writes any counter | yes, below the one in force, if signed | no |
//! | classifier's identity | mistakes of people | no | no | no |
//!
//! Whoever reaches the debug port can replace the program, the key in it, or both slots: lock the port. Only the slots hold the
//! counter: if both are lost, any signed calibrator is accepted again.
//!
//! This room imports [`artifact`](crate::artifact). It drives no flash itself: [`SlotStore`] takes the board's `NorFlash`.

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
