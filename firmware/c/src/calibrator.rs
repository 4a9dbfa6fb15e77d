//! An artifact where it lies: opening, describing, applying.

use calib_core::artifact::{Header, Reduction};
use calib_core::{Anybody, Artifact, Calibrator, ClassifierId, Identity, ScoreEncoding};
use calib_firmware::{Slot, Task};

use crate::error::{CALIB_ERROR_STATE, Result, code, of_missing, of_parsing};
use crate::memory::{self, OutParam, Span};
use crate::store::Lease;

/// Words, of 8 bytes, of a `calib_calibrator_t`.
#[cfg(target_pointer_width = "32")]
pub const CALIB_CALIBRATOR_WORDS: usize = 72;
/// Words, of 8 bytes, of a `calib_calibrator_t`.
#[cfg(target_pointer_width = "64")]
pub const CALIB_CALIBRATOR_WORDS: usize = 112;

/// An artifact that was checked, and the calibrator in it. It points to the artifact's bytes, which stay where they are and do not
/// change while it is used. Opened by `calib_open` or `calib_store_load`; there is nothing to close. One that was loaded is refused with
/// `CALIB_ERROR_STATE` once the store has loaded again, whether that succeeded or not.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct calib_calibrator_t {
    /// Internal.
    pub opaque: [u64; CALIB_CALIBRATOR_WORDS],
}

/// In `calib_info_t.encoding`: scores are floats from 0 to 1.
pub const CALIB_ENCODING_F32: u8 = 0;
/// In `calib_info_t.encoding`: scores are codes from 0 to 255.
pub const CALIB_ENCODING_U8: u8 = 1;
/// In `calib_info_t.encoding`: scores are codes from -128 to 127.
pub const CALIB_ENCODING_I8: u8 = 2;
/// In `calib_info_t.encoding`: scores are codes from 0 to 65535.
pub const CALIB_ENCODING_U16: u8 = 3;
/// In `calib_info_t.encoding`: scores are floats from 0 to 1, which are rounded to 16 bits.
pub const CALIB_ENCODING_ROUNDED_F32: u8 = 4;
/// In `calib_info_t.encoding`: scores are codes from -32768 to 32767.
pub const CALIB_ENCODING_I16: u8 = 5;
/// In `calib_info_t.encoding`: scores are any finite floats.
pub const CALIB_ENCODING_MARGIN: u8 = 6;
/// In `calib_info_t.encoding`: scores are any finite floats, which are rounded to 16 bits.
pub const CALIB_ENCODING_ROUNDED_MARGIN: u8 = 7;

/// In `calib_info_t.reduction`: class 1 of two.
pub const CALIB_REDUCTION_BINARY: u8 = 0;
/// In `calib_info_t.reduction`: the predicted class, a table for each.
pub const CALIB_REDUCTION_TOP_LABEL: u8 = 1;
/// In `calib_info_t.reduction`: the predicted class, one table.
pub const CALIB_REDUCTION_CONFIDENCE: u8 = 2;
/// In `calib_info_t.reduction`: every class separately.
pub const CALIB_REDUCTION_CLASS_WISE: u8 = 3;
/// In `calib_info_t.reduction`: every class, divided by the sum.
pub const CALIB_REDUCTION_NORMALIZED: u8 = 4;
/// In `calib_info_t.reduction`: the first few classes, a table for each rank and class.
pub const CALIB_REDUCTION_TOP_K_LABEL: u8 = 5;
/// In `calib_info_t.reduction`: the first few classes, a table for each rank.
pub const CALIB_REDUCTION_TOP_K_CONFIDENCE: u8 = 6;
/// In `calib_info_t.reduction`: whole vectors.
pub const CALIB_REDUCTION_JOINT: u8 = 7;

/// In `calib_info_t.theorem`: there is no guarantee.
pub const CALIB_UNKNOWN: u8 = 255;

// The numbers of the header are those of the artifact format.
const _: () = {
    assert!(CALIB_ENCODING_F32 == ScoreEncoding::F32.number());
    assert!(CALIB_ENCODING_U8 == (ScoreEncoding::U8 { scale: 1.0, zero_point: 0 }).number());
    assert!(CALIB_ENCODING_I8 == (ScoreEncoding::I8 { scale: 1.0, zero_point: 0 }).number());
    assert!(CALIB_ENCODING_U16 == (ScoreEncoding::U16 { scale: 1.0, zero_point: 0 }).number());
    assert!(CALIB_ENCODING_ROUNDED_F32 == ScoreEncoding::RoundedF32.number());
    assert!(CALIB_ENCODING_I16 == (ScoreEncoding::I16 { scale: 1.0, zero_point: 0 }).number());
    assert!(CALIB_ENCODING_MARGIN == ScoreEncoding::Margin.number());
    assert!(CALIB_ENCODING_ROUNDED_MARGIN == ScoreEncoding::RoundedMargin.number());
    assert!(CALIB_REDUCTION_BINARY == Reduction::Binary.number());
    assert!(CALIB_REDUCTION_TOP_LABEL == Reduction::TopLabel.number());
    assert!(CALIB_REDUCTION_CONFIDENCE == Reduction::Confidence.number());
    assert!(CALIB_REDUCTION_CLASS_WISE == Reduction::ClassWise.number());
    assert!(CALIB_REDUCTION_NORMALIZED == Reduction::Normalized.number());
    assert!(CALIB_REDUCTION_TOP_K_LABEL == (Reduction::TopKLabel { k: 1 }).number());
    assert!(CALIB_REDUCTION_TOP_K_CONFIDENCE == (Reduction::TopKConfidence { k: 1 }).number());
    assert!(CALIB_REDUCTION_JOINT == Reduction::Joint.number());
};

