//! Files that import each other in a circle.

use std::collections::{BTreeMap, BTreeSet};

use crate::sources::{Module, Sources};

impl Sources {
    /// The circles, each as the files of it with the line at which each of them needs the next.
    pub(crate) fn circles(&self) -> Vec<Vec<(Module, usize)>> {
        let needs: BTreeMap<&Module, Vec<(Module, usize)>> =
            self.each().map(|(file, _, source)| (file, self.needs(file, source))).collect();
        let mut told = BTreeSet::new();
        let mut circles = Vec::new();
        for &file in needs.keys() {
            if told.contains(file) {
                continue;
            }
            if let Some(circle) = shortest_circle(file, &needs) {
                told.extend(circle.iter().map(|(file, _)| file.clone()));
                circles.push(circle);
            }
        }
        circles
    }
}

/// The shortest way from a file back to itself.
fn shortest_circle(
    start: &Module,
    needs: &BTreeMap<&Module, Vec<(Module, usize)>>,
) -> Option<Vec<(Module, usize)>> {
    let mut reached_from: BTreeMap<Module, (Module, usize)> = BTreeMap::new();
    let mut level = vec![start.clone()];
    while !level.is_empty() && !reached_from.contains_key(start) {
        let mut next = Vec::new();
        for file in level {
            for (needed, line) in needs.get(&file).into_iter().flatten() {
                if !reached_from.contains_key(needed) {
                    reached_from.insert(needed.clone(), (file.clone(), *line));
                    next.push(needed.clone());
                }
            }
        }
        level = next;
    }
    let mut circle = vec![reached_from.get(start)?.clone()];
    while circle[0].0 != *start {
        let before = reached_from[&circle[0].0].clone();
        circle.insert(0, before);
    }
    Some(circle)
}
