//! What a device's monitors counted.

use calib_core::wire::{Counters, CountersRefusal, KnownOutcomes, PredictionOutcome, ReplyBody, RequestBody};
use calib_fit::fleet::{COUNTERS_VERSION, DeviceCounters, TableCounters};

use super::error::DeviceError;
use super::link::{Link, Transport};

impl<T: Transport> Link<T> {
    /// Asks a device what its monitors counted: of every table of the active calibrator, and `None` of one
    /// that is not monitored. The device looks at the evidence as it answers.
    ///
    /// # Errors
    ///
    /// As [`Link::ask`]; [`DeviceError::Counters`] if the device does
    /// not count, or the calibrator was replaced meanwhile.
    pub fn counters(&mut self) -> Result<Vec<Option<Counters>>, DeviceError> {
        let mut found: Vec<Option<Counters>> = Vec::new();
        loop {
            // There are no more tables than a number of two bytes tells apart.
            let table = u16::try_from(found.len()).map_err(|_| DeviceError::Protocol)?;
            let (tables, counters) = match self.ask_counters(&RequestBody::Counters { table }) {
                Ok(counters) if counters.table == table => (counters.tables, Some(counters)),
                Ok(_) => return Err(DeviceError::Protocol),
                Err(DeviceError::Counters(CountersRefusal::Table { tables })) => (tables, None),
                Err(error) => return Err(error),
            };
            let of = |counters: &Option<Counters>| counters.as_ref().map(|counters| counters.calibrator);
            if let (Some(first), Some(now)) = (found.iter().find_map(of), of(&counters))
                && first != now
            {
                return Err(DeviceError::Counters(CountersRefusal::OtherCalibrator(now)));
            }
            found.push(counters);
            if found.len() >= tables.into() {
                return Ok(found);
            }
        }
    }

    /// Tells a device the outcome of an earlier prediction, and returns what it has counted then. Asked again, it counts it once.
    ///
    /// # Errors
    ///
    /// As [`Link::ask`]; [`DeviceError::Counters`] if it is no outcome of a prediction that the device counted.
    pub fn tell(&mut self, outcome: PredictionOutcome) -> Result<Counters, DeviceError> {
        self.ask_counters(&RequestBody::Outcome(outcome))
    }

    /// Lets a device with this calibrator count again.
    ///
    /// # Errors
    ///
    /// As [`Link::ask`]; [`DeviceError::Counters`] if another calibrator is active.
    pub fn reset_counters(&mut self, calibrator: calib_core::Identity) -> Result<Counters, DeviceError> {
        self.ask_counters(&RequestBody::ResetCounters { calibrator })
    }

    /// Asks a device which calibrator is active; `None` if there is none.
    ///
    /// # Errors
    ///
    /// As [`Link::ask`].
    pub fn calibrator_in_force(&mut self) -> Result<Option<calib_core::Identity>, DeviceError> {
        Ok(self.status()?.calibrator.ok().map(|calibrator| calibrator.identity))
    }

    fn ask_counters(&mut self, body: &RequestBody) -> Result<Counters, DeviceError> {
        match self.ask(body)? {
            ReplyBody::Counters(counters) => Ok(counters),
            _ => Err(DeviceError::Protocol),
        }
    }
}

