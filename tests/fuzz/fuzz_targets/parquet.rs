//! Any bytes as Parquet: refused, or a table.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| calib_fuzz::read("scores.parquet", data));
