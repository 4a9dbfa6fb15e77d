//! Files that cannot be read or written, and artifacts that are none or not the right one.

use crate::data::scored;
use crate::npy::f32s;
use crate::refusal::{good, text};
use crate::transcript::{add, note, refused};
use crate::workplace::Run;

#[cfg(unix)]
#[test]
fn files_that_cannot_be_read() {
    for (line, file) in [
        ("calib fit --method isotonic --scores FILE -o out", "no.csv"),
        ("calib fit --method isotonic --scores cal.csv --labels FILE -o out", "no.csv"),
        ("calib fit --method umd --bins 2 --scores FILE --labels labels.npy -o out", "no.npy"),
        ("calib apply FILE --scores cal.csv -o out", "no.bin"),
        ("calib apply cal.bin --scores FILE -o out", "no.csv"),
        ("calib apply top.bin --logits FILE -o out", "no.npy"),
        ("calib assess --probs FILE", "no.csv"),
        ("calib inspect FILE", "no.bin"),
    ] {
        refused(&[], &line.replace("FILE", file));
        refused(&[], &line.replace("FILE", "."));
    }
    said!();
}

#[cfg(unix)]
#[test]
fn outputs_that_cannot_be_written() {
    for (line, there) in [
        ("calib fit --method isotonic --scores cal.csv", ["top.bin", "cal.bin"]),
        ("calib apply cal.bin --scores cal.csv", ["labels.npy", "probs.npy"]),
        ("calib apply top.bin --logits logits.npy", ["labels.npy", "probs.npy"]),
    ] {
        for output in
            there.into_iter().chain(["no/file", "no/file --force", "cal.csv/file", ".", ". --force"])
        {
            refused(&[], &format!("{line} -o {output}"));
        }
    }
    said!();
}

#[test]
fn artifacts_that_are_none() {
    let place = good();
    let cal = place.bytes("cal.bin");
    let check = |what: &str, bytes: &[u8]| {
        note(&format!("bad.bin: {what}"));
        for line in ["calib inspect bad.bin", "calib apply bad.bin --scores cal.csv -o out"] {
            refused(&[("bad.bin", bytes.to_vec())], line);
        }
    };
    let altered = |at: usize, change: fn(u8) -> u8| {
        let mut bytes = cal.clone();
        bytes[at] = change(bytes[at]);
        bytes
    };
    check("empty", &[]);
    check("blank", &[0xFF; 4096]);
    check("blank", &[0; 4096]);
    check("a table", &place.bytes("cal.csv"));
    for kept in [3, 20, 100, cal.len() - 1] {
        check("cut off", &cal[..kept]);
    }
    check("longer", &[&cal[..], b"\0"].concat());
    check("of the next format", &altered(4, |b| b + 1));
    // A forged content with a right CRC.
    let mut forged = altered(cal.len() - 3, |b| b ^ 1);
    let crc = crc32c(&forged);
    forged[12..16].copy_from_slice(&crc.to_le_bytes());
    check("forged", &forged);
    said!();
    // One bit of the CRC, and one of the content: what was computed differs from artifact to artifact.
    for at in [12, cal.len() - 3] {
        let bad = altered(at, |b| b ^ 1);
        let stored = u32::from_le_bytes(bad[12..16].try_into().unwrap());
        let computed = format!("its CRC-32C is {:08x}, {stored:08x} was written\n", crc32c(&bad));
        refused(&[("bad.bin", bad)], "calib apply bad.bin --scores cal.csv -o out");
        insta::assert_snapshot!(crate::transcript::said().replace(&computed, "CRC\n"));
    }
}

/// The CRC-32C of an artifact, without its own four bytes.
fn crc32c(artifact: &[u8]) -> u32 {
    let bytes = artifact[..12].iter().chain(&artifact[16..]);
    !bytes.fold(!0, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ if crc & 1 == 1 { 0x82F6_3B78 } else { 0 })
    })
}

#[test]
fn a_huge_file_is_no_artifact_and_is_not_read() {
    let place = good();
    let file = std::fs::File::create(place.path().join("huge.bin")).unwrap();
    file.set_len((64 << 20) + 1).unwrap();
    for line in ["calib inspect huge.bin", "calib apply huge.bin --scores cal.csv -o out"] {
        place.says(line);
    }
    assert!(!place.path().join("out").exists());
    said!();
}

#[test]
fn artifacts_and_scores_that_do_not_belong_together() {
    for form in [
        "cal.bin --logits logits.npy",
        "cal.bin --probs probs.npy",
        "top.bin --scores cal.csv",
        "top.bin --scores scores.npy",
        "top.bin --logits two.npy",
        "top.bin --probs two.npy",
    ] {
        let two = f32s(&[2, 2], [0.5; 4]).bytes();
        refused(&[("two.npy", two)], &format!("calib apply {form} -o out"));
    }
    said!();
}

#[test]
fn apply_adds_no_column_twice() {
    for column in ["prob", "bin", "epsilon", "flags", " prob "] {
        let csv = format!("score,{column}\n0.5,1\n");
        refused(&[("bad.csv", text(&csv))], "calib apply cal.bin --scores bad.csv -o out");
    }
    said!();
}

/// The limit on a file's size makes a write fail half-way, as a full disk does.
#[cfg(unix)]
#[test]
fn a_write_that_fails_leaves_nothing_behind() {
    let logits = f32s(&[2000, 3], (0..6000).map(|i| (i % 7) as f32)).bytes();
    for line in [
        "fit --method umd --bins 500 --scores many.csv",
        "apply cal.bin --scores many.csv",
        "apply top.bin --logits many.npy",
    ] {
        for (output, force) in [("out", ""), ("there", "--force")] {
            let place = good()
                .with("many.csv", scored(2000, |row| (f64::from(row) / 2000.0, row % 2 == 1)))
                .with("many.npy", &logits)
                .with("there", "old");
            let before = place.everything();
            let calib = place.command(&format!("{line} -o {output} {force}"));
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", "ulimit -f 1; trap '' XFSZ; exec \"$0\" \"$@\""]).current_dir(place.path());
            let run: Run = shell.arg(calib.get_program()).args(calib.get_args()).output().unwrap().into();
            add(&format!("calib {line} -o {output} {force}"), &run);
            assert!(place.everything() == before, "{line}: files were made or changed");
        }
    }
    said!();
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_told() {
    let place = good();
    for line in ["inspect cal.bin", "inspect cal.bin --json", "assess --probs cal.csv --prob-column score"] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let run: Run = place.command(line).stdout(full).output().unwrap().into();
        add(&format!("calib {line} > /dev/full"), &run);
    }
    said!();
}

#[cfg(not(feature = "arrow"))]
#[test]
fn formats_that_are_not_built_in() {
    for content in [&b"PAR1"[..], b"ARROW1\0\0", b"\xff\xff\xff\xff"] {
        bad_csv(content);
    }
    said!();
}
