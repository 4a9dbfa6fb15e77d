//! NumPy arrays that are wrong.

use crate::npy::{f32s, f64s, labels};
use crate::refusal::good;
use crate::transcript::{bad_npy, refused};
use crate::workplace::Workplace;
use calib_host::io::input::BinaryFiles;

#[test]
fn arrays_of_another_type_or_shape() {
    let integers = labels("<i4", &[0; 40]);
    let floats = f64s(&[40], [0.5; 40]);
    for (kind, array) in [
        ("scores", integers.clone()),
        ("scores", labels("|b1", &[1; 40])),
        ("labels", floats.clone()),
        ("logits", labels("|u1", &[0; 80]).shape(&[40, 2])),
        ("scores", floats.clone().descr("<c8")),
        ("scores", floats.clone().descr("<U2")),
        ("scores", floats.clone().descr("|S8")),
        ("scores", floats.clone().descr("<M8[s]")),
        ("scores", floats.clone().descr("|O")),
        ("scores", f64s(&[40], [0.5; 40]).descr("<f16").shape(&[20])),
        ("labels", integers.clone().descr("|O")),
        ("scores", f64s(&[20, 2], [0.5, 0.25].repeat(20))),
        ("scores", floats.clone().shape(&[1, 40])),
        ("scores", f64s(&[], [0.5])),
        ("labels", integers.shape(&[20, 2])),
        ("logits", floats.clone()),
        ("probs", floats.clone().shape(&[10, 2, 2])),
        ("logits", floats.shape(&[40, 1])),
        ("logits", f64s(&[0, 3], [])),
        ("scores", f64s(&[0], [])),
    ] {
        bad_npy(kind, array.bytes());
    }
    said!();
}

#[test]
fn arrays_that_are_broken() {
    let good = f64s(&[40], [0.5; 40]);
    let bytes = good.bytes();
    for kept in [0, 447, 440, 128] {
        bad_npy("scores", &bytes[..kept]);
    }
    bad_npy("scores", [&bytes[..], b"\0"].concat());
    for endless in [1 << 40, 1 << 62] {
        bad_npy("scores", f64s(&[endless], []).bytes());
    }
    for content in [
        b"score,label\n0.1,0\n",
        &bytes[..60],
        &bytes[..9],
        &[b"\x93NUMPY\x09\x00", &bytes[8..]].concat(),
        &good.clone().descr("<x8").bytes(),
        &f64s(&[1 << 40, 1 << 40], []).bytes(),
    ] {
        ["scores", "labels", "logits"].into_iter().for_each(|kind| bad_npy(kind, content));
    }
    said!();
}

/// Whatever byte of a header is wrong, the answer is a sentence or, rarely, still an array; never a crash.
#[test]
fn no_damage_to_a_header_is_a_crash() {
    let place = good();
    let array = f64s(&[40], (0..40).map(|row| f64::from(row) / 40.0)).bytes();
    for at in 0..array.len().min(128) {
        for bit in [0, 3, 6] {
            let mut bad = array.clone();
            bad[at] ^= 1 << bit;
            let path = place.path().join("bad.npy");
            std::fs::write(&path, bad).unwrap();
            let labels = place.path().join("labels.npy");
            let files = BinaryFiles {
                scores: &path,
                labels: Some(&labels),
                score_column: "score",
                label_column: "label",
            };
            if let Err(error) = files.read(&std::sync::Arc::default(), &|_| ()) {
                assert!(error.to_string().contains("bad.npy"), "byte {at}, bit {bit}: {error}");
            }
            // A process takes a hundred times as long as its reading.
            if at % 3 != bit / 3 {
                continue;
            }
            let run = place
                .run("calib fit --method umd --bins 2 --scores bad.npy --labels labels.npy -o out --force");
            let is_sentence = run.stderr.starts_with("error: bad.npy") && run.code == 3;
            assert!(is_sentence || run.code == 0, "byte {at}, bit {bit}: {}", run.stderr);
        }
    }
}

#[test]
fn matrices_that_are_no_logits_or_probabilities() {
    for (kind, at, row) in [
        ("logits", 7, [1.0, f32::NAN, 0.0]),
        ("logits", 39, [1.0, 0.0, f32::NEG_INFINITY]),
        ("probs", 0, [f32::NAN, 0.0, 0.0]),
        ("probs", 5, [0.5, 3.0, -1.0]),
        ("probs", 5, [0.5, 0.5, -1.0]),
        ("probs", 5, [0.25, 0.25, 0.25]),
    ] {
        let rows = (0..40).flat_map(|i| if i == at { row } else { [0.25, 0.25, 0.5] });
        let array = f32s(&[40, 3], rows).bytes();
        bad_npy(kind, &array);
        refused(&[("bad.npy", array)], &format!("calib apply top.bin --{kind} bad.npy -o out"));
    }
    said!();
}

/// Reading it took twice as long, or longer, for every bracket. Eight are read at once, and refused all the same.
#[test]
fn brackets_that_nest_too_deeply_are_refused_at_once() {
    let header = |brackets: usize| {
        let brackets = "[".repeat(brackets);
        format!("{{'descr': '<f4', 'fortran_order': {brackets}False, 'shape': (3,), }}\n")
    };
    let refused = |header: &str, version: u8, length: &[u8]| {
        let bytes = [b"\x93NUMPY".as_slice(), &[version, 0], length, header.as_bytes(), &[0; 12]].concat();
        let place = Workplace::new().with("s.npy", bytes).with("y.npy", labels("<i8", &[0, 1, 1]).bytes());
        place.says("calib fit --method umd --bins 2 --scores s.npy --labels y.npy -o out.bin");
    };
    for header in [8, 60].map(header) {
        refused(&header, 1, &(header.len() as u16).to_le_bytes());
        refused(&header, 2, &(header.len() as u32).to_le_bytes());
    }
    said!();
}
