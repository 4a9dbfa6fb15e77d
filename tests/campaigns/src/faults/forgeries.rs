//! Artifacts that nobody signed, with their CRC repaired.

use std::fmt;

use calib_core::artifact::{KeyId, PREFIX_LEN, SIGNATURE_SECTION_LEN, SignedPart};
use calib_core::slot::Refused;
use calib_core::{Admission, Artifact, ClassifierId, TrustedKey};
use ed25519_dalek::{Signer, SigningKey};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::faults::artifacts::{Aligned, CLASSIFIER, Recipe, crc32c};
use crate::faults::geometry::in_parallel;
use crate::faults::report::Report;
use crate::faults::scale::Scale;

/// How many forgeries there were, and who refused them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForgeryReport {
    /// The forgeries.
    pub forgeries: u64,
    /// Refused because they are no artifact, whatever the signature.
    pub malformed: u64,
    /// Refused by the signature.
    pub signature: u64,
    /// Refused because they are for another classifier, rightly signed.
    pub classifier: u64,
    /// Accepted. There are none.
    pub accepted: Vec<String>,
    /// How often salty and ed25519-dalek were asked about the same signature.
    pub compared: u64,
    /// How often they disagreed.
    pub disagreements: u64,
    /// Signed artifacts that were accepted, as they should be.
    pub genuine: u64,
}

/// Forges signed artifacts in every way that a forger without the private key can, and shows them to a device.
pub fn forgeries(scale: Scale) -> ForgeryReport {
    let artifacts = scale.pick(1, 24, 400) as u32;
    let stride = scale.pick(7, 1, 1);
    let works = (0..artifacts)
        .map(|name| Box::new(move || of_artifact(name, stride)) as Box<dyn FnOnce() -> ForgeryReport + Send>)
        .collect();
    Report::sum(in_parallel(works))
}

/// A device, and who watches it.
struct Court {
    admission: Admission<TrustedKey>,
    key: [u8; 32],
    report: ForgeryReport,
}

fn of_artifact(name: u32, stride: usize) -> ForgeryReport {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(name.into());
    let owner = key(&mut random);
    let stranger = key(&mut random);
    let trusted = TrustedKey::new(owner.verifying_key().as_bytes()).expect("a key");
    let mut court = Court {
        admission: Admission::new(trusted, CLASSIFIER),
        key: owner.verifying_key().to_bytes(),
        report: ForgeryReport::default(),
    };
    let recipe = Recipe::new(name, 3 + name as usize % 5, 10);
    let unsigned = recipe.artifact();
    let good = signed(&unsigned, &owner);
    let other = signed(&Recipe::new(name + 1000, 3 + name as usize % 5, 11).artifact(), &owner);
    for genuine in [&good, &other] {
        match court.admission.admit(genuine.bytes()) {
            Ok(_) => court.report.genuine += 1,
            Err(refused) => court.report.accepted.push(format!("a genuine artifact was refused: {refused}")),
        }
    }

    let (len, body) = (good.bytes().len(), PREFIX_LEN);
    // Every bit: prefix, header, tables, counter, signature.
    // But for the CRC's own bits: repaired, it is the right one again.
    for bit in (0..8 * len).step_by(stride).filter(|bit| !(96..128).contains(bit)) {
        let mut forged = good.bytes().to_vec();
        forged[bit / 8] ^= 1 << (bit % 8);
        court.judge(&format!("bit {bit}"), forged);
    }
    // Every length, cut off or filled up, stated or not.
    for to in (0..2 * len).filter(|&to| to != len).step_by(stride) {
        for fill in [0x00, 0xFF] {
            let mut forged = good.bytes().to_vec();
            forged.resize(to, fill);
            court.judge(&format!("length {to}"), forged.clone());
            if to >= PREFIX_LEN {
                forged[8..12].copy_from_slice(&(to as u32).to_le_bytes());
                court.judge(&format!("stated length {to}"), forged);
            }
        }
    }
    // The head of one behind the body of another, cut anywhere, and each with the other's signature.
    for cut in (body..len).step_by(stride) {
        for (a, b) in [(&good, &other), (&other, &good)] {
            let mut forged = a.bytes().to_vec();
            let rest = &b.bytes()[cut..];
            forged[cut..].copy_from_slice(rest);
            if forged != a.bytes() && forged != b.bytes() {
                court.judge(&format!("spliced at {cut}"), forged);
            }
        }
    }
    // Unsigned, signed by a stranger under both names, signed for something else.
    court.judge("unsigned", unsigned.bytes().to_vec());
    let strange = signed(&unsigned, &stranger);
    court.judge("another key", strange.bytes().to_vec());
    court.judge("another key under the owner's name", with_name(&strange, trusted.id()));
    for wrong in [&unsigned.bytes()[..16], &unsigned.bytes()[16..], unsigned.bytes(), b""] {
        let signature = owner.sign(wrong).to_bytes();
        let mut forged = good.bytes().to_vec();
        forged[len - 64..].copy_from_slice(&signature);
        court.judge("a signature of other bytes", forged);
    }
    // Signatures that are no numbers, of small order, or of the right form at random.
    for case in 0..64 {
        let mut forged = good.bytes().to_vec();
        for half in [0..32, 32..64] {
            let special: [u8; 32] = match (case >> (half.start / 16)) % 4 {
                0 => [0; 32],
                1 => [0xFF; 32],
                2 => std::array::from_fn(|at| u8::from(at == 0)),
                _ => std::array::from_fn(|_| random.next_u64() as u8),
            };
            forged[len - 64..][half].copy_from_slice(&special);
        }
        court.judge("a special signature", forged);
    }
    // Lower and higher counters, and another classifier, without a new signature.
    for counter in (0..64).chain([u32::MAX]).filter(|&counter| counter != recipe.counter) {
        let lower = Recipe { counter: counter.max(1), ..recipe }.artifact();
        if counter.max(1) != recipe.counter {
            court.judge(&format!("counter {counter}"), with_signature_of(&lower, &good, trusted.id()));
        }
    }
    for id in 0..64 {
        let classifier = ClassifierId([id; 8]);
        let theirs = Recipe { classifier, ..recipe }.artifact();
        court.judge("another classifier", with_signature_of(&theirs, &good, trusted.id()));
        court.judge("another classifier, signed", signed(&theirs, &owner).bytes().to_vec());
    }
    court.report
}

