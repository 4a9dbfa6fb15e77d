//! Any bytes as a device's replies to the host: every question ends, with an answer or with the reason why not.
#![no_main]

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::sync::OnceLock;
use std::time::Duration;

use calib_core::wire::{FrameReader, Request, RequestBody};
use calib_fuzz::CRC_32C;
use calib_host::device::serial::{DeviceError, Link, Patience, Transport, push};
use calib_host::{BinaryData, BinaryMethod, StoredArtifact, Umd, artifact_bytes, fit_binary};
use libfuzzer_sys::fuzz_target;

// The first byte says what is asked, and whether the rest comes as it is or as the payloads of replies to what was asked.
fuzz_target!(|data: &[u8]| {
    let Some((&choice, replies)) = data.split_first() else { return };
    let line = Line { raw: choice & 1 == 1, replies, reader: FrameReader::new(), to_host: VecDeque::new() };
    let mut link = Link::new(line, Patience { reply: Duration::from_secs(60), tries: 2 });
    let told = |error: DeviceError| assert!(!error.to_string().is_empty());
    match choice >> 1 & 3 {
        0 => {
            for question in [RequestBody::Status, RequestBody::Slots, RequestBody::Score(0.5)] {
                let _ = link.ask(&question).map_err(told);
            }
        }
        1 => {
            let version = link.protocol_version().map_err(told).unwrap_or_default();
            let _ = link.standing(version).map_err(told);
        }
        2 => {
            let mut stages = 0u32;
            let pushed = push(&mut link, artifact(), |_| stages += 1);
            // A device that says so little cannot have it.
            assert!(pushed.is_err() || stages < 1 << 16);
            let _ = pushed.map_err(told);
        }
        _ => while let Ok(Some(_)) = link.receive(None) {},
    }
});

fn artifact() -> &'static StoredArtifact {
    static ARTIFACT: OnceLock<StoredArtifact> = OnceLock::new();
    ARTIFACT.get_or_init(|| {
        let scores = (0..400).map(|i| f64::from(i) / 400.0).collect();
        let data = BinaryData::new(scores, (0..400).map(|i| i % 40 < i / 20).collect()).expect("scores");
        let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(4)), 0.1).expect("enough points");
        let bytes = artifact_bytes(&fit, &Default::default()).expect("a small artefact");
        StoredArtifact::from_bytes(&bytes).expect("just written")
    })
}

/// A line that answers with what is left of the input, and then is unplugged: silence would take time.
struct Line<'a> {
    raw: bool,
    replies: &'a [u8],
    reader: FrameReader,
    to_host: VecDeque<u8>,
}

impl Line<'_> {
    /// The next reply: so many bytes as the first says, behind the request's number.
    fn answer(&mut self, id: u32) {
        let Some((&len, rest)) = self.replies.split_first() else { return };
        let (body, rest) = rest.split_at(rest.len().min(len.into()));
        self.replies = rest;
        let mut payload = Vec::new();
        let mut id = id;
        while id > 0x7F {
            payload.push(id as u8 | 0x80);
            id >>= 7;
        }
        payload.push(id as u8);
        payload.extend(body);
        let crc = CRC_32C.checksum(&payload).to_le_bytes();
        payload.extend(crc);
        self.to_host.extend(cobs::encode_vec(&payload));
        self.to_host.push_back(0);
    }
}

impl Read for Line<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.to_host.read(bytes)
    }
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for &byte in bytes {
            if let Some(Ok(request)) = self.reader.push::<Request>(byte) {
                if self.raw {
                    self.to_host.extend(std::mem::take(&mut self.replies));
                } else {
                    self.answer(request.id);
                }
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Transport for Line<'_> {
    fn set_read_timeout(&mut self, _: Duration) -> io::Result<()> {
        Ok(())
    }
}
