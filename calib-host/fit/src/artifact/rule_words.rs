//! Operating points and prediction sets in sentences.

use calib_core::decision::{
    Accuracy, AccuracyGuarantee, Conformity, OperatingPoints, PredictionSets, Threshold, Thresholds, never,
};
use calib_core::{Artifact, Margin, ScoreEncoding};

use crate::stats::{percent, percent_of_success};

/// Returns what an artifact's operating points or prediction sets do and guarantee, in sentences; none if it has neither.
///
/// ```
/// use calib_core::ScoreEncoding;
/// use calib_fit::artifact::{PointsOnDevice, rule_sentences};
/// use calib_fit::operating::{Aim, Aims, GroupScores, KeyedScores, OperatingPoints, Sharing};
/// # use calib_fit::{BinaryData, StoredArtifact};
/// # let scores = (0..200).map(|i| f64::from(i % 100) / 200.0 + if i < 100 { 0.5 } else { 0.0 }).collect();
/// # let data = BinaryData::new(scores, (0..200).map(|i| i < 100).collect())?;
///
/// let group = GroupScores { name: None, scores: KeyedScores::of_scores(&data)? };
/// let aims = Aims { sensitivity: Some(Aim { level: 0.95, confidence: 0.95 }), specificity: None };
/// let points = OperatingPoints::find(&[group], aims, Sharing::Own)?;
/// let on_device =
///     PointsOnDevice { points: &points, encoding: ScoreEncoding::F32, predictive: &[], refer_raises: true };
/// let stored = StoredArtifact::from_bytes(&on_device.alone(200, "", &Default::default())?)?;
/// assert_eq!(
///     rule_sentences(&stored.artifact()),
///     [
///         "the device raises its alarm at a score of 0.505 or more. Guaranteed: sensitivity at least 95% (class 1 not cleared), \
///          with 95% confidence",
///         "on the calibration set, it raises the alarm for 99 of 100 of class 1 and 0 of 100 of class 0",
///     ]
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn rule_sentences(artifact: &Artifact<'_>) -> Vec<String> {
    match (artifact.operating_points(), artifact.prediction_sets()) {
        (Some(points), _) => {
            let names: Vec<&str> = artifact.groups().map_or(Vec::new(), |groups| groups.names().collect());
            operating(points, &names)
        }
        (None, Some(sets)) => prediction(sets),
        (None, None) => Vec::new(),
    }
}

fn operating(points: &OperatingPoints<'_>, names: &[&str]) -> Vec<String> {
    let guaranteed: Vec<String> = points.guarantees().map(|guarantee| guaranteed(&guarantee)).collect();
    let together = if points.groups() > 1 { ", in every group at once" } else { "" };
    let mut sentences = Vec::new();
    for (group, thresholds) in points.all().enumerate() {
        let whose = match names.get(group).filter(|_| points.groups() > 1) {
            Some(name) => format!("for {name}, "),
            None => String::new(),
        };
        let does = does(points, thresholds);
        sentences.push(format!("{whose}the device {does}. Guaranteed: {}{together}", guaranteed.join("; ")));
        sentences.push(format!("{whose}{}", counts(thresholds)));
    }
    sentences
}

/// What the device does at which scores.
fn does(points: &OperatingPoints<'_>, Thresholds { lower, upper }: Thresholds) -> String {
    let encoding = points.encoding();
    let raises = match score_words(&encoding, upper.key) {
        Some(score) => format!("raises its alarm at {score} or more"),
        None => "never raises its alarm".to_owned(),
    };
    if lower == upper {
        return raises;
    }
    let alarm = if points.refer_raises() { " (which also raises the alarm)" } else { "" };
    match score_words(&encoding, lower.key) {
        Some(score) => format!("{raises}, clears below {score}, and refers in between{alarm}"),
        None => format!("{raises}, clears everything else"),
    }
}

fn guaranteed(guarantee: &AccuracyGuarantee) -> String {
    let level = percent(guarantee.level);
    let what = match guarantee.accuracy {
        Accuracy::Sensitivity => format!("sensitivity at least {level}% (class 1 not cleared)"),
        Accuracy::Specificity => format!("specificity at least {level}% (class 0 not raised)"),
        Accuracy::PositivePredictiveValue => {
            format!("positive predictive value at least {}%", at_least(guarantee.level))
        }
        Accuracy::NegativePredictiveValue => {
            format!("negative predictive value at least {}%", at_least(guarantee.level))
        }
        _ => format!("{} at least {level}%", guarantee.accuracy),
    };
    let where_ = match guarantee.prevalence {
        Some(prevalence) => format!(" at a prevalence of {}%", percent(prevalence)),
        None => String::new(),
    };
    format!("{what}{where_}, with {}% confidence", percent(rounded(guarantee.confidence)))
}

/// A probability without the digits that a float adds to one that follows from others.
fn rounded(probability: f32) -> f64 {
    (f64::from(probability) * 1e6).round() / 1e6
}