/// What an artifact states about its calibrator.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct calib_info_t {
    /// The number of calibration rows.
    pub n: u64,
    /// The artifact's name, a hash of its content.
    pub identity: [u8; 8],
    /// The artifact's length in bytes.
    pub len_bytes: u32,
    /// The artifact's counter; 0 if it has none.
    pub counter: u32,
    /// The number of bins.
    pub bins: u32,
    /// The largest probability that the guarantee does not hold; not a number without a guarantee.
    pub alpha: f32,
    /// The guaranteed bound on the difference between probability and event frequency, of all bins; not a number without a guarantee.
    pub epsilon: f32,
    /// The difference between neighboring codes' scores; 0 of floats.
    pub scale: f32,
    /// The code of the score 0; 0 of floats.
    pub zero_point: i32,
    /// The number of classes.
    pub classes: u16,
    /// How many results `calib_apply_top_k_...` gives; 0 of other calibrators.
    pub top_k: u16,
    /// How many floats `calib_apply_all_...` needs; 0 of other calibrators.
    pub all_floats: u16,
    /// `CALIB_ENCODING_...`.
    pub encoding: u8,
    /// `CALIB_REDUCTION_...`.
    pub reduction: u8,
    /// The method's number in the artifact format.
    pub method: u8,
    /// The number of the guarantee's theorem in the artifact format, or `CALIB_UNKNOWN` without a guarantee.
    pub theorem: u8,
    /// Whether the calibrator needs a random word with every score: 0 or 1.
    pub is_randomized: u8,
    /// The number of groups; 0 if there are none.
    pub groups: u8,
    /// The number of the decision rule's actions; 0 if there is no rule.
    pub actions: u8,
    /// Whether there are thresholds: 0 or 1.
    pub has_thresholds: u8,
    /// Whether there are prediction sets: 0 or 1.
    pub has_sets: u8,
    /// Always 0.
    pub reserved: u8,
}

impl calib_info_t {
    /// What the header says; nothing of what is not in it.
    pub(crate) fn of(header: &Header<'_>, identity: Identity, len_bytes: usize, counter: u32) -> Self {
        let guarantee = header.guarantee;
        let (scale, zero_point) = header.encoding.affine().unwrap_or_default();
        Self {
            n: header.n,
            identity: identity.0,
            // An artifact states its length in 32 bits.
            len_bytes: len_bytes as u32,
            counter,
            bins: header.bins,
            alpha: guarantee.map_or(f32::NAN, |guarantee| guarantee.alpha),
            epsilon: guarantee.map_or(f32::NAN, |guarantee| guarantee.epsilon),
            scale,
            zero_point,
            classes: header.classes,
            top_k: 0,
            all_floats: 0,
            encoding: header.encoding.number(),
            reduction: header.reduction.number(),
            method: header.method.number(),
            theorem: guarantee.map_or(CALIB_UNKNOWN, |guarantee| guarantee.theorem.number()),
            is_randomized: 0,
            groups: 0,
            actions: 0,
            has_thresholds: 0,
            has_sets: 0,
            reserved: 0,
        }
    }
}

/// An open calibrator.
#[derive(Debug)]
pub(crate) struct Opened {
    slot: Slot<'static>,
    /// Where the artifact lies.
    bytes: Span,
    /// Of which load of a buffer it is; none if it lies in other memory.
    lease: Option<Lease>,
    groups: u8,
    has_thresholds: bool,
    has_sets: bool,
    top_k: u16,
    all_floats: u16,
}

