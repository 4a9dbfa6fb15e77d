//! What every listing begins with: the prefix, and the header section.

/// The prefix: the number of sections, the length in bytes, the CRC-32C and the identity vary.
macro_rules! prefix {
    ($sections:literal, $len:literal, $crc:literal, $identity:literal) => {
        concat!(
            "43 41 4c 42  01 00  ", // magic, format
            $sections,
            " 00  ",
            $len,
            " 00 00  ",
            $crc,
            "  ",
            $identity,
            "  00 00 00 00  00 00 00 00\n" // reserved
        )
    };
}

/// The header section: its length; method, reduction and encoding; classes, bins and n; the guarantee, `00` for none; flags;
/// parameters, classifier and padding. In between are the SHA-256 of the data and the version of the tool, 0.1.0.
macro_rules! header {
    ($len:literal, $kind:literal, $counts:literal, $guarantee:literal, $flags:literal, $rest:literal) => {
        header!($len, $kind, $counts, $guarantee, $flags, "
            5a 5a 5a 5a 5a 5a 5a 5a  5a 5a 5a 5a 5a 5a 5a 5a  5a 5a 5a 5a 5a 5a 5a 5a  5a 5a 5a 5a 5a 5a 5a 5a", $rest)
    };
    ($len:literal, $kind:literal, $counts:literal, $guarantee:literal, $flags:literal, $sha256:literal, $rest:literal) => {
        concat!(
            "01 00  01 00  ", // kind, mandatory
            $len, " 00 00 00  ", $kind, "  ", $counts, "  ", $guarantee, "  ", $flags, "  ", $sha256,
            "  05 30 2e 31 2e 30  ", // tool version
            $rest, "\n"
        )
    };
}

/// The sections of [`BINARY`](crate::golden::BINARY): umd, binary, f32; a guarantee with epsilon 0.125; `n_bins=3`; a classifier.
macro_rules! umd {
    () => {
        concat!(
            header!(
                "4a",
                "00 00 00",
                "02 03 ac 02",
                "01 00 cd cc cc 3d 00 00 00 3e",
                "00",
                "00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f",
                "08 6e 5f 62 69 6e 73 3d 33  01 a0 a1 a2 a3 a4 a5 a6 a7  00 00"
            ),
            "
    02 00  01 00  24 00 00 00   # tables: kind, mandatory, 36 bytes
    01 00 00 00                 # one table
    00 00 00 00  06 00 00 00    # words 0 to 6
    00 00 00 3e                 # epsilon: 0.125
    00 00 80 3e  00 00 40 3f    # edges: 0.25, 0.75
    00 00 80 3d  00 00 00 3f  00 00 70 3f    # values: 0.0625, 0.5, 0.9375
"
        )
    };
}