/// A share in percent, rounded down to a tenth: what is at least this is at least that, too.
fn at_least(share: f32) -> String {
    format!("{}", (rounded(share) * 1000.0 + 1e-6).floor() / 10.0)
}

/// How the calibration points lie.
fn counts(Thresholds { lower, upper }: Thresholds) -> String {
    let Threshold { positives, negatives, .. } = upper;
    let raised = format!(
        "on the calibration set, it raises the alarm for {} of {positives} of class 1 and {} of {negatives} of class 0",
        upper.positives_above, upper.negatives_above
    );
    if lower == upper {
        return raised;
    }
    let between = |lower: u32, upper: u32| lower.saturating_sub(upper);
    format!(
        "{raised}, and refers {} and {}",
        between(lower.positives_above, upper.positives_above),
        between(lower.negatives_above, upper.negatives_above)
    )
}

/// The score with a key, in words; `None` if no score has it.
pub(crate) fn score_words(encoding: &ScoreEncoding, key: u32) -> Option<String> {
    if key >= never(encoding) {
        return None;
    }
    Some(match encoding.code_range() {
        Some((lowest, _)) => format!("a code of {}", i64::from(lowest) + i64::from(key)),
        None if encoding.is_margin() => match Margin::from_key(key) {
            Some(margin) => format!("a margin of {}", margin.get()),
            None => "any margin".to_owned(),
        },
        None => format!("a score of {}", f32::from_bits(key)),
    })
}

fn prediction(sets: &PredictionSets<'_>) -> Vec<String> {
    let level = percent_of_success(sets.alpha());
    let of =
        if sets.is_by_class() { "the rows of every class" } else { "all rows together (not of each class)" };
    let covers = match sets.confidence() {
        Some(confidence) => format!(
            "the set of classes contains the true one in at least {level}% of {of}, with {}% confidence",
            percent(confidence)
        ),
        None => format!(
            "the set of classes contains the true one for at least {level}% of {of}, on average over the draw of the \
             calibration set"
        ),
    };
    let by = match sets.conformity() {
        Conformity::Score => "their scores",
        Conformity::Margin => "their distance from the largest other logit",
    };
    let quantiles = || (0..sets.classes()).filter_map(|class| sets.quantile(class).map(|q| (class, q)));
    let always: Vec<String> =
        quantiles().filter(|(_, quantile)| quantile.key == 0).map(|(class, _)| class.to_string()).collect();
    let mut sentences = vec![covers, format!("classes are in the set by {by}")];
    if always.len() == usize::from(sets.classes()) {
        sentences.push(
            "every class is in every set: there are too few calibration observations for the guarantee"
                .into(),
        );
    } else if !always.is_empty() {
        sentences.push(format!(
            "in every set, as too few calibration observations are of it: class {}",
            always.join(", ")
        ));
    }
    if sets.never_empty() {
        sentences.push("the predicted class is always in the set".into());
    }
    sentences.push("a set of one class has no separate guarantee".into());
    sentences
}

#[cfg(test)]
mod tests {
    use calib_core::artifact::{ArtifactWriter, Header, HeaderFlags, Method, Reduction};
    use calib_core::decision::{OperatingParts, Quantile, Quantiles, SetParts};

    use super::*;
    use crate::artifact::{ArtifactOptions, StoredArtifact, identity};

