//! A smooth function as a table over codes, pinned byte by byte; the listing was not made by this crate's writer.

use calib_core::artifact::{Header, HeaderFlags, Method, Reduction, Table, TableForm};
use calib_core::table::CodeTable;
use calib_core::{Artifact, Calibrator, Outcome, QuantizedScore, ScoreEncoding};

use crate::forge::{PROVENANCE, aligned, identity, write};
use crate::golden::hex;

/// Platt scaling over 16-bit codes: no guarantee, no epsilon, and no direct table.
const PLATT_OVER_CODES: &str = concat!(
    prefix!("02", "8c 00", "10 10 43 2d", "a2 73 45 02  11 4f 88 68"), // 140 bytes
    // Platt, binary, u16, scale 1/65536, zero point 0; 54 bytes.
    header!("36", "09 00 03 00 00 80 37 00", "02 03 ac 02", "00", "00", "00  00  00 00"),
    "
    09 00  01 00  24 00 00 00   # integer steps: kind, mandatory, 36 bytes
    01 00 00 00                 # one table
    00 00 00 00  06 00 00 00    # words 0 to 6
    00 00 c0 7f                 # no epsilon
    00 40 00 00  ff ff 00 00    # edges: codes 16384 and 65535
    00 00 80 3d 00 00 00 3f  00 00 70 3f    # values: 0.0625, 0.5, 0.9375
"
);

const U16: ScoreEncoding = ScoreEncoding::U16 { scale: 1.0 / 65536.0, zero_point: 0 };

fn table() -> Table<'static> {
    let codes = CodeTable::new(&[16_384, 65_535], &[0.0625, 0.5, 0.9375], U16).unwrap();
    Table { form: TableForm::Codes(codes), epsilon: None }
}

fn header() -> Header<'static> {
    Header {
        method: Method::Platt,
        reduction: Reduction::Binary,
        encoding: U16,
        classes: 2,
        bins: 3,
        n: 300,
        guarantee: None,
        flags: HeaderFlags::NONE,
        provenance: PROVENANCE,
    }
}

#[test]
fn a_function_over_codes_is_written_and_read_as_pinned() {
    let golden = hex(PLATT_OVER_CODES);
    assert_eq!(write(&header(), &[Some(table())], &[]), golden);

    let bytes = aligned(&golden);
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    assert_eq!(artifact.header(), &header());
    assert_eq!(artifact.identity(), identity(&golden[32..]));
    assert_eq!(artifact.tables().get(0), Some(table()));
    assert!(!artifact.tables().has_direct_table());
    let Calibrator::BinaryCode(calibrator) = artifact.calibrator() else { panic!("not over codes") };
    for (code, bin, prob) in
        [(0, 0, 0.0625), (16_383, 0, 0.0625), (16_384, 1, 0.5), (65_534, 1, 0.5), (65_535, 2, 0.9375)]
    {
        let Ok(Outcome::Calibrated(got)) = calibrator.calibrate(QuantizedScore::new(U16, code).unwrap())
        else {
            panic!("{code} is uncalibrated")
        };
        assert_eq!((got.bin, got.prob, got.epsilon), (bin, prob, None));
    }
}
