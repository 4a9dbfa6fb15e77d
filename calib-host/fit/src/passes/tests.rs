//! Both passes against all rows.

use proptest::prelude::*;

use super::*;
use crate::artifact::{ArtifactOptions, MonitorBins, Monitoring, artifact_bytes};
use crate::binary::{
    BinaryMethod, Boundary, BoundaryPoints, FixedRange, FixedWidth, Isotonic, Loss, ScalingBinning,
    ScalingMethod, Umd, Ums,
};
use crate::data::{BinaryData, RowsDigest};
use crate::fit::{Fit, fit_binary};
use crate::points::group;
use crate::stats::ScoreKind;

pub(super) type Row = (f64, bool);

fn data(kind: ScoreKind, rows: &[Row]) -> BinaryData {
    let (scores, labels) = rows.iter().copied().unzip();
    let data = match kind {
        ScoreKind::Probability => BinaryData::new(scores, labels),
        ScoreKind::Margin => BinaryData::of_margins(scores, labels),
    };
    data.unwrap()
}

fn counts(rows: &[Row]) -> Vec<(f64, u64, u64)> {
    let groups = group(rows.iter().map(|&(score, label)| (score, 1, label.into())).collect());
    groups.into_iter().map(|group| (group.score, group.n, group.positives)).collect()
}

/// The first pass, as a database would count it.
pub(super) fn first_pass(buckets: Buckets, rows: &[Row]) -> FirstPass {
    let counts = counts(rows);
    let bucket = |counts: &[(f64, u64, u64)]| Bucket {
        number: buckets.of(counts[0].0),
        n: counts.iter().map(|row| row.1).sum(),
        positives: counts.iter().map(|row| row.2).sum(),
        lowest: counts[0].0,
        highest: counts[counts.len() - 1].0,
        ties: Some(BucketTies {
            tied: counts.iter().map(|row| row.1).filter(|&n| n > 1).sum(),
            heaviest: counts.iter().map(|row| row.1).max().unwrap(),
        }),
    };
    let rows = counts.chunk_by(|a, b| buckets.of(a.0) == buckets.of(b.0)).map(bucket);
    FirstPass::new(buckets, rows.collect()).unwrap()
}

/// The second pass: the scores in these buckets.
pub(super) fn second_pass(buckets: Buckets, open: &[f64], rows: &[Row]) -> Vec<(f64, u64, u64)> {
    let mut counts = counts(rows);
    counts.retain(|row| open.contains(&buckets.of(row.0)));
    counts
}

/// The artifact without what names the data.
pub(super) fn bytes(fit: &Fit, monitors: Option<Monitoring>) -> Vec<u8> {
    let options =
        ArtifactOptions { rows: Some(RowsDigest::default()), monitors, ..ArtifactOptions::default() };
    artifact_bytes(fit, &options).unwrap()
}

pub(super) fn methods(bins: usize, kind: ScoreKind) -> Vec<BinaryMethod> {
    let umd = Umd::new(bins);
    vec![
        BinaryMethod::Umd(umd),
        BinaryMethod::Umd(Umd { boundary: Boundary::Floor, ..umd }),
        BinaryMethod::Umd(Umd { boundary_points: BoundaryPoints::Kept, ..umd }),
        match kind {
            ScoreKind::Probability => BinaryMethod::FixedWidth(FixedWidth { bins }),
            ScoreKind::Margin => BinaryMethod::FixedRange(FixedRange { bins, lowest: -3.0, highest: 70.0 }),
        },
        BinaryMethod::Isotonic(Isotonic::default()),
        BinaryMethod::Isotonic(Isotonic { max_bins: Some(bins), smoothing: 0.0 }),
        BinaryMethod::Isotonic(Isotonic { max_bins: None, smoothing: 0.5 }),
        BinaryMethod::IsotonicInterpolated(Isotonic::default()),
    ]
}

