//! A bundle in one file: a tar archive with the same bytes for the same files.

use std::io::{self, Read};
use std::path::Component;

use tar::{Archive, Builder, EntryType, Header};

use super::content::{Bundle, BundleFile, MAX_BUNDLE_LEN_BYTES};
use super::lie::Lie;
use crate::files::read_to_limit;

impl Bundle {
    /// The bundle as a tar archive. Its files have no owner, and the time is `seconds` since 1970 of all of them.
    ///
    /// # Errors
    ///
    /// None but a lack of memory.
    pub fn archive(&self, seconds: u64) -> io::Result<Vec<u8>> {
        let mut tar = Builder::new(Vec::new());
        for (file, bytes) in self.files() {
            let mut header = Header::new_ustar();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            header.set_mtime(seconds);
            tar.append_data(&mut header, file.name(), bytes)?;
        }
        tar.into_inner()
    }

    /// Reads an archive, in memory alone.
    ///
    /// # Errors
    ///
    /// What is no file of a bundle, by its name, or too large.
    pub fn from_archive(archive: impl Read) -> Result<Self, Lie> {
        let wrong = |cause: io::Error| Lie::Archive(cause.to_string());
        let mut bundle = Self::default();
        // What follows the limit is not read: an archive that goes on there is cut short, and so refused.
        let mut archive = Archive::new(archive.take(MAX_BUNDLE_LEN_BYTES + (1 << 20)));
        let mut left = MAX_BUNDLE_LEN_BYTES;
        for entry in archive.entries().map_err(wrong)? {
            let mut entry = entry.map_err(wrong)?;
            let path = entry.path().map_err(wrong)?.into_owned();
            let name = path.display().to_string();
            let is_inside = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
            if !path.components().all(is_inside) {
                return Err(Lie::Path(name));
            }
            if entry.header().entry_type() == EntryType::Directory && path.components().count() <= 1 {
                // Some programs put the folder itself first.
                continue;
            }
            if entry.header().entry_type() != EntryType::Regular {
                return Err(Lie::NotAFile(name));
            }
            let known = path.file_name().and_then(|name| name.to_str()).and_then(BundleFile::of);
            let is_flat = path.components().filter(|part| matches!(part, Component::Normal(_))).count() == 1;
            let Some(file) = known.filter(|_| is_flat) else { return Err(Lie::StrayFile(name)) };
            if entry.size() > left {
                return Err(Lie::TooLarge(name));
            }
            let mut bytes = Vec::new();
            read_to_limit(&mut entry, left, &mut bytes, |_| ()).map_err(wrong)?;
            left = left.saturating_sub(bytes.len() as u64);
            if bundle.files.insert(file, bytes).is_some() {
                return Err(Lie::FileTwice(file.name()));
            }
        }
        match bundle.files.is_empty() {
            true => Err(Lie::Archive("there is no file in it".into())),
            false => Ok(bundle),
        }
    }
}
