//! A log that is edited by others than its writer.

use calib_fit::data::RowGroups;
use calib_fit::job::{FitOptions, fit};
use calib_fit::{BinaryData, Dataset, StoredArtifact};

use super::*;
use crate::files::{LogError, PrivateKey};
use crate::protocol::{Case, Measured, Protocol, STARTER, measure, read_protocol};

/// The event of a score of s occurs in s / 2 of the cases, by another draw for every seed.
fn rows(n: u32, seed: u64) -> Dataset {
    let mut state = seed;
    let mut uniform = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    let (scores, labels) =
        (0..n).map(|_| (uniform(), uniform())).map(|(score, other)| (score, other < score / 2.0)).unzip();
    Dataset::from(BinaryData::new(scores, labels).unwrap().on_device())
}

fn artifact(counter: u32, n: u32) -> StoredArtifact {
    let mut options = FitOptions::default();
    options.counter = counter;
    fit(&rows(n, u64::from(n)), &options).unwrap().artifact
}

struct Place {
    folder: tempfile::TempDir,
    keys: [PrivateKey; 2],
    protocol: Protocol,
}

impl Place {
    /// With a protocol in which one or two of two keys sign.
    fn new(needed: usize) -> Self {
        let keys = [PrivateKey::generate().unwrap(), PrivateKey::generate().unwrap()];
        let folder = tempfile::tempdir().unwrap();
        let named = format!("keys = [\"{}\", \"{}\"]\nneeded = {needed}", keys[0].public(), keys[1].public());
        let (before, after) = STARTER.split_once("keys = [").unwrap();
        let text = format!("{before}{named}\n{}", after.split_once("approve`\n").unwrap().1);
        std::fs::write(folder.path().join("protocol.toml"), text).unwrap();
        let protocol = read_protocol(&folder.path().join("protocol.toml")).unwrap();
        Self { folder, keys, protocol }
    }

    fn log(&self) -> std::path::PathBuf {
        self.folder.path().join("log.jsonl")
    }

    fn decide(
        &self,
        key: usize,
        new: &StoredArtifact,
        active: Option<&StoredArtifact>,
        approves: bool,
        seed: u64,
    ) -> Decision {
        let mut writer = LogWriter::open(&self.log()).unwrap();
        let measured: Measured = measure(&self.protocol, (new, active), &rows(1000, seed), None).unwrap();
        let (secret, key) = (&self.keys[key], self.keys[key].public());
        let history = writer.log().history(&self.protocol, new, &measured, &key);
        let case = Case { new, active, measured: &measured, key: &key, approves, history: &history };
        let path = self.folder.path().join("signed.bin");
        let entry = writer.decide(secret, &self.protocol, &case, (Some((&path, true)), 0)).unwrap().entry;
        entry.lines.iter().filter(|line| !line.kept).for_each(|line| println!("{line}"));
        entry.decision
    }
}

