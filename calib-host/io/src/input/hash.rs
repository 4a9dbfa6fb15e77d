//! The hash of files, beside their reading.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use sha2::{Digest, Sha256};

use super::chunk_reader::Input;
use crate::files::FileError;

/// So many bytes are hashed at a time: few enough to stay in a cache.
const BLOCK_LEN_BYTES: usize = 1 << 18;

/// The SHA-256 of contents, one after the other; anything once told to stop.
pub(super) fn sha256(contents: &[Input], stop: &AtomicBool) -> Result<[u8; 32], FileError> {
    let mut hash = Sha256::new();
    for content in contents {
        match content {
            Input::Memory(source) => hash.update(source.as_stored()),
            Input::File { path, .. } => hash_file(&mut hash, path, stop)
                .map_err(|source| FileError::Read { path: path.clone(), source })?,
        }
    }
    Ok(hash.finalize().into())
}

fn hash_file(hash: &mut Sha256, path: &Path, stop: &AtomicBool) -> io::Result<()> {
    let mut file = File::open(path)?;
    let mut block = vec![0; BLOCK_LEN_BYTES];
    while !stop.load(Ordering::Relaxed) {
        let len = file.read(&mut block)?;
        if len == 0 {
            break;
        }
        hash.update(&block[..len]);
    }
    Ok(())
}
