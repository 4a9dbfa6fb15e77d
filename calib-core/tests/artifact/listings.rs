//! Artifacts of every form of table in format 1, byte by byte; this crate's writer did not make them.

/// Two edges at the same score, divided by their words.
pub(crate) const RANDOMIZED: &str = concat!(
    prefix!("02", "98 00", "a4 3a 0a 3b", "aa d5 d7 ef  58 fe 72 5a"), // 152 bytes
    // Umd-randomized, binary, f32; 58 bytes. Guarantee: Gupta and Ramdas 2021, Theorem 4, alpha 0.1, epsilon 0.125.
    header!("3a", "03 00 00", "02 03 ac 02", "01 03 cd cc cc 3d 00 00 00 3e", "00", "00  00  00 00"),
    "
    04 00  01 00  2c 00 00 00   # randomized steps: kind, mandatory, 44 bytes
    01 00 00 00                 # one table
    00 00 00 00  08 00 00 00    # words 0 to 8
    00 00 00 3e                 # epsilon: 0.125
    00 00 00 3f  00 00 00 3f    # edges: 0.5, 0.5
    00 00 00 40  00 00 00 c0    # words: a quarter, three quarters
    00 00 80 3d 00 00 00 3f  00 00 70 3f    # values: 0.0625, 0.5, 0.9375
"
);

/// Three knots.
pub(crate) const INTERPOLATED: &str = concat!(
    prefix!("02", "94 00", "c2 b0 3a 61", "e3 14 ce 1a  3c a8 06 1c"), // 148 bytes
    // Isotonic-interpolated, binary, f32; 49 bytes.
    header!("31", "06 00 00", "02 04 ac 02", "00", "00", "00  00  00 00 00"),
    "
    05 00  01 00  30 00 00 00   # interpolated: kind, mandatory, 48 bytes
    01 00 00 00                 # one table
    00 00 00 00  09 00 00 00    # words 0 to 9
    00 00 c0 7f                 # no epsilon
    00 00 80 3e 00 00 00 3f  00 00 40 3f    # x: 0.25, 0.5, 0.75
    00 00 00 3e 00 00 80 3e  00 00 80 3f    # y: 0.125, 0.25, 1
    00 00 00 3f  00 00 40 40    # slopes: 0.5, 3
"
);

/// Platt scaling, on the logit.
pub(crate) const PLATT_LOGIT: &str = concat!(
    prefix!("02", "84 00", "17 f2 42 08", "78 bf e5 b7  a6 b3 30 f2"), // 132 bytes
    // Platt, binary, f32; 49 bytes.
    header!("31", "09 00 00", "02 00 ac 02", "00", "00", "00  00  00 00 00"),
    "
    06 00  01 00  20 00 00 00   # scaling: kind, mandatory, 32 bytes
    01 00 00 00                 # one table
    00 00 00 00  05 00 00 00    # words 0 to 5
    00 00 c0 7f                 # no epsilon
    00 00 00 00                 # Platt on the logit
    00 00 c0 3f 00 00 80 be  00 00 80 35    # a: 1.5, b: -0.25, clip: 2^-20
"
);

/// Platt scaling, on the probability.
pub(crate) const PLATT_PROB: &str = concat!(
    prefix!("02", "80 00", "31 bf a4 7d", "d5 8b 3d 67  5e 65 73 ef"), // 128 bytes
    // Platt, binary, f32; 49 bytes.
    header!("31", "09 00 00", "02 00 ac 02", "00", "00", "00  00  00 00 00"),
    "
    06 00  01 00  1c 00 00 00   # scaling: kind, mandatory, 28 bytes
    01 00 00 00                 # one table
    00 00 00 00  04 00 00 00    # words 0 to 4
    00 00 c0 7f                 # no epsilon
    01 00 00 00                 # Platt on the probability
    00 00 c0 40  00 00 40 c0    # a: 6, b: -3
"
);

/// Beta calibration.
pub(crate) const BETA: &str = concat!(
    prefix!("02", "88 00", "a4 cb 9b 96", "23 a3 b3 67  2b 3e a4 2e"), // 136 bytes
    // Beta, binary, f32; 49 bytes.
    header!("31", "0a 00 00", "02 00 ac 02", "00", "00", "00  00  00 00 00"),
    "
    06 00  01 00  24 00 00 00   # scaling: kind, mandatory, 36 bytes
    01 00 00 00                 # one table
    00 00 00 00  06 00 00 00    # words 0 to 6
    00 00 c0 7f                 # no epsilon
    02 00 00 00                 # beta
    00 00 c0 3f 00 00 40 3f  00 00 80 3e 00 00 80 35    # a: 1.5, b: 0.75, c: 0.25, clip: 2^-20
"
);

