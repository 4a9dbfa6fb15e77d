//! Power cuts while a calibrator is installed whose key took the place of another one: the old key is not accepted afterwards.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;

use calib_core::artifact::{ArtifactWriter, KeyId, SIGNATURE_SECTION_LEN, sign};
use calib_core::slot::{InstallError, ROTATION_SECTION, Refused, Rotation, SignatureError, Trust};
use calib_core::{Admission, Artifact, Identity, SlotLayout, TrustedKey};
use ed25519_dalek::{Signer, SigningKey};

use crate::faults::artifacts::{Aligned, CLASSIFIER, Recipe};
use crate::faults::chip::on_chip;
use crate::faults::flash::{Cut, Flash};
use crate::faults::geometry::{Geometry, for_every_geometry};
use crate::faults::nature::Nature;
use crate::faults::report::Report;
use crate::faults::rig::{Loaded, Open, Rig, Store, which};
use crate::faults::scale::Scale;

/// How many cuts there were, and what came of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RotationReport {
    /// The cuts: while the first calibrator of the new key is installed, the second one, and that of a third key.
    pub cuts: [u64; 3],
    /// How often a calibrator that is signed with a revoked key was refused.
    pub refused: u64,
    /// How often the old key was still accepted, since no calibrator of the new one was complete.
    pub before: u64,
    /// What should not have happened; the first few.
    pub violations: Vec<String>,
}

/// The keys, and what they sign. `old` has the greatest counter that there is.
struct Signed {
    /// What is installed in order.
    chain: [Aligned; 4],
    /// By the first key, and by a key that the first one names, too; then likewise with statements that name the right key.
    old: [Aligned; 4],
}

/// [`TrustedKey`], which remembers what it said of the same bytes: a campaign asks a million times about a few artifacts.
#[derive(Debug)]
struct Remembering(TrustedKey);

thread_local! {
    static VERDICTS: RefCell<HashMap<Vec<u8>, Result<(), SignatureError>>> = RefCell::default();
}

impl Trust for Remembering {
    fn check(&self, artifact: &Artifact<'_>, bytes: &[u8]) -> Result<(), SignatureError> {
        if let Some(verdict) = VERDICTS.with_borrow(|known| known.get(bytes).copied()) {
            return verdict;
        }
        let verdict = self.0.check(artifact, bytes);
        VERDICTS.with_borrow_mut(|known| known.insert(bytes.to_vec(), verdict));
        verdict
    }

    fn key(&self) -> Option<KeyId> {
        self.0.key()
    }

    fn successor(&self, artifact: &Artifact<'_>, bytes: &[u8]) -> Option<KeyId> {
        self.0.successor(artifact, bytes)
    }

    fn check_after(
        &self,
        successor: KeyId,
        artifact: &Artifact<'_>,
        bytes: &[u8],
    ) -> Result<(), SignatureError> {
        self.0.check_after(successor, artifact, bytes)
    }
}

fn key(seed: u8) -> SigningKey {
    SigningKey::from_bytes(&[seed; 32])
}

fn trusted(key: &SigningKey) -> TrustedKey {
    TrustedKey::new(key.verifying_key().as_bytes()).expect("a key")
}

fn rotation(old: &SigningKey, next: &SigningKey, counter: u32) -> Rotation {
    let next = next.verifying_key().to_bytes();
    Rotation { next, counter, signature: old.sign(&Rotation::message(&next, counter)).to_bytes() }
}

/// An artifact with a chain, signed with a key.
fn signed(recipe: Recipe, chain: &[Rotation], by: &SigningKey) -> Aligned {
    let plain = recipe.artifact();
    let parsed = Artifact::parse(plain.bytes()).expect("it was made here");
    let mut words = vec![0u32; 256];
    let mut writer = ArtifactWriter::new(bytemuck::cast_slice_mut(&mut words));
    writer.header(parsed.header()).expect("the header is in order");
    writer.tables(&[parsed.tables().get(0)]).expect("the tables fit");
    writer.counter(recipe.counter).expect("the counter fits");
    if !chain.is_empty() {
        let chain: Vec<u8> = chain.iter().flat_map(Rotation::to_bytes).collect();
        writer.section(ROTATION_SECTION, false, &chain).expect("the chain fits");
    }
    let identity = Identity(u64::from(recipe.name).to_le_bytes());
    let len = writer.finish(|_| identity).expect("it fits").len();
    let mut bytes = vec![0; len + SIGNATURE_SECTION_LEN];
    bytes[..len].copy_from_slice(&bytemuck::cast_slice::<u32, u8>(&words)[..len]);
    sign(&mut bytes, len, trusted(by).id(), |part| by.sign(&part.message()).to_bytes())
        .expect("there is room");
    Aligned::new(&bytes)
}

impl Signed {
    fn new() -> Self {
        let [a, b, c, thief] = [1, 2, 3, 4].map(key);
        let (to_b, to_c, stolen) = (rotation(&a, &b, 4), rotation(&b, &c, 6), rotation(&a, &thief, 4));
        let unsigned = |key| Rotation { signature: [0; 64], ..rotation(&a, key, 0) };
        let of = |name, counter| Recipe::new(name, 3, counter);
        Self {
            chain: [
                signed(of(1, 3), &[], &a),
                signed(of(2, 4), &[to_b], &b),
                signed(of(3, 5), &[to_b], &b),
                signed(of(5, 6), &[to_b, to_c], &c),
            ],
            old: [
                signed(of(7, u32::MAX), &[], &a),
                signed(of(8, u32::MAX), &[stolen], &thief),
                signed(of(9, u32::MAX), &[to_b], &a),
                signed(of(10, u32::MAX), &[unsigned(&b), unsigned(&a), stolen], &thief),
            ],
        }
    }
}

