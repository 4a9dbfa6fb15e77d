//! Putting a rule into an artifact.

use calib_core::artifact::{HeaderFlags, SectionKind, WriteError};

use super::actions::Actions;
use super::rule::Rule;
use crate::artifact::{StoredArtifact, written};

/// The artifact with this decision rule, which replaces an earlier rule, thresholds of the score and prediction sets: a device
/// decides in one way. The calibrator is the same, and so is the counter unless another one is given; the identity, which is a hash of
/// everything, is another. The signature is not kept: anyone who made it has not seen the rule.
///
/// ```
/// use calib_fit::decide::{Actions, Cost, CostedAction, Rule, with_decision};
/// # use calib_fit::{BinaryData, BinaryMethod, StoredArtifact, Umd, artifact_bytes, fit_binary};
/// # let scores = (0..400).map(|i| f64::from(i) / 400.0).collect();
/// # let data = BinaryData::new(scores, (0..400).map(|i| i % 40 < i / 20).collect())?;
/// # let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(4)), 0.1)?;
/// # let stored = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?)?;
///
/// let action = |name: &str, positive, negative| {
///     Ok::<_, Box<dyn std::error::Error>>(CostedAction {
///         name: name.into(),
///         positive: Cost::new(positive)?,
///         negative: Cost::new(negative)?,
///         start_up: Cost::default(),
///         alarm: false,
///         abstain: false,
///         if_sure: None,
///     })
/// };
/// // A missed patient costs 9, a needless treatment 1.
/// let actions = Actions::new(vec![action("wait", 9.0, 0.0)?, action("treat", 0.0, 1.0)?], Some("treat"))?;
/// let rule = Rule::stated(&[(0, 0.0, 0.1), (1, 0.1, 1.0)])?;
/// let with = StoredArtifact::from_bytes(&with_decision(&stored, &actions, &rule, Some(4))?)?;
/// assert!(with.artifact().decision().is_some() && with.artifact().counter() == 4);
/// assert_ne!(with.artifact().identity(), stored.artifact().identity());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If the artifact would be larger than the format allows.
pub fn with_decision(
    artifact: &StoredArtifact,
    actions: &Actions,
    rule: &Rule,
    counter: Option<u32>,
) -> Result<Vec<u8>, WriteError> {
    const REPLACED: [u16; 4] = [
        SectionKind::Decision as u16,
        SectionKind::OperatingPoints as u16,
        SectionKind::PredictionSets as u16,
        SectionKind::Signature as u16,
    ];
    // Without groups' own tables or thresholds nobody needs their names.
    let grouped = artifact.artifact().header().flags.contains(HeaderFlags::GROUPED);
    let keeps = |kind| {
        let is_left_out = kind == SectionKind::Groups as u16 && !grouped
            || kind == SectionKind::Counter as u16 && counter.is_some();
        !REPLACED.contains(&kind) && !is_left_out
    };
    written(|writer| {
        for (kind, mandatory, payload) in artifact.sections() {
            if keeps(kind) {
                writer.section(kind, mandatory, payload)?;
            }
        }
        rule.with_parts(actions, |parts| writer.decision(parts))?;
        counter.filter(|&counter| counter > 0).map_or(Ok(()), |counter| writer.counter(counter))
    })
}

#[cfg(test)]
mod tests {
    use calib_core::artifact::PREFIX_LEN;

    use super::super::actions::tests::actions;
    use super::super::envelope::Envelope;
    use super::*;
    use crate::artifact::{ArtifactOptions, artifact_bytes, identity};
    use crate::binary::{BinaryMethod, Umd};
    use crate::data::BinaryData;
    use crate::fit::fit_binary;

    #[test]
    fn the_rule_is_added_or_replaced_and_nothing_else_changes() {
        let data = BinaryData::new(
            (0..100).map(|i| f64::from(i) / 128.0).collect(),
            (0..100).map(|i| i % 3 == 0).collect(),
        );
        let fit = fit_binary(&data.unwrap(), &BinaryMethod::Umd(Umd::new(4)), 0.1).unwrap();
        let options = ArtifactOptions { intervals: true, ..Default::default() };
        let plain = StoredArtifact::from_bytes(&artifact_bytes(&fit, &options).unwrap()).unwrap();
        let decide = |artifact: &StoredArtifact, costs: &[(u32, u32, u32)]| {
            let actions = actions(costs);
            let rule = Rule::bayes(&Envelope::new(&actions, |_| true));
            StoredArtifact::from_bytes(&with_decision(artifact, &actions, &rule, None).unwrap()).unwrap()
        };
        let first = decide(&plain, &[(0, 1, 0), (9, 0, 0)]);
        let second = decide(&first, &[(0, 1, 0), (3, 0, 0), (2, 2, 0)]);
        let rules = [&first, &second].map(|stored| {
            let artifact = stored.artifact();
            let rule = artifact.decision().unwrap();
            (rule.thresholds().to_vec(), rule.intervals().to_vec(), rule.action_count(), rule.uncalibrated())
        });
        assert_eq!(rules[0], (vec![0.1f32.next_down()], vec![1, 0], 2, 0));
        assert_eq!(rules[1], (vec![0.25], vec![1, 0], 3, 0));
        for stored in [&first, &second] {
            let (artifact, before) = (stored.artifact(), plain.artifact());
            assert_eq!((artifact.header(), artifact.tables()), (before.header(), before.tables()));
            assert_eq!(identity(&stored.as_bytes()[PREFIX_LEN..]), artifact.identity());
        }
        // The same rule gives the same bytes, whatever was there before.
        assert_eq!(decide(&second, &[(0, 1, 0), (9, 0, 0)]).as_bytes(), first.as_bytes());
    }
}