/// Temperature scaling.
pub(crate) const TEMPERATURE: &str = concat!(
    prefix!("02", "80 00", "ac 99 88 46", "ca d5 4e aa  79 29 1a 15"), // 128 bytes
    // Temperature, binary, f32; 49 bytes.
    header!("31", "0b 00 00", "02 00 ac 02", "00", "00", "00  00  00 00 00"),
    "
    06 00  01 00  1c 00 00 00   # scaling: kind, mandatory, 28 bytes
    01 00 00 00                 # one table
    00 00 00 00  04 00 00 00    # words 0 to 4
    00 00 c0 7f                 # no epsilon
    03 00 00 00                 # temperature
    00 00 00 3f  00 00 80 35    # 1/T: 0.5, clip: 2^-20
"
);

/// Two bins with two probabilities each.
pub(crate) const VENN_ABERS: &str = concat!(
    prefix!("02", "88 00", "26 a2 25 74", "99 ae 32 df  99 4b a1 9d"), // 136 bytes
    // Venn-abers, binary, f32; 49 bytes.
    header!("31", "0c 00 00", "02 02 ac 02", "00", "00", "00  00  00 00 00"),
    "
    07 00  01 00  24 00 00 00   # Venn-Abers: kind, mandatory, 36 bytes
    01 00 00 00                 # one table
    00 00 00 00  06 00 00 00    # words 0 to 6
    00 00 c0 7f                 # no epsilon
    00 00 00 3f                 # edge: 0.5
    00 00 00 00  00 00 00 3f    # p0: 0, 0.5
    00 00 80 3e  00 00 80 3f    # p1: 0.25, 1
"
);

/// An exact interval for one bin, none for the other.
pub(crate) const INTERVALS: &str = concat!(
    prefix!("04", "b8 00", "f1 66 9b 95", "68 fc 9b 7e  c6 23 e2 8b"), // 184 bytes
    // Fixed-width, binary, f32; 58 bytes. Guarantee: Clopper and Pearson, alpha 0.1, epsilon 0.25.
    header!("3a", "05 00 00", "02 02 ac 02", "01 05 cd cc cc 3d 00 00 80 3e", "00", "00  00  00 00"),
    "
    02 00  01 00  1c 00 00 00   # steps: kind, mandatory, 28 bytes
    01 00 00 00                 # one table
    00 00 00 00  04 00 00 00    # words 0 to 4
    00 00 80 3e                 # epsilon: 0.25
    00 00 00 3f                 # edge: 0.5
    00 00 00 3e  00 00 40 3f    # values: 0.125, 0.75

    03 00  00 00  02 00 00 00   # bin flags: kind, optional, 2 bytes
    00 01                       # bin 1 is empty
    00 00                       # padding

    08 00  00 00  1c 00 00 00   # intervals: kind, optional, 28 bytes
    01 00 00 00                 # one table
    00 00 00 00  04 00 00 00    # words 0 to 4
    00 00 80 3d  00 00 c0 3e    # bin 0: 0.0625 to 0.375
    00 00 c0 7f  00 00 c0 7f    # bin 1: none
"
);

/// Codes of an int8 softmax, with the bin of each.
pub(crate) const CODES: &str = concat!(
    prefix!("03", "9c 01", "df f9 e2 78", "c4 48 11 b7  93 29 ce 22"), // 412 bytes
    // Ums, binary, i8, scale 1/256, zero point -128; 64 bytes. Guarantee: Hoeffding on the bins' counts, alpha 0.1, epsilon 0.125.
    header!(
        "40",
        "04 00 02 00 00 80 3b ff 01",
        "02 03 ac 02",
        "01 04 cd cc cc 3d 00 00 00 3e",
        "00",
        "00  00"
    ),
    "
    09 00  01 00  24 00 00 00   # integer steps: kind, mandatory, 36 bytes
    01 00 00 00                 # one table
    00 00 00 00  06 00 00 00    # words 0 to 6
    00 00 00 3e                 # epsilon: 0.125
    40 00 00 00  c0 00 00 00    # edges: codes -64 and 64, plus 128
    00 00 80 3d 00 00 00 3f  00 00 70 3f    # values: 0.0625, 0.5, 0.9375

    0a 00  00 00  00 01 00 00   # direct table: kind, optional, 256 bytes
    00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00    # codes -128 to -65
    00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
    00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
    00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
    01 01 01 01 01 01 01 01  01 01 01 01 01 01 01 01    # -64 to 63
    01 01 01 01 01 01 01 01  01 01 01 01 01 01 01 01
    01 01 01 01 01 01 01 01  01 01 01 01 01 01 01 01
    01 01 01 01 01 01 01 01  01 01 01 01 01 01 01 01
    01 01 01 01 01 01 01 01  01 01 01 01 01 01 01 01
    01 01 01 01 01 01 01 01  01 01 01 01 01 01 01 01
    01 01 01 01 01 01 01 01  01 01 01 01 01 01 01 01
    01 01 01 01 01 01 01 01  01 01 01 01 01 01 01 01
    02 02 02 02 02 02 02 02  02 02 02 02 02 02 02 02    # 64 to 127
    02 02 02 02 02 02 02 02  02 02 02 02 02 02 02 02
    02 02 02 02 02 02 02 02  02 02 02 02 02 02 02 02
    02 02 02 02 02 02 02 02  02 02 02 02 02 02 02 02
"
);
