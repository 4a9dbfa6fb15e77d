//! An artifact that arrives in pieces.

use core::mem::MaybeUninit;

use crate::error::{CALIB_ERROR_CHANGED, CALIB_ERROR_GAP, CALIB_ERROR_TOO_LARGE, Result, code};
use crate::memory::{self, OutParam, Span, State};
use crate::store::{calib_receipt_t, calib_store_install, calib_store_t};

/// Words, of 8 bytes, of a `calib_pieces_t`.
#[cfg(target_pointer_width = "32")]
pub const CALIB_PIECES_WORDS: usize = 3;
/// Words, of 8 bytes, of a `calib_pieces_t`.
#[cfg(target_pointer_width = "64")]
pub const CALIB_PIECES_WORDS: usize = 5;

/// An artifact that arrives in pieces, over any transport. Opened by `calib_pieces_open`, which also begins another artifact; there is
/// nothing to close.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct calib_pieces_t {
    /// Internal.
    pub opaque: [u64; CALIB_PIECES_WORDS],
}

/// What has arrived.
#[derive(Debug)]
struct Pieces {
    first: *mut u8,
    room: usize,
    received: usize,
}

impl Pieces {
    fn span(&self) -> Span {
        Span::of_slice(self.first, self.room)
    }

    /// Takes a piece, of which a part may have arrived before.
    ///
    /// # Safety
    ///
    /// The memory for pieces is there, and no part of the piece.
    unsafe fn add(&mut self, offset: usize, piece: &[u8]) -> Result<()> {
        // SAFETY: the caller's; so much was written, or may be.
        let room: &mut [MaybeUninit<u8>] =
            unsafe { core::slice::from_raw_parts_mut(self.first.cast(), self.room) };
        let known = self.received.checked_sub(offset).ok_or(CALIB_ERROR_GAP)?;
        let place = room.get_mut(offset..).and_then(|rest| rest.get_mut(..piece.len()));
        let place = place.ok_or(CALIB_ERROR_TOO_LARGE)?;
        let (mut is_same, mut count) = (true, 0);
        for (at, (place, &byte)) in (0..).zip(place.iter_mut().zip(piece)) {
            if at < known {
                // SAFETY: it has arrived.
                is_same &= unsafe { place.assume_init() } == byte;
            } else if is_same {
                place.write(byte);
                count += 1;
            }
        }
        if !is_same {
            return Err(CALIB_ERROR_CHANGED);
        }
        self.received += count;
        Ok(())
    }
}

/// Begins an artifact that arrives in pieces. They are kept in the caller's words: `CALIB_BUFFER_BYTES / 8` of them hold the longest artifact
/// that a slot takes. The words are not those of a store, because the active calibrator stays in use.
///
/// # Safety
///
/// Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_pieces_open(
    pieces: *mut calib_pieces_t,
    words: *mut u64,
    words_len: usize,
) -> i32 {
    let make = || {
        // SAFETY: the caller's.
        let room = unsafe { memory::room(words, words_len, &[]) }?;
        Ok(Pieces { first: room.as_mut_ptr().cast(), room: size_of_val(room), received: 0 })
    };
    // SAFETY: the caller's.
    code(unsafe { memory::open(pieces, &[&[Span::of_slice(words, words_len)]], make) })
}

/// Takes a piece of any length, which lies at `offset` in the artifact. `received` may be null; it is how many bytes have arrived without a gap:
/// where the next piece begins, also after an error.
///
/// A piece may come again, also in part: after a lost acknowledgment, for example. `CALIB_ERROR_GAP` if a piece before it is missing.
/// `CALIB_ERROR_CHANGED` if it contradicts what has arrived: begin again. `CALIB_ERROR_TOO_LARGE` if the words do not hold it.
///
/// # Safety
///
/// As [`calib_pieces_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_pieces_add(
    pieces: *mut calib_pieces_t,
    offset: usize,
    bytes: *const u8,
    len: usize,
    received: *mut usize,
) -> i32 {
    let add = |opened: &mut Pieces| {
        let (own, piece) = ([Span::of(pieces), opened.span()], Span::of_slice(bytes, len));
        piece.apart_from(&own)?;
        let place = match received.is_null() {
            true => None,
            // SAFETY: the caller's.
            false => Some(unsafe { OutParam::new(received, &[&own, &[piece]]) }?),
        };
        // SAFETY: the caller's; the piece is no part of the memory for pieces.
        let added = unsafe { memory::slice(bytes, len).and_then(|piece| opened.add(offset, piece)) };
        if let Some(place) = place {
            place.write(opened.received);
        }
        added
    };
    // SAFETY: the caller's.
    code(unsafe { memory::work(pieces.cast::<State<Pieces>>(), add) })
}

/// Installs what has arrived, as `calib_store_install` installs an artifact that lies in one place. If something is missing, this is
/// `CALIB_ERROR_ARTIFACT`, and nothing was written.
///
/// # Safety
///
/// As [`calib_pieces_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_store_install_pieces(
    store: *mut calib_store_t,
    pieces: *mut calib_pieces_t,
    receipt: *mut calib_receipt_t,
) -> i32 {
    let install = |opened: &mut Pieces| {
        Span::of(store).apart_from(&[Span::of(pieces)])?;
        Span::of(receipt).apart_from(&[Span::of(pieces), opened.span()])?;
        // SAFETY: the caller's; as many bytes have arrived.
        match unsafe { calib_store_install(store, opened.first, opened.received, receipt) } {
            0 => Ok(()),
            error => Err(error),
        }
    };
    // SAFETY: the caller's.
    code(unsafe { memory::work(pieces.cast::<State<Pieces>>(), install) })
}
