//! Artifacts whose content was changed by somebody who mended the CRC and the identity: each is refused or read, and no command panics.

use calib_host::StoredArtifact;
use calib_host::artifact::identity;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::{UMD_FIT, binary, csv};
use crate::workplace::Workplace;

/// Gives changed sections their identity and their CRC, as a writer does.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let name = identity(&bytes[32..]).0;
    bytes[16..24].copy_from_slice(&name);
    let content = [&bytes[..12], &bytes[16..]].concat();
    let crc = calib_core::artifact::crc32c(&content);
    bytes[12..16].copy_from_slice(&crc.to_le_bytes());
    bytes
}

/// Changes a bit, a byte, or a word or two to a number that something may stumble over.
fn changed(bytes: &[u8], random: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    const WORDS: [u32; 12] = [
        0,
        1,
        2,
        255,
        256,
        65_535,
        0x7fff_ffff,
        u32::MAX,
        0x3f80_0000,
        0x7f80_0000,
        0x7fc0_0000,
        0x8000_0000,
    ];
    let mut bytes = bytes.to_vec();
    for _ in 0..random.random_range(1..3) {
        let at = random.random_range(32..bytes.len());
        match random.random_range(0..4) {
            0 => bytes[at] ^= 1 << random.random_range(0..8),
            1 => bytes[at] = random.random(),
            2 => bytes[at] = bytes[at].wrapping_add(if random.random() { 1 } else { 255 }),
            _ => {
                let word = WORDS[random.random_range(0..WORDS.len())].to_le_bytes();
                let start = (at / 4 * 4).min(bytes.len() - 4);
                bytes[start..start + 4].copy_from_slice(&word);
            }
        }
    }
    sealed(bytes)
}

fn place() -> Workplace {
    let place =
        Workplace::new().with("cal.csv", csv(&binary(400))).with("test.csv", csv(&binary(401)[..200]));
    place.ok(UMD_FIT);
    for (name, how) in [
        ("monitored", "--method umd --bins 5 --monitor"),
        ("isotonic", "--method isotonic"),
        ("venn", "--method venn-abers"),
        ("platt", "--method platt"),
        ("codes", "--method umd --bins 5 --score-encoding u8,1/256,0"),
    ] {
        let scores = if name == "codes" { "codes.csv" } else { "cal.csv" };
        if name == "codes" {
            let rows = binary(400)
                .iter()
                .map(|(score, label)| format!("{},{label}\n", (score * 255.0) as u8))
                .collect::<String>();
            std::fs::write(place.path().join(scores), format!("score,label\n{rows}")).unwrap();
        }
        place.ok(&format!("calib fit {scores} {how} -o {name}.bin"));
    }
    place.ok("calib threshold --scores cal.csv --sensitivity 0.8 -o threshold.bin");
    place
}

/// How many changes of each artifact are tried; more with `CALIB_FORGED`, for a campaign.
fn tries() -> usize {
    std::env::var("CALIB_FORGED").ok().map_or(60, |tries| tries.parse().unwrap())
}

#[test]
fn no_change_of_an_artifact_makes_a_command_panic() {
    let place = place();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let (mut read, mut all) = (0, 0);
    for name in ["cal", "monitored", "isotonic", "venn", "platt", "codes", "threshold"] {
        let good = place.bytes(&format!("{name}.bin"));
        assert_eq!(sealed(good.clone()), good, "{name}");
        let rows = if name == "codes" { "codes.csv" } else { "test.csv" };
        for _ in 0..tries() {
            let forged = changed(&good, &mut random);
            all += 1;
            // What does not parse is refused by every command alike.
            if StoredArtifact::from_bytes(&forged).is_err() {
                continue;
            }
            read += 1;
            std::fs::write(place.path().join("forged.bin"), &forged).unwrap();
            for line in [
                "calib inspect forged.bin".to_owned(),
                "calib inspect forged.bin --json".to_owned(),
                "calib adjust forged.bin --prevalence 0.1 --counter 4 -o out.bin --force".to_owned(),
                format!("calib apply forged.bin {rows} -o out.csv --force"),
                format!("calib assess forged.bin {rows} --same-rows"),
                "calib export forged.bin -o out.h --force".to_owned(),
                "calib export forged.bin -o out.rs --force".to_owned(),
            ] {
                let run = place.run(&line);
                let is_calm = (0..=5).contains(&run.code) && !run.stderr.contains("panicked");
                if !is_calm {
                    std::fs::write(std::env::temp_dir().join("calib-forged.bin"), &forged).unwrap();
                }
                assert!(is_calm, "{name}: {line}: {run:?}");
            }
        }
    }
    assert!(read > 0 && read < all, "{read} of {all}");
    println!("{read} of {all} were read");
}

/// More positives than points, and other numbers of points that no writer writes.
#[test]
fn numbers_of_points_that_contradict_each_other_are_refused() {
    let place = place();
    let refused = |name: &str, kind: u16, at: usize, word: u32| {
        let mut bytes = place.bytes(&format!("{name}.bin"));
        let stored = StoredArtifact::from_bytes(&bytes).unwrap();
        let mut start = 32;
        for (found, _, payload) in stored.sections() {
            if found == kind {
                break;
            }
            start += (8 + payload.len()).next_multiple_of(4);
        }
        bytes[start + 8 + at..start + 12 + at].copy_from_slice(&word.to_le_bytes());
        std::fs::write(place.path().join("forged.bin"), sealed(bytes)).unwrap();
        for line in ["calib inspect forged.bin", "calib adjust forged.bin --prevalence 0.1 -o out.bin"] {
            let run = place.run(line);
            let said = "error: forged.bin: its numbers of calibration observations contradict each other\n";
            assert!(run.code == 3 && run.stderr.starts_with(said), "{name} {kind} {at}: {run:?}");
        }
    };
    // The sample: shares that are none, bins without points, points that are not there, positives.
    for (at, word) in
        [(16, 2.0f32.to_bits()), (20, (-0.5f32).to_bits()), (24, 401), (28, 401), (32, 401), (36, 1)]
    {
        refused("cal", 66, at, word);
    }
    refused("isotonic", 66, 28, 0);
    // The points on both sides of a threshold: its key, the positives, those above.
    refused("threshold", 33, 4 + 4, 401);
    // The gaps of the first bin of the monitors: three alarms, a flag, a count and the offsets of one table.
    refused("monitored", 36, 16 + 4 + 8, 500);
}
