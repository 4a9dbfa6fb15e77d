//! The alarm: what a calibrated probability is for.

use calib_core::{AlarmRule, Outcome};
use embedded_hal::digital::OutputPin;

/// A pin that is high while attention is needed.
///
/// It is low only while the last request for a prediction gave a calibrated probability that the rule, the
/// calibrator's own or else the built-in one, lets pass, or a score that the calibrator's thresholds or prediction sets let pass. It is
/// high from the start, and when there is no calibrated probability and no such score: a score that nobody calibrated neither raises
/// nor clears it.
#[derive(Debug)]
pub struct Alarm<P> {
    pin: P,
    rule: AlarmRule,
}

impl<P: OutputPin> Alarm<P> {
    /// Takes the pin, and raises the alarm until the first calibrated probability.
    ///
    /// # Errors
    ///
    /// The pin's.
    pub fn new(pin: P, rule: AlarmRule) -> Result<Self, P::Error> {
        let mut alarm = Self { pin, rule };
        alarm.raise()?;
        Ok(alarm)
    }

    /// Raises or clears the alarm, and returns whether it is raised. Without a calibrated probability it is.
    ///
    /// # Errors
    ///
    /// The pin's.
    pub fn update(&mut self, outcome: &Outcome) -> Result<bool, P::Error> {
        let raised = outcome.calibrated().is_none_or(|calibrated| self.rule.is_raised_by(calibrated.prob));
        self.set(raised)
    }

    /// Raises or clears the alarm as a calibrator says, and returns whether it is raised.
    ///
    /// # Errors
    ///
    /// The pin's.
    pub fn set(&mut self, raised: bool) -> Result<bool, P::Error> {
        self.pin.set_state(raised.into())?;
        Ok(raised)
    }

    /// Raises the alarm because there is nothing to go by.
    ///
    /// # Errors
    ///
    /// The pin's.
    pub fn raise(&mut self) -> Result<(), P::Error> {
        self.pin.set_high()
    }

    /// The built-in rule.
    pub const fn rule(&self) -> AlarmRule {
        self.rule
    }

    /// The pin.
    #[cfg(test)]
    pub(crate) const fn pin(&self) -> &P {
        &self.pin
    }

    /// Gives the pin back, as it is.
    pub fn free(self) -> P {
        self.pin
    }
}

#[cfg(test)]
mod tests {
    use calib_core::{BinFlags, Calibrated, Uncalibrated};
    use embedded_hal_mock::eh1::MockError;
    use embedded_hal_mock::eh1::digital::{Mock, State, Transaction};

    use super::*;

    fn calibrated(prob: f32) -> Outcome {
        Outcome::Calibrated(Calibrated { prob, bin: 0, epsilon: None, flags: BinFlags::NONE, interval: None })
    }

    fn pin(states: &[State]) -> Mock {
        Mock::new(&states.iter().map(|&state| Transaction::set(state)).collect::<std::vec::Vec<_>>())
    }

    #[test]
    fn follows_the_rule() {
        use State::{High, Low};
        let outcomes = [0.4f32.next_down(), 0.4, 0.4f32.next_up(), 0.0, 1.0].map(calibrated);
        for (rule, states) in [
            (AlarmRule::AtLeast(0.4), [Low, High, High, Low, High]),
            (AlarmRule::Below(0.4), [High, Low, Low, High, Low]),
        ] {
            let all = [&[High], &states[..]].concat();
            let mut alarm = Alarm::new(pin(&all), rule).unwrap();
            for (outcome, state) in outcomes.iter().zip(states) {
                assert_eq!(alarm.update(outcome), Ok(state == High));
            }
            assert_eq!(alarm.rule().threshold(), 0.4);
            alarm.free().done();
        }
    }

    #[test]
    fn is_raised_without_a_calibrated_probability() {
        let reasons = [
            Uncalibrated::Class,
            Uncalibrated::NoArtifact,
            Uncalibrated::BadArtifact,
            Uncalibrated::OtherClassifier,
            Uncalibrated::EmptyBin,
            Uncalibrated::ZeroSum,
        ];
        // Even if something made it of the midpoint that an artifact holds for an empty bin.
        let midpoint =
            Calibrated { prob: 0.25, bin: 2, epsilon: None, flags: BinFlags::EMPTY, interval: None };
        let outcomes = reasons.map(Outcome::Uncalibrated).into_iter().chain([Outcome::Calibrated(midpoint)]);
        for outcome in outcomes {
            let mut alarm =
                Alarm::new(pin(&[State::High, State::Low, State::High]), AlarmRule::AtLeast(0.9)).unwrap();
            assert_eq!(alarm.update(&calibrated(0.1)), Ok(false));
            assert_eq!(alarm.update(&outcome), Ok(true), "{outcome:?}");
            alarm.free().done();
        }
    }

    #[test]
    fn the_pins_errors_are_handed_on() {
        let failure = MockError::Io(std::io::ErrorKind::Other);
        let stuck = Transaction::set(State::Low).with_error(failure.clone());
        let mut alarm =
            Alarm::new(Mock::new(&[Transaction::set(State::High), stuck]), AlarmRule::Below(0.5)).unwrap();
        assert_eq!(alarm.update(&calibrated(0.7)), Err(failure));
        alarm.free().done();
    }
}