/// Scores on a grid of quarters of few buckets, most of them in two of these: they tie, also at the ends of buckets.
pub(super) fn rows(kind: ScoreKind) -> impl Strategy<Value = Vec<Row>> {
    let place = prop_oneof![4 => 0u32..8, 2 => 40u32..44, 1 => 0u32..64, 1 => Just(262_140u32), 1 => Just(262_144u32)];
    proptest::collection::vec((place, any::<bool>()), 16..200).prop_map(move |rows| {
        let score = |place: u32| match kind {
            ScoreKind::Probability => f64::from(place) / 262_144.0,
            // Four to the bucket of one unit, from below 0 on.
            ScoreKind::Margin => f64::from(place.min(300)) / 4.0 - 1.5,
        };
        rows.into_iter().map(|(place, label)| (score(place), label)).collect()
    })
}

pub(super) fn buckets_of(kind: ScoreKind) -> Buckets {
    match kind {
        ScoreKind::Probability => Buckets::Probabilities,
        ScoreKind::Margin => Buckets::margins(1.0).unwrap(),
    }
}

pub(super) fn kinds() -> impl Strategy<Value = ScoreKind> {
    prop_oneof![Just(ScoreKind::Probability), Just(ScoreKind::Margin)]
}

proptest! {
    /// Of skewed data with ties at every edge, both passes give the artifact of all rows byte for byte.
    #[test]
    fn both_passes_give_the_artifact_of_all_rows(
        (kind, rows) in kinds().prop_flat_map(|kind| (Just(kind), rows(kind))), bins in 1usize..9,
    ) {
        let all = data(kind, &rows);
        let first = first_pass(buckets_of(kind), &rows);
        prop_assert_eq!((first.len(), first.score_summary()), (rows.len() as u64, all.score_summary().unwrap()));
        for method in methods(bins, kind) {
            let open = first.open_buckets(&[method]).unwrap();
            let counted = second_pass(first.buckets(), &open, &rows);
            let points = first.points(&open, counted).unwrap();
            let (Ok(expected), Ok(fit)) = (fit_binary(&all, &method, 0.1), fit_binary(&points, &method, 0.1)) else {
                prop_assert_eq!(fit_binary(&points, &method, 0.1), fit_binary(&all, &method, 0.1));
                continue;
            };
            prop_assert_eq!(&fit, &expected);
            let (fit, expected) = (
                fit.with_score_summaries([Some(first.score_summary())]),
                expected.with_score_summaries([Some(all.score_summary().unwrap())]),
            );
            prop_assert_eq!(bytes(&fit, None), bytes(&expected, None), "{:?}", method);
        }
    }

    /// The buckets that are read suffice: whatever the labels of the rows in the others, as long as their number is that of the first
    /// pass, the fit of all rows is the same.
    #[test]
    fn what_is_not_read_may_be_in_any_order(
        (kind, rows) in kinds().prop_flat_map(|kind| (Just(kind), rows(kind))), bins in 1usize..9,
        keys in proptest::collection::vec(any::<u64>(), 200),
    ) {
        let buckets = buckets_of(kind);
        let first = first_pass(buckets, &rows);
        for method in methods(bins, kind) {
            let open = first.open_buckets(&[method]).unwrap();
            // The labels of each bucket that is not read, dealt out again to its rows except for their number.
            let mut dealt = rows.clone();
            let mut order: Vec<usize> = (0..rows.len()).collect();
            order.sort_by_key(|&row| keys[row]);
            for bucket in first.rows.iter().filter(|bucket| !open.contains(&bucket.number)) {
                // The labels of one score are what the first pass tells.
                if bucket.lowest == bucket.highest {
                    continue;
                }
                let of_bucket = order.iter().filter(|&&row| buckets.of(rows[row].0) == bucket.number);
                of_bucket.enumerate().for_each(|(at, &row)| dealt[row].1 = (at as u64) < bucket.positives);
            }
            prop_assert_eq!(&first_pass(buckets, &dealt).rows, &first.rows);
            prop_assert_eq!(
                fit_binary(&data(kind, &dealt), &method, 0.1), fit_binary(&data(kind, &rows), &method, 0.1), "{:?}", method
            );
        }
    }

    /// Monitors with separate bins have them from both passes, too.
    #[test]
    fn monitors_have_the_bins_of_all_rows(
        words in proptest::collection::btree_set(0u32..4000, 40..120), bins in 2usize..9, own in 2usize..9,
    ) {
        let rows: Vec<Row> = words.iter().map(|&word| (f64::from(word) / 1_048_576.0, word % 3 == 0)).collect();
        let all = data(ScoreKind::Probability, &rows);
        let first = first_pass(Buckets::Probabilities, &rows);
        let method = BinaryMethod::Isotonic(Isotonic { max_bins: Some(bins), smoothing: 0.0 });
        let open = first.open_buckets(&[method, BinaryMethod::Umd(Umd::new(own))]).unwrap();
        let points = first.points(&open, second_pass(first.buckets(), &open, &rows)).unwrap();
        let written = |data: &BinaryData| {
            let monitors = Monitoring { bins: Some(MonitorBins::of(data, own).unwrap()), ..Monitoring::default() };
            bytes(&fit_binary(data, &method, 0.1).unwrap(), Some(monitors))
        };
        if rows.iter().any(|row| row.1) && rows.iter().any(|row| !row.1) {
            prop_assert_eq!(written(&points), written(&all));
        }
    }
}

