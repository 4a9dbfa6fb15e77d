//! Which children of a split some points of the simplex are in, without asking every point.

use super::split_search::{SteppedPoints, lead, needed, pair};

/// What tells whether any of some points is in a child of a split.
pub(crate) enum Reachable {
    /// For up to three classes: a front for each of them, which answers in O(log n).
    Fronts(Vec<ParetoFront>),
    /// For more: the largest lead of every class over every other, row-major. It shows most children to be out of reach;
    /// points are asked for the rest.
    Leads(Vec<i64>),
}

/// The pairs of leads of a class over the two others that no point exceeds in both, the first lead descending and the second
/// ascending.
pub(crate) struct ParetoFront(Vec<(i64, i64)>);

/// The most classes whose fronts are lines.
const FRONT_CLASSES: usize = 3;

impl Reachable {
    /// That of the points with these indices.
    pub(crate) fn new(points: &SteppedPoints<'_>, inside: &[usize]) -> Self {
        let classes = points.classes;
        if classes <= FRONT_CLASSES {
            return Self::Fronts((0..classes).map(|class| ParetoFront::new(points, inside, class)).collect());
        }
        let mut leads = vec![i64::MIN; classes * classes];
        for &point in inside {
            let row = points.row(point);
            for (place, most) in leads.iter_mut().enumerate() {
                *most = (*most).max(lead(row, place / classes, place % classes));
            }
        }
        Self::Leads(leads)
    }

    /// The children of a split at `gamma` that the points are in, ascending. `inside` are the points of [`Reachable::new`].
    pub(crate) fn children(
        &self,
        points: &SteppedPoints<'_>,
        inside: &[usize],
        gamma: &[i32],
    ) -> impl Iterator<Item = usize> + use<> {
        let set = match self {
            Self::Fronts(fronts) => {
                let reached = fronts.iter().enumerate().filter(|(class, front)| front.reaches(gamma, *class));
                reached.fold(0, |set, (class, _)| set | 1 << class)
            }
            Self::Leads(leads) => scan(points, inside, gamma, within(leads, gamma)),
        };
        (0..gamma.len()).filter(move |class| set >> class & 1 == 1)
    }
}

/// The set of children that no single lead shows to be out of reach.
fn within(leads: &[i64], gamma: &[i32]) -> u32 {
    let classes = gamma.len();
    let is_within = |class: usize| {
        (0..classes)
            .all(|other| other == class || leads[class * classes + other] >= needed(gamma, class, other))
    };
    (0..classes).filter(|&class| is_within(class)).fold(0, |set, class| set | 1 << class)
}

/// The set of children that points are in, which is a part of `possible`.
fn scan(points: &SteppedPoints<'_>, inside: &[usize], gamma: &[i32], possible: u32) -> u32 {
    if possible.is_power_of_two() {
        return possible;
    }
    let mut set = 0;
    for &point in inside {
        set |= 1 << points.child(gamma, point);
        if set == possible {
            break;
        }
    }
    set
}

impl ParetoFront {
    fn new(points: &SteppedPoints<'_>, inside: &[usize], class: usize) -> Self {
        let mut pairs: Vec<(i64, i64)> =
            inside.iter().map(|&point| pair(points.row(point), class, lead)).collect();
        pairs.sort_unstable_by(|a, b| b.cmp(a));
        let mut highest = None;
        pairs.retain(|&(_, second)| {
            let is_higher = highest.is_none_or(|highest| second > highest);
            if is_higher {
                highest = Some(second);
            }
            is_higher
        });
        Self(pairs)
    }

    /// Whether a point is in the child `class` of a split.
    fn reaches(&self, gamma: &[i32], class: usize) -> bool {
        let (first, second) = pair(gamma, class, needed);
        // The last of those whose first lead suffices has the highest second lead of them.
        let end = self.0.partition_point(|pair| pair.0 >= first);
        self.0[..end].last().is_some_and(|pair| pair.1 >= second)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The children are those that the points are in one by one, ties included.
        #[test]
        fn children_are_those_of_the_points(
            classes in 2usize..6,
            raw in proptest::collection::vec(proptest::collection::vec(0i32..6, 5), 1..20),
            gammas in proptest::collection::vec(proptest::collection::vec(-6i32..6, 5), 1..20),
        ) {
            let steps: Vec<i32> = raw.iter().flat_map(|row| row[..classes].to_vec()).collect();
            let labels = vec![0; raw.len()];
            let points = SteppedPoints { classes, steps: &steps, labels: &labels };
            let some: Vec<usize> = (0..raw.len()).filter(|i| i % 3 != 1).collect();
            let reachable = Reachable::new(&points, &some);
            for gamma in &gammas {
                let gamma = &gamma[..classes];
                let mut one_by_one: Vec<usize> = some.iter().map(|&point| points.child(gamma, point)).collect();
                one_by_one.sort_unstable();
                one_by_one.dedup();
                prop_assert_eq!(reachable.children(&points, &some, gamma).collect::<Vec<_>>(), one_by_one);
            }
        }
    }
}
