//! Points on a disk.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::mem;
use std::sync::Mutex;

use super::packed::Packed;
use super::passes::Passes;
use crate::error::FitError;

/// Points are read and written so many at a time.
const PART_POINTS: usize = 1 << 20;

/// Packed points in a temporary file without a name: nothing of it is left when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct Spill {
    file: Mutex<File>,
    len: u64,
}

/// Collects packed points: in memory as long as they are few, then in a [`Spill`].
pub(crate) struct Collector {
    points: Vec<Packed>,
    in_memory: usize,
    spilled: Option<File>,
    len: u64,
}

/// What was collected.
pub(crate) enum Collected {
    Memory(Vec<Packed>),
    Spill(Spill),
}

impl Collector {
    /// Keeps up to `in_memory` points in memory.
    pub(crate) fn new(in_memory: usize) -> Self {
        Self { points: Vec::new(), in_memory, spilled: None, len: 0 }
    }

    /// Adds points.
    ///
    /// # Errors
    ///
    /// If the temporary file cannot be made or written.
    pub(crate) fn extend(&mut self, points: impl Iterator<Item = Packed>) -> io::Result<()> {
        self.points.extend(points);
        let limit = if self.spilled.is_some() { PART_POINTS } else { self.in_memory };
        if self.points.len() > limit { self.spill() } else { Ok(()) }
    }

    /// The points; `None` if there are none.
    ///
    /// # Errors
    ///
    /// If the temporary file cannot be written.
    pub(crate) fn finish(mut self) -> io::Result<Option<Collected>> {
        if self.spilled.is_none() {
            return Ok((!self.points.is_empty()).then_some(Collected::Memory(self.points)));
        }
        self.spill()?;
        let file = self.spilled.expect("seen above");
        Ok(Some(Collected::Spill(Spill { file: Mutex::new(file), len: self.len })))
    }

    fn spill(&mut self) -> io::Result<()> {
        let mut file = match self.spilled.take() {
            Some(file) => file,
            None => tempfile::tempfile()?,
        };
        file.write_all(bytemuck::cast_slice(&self.points))?;
        self.len += self.points.len() as u64;
        if self.points.capacity() > 2 * PART_POINTS {
            self.points = Vec::with_capacity(2 * PART_POINTS);
        }
        self.points.clear();
        self.spilled = Some(file);
        Ok(())
    }
}

impl Spill {
    /// The number of points.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }
}

/// Points on a disk belong to one fit, and are not compared with the points of another.
impl PartialEq for Spill {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Passes for Spill {
    const BUDGET_LEN_BYTES: u64 = 512 << 20;
    /// What does not fit into memory as a whole does not in large parts.
    const IN_MEMORY: usize = 1 << 24;

    fn fold<T: Send>(
        &self,
        new: &(dyn Fn() -> T + Sync),
        add: &(dyn Fn(&mut T, &[Packed]) + Sync),
        _: &(dyn Fn(&mut T, T) + Sync),
    ) -> Result<T, FitError> {
        let locked = self.file.lock().expect("no pass panics");
        let mut file: &File = &locked;
        file.rewind()?;
        let mut sum = new();
        let mut present = Vec::new();
        let mut next = vec![0; PART_POINTS];
        let mut left = self.len;
        while left > 0 || !present.is_empty() {
            next.resize(usize::try_from(left).unwrap_or(usize::MAX).min(PART_POINTS), 0);
            let (read, ()) = rayon::join(
                || file.read_exact(bytemuck::cast_slice_mut(&mut next)),
                || add(&mut sum, &present),
            );
            read?;
            left -= next.len() as u64;
            mem::swap(&mut present, &mut next);
        }
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::Points;
    use crate::points::counted::Counted;

    fn collect(in_memory: usize, points: &[Packed]) -> Collected {
        let mut collector = Collector::new(in_memory);
        for part in points.chunks(1000) {
            collector.extend(part.iter().copied()).unwrap();
        }
        collector.finish().unwrap().unwrap()
    }

    #[test]
    fn points_on_a_disk_are_those_in_memory() {
        // More than two parts.
        let points: Vec<Packed> =
            (0..2_500_000u32).map(|i| i.wrapping_mul(2_654_435_761) % 0x7F00_0000).collect();
        let Collected::Memory(memory) = collect(points.len(), &points) else { panic!("there is room") };
        assert_eq!(memory, points);
        for in_memory in [0, 1_100_000, points.len() - 1] {
            let Collected::Spill(spill) = collect(in_memory, &points) else { panic!("there is no room") };
            assert_eq!(spill.len(), points.len() as u64);
            let (disk, memory) = (Counted::new(&spill).unwrap(), Counted::new(&points[..]).unwrap());
            assert_eq!(disk.totals(), memory.totals());
            assert_eq!(disk.groups().unwrap(), memory.groups().unwrap());
            assert_eq!(disk.at_ranks(&[1, 7, 2_500_000]), memory.at_ranks(&[1, 7, 2_500_000]));
        }
    }
}
