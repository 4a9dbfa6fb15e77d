//! The actions to choose from.

use calib_core::DecisionRule;
use calib_core::decision::SureBy;
use serde::{Serialize, Serializer};

use super::cost::Cost;

/// An action and what it costs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CostedAction {
    /// Its name, of 1 to 24 bytes without control characters.
    pub name: String,
    /// The cost for a positive: a case in which the event whose probability is given happens.
    pub positive: Cost,
    /// The cost for a negative.
    pub negative: Cost,
    /// The cost of using the action at all, however often: of equipment, say.
    pub start_up: Cost,
    /// Whether it raises the device's alarm.
    pub alarm: bool,
    /// Whether it leaves the decision to someone else.
    pub abstain: bool,
    /// The evidence that it asks for: it is only taken where every probability that this evidence allows leads to it (Chow 1970).
    #[serde(serialize_with = "if_sure")]
    pub if_sure: Option<SureBy>,
}

/// Writes `if_sure` as a costs file has it.
fn if_sure<S: Serializer>(by: &Option<SureBy>, serializer: S) -> Result<S::Ok, S::Error> {
    match by {
        None => serializer.serialize_bool(false),
        Some(SureBy::Interval) => serializer.serialize_bool(true),
        Some(SureBy::Band) => serializer.serialize_str("band"),
    }
}

/// Two or more actions with different names, and what to do without a probability.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Actions {
    actions: Vec<CostedAction>,
    uncalibrated: usize,
    unsure: Option<usize>,
}

/// Why actions were refused; `index` counts actions from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ActionsError {
    /// There are none.
    #[error("there are no actions")]
    None,
    /// There is one.
    #[error("a single action leaves nothing to decide")]
    Single,
    /// There are more than a device takes.
    #[error("{0} actions: a rule has at most {max}", max = DecisionRule::MAX_ACTIONS)]
    TooMany(usize),
    /// The name is empty, too long, or holds a control character.
    #[error("the name {name:?} is not 1 to {max} bytes of plain text", max = DecisionRule::MAX_NAME_BYTES)]
    Name {
        /// The action.
        index: usize,
        /// Its name.
        name: String,
    },
    /// Two actions have the same name.
    #[error("two actions have the name {name:?}")]
    DuplicateName {
        /// The second of the two.
        index: usize,
        /// Their name.
        name: String,
    },
    /// It is not said what to do without a probability, and there is not exactly one action that abstains, or, if none
    /// does, exactly one that raises the alarm.
    #[error("no action is stated without a calibrated probability")]
    Uncalibrated,
    /// An action is only taken where the evidence suffices, and it is not clear which one is taken elsewhere: one that abstains, or
    /// the one without a probability, and neither of them asks for evidence.
    #[error("no action is stated for insufficient evidence")]
    Unsure,
    /// The action where the evidence does not suffice is none of them, or asks for evidence, or none asks for evidence.
    #[error("{0:?}, to be taken if the evidence is insufficient, is not one of the actions")]
    UnknownUnsure(String),
    /// The action for the uncalibrated is none of them.
    #[error("{0:?}, to be taken without a calibrated probability, is not one of the actions")]
    UnknownUncalibrated(String),
}

impl Actions {
    /// Checks actions. `uncalibrated` names the one to take without a calibrated probability; if it is not said, it is
    /// the one that abstains, or else the one that raises the alarm.
    ///
    /// # Errors
    ///
    /// If they are fewer than two or more than 16, a name is bad or taken, or the action for the uncalibrated is
    /// unknown or not clear: it is never just the cheapest. Likewise the action where the evidence does not suffice for one that asks
    /// for it, which [`Actions::with_unsure`] names.
    pub fn new(actions: Vec<CostedAction>, uncalibrated: Option<&str>) -> Result<Self, ActionsError> {
        match actions.len() {
            0 => return Err(ActionsError::None),
            1 => return Err(ActionsError::Single),
            2..=DecisionRule::MAX_ACTIONS => {}
            count => return Err(ActionsError::TooMany(count)),
        }
        for (index, action) in actions.iter().enumerate() {
            let name = action.name.clone();
            let fits = (1..=DecisionRule::MAX_NAME_BYTES).contains(&name.len());
            if !fits || name.chars().any(char::is_control) {
                return Err(ActionsError::Name { index, name });
            }
            if actions.iter().take(index).any(|other| other.name == name) {
                return Err(ActionsError::DuplicateName { index, name });
            }
        }
        let uncalibrated = match uncalibrated {
            Some(name) => actions
                .iter()
                .position(|action| action.name == name)
                .ok_or_else(|| ActionsError::UnknownUncalibrated(name.into()))?,
            None => only(&actions, |action| action.abstain)
                .or_else(|| {
                    let no_abstain = !actions.iter().any(|action| action.abstain);
                    only(&actions, |action| action.alarm).filter(|_| no_abstain)
                })
                .ok_or(ActionsError::Uncalibrated)?,
        };
        Ok(Self { actions, uncalibrated, unsure: None })
    }

    /// Whether an action asks for the band at a score.
    pub fn ask_for_band(&self) -> bool {
        self.actions.iter().any(|action| action.if_sure == Some(SureBy::Band))
    }

