//! The version of the library, and whether a program was compiled with its header.

use crate::calibrator::calib_calibrator_t;
use crate::device::calib_device_t;
use crate::error::{CALIB_ERROR_VERSION, Result, code};
use crate::monitors::calib_monitors_t;
use crate::result::calib_result_t;
use crate::store::calib_store_t;
use crate::table::calib_table_t;

/// The first number of the version of this header.
pub const CALIB_VERSION_MAJOR: u32 = 0;
/// The second number of the version of this header.
pub const CALIB_VERSION_MINOR: u32 = 1;
/// The third number of the version of this header.
pub const CALIB_VERSION_PATCH: u32 = 0;
/// The version of this header in one number, a byte for each part: 0x010203 is 1.2.3.
pub const CALIB_VERSION: u32 = 0x0000_0100;

const _: () = {
    assert!(CALIB_VERSION == CALIB_VERSION_MAJOR << 16 | CALIB_VERSION_MINOR << 8 | CALIB_VERSION_PATCH);
    let parts = [
        (env!("CARGO_PKG_VERSION_MAJOR"), CALIB_VERSION_MAJOR),
        (env!("CARGO_PKG_VERSION_MINOR"), CALIB_VERSION_MINOR),
        (env!("CARGO_PKG_VERSION_PATCH"), CALIB_VERSION_PATCH),
    ];
    let mut at = 0;
    while at < parts.len() {
        let (text, expected) = parts[at];
        assert!(matches!(u32::from_str_radix(text, 10), Ok(number) if number == expected));
        at += 1;
    }
};

/// Returns the version of the library, as `CALIB_VERSION` gives that of the header.
#[unsafe(no_mangle)]
pub const extern "C" fn calib_version() -> u32 {
    CALIB_VERSION
}

/// Checks that the program was compiled with the header of this library: the same version, and states of the same sizes. Call it once
/// before any other function, as `CALIB_CHECK()`, which fills the arguments in. A program with another header gets `CALIB_ERROR_VERSION`.
#[unsafe(no_mangle)]
pub const extern "C" fn calib_check(
    version: u32,
    calibrator_bytes: usize,
    store_bytes: usize,
    device_bytes: usize,
    monitors_bytes: usize,
    result_bytes: usize,
    table_bytes: usize,
) -> i32 {
    let given = [calibrator_bytes, store_bytes, device_bytes, monitors_bytes, result_bytes, table_bytes];
    code(checked(version, given))
}

const fn checked(version: u32, given: [usize; 6]) -> Result<()> {
    let [calibrator, store, device, monitors, result, table] = given;
    let are_ours = calibrator == size_of::<calib_calibrator_t>()
        && store == size_of::<calib_store_t>()
        && device == size_of::<calib_device_t>()
        && monitors == size_of::<calib_monitors_t>()
        && result == size_of::<calib_result_t>()
        && table == size_of::<calib_table_t>();
    if version == CALIB_VERSION && are_ours { Ok(()) } else { Err(CALIB_ERROR_VERSION) }
}
