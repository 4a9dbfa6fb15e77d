//! A key that names another one in its place.

use calib_core::artifact::{ArtifactWriter, Header, SIGNATURE_SECTION_LEN, sign};
use calib_core::slot::{InstallError, MAX_ROTATIONS, ROTATION_SECTION, Refused, Rotation, SignatureError};
use calib_core::{Admission, Artifact, ArtifactBuffer, Identity, SlotStore, TrustedKey};
use ed25519_dalek::{Signer, SigningKey};

use crate::flash::{Flash, SLOT_LEN};
use crate::{Buffer, LAYOUT, OURS, artifact};

type Store = SlotStore<Flash, TrustedKey>;
type Signed = ArtifactBuffer<256>;

fn key(seed: u8) -> SigningKey {
    SigningKey::from_bytes(&[seed; 32])
}

fn public(key: &SigningKey) -> TrustedKey {
    TrustedKey::new(key.verifying_key().as_bytes()).unwrap()
}

fn rotation(old: &SigningKey, next: &SigningKey, counter: u32) -> Rotation {
    let next = next.verifying_key().to_bytes();
    Rotation { next, counter, signature: old.sign(&Rotation::message(&next, counter)).to_bytes() }
}

/// An artifact with this counter and chain, signed with a key.
fn signed(counter: u32, chain: &[Rotation], by: &SigningKey) -> Signed {
    let plain = artifact(counter, 0.5, OURS);
    let parsed = Artifact::parse(plain.as_bytes()).unwrap();
    let header: Header<'_> = *parsed.header();
    let mut words = vec![0u32; 512];
    let buf: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
    let mut writer = ArtifactWriter::new(buf);
    writer.header(&header).unwrap();
    writer.tables(&[parsed.tables().get(0)]).unwrap();
    writer.counter(counter).unwrap();
    if !chain.is_empty() {
        let chain: Vec<u8> = chain.iter().flat_map(Rotation::to_bytes).collect();
        writer.section(ROTATION_SECTION, false, &chain).unwrap();
    }
    let len = writer.finish(|_| Identity([counter as u8; 8])).unwrap().len();
    let mut bytes = vec![0; len + SIGNATURE_SECTION_LEN];
    bytes[..len].copy_from_slice(&bytemuck::cast_slice::<u32, u8>(&words)[..len]);
    sign(&mut bytes, len, public(by).id(), |part| by.sign(&part.message()).to_bytes()).unwrap();
    let mut buffer = Signed::new();
    buffer.extend_from_slice(&bytes).unwrap();
    buffer
}

fn open(flash: Flash, first: &SigningKey) -> Store {
    let admission = Admission::new(public(first), OURS);
    SlotStore::open(flash, LAYOUT, admission, &mut Buffer::new()).unwrap().0
}