    /// States which action is taken where the evidence does not suffice for one that asks for it. If it is not said, it is the one that
    /// abstains, or else the one without a probability.
    ///
    /// # Errors
    ///
    /// If there is no such action, it asks for evidence itself, no other asks for some, or nothing is said and it is not clear.
    pub fn with_unsure(self, name: Option<&str>) -> Result<Self, ActionsError> {
        let asks = self.actions.iter().any(|action| action.if_sure.is_some());
        let stands_in = |&index: &usize| asks && self.actions[index].if_sure.is_none();
        let unsure = match name {
            Some(name) => {
                let named = self.actions.iter().position(|action| action.name == name).filter(stands_in);
                Some(named.ok_or_else(|| ActionsError::UnknownUnsure(name.into()))?)
            }
            None if !asks => None,
            None => {
                let clear = only(&self.actions, |action| action.abstain).unwrap_or(self.uncalibrated);
                Some(Some(clear).filter(stands_in).ok_or(ActionsError::Unsure)?)
            }
        };
        Ok(Self { unsure, ..self })
    }

    /// The actions, in the order in which they were given.
    pub fn all(&self) -> &[CostedAction] {
        &self.actions
    }

    /// The index of the action to take without a calibrated probability.
    pub fn uncalibrated(&self) -> usize {
        self.uncalibrated
    }

    /// The index of the action to take where the evidence does not suffice; `None` if no action asks for evidence.
    pub fn unsure(&self) -> Option<usize> {
        self.unsure
    }

    /// Whether using some action at all costs something.
    pub fn have_start_up(&self) -> bool {
        self.actions.iter().any(|action| action.start_up > Cost::default())
    }
}

/// The index of the action that meets the condition, if there is exactly one.
fn only(actions: &[CostedAction], condition: impl Fn(&CostedAction) -> bool) -> Option<usize> {
    let mut found = (0..actions.len()).filter(|&i| condition(&actions[i]));
    found.next().filter(|_| found.next().is_none())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Actions called `0`, `1`, ... with costs in whole units; the first raises the alarm.
    pub(in crate::decide) fn actions(costs: &[(u32, u32, u32)]) -> Actions {
        let cost = |units: u32| Cost::new(units.into()).unwrap();
        let action = |(i, &(positive, negative, start_up)): (usize, &(u32, u32, u32))| CostedAction {
            name: i.to_string(),
            positive: cost(positive),
            negative: cost(negative),
            start_up: cost(start_up),
            alarm: i == 0,
            abstain: false,
            if_sure: None,
        };
        Actions::new(costs.iter().enumerate().map(action).collect(), None).unwrap()
    }

    #[test]
    fn what_to_do_without_evidence_is_stated_or_clear() {
        let three = |flags: [(Option<SureBy>, bool); 3], stated: Option<&str>| {
            let mut all = actions(&[(0, 0, 0); 3]).actions;
            for (action, (if_sure, abstain)) in all.iter_mut().zip(flags) {
                (action.if_sure, action.abstain) = (if_sure, abstain);
            }
            Actions::new(all, Some("0")).unwrap().with_unsure(stated).map(|actions| actions.unsure)
        };
        let by = Some(SureBy::Band);
        let (no, sure, abstain) = ((None, false), (by, false), (None, true));
        assert_eq!(three([no, no, abstain], None), Ok(None));
        assert_eq!(three([no, sure, abstain], None), Ok(Some(2)));
        assert_eq!(three([no, sure, no], None), Ok(Some(0)));
        assert_eq!(three([no, sure, no], Some("2")), Ok(Some(2)));
        assert_eq!(three([sure, no, no], None), Err(ActionsError::Unsure));
        assert_eq!(three([no, no, (by, true)], None), Err(ActionsError::Unsure));
        for (flags, name) in [([no, sure, no], "1"), ([no, sure, no], "x"), ([no, no, no], "1")] {
            assert_eq!(three(flags, Some(name)), Err(ActionsError::UnknownUnsure(name.into())));
        }
    }

    #[test]
    fn what_to_do_without_a_probability_is_stated_or_clear() {
        let three = |flags: [(bool, bool); 3], stated: Option<&str>| {
            let mut all = actions(&[(0, 0, 0); 3]).actions;
            for (action, (alarm, abstain)) in all.iter_mut().zip(flags) {
                (action.alarm, action.abstain) = (alarm, abstain);
            }
            Actions::new(all, stated).map(|actions| actions.uncalibrated)
        };
        let (no, alarm, abstain) = ((false, false), (true, false), (false, true));
        assert_eq!(three([no, alarm, abstain], None), Ok(2));
        assert_eq!(three([no, alarm, no], None), Ok(1));
        assert_eq!(three([no, alarm, abstain], Some("0")), Ok(0));
        assert_eq!(three([no, alarm, alarm], None), Err(ActionsError::Uncalibrated));
        assert_eq!(three([alarm, abstain, abstain], None), Err(ActionsError::Uncalibrated));
        assert_eq!(three([no, no, no], None), Err(ActionsError::Uncalibrated));
        assert_eq!(three([no, alarm, no], Some("x")), Err(ActionsError::UnknownUncalibrated("x".into())));
    }
}