#[test]
fn every_edit_of_a_log_is_found_and_named() {
    let place = Place::new(1);
    let artifacts = [artifact(1, 3000), artifact(2, 2000), artifact(3, 2500)];
    assert_eq!(place.decide(0, &artifacts[0], None, false, 1), Decision::Signed);
    assert_eq!(place.decide(0, &artifacts[1], Some(&artifacts[0]), false, 2), Decision::Signed);
    // The rows are those of the decision before.
    assert_eq!(place.decide(1, &artifacts[2], Some(&artifacts[1]), false, 2), Decision::Refused);

    let text = std::fs::read_to_string(place.log()).unwrap();
    let log = DecisionLog::read(&place.log()).unwrap();
    assert_eq!(log.check_protocol(&place.protocol), Ok(()));
    let head = log.head().unwrap().to_owned();
    let lines: Vec<&str> = text.lines().collect();
    let of = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let found = |text: String| DecisionLog::from_text(text).map(|log| log.entries().len());
    assert_eq!(found(of(&lines)), Ok(3));
    let edited = text.replacen("\"kept\":true", "\"kept\":false", 1);
    assert_eq!(found(edited), Err((1, LogError::Edited(1))));
    assert_eq!(found(text.replace("\"refused\"", "\"signed\"")), Err((3, LogError::Edited(3))));
    let swapped = of(&[lines[0], lines[2], lines[1]]);
    assert_eq!(found(swapped), Err((2, LogError::Number { expected: 2, got: 3 })));
    assert_eq!(found(of(&[lines[0], lines[2]])), Err((2, LogError::Number { expected: 2, got: 3 })));
    assert_eq!(found(of(&lines[1..])), Err((1, LogError::Number { expected: 1, got: 2 })));
    assert_eq!(found(text.trim_end().to_owned()), Err((3, LogError::CutLine)));
    assert!(matches!(found(text[..text.len() - 9].to_owned()), Err((3, LogError::NotAnEntry(_)))));
    let spaced = text.replacen("{\"entry\"", "{ \"entry\"", 1);
    assert_eq!(found(spaced), Err((2, LogError::Previous(2))));
    let other_key =
        text.replacen(&place.keys[0].public().to_string(), &place.keys[1].public().to_string(), 1);
    assert_eq!(found(other_key), Err((1, LogError::Edited(1))));

    // Without its last entry a log is in order, except for a hash that someone kept.
    let cut = DecisionLog::from_text(of(&lines[..2])).unwrap();
    assert_eq!(cut.check_head(&head), Err(LogError::Head(head.clone())));
    assert_eq!((log.check_head(&head), log.check_head(cut.head().unwrap())), (Ok(()), Ok(())));

    // A protocol that was loosened afterwards is another one.
    let signed = calib_fit::StoredArtifact::from_bytes(
        &std::fs::read(place.folder.path().join("signed.bin")).unwrap(),
    );
    let signed = signed.unwrap();
    assert_eq!(log.signed(&place.protocol, &signed).map(|logged| logged.entry.number), Ok(2));
    let loosened = Protocol { sha256: [0; 32], ..place.protocol.clone() };
    assert_eq!(log.signed(&loosened, &signed), Err(NotSigned::OtherProtocol(2)));
    assert_eq!(log.signed(&place.protocol, &artifacts[1]), Err(NotSigned::OtherKey(2)));
    assert_eq!(log.signed(&place.protocol, &artifacts[2]), Err(NotSigned::Refused(3)));
    assert_eq!(log.signed(&place.protocol, &artifact(4, 600)), Err(NotSigned::NoEntry));
}

#[test]
fn two_keys_are_two_keys() {
    let place = Place::new(2);
    let new = artifact(1, 3000);
    assert_eq!(place.decide(0, &new, None, false, 1), Decision::Refused);
    assert_eq!(place.decide(0, &new, None, true, 1), Decision::Approved);
    // The same key is no second one, nor does it count for other rows.
    assert_eq!(place.decide(0, &new, None, false, 1), Decision::Refused);
    assert_eq!(place.decide(1, &new, None, false, 2), Decision::Refused);
    assert_eq!(place.decide(1, &new, None, false, 1), Decision::Signed);
    let log = DecisionLog::read(&place.log()).unwrap();
    assert_eq!(log.check_protocol(&place.protocol), Ok(()));

    // An owner of one key who writes that it is enough.
    let alone = Place { protocol: Place::new(1).protocol, ..Place::new(2) };
    let [first, second] = [&alone.keys[0], &alone.keys[1]].map(PrivateKey::public);
    let mut one = alone.protocol.clone();
    (one.sign.keys, one.sign.needed) = (vec![first, second], 1);
    let alone = Place { protocol: one.clone(), ..alone };
    assert_eq!(alone.decide(0, &new, None, false, 1), Decision::Signed);
    let log = DecisionLog::read(&alone.log()).unwrap();
    let mut two = one.clone();
    two.sign.needed = 2;
    assert_eq!(log.check_protocol(&two), Err(LogError::OneKey(1)));
    let mut other = one;
    other.sign.keys.remove(0);
    assert_eq!(log.check_protocol(&other), Err(LogError::OtherKey(1)));
}

#[test]
fn rows_of_groups_are_judged_by_group() {
    let mut place = Place::new(1);
    place.protocol.accept.each_group = Some(place.protocol.accept.all());
    let new = artifact(1, 3000);
    let groups = RowGroups::new((0..1000).map(|row| if row % 3 == 0 { "a" } else { "b" }));
    let grouped = rows(1000, 1).with_groups(groups).unwrap();
    let measured = measure(&place.protocol, (&new, Some(&new)), &grouped, None).unwrap();
    let found: Vec<(&str, u64)> =
        measured.groups.iter().flatten().map(|group| (&*group.group, group.figures.n)).collect();
    assert_eq!(found, [("a", 334), ("b", 666)]);
    // The same calibrator changes nothing.
    let change = measured.groups.as_ref().unwrap()[0].figures.change.unwrap().unwrap();
    assert_eq!(change.brier.value, 0.0);
}
