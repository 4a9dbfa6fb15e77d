//! What a device counted, after restarts, power cuts, other calibrators and damage.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use calib_core::wire::{ReplyBody, RequestBody, Scores, Values};
use calib_host::io::device::serial::RetryPolicy;
use calib_tests::{Board, TtyDevice};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;

use super::counters::{monitored, monitored_with, predict, run, setting, setting_on};
use super::setting::{firmware, json, owner, signed, virt, words};

/// How many of so many predictions since a start the boards have saved: after 1, 2 more, 4 more and so on, and then 64 more each.
fn saved_of(predictions: u64) -> u64 {
    let mut steps = (0..6).map(|power| 1 << power).chain(std::iter::repeat(64));
    let mut saved = 0;
    while let Some(step) = steps.next().filter(|step| saved + step <= predictions) {
        saved += step;
    }
    saved
}

/// A logit in the middle of each bin: nothing is like a shift.
const EVEN: [f32; 4] = [-2.0, -0.5, 0.5, 2.0];

/// So many predictions, as many in each bin.
fn even(count: usize) -> Vec<f32> {
    EVEN.into_iter().cycle().take(count).collect()
}

/// What the monitors of the only table say.
fn table(folder: &Path, device: &TtyDevice) -> Value {
    json(&run(folder, &["status", "--json"], device))["monitors"][0].clone()
}

fn total(folder: &Path, device: &TtyDevice) -> u64 {
    sum(&table(folder, device))
}

fn sum(table: &Value) -> u64 {
    table["predictions"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).sum()
}

fn push(folder: &Path, device: &TtyDevice) {
    json(&run(folder, &["push", "cal.bin", "--json"], device));
}

/// Begins the program anew: where flash is a file by a power cut, elsewhere by a reset, which memory outlives.
pub(super) fn restart(board: Board, device: &mut TtyDevice) {
    if board == Board::Virt {
        device.switch_off();
        device.switch_on().unwrap();
    } else {
        device.reset().unwrap();
    }
    device.slots().unwrap();
}

fn counters_outlive_restarts(board: Board, elf: &Path) {
    let (folder, mut device) = setting_on(board, elf, &monitored());
    let folder = folder.path();
    push(folder, &device);
    // The emulated nRF51's flash is zeros at first, as no chip's is.
    assert_eq!(table(folder, &device)["saved_were_lost"], board == Board::Microbit);
    if board == Board::Microbit {
        json(&run(folder, &["label", "--reset", "--json"], &device));
    }
    // The same calibrator once more is no other.
    predict(&device, &even(3));
    push(folder, &device);
    predict(&device, &even(97));
    let before = table(folder, &device);
    assert_eq!((sum(&before), before["not_yet_saved"].as_u64()), (63, Some(37)));
    let shown = String::from_utf8(run(folder, &["status"], &device).stdout).unwrap();
    let tail = "the last 37, which are not in these numbers";
    assert!(shown.contains(tail) && shown.contains("counters    "), "{shown}");

    restart(board, &mut device);
    let kept = table(folder, &device);
    assert_eq!((sum(&kept), kept["not_yet_saved"].as_u64()), (63, Some(0)));
    assert_eq!((&kept["survive_restart"], &kept["saved_were_lost"]), (&true.into(), &false.into()));
    // More starts than there are sectors, each with a tail that is lost.
    for start in 1..=3 {
        predict(&device, &even(30));
        assert_eq!(total(folder, &device), 63 + 15 * start);
        restart(board, &mut device);
        assert_eq!(total(folder, &device), 63 + 15 * start);
    }
    predict(&device, &[2.0; 127]);
    let raised = table(folder, &device)["shift"]["raised_at"].clone();
    assert!(raised.is_u64(), "{raised}");
    restart(board, &mut device);
    let alarmed = table(folder, &device);
    assert_eq!((&alarmed["shift"]["standing"], &alarmed["shift"]["raised_at"]), (&"alert".into(), &raised));
}

#[test]
fn counters_in_flash_outlive_power_cuts() {
    counters_outlive_restarts(Board::Virt, virt());
}

#[test]
fn counters_in_memory_outlive_a_reset() {
    counters_outlive_restarts(Board::Mps2An386, &firmware(Board::Mps2An386));
}

/// Through the driver of Nordic's flash controller, of which a sector is four pages.
#[test]
fn counters_in_the_flash_of_a_microbit_outlive_a_reset() {
    counters_outlive_restarts(Board::Microbit, super::setting::microbit());
}

#[test]
fn outcomes_are_kept_and_counters_of_a_device_with_a_key_too() {
    let (folder, mut device) = setting(virt(), &monitored());
    push(folder.path(), &device);
    predict(&device, &even(60));
    fs::write(folder.path().join("outcomes.csv"), "class,bin,label\n1,3,1\n1,3,0\n1,0,0\n1,3,1\n").unwrap();
    json(&run(folder.path(), &["label", "outcomes.csv", "--json"], &device));
    restart(Board::Virt, &mut device);
    let table = table(folder.path(), &device);
    assert_eq!(table["labeled"], serde_json::json!([1, 0, 0, 3]));
    assert_eq!((&table["positives"], sum(&table)), (&serde_json::json!([0, 0, 0, 2]), 60));

    let artifact = monitored();
    let (folder, mut device) = setting(&signed(Board::Virt), &artifact);
    fs::write(folder.path().join("cal.bin"), owner().sign(&artifact).unwrap()).unwrap();
    push(folder.path(), &device);
    predict(&device, &even(63));
    for args in [&["label", "--reset"][..], &["label", "outcomes.csv"]] {
        fs::write(folder.path().join("outcomes.csv"), "class,bin,label\n1,3,0\n").unwrap();
        let refused = run(folder.path(), args, &device);
        assert!(words(&refused).contains("switched off"), "{}", words(&refused));
    }
    restart(Board::Virt, &mut device);
    assert_eq!(total(folder.path(), &device), 63);
}

