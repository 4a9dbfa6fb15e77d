//! Files that cannot be read or written, and artefacts that are none or not the right one.

use crate::npy::f32s;
use crate::refusal::{AGAIN, ANOTHER, good, refused, text};
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
        let missing = format!("error: cannot read {file}: No such file or directory (os error 2)\n");
        refused(&[], &line.replace("FILE", file), 3, &missing);
        let folder = "error: cannot read .: Is a directory (os error 21)\n";
        refused(&[], &line.replace("FILE", "."), 3, folder);
    }
}

#[cfg(unix)]
#[test]
fn outputs_that_cannot_be_written() {
    for (line, there) in [
        ("calib fit --method isotonic --scores cal.csv", ["top.bin", "cal.bin"]),
        ("calib apply cal.bin --scores cal.csv", ["labels.npy", "probs.npy"]),
        ("calib apply top.bin --logits logits.npy", ["labels.npy", "probs.npy"]),
    ] {
        let refuse = |output: &str, stderr: &str| refused(&[], &format!("{line} -o {output}"), 4, stderr);
        for file in there {
            refuse(file, &format!("error: {file} exists already\n  hint: add --force to replace it\n"));
        }
        let no_folder = "error: cannot write no/file: No such file or directory (os error 2)\n  \
                         hint: create the folder of no/file first\n";
        refuse("no/file", no_folder);
        refuse("no/file --force", no_folder);
        refuse("cal.csv/file", "error: cannot write cal.csv/file: Not a directory (os error 20)\n");
        let folder =
            "error: cannot write .: it is not a regular file\n  hint: give the name of a file with -o\n";
        refuse(".", folder);
        refuse(". --force", folder);
    }
}

#[test]
fn artefacts_that_are_none() {
    let place = good();
    let cal = place.bytes("cal.bin");
    let check = |bytes: &[u8], stderr: &str| {
        for line in ["calib inspect bad.bin", "calib apply bad.bin --scores cal.csv -o out"] {
            refused(&[("bad.bin", bytes.to_vec())], line, 3, stderr);
        }
    };
    let altered = |at: usize, change: fn(u8) -> u8| {
        let mut bytes = cal.clone();
        bytes[at] = change(bytes[at]);
        bytes
    };
    for blank in [&[][..], &[0xFF; 4096], &[0; 4096]] {
        check(blank, &format!("error: bad.bin: there is no artefact: the file is empty or blank\n{ANOTHER}"));
    }
    let magic = format!("error: bad.bin: not a calib artefact: it does not start with \"CALB\"\n{ANOTHER}");
    check(&place.bytes("cal.csv"), &magic);
    for (kept, of) in [(3, 32), (20, 32), (100, cal.len()), (cal.len() - 1, cal.len())] {
        let cut = format!("error: bad.bin: the artefact is cut off: {kept} of {of} bytes are there\n{AGAIN}");
        check(&cal[..kept], &cut);
    }
    let longer =
        format!("error: bad.bin: there are bytes after the artefact's end at offset {}\n{AGAIN}", cal.len());
    check(&[&cal[..], b"\0"].concat(), &longer);
    check(
        &altered(4, |b| b + 1),
        "error: bad.bin: the artefact has format 2, this version of calib reads format 1\n  \
         hint: install a newer version of calib\n",
    );
    // One bit of the CRC, and one of the content: what was computed differs from artefact to artefact.
    for at in [12, cal.len() - 3] {
        let bad = altered(at, |b| b ^ 1);
        let stored = u32::from_le_bytes(bad[12..16].try_into().unwrap());
        let stderr = format!(
            "error: bad.bin: the artefact is damaged: its CRC-32C is {:08x}, {stored:08x} was written\n{AGAIN}",
            crc32c(&bad)
        );
        check(&bad, &stderr);
    }
    // A forged content with a right CRC.
    let mut forged = altered(cal.len() - 3, |b| b ^ 1);
    let crc = crc32c(&forged);
    forged[12..16].copy_from_slice(&crc.to_le_bytes());
    let stderr = format!(
        "error: bad.bin: the identity is not the hash of the content: the artefact was altered\n{AGAIN}"
    );
    check(&forged, &stderr);
}

/// The CRC-32C of an artefact, without its own four bytes.
fn crc32c(artifact: &[u8]) -> u32 {
    let bytes = artifact[..12].iter().chain(&artifact[16..]);
    !bytes.fold(!0, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ if crc & 1 == 1 { 0x82F6_3B78 } else { 0 })
    })
}

