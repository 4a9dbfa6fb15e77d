//! Signed artifacts: pinned byte by byte, so that host and device cannot change together what is signed, and every way in which
//! a signature is refused.

use calib_core::artifact::{KeyId, SectionKind};
use calib_core::{Artifact, ParseError};

use crate::forge::{MANDATORY, Section, aligned, assemble, disassemble, refusal, seal};
use crate::golden::hex;

/// The length of the signed artifact without its signature.
const UNSIGNED_LEN: usize = 160;
/// The name of [`PUBLIC_KEY`]: the first 8 bytes of its SHA-512.
const KEY: KeyId = KeyId([0x0e, 0x02, 0xa5, 0x02, 0x25, 0xb4, 0xba, 0xaa]);

/// The pinned binary artifact, signed with the private key of RFC 8032's first test: by an implementation of Ed25519 and SHA-512
/// that shares no code with this one.
pub(crate) const SIGNED: &str = concat!(
    prefix!("03", "f0 00", "fb a1 99 fc", "59 8e e0 c3  f3 cd 4b 93"), // 240 bytes; the identity as without the signature
    umd!(),
    "
    41 00  00 00  48 00 00 00   # signature: kind, optional, 72 bytes
    0e 02 a5 02  25 b4 ba aa    # the key's name
    fa 85 24 35 69 72 49 9d  ae 3f bf 13 ca 00 5e 6d
    6c 3d 4c 96 53 3b 5b 04  39 8e 8a 7e a3 94 2c 2e
    2a 4c bc eb 06 81 68 f1  87 54 b3 97 ec 29 1a 12
    2d 54 e3 a7 28 61 90 6a  6c e1 69 b2 f1 21 00 08
"
);

#[test]
fn a_signature_adds_a_section_and_leaves_the_identity() {
    let bytes = aligned(&hex(SIGNED));
    let signed = Artifact::parse(bytes.as_bytes()).unwrap();
    let before = aligned(&hex(crate::golden::BINARY));
    let unsigned = Artifact::parse(before.as_bytes()).unwrap();
    let signature = signed.signature().unwrap();
    assert_eq!((signature.key, &signature.bytes[..]), (KEY, &bytes.as_bytes()[176..]));
    assert_eq!((signed.len_bytes(), signed.unsigned_len_bytes()), (240, UNSIGNED_LEN));
    assert_eq!((signed.identity(), signed.header()), (unsigned.identity(), unsigned.header()));
    assert_eq!((unsigned.signature(), unsigned.unsigned_len_bytes()), (None, UNSIGNED_LEN));
}

/// What is behind a signature is not signed: a counter there would be anybody's.
#[test]
fn nothing_stands_behind_a_signature() {
    let signed = hex(SIGNED);
    for (kind, payload) in [(SectionKind::Counter as u16, vec![9, 0, 0, 0]), (999, vec![]), (999, vec![1])] {
        let mut sections = disassemble(&signed);
        sections.push(Section { kind, flags: 0, payload });
        assert_eq!(refusal(&assemble(&sections)), Some(ParseError::Section(signed.len())), "{kind}");
    }
}

/// A signature of another length would not end the artifact.
#[test]
fn a_signature_has_its_length() {
    for len in [0, 8, 64, 68, 71, 73, 76, 80] {
        let mut sections = disassemble(&hex(SIGNED));
        sections[2].payload.resize(len, 0);
        assert_eq!(refusal(&assemble(&sections)), Some(ParseError::Section(UNSIGNED_LEN)), "{len}");
    }
    let mut sections = disassemble(&hex(SIGNED));
    sections[2].flags = MANDATORY;
    assert_eq!(refusal(&assemble(&sections)), None);
}

#[cfg(feature = "ed25519")]
mod trusted {
    use calib_core::artifact::{SIGNATURE_SECTION_LEN, SignedPart, sign};
    use calib_core::slot::{NotAKey, Refused, SignatureError};
    use calib_core::{Admission, ClassifierId, TrustedKey};
    use ed25519_dalek::{Signer, SigningKey};
    use sha2::{Digest, Sha512};

    use super::*;

    const PRIVATE_KEY: &str = "
    9d 61 b1 9d ef fd 5a 60  ba 84 4a f4 92 ec 2c c4  44 49 c5 69 7b 32 69 19  70 3b ac 03 1c ae 7f 60";
    const PUBLIC_KEY: &str = "
    d7 5a 98 01 82 b1 0a b7  d5 4b fe d3 c9 64 07 3a  0e e1 72 f3 da a6 23 25  af 02 1a 68 f7 07 51 1a";

    fn key(listing: &str) -> [u8; 32] {
        hex(listing).try_into().unwrap()
    }

    /// Why a device that trusts the key refuses these bytes.
    fn refused(bytes: &[u8]) -> Option<Refused> {
        let trusted = TrustedKey::new(&key(PUBLIC_KEY)).unwrap();
        assert_eq!(trusted.id(), KEY);
        let admission =
            Admission::new(trusted, ClassifierId([0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7]));
        assert_eq!(admission.trusted_key(), Some(KEY));
        admission.admit(aligned(bytes).as_bytes()).err()
    }