/// Neither with a restart nor without, neither while it is in force nor when the first is back.
#[test]
fn another_calibrator_begins_at_zero() {
    let (folder, mut device) = setting(virt(), &monitored());
    let folder = folder.path();
    let second = monitored_with(3);
    push(folder, &device);
    predict(&device, &even(70));
    let of_first = device.counters().unwrap();
    fs::rename(folder.join("cal.bin"), folder.join("first.bin")).unwrap();
    fs::write(folder.join("cal.bin"), second.as_bytes()).unwrap();
    push(folder, &device);
    assert_eq!(total(folder, &device), 0);
    restart(Board::Virt, &mut device);
    assert_eq!(total(folder, &device), 0);

    // Even if somebody puts back what lay there.
    device.set_counters(&of_first).unwrap();
    device.switch_on().unwrap();
    device.slots().unwrap();
    let found = table(folder, &device);
    assert_eq!((sum(&found), found["predictions"].as_array().unwrap().len()), (0, 3));
    predict(&device, &even(64));
    fs::rename(folder.join("first.bin"), folder.join("cal.bin")).unwrap();
    push(folder, &device);
    assert_eq!(total(folder, &device), 0);
    restart(Board::Virt, &mut device);
    assert_eq!(total(folder, &device), 0);
}

#[test]
fn damaged_counters_begin_at_zero_and_a_damaged_save_with_the_one_before() {
    let (folder, mut device) = setting(virt(), &monitored());
    let folder = folder.path();
    push(folder, &device);
    predict(&device, &even(130));
    let whole = device.counters().unwrap();
    // The beginning, which is saved twice, and seven saves, behind which the sector is blank.
    let end = whole.chunks(32).position(|unit| unit.iter().all(|&byte| byte == 0xFF)).unwrap() * 32;
    let record = end / 9;
    let mut torn = whole.clone();
    torn[end - record + 40] ^= 4;
    device.set_counters(&torn).unwrap();
    device.switch_on().unwrap();
    device.slots().unwrap();
    let found = table(folder, &device);
    assert_eq!((sum(&found), &found["saved_were_lost"]), (63, &false.into()));

    let mut damaged = whole.clone();
    damaged[..end].chunks_mut(record).for_each(|record| record[40] ^= 4);
    for bytes in [damaged, vec![0x5A; whole.len()], vec![0; whole.len()]] {
        device.set_counters(&bytes).unwrap();
        device.switch_on().unwrap();
        device.slots().unwrap();
        let found = table(folder, &device);
        assert_eq!((sum(&found), &found["saved_were_lost"]), (0, &true.into()));
        let shown = String::from_utf8(run(folder, &["status"], &device).stdout).unwrap();
        assert!(shown.contains("saved counts could not be read"), "{shown}");
        predict(&device, &even(63));
        restart(Board::Virt, &mut device);
        let found = table(folder, &device);
        assert_eq!((sum(&found), &found["saved_were_lost"]), (63, &true.into()));
        json(&run(folder, &["label", "--reset", "--json"], &device));
        restart(Board::Virt, &mut device);
        assert_eq!(table(folder, &device)["saved_were_lost"], false);
    }
}

/// Of what was answered before the power failed at most the tail is lost, and nothing is there that was not asked.
#[test]
fn killed_in_the_middle_of_counting_it_goes_on_from_a_save() {
    let (folder, mut device) = setting(virt(), &monitored());
    let folder = folder.path();
    push(folder, &device);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(21);
    let mut before = 0;
    for _ in 0..6 {
        let mut link = device.link(RetryPolicy { reply: Duration::from_secs(3), tries: 1 }).unwrap();
        let process = device.process().unwrap();
        let moment = Duration::from_millis(random.random_range(50..1500));
        let (sent, answered) = thread::scope(|scope| {
            let asking = scope.spawn(move || {
                for (sent, logit) in EVEN.into_iter().cycle().take(3000).enumerate() {
                    let features: Values = [logit, 0.0].into_iter().collect();
                    match link.ask(&RequestBody::predict(Scores::Features(features))) {
                        Ok(ReplyBody::Answer(_)) => {}
                        _ => return (sent as u64 + 1, sent as u64),
                    }
                }
                (3000, 3000)
            });
            thread::sleep(moment);
            process.kill().unwrap();
            process.wait().unwrap();
            asking.join().unwrap()
        });
        device.switch_on().unwrap();
        device.slots().unwrap();
        let after = total(folder, &device);
        let saved = saved_of(answered);
        assert!((before + saved..=before + sent).contains(&after), "{before} {answered} {sent} {after}");
        before = after;
    }
}
