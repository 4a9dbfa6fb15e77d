//! Both passes by group against all rows.

use proptest::prelude::*;

use super::tests::{Row, buckets_of, bytes, first_pass, kinds, methods, rows, second_pass};
use super::*;
use crate::binary::{BinaryMethod, Umd, Ums};
use crate::fit::Fit;
use crate::reduction::{Problems, ReductionOptions, fit_reduction};
use crate::stats::ScoreKind;

/// A group and a score that was counted in it.
type Named = (String, (f64, u64, u64));

const NAMES: [&str; 4] = ["0", "7", "f", "it's"];

/// The rows of each group that has any, by name.
fn divided(rows: &[(usize, Row)]) -> Vec<(String, Vec<Row>)> {
    let of = |group: usize| rows.iter().filter(|row| row.0 == group).map(|row| row.1).collect::<Vec<_>>();
    let groups = NAMES.iter().enumerate().map(|(at, name)| ((*name).to_owned(), of(at)));
    groups.filter(|(_, rows)| !rows.is_empty()).collect()
}

/// The first pass, as a database would count it, its groups in another order.
fn first(buckets: Buckets, groups: &[(String, Vec<Row>)]) -> GroupedPass {
    let rows = groups.iter().rev().flat_map(|(name, rows)| {
        first_pass(buckets, rows).rows.into_iter().map(|bucket| (name.clone(), bucket))
    });
    GroupedPass::new(buckets, rows.collect::<Vec<_>>()).unwrap()
}

fn second(first: &GroupedPass, open: &[OpenGroup], groups: &[(String, Vec<Row>)]) -> Vec<Named> {
    let of_group = |(open, (name, rows)): (&OpenGroup, &(String, Vec<Row>))| {
        assert_eq!(open.name, *name);
        let counted = second_pass(first.buckets(), &open.buckets, rows);
        counted.into_iter().map(|row| (name.clone(), row)).collect::<Vec<_>>()
    };
    open.iter().zip(groups).flat_map(of_group).collect()
}

fn all_rows(kind: ScoreKind, groups: &[(String, Vec<Row>)]) -> Option<Problems> {
    let of_group = |(name, rows): &(String, Vec<Row>)| {
        let (scores, labels): (Vec<f64>, Vec<bool>) = rows.iter().copied().unzip();
        (name.clone(), Problems::of_scores(&scores, &labels, kind))
    };
    Problems::by_group(groups.iter().map(of_group).collect())
}

fn written(fit: Fit, score_summaries: Vec<Option<crate::points::ScoreSummary>>) -> Vec<u8> {
    bytes(&fit.with_score_summaries(score_summaries), None)
}

/// Rows of up to four groups, the last of which are few.
fn grouped_rows(kind: ScoreKind) -> impl Strategy<Value = Vec<(usize, Row)>> {
    let group = prop_oneof![6 => Just(1usize), 6 => Just(2), 1 => Just(0), 1 => Just(3)];
    rows(kind).prop_flat_map(move |rows| {
        let groups = proptest::collection::vec(group.clone(), rows.len());
        groups.prop_map(move |groups| groups.into_iter().zip(rows.iter().copied()).collect())
    })
}

proptest! {
    /// Of skewed data with ties at every edge and of groups too small for a table, both passes give the artifact of all rows byte for byte.
    #[test]
    fn both_passes_give_the_artifact_of_all_rows_by_group(
        (kind, rows) in kinds().prop_flat_map(|kind| (Just(kind), grouped_rows(kind))),
        bins in 1usize..9, rows_per_bin in proptest::option::of(2usize..20),
    ) {
        let groups = divided(&rows);
        let Some(all) = all_rows(kind, &groups) else { return Ok(()) };
        let first = first(buckets_of(kind), &groups);
        prop_assert_eq!(first.len(), rows.len() as u64);
        for method in methods(bins, kind) {
            let options = ReductionOptions { method, rows_per_bin };
            let open = first.open_buckets(&options).unwrap();
            let problems = first.problems(&open, second(&first, &open, &groups)).unwrap();
            let expected = fit_reduction(&all, &options, 0.1);
            prop_assert_eq!(&fit_reduction(&problems, &options, 0.1), &expected, "{:?}", method);
            let Ok(expected) = expected else { continue };
            let fit = fit_reduction(&problems, &options, 0.1).unwrap();
            let (fit, expected) = (written(fit, first.score_summaries()), written(expected, all.score_summaries()));
            prop_assert_eq!(fit, expected, "{:?}", method);
        }
    }

    /// The buckets that are read of a group are those that its rows alone leave open: other groups change nothing.
    #[test]
    fn each_group_leaves_open_what_its_own_rows_do(rows in grouped_rows(ScoreKind::Probability), bins in 1usize..9) {
        let groups = divided(&rows);
        let first = first(Buckets::Probabilities, &groups);
        for method in methods(bins, ScoreKind::Probability) {
            let options = ReductionOptions { method, rows_per_bin: None };
            let open = first.open_buckets(&options).unwrap();
            prop_assert_eq!(open.len(), groups.len());
            for (open, (_, rows)) in open.iter().zip(&groups) {
                let fits = rows.len() >= method.facts().min_points;
                let alone = first_pass(Buckets::Probabilities, rows).open_buckets(&[method]);
                prop_assert_eq!(&open.buckets, &if fits { alone.unwrap() } else { Vec::new() });
            }
        }
    }
}

