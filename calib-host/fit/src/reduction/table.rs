//! The points of one binary problem of several.

use calib_core::Score;

use crate::points::{Counted, Group, Packed, ScoreSummary, group, packed, totals};

/// Scores, each with whether its class is right: in 4 bytes a point as long as every score is a probability that an `f32` holds, or
/// counted by score where they came so.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Table {
    Packed(Vec<Packed>),
    Wide(Vec<(f64, bool)>),
    Grouped(Vec<Group>),
}

/// With fewer points, to sort them is quicker than to count them by score first.
const COUNTED_FROM: usize = 1 << 15;

impl Table {
    pub(super) fn new() -> Self {
        Self::Packed(Vec::new())
    }

    pub(super) fn push(&mut self, score: f64, hit: bool) {
        let exact = |score: f64| Score::try_from(score).ok().filter(|exact| f64::from(exact.get()) == score);
        match self {
            Self::Packed(points) => match exact(score) {
                Some(score) => points.push(packed::pack(score, hit)),
                None => {
                    let mut points = self.points();
                    points.push((score, hit));
                    *self = Self::Wide(points);
                }
            },
            Self::Wide(points) => points.push((score, hit)),
            Self::Grouped(groups) => {
                let counts = groups.iter().map(|group| (group.score, group.n, group.positives));
                *groups = group(counts.chain([(score, 1, hit.into())]).collect());
            }
        }
    }

    /// Adds the points of another problem behind these.
    pub(super) fn append(&mut self, other: Self) {
        match (&mut *self, other) {
            (Self::Packed(points), Self::Packed(others)) => points.extend(others),
            (_, other) => other.points().into_iter().for_each(|(score, hit)| self.push(score, hit)),
        }
    }

    /// The same points with other scores.
    pub(super) fn map(&self, of: impl Fn(f64) -> f64) -> Self {
        if let Self::Grouped(groups) = self {
            let counts = groups.iter().map(|group| (of(group.score), group.n, group.positives));
            return Self::Grouped(group(counts.collect()));
        }
        let mut mapped = Self::new();
        self.points().into_iter().for_each(|(score, hit)| mapped.push(of(score), hit));
        mapped
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Packed(points) => points.len(),
            Self::Wide(points) => points.len(),
            Self::Grouped(groups) => usize::try_from(totals(groups).0).expect("points that can be addressed"),
        }
    }

    /// The points in the order in which they came; counted ones in ascending order, those with label 0 first.
    pub(super) fn points(&self) -> Vec<(f64, bool)> {
        match self {
            Self::Packed(points) => points.iter().map(|&p| (packed::score(p), packed::label(p))).collect(),
            Self::Wide(points) => points.clone(),
            Self::Grouped(groups) => groups
                .iter()
                .flat_map(|group| (0..group.n).map(|at| (group.score, at >= group.n - group.positives)))
                .collect(),
        }
    }

    /// The points counted by score, if these are packed and many.
    pub(super) fn counted(&self) -> Option<Counted<&[Packed]>> {
        match self {
            Self::Packed(points) if points.len() >= COUNTED_FROM => {
                Some(Counted::new(&points[..]).expect("the observations are in memory"))
            }
            _ => None,
        }
    }

    /// The points grouped by score, in ascending order.
    pub(super) fn groups(&self) -> Vec<Group> {
        match self {
            Self::Packed(points) => {
                let mut sorted = points.clone();
                sorted.sort_unstable();
                packed::sorted_groups(&sorted).collect()
            }
            Self::Wide(points) => group(points.iter().map(|&(score, hit)| (score, 1, hit.into())).collect()),
            Self::Grouped(groups) => groups.clone(),
        }
    }

    /// Where the scores lie, and how often they repeat; `None` without points.
    pub(super) fn score_summary(&self) -> Option<ScoreSummary> {
        match self.counted() {
            Some(points) => Some(ScoreSummary::of(&points).expect("the observations are in memory")),
            None => ScoreSummary::of_groups(&self.groups()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::points::Points;

    proptest! {
        /// Points come back as they were, and their groups are the same, packed or not, as a whole or in two parts.
        #[test]
        fn packed_points_are_those_that_came(
            rows in proptest::collection::vec((prop_oneof![0u32..=64, Just(1000)], any::<bool>()), 0..60), cut in 0usize..60,
        ) {
            // One in a thousandth is no f32, and what is beyond 1 is a margin.
            let score = |s: u32| if s == 1000 { 0.001 } else { f64::from(s) / 60.0 };
            let score = |s: u32| if s.is_multiple_of(3) { f64::from(score(s) as f32) } else { score(s) };
            let points: Vec<(f64, bool)> = rows.iter().map(|&(s, hit)| (score(s), hit)).collect();
            let table = |points: &[(f64, bool)]| {
                let mut table = Table::new();
                points.iter().for_each(|&(score, hit)| table.push(score, hit));
                table
            };
            let mut all = table(&points);
            let (front, back) = points.split_at(cut.min(points.len()));
            let mut joined = table(front);
            joined.append(table(back));
            prop_assert_eq!(&joined, &all);
            prop_assert_eq!(all.len(), points.len());
            prop_assert_eq!(&all.points(), &points);
            prop_assert_eq!(all.groups(), Table::Wide(points.clone()).groups());
            prop_assert_eq!(all.map(|score| score / 2.0).points(), points.iter().map(|p| (p.0 / 2.0, p.1)).collect::<Vec<_>>());
            // Counted by score they are the same points.
            let mut counted = Table::Grouped(all.groups());
            prop_assert_eq!((counted.len(), counted.groups(), counted.score_summary()), (all.len(), all.groups(), all.score_summary()));
            let sorted = |mut points: Vec<(f64, bool)>| { points.sort_by(|a, b| a.partial_cmp(b).unwrap()); points };
            prop_assert_eq!(counted.points(), sorted(points));
            let halves = |table: &Table| table.map(|score| (score * 4.0).floor()).groups();
            prop_assert_eq!(halves(&counted), halves(&all));
            counted.push(0.25, true);
            all.push(0.25, true);
            prop_assert_eq!(counted.groups(), all.groups());
        }
    }

    #[test]
    fn many_points_are_counted() {
        let mut table = Table::new();
        for i in 0..COUNTED_FROM as u32 {
            table.push(f64::from(i % 1000) / 1024.0, i % 7 == 0);
        }
        assert_eq!(table.counted().unwrap().groups().unwrap(), table.groups());
        assert_eq!(table.score_summary(), ScoreSummary::of_groups(&table.groups()));
        let Table::Packed(points) = &mut table else { panic!("every score is an f32") };
        points.pop();
        assert!(table.counted().is_none());
    }
}
