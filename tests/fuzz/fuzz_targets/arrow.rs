//! Any bytes as Arrow files and streams: refused, or a table.
#![no_main]

use libfuzzer_sys::fuzz_target;

// The first bytes tell a file from a stream.
fuzz_target!(|data: &[u8]| calib_fuzz::read("scores.arrow", data));