impl Opened {
    /// What a slot holds, if there is a calibrator in it.
    pub(crate) fn new(
        slot: Slot<'static>,
        artifact: &Artifact<'_>,
        bytes: Span,
        lease: Option<Lease>,
    ) -> Result<Self> {
        slot.status().map_err(of_missing)?;
        // Their lengths fit: there are at most 65535 classes, and a scaling of whole vectors has at most 128.
        let (top_k, all_floats) = match artifact.calibrator() {
            Calibrator::TopK(top) => (top.k() as u16, 0),
            Calibrator::Vector(vector) => (0, vector.space() as u16),
            _ => (0, 0),
        };
        let groups = artifact.groups().map_or(0, |groups| groups.count() as u8);
        let has_thresholds = artifact.operating_points().is_some();
        let has_sets = artifact.prediction_sets().is_some();
        Ok(Self { slot, bytes, lease, groups, has_thresholds, has_sets, top_k, all_floats })
    }

    /// An open calibrator, of which the artifact is still where it was.
    ///
    /// # Safety
    ///
    /// As [`memory::look`], of a state that is an open calibrator.
    pub(crate) unsafe fn look<'a>(calibrator: *const calib_calibrator_t) -> Result<&'a Self> {
        // SAFETY: the caller's.
        let opened = unsafe { memory::look::<Self>(calibrator.cast()) }?;
        match opened.lease {
            // SAFETY: the caller's: the buffer is there as long as its calibrators.
            Some(lease) if !unsafe { lease.holds() } => Err(CALIB_ERROR_STATE),
            _ => Ok(opened),
        }
    }

    /// The artifact's name.
    pub(crate) fn identity(&self) -> Option<Identity> {
        self.artifact().map(Artifact::identity)
    }

    pub(crate) fn info(&self) -> Result<calib_info_t> {
        let artifact = self.artifact().ok_or(CALIB_ERROR_STATE)?;
        // A rule has at most 16 actions.
        let actions = artifact.decision().map_or(0, |rule| rule.action_count() as u8);
        Ok(calib_info_t {
            top_k: self.top_k,
            all_floats: self.all_floats,
            is_randomized: self.slot.is_randomized().into(),
            groups: self.groups,
            actions,
            has_thresholds: self.has_thresholds.into(),
            has_sets: self.has_sets.into(),
            ..calib_info_t::of(
                artifact.header(),
                artifact.identity(),
                artifact.len_bytes(),
                artifact.counter(),
            )
        })
    }

    /// Where the artifact lies: anyone who writes there changes the calibrator.
    pub(crate) const fn bytes(&self) -> Span {
        self.bytes
    }

    /// The artifact, of which the slot saw that it is for the classifier.
    pub(crate) fn artifact(&self) -> Option<&Artifact<'static>> {
        self.slot.artifact()
    }

    /// How many floats the probabilities of all classes need; 0 if the calibrator gives others.
    pub(crate) fn all_floats(&self) -> usize {
        self.all_floats.into()
    }

    /// How many classes the calibrator gives; 0 if it gives one or all.
    pub(crate) fn top_k(&self) -> usize {
        self.top_k.into()
    }

    /// The slot with the calibrator.
    pub(crate) const fn slot(&self) -> &Slot<'static> {
        &self.slot
    }
}

/// Opens an artifact at the start of `bytes`, whose rest is erased: checks it completely, once.
///
/// `bytes` starts at a multiple of 4, and stays where and what it is while the calibrator is used. `classifier` points to the
/// 8 bytes of the classifier's identity, which the artifact must name if it names one; null accepts every artifact.
/// No signature is checked: anyone who can write this memory could also write another program. `calib_store_load` checks signatures.
///
/// # Safety
///
/// Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_open(
    calibrator: *mut calib_calibrator_t,
    bytes: *const u8,
    len: usize,
    classifier: *const u8,
) -> i32 {
    let read = [Span::of_slice(bytes, len), Span::of(classifier.cast::<[u8; 8]>())];
    let make = || {
        let place = Span::of_slice(bytes, len);
        // SAFETY: the caller's.
        let bytes: &'static [u8] = unsafe { memory::slice(bytes, len) }?;
        let artifact = Artifact::parse_slot(bytes).map_err(of_parsing)?;
        let id = if classifier.is_null() {
            artifact.header().provenance.classifier.unwrap_or(ClassifierId([0; 8]))
        } else {
            // SAFETY: the caller's.
            ClassifierId(unsafe { memory::copied(classifier.cast()) }?)
        };
        Opened::new(Slot::read(bytes, Anybody, id, Task::of(&artifact)), &artifact, place, None)
    };
    // SAFETY: the caller's.
    code(unsafe { memory::open(calibrator, &[&read], make) })
}

/// Says what an open calibrator is.
///
/// # Safety
///
/// As [`calib_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_info(calibrator: *const calib_calibrator_t, info: *mut calib_info_t) -> i32 {
    // SAFETY: the caller's.
    let opened = unsafe { Opened::look(calibrator) };
    let told = opened.and_then(|opened| {
        // SAFETY: the caller's.
        let place = unsafe { OutParam::new(info, &[&[Span::of(calibrator), opened.bytes()]]) }?;
        place.write(opened.info()?);
        Ok(())
    });
    code(told)
}
