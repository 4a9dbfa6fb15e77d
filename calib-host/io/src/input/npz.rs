//! ZIP archives of NumPy arrays.

use std::collections::HashSet;
use std::io::{Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use super::chunk_reader::{ChunkReader, Input, Once};
use super::limit::{MAX_UNPACKED_BYTES, reason, unpack};
use super::npy::{self, NpyArray};
use super::projection::Projection;
use super::rows::Rows;
use super::source::Source;
use super::table::{Reading, Table};
use crate::files::{FileError, Format, Location, Problem};

/// An archive of arrays, of which none is unpacked yet.
pub(super) struct Npz<'s> {
    file: Location,
    archive: ZipArchive<Cursor<&'s [u8]>>,
    /// The arrays' names, without `.npy`, and their numbers in the archive.
    arrays: Vec<(String, usize)>,
    /// How many bytes may still be unpacked.
    budget: u64,
}

/// Reads the arrays of one dimension as columns. The others are known, but of no use.
///
/// # Errors
///
/// If there are no such arrays, or the archive is damaged.
pub(super) fn open(
    input: &Input,
    projection: &Projection,
    reading: Reading,
) -> Result<Box<dyn ChunkReader>, FileError> {
    Once::open(input, reading, |source| table(source, projection))
}

fn table(source: &Source, projection: &Projection) -> Result<Table, FileError> {
    let mut npz = Npz::open(source)?;
    let mut table =
        Table::at(Location::file(source.path()), Rows::From(0)).read_as(Reading::new(source.options()));
    let names: Vec<String> = npz.names().map(str::to_owned).collect();
    if let [_] = names[..] {
        npz.array(0)?.fill_lone(&mut table)?;
        return Ok(table);
    }
    for (index, name) in names.iter().enumerate() {
        if !projection.includes(name) {
            table.add_column(name, false);
            continue;
        }
        match npz.array(index).and_then(|array| array.fill(&mut table, name)) {
            Ok(()) => {}
            // Next to the columns there may be anything.
            Err(FileError::Input {
                problem: problem @ (Problem::Dtype { .. } | Problem::Shape { .. } | Problem::Empty),
                ..
            }) => table.add_unusable(name, problem),
            Err(other) => return Err(other),
        }
    }
    Ok(table)
}

impl<'s> Npz<'s> {
    pub(super) fn open(source: &'s Source) -> Result<Self, FileError> {
        let file = Location::file(source.path());
        let fail = |why: String| FileError::input(file.clone(), Problem::NotA(Format::NPZ, why));
        if !source.bytes().starts_with(b"PK") {
            return Err(fail("it does not start like one".into()));
        }
        let mut archive = ZipArchive::new(Cursor::new(source.bytes()))
            .map_err(|_| fail("its list of members is cut off or damaged".into()))?;
        // Of members of one name only the last is listed.
        if archive.has_duplicate_names() {
            return Err(fail("two arrays in it have the same name".into()));
        }
        let mut arrays = Vec::new();
        let mut others = HashSet::new();
        for index in 0..archive.len() {
            let member = archive.by_index_raw(index).map_err(|cause| fail(why(&cause)))?;
            let name = member.name().map_err(|cause| fail(why(&cause)))?;
            if let Some(name) = name.strip_suffix(".npy") {
                arrays.push((name.to_owned(), index));
            } else {
                others.insert(name.into_owned());
            }
        }
        // NumPy calls both the same.
        if let Some((name, _)) = arrays.iter().find(|(name, _)| others.contains(name)) {
            return Err(fail(format!("both {name}.npy and {name} are in it")));
        }
        if arrays.is_empty() {
            return Err(fail("there is no array in it".into()));
        }
        Ok(Self { file, archive, arrays, budget: MAX_UNPACKED_BYTES })
    }

    /// The names of the arrays.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.arrays.iter().map(|(name, _)| name.as_str())
    }

    /// Unpacks an array.
    pub(super) fn array(&mut self, index: usize) -> Result<NpyArray, FileError> {
        let place = self.place(index);
        // A small archive can hold gigabytes: its header and its length have to agree before they are unpacked.
        let start = self.unpack(index, Some(npy::MAX_HEADER_LEN_BYTES))?;
        npy::Layout::parse(place.clone(), &start, self.size(index)?)?;
        let bytes = self.unpack(index, None)?;
        npy::parse(place, &bytes)
    }

    /// The shape of an array, from its header only; `None` if it has none.
    pub(super) fn shape(&mut self, index: usize) -> Result<Option<Vec<u64>>, FileError> {
        Ok(npy::shape(&self.unpack(index, Some(npy::MAX_HEADER_LEN_BYTES))?))
    }

    /// An array's place: its name is the column's, unless there is only one.
    pub(super) fn place(&self, index: usize) -> Location {
        match &self.arrays[..] {
            [_] => self.file.clone(),
            arrays => self.file.clone().column(&arrays[index].0),
        }
    }

    /// The length of an array's file, header included, as the list of members states it.
    fn size(&mut self, index: usize) -> Result<u64, FileError> {
        let fail =
            |cause: ZipError| FileError::input(self.file.clone(), Problem::NotA(Format::NPZ, why(&cause)));
        self.archive.by_index_raw(self.arrays[index].1).map(|member| member.size()).map_err(fail)
    }

    /// Unpacks an array, or its first bytes.
    fn unpack(&mut self, index: usize, start: Option<u64>) -> Result<Vec<u8>, FileError> {
        let place = self.place(index);
        let fail = |problem| FileError::input(place.clone(), problem);
        let member = self.archive.by_index(self.arrays[index].1);
        let member = member.map_err(|cause| fail(Problem::NotA(Format::NPZ, why(&cause))))?;
        let size = member.size();
        if size > self.budget {
            return Err(fail(Problem::TooLarge { max: MAX_UNPACKED_BYTES }));
        }
        let unpacked = match start {
            Some(len) => unpack(member.take(len), len),
            None => unpack(member, self.budget),
        };
        let bytes = unpacked.map_err(|cause| cause.of(Format::NPZ, place.clone()))?;
        let len = bytes.len() as u64;
        if len != start.map_or(size, |start| size.min(start)) {
            let why = format!("an array in it has {len} bytes, its list of members states {size}");
            return Err(fail(Problem::NotA(Format::NPZ, why)));
        }
        self.budget -= len;
        Ok(bytes)
    }
}

fn why(cause: &ZipError) -> String {
    match cause {
        ZipError::Io(cause) => reason(cause),
        ZipError::UnsupportedArchive(what) if *what == ZipError::PASSWORD_REQUIRED => {
            "an array in it is encrypted".into()
        }
        ZipError::CompressionMethodNotSupported(_) | ZipError::UnsupportedArchive(_) => {
            "an array in it is compressed, but not with deflate".into()
        }
        other => format!("it is damaged ({other})"),
    }
}