fn refusal(store: &mut Store, artifact: &Signed) -> SignatureError {
    match store.install(artifact.as_bytes()) {
        Err(InstallError::Refused(Refused::Signature(cause))) => cause,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_key_is_revoked_once_the_next_one_has_signed_what_is_installed() {
    let [a, b, c, thief] = [1, 2, 3, 4].map(key);
    let to_b = rotation(&a, &b, 6);
    let mut store = open(Flash::erased(), &a);
    store.install(signed(5, &[], &a).as_bytes()).unwrap();
    // Until then both keys are accepted, and the new one only with the statement.
    assert_eq!(refusal(&mut store, &signed(6, &[], &b)), SignatureError::OtherKey(public(&b).id()));
    store.install(signed(6, &[to_b], &b).as_bytes()).unwrap();

    let old = SignatureError::Revoked(public(&a).id());
    for restarted in [false, true] {
        if restarted {
            store = open(store.free(), &a);
        }
        // Whatever its counter, and whomever it names now.
        assert_eq!(refusal(&mut store, &signed(u32::MAX, &[], &a)), old);
        let stolen = rotation(&a, &thief, 7);
        assert_eq!(
            refusal(&mut store, &signed(7, &[stolen], &thief)),
            SignatureError::Revoked(public(&thief).id())
        );
        store.install(signed(7, &[to_b], &b).as_bytes()).unwrap();
    }
    let to_c = rotation(&b, &c, 8);
    store.install(signed(8, &[to_b, to_c], &c).as_bytes()).unwrap();
    assert_eq!(refusal(&mut store, &signed(9, &[to_b], &b)), SignatureError::Revoked(public(&b).id()));

    // The newest slot is lost to damage: its name is kept beside the other calibrator.
    for damaged in [SLOT_LEN - 60, SLOT_LEN + SLOT_LEN - 60] {
        let mut flash = store.flash().clone();
        flash.bytes[damaged] ^= 0xFF;
        let mut store = open(flash, &a);
        assert_eq!(refusal(&mut store, &signed(u32::MAX, &[], &a)), old, "{damaged}");
        assert_eq!(
            refusal(&mut store, &signed(9, &[to_b], &b)),
            SignatureError::Revoked(public(&b).id()),
            "{damaged}"
        );
        store.install(signed(9, &[to_b, to_c], &c).as_bytes()).unwrap();
    }
}

/// The statement that names B is public: whoever has A can put it, or one that nobody verifies, beside a signature of A.
#[test]
fn a_statement_that_names_the_next_key_does_not_help_the_revoked_one() {
    let [a, b, thief] = [1, 2, 3].map(key);
    let to_b = rotation(&a, &b, 6);
    let stolen = rotation(&a, &thief, 6);
    let forged = |next: &SigningKey| Rotation { signature: [0; 64], ..rotation(&a, next, 0) };
    let mut store = open(Flash::erased(), &a);
    store.install(signed(6, &[to_b], &b).as_bytes()).unwrap();
    for (chain, by) in [
        (&[to_b][..], &a),
        (&[forged(&b), forged(&a)], &a),
        (&[to_b, forged(&a)], &a),
        (&[forged(&b), forged(&a), stolen], &thief),
        (&[to_b, forged(&a), stolen], &thief),
    ] {
        let revoked = SignatureError::Revoked(public(by).id());
        assert_eq!(refusal(&mut store, &signed(7, chain, by)), revoked, "{}", chain.len());
    }
    assert_eq!(refusal(&mut store, &signed(7, &[to_b, stolen], &thief)), SignatureError::Wrong);
    store.install(signed(7, &[to_b], &b).as_bytes()).unwrap();
}

/// One artifact for devices that were built with any of the keys, and for those whose firmware replaced the key.
#[test]
fn a_device_may_be_built_with_any_key_of_the_chain() {
    let [a, b, c] = [1, 2, 3].map(key);
    let (to_b, to_c) = (rotation(&a, &b, 6), rotation(&b, &c, 8));
    let last = signed(8, &[to_b, to_c], &c);
    for first in [&a, &b, &c] {
        open(Flash::erased(), first).install(last.as_bytes()).unwrap();
    }
    // Built with the last key, a device needs no chain, before and after one.
    let mut store = open(Flash::erased(), &c);
    for (counter, chain) in [(7, &[][..]), (8, &[to_b, to_c]), (9, &[])] {
        store.install(signed(counter, chain, &c).as_bytes()).unwrap();
    }
    // New firmware trusts B, where the slots say that B took the place of A.
    let mut store = open(Flash::erased(), &a);
    store.install(signed(6, &[to_b], &b).as_bytes()).unwrap();
    let mut store = open(store.free(), &b);
    store.install(signed(7, &[], &b).as_bytes()).unwrap();
    assert_eq!(refusal(&mut store, &signed(8, &[], &a)), SignatureError::OtherKey(public(&a).id()));
    // Statements after the key still count.
    let stolen = rotation(&a, &c, 8);
    assert_eq!(refusal(&mut store, &signed(8, &[to_b, stolen], &c)), SignatureError::Wrong);
}

#[test]
fn a_chain_that_is_not_one_is_refused() {
    let keys: Vec<SigningKey> = (1..9).map(key).collect();
    let [a, b, c] = [&keys[0], &keys[1], &keys[2]];
    let (to_b, to_c) = (rotation(a, b, 6), rotation(b, c, 8));
    let mut store = open(Flash::erased(), a);
    let mut wrong = |counter, chain: &[Rotation], by| {
        assert_eq!(refusal(&mut store, &signed(counter, chain, by)), SignatureError::Wrong);
        assert_eq!(store.flash().changes, 0);
    };
    // Signed before the statement allows it, in another order, from the middle, by a stranger, and with another counter.
    wrong(5, &[to_b], b);
    wrong(9, &[to_c, to_b], b);
    wrong(9, &[to_c], c);
    wrong(9, &[rotation(c, b, 6)], b);
    wrong(9, &[Rotation { counter: 1, ..to_b }], b);
    wrong(9, &[rotation(a, b, 8), rotation(b, c, 7)], c);
    // Too many.
    let chain: Vec<Rotation> = keys.windows(2).map(|pair| rotation(&pair[0], &pair[1], 1)).collect();
    wrong(9, &chain[..=MAX_ROTATIONS], &keys[MAX_ROTATIONS + 1]);
    store.install(signed(9, &chain[..MAX_ROTATIONS], &keys[MAX_ROTATIONS]).as_bytes()).unwrap();
}
