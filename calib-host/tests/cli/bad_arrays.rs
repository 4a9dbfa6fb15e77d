//! NumPy arrays that are wrong.

use calib_host::io::input::BinaryFiles;

use crate::npy::{f32s, f64s, labels};
use crate::refusal::{
    DATA, DTYPE, GAP, INTEGERS, NUMPY, OBJECTS, ONE_OF_TWO, ROW, SHAPE, TO_LOGITS, TO_LOGITS_OR_FRACTIONS,
    good, npy_refused, refused,
};
use crate::workplace::Workplace;

#[test]
fn arrays_of_another_type_or_shape() {
    let integers = labels("<i4", &[0; 40]);
    let floats = f64s(&[40], [0.5; 40]);
    let any = "float16, float32 or float64 scores, or integer labels";
    let floating = "float16, float32 or float64";
    for (kind, array, dtype, expected) in [
        ("scores", integers.clone(), "<i4", floating),
        ("scores", labels("|b1", &[1; 40]), "|b1", floating),
        ("labels", floats.clone(), "<f8", "integers or booleans"),
        ("logits", labels("|u1", &[0; 80]).shape(&[40, 2]), "|u1", floating),
        ("scores", floats.clone().descr("<c8"), "<c8", any),
        ("scores", floats.clone().descr("<U2"), "<U2", floating),
        ("scores", floats.clone().descr("|S8"), "|S8", floating),
        ("scores", floats.clone().descr("<M8[s]"), "<M8[s]", any),
        ("scores", floats.clone().descr("|O"), "|O", any),
        ("scores", f64s(&[40], [0.5; 40]).descr("<f16").shape(&[20]), "<f16", any),
        ("labels", integers.clone().descr("|O"), "|O", any),
    ] {
        let hint = match dtype {
            "<i4" | "|u1" if expected == floating => INTEGERS,
            "|O" => OBJECTS,
            _ => DTYPE,
        };
        let stderr = format!("error: bad.npy: the dtype is {dtype}, expected {expected}\n{hint}");
        npy_refused(kind, array.bytes(), &stderr);
    }
    for (kind, array, shape, expected) in [
        ("scores", f64s(&[20, 2], [0.5, 0.25].repeat(20)), "(20, 2)", "(rows,)"),
        ("scores", floats.clone().shape(&[1, 40]), "(1, 40)", "(rows,)"),
        ("scores", f64s(&[], [0.5]), "()", "(rows,)"),
        ("labels", integers.shape(&[20, 2]), "(20, 2)", "(rows,)"),
        ("logits", floats.clone(), "(40,)", "(rows, classes)"),
        ("probs", floats.clone().shape(&[10, 2, 2]), "(10, 2, 2)", "(rows, classes)"),
    ] {
        let hint = if shape == "(20, 2)" { ONE_OF_TWO } else { SHAPE };
        let stderr = format!("error: bad.npy: the shape is {shape}, expected {expected}\n{hint}");
        npy_refused(kind, array.bytes(), &stderr);
    }
    npy_refused(
        "logits",
        floats.shape(&[40, 1]).bytes(),
        "error: bad.npy: the number of classes is 1, a classifier has 2 to 65535\n  \
         hint: for the scores of class 1 of a binary classifier use --scores\n",
    );
    let no_rows = format!("error: bad.npy: there are no rows\n{DATA}");
    npy_refused("logits", f64s(&[0, 3], []).bytes(), &no_rows);
    npy_refused("scores", f64s(&[0], []).bytes(), &no_rows);
}

#[test]
fn arrays_that_are_broken() {
    let good = f64s(&[40], [0.5; 40]);
    let bytes = good.bytes();
    let again = "  hint: save or copy the file again\n";
    npy_refused("scores", "", &format!("error: bad.npy: the file is empty\n{DATA}"));
    for len in [447, 440, 128] {
        let stderr = format!("error: bad.npy: the file is cut off: {len} of 448 bytes are there\n{again}");
        npy_refused("scores", &bytes[..len], &stderr);
    }
    let longer = format!("error: bad.npy: the file has 449 bytes where its header promises 448\n{again}");
    npy_refused("scores", [&bytes[..], b"\0"].concat(), &longer);
    let endless =
        format!("error: bad.npy: the file is cut off: 128 of 8796093022336 bytes are there\n{again}");
    npy_refused("scores", f64s(&[1 << 40], []).bytes(), &endless);
    let endless = format!("error: bad.npy: the shape is (4611686018427387904,), expected less data\n{SHAPE}");
    npy_refused("scores", f64s(&[1 << 62], []).bytes(), &endless);

    let not_npy = |content: &[u8], why: &str| {
        for kind in ["scores", "labels", "logits"] {
            npy_refused(kind, content, &format!("error: bad.npy: not a NumPy array: {why}\n{NUMPY}"));
        }
    };
    not_npy(b"score,label\n0.1,0\n", "it does not start like one");
    not_npy(&bytes[..60], "its header is cut off");
    not_npy(&bytes[..9], "its header is cut off");
    not_npy(&[b"\x93NUMPY\x09\x00", &bytes[8..]].concat(), "unsupported version: (9, 0)");
    not_npy(&good.clone().descr("<x8").bytes(), "invalid type string: Invalid type-string");
    not_npy(&f64s(&[1 << 40, 1 << 40], []).bytes(), "no memory holds an array of its shape");
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
            if let Err(error) = files.read(&|_| ()) {
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
    let with = |at: usize, row: [f32; 3]| {
        let rows = (0..40).flat_map(move |i| if i == at { row } else { [0.25, 0.25, 0.5] });
        f32s(&[40, 3], rows).bytes()
    };
    for (kind, at, row, problem, hint) in [
        ("logits", 7, [1.0, f32::NAN, 0.0], "row 7, column 1: the value is NaN", GAP),
        ("logits", 39, [1.0, 0.0, f32::NEG_INFINITY], "row 39, column 2: the value is infinite", ROW),
        ("probs", 0, [f32::NAN, 0.0, 0.0], "row 0, column 0: the value is NaN", GAP),
        (
            "probs",
            5,
            [0.5, 3.0, -1.0],
            "row 5, column 1: the probability 3 is outside [0, 1]",
            TO_LOGITS_OR_FRACTIONS,
        ),
        ("probs", 5, [0.5, 0.5, -1.0], "row 5, column 2: the probability -1 is outside [0, 1]", TO_LOGITS),
        ("probs", 5, [0.25, 0.25, 0.25], "row 5: the probabilities sum to 0.75, not to 1", TO_LOGITS),
    ] {
        npy_refused(kind, with(at, row), &format!("error: bad.npy, {problem}\n{hint}"));
        let line = format!("calib apply top.bin --{kind} bad.npy -o out");
        refused(&[("bad.npy", with(at, row))], &line, 3, &format!("error: bad.npy, {problem}\n{hint}"));
    }
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
        let run = place.run("calib fit --method umd --bins 2 --scores s.npy --labels y.npy -o out.bin");
        assert!(run.code == 3 && run.stderr.contains("its header nests too deeply"), "{run:?}");
    };
    for header in [8, 60].map(header) {
        refused(&header, 1, &(header.len() as u16).to_le_bytes());
        refused(&header, 2, &(header.len() as u32).to_le_bytes());
    }
}
