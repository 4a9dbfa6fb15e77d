//! What messages say of themselves, and in words.

use calib_core::wire::{
    Answer, Beside, CountersRefusal, FrameError, Question, Ranked, RequestBody, ScoreEcho, Scores,
    UpdateRefusal, Values,
};
use calib_core::{Identity, Margin, Outcome, ProbInterval, Uncalibrated};

use crate::messages::requests;

/// A device with a key takes neither trials nor changes of counters from just anyone.
#[test]
fn who_may_ask_what_is_told_of_every_request() {
    let measured = |values: Values| Scores::Features(values);
    for (name, request) in requests() {
        let (is_trial, changes_counters) = match &request.body {
            RequestBody::Measure { .. } => (true, false),
            RequestBody::Predict(Question { word: Some(_), .. }) => (true, false),
            RequestBody::Predict(Question { scores: Scores::Features(_), .. }) => (false, false),
            RequestBody::Predict(_) => (true, false),
            RequestBody::Outcome(_) | RequestBody::ResetCounters { .. } => (false, true),
            _ => (false, false),
        };
        assert_eq!(request.body.is_trial(), is_trial, "{name}");
        assert_eq!(request.body.changes_counters(), changes_counters, "{name}");
    }
    // What the device measured is no trial, unless its random word is given.
    let question = |scores, word| Question { group: Some(1), word, scores };
    assert!(!question(measured(Values::new()), None).is_trial());
    assert!(question(measured(Values::new()), Some(0)).is_trial());
    assert!(question(Scores::Margin(0.5), None).is_trial());
    assert!(RequestBody::predict(Scores::Score(0.5)).is_trial());
    assert!(!RequestBody::predict(measured(Values::new())).is_trial());
}

#[test]
fn an_answer_has_the_band_that_it_was_given() {
    let (class, score) = (1, ScoreEcho::Margin(Margin::ZERO));
    let first = Ranked { class, score, outcome: Outcome::Uncalibrated(Uncalibrated::NoTable) };
    let plain = Answer::new(first, false);
    assert_eq!((plain.band(), plain.first()), (None, first));
    let band = ProbInterval::new(0.25, 0.5).unwrap();
    let with = Answer { beside: Beside::Band(band), ..plain.clone() };
    assert_eq!(with.band(), Some(band));
    let probs = Answer { beside: Beside::Probs([0.25, 0.5].into_iter().collect()), ..plain };
    assert_eq!(probs.band(), None);
}

#[test]
fn what_is_told_has_the_numbers() {
    for (refusal, told) in [
        (UpdateRefusal::TooLarge { len_bytes: 740, max: 736 }, "740 bytes, the device takes 736"),
        (UpdateRefusal::Offset { expected: 77 }, "offset 77"),
        (UpdateRefusal::Incomplete { received: 77 }, "77 bytes"),
        (UpdateRefusal::Downgrade { held: 4, offered: 3 }, "counter is 3, below 4"),
        (UpdateRefusal::ReadBack { offset: 77 }, "offset 77"),
        (UpdateRefusal::SameCounter { counter: 4 }, "counter is 4"),
    ] {
        assert!(refusal.to_string().contains(told), "{refusal}");
    }
    let identity = Identity([0xAB; 8]);
    for (refusal, told) in [
        (CountersRefusal::Table { tables: 3 }, "3 tables"),
        (CountersRefusal::Room { tables: 3, bins: 15 }, "3 tables of 15 bins"),
        (CountersRefusal::OtherCalibrator(identity), &*identity.to_string()),
        (CountersRefusal::Known(77), "77 outcomes"),
    ] {
        assert!(refusal.to_string().contains(told), "{refusal}");
    }
    let told =
        [FrameError::TooLong, FrameError::Damaged, FrameError::Unknown { id: 7 }].map(|e| e.to_string());
    assert_eq!(
        told,
        ["the frame is too long", "the frame is damaged", "the frame holds a message that is not known"]
    );
}