    /// The message as the format states it, spelled out: a domain of 16 bytes, then the SHA-512 of all bytes but the CRC and the
    /// signature.
    fn message(part: &SignedPart<'_>) -> Vec<u8> {
        let hash = Sha512::digest([part.front, part.rest].concat());
        [&b"calib artefact\0\x01"[..], &hash[..]].concat()
    }

    fn signed_with(private: &SigningKey, name: KeyId) -> Vec<u8> {
        let mut bytes = hex(crate::golden::BINARY);
        bytes.resize(UNSIGNED_LEN + SIGNATURE_SECTION_LEN, 0xEE);
        let signature = |part: SignedPart<'_>| {
            assert_eq!(part.message()[..], message(&part));
            private.sign(&message(&part)).to_bytes()
        };
        sign(&mut bytes, UNSIGNED_LEN, name, signature).unwrap().to_vec()
    }

    #[test]
    fn signing_gives_exactly_the_pinned_bytes() {
        assert_eq!(signed_with(&SigningKey::from_bytes(&key(PRIVATE_KEY)), KEY), hex(SIGNED));
    }

    #[test]
    fn the_pinned_artifact_is_admitted_and_no_altered_one() {
        assert_eq!(refused(&hex(SIGNED)), None);
        let wrong = Some(Refused::Signature(SignatureError::Wrong));
        for bit in 0..8 * 64 {
            let mut bytes = hex(SIGNED);
            bytes[176 + bit / 8] ^= 1 << (bit % 8);
            seal(&mut bytes);
            assert_eq!(refused(&bytes), wrong, "bit {bit} of the signature");
        }
        // The identity, the data's hash, the parameters, the classifier and a value: artifacts that still parse.
        for at in [16, 23, 60, 104, 106, 156] {
            let mut bytes = hex(SIGNED);
            bytes[at] ^= 1;
            seal(&mut bytes);
            assert!(matches!(refused(&bytes), Some(Refused::Signature(SignatureError::Wrong))), "byte {at}");
        }
    }

    #[test]
    fn the_key_is_the_named_one() {
        let private = SigningKey::from_bytes(&key(PRIVATE_KEY));
        let other = KeyId([0x0e, 0x02, 0xa5, 0x02, 0x25, 0xb4, 0xba, 0xab]);
        let refusal = Some(Refused::Signature(SignatureError::OtherKey(other)));
        assert_eq!(refused(&signed_with(&private, other)), refusal);
        let stranger = SigningKey::from_bytes(&[7; 32]);
        assert_eq!(refused(&signed_with(&stranger, KEY)), Some(Refused::Signature(SignatureError::Wrong)));
        assert_eq!(refused(&hex(crate::golden::BINARY)), Some(Refused::Signature(SignatureError::Missing)));
    }

    /// A signature whose first half is a point of small order, made by the key's owner: it satisfies the equation of RFC 8032, and
    /// fits more than one message.
    #[test]
    fn a_signature_with_a_point_of_small_order_is_refused() {
        let mut bytes = hex(SIGNED);
        bytes[176..].copy_from_slice(&hex("
    01 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
    00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
    3c 33 46 c3 7d 0e b7 e4  a4 3b 3d 02 5c c1 a1 46
    a7 48 df 5a e0 f1 19 a6  33 81 08 47 f3 4c ed 0e"));
        seal(&mut bytes);
        assert_eq!(refused(&bytes), Some(Refused::Signature(SignatureError::Wrong)));
    }

    /// The eight points of small order: anybody can sign for them.
    #[test]
    fn a_key_that_nobody_owns_is_no_key() {
        let points = [
            "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00",
            "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 80",
            "01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00",
            "26 e8 95 8f c2 b2 27 b0 45 c3 f4 89 f2 ef 98 f0 d5 df ac 05 d3 c6 33 39 b1 38 02 88 6d 53 fc 05",
            "26 e8 95 8f c2 b2 27 b0 45 c3 f4 89 f2 ef 98 f0 d5 df ac 05 d3 c6 33 39 b1 38 02 88 6d 53 fc 85",
            "c7 17 6a 70 3d 4d d8 4f ba 3c 0b 76 0d 10 67 0f 2a 20 53 fa 2c 39 cc c6 4e c7 fd 77 92 ac 03 7a",
            "c7 17 6a 70 3d 4d d8 4f ba 3c 0b 76 0d 10 67 0f 2a 20 53 fa 2c 39 cc c6 4e c7 fd 77 92 ac 03 fa",
            "ec ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff 7f",
        ];
        for point in points {
            assert_eq!(TrustedKey::new(&key(point)).err(), Some(NotAKey), "{point}");
            assert_eq!(NotAKey.to_string(), "not an Ed25519 public key");
        }
    }
}
