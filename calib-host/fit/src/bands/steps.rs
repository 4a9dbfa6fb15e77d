//! One side of a band.

/// A side of a band as a function of the score, which rises in steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Steps {
    scores: Vec<f64>,
    values: Vec<f64>,
}

crate::accessors::getters! {
    Steps {
        ;
        /// The scores at which it rises, ascending.
        scores: [f64],
        /// The value of each step, ascending: of the lower side from its score on, of the upper side up to its score.
        values: [f64],
    }
}

/// A step while neighbors are joined.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) score: f64,
    pub(super) value: f64,
    /// The rows on the step.
    pub(super) rows: u64,
}

impl Steps {
    /// The lower side with at most so many steps. It is 0 below the first score.
    pub(super) fn lower(steps: impl IntoIterator<Item = Step>, most: usize) -> Self {
        let mut kept: Vec<Step> = Vec::new();
        for step in steps {
            match kept.last_mut() {
                Some(last) if last.value == step.value => last.rows += step.rows,
                None if step.value == 0.0 => {}
                _ => kept.push(step),
            }
        }
        while kept.len() > most {
            let below = |at: usize| at.checked_sub(1).map_or(0.0, |below| kept[below].value);
            let least = cheapest(&kept, |at| kept[at].value - below(at));
            let gone = kept.remove(least);
            if let Some(below) = least.checked_sub(1) {
                kept[below].rows += gone.rows;
            }
        }
        Self::of(&kept)
    }

    /// The upper side with at most so many steps. It is 1 above the last score.
    pub(super) fn upper(steps: impl IntoIterator<Item = Step>, most: usize) -> Self {
        let mut kept: Vec<Step> = Vec::new();
        for step in steps {
            match kept.last_mut() {
                Some(last) if last.value == step.value => {
                    (last.score, last.rows) = (step.score, last.rows + step.rows)
                }
                _ => kept.push(step),
            }
        }
        kept.truncate(kept.partition_point(|step| step.value < 1.0));
        while kept.len() > most {
            let above = |at: usize| kept.get(at + 1).map_or(1.0, |above| above.value);
            let least = cheapest(&kept, |at| above(at) - kept[at].value);
            let gone = kept.remove(least);
            if let Some(above) = kept.get_mut(least) {
                above.rows += gone.rows;
            }
        }
        Self::of(&kept)
    }

    fn of(steps: &[Step]) -> Self {
        Self {
            scores: steps.iter().map(|step| step.score).collect(),
            values: steps.iter().map(|step| step.value).collect(),
        }
    }

    /// The value of a lower side at a score.
    pub(super) fn from(&self, score: f64) -> f64 {
        let above = self.scores.partition_point(|&from| from <= score);
        above.checked_sub(1).map_or(0.0, |at| self.values[at])
    }

    /// The value of an upper side at a score.
    pub(super) fn up_to(&self, score: f64) -> f64 {
        let at = self.scores.partition_point(|&up_to| up_to < score);
        self.values.get(at).copied().unwrap_or(1.0)
    }
}

/// The step whose removal widens the band least: by this difference, for the rows on the step.
fn cheapest(steps: &[Step], widens: impl Fn(usize) -> f64) -> usize {
    let cost = |at: usize| widens(at) * steps[at].rows as f64;
    (0..steps.len()).min_by(|&a, &b| cost(a).total_cmp(&cost(b))).expect("there are more steps than wanted")
}
