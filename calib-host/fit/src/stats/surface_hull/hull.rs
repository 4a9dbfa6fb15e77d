//! Convex hulls of points with whole coordinates, exactly.

use std::collections::HashMap;

use crate::cancel;

/// A convex polyhedron with triangular facets.
pub(super) struct Hull {
    /// The corners, in no particular order.
    pub(super) corners: Vec<[i64; 3]>,
    /// Six times the volume.
    pub(super) six_volumes: i128,
}

struct Facet {
    /// Counterclockwise as seen from outside.
    corners: [usize; 3],
    normal: [i128; 3],
    offset: i128,
    /// The points that are above this facet and were not found above an earlier one.
    outside: Vec<usize>,
}

impl Facet {
    fn new(points: &[[i64; 3]], corners: [usize; 3]) -> Self {
        let [a, b, c] = corners.map(|corner| points[corner]);
        let normal = cross(minus(b, a), minus(c, a));
        Self { corners, normal, offset: dot(normal, a), outside: Vec::new() }
    }

    /// How far above the facet a point is, in units that depend on the facet; 0 in its plane.
    fn height(&self, point: [i64; 3]) -> i128 {
        dot(self.normal, point) - self.offset
    }

    fn edges(&self) -> [(usize, usize); 3] {
        let [a, b, c] = self.corners;
        [(a, b), (b, c), (c, a)]
    }
}

impl Hull {
    /// The hull of points below 2^32 in size, of which the first four span a tetrahedron (quickhull. Points in the plane of
    /// a facet count as inside, so that exact arithmetic leaves no special cases).
    pub(super) fn new(points: &[[i64; 3]]) -> Self {
        let first = [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]].map(|[a, b, c]| {
            let facet = Facet::new(points, [a, b, c]);
            let other = 6 - a - b - c;
            if facet.height(points[other]) > 0 { Facet::new(points, [a, c, b]) } else { facet }
        });
        let mut surface = Surface::default();
        surface.add(points, first.into(), 4..points.len());
        while let Some(facet) = surface.unfinished.pop() {
            cancel::check_canceled();
            let Some(Facet { outside, .. }) = surface.facets.get(&facet) else { continue };
            let height = |&point: &usize| surface.facets[&facet].height(points[point]);
            let farthest = outside.iter().copied().max_by_key(height).expect("a point is outside");
            let (seen, horizon) = surface.remove_seen(facet, points[farthest]);
            let new = horizon.into_iter().map(|(a, b)| Facet::new(points, [a, b, farthest])).collect();
            surface.add(points, new, seen.into_iter().flat_map(|facet| facet.outside));
        }
        let facets = surface.facets.values();
        let mut corners: Vec<usize> = facets.clone().flat_map(|facet| facet.corners).collect();
        corners.sort_unstable();
        corners.dedup();
        let six_volumes = facets
            .map(|facet| {
                let [a, b, c] = facet.corners.map(|corner| points[corner]);
                dot(cross(a.map(i128::from), b.map(i128::from)), c)
            })
            .sum();
        Self { corners: corners.into_iter().map(|corner| points[corner]).collect(), six_volumes }
    }
}

/// The facets so far.
#[derive(Default)]
struct Surface {
    facets: HashMap<usize, Facet>,
    /// The facet on the left of every edge.
    left_of: HashMap<(usize, usize), usize>,
    /// Facets with points outside; some of them are gone.
    unfinished: Vec<usize>,
    made: usize,
}

impl Surface {
    /// Adds facets, and gives every point to the first of them that it is above; what is above none is inside.
    fn add(&mut self, points: &[[i64; 3]], mut new: Vec<Facet>, some: impl IntoIterator<Item = usize>) {
        for point in some {
            if let Some(facet) = new.iter_mut().find(|facet| facet.height(points[point]) > 0) {
                facet.outside.push(point);
            }
        }
        for facet in new {
            facet.edges().into_iter().for_each(|edge| {
                self.left_of.insert(edge, self.made);
            });
            if !facet.outside.is_empty() {
                self.unfinished.push(self.made);
            }
            self.facets.insert(self.made, facet);
            self.made += 1;
        }
    }

    /// Takes away all facets that a point is above, of which one is given; also gives the edges around them.
    fn remove_seen(&mut self, first: usize, point: [i64; 3]) -> (Vec<Facet>, Vec<(usize, usize)>) {
        let (mut seen, mut horizon) = (Vec::new(), Vec::new());
        seen.extend(self.facets.remove(&first));
        let mut next = 0;
        while let Some(facet) = seen.get(next) {
            next += 1;
            for (a, b) in facet.edges() {
                let beside = self.left_of[&(b, a)];
                match self.facets.get(&beside) {
                    Some(facet) if facet.height(point) > 0 => seen.extend(self.facets.remove(&beside)),
                    Some(_) => horizon.push((a, b)),
                    // It is seen, too.
                    None => {}
                }
            }
        }
        (seen, horizon)
    }
}

fn minus(a: [i64; 3], b: [i64; 3]) -> [i128; 3] {
    std::array::from_fn(|i| i128::from(a[i]) - i128::from(b[i]))
}

fn cross(a: [i128; 3], b: [i128; 3]) -> [i128; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: [i128; 3], b: [i64; 3]) -> i128 {
    (0..3).map(|i| a[i] * i128::from(b[i])).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TETRAHEDRON: [[i64; 3]; 4] = [[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]];

    fn with(points: &[[i64; 3]]) -> Hull {
        Hull::new(&[&TETRAHEDRON, points].concat())
    }

    #[test]
    fn volumes_by_hand() {
        assert_eq!(with(&[]).six_volumes, 64);
        // What is inside or on the surface changes nothing.
        assert_eq!(with(&[[1, 1, 1], [2, 2, 0], [0, 0, 0]]).six_volumes, 64);
        let cube = with(&[[4, 4, 0], [4, 0, 4], [0, 4, 4], [4, 4, 4], [2, 2, 4]]);
        assert_eq!((cube.six_volumes, cube.corners.len()), (6 * 64, 8));
    }

    proptest! {
        /// Every point is inside: below the plane of any three corners that have all corners on one side. And the volume is
        /// that of a fan of tetrahedra from a point inside, in any order of the points.
        #[test]
        fn hulls_hold_all_points(points in proptest::collection::vec([0i64..9, 0i64..9, 0i64..9], 0..30)) {
            let hull = with(&points);
            let corners = &hull.corners;
            let n = corners.len();
            let mut planes = 0;
            for (a, b, c) in (0..n).flat_map(|a| (0..n).flat_map(move |b| (0..n).map(move |c| (a, b, c)))) {
                let facet = Facet::new(corners, [a, b, c]);
                if facet.normal != [0; 3] && corners.iter().all(|&corner| facet.height(corner) <= 0) {
                    planes += 1;
                    prop_assert!(points.iter().all(|&point| facet.height(point) <= 0));
                }
            }
            prop_assert!(planes >= 4);
            let reversed: Vec<_> = points.iter().rev().copied().collect();
            let again = with(&reversed);
            prop_assert_eq!(again.six_volumes, hull.six_volumes);
            // The corners alone have the same hull.
            prop_assert_eq!(with(corners).six_volumes, hull.six_volumes);
        }
    }
}
