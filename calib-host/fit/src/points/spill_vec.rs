//! Records in order, more of them than memory may hold.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};

/// So many records are kept in memory, unless all of them are; the more of them, the others too, go to a temporary file.
pub(crate) const IN_MEMORY: usize = 1 << 18;

/// Records of `W` words that are written once and then read in order again and again: from memory, or from a temporary file
/// without a name.
#[derive(Debug)]
pub(crate) struct SpillVec<const W: usize> {
    /// The last records; all of them if there is no file.
    memory: Vec<[u64; W]>,
    in_memory: usize,
    file: Option<Mutex<File>>,
    filed: usize,
}

impl<const W: usize> SpillVec<W> {
    /// Keeps up to `in_memory` records in memory.
    pub(crate) fn new(in_memory: usize) -> Self {
        Self { memory: Vec::new(), in_memory, file: None, filed: 0 }
    }

    /// Appends records.
    ///
    /// # Errors
    ///
    /// If the temporary file cannot be made or written.
    pub(crate) fn extend(&mut self, records: impl IntoIterator<Item = [u64; W]>) -> io::Result<()> {
        self.memory.extend(records);
        if self.memory.len() > self.in_memory { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(Mutex::new(tempfile::tempfile()?)),
        };
        let file = file.get_mut().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::End(0))?;
        file.write_all(bytemuck::cast_slice(self.memory.as_flattened()))?;
        self.filed += self.memory.len();
        self.memory.clear();
        Ok(())
    }

    /// The number of records.
    pub(crate) fn len(&self) -> usize {
        self.filed + self.memory.len()
    }

    /// Reads some records; the buffer, in which they may be, is overwritten.
    ///
    /// # Panics
    ///
    /// If there are not as many, or the temporary file cannot be read back.
    pub(crate) fn read<'r>(
        &'r self,
        start: usize,
        len: usize,
        buffer: &'r mut Vec<[u64; W]>,
    ) -> &'r [[u64; W]] {
        let Some(file) = &self.file else { return &self.memory[start..start + len] };
        let filed = len.min(self.filed.saturating_sub(start));
        buffer.resize(filed, [0; W]);
        if filed > 0 {
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            let read = file
                .seek(SeekFrom::Start((start * size_of::<[u64; W]>()) as u64))
                .and_then(|_| file.read_exact(bytemuck::cast_slice_mut(buffer.as_flattened_mut())));
            read.expect("the temporary file is there");
        }
        let rest = start + filed - self.filed.min(start + filed);
        buffer.extend_from_slice(&self.memory[rest..rest + len - filed]);
        buffer
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever fits into memory, and wherever it is read, records come as they were written.
        #[test]
        fn is_a_vector(words in proptest::collection::vec(0u64..50, 0..3000), in_memory in prop_oneof![Just(0usize), Just(3), Just(100), Just(usize::MAX)], part in 1usize..50) {
            let records: Vec<[u64; 2]> = words.iter().enumerate().map(|(i, &word)| [word, i as u64]).collect();
            let mut spilled = SpillVec::new(in_memory);
            for some in records.chunks(7) {
                spilled.extend(some.iter().copied()).unwrap();
            }
            prop_assert_eq!(spilled.len(), records.len());
            let mut buffer = Vec::new();
            for start in (0..records.len()).step_by(part).rev() {
                let end = records.len().min(start + part);
                prop_assert_eq!(spilled.read(start, end - start, &mut buffer), &records[start..end]);
            }
        }
    }
}
