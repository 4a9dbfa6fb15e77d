//! Whose calibrators are accepted: anybody's, or those signed with the key that the build was given.

#[cfg(feature = "signed")]
mod key {
    use calib_core::TrustedKey;

    // `CALIB_PUBLIC_KEY`, written by the build script.
    include!(concat!(env!("OUT_DIR"), "/public_key.rs"));

    pub(crate) fn trust() -> TrustedKey {
        match TrustedKey::new(&PUBLIC_KEY) {
            Ok(key) => key,
            Err(_) => panic!("the public key that this was built with is none"),
        }
    }
}

#[cfg(not(feature = "signed"))]
mod key {
    use calib_core::Anybody;

    pub(crate) const fn trust() -> Anybody {
        Anybody
    }
}

pub(crate) use key::trust;