/// Cuts the power at the steps of three installations, in every way and every geometry. Afterwards the owner of the first key, who has the greatest
/// counter, tries to get a calibrator in.
pub fn rotations(scale: Scale) -> RotationReport {
    Report::sum(for_every_geometry(|geometry, seed| of_geometry(geometry, seed, scale)))
}

fn start(flash: Flash, layout: SlotLayout) -> (Box<dyn Store>, Option<Loaded>) {
    on_chip(flash, Open(layout, Admission::new(Remembering(trusted(&key(1))), CLASSIFIER)))
}

fn of_geometry(geometry: Geometry, seed: u64, scale: Scale) -> RotationReport {
    let mut report = RotationReport::default();
    let signed = Signed::new();
    let stride = scale.pick(61, 1, 1);
    // Natures of flash for each cut.
    let repeats = scale.pick(1, 2, 4) as u64;
    for at in 1..signed.chain.len() {
        let mut prepared = Rig::starting(geometry, seed, start);
        for artifact in &signed.chain[..at] {
            if let Err(error) = prepared.try_install(artifact) {
                report.note(format!("{geometry}: what is signed is not installed: {error}"));
                return report;
            }
        }
        let mut whole = prepared.clone();
        let before = whole.flash.steps();
        whole.try_install(&signed.chain[at]).expect("the power is on");
        let steps = whole.flash.steps() - before;
        for cut in Cut::ALL {
            let natures = |step| (0..repeats).map(move |repeat| (step, repeat));
            for (step, repeat) in (0..=steps).step_by(stride).flat_map(natures) {
                report.cuts[at - 1] += 1;
                let mut rig = prepared.clone();
                let nature = Nature::of_cut(step + repeat);
                rig.flash.set_nature(nature);
                rig.flash.cut_at(step, cut);
                if let Err(problem) = one_cut(&mut rig, &signed, at, &mut report) {
                    report.note(format!(
                        "{geometry}, {nature:?}, installation {at}, {cut:?} at step {step}: {problem}"
                    ));
                }
            }
        }
    }
    report
}

/// Installs a calibrator with a cut, and lets the owners of revoked keys try.
fn one_cut(rig: &mut Rig, signed: &Signed, at: usize, report: &mut RotationReport) -> Result<(), String> {
    let (new, old) = (&signed.chain[at], &signed.chain[at - 1]);
    let acknowledged = match rig.try_install(new) {
        Ok(_) => true,
        Err(InstallError::Flash(_)) => false,
        Err(other) => return Err(format!("refused: {other}")),
    };
    let active = rig.boot(&[new, old])?;
    if active.is_none() || acknowledged && active != Some(0) {
        return Err(format!("{active:?} is active, acknowledged {acknowledged}"));
    }
    for forged in &signed.old {
        let mut tried = rig.clone();
        tried.flash.restart();
        let (loaded, installed) = tried.run(|store, loaded| (loaded, store.install(forged.bytes())));
        let loaded = loaded.as_ref().ok_or("nothing is active in the next start")?;
        // The first key is revoked from the second installation on, once the first one is acknowledged, and while its calibrator is
        // active: a mark that was cut may read otherwise at the next start.
        let is_revoked = at > 1 || acknowledged || which(loaded, &[new, old])? == 0;
        match installed {
            Err(InstallError::Refused(Refused::Signature(SignatureError::Revoked(_)))) => report.refused += 1,
            // The slots are not what they were a moment ago: nothing is installed.
            Err(InstallError::Reload) => {}
            Ok(_) if !is_revoked => report.before += 1,
            other => return Err(format!("a revoked key, with the revocation {is_revoked}: {other:?}")),
        }
    }
    rig.install(new).map_err(|error| format!("cannot be repeated: {error}"))?;
    if rig.boot(&[new, old])? != Some(0) {
        return Err("repeating it did not help".into());
    }
    for forged in &signed.old {
        match rig.try_install(forged) {
            Err(InstallError::Refused(Refused::Signature(SignatureError::Revoked(_)))) => report.refused += 1,
            other => return Err(format!("a revoked key after the installation: {other:?}")),
        }
    }
    Ok(())
}

impl Report for RotationReport {
    fn add_counts(&mut self, part: &Self) {
        self.cuts.iter_mut().zip(part.cuts).for_each(|(all, cuts)| *all += cuts);
        self.refused += part.refused;
        self.before += part.before;
    }

    fn violations(&mut self) -> &mut Vec<String> {
        &mut self.violations
    }
}

impl fmt::Display for RotationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second, third] = self.cuts;
        writeln!(f, "power cuts while keys change: {}", first + second + third)?;
        writeln!(f, "  first of the new key {first}, second {second}, first of a third key {third}")?;
        write!(
            f,
            "  revoked keys refused {} times, not yet revoked {} times; violations {}",
            self.refused,
            self.before,
            self.violations.len()
        )
    }
}
