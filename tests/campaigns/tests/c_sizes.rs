//! The sizes that the header and the page of calib's library for C tell are those of the code.

use calib_c::*;

const HEADER: &str = include_str!("../../../firmware/c/include/calib.h");
const PAGE: &str = include_str!("../../../firmware/c/README.md");

/// What the header says a constant is, on cores of 32 bits or of 64: one that is the same on all is there once.
fn words(name: &str, is_64_bits: bool) -> usize {
    let condition = if is_64_bits { "#if defined(CALIB_64_BITS)" } else { "#if defined(CALIB_NOT_64_BITS)" };
    let definition = format!("#define {name} ");
    let found =
        HEADER.split("\n#").filter_map(|part| format!("#{part}").strip_prefix(&definition).map(number));
    let found: Vec<usize> = found.collect();
    match found[..] {
        [one] => one,
        [_, _] => {
            let blocks = HEADER.split(condition).skip(1).map(|rest| rest.split("#endif").next().unwrap());
            let of_core = blocks.filter_map(|block| block.split_once(&definition));
            of_core.map(|(_, rest)| number(rest)).next().unwrap()
        }
        _ => panic!("{name} is there {} times", found.len()),
    }
}

fn number(text: &str) -> usize {
    text.split_whitespace().next().unwrap().replace(',', "").parse().unwrap()
}

/// The states that a program has, and the words that it gives for each.
fn states() -> [(&'static str, usize, usize); 4] {
    [
        ("CALIB_CALIBRATOR_WORDS", CALIB_CALIBRATOR_WORDS, size_of::<calib_calibrator_t>()),
        ("CALIB_STORE_WORDS", CALIB_STORE_WORDS, size_of::<calib_store_t>()),
        ("CALIB_DEVICE_WORDS", CALIB_DEVICE_WORDS, size_of::<calib_device_t>()),
        ("CALIB_MONITORS_WORDS", CALIB_MONITORS_WORDS, size_of::<calib_monitors_t>()),
    ]
}

#[test]
fn the_header_says_the_sizes_of_the_code() {
    let is_64_bits = cfg!(target_pointer_width = "64");
    for (name, of_code, bytes) in states() {
        assert_eq!(words(name, is_64_bits), of_code, "{name}");
        assert_eq!(bytes, 8 * of_code, "{name}");
    }
    for (name, of_code) in [
        ("CALIB_BUFFER_WORDS", CALIB_BUFFER_WORDS),
        ("CALIB_COUNTERS_WORDS", CALIB_COUNTERS_WORDS),
        ("CALIB_MANY_COUNTERS_WORDS", CALIB_MANY_COUNTERS_WORDS),
        ("CALIB_SET_WORDS", CALIB_SET_WORDS),
    ] {
        assert_eq!(words(name, is_64_bits), of_code, "{name}");
    }
}

/// The page tells bytes on a core of 32 bits.
#[test]
fn the_page_says_the_sizes_of_the_header() {
    for (row, name) in [
        ("| `calib_calibrator_t` |", "CALIB_CALIBRATOR_WORDS"),
        ("| `calib_store_t` |", "CALIB_STORE_WORDS"),
        ("| `calib_device_t` |", "CALIB_DEVICE_WORDS"),
        ("| `calib_monitors_t` |", "CALIB_MONITORS_WORDS"),
        ("| counters of one table of up to 32 bins (`CALIB_COUNTERS_WORDS`) |", "CALIB_COUNTERS_WORDS"),
        ("| of ten tables of up to 15 (`CALIB_MANY_COUNTERS_WORDS`) |", "CALIB_MANY_COUNTERS_WORDS"),
        ("| a buffer (`CALIB_BUFFER_WORDS`): one for a store, two for a device |", "CALIB_BUFFER_WORDS"),
    ] {
        let (_, rest) = PAGE.split_once(row).unwrap_or_else(|| panic!("the page has no row {row}"));
        assert_eq!(number(rest), 8 * words(name, false), "{row}");
    }
}
