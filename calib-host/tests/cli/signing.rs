//! `calib keygen`, `sign` and `verify`, and counters.

use std::process::Command;

use super::workplace::Workplace;

/// A folder with a fitted artefact, `cal.bin`, of counter 7.
fn fitted() -> Workplace {
    let rows: String =
        (0..200).map(|i| format!("{},{}\n", f64::from(i) / 200.0, u8::from(i % 20 < i / 10))).collect();
    let workplace = Workplace::new().with("cal.csv", format!("score,label\n{rows}"));
    workplace.ok("calib fit --method umd --bins 5 --scores cal.csv --counter 7 -o cal.bin");
    workplace
}

#[test]
fn what_is_signed_is_verified_and_nothing_else() {
    let workplace = fitted();
    workplace.ok("calib keygen -o owner.pem");
    workplace.ok("calib keygen -o other.pem");
    workplace.ok("calib sign cal.bin --key owner.pem -o signed.bin");
    let verified = workplace.json("calib verify signed.bin --key owner.pem.pub --json");
    assert_eq!((&verified["valid"], &verified["counter"]), (&true.into(), &7.into()));

    let (plain, signed) = (workplace.inspect("cal.bin"), workplace.inspect("signed.bin"));
    assert_eq!(plain["identity"], signed["identity"], "signing is no other calibrator");
    assert_eq!((&plain["signed_with"], &plain["counter"]), (&serde_json::Value::Null, &7.into()));
    assert_eq!(signed["signed_with"], verified["key"]);
    assert_eq!(plain["tables"], signed["tables"]);
    assert_eq!(signed["len_bytes"].as_u64(), plain["len_bytes"].as_u64().map(|len| len + 80));

    let other = workplace.run("calib verify signed.bin --key other.pem.pub");
    assert_eq!(other.code, 1);
    assert!(other.stderr.contains("signed with another key"), "{}", other.stderr);
    let unsigned = workplace.run("calib verify cal.bin --key owner.pem.pub");
    assert_eq!(unsigned.code, 1);
    assert!(unsigned.stderr.contains("is not signed"), "{}", unsigned.stderr);

    // The last bytes are the signature; the CRC is made to fit by the artefact's own writer elsewhere.
    let twice = workplace.run("calib sign signed.bin --key owner.pem -o twice.bin");
    assert_eq!(twice.code, 3);
    assert!(twice.stderr.contains("signed already"), "{}", twice.stderr);
    assert!(!workplace.path().join("twice.bin").exists());
}

/// Signed without a counter, it could be put in the place of every newer one.
#[test]
fn what_has_no_counter_is_not_signed() {
    let workplace = fitted();
    workplace.ok("calib keygen -o owner.pem");
    workplace.ok("calib fit --method umd --bins 5 --scores cal.csv -o zero.bin");
    let refused = workplace.run("calib sign zero.bin --key owner.pem -o signed.bin");
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("zero.bin: the artefact has no counter"), "{}", refused.stderr);
    assert!(refused.stderr.contains("--counter 1"), "{}", refused.stderr);
    assert!(!workplace.path().join("signed.bin").exists());
}

#[test]
fn signing_is_repeatable_and_applies_as_before() {
    let workplace = fitted();
    workplace.ok("calib keygen -o owner.pem");
    workplace.ok("calib sign cal.bin --key owner.pem -o a.bin");
    workplace.ok("calib sign cal.bin --key owner.pem -o b.bin");
    assert_eq!(workplace.bytes("a.bin"), workplace.bytes("b.bin"));
    workplace.ok("calib apply cal.bin --scores cal.csv -o plain.csv");
    workplace.ok("calib apply a.bin --scores cal.csv -o signed.csv");
    assert_eq!(workplace.bytes("plain.csv"), workplace.bytes("signed.csv"));
}

