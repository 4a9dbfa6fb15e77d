//! Two slots in flash, of which one always holds a calibrator once one was installed.
//!
//! ```text
//! slot    0            artifact, its last write unit filled up with erased bytes
//!         ...          erased
//!         len - 288    note of what was newest before this installation: "CLST", counter u32, the artifact's CRC-32C u32,
//!                      CRC-32C u32 of classifier and key, the same name or 8 zeros, 4 zeros, CRC-32C u32 of the 28 bytes before; or erased
//!         len - 256    note of an installation into the other slot, likewise
//!         len - 224    5 units for marks: the first three beside the record in use, the others erased
//!         len - 64     record: "CSLT", sequence u32, counter u32, artifact length u32, its CRC-32C u32, name of a
//!                      key that took the place of another one or 8 zeros, CRC-32C u32 of the 28 bytes before
//!         len - 32     first mark: every bit programmed
//! ```
//!
//! A unit has 32 bytes, and is made of whole write units of the flash.
//!
//! # States of a slot, and who moves it
//!
//! ```text
//!            erase, read back    write, read back        record, read back      mark, read back
//!   any ───────────────► empty ──────────────────► whole ────────────────► recorded ─────────► valid, then three marks more
//! ```
//!
//! A slot is *complete* if one of its marks is right except for 8 of 256 bits, and the record to the last bit. It is *valid* if, too, the artifact is the
//! record's, the bytes from there to the notes are erased, and the artifact is admitted. The *active slot* is the valid slot
//! with the greater counter; of equal counters, with the greater sequence. An installation goes into the other slot, and nothing is
//! ever copied back.
//!
//! # No write unit is written twice
//!
//! `NorFlash` forbids to write a unit twice without erasing it, and flash with error correction enforces it: the second write fails,
//! or leaves a unit that nobody can read. Every unit here is written only while it is blank, once, and never again before it is
//! erased: whatever went wrong, an installation begins with erasing. What reads as blank counts as blank: a mark or a note whose write was cut before any
//! bit changed may be written once more. If the flash refuses that, the next place for a mark is taken, and a note is left out.
//!
//! # What holds
//!
//! The power may fail at any moment. An interrupted erase or write leaves each of its bits in either state, and such a bit may read
//! otherwise every time, or not at all. A completed erase or write lasts. Then:
//!
//! 1. *A complete slot is whole.* A mark was read, so marking had begun, so record and artifact were complete. That is so of a mark with wrong bits,
//!    too: bits that turn at rest do not unmark a slot, as it has four marks, and each may have eight.
//! 2. *The active slot is untouched until another is valid*, except for its marks and notes. A mark that was cut short, but is read as
//!    complete, might be gone at the next start. So an installation first makes sure of the active slot: unless four marks are right to
//!    the last bit, as after an installation without cuts, it writes more. Each cut spoils at most one of six. If there is no place for another, one
//!    mark suffices that is read as complete in 16 reads: then five cuts within the marks of one calibrator came before. One
//!    more within the installation may leave the device uncalibrated, but the device never rejects calibrators permanently.
//! 3. *An acknowledged calibrator is active until a later one is.* It is acknowledged after its marks were read back. If the other
//!    slot might be active at a later start, it is erased before: if its installation was cut short, it is damaged, or it
//!    cannot be read. This goes for a calibrator that is active and installed once more, too.
//! 4. *The bytes in use are the bytes that were checked.* The artifact is copied to RAM and checked there, with its signature. So
//!    bits that read differently each time cannot pass one check and fail another. The copy has another reason, too: on most
//!    parts
//!    flash cannot be read while it is erased or written. A device with one slot, which never changes while the device runs, reads
//!    the artifact in place ([`Artifact::parse_slot`](crate::artifact::Artifact::parse_slot)).
//! 5. *Only the flash remembers*: a start after a reset is the same as a start after a power cut, and a start writes nothing.
//! 6. *Nothing unseen is erased.* An installation reads the ends of both slots again. If one is complete that the store did not know
//!    when it loaded the calibrator, because flash could not be read then, it erases nothing ([`InstallError::Reload`]). The
//!    counters of all complete slots count, whether or not their artifacts are whole, and those of the notes. Without an active calibrator, the
//!    installation goes into the slot whose loss costs less; one that cannot be read, though each read is tried three times, is
//!    treated as torn.
//!
//! 7. *The newest counter is kept twice*: in its slot's record, and in a note in the other slot. A note counts where the key and the classifier are
//!    those for which it was written. So if one slot is lost, a lower counter is still refused. [`SlotStore::fallback_from`] reports
//!    a calibrator that is active in place of a newer one.
//!
//! 8. *A key in whose place another one came is not accepted again*: if another key named the key of an artifact ([`Rotation`]), the record of the
//!    slot names that key, and so does the note in the other slot. An artifact is installed only if its chain of keys contains the key of the newest
//!    calibrator. What keeps the newest counter keeps this name: both are written together, and a cut leaves both or neither.
//!
//! If neither slot is valid there is no calibrator, and [`SlotStore::load`] returns the fault of each slot. If the active one may be
//! older than what is in the other slot, [`SlotStore::fallback_from`] says so.
//!
//! # What protects against what
//!
//! | | accidents | forgery over the serial line | an older calibrator | an open debug port |
//! |---|---|---|---|---|
//! | CRC-32C | yes: every burst of up to 32 bits, others except for one in 2^32 | no | no | no |
//! | signature (`TrustedKey`) | yes | yes, while the private key is secret | no: it was signed, too | no |
//! | counter | no | no: without a signature anybody writes any counter | yes, if signed: below the newest, and other ones of the same counter | no |
//! | classifier's identity | mistakes of people | no | no | no |
//!
//! Where signatures are demanded, an artifact without a counter is not installed. Anyone who reaches the debug port can replace the
//! program, the key in it, or both slots: lock the port. Only the slots hold the counter: if both are lost, any signed calibrator is
//! accepted again.
//!
//! This room imports [`artifact`](crate::artifact). It drives no flash itself: [`SlotStore`] takes the board's `NorFlash`.

mod admission;
mod buffer;
mod error;
mod install;
mod layout;
mod marks;
mod note;
mod plan;
mod record;
mod region;
mod rotation;
mod store;
mod trailer;
#[cfg(feature = "ed25519")]
mod trusted_key;

pub use admission::{Admission, Admitted, Anybody, MonitorRoom, Refused, SignatureError, Trust};
pub use buffer::{ArtifactBuffer, BufferFull};
pub use error::{InstallError, SlotFault};
pub use install::{Install, Progress, Receipt};
pub use layout::{Erased, LayoutError, SlotLayout};
pub use rotation::{MAX_ROTATIONS, ROTATION_LEN, ROTATION_SECTION, Rotation};
pub use store::{SlotContent, SlotStore, UnusableSlot, slot_trailer};
#[cfg(feature = "ed25519")]
#[cfg_attr(docsrs, doc(cfg(feature = "ed25519")))]
pub use trusted_key::{NotAKey, TrustedKey};
