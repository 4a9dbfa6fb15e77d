//! A part of all floats, and all codes.

use calib_campaigns::exhaustive::{CHUNK, Counts, cases, check, margin_cases, near_edges};
use calib_core::table::{CodeTable, CompactTable, DirectTable};
use calib_core::{FixedCodeTable, QuantizedScore, Score, ScoreEncoding};
use rayon::prelude::*;

#[test]
fn every_256th_pattern_and_all_near_an_edge() {
    let cases = cases();
    let chunks = (0..(1u64 << 32) / CHUNK).into_par_iter();
    let counts = chunks.map(|chunk| check(&cases, chunk * CHUNK, 256)).reduce(Counts::default, Counts::and);
    assert_eq!(counts.faults, [""; 0]);
    assert_eq!(counts.patterns, 1 << 24);
    // Of 0 to 1 the first of every 256, and -0.0.
    assert_eq!(counts.scores, 0x3F80_0000 / 256 + 1 + 1);
    assert_eq!(counts.lookups, counts.scores * cases.len() as u64);
    let near = near_edges(&cases, 300);
    assert_eq!(near.faults, [""; 0]);
    assert!(near.scores > 100_000, "{}", near.scores);
}

#[test]
fn every_4096th_margin_and_all_near_an_edge() {
    let cases = margin_cases();
    let chunks = (0..(1u64 << 32) / CHUNK).into_par_iter();
    let counts = chunks.map(|chunk| check(&cases, chunk * CHUNK, 4096)).reduce(Counts::default, Counts::and);
    assert_eq!(counts.faults, [""; 0]);
    // All exponents but the last, with either sign.
    assert_eq!(counts.scores, 2 * (0x7F80_0000 / 4096));
    assert_eq!(counts.lookups, counts.scores * cases.len() as u64);
    let near = near_edges(&cases, 300);
    assert_eq!(near.faults, [""; 0]);
    assert!(near.scores > 30_000, "{}", near.scores);
}

#[test]
fn a_wrong_table_of_margins_is_found() {
    for edge in [3, 29] {
        let mut cases = margin_cases();
        cases[0].edges[edge] += 1;
        assert_eq!(near_edges(&cases, 2).faults.len(), 1);
    }
}

#[test]
fn a_wrong_table_is_found() {
    let mut cases = cases();
    cases[0].edges[7] += 1;
    assert_eq!(near_edges(&cases, 2).faults.len(), 1);
    let pattern = u64::from(cases[0].edges[7]);
    assert_eq!(check(&cases, pattern / CHUNK * CHUNK, 1).faults.len(), 1);
}

#[test]
fn a_rounded_key_is_the_nearest() {
    for bits in (0..=0x3F80_0000).step_by(61) {
        let score = Score::new(f32::from_bits(bits)).unwrap();
        let exact = f64::from(score.get()) * 65_535.0;
        // An f32 near 65 535 has a step of 2^-8, and half of it is lost twice.
        let distance = (f64::from(score.rounded_key()) - exact).abs();
        assert!(distance <= 0.5 + 2.0 / 512.0, "{bits:#010x}: {distance}");
    }
}

/// How many edges are at or below a key.
fn scan<T: PartialOrd>(edges: &[T], key: T) -> usize {
    edges.iter().filter(|&edge| *edge <= key).count()
}

/// All codes of an encoding with their keys.
fn codes(encoding: ScoreEncoding, lowest: i32, count: i32) -> impl Iterator<Item = (QuantizedScore, u16)> {
    (0..count).map(move |key| {
        let score = QuantizedScore::new(encoding, lowest + key).unwrap();
        assert_eq!(i32::from(score.key()), key);
        assert_eq!(QuantizedScore::from_key(encoding, key as u16), Ok(score));
        (score, key as u16)
    })
}

#[test]
fn every_code_of_8_and_16_bits() {
    let (scale, zero_point) = (1.0 / 256.0, 0);
    let encodings = [
        (ScoreEncoding::U8 { scale, zero_point }, 0, 256),
        (ScoreEncoding::I8 { scale, zero_point: -128 }, -128, 256),
        (ScoreEncoding::U16 { scale: 1.0 / 65_536.0, zero_point }, 0, 65_536),
        (ScoreEncoding::I16 { scale: 1.0 / 4096.0, zero_point }, -32_768, 65_536),
    ];
    for (encoding, lowest, count) in encodings {
        for bins in [1, 2, 15, 64, 200] {
            let edges: Vec<u32> = (1..bins as u32).map(|i| i * (count as u32 / 200)).collect();
            let values: Vec<f32> = (0..bins).map(|i| i as f32 / 256.0).collect();
            let table = CodeTable::new(&edges, &values, encoding).unwrap();
            let halves: Vec<u16> = edges.iter().map(|&edge| edge as u16).collect();
            let ones: Vec<u16> = (0..bins).map(|i| i as u16 * 128).collect();
            let compact = CompactTable::new(&halves, &ones, encoding).unwrap();
            for (score, key) in codes(encoding, lowest, count) {
                let bin = scan(&edges, key.into());
                assert_eq!(table.lookup(score), (bin as u16, values[bin]), "{encoding:?}, {key}");
                assert_eq!(compact.lookup(score), (bin as u16, values[bin]), "{encoding:?}, {key}");
            }
        }
    }
}

#[test]
fn every_score_of_the_tables_in_flash() {
    let edges: Vec<u16> = (1..60).map(|i| i * 1000 + i % 3).collect();
    let values: Vec<u16> = (0..60).map(|i| i * 1001).collect();
    let table = FixedCodeTable::<64>::new(&edges, &values).unwrap();
    let ends = FixedCodeTable::<4>::new(&[1, 2, u16::MAX], &[1, 2, 3, 4]).unwrap();
    let single = FixedCodeTable::<1>::new(&[], &[9]).unwrap();
    for score in 0..=u16::MAX {
        let bin = scan(&edges, score);
        assert_eq!(table.lookup(score), (bin as u16, values[bin]));
        let bin = scan(&[1, 2, u16::MAX], score);
        assert_eq!(ends.lookup(score), (bin as u16, bin as u16 + 1));
        assert_eq!(single.lookup(score), (0, 9));
    }
    for edges in [&[][..], &[1], &[255], &[1, 2, 3, 100, 254, 255]] {
        let values: Vec<f32> = (0..=edges.len()).map(|i| i as f32 / 8.0).collect();
        let table = DirectTable::new(edges, &values).unwrap();
        for score in 0..=u8::MAX {
            let bin = scan(edges, score);
            assert_eq!(table.lookup(score), (bin as u16, values[bin]));
        }
    }
}
