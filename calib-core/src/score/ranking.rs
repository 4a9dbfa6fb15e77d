//! Which classes come first; ties go to the lowest class.

use super::float::Score;
use super::top_label::TopLabel;

/// Returns the index of the largest of finite values, and that value; the lowest index among equals.
pub(crate) fn argmax(values: &[f32]) -> (usize, f32) {
    let mut first = (0, f32::NEG_INFINITY);
    for (i, &value) in values.iter().enumerate() {
        if value > first.1 {
            first = (i, value);
        }
    }
    first
}

/// Writes the classes of the largest values into `top` in descending order, and returns them.
///
/// Takes O(L k) steps for `k` places and `L` finite values, at most 65 535, and no further memory.
pub(crate) fn rank<'t>(
    values: &[f32],
    top: &'t mut [TopLabel],
    score: impl Fn(f32) -> Score,
) -> &'t [TopLabel] {
    let value_of = |top: &TopLabel| values.get(usize::from(top.class)).copied().unwrap_or(f32::NEG_INFINITY);
    let mut len = 0;
    for (class, &value) in values.iter().enumerate() {
        // A class goes behind equal ones, which are lower classes.
        let behind = top.iter().take(len).take_while(|other| value_of(other) >= value).count();
        if behind == top.len() {
            continue;
        }
        len = (len + 1).min(top.len());
        // Each class below it moves down by one place; the last one falls out.
        let mut moved = TopLabel { class: class as u16, score: Score::ZERO };
        for place in top.iter_mut().take(len).skip(behind) {
            core::mem::swap(place, &mut moved);
        }
    }
    let top = top.get_mut(..len).unwrap_or_default();
    for place in &mut *top {
        place.score = score(value_of(place));
    }
    top
}
