//! Any bytes as CSV, as JSON lines, and compressed, read in one of the ways in which commands read: refused, or a table.
#![no_main]

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((choice, bytes)) = data.split_first() else { return };
    let read = |name: &str, bytes: &[u8]| calib_fuzz::read_one_way(name, bytes, choice / 4);
    match choice % 4 {
        0 => read("scores.csv", bytes),
        1 => read("scores.jsonl", bytes),
        2 => read("scores.csv.gz", bytes),
        // Gets behind the checksum.
        _ => {
            let mut writer = GzEncoder::new(Vec::new(), Compression::fast());
            writer.write_all(bytes).expect("memory does not fail");
            read("scores.jsonl.gz", &writer.finish().expect("memory does not fail"));
        }
    }
});