/// Every order of the labels within a bucket, and not only some: of three buckets the middle one is settled.
#[test]
fn no_order_within_a_settled_bucket_changes_the_minorant() {
    let at = |bucket: u32, place: u32| f64::from(16 * bucket + place) / 1_048_576.0;
    let outer = |labels: [bool; 8], bucket: u32| {
        labels.into_iter().enumerate().map(move |(place, label)| (at(bucket, place as u32), label))
    };
    let method = BinaryMethod::Isotonic(Isotonic::default());
    let mut settled = 0;
    for mask in 0u32..1 << 6 {
        let mut rows: Vec<Row> = outer([true, false, true, true, false, true, true, false], 3).collect();
        rows.extend((0..6).map(|place| (at(7, place), mask >> place & 1 == 1)));
        rows.extend(outer([false, false, true, false, false, false, true, false], 9));
        let first = first_pass(Buckets::Probabilities, &rows);
        if first.open_buckets(&[method]).unwrap().contains(&7.0) {
            continue;
        }
        settled += 1;
        let expected = fit_binary(&data(ScoreKind::Probability, &rows), &method, 0.1).unwrap();
        for other in (0u32..1 << 6).filter(|other| other.count_ones() == mask.count_ones()) {
            let mut rows = rows.clone();
            (0..6).for_each(|place| rows[8 + place].1 = other >> place & 1 == 1);
            assert_eq!(fit_binary(&data(ScoreKind::Probability, &rows), &method, 0.1).unwrap(), expected);
        }
    }
    assert!(settled > 20, "{settled}");
}

/// 2^20 rows of a calibrated score: the second pass of `umd` finds the rows of nine buckets, that of isotonic regression a part.
#[test]
fn the_second_pass_is_small() {
    let noise =
        |i: u32, salt: u32| f64::from((i ^ salt).wrapping_mul(2_654_435_769) >> 4) / f64::from(1 << 28);
    let rows: Vec<Row> = (0..1u32 << 20)
        .map(|i| {
            let score = f64::from(noise(i, 0) as f32);
            (score, noise(i.wrapping_mul(7919), 12_345) < score)
        })
        .collect();
    let first = first_pass(Buckets::Probabilities, &rows);
    let read = |method| first.rows_in(&first.open_buckets(&[method]).unwrap());
    assert!(read(BinaryMethod::Umd(Umd::new(10))) < 9 * 64);
    let isotonic = read(BinaryMethod::Isotonic(Isotonic::default()));
    assert!(isotonic > 0 && isotonic < first.len() / 2, "{isotonic}");
}

#[test]
fn what_is_no_function_of_counts_is_refused_with_the_reason() {
    let rows: Vec<Row> = (0..100).map(|i| (f64::from(i) / 128.0, i % 3 == 0)).collect();
    let first = first_pass(Buckets::Probabilities, &rows);
    let refused = |method: BinaryMethod| first.open_buckets(&[method]).unwrap_err().to_string();
    let (scaling, loss) = (ScalingMethod::PlattLogit, Loss::Log);
    let binning =
        |split_seed| BinaryMethod::ScalingBinning(ScalingBinning { scaling, loss, bins: 4, split_seed });
    for method in [
        BinaryMethod::Ums(Ums { bins: 4, seed: 0 }),
        BinaryMethod::UmdRandomized(Umd::new(4), 0),
        binning(Some(1)),
    ] {
        assert!(refused(method).ends_with("draws rows at random, and counts have no rows"), "{method:?}");
    }
    for method in [BinaryMethod::Scaling(scaling), BinaryMethod::VennAbers, binning(None)] {
        assert!(refused(method).contains("depends on every single score"), "{method:?}");
    }
    assert!(
        refused(BinaryMethod::Umd(Umd::new(51)))
            .contains("100 calibration observations are too few for 51 bins")
    );
}

