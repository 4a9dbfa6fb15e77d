//! Any bytes as NumPy arrays and archives of them: refused, or numbers.
#![no_main]

use std::io::{Cursor, Write};

use libfuzzer_sys::fuzz_target;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

fuzz_target!(|data: &[u8]| {
    let Some((choice, bytes)) = data.split_first() else { return };
    match choice % 4 {
        0 => calib_fuzz::read("scores.npy", bytes),
        1 => calib_fuzz::read("scores.npz", bytes),
        // Gets behind the list of members and the checksums, with one array or with two.
        2 => calib_fuzz::read("scores.npz", &archive(&[("score.npy", bytes)])),
        _ => {
            let (first, second) = bytes.split_at(bytes.len() / 2);
            calib_fuzz::read("scores.npz", &archive(&[("score.npy", first), ("label.npy", second)]));
        }
    }
});

fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer.start_file(*name, SimpleFileOptions::default()).expect("memory does not fail");
        writer.write_all(bytes).expect("memory does not fail");
    }
    writer.finish().expect("memory does not fail").into_inner()
}
