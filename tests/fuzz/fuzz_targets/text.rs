//! Any bytes as CSV, as JSON lines, and compressed: refused, or a table.
#![no_main]

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((choice, bytes)) = data.split_first() else { return };
    match choice % 4 {
        0 => calib_fuzz::read("scores.csv", bytes),
        1 => calib_fuzz::read("scores.jsonl", bytes),
        2 => calib_fuzz::read("scores.csv.gz", bytes),
        // Gets behind the checksum.
        _ => {
            let mut writer = GzEncoder::new(Vec::new(), Compression::fast());
            writer.write_all(bytes).expect("memory does not fail");
            calib_fuzz::read("scores.jsonl.gz", &writer.finish().expect("memory does not fail"));
        }
    }
});
