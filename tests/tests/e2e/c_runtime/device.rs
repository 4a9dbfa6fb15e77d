//! A device by the library for C on this machine: updates, counters and signatures over its line.

use std::fs;
use std::path::PathBuf;

use calib_core::artifact::crc32c;
use calib_core::slot::{Refused, SignatureError};
use calib_core::wire::{
    Chunk, Counters, CountersRefusal, FrameReader, MAX_CHUNK, MAX_FRAME, Persistence, PredictionOutcome,
    Refusal, Reply, ReplyBody, Request, RequestBody, Scores, UpdateRefusal, UpdateStatus, encode,
};
use calib_core::{Calibrator, Score};
use calib_host::StoredArtifact;
use calib_host::io::files::PrivateKey;

use super::in_c;
use crate::update::setting::{ID, monitored, owner};

/// Steps of an installation, and more.
const STEPS: usize = 20;
const FIRST: RequestBody = RequestBody::Counters { table: 0 };

struct Device {
    folder: tempfile::TempDir,
    program: PathBuf,
}

impl Device {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = in_c::program(folder.path(), "device.c");
        Self { folder, program }
    }

    /// Starts it with blank flash, and sends all of it; returns the replies.
    fn ask(&self, owner: Option<&PrivateKey>, requests: &[RequestBody]) -> Vec<ReplyBody> {
        let [key, received, sent] = ["key", "received", "sent"].map(|name| self.folder.path().join(name));
        fs::write(&key, owner.map_or(Vec::new(), |owner| owner.public().to_bytes().to_vec())).unwrap();
        fs::write(&received, frames(requests)).unwrap();
        in_c::run(&self.program, &[key, received, sent.clone()]);
        let mut reader = FrameReader::new();
        let replies: Vec<Reply> = fs::read(sent)
            .unwrap()
            .into_iter()
            .filter_map(|byte| reader.push(byte))
            .map(Result::unwrap)
            .collect();
        assert!(replies.iter().map(|reply| reply.id).eq(1..=requests.len() as u32));
        replies.into_iter().map(|reply| reply.body).collect()
    }
}

/// The requests as a line carries them.
pub(super) fn frames(requests: &[RequestBody]) -> Vec<u8> {
    let frame = |(id, body): (u32, &RequestBody)| {
        encode(&Request { id, body: body.clone() }, &mut [0; MAX_FRAME]).unwrap().to_vec()
    };
    (1..).zip(requests).flat_map(frame).collect()
}

/// Puts an artifact into force.
pub(super) fn push(bytes: &[u8]) -> Vec<RequestBody> {
    let mut requests = vec![RequestBody::Announce { len_bytes: bytes.len() as u32, crc: crc32c(bytes) }];
    requests.extend(bytes.chunks(MAX_CHUNK).enumerate().map(|(place, part)| RequestBody::Chunk {
        offset: (place * MAX_CHUNK) as u32,
        bytes: Chunk::from_slice(part).unwrap(),
    }));
    requests.extend(vec![RequestBody::Install; STEPS]);
    requests
}

fn classify(score: f32, count: usize) -> Vec<RequestBody> {
    vec![RequestBody::predict(Scores::Features([score].into_iter().collect())); count]
}

fn told(artifact: &StoredArtifact, score: f32, known: u32) -> RequestBody {
    let Calibrator::Binary(binary) = artifact.artifact().calibrator() else { panic!("not binary") };
    let bin = binary.calibrate(Score::new(score).unwrap()).calibrated().unwrap().bin;
    let calibrator = artifact.artifact().identity();
    RequestBody::Outcome(PredictionOutcome {
        calibrator,
        group: None,
        class: 1,
        bin,
        is_positive: true,
        known,
    })
}

fn counted(reply: &ReplyBody) -> (u32, u32, &Counters) {
    let ReplyBody::Counters(counters) = reply else { panic!("{reply:?}") };
    let labeled = counters.outcomes.iter().map(|known| known.labeled).sum();
    (counters.predictions.iter().sum(), labeled, counters)
}

