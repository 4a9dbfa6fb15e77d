//! What can be said of the nRF52840-DK's program without the board.

use std::fs;

use calib_host::io::device::probe::{report_addr, slot_map};
use calib_tests::symbol_addr_of;
use object::{Object, ObjectSegment};

use super::setting::nrf52840_dk;

const CHIP: &str = "nRF52840_xxAA";
const FLASH_END: u64 = 0x10_0000;
const RAM: std::ops::Range<u64> = 0x2000_0000..0x2004_0000;

#[test]
fn the_program_leaves_the_slots_and_the_report_where_the_command_looks_for_them() {
    let elf = nrf52840_dk();
    let symbol = |name| symbol_addr_of(&elf, name).unwrap();
    let map = slot_map(CHIP).unwrap();
    let slots = symbol("__calib_slot_start")..symbol("__calib_slot_end");
    assert_eq!(slots, map.addr..map.addr + 2 * u64::from(map.len_bytes));
    assert_eq!(slots.end, FLASH_END);
    // Two pages.
    let counters = symbol("__calib_counters_start")..symbol("__calib_counters_end");
    assert_eq!((counters.end, counters.end - counters.start), (slots.start, 8192));
    let report = symbol("__calib_report_start")..symbol("__calib_report_end");
    assert_eq!(Some(report.start), report_addr(CHIP));
    assert_eq!(report.end - report.start, calib_core::wire::REPORT_LEN as u64);

    let bytes = fs::read(&elf).unwrap();
    let program = object::File::parse(&*bytes).unwrap();
    for segment in program.segments().filter(|segment| segment.size() > 0) {
        let (start, end) = (segment.address(), segment.address() + segment.size());
        assert!(end <= counters.start || (report.end <= start && end <= RAM.end), "{start:#x}..{end:#x}");
    }
    // The core takes its stack and its first instruction from the start of flash.
    let first = program.segments().find(|segment| segment.address() == 0).unwrap();
    let word = |at: usize| u64::from(u32::from_le_bytes(*first.data().unwrap()[at..].first_chunk().unwrap()));
    assert_eq!(word(0), RAM.end);
    assert!(word(4) % 2 == 1 && word(4) < counters.start, "{:#x}", word(4));
}

#[test]
fn its_log_can_be_decoded() {
    let elf = nrf52840_dk();
    calib_host::io::device::serial::LogTable::read(&elf).unwrap();
    assert!(RAM.contains(&symbol_addr_of(&elf, "_SEGGER_RTT").unwrap()));
}