impl Court {
    /// Repairs the CRC, and shows the forgery to the device.
    fn judge(&mut self, what: &str, mut forged: Vec<u8>) {
        repair_crc(&mut forged);
        self.report.forgeries += 1;
        let forged = Aligned::new(&forged);
        match self.admission.admit(forged.bytes()) {
            Ok(_) => self.report.accepted.push(what.to_owned()),
            Err(Refused::Signature(_)) => self.report.signature += 1,
            Err(Refused::OtherClassifier(_)) => self.report.classifier += 1,
            Err(_) => self.report.malformed += 1,
        }
        self.compare(forged.bytes());
    }

    /// Asks two implementations about the signature at the end, whatever is in front of it.
    fn compare(&mut self, forged: &[u8]) {
        let Some(signed) = SignedPart::of(forged) else { return };
        let message = signed.message();
        let bytes: [u8; 64] = forged[forged.len() - 64..].try_into().expect("64 bytes");
        let dalek = ed25519_dalek::VerifyingKey::from_bytes(&self.key).expect("a key");
        let dalek = dalek.verify_strict(&message, &ed25519_dalek::Signature::from_bytes(&bytes)).is_ok();
        let salty = salty::PublicKey::try_from(&self.key).expect("a key");
        let salty = salty.verify(&message, &salty::Signature::from(&bytes)).is_ok();
        self.report.compared += 1;
        self.report.disagreements += u64::from(dalek != salty);
    }
}

fn key(random: &mut Xoshiro256PlusPlus) -> SigningKey {
    let mut seed = [0; 32];
    random.fill_bytes(&mut seed);
    SigningKey::from_bytes(&seed)
}

fn signed(artifact: &Aligned, key: &SigningKey) -> Aligned {
    let id = TrustedKey::new(key.verifying_key().as_bytes()).expect("a key").id();
    with_signature(artifact, id, |part| key.sign(&part.message()).to_bytes())
}

fn with_signature(artifact: &Aligned, id: KeyId, sign: impl FnOnce(SignedPart<'_>) -> [u8; 64]) -> Aligned {
    let len = artifact.bytes().len();
    let mut words = vec![0u32; (len + SIGNATURE_SECTION_LEN) / 4];
    let buf = bytemuck::cast_slice_mut::<u32, u8>(&mut words);
    buf[..len].copy_from_slice(artifact.bytes());
    Aligned::new(calib_core::artifact::sign(buf, len, id, sign).expect("it fits"))
}

/// An artifact with the signature of another.
fn with_signature_of(artifact: &Aligned, other: &Aligned, id: KeyId) -> Vec<u8> {
    let other = Artifact::parse(other.bytes()).expect("genuine").signature().expect("signed");
    with_signature(artifact, id, |_| *other.bytes).bytes().to_vec()
}

/// A signed artifact that names another key.
fn with_name(artifact: &Aligned, id: KeyId) -> Vec<u8> {
    let mut bytes = artifact.bytes().to_vec();
    let at = bytes.len() - 72;
    bytes[at..at + 8].copy_from_slice(&id.0);
    bytes
}

/// Writes the CRC that goes with all other bytes.
fn repair_crc(bytes: &mut [u8]) {
    if bytes.len() >= 16 {
        let crc = crc32c(&[&bytes[..12], &bytes[16..]]);
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
    }
}

impl Report for ForgeryReport {
    fn add_counts(&mut self, part: &Self) {
        self.forgeries += part.forgeries;
        self.malformed += part.malformed;
        self.signature += part.signature;
        self.classifier += part.classifier;
        self.compared += part.compared;
        self.disagreements += part.disagreements;
        self.genuine += part.genuine;
    }

    fn violations(&mut self) -> &mut Vec<String> {
        &mut self.accepted
    }
}

impl ForgeryReport {
    /// Whether anything was accepted, or was not that should have been.
    pub fn is_clean(&self) -> bool {
        self.accepted.is_empty() && self.disagreements == 0 && self.genuine > 0
    }
}

impl fmt::Display for ForgeryReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "forgeries with the CRC repaired: {}, accepted {}", self.forgeries, self.accepted.len())?;
        writeln!(
            f,
            "  refused as malformed {}, by the signature {}, for the classifier {}; {} genuine ones accepted",
            self.malformed, self.signature, self.classifier, self.genuine
        )?;
        write!(
            f,
            "  ed25519-dalek against salty: {} signatures, {} disagreements",
            self.compared, self.disagreements
        )
    }
}