    fn stored(
        method: Method,
        encoding: ScoreEncoding,
        fill: impl Fn(&mut ArtifactWriter<'_>),
    ) -> StoredArtifact {
        let (reduction, classes) = match method {
            Method::OperatingPoint => (Reduction::Binary, 2),
            _ => (Reduction::Joint, 3),
        };
        let header = Header {
            method,
            reduction,
            encoding,
            classes,
            bins: 0,
            // As many as any of the rules here counts.
            n: 400,
            guarantee: None,
            flags: HeaderFlags::NONE,
            provenance: ArtifactOptions::default().provenance(""),
        };
        let mut buf = vec![0; 2048];
        let mut writer = ArtifactWriter::new(&mut buf);
        writer.header(&header).unwrap();
        fill(&mut writer);
        StoredArtifact::from_bytes(writer.finish(identity).unwrap()).unwrap()
    }

    fn at(key: u32, positives_above: u32, negatives_above: u32) -> Threshold {
        Threshold { key, positives: 60, positives_above, negatives: 100, negatives_above }
    }

    #[test]
    fn every_kind_of_threshold_has_its_sentence() {
        let guarantee =
            |accuracy, level, prevalence| AccuracyGuarantee { accuracy, level, confidence: 0.9, prevalence };
        let guarantees = [
            guarantee(Accuracy::Sensitivity, 0.95, None),
            guarantee(Accuracy::Specificity, 0.8, None),
            guarantee(Accuracy::PositivePredictiveValue, 0.5, Some(0.01)),
            guarantee(Accuracy::NegativePredictiveValue, 0.999, Some(0.01)),
        ];
        let key = |margin| Margin::new(margin).unwrap().key();
        let groups = [
            Thresholds { lower: at(key(-1.5), 59, 50), upper: at(key(2.0), 30, 5) },
            Thresholds { lower: at(key(0.0), 59, 50), upper: at(key(f32::MAX) + 1, 0, 0) },
        ];
        let two = stored(Method::OperatingPoint, ScoreEncoding::Margin, |writer| {
            let parts = OperatingParts { groups: &groups, refer_raises: true, guarantees: &guarantees };
            writer.operating_points(&parts).unwrap();
            writer.groups(&["women", "men"]).unwrap();
        });
        let guaranteed = "Guaranteed: sensitivity at least 95% (class 1 not cleared), with 90% confidence; \
             specificity at least 80% (class 0 not raised), with 90% confidence; \
             positive predictive value at least 50% at a prevalence of 1%, with 90% confidence; \
             negative predictive value at least 99.9% at a prevalence of 1%, with 90% confidence, in every group at once";
        let alarm = "and refers in between (which also raises the alarm)";
        assert_eq!(
            rule_sentences(&two.artifact()),
            [
                format!("for women, the device raises its alarm at a margin of 2 or more, clears below a margin of -1.5, {alarm}. {guaranteed}"),
                "for women, on the calibration set, it raises the alarm for 30 of 60 of class 1 and 5 of 100 of class 0, and refers 29 and 45".into(),
                format!("for men, the device never raises its alarm, clears below a margin of 0, {alarm}. {guaranteed}"),
                "for men, on the calibration set, it raises the alarm for 0 of 60 of class 1 and 0 of 100 of class 0, and refers 59 and 50".into(),
            ]
        );
        let i8 = ScoreEncoding::I8 { scale: 0.5, zero_point: 0 };
        let one = stored(Method::OperatingPoint, i8, |writer| {
            let groups = [Thresholds { lower: at(100, 59, 9), upper: at(100, 59, 9) }];
            let parts = OperatingParts { groups: &groups, refer_raises: true, guarantees: &guarantees[..1] };
            writer.operating_points(&parts).unwrap();
        });
        assert_eq!(
            rule_sentences(&one.artifact())[0],
            "the device raises its alarm at a code of -28 or more. Guaranteed: sensitivity at least 95% (class 1 not cleared), \
             with 90% confidence"
        );
    }

    /// What is guaranteed is never rounded up, and has no digits of a 32-bit float.
    #[test]
    fn predictive_values_are_rounded_down_to_a_tenth() {
        for (level, ppv) in [
            (0.336_158_96, "33.6"),
            (0.336_999, "33.6"),
            (0.337, "33.7"),
            (0.9, "90"),
            (0.999_99, "99.9"),
            (1.0, "100"),
            (0.8, "80"),
            (0.000_9, "0"),
        ] {
            for (accuracy, of) in [
                (Accuracy::PositivePredictiveValue, "positive predictive value"),
                (Accuracy::NegativePredictiveValue, "negative predictive value"),
            ] {
                let guarantee =
                    AccuracyGuarantee { accuracy, level, confidence: 0.799_999_95, prevalence: Some(0.01) };
                let said = format!("{of} at least {ppv}% at a prevalence of 1%, with 80% confidence");
                assert_eq!(guaranteed(&guarantee), said, "{level}");
            }
        }
    }

    #[test]
    fn every_kind_of_set_has_its_sentence() {
        let of = |never_empty, confidence, quantiles: Quantiles<'_>| {
            let parts =
                SetParts { conformity: Conformity::Margin, never_empty, alpha: 0.1, confidence, quantiles };
            let stored = stored(Method::PredictionSet, ScoreEncoding::F32, |writer| {
                writer.prediction_sets(&parts).unwrap();
            });
            rule_sentences(&stored.artifact())
        };
        let quantile = |key| Quantile { rows: 9, key };
        let by = "classes are in the set by their distance from the largest other logit";
        let alone = "a set of one class has no separate guarantee";
        assert_eq!(
            of(false, None, Quantiles::All(quantile(7))),
            [
                "the set of classes contains the true one for at least 90% of all rows together (not of each class), on average over the draw of the calibration set",
                by,
                alone,
            ]
        );
        assert_eq!(
            of(true, Some(0.95), Quantiles::ByClass(&[quantile(0), quantile(7), quantile(0)])),
            [
                "the set of classes contains the true one in at least 90% of the rows of every class, with 95% confidence",
                by,
                "in every set, as too few calibration observations are of it: class 0, 2",
                "the predicted class is always in the set",
                alone,
            ]
        );
        let all = of(false, None, Quantiles::All(quantile(0)));
        assert_eq!(
            all[2],
            "every class is in every set: there are too few calibration observations for the guarantee"
        );
    }
}