#[test]
fn passes_of_different_rows_are_refused() {
    let rows: Vec<Row> = (0..100).map(|i| (f64::from(i) / 1_048_576.0, i % 3 == 0)).collect();
    let first = first_pass(Buckets::Probabilities, &rows);
    let open = first.open_buckets(&[BinaryMethod::Umd(Umd::new(2))]).unwrap();
    assert_eq!(open, [3.0]);
    let counted = second_pass(first.buckets(), &open, &rows);
    assert!(first.points(&open, counted.clone()).is_ok());
    let refused = |counted: Vec<(f64, u64, u64)>| first.points(&open, counted).unwrap_err().to_string();
    assert_eq!(refused(Vec::new()), "the second pass lacks the scores of bucket 3, and of 0 more");
    let changed = |change: fn(&mut Vec<(f64, u64, u64)>)| {
        let mut counted = counted.clone();
        change(&mut counted);
        refused(counted)
    };
    let other = "the passes did not read the same rows";
    assert!(changed(|rows| rows[1].1 += 1).ends_with(other));
    assert!(changed(|rows| rows[1].2 = 1 - rows[1].2).ends_with(other));
    assert!(changed(|rows| rows.truncate(15)).ends_with(other));
    assert!(changed(|rows| rows.push((0.5, 1, 0))).contains("the second pass has the score 0.5"));
    assert!(changed(|rows| rows[0].2 = 2).contains("2 positives of 1 rows"));
    assert!(changed(|rows| rows[0].1 = 1 << 60).contains("2^53"));
}

#[test]
fn a_first_pass_that_no_rows_have_is_refused() {
    let good = Bucket {
        number: 3.0,
        n: 4,
        positives: 1,
        lowest: 50.0 / 1_048_576.0,
        highest: 53.0 / 1_048_576.0,
        ties: None,
    };
    let refused = |rows: Vec<Bucket>| FirstPass::new(Buckets::Probabilities, rows).unwrap_err().to_string();
    assert!(FirstPass::new(Buckets::Probabilities, vec![good]).is_ok());
    assert_eq!(refused(Vec::new()), "the first pass counted no rows");
    assert_eq!(
        refused(vec![good, good]),
        "bucket 3 occurs twice: the first pass has one row for each bucket"
    );
    let ties = |tied, heaviest| Some(BucketTies { tied, heaviest });
    for (bad, said) in [
        (Bucket { positives: 5, ..good }, "more positives than rows"),
        (Bucket { lowest: 0.1, ..good }, "no 32-bit floats"),
        (Bucket { highest: f64::INFINITY, ..good }, "no 32-bit floats"),
        (Bucket { number: 2.0, ..good }, "not of this bucket"),
        (Bucket { lowest: good.highest, highest: good.lowest, ..good }, "not of this bucket"),
        (Bucket { number: -65_536.0, lowest: -1.0, highest: -1.0, ..good }, "outside [0, 1]"),
        (Bucket { n: 1, ..good }, "a single row has two scores"),
        (Bucket { ties: ties(5, 2), ..good }, "cannot repeat"),
        (Bucket { ties: ties(0, 2), ..good }, "cannot repeat"),
        (Bucket { ties: ties(4, 4), ..good }, "cannot repeat"),
        (Bucket { ties: ties(2, 0), ..good }, "cannot repeat"),
    ] {
        assert!(refused(vec![bad]).contains(said), "{said}: {}", refused(vec![bad]));
    }
    let huge = Bucket { n: 1 << 60, ..good };
    assert!(refused(vec![huge]).contains("2^53"));
}
