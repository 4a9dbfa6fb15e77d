//! Records in order, more of them than memory may hold.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

/// So many records are kept in memory, unless all of them are; the more of them, the others too, go to a temporary file.
pub(crate) const IN_MEMORY: usize = 1 << 18;

/// Records are mapped in so many parts a core before the results are taken.
const PARTS_A_CORE: usize = 8;

/// Records of `W` words that are written once and then read in order again and again: from memory, or from a temporary file
/// without a name.
#[derive(Debug)]
pub(crate) struct Tape<const W: usize> {
    /// The last records; all of them if there is no file.
    memory: Vec<[u64; W]>,
    in_memory: usize,
    file: Option<Mutex<File>>,
    filed: usize,
}

impl<const W: usize> Tape<W> {
    /// Keeps up to `in_memory` records in memory.
    pub(crate) fn new(in_memory: usize) -> Self {
        Self { memory: Vec::new(), in_memory, file: None, filed: 0 }
    }

    /// An empty one that keeps as many records in memory.
    pub(crate) fn like<const V: usize>(other: &Tape<V>) -> Self {
        Self::new(other.in_memory)
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

    /// The record in a place.
    ///
    /// # Panics
    ///
    /// If there is none, or the temporary file cannot be read back.
    pub(crate) fn get(&self, place: usize) -> [u64; W] {
        self.read(place, 1, &mut Vec::new())[0]
    }

    /// Maps parts of so many records, the last of fewer, on all cores.
    ///
    /// # Panics
    ///
    /// If the temporary file cannot be read back.
    pub(crate) fn map<T: Send>(&self, part_len: usize, map: impl Fn(&[[u64; W]]) -> T + Sync) -> Vec<T> {
        let parts = (0..self.len()).into_par_iter().step_by(part_len);
        let len = |start: usize| part_len.min(self.len() - start);
        parts.map_init(Vec::new, |buffer, start| map(self.read(start, len(start), buffer))).collect()
    }

    /// Maps parts of so many records on all cores, and takes the results in order, before many of them are there.
    ///
    /// # Errors
    ///
    /// What `take` returns.
    ///
    /// # Panics
    ///
    /// If the temporary file cannot be read back.
    pub(crate) fn map_in_order<T: Send>(
        &self,
        part_len: usize,
        map: impl Fn(&[[u64; W]]) -> T + Sync,
        mut take: impl FnMut(T) -> io::Result<()>,
    ) -> io::Result<()> {
        let starts: Vec<usize> = (0..self.len()).step_by(part_len).collect();
        let len = |start: usize| part_len.min(self.len() - start);
        for some in starts.chunks(PARTS_A_CORE * rayon::current_num_threads()) {
            let parts = some.par_iter();
            let mapped: Vec<T> = parts
                .map_init(Vec::new, |buffer, &start| map(self.read(start, len(start), buffer)))
                .collect();
            mapped.into_iter().try_for_each(&mut take)?;
        }
        Ok(())
    }

    /// Takes every record, in order.
    ///
    /// # Panics
    ///
    /// If the temporary file cannot be read back.
    pub(crate) fn for_each(&self, mut take: impl FnMut(&[u64; W])) {
        const PART: usize = 1 << 14;
        let mut buffer = Vec::new();
        for start in (0..self.len()).step_by(PART) {
            self.read(start, PART.min(self.len() - start), &mut buffer).iter().for_each(&mut take);
        }
    }

    /// Some records; the buffer is overwritten.
    fn read<'r>(&'r self, start: usize, len: usize, buffer: &'r mut Vec<[u64; W]>) -> &'r [[u64; W]] {
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

    /// Takes the records of sorted runs, which end at these places, in ascending order.
    fn merge(&self, ends: &[usize], mut take: impl FnMut(&[u64; W])) {
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let run = |(next, &end)| Run { next, end, head: Vec::new() };
        let mut runs: Vec<Run<W>> = starts.zip(ends).map(run).collect();
        let mut heads: BinaryHeap<_> =
            (0..runs.len()).filter_map(|run| Some(Reverse((runs[run].peek(self)?, run)))).collect();
        while let Some(mut least) = heads.peek_mut() {
            let run = least.0.1;
            take(&runs[run].head.pop().expect("it was looked at"));
            match runs[run].peek(self) {
                Some(next) => least.0.0 = next,
                None => drop(PeekMut::pop(least)),
            }
        }
    }
}

/// Records that come in any order and are read in ascending order.
pub(crate) struct Sorter<const W: usize> {
    run: Vec<[u64; W]>,
    run_len: usize,
    /// Sorted runs, and where they end; none if one holds all.
    runs: Tape<W>,
    ends: Vec<usize>,
}

impl<const W: usize> Sorter<W> {
    /// None yet; as many are kept in memory as of another tape.
    pub(crate) fn like<const V: usize>(other: &Tape<V>) -> Self {
        let run_len = other.in_memory.max(1);
        Self { run: Vec::new(), run_len, runs: Tape::new(0), ends: Vec::new() }
    }

    /// Adds records.
    ///
    /// # Errors
    ///
    /// If the temporary file cannot be made or written.
    pub(crate) fn extend(&mut self, records: impl IntoIterator<Item = [u64; W]>) -> io::Result<()> {
        self.run.extend(records);
        if self.run.len() > self.run_len { self.end_run() } else { Ok(()) }
    }

    fn end_run(&mut self) -> io::Result<()> {
        self.run.par_sort_unstable();
        self.runs.extend(self.run.drain(..))?;
        self.ends.push(self.runs.len());
        Ok(())
    }

    /// Takes every record in ascending order.
    ///
    /// # Errors
    ///
    /// If the temporary file cannot be written.
    ///
    /// # Panics
    ///
    /// If the temporary file cannot be read back.
    pub(crate) fn for_each(mut self, take: impl FnMut(&[u64; W])) -> io::Result<()> {
        if self.ends.is_empty() {
            self.run.par_sort_unstable();
            self.run.iter().for_each(take);
            return Ok(());
        }
        self.end_run()?;
        self.runs.merge(&self.ends, take);
        Ok(())
    }
}

/// What is left of a sorted run.
struct Run<const W: usize> {
    next: usize,
    end: usize,
    /// The first of them, the last one first.
    head: Vec<[u64; W]>,
}

impl<const W: usize> Run<W> {
    /// So many records are read at a time.
    const HEAD: usize = 1 << 12;

    fn peek(&mut self, of: &Tape<W>) -> Option<[u64; W]> {
        if self.head.is_empty() {
            let len = Self::HEAD.min(self.end - self.next);
            let mut buffer = Vec::new();
            self.head.extend(of.read(self.next, len, &mut buffer).iter().rev());
            self.next += len;
        }
        self.head.last().copied()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever fits into memory, records come as they were written, and sorted as a vector is.
        #[test]
        fn is_a_vector(words in proptest::collection::vec(0u64..50, 0..3000), in_memory in prop_oneof![Just(0usize), Just(3), Just(100), Just(usize::MAX)], part in 1usize..50) {
            let records: Vec<[u64; 2]> = words.iter().enumerate().map(|(i, &word)| [word, i as u64]).collect();
            let mut tape = Tape::new(in_memory);
            for some in records.chunks(7) {
                tape.extend(some.iter().copied()).unwrap();
            }
            prop_assert_eq!(tape.len(), records.len());
            let mut got = Vec::new();
            tape.for_each(|record| got.push(*record));
            prop_assert_eq!(&got, &records);
            prop_assert_eq!(tape.map(part, <[_]>::to_vec), records.chunks(part).map(<[_]>::to_vec).collect::<Vec<_>>());
            got.clear();
            tape.map_in_order(part, <[_]>::to_vec, |some| { got.extend(some); Ok(()) }).unwrap();
            prop_assert_eq!(&got, &records);
            got.clear();
            let mut unsorted = Sorter::like(&tape);
            for some in records.chunks(7) {
                unsorted.extend(some.iter().copied()).unwrap();
            }
            unsorted.for_each(|record| got.push(*record)).unwrap();
            let mut sorted = records;
            sorted.sort_unstable();
            prop_assert_eq!(got, sorted);
        }
    }
}
