//! The range of the calibration scores, pinned byte by byte; the listing was not made by this crate's writer.

use calib_core::artifact::{ArtifactWriter, Header, Reduction, SectionKind, Table, TableFault, TableForm};
use calib_core::table::{
    CodeTable, InterpolatedTable, RandomizedTable, Scaling, ScalingFunction, VennAbersTable,
};
use calib_core::{
    Artifact, BinFlags, Calibrator, Outcome, ParseError, QuantizedScore, Score, ScoreEncoding, StepTable,
    TopLabel,
};

use crate::forge::{MAX_WORDS, aligned, identity, seal};
use crate::golden::{BINARY, binary_header, hex};

/// The binary artifact with the range of its scores.
const WITH_RANGE: &str = concat!(
    prefix!("03", "b0 00", "bf 0a b7 c1", "1d a7 89 65  2e 3e 35 d8"), // 176 bytes
    umd!(),
    "
    11 00  00 00  08 00 00 00   # score ranges: kind, optional, 8 bytes
    00 00 00 3e  00 00 60 3f    # 0.125 to 0.875
"
);

fn steps() -> Table<'static> {
    let form = TableForm::Steps(StepTable::new(&[0.25, 0.75], &[0.0625, 0.5, 0.9375]).unwrap());
    Table { form, epsilon: Some(0.125) }
}

/// An artifact of these tables with ranges.
fn write(header: &Header<'_>, tables: &[Option<Table<'_>>], ranges: &[Option<[u32; 2]>]) -> Vec<u8> {
    let mut buf = vec![0xEE; 4 * MAX_WORDS];
    let mut writer = ArtifactWriter::new(&mut buf);
    writer.header(header).unwrap();
    writer.tables(tables).unwrap();
    writer.score_ranges(ranges).unwrap();
    writer.finish(identity).unwrap().to_vec()
}

/// The range as floats have it.
fn range(lowest: f32, highest: f32) -> Option<[u32; 2]> {
    Some([lowest.to_bits(), highest.to_bits()])
}

#[test]
fn a_range_is_written_and_read_as_pinned() {
    let golden = hex(WITH_RANGE);
    assert_eq!(write(&binary_header(), &[Some(steps())], &[range(0.125, 0.875)]), golden);
    let bytes = aligned(&golden);
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    assert_eq!(artifact.tables().score_range(0), range(0.125, 0.875));
    let plain = aligned(&hex(BINARY));
    let plain = Artifact::parse(plain.as_bytes()).unwrap();
    assert_eq!((plain.tables().score_range(0), plain.tables().get(0)), (None, artifact.tables().get(0)));

    let (Calibrator::Binary(ranged), Calibrator::Binary(plain)) = (artifact.calibrator(), plain.calibrator())
    else {
        panic!("not binary")
    };
    for (score, is_outside) in [
        (0.0, true),
        (0.125f32.next_down(), true),
        (0.125, false),
        (0.5, false),
        (0.875, false),
        (0.875f32.next_up(), true),
        (1.0, true),
    ] {
        let score = Score::new(score).unwrap();
        let (Outcome::Calibrated(mut got), Outcome::Calibrated(expected)) =
            (ranged.calibrate(score), plain.calibrate(score))
        else {
            panic!("{score:?} is uncalibrated")
        };
        assert_eq!(got.flags.contains(BinFlags::OUT_OF_RANGE), is_outside, "{score:?}");
        got.flags = BinFlags::NONE;
        assert_eq!(got, expected);
    }
}

/// Every form of table over floats is asked alike.
#[test]
fn every_form_marks_scores_out_of_range() {
    use calib_core::artifact::{HeaderFlags, Method};
    let x = [0.25, 0.5, 0.75];
    let forms = [
        (Method::Umd, 3, steps().form),
        (
            Method::UmdRandomized,
            2,
            TableForm::Randomized(RandomizedTable::new(&[0.5], &[7], &[0.25, 0.75]).unwrap()),
        ),
        (
            Method::IsotonicInterpolated,
            4,
            TableForm::Interpolated(InterpolatedTable::new(&x, &x, &[1.0, 1.0]).unwrap()),
        ),
        (
            Method::Platt,
            0,
            TableForm::Scaling(ScalingFunction::new(Scaling::PlattProb { a: 1.0, b: 0.0 }).unwrap()),
        ),
        (
            Method::VennAbers,
            2,
            TableForm::VennAbers(VennAbersTable::new(&[0.5], &[0.25, 0.5], &[0.5, 0.75]).unwrap()),
        ),
    ];
    for (method, bins, form) in forms {
        let header = Header { method, bins, guarantee: None, flags: HeaderFlags::NONE, ..binary_header() };
        let bytes = write(&header, &[Some(Table { form, epsilon: None })], &[range(0.25, 0.5)]);
        let bytes = aligned(&bytes);
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        let Calibrator::Binary(calibrator) = artifact.calibrator() else { panic!("not binary") };
        for (score, flags) in
            [(0.125, BinFlags::OUT_OF_RANGE), (0.25, BinFlags::NONE), (0.75, BinFlags::OUT_OF_RANGE)]
        {
            let outcome = calibrator.calibrate_with(Score::new(score).unwrap(), 1);
            let Outcome::Calibrated(calibrated) = outcome else { panic!("{method}: uncalibrated") };
            assert_eq!(calibrated.flags, flags, "{method} {score}");
        }
    }
}