#[test]
fn a_huge_file_is_no_artefact_and_is_not_read() {
    let place = good();
    let file = std::fs::File::create(place.path().join("huge.bin")).unwrap();
    file.set_len((64 << 20) + 1).unwrap();
    for line in ["calib inspect huge.bin", "calib apply huge.bin --scores cal.csv -o out"] {
        let run = place.run(line);
        assert_eq!((run.code, run.stdout.as_str()), (3, ""));
        assert_eq!(
            run.stderr,
            format!("error: huge.bin: 67108865 bytes are more than any artefact has (67108864)\n{AGAIN}")
        );
    }
    assert!(!place.path().join("out").exists());
}

#[test]
fn artefacts_and_scores_that_do_not_belong_together() {
    let binary = "cal.bin: takes binary scores: use --scores";
    let top_label = "top.bin: takes vectors of 3 classes: use --logits or --probs";
    for (form, artefact, scores) in [
        ("cal.bin --logits logits.npy", binary, "vectors of 3 classes"),
        ("cal.bin --probs probs.npy", binary, "vectors of 3 classes"),
        ("top.bin --scores cal.csv", top_label, "binary scores"),
        ("top.bin --scores scores.npy", top_label, "binary scores"),
        ("top.bin --logits two.npy", top_label, "vectors of 2 classes"),
        ("top.bin --probs two.npy", top_label, "vectors of 2 classes"),
    ] {
        let two = f32s(&[2, 2], [0.5; 4]).bytes();
        let stderr = format!(
            "error: the artefact does not fit the scores\n  artefact  {artefact}\n  scores    {scores}\n"
        );
        refused(&[("two.npy", two)], &format!("calib apply {form} -o out"), 1, &stderr);
    }
}

#[test]
fn apply_adds_no_column_twice() {
    for column in ["prob", "bin", "epsilon", "flags", " prob "] {
        let csv = format!("score,{column}\n0.5,1\n");
        let stderr = format!(
            "error: bad.csv, column {}: the column to be added is there already\n  \
             hint: bad.csv looks like an earlier output; apply to the original file\n",
            column.trim()
        );
        let line = "calib apply cal.bin --scores bad.csv -o out";
        refused(&[("bad.csv", text(&csv))], line, 3, &stderr);
    }
}

/// The limit on a file's size makes a write fail half-way, as a full disk does.
#[cfg(unix)]
#[test]
fn a_write_that_fails_leaves_nothing_behind() {
    let rows: String = (0..2000).map(|row| format!("{},{}\n", f64::from(row) / 2000.0, row % 2)).collect();
    let logits = f32s(&[2000, 3], (0..6000).map(|i| (i % 7) as f32)).bytes();
    for line in [
        "fit --method umd --bins 500 --scores many.csv",
        "apply cal.bin --scores many.csv",
        "apply top.bin --logits many.npy",
    ] {
        for (output, force) in [("out", ""), ("there", "--force")] {
            let place = good()
                .with("many.csv", format!("score,label\n{rows}"))
                .with("many.npy", &logits)
                .with("there", "old");
            let before = place.everything();
            let calib = place.command(&format!("{line} -o {output} {force}"));
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", "ulimit -f 1; trap '' XFSZ; exec \"$0\" \"$@\""]).current_dir(place.path());
            let run: Run = shell.arg(calib.get_program()).args(calib.get_args()).output().unwrap().into();
            assert_eq!(run.stderr, format!("error: cannot write {output}: File too large (os error 27)\n"));
            assert_eq!((run.code, run.stdout.as_str()), (4, ""));
            assert!(place.everything() == before, "{line}: files were made or changed");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_told() {
    let place = good();
    for line in ["inspect cal.bin", "inspect cal.bin --json", "assess --probs cal.csv --prob-column score"] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let run: Run = place.command(line).stdout(full).output().unwrap().into();
        let expected = "error: cannot write to standard output: No space left on device (os error 28)\n";
        assert_eq!((run.code, run.stderr.as_str()), (4, expected));
    }
}

#[cfg(not(feature = "arrow"))]
#[test]
fn formats_that_are_not_built_in() {
    let hint = "  hint: convert it to CSV, or install calib with its default features\n";
    for (content, what) in [
        (&b"PAR1"[..], "a Parquet file"),
        (b"ARROW1\0\0", "an Arrow file"),
        (b"\xff\xff\xff\xff", "an Arrow stream"),
    ] {
        let problem = format!("this is {what}, and this calib was built without the feature that reads it");
        csv_refused(content, &format!("error: bad.csv: {problem}\n{hint}"));
    }
}