#[test]
fn it_counts_and_begins_anew_with_another_calibrator() {
    let [first, second] = [8, 10].map(|bins| monitored(bins, 0, Some(ID)));
    let reset = RequestBody::ResetCounters { calibrator: first.artifact().identity() };
    let requests = [
        vec![FIRST],
        push(first.as_bytes()),
        classify(0.9, 50),
        // Made up on the line.
        vec![
            RequestBody::predict(Scores::Score(0.9)),
            FIRST,
            told(&first, 0.9, 0),
            told(&first, 0.9, 0),
            told(&second, 0.9, 0),
        ],
        vec![reset, FIRST],
        classify(0.9, 3),
        push(second.as_bytes()),
        classify(0.9, 5),
        vec![FIRST],
    ]
    .concat();
    let replies = Device::new().ask(None, &requests);
    assert_eq!(replies[0], ReplyBody::Refused(Refusal::Counters(CountersRefusal::NotMonitored)));
    assert!(
        replies.iter().filter(|reply| matches!(reply, ReplyBody::Update(UpdateStatus::Installed(_)))).count()
            > 2
    );
    let at = requests
        .iter()
        .position(|request| matches!(request, RequestBody::Predict(question) if matches!(question.scores, Scores::Score(_))))
        .unwrap()
        + 1;
    let (predictions, _, counters) = counted(&replies[at]);
    // It saves after 1, 3, 7 and from then on 8 more each, and tells what is saved.
    assert!(predictions == 47 && counters.persistence == Persistence::SavedExcept(3), "{counters:?}");
    assert!(counters.shift.raised.is_some() && counters.takes_outcomes);
    for again in [1, 2] {
        let (predictions, labeled, _) = counted(&replies[at + again]);
        assert_eq!((predictions, labeled), (50, 1), "what is sent again counts once");
    }
    let other = CountersRefusal::OtherCalibrator(first.artifact().identity());
    assert_eq!(replies[at + 3], ReplyBody::Refused(Refusal::Counters(other)));
    let (predictions, labeled, counters) = counted(&replies[at + 5]);
    assert_eq!((predictions, labeled, counters.shift.raised), (0, 0, None));
    let (predictions, _, counters) = counted(replies.last().unwrap());
    assert_eq!((predictions, counters.calibrator), (3, second.artifact().identity()));
}

#[test]
fn with_a_key_it_takes_what_is_signed_no_trials_and_no_outcomes() {
    let artifact = monitored(8, 1, Some(ID));
    let signed = owner().sign(&artifact).unwrap();
    let stranger = PrivateKey::generate().unwrap().sign(&artifact).unwrap();
    let switched_off = ReplyBody::Refused(Refusal::SwitchedOff);
    let device = Device::new();
    for (forged, signature) in [(artifact.as_bytes(), false), (&stranger, true)] {
        let replies = device.ask(Some(owner()), &[push(forged), classify(0.9, 1)].concat());
        let installed =
            replies.iter().any(|reply| matches!(reply, ReplyBody::Update(UpdateStatus::Installed(_))));
        let is_refused = |reply: &ReplyBody| match reply {
            ReplyBody::Refused(Refusal::Update(UpdateRefusal::Refused(Refused::Signature(error)))) => {
                signature != (*error == SignatureError::Missing)
            }
            _ => false,
        };
        assert!(!installed && replies.iter().any(is_refused), "{replies:?}");
    }
    let reset = RequestBody::ResetCounters { calibrator: artifact.artifact().identity() };
    let asked = vec![FIRST, told(&artifact, 0.9, 0), reset, RequestBody::predict(Scores::Score(0.9))];
    let replies = device.ask(Some(owner()), &[push(&signed), classify(0.9, 4), asked].concat());
    let [.., counters, outcome, reset, trial] = &replies[..] else { panic!("too few") };
    let (predictions, _, counters) = counted(counters);
    assert_eq!((predictions, counters.takes_outcomes), (3, false));
    assert_eq!([outcome, reset, trial], [&switched_off; 3]);
}

#[test]
fn what_is_longer_than_a_buffer_is_refused_before_a_byte_is_sent() {
    let announce = |len_bytes| RequestBody::Announce { len_bytes, crc: 0 };
    let replies = Device::new().ask(None, &[announce(4096), announce(4097)]);
    let receiving = UpdateStatus::Receiving { received: 0, len_bytes: 4096 };
    let too_large = UpdateRefusal::TooLarge { len_bytes: 4097, max: 4096 };
    assert_eq!(replies, [ReplyBody::Update(receiving), ReplyBody::Refused(Refusal::Update(too_large))]);
}