#[test]
fn codes_and_classes_have_ranges_of_their_own() {
    let encoding = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };
    let form = TableForm::Codes(CodeTable::new(&[128], &[0.25, 0.75], encoding).unwrap());
    let header = Header { encoding, bins: 2, ..binary_header() };
    let bytes = aligned(&write(&header, &[Some(Table { form, epsilon: Some(0.125) })], &[Some([28, 228])]));
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    let Calibrator::BinaryCode(calibrator) = artifact.calibrator() else { panic!("not over codes") };
    for (code, is_outside) in
        [(-128, true), (-101, true), (-100, false), (0, false), (100, false), (101, true)]
    {
        let outcome = calibrator.calibrate(QuantizedScore::new(encoding, code).unwrap()).unwrap();
        let flags = outcome.calibrated().unwrap().flags;
        assert_eq!(flags.contains(BinFlags::OUT_OF_RANGE), is_outside, "{code}");
    }

    let flags = calib_core::artifact::HeaderFlags::CLASS_UNCALIBRATED;
    let header = Header { reduction: Reduction::TopLabel, classes: 3, bins: 6, flags, ..binary_header() };
    let tables = [Some(steps()), None, Some(steps())];
    let bytes = aligned(&write(&header, &tables, &[range(0.0, 0.5), None, range(0.5, 1.0)]));
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    assert_eq!(artifact.tables().score_range(1), None);
    let Calibrator::TopLabel(calibrator) = artifact.calibrator() else { panic!("not top-label") };
    for (class, score, flags) in [
        (0, 0.4, BinFlags::NONE),
        (0, 0.6, BinFlags::OUT_OF_RANGE),
        (2, 0.4, BinFlags::OUT_OF_RANGE),
        (2, 0.6, BinFlags::NONE),
    ] {
        let outcome = calibrator.calibrate(TopLabel { class, score: Score::new(score).unwrap() });
        assert_eq!(outcome.calibrated().unwrap().flags, flags, "{class} {score}");
    }
}

#[test]
fn ranges_that_contradict_the_tables_are_refused() {
    let refused = |ranges: &[Option<[u32; 2]>]| {
        let bytes = write(&binary_header(), &[Some(steps())], ranges);
        Artifact::parse(aligned(&bytes).as_bytes()).map(|_| ())
    };
    let fault = |table| Err(ParseError::Table { table, fault: TableFault::Ranges });
    for ranges in [
        vec![],
        vec![range(0.0, 1.0); 2],
        vec![range(0.5, 0.25)],
        vec![range(0.0, 1.0f32.next_up())],
        vec![range(0.0, f32::NAN)],
    ] {
        assert_eq!(refused(&ranges), fault(0), "{ranges:?}");
    }
    assert_eq!(refused(&[range(0.0, 1.0)]), Ok(()));
    assert_eq!(refused(&[range(0.5, 0.5)]), Ok(()));
    let flags = calib_core::artifact::HeaderFlags::CLASS_UNCALIBRATED;
    let header = Header { reduction: Reduction::TopLabel, classes: 3, bins: 6, flags, ..binary_header() };
    let tables = [Some(steps()), None, Some(steps())];
    let bytes = write(&header, &tables, &[range(0.0, 1.0); 3]);
    assert_eq!(Artifact::parse(aligned(&bytes).as_bytes()).map(|_| ()), fault(1));
    // A calibrator of whole vectors has no tables.
    let mut with = hex(crate::joint::DIRICHLET);
    with[6] += 1;
    with.extend([SectionKind::ScoreRanges as u8, 0, 0, 0, 8, 0, 0, 0]);
    with.extend([0; 8]);
    seal(&mut with);
    let unexpected = Err(ParseError::UnexpectedSection(SectionKind::ScoreRanges));
    assert_eq!(Artifact::parse(aligned(&with).as_bytes()).map(|_| ()), unexpected);
}