/// Returns what a device of this name counted in the form in which a [fleet](calib_fit::fleet) adds it up; `None` if nothing is
/// monitored.
///
/// ```
/// assert_eq!(calib_io::device::serial::stored_counters("ward 3", &[None]), None);
/// ```
pub fn stored_counters(device: &str, tables: &[Option<Counters>]) -> Option<DeviceCounters> {
    let calibrator = tables.iter().flatten().next()?.calibrator;
    let of_table = |counters: &Counters| {
        let column =
            |of: fn(&KnownOutcomes) -> u32| counters.outcomes.iter().map(|known| of(known).into()).collect();
        TableCounters {
            predictions: counters.predictions.iter().map(|&count| count.into()).collect(),
            labeled: column(|known| known.labeled),
            positives: column(|known| known.positives),
        }
    };
    Some(DeviceCounters {
        calib_counters: COUNTERS_VERSION,
        device: device.into(),
        calibrator: calibrator.to_string(),
        tables: tables.iter().map(|counters| counters.as_ref().map(of_table)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use calib_core::artifact::{ClassifierId, Method, Reduction};
    use calib_core::decision::AlarmRule;
    use calib_core::monitor::LogEvidence;
    use calib_core::wire::{
        CalibratorStatus, Missing, PROTOCOL_VERSION, Persistence, Questions, Refusal, Request, Status,
        Watched,
    };
    use calib_core::{Identity, ScoreEncoding};

    use super::*;
    use crate::device::serial::fake::{self, Fake};

    fn counters(table: u16, calibrator: Identity) -> Counters {
        let quiet = Watched { evidence: LogEvidence::NONE, alarm: LogEvidence::of_one_in(20), raised: None };
        Counters {
            calibrator,
            table,
            tables: 3,
            predictions: [40, 38].into_iter().collect(),
            outcomes: [KnownOutcomes { labeled: 9, positives: 1 }; 2].into_iter().collect(),
            shift: quiet,
            change: quiet,
            guarantee: None,
            is_full: false,
            persistence: Persistence::MemoryOnly,
            takes_outcomes: true,
            action: None,
        }
    }

    /// Of three tables the second is not monitored. The last one is of this calibrator.
    fn device(last: Identity) -> Link<Fake<impl FnMut(&Request) -> Vec<u8>>> {
        Fake::link(move |request| {
            let refused = |refusal| ReplyBody::Refused(Refusal::Counters(refusal));
            let body = match request.body {
                RequestBody::Counters { table: 1 } => refused(CountersRefusal::Table { tables: 3 }),
                RequestBody::Counters { table: 2 } => ReplyBody::Counters(counters(2, last)),
                RequestBody::Counters { table } => ReplyBody::Counters(counters(table, Identity([1; 8]))),
                RequestBody::Outcome(told) => refused(CountersRefusal::Known(told.known + 1)),
                _ => ReplyBody::Refused(Refusal::SwitchedOff),
            };
            fake::frame(request.id, body)
        })
    }

    #[test]
    fn all_tables_are_asked_for_and_stored() {
        let id = Identity([1; 8]);
        let mut link = device(id);
        let tables = link.counters().unwrap();
        assert_eq!(tables, [Some(counters(0, id)), None, Some(counters(2, id))]);
        let stored = stored_counters("ward 3", &tables).unwrap();
        assert_eq!((&*stored.device, &*stored.calibrator), ("ward 3", "0101010101010101"));
        assert_eq!(stored.tables[1], None);
        let table = stored.tables[2].as_ref().unwrap();
        assert_eq!((&table.predictions[..], &table.labeled[..]), (&[40, 38][..], &[9, 9][..]));
        assert_eq!(table.positives, [1, 1]);
    }

    #[test]
    fn a_calibrator_that_is_replaced_meanwhile_is_no_table_of_the_other() {
        let other = Identity([2; 8]);
        let asked = device(other).counters();
        let Err(DeviceError::Counters(refusal)) = asked else { panic!("{asked:?}") };
        assert_eq!(refusal, CountersRefusal::OtherCalibrator(other));
    }

    /// Of a device that tells counters of no table, what is to be set back is asked for.
    #[test]
    fn the_calibrator_in_force_is_asked_for() {
        let identity = Identity([7; 8]);
        let in_force = CalibratorStatus {
            identity,
            counter: 0,
            len_bytes: 300,
            method: Method::Umd,
            reduction: Reduction::Binary,
            bins: 4,
            n: 100,
            guarantee: None,
            encoding: ScoreEncoding::F32,
            actions: 0,
        };
        for (calibrator, expected) in [(Ok(in_force), Some(identity)), (Err(Missing::Monitors), None)] {
            let status = Status {
                protocol: PROTOCOL_VERSION,
                firmware: "0.1.0".try_into().unwrap(),
                classifier: "ecg".try_into().unwrap(),
                classifier_id: ClassifierId([1; 8]),
                features: 2,
                classes: 2,
                alarm_rule: AlarmRule::AtLeast(0.5),
                stack_high_water_bytes: 0,
                calibrator,
                fallback_from: None,
                questions: Questions::All,
            };
            let mut link = Fake::link(move |request| {
                assert_eq!(request.body, RequestBody::Status);
                fake::frame(request.id, ReplyBody::Status(status.clone()))
            });
            assert_eq!(link.calibrator_in_force().unwrap(), expected);
        }
    }

    #[test]
    fn what_is_refused_says_why() {
        let mut link = device(Identity([1; 8]));
        let (calibrator, group, class, bin) = (Identity([1; 8]), None, 1, 0);
        let told = PredictionOutcome { calibrator, group, class, bin, is_positive: true, known: 4 };
        assert!(matches!(link.tell(told), Err(DeviceError::Counters(CountersRefusal::Known(5)))));
        assert!(matches!(link.reset_counters(calibrator), Err(DeviceError::SwitchedOff)));
    }
}
