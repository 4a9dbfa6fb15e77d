//! Whether a device counts what it predicts.

use calib_core::Artifact;
use calib_core::slot::MonitorRoom;
use calib_core::wire::{CountersRefusal, Refusal, ReplyBody, RequestBody};

use calib_core::predict::Ranked;

/// Counts predictions and their outcomes, or does not: [`Monitors`](crate::Monitors), or [`NoMonitors`] where every byte of memory
/// counts.
pub trait Watch {
    /// Goes on for this calibrator, or restarts if it is another one than before; `None` if there is none. `is_stand_in` if a calibrator that may
    /// be newer [was passed over](crate::Slot::fallback_from): nothing that was counted of that may be given up then.
    fn begin(&mut self, artifact: Option<&Artifact<'_>>, is_stand_in: bool);

    /// The room that there is: for the [admission](calib_core::Admission::watched) of calibrators that ask for an action on an alarm, and
    /// for [`Slot::read_watched`](crate::Slot::read_watched).
    fn room(&self) -> MonitorRoom;

    /// Whether an alarm of a shift or of the guarantee was raised, of any table, since counting began; or whether it is not known, as what was
    /// counted is lost: what is done on an alarm is done then, too.
    fn is_alarmed(&self) -> bool;

    /// Counts a prediction by the calibrator that was begun with. `group` is the one whose tables were used.
    fn count(&mut self, artifact: &Artifact<'_>, group: Option<u8>, prediction: &Ranked);

    /// Answers a request about counters, given the calibrator that was begun with. A device that takes no outcomes does not come here
    /// with a request that [changes](RequestBody::changes_counters) some.
    fn answer(
        &mut self,
        artifact: Option<&Artifact<'_>>,
        request: &RequestBody,
        takes_outcomes: bool,
    ) -> ReplyBody;
}

impl<W: Watch> Watch for &mut W {
    fn begin(&mut self, artifact: Option<&Artifact<'_>>, is_stand_in: bool) {
        (**self).begin(artifact, is_stand_in);
    }

    fn room(&self) -> MonitorRoom {
        (**self).room()
    }

    fn is_alarmed(&self) -> bool {
        (**self).is_alarmed()
    }

    fn count(&mut self, artifact: &Artifact<'_>, group: Option<u8>, prediction: &Ranked) {
        (**self).count(artifact, group, prediction);
    }

    fn answer(
        &mut self,
        artifact: Option<&Artifact<'_>>,
        request: &RequestBody,
        takes_outcomes: bool,
    ) -> ReplyBody {
        (**self).answer(artifact, request, takes_outcomes)
    }
}

/// For devices that count nothing: what is asked of counters they refuse, and calibrators that ask for an action on an alarm, too.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMonitors;

impl Watch for NoMonitors {
    fn begin(&mut self, _: Option<&Artifact<'_>>, _: bool) {}

    fn room(&self) -> MonitorRoom {
        MonitorRoom::NONE
    }

    fn is_alarmed(&self) -> bool {
        false
    }

    fn count(&mut self, _: &Artifact<'_>, _: Option<u8>, _: &Ranked) {}

    fn answer(&mut self, _: Option<&Artifact<'_>>, _: &RequestBody, _: bool) -> ReplyBody {
        ReplyBody::Refused(Refusal::Counters(CountersRefusal::NotBuilt))
    }
}