/// 200 rows of two groups: of `f` the first 120, of `7` the others.
fn two() -> Vec<(String, Vec<Row>)> {
    let row = |i: u32| (usize::from(i < 120) + 1, (f64::from(i % 97) / 1_048_576.0, i.is_multiple_of(3)));
    divided(&(0..200).map(row).collect::<Vec<_>>())
}

fn umd(rows_per_bin: Option<usize>) -> ReductionOptions {
    ReductionOptions { method: BinaryMethod::Umd(Umd::new(2)), rows_per_bin }
}

#[test]
fn passes_with_other_groups_are_refused() {
    let groups = two();
    let first = first(Buckets::Probabilities, &groups);
    let open = first.open_buckets(&umd(None)).unwrap();
    let counted = second(&first, &open, &groups);
    assert!(first.problems(&open, counted.clone()).is_ok());
    assert_eq!(first.rows_in(&open), counted.iter().map(|(_, row)| row.1).sum::<u64>());
    let refused = |change: fn(&mut Vec<Named>)| {
        let mut counted = counted.clone();
        change(&mut counted);
        first.problems(&open, counted).unwrap_err().to_string()
    };
    let lacks = refused(|rows| rows.retain(|row| row.0 == "7"));
    assert!(lacks.starts_with("group f: the second pass lacks the scores of bucket"), "{lacks}");
    let unknown = refused(|rows| rows.push(("x".into(), (0.5, 1, 0))));
    assert_eq!(unknown, "the second pass has rows of the group x, and the first has none");
    // A row that went from one group to the other.
    let moved = refused(|rows| {
        let at = rows.iter().position(|row| row.0 == "f").unwrap();
        rows[at].0 = "7".into();
    });
    assert!(moved.starts_with("group ") && moved.contains("did not read the same rows"), "{moved}");
}

#[test]
fn what_are_no_groups_is_refused() {
    let (mut groups, buckets) = (two(), Buckets::Probabilities);
    let (_, rows) = groups.pop().unwrap();
    let one = first(buckets, &groups);
    assert_eq!(one.problems(&[], Vec::new()).unwrap_err(), PassError::FewGroups(1));
    assert_eq!(GroupedPass::new(buckets, Vec::new()), Err(PassError::Empty));
    let bucket = first_pass(buckets, &rows).rows[0];
    let twice = GroupedPass::new(buckets, [("f".into(), bucket), ("f".into(), bucket)]).unwrap_err();
    assert_eq!(
        twice.to_string(),
        "group f: bucket 0 occurs twice: the first pass has one row for each bucket"
    );
    let empty = Bucket { n: 0, positives: 0, ..bucket };
    let pass = GroupedPass::new(buckets, [("f".into(), bucket), ("m".into(), empty)]).unwrap();
    assert_eq!(pass.names().collect::<Vec<_>>(), ["f"]);
    // 2^53 rows are as many as a count holds, of all groups together.
    let half = Bucket { n: 1 << 52, positives: 0, highest: bucket.lowest, ..bucket };
    let half = Bucket { ties: None, ..half };
    let group = |name: &str, n| (name.to_owned(), Bucket { n, ..half });
    let many = |n| GroupedPass::new(buckets, [group("a", 1 << 52), group("b", n)]);
    assert!(many(1 << 52).is_ok());
    assert_eq!(many((1 << 52) + 1), Err(PassError::TooMany));
}

/// What draws rows is refused though every group is too small for it.
#[test]
fn methods_that_counts_do_not_suit_are_refused_whatever_the_groups() {
    let first = first(Buckets::Probabilities, &two());
    let ums = BinaryMethod::Ums(Ums { bins: 500, seed: 0 });
    for (method, rows_per_bin) in [(ums, None), (BinaryMethod::VennAbers, None)] {
        let refused = first.open_buckets(&ReductionOptions { method, rows_per_bin }).unwrap_err();
        assert_eq!(Err(refused), check_method(&method));
    }
    let refused = first.open_buckets(&umd(Some(1))).unwrap_err();
    assert_eq!(refused, PassError::Fit(crate::error::FitError::RowsPerBin(1)));
}
