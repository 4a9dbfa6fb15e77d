//! A serial line as two pipes, one in each direction, as QEMU's character device `pipe` takes them.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::fcntl::OFlag;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

/// The host's ends. A pipe takes a byte in a fraction of the time that a socket takes, and QEMU writes byte by byte.
#[derive(Debug)]
pub(crate) struct Pipes {
    to_device: File,
    from_device: File,
}

impl Pipes {
    /// Makes the pipes `name.in` and `name.out`, which lead into the device and out of it.
    pub(crate) fn new(folder: &Path, name: &str) -> io::Result<Self> {
        let make = |direction: &str| {
            let path = folder.join(format!("{name}.{direction}"));
            mkfifo(&path, Mode::S_IRUSR | Mode::S_IWUSR)?;
            // For both directions, so that opening waits for nobody.
            let flags = OFlag::O_NONBLOCK.bits();
            OpenOptions::new().read(true).write(true).custom_flags(flags).open(path)
        };
        Ok(Self { to_device: make("in")?, from_device: make("out")? })
    }

    /// Writes what there is room for.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] if there is no room.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to_device.write(bytes)
    }

    /// Reads what is there.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] if nothing is.
    pub(crate) fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.from_device.read(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::ErrorKind;

    use super::*;

    #[test]
    fn what_goes_in_comes_out_and_nobody_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let mut pipes = Pipes::new(folder.path(), "line").unwrap();
        let mut bytes = [0; 8];
        assert_eq!(pipes.read(&mut bytes).unwrap_err().kind(), ErrorKind::WouldBlock);
        assert_eq!(pipes.write(b"request").unwrap(), 7);
        File::open(folder.path().join("line.in")).unwrap().read_exact(&mut bytes[..7]).unwrap();
        assert_eq!(&bytes[..7], b"request");

        fs::write(folder.path().join("line.out"), "reply").unwrap();
        assert_eq!(pipes.read(&mut bytes).unwrap(), 5);
        let full = (0..).find_map(|_| pipes.write(&[0; 4096]).err()).unwrap();
        assert_eq!(full.kind(), ErrorKind::WouldBlock);
    }
}
