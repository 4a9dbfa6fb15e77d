//! Counters that survive a restart: a journal in separate sectors of flash.
//!
//! Each save is a [record](Journal::save) of all counters, with a sequence number, the identity of their calibrator and a CRC-32C. The
//! newest record that is whole counts. Records fill one sector after the other, around:
//!
//! * A power cut in the writing of a record leaves the one before it. What is computed from counters goes back with them: a bound over all
//!   starts holds only for what is looked at once it is saved.
//! * After a start the first record takes the next sector, which is erased for it, whatever it looks like: nothing is written where a cut
//!   may have left a word half written. The sector of the newest record is never erased for another.
//! * Counters of another calibrator are not loaded. When another one begins, or counting is to restart, a record says so, and the
//!   other sectors are erased: what was counted before is gone.
//!
//! After one power cut nothing is lost that was saved before. After several in a row, each before a save is whole, in flash whose torn
//! bits read otherwise every time, counting may restart. It never goes on with more than was counted, nor with what another
//! calibrator counted.
//!
//! A sector is erased once in as many saves as there is room in all sectors, and in as many starts as there are sectors. Take three
//! sectors where a sector has room for one record alone.
//!
//! This room imports [`artifact`](crate::artifact) and [`slot`](crate::slot).

mod layout;
mod record;
mod store;

pub use layout::{JournalLayout, JournalLayoutError};
pub use store::{Damage, Journal, JournalError};
