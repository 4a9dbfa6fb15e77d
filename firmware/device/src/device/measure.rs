//! What a device's answers cost.

use core::hint::black_box;

use calib_core::predict::{OutputShape, Query};
use calib_core::wire::{Measurement, Refusal};
use embedded_hal::digital::OutputPin;

use super::Device;
use crate::{Classifier, Entropy, Features, Meter};

impl<C: Classifier, P: OutputPin, M: Meter, E: Entropy, W> Device<'_, C, P, M, E, W> {
    pub(super) fn measure(&mut self, features: &[f32], repeat: u16) -> Result<Measurement, Refusal> {
        let Self { classifier, slot, meter, entropy, scratch, space, .. } = self;
        let features = Features::new(features, classifier.feature_count())?;
        if repeat == 0 {
            return Err(Refusal::Measure);
        }
        let empty_ticks = repeated(meter, repeat, || {
            black_box(features);
        })?;
        let classify_ticks = repeated(meter, repeat, || {
            // A refusal shows below; here only the time matters.
            let _ = black_box(classifier.classify(black_box(features), scratch));
        })?;
        let output = classifier.classify(features, scratch)?;
        // Drawing it is the board's cost, not the calibrator's.
        let word = if slot.is_randomized() { entropy.word() } else { None };
        let query = Query { output, group: None, word };
        let calibrate_ticks = match slot.shape() {
            OutputShape::One => {
                slot.calibrate(&query)?;
                repeated(meter, repeat, || {
                    let _ = black_box(slot.calibrate(black_box(&query)));
                })?
            }
            OutputShape::TopK | OutputShape::Classes => {
                slot.calibrate_classes(&query, space)?;
                repeated(meter, repeat, || {
                    let _ = black_box(slot.calibrate_classes(black_box(&query), space));
                })?
            }
        };
        Ok(Measurement { repeat, empty_ticks, classify_ticks, calibrate_ticks })
    }
}

/// The ticks that `repeat` times `work` take.
fn repeated(meter: &mut impl Meter, repeat: u16, mut work: impl FnMut()) -> Result<u32, Refusal> {
    meter.measure_ticks(|| (0..repeat).for_each(|_| work())).ok_or(Refusal::Measure)
}

#[cfg(test)]
mod tests {
    use calib_core::ScoreError;
    use calib_core::artifact::Reduction;
    use calib_core::wire::{ReplyBody, RequestBody, Scores};
    use embedded_hal_mock::eh1::digital::State;

    use super::*;
    use crate::testing::{BINARY, TERNARY, ask, device, multi_class_artifact, values};

    #[test]
    fn every_kind_of_calibrator_is_measured_and_refuses_what_is_no_vector() {
        for reduction in [Reduction::ClassWise, Reduction::Normalized, Reduction::TopKConfidence { k: 3 }] {
            let slot = multi_class_artifact(reduction);
            let mut device = device(&TERNARY, slot.as_bytes(), &[State::High; 2]);
            let features = values(&[1.0, 2.0]);
            let reply = ask(&mut device, RequestBody::Measure { features, repeat: 3 });
            assert!(matches!(
                reply,
                ReplyBody::Measurement(Measurement { repeat: 3, calibrate_ticks: 40, .. })
            ));
            for body in [RequestBody::predict(Scores::Score(0.5)), RequestBody::predict(Scores::Code(3))] {
                assert_eq!(ask(&mut device, body), ReplyBody::Refused(Refusal::Kind { classes: 3 }));
            }
            device.alarm.free().done();
        }
    }

    #[test]
    fn measures_or_says_that_it_cannot() {
        let mut device = device(&BINARY, &[], &[]);
        let measure = |repeat, features: &[f32]| RequestBody::Measure { features: values(features), repeat };
        assert_eq!(
            ask(&mut device, measure(9, &[0.0, 1.0])),
            ReplyBody::Measurement(Measurement {
                repeat: 9,
                empty_ticks: 40,
                classify_ticks: 40,
                calibrate_ticks: 40
            })
        );
        assert_eq!(ask(&mut device, measure(0, &[0.0, 1.0])), ReplyBody::Refused(Refusal::Measure));
        assert_eq!(ask(&mut device, measure(9, &[f32::NAN, 1.0])), ReplyBody::Refused(Refusal::Feature(0)));
        assert_eq!(
            ask(&mut device, measure(9, &[f32::MAX, f32::MAX])),
            ReplyBody::Refused(Refusal::Score(ScoreError::Infinite))
        );
        device.meter.ticks = None;
        assert_eq!(ask(&mut device, measure(9, &[0.0, 1.0])), ReplyBody::Refused(Refusal::Measure));
        device.alarm.free().done();
    }
}