#[test]
fn no_key_is_written_without_its_other_half() {
    let workplace = fitted();
    workplace.ok("calib keygen -o owner.pem");
    for gone in ["owner.pem.pub", "owner.pem"] {
        let key = workplace.bytes(gone);
        std::fs::remove_file(workplace.path().join(gone)).unwrap();
        let before = workplace.everything();
        let again = workplace.run("calib keygen -o owner.pem");
        assert_eq!(again.code, 4, "{}", again.stderr);
        assert!(workplace.everything() == before, "without {gone}: files were made or changed");
        std::fs::write(workplace.path().join(gone), key).unwrap();
    }
    // A folder stands where the public key should: nothing is there afterwards, also with --force.
    std::fs::create_dir(workplace.path().join("x.pem.pub")).unwrap();
    let before = workplace.everything();
    for line in ["calib keygen -o x.pem", "calib keygen -o x.pem --force"] {
        assert_eq!(workplace.run(line).code, 4);
        assert!(workplace.everything() == before, "{line}: files were made or changed");
    }
}

#[test]
fn a_key_may_have_text_before_it_and_has_an_end() {
    let workplace = fitted();
    workplace.ok("calib keygen -o owner.pem");
    let commented = [&b"Made on a Monday.\n"[..], &workplace.bytes("owner.pem")].concat();
    let workplace = workplace.with("commented.pem", commented);
    workplace.ok("calib sign cal.bin --key commented.pem -o signed.bin");
    workplace.ok("calib verify signed.bin --key owner.pem.pub");
    let workplace = workplace.with(
        "locked.pem",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIGjMF8GCSqGSIb3DQEFDTBS\n-----END ENCRYPTED PRIVATE KEY-----\n",
    );
    let locked = workplace.run("calib sign cal.bin --key locked.pem -o x.bin");
    assert_eq!(locked.code, 3);
    assert!(locked.stderr.contains("the private key is encrypted"), "{}", locked.stderr);
    let endless = workplace.run("calib sign cal.bin --key /dev/zero -o x.bin");
    assert_eq!(endless.code, 3, "{}", endless.stderr);
}

#[test]
fn keys_are_kept_and_kept_secret() {
    let workplace = fitted();
    workplace.ok("calib keygen -o owner.pem");
    let before = (workplace.bytes("owner.pem"), workplace.bytes("owner.pem.pub"));
    let again = workplace.run("calib keygen -o owner.pem");
    assert_eq!(again.code, 4);
    assert_eq!((workplace.bytes("owner.pem"), workplace.bytes("owner.pem.pub")), before);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = workplace.path().join("owner.pem").metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(!workplace.ok("calib sign cal.bin --key owner.pem -o kept.bin").stderr.contains("warning"));
        for mode in [0o644, 0o666, 0o620] {
            let open = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(workplace.path().join("owner.pem"), open).unwrap();
            let run = workplace.ok("calib --quiet sign cal.bin --key owner.pem -o open.bin --force");
            let warning = "warning: owner.pem is a private key, and others than its owner can read or write it: use `chmod 600`\n";
            assert_eq!(run.stderr, warning, "{mode:o}");
        }
    }
    for (line, what) in [
        ("calib sign cal.bin --key owner.pem.pub -o x.bin", "not a private Ed25519 key"),
        ("calib verify cal.bin --key owner.pem", "not a public Ed25519 key"),
        ("calib sign cal.bin --key cal.csv -o x.bin", "not a private Ed25519 key"),
        ("calib verify cal.bin --key cal.bin", "not a public Ed25519 key"),
    ] {
        let run = workplace.run(line);
        assert_eq!(run.code, 3, "{line}");
        assert!(run.stderr.contains(what), "{line}: {}", run.stderr);
    }
}

#[test]
fn openssl_reads_the_keys() {
    let workplace = fitted();
    workplace.ok("calib keygen -o owner.pem");
    let output = Command::new("openssl")
        .args(["pkey", "-in", "owner.pem", "-pubout"])
        .current_dir(workplace.path())
        .output()
        .expect("openssl is missing: `cargo xtask test` installs it");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.stdout, workplace.bytes("owner.pem.pub"));
}
