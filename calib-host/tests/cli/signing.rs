//! `calib keygen`, `sign` and `verify`, and counters.

use std::process::Command;

use super::workplace::Workplace;
use crate::data::scored;

/// A folder with a fitted artifact, `cal.bin`, of counter 7.
fn fitted() -> Workplace {
    let workplace =
        Workplace::new().with("cal.csv", scored(200, |i| (f64::from(i) / 200.0, i % 20 < i / 10)));
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

    workplace.says("calib verify signed.bin --key other.pem.pub");
    workplace.says("calib verify cal.bin --key owner.pem.pub");

    // The last bytes are the signature; the CRC is made to fit by the artifact's own writer elsewhere.
    workplace.says("calib sign signed.bin --key owner.pem -o twice.bin");
    assert!(!workplace.path().join("twice.bin").exists());
    said!();
}

/// A device that was built with the first key accepts what the last one signs, and no owner in between signs alone.
#[test]
fn a_key_names_the_next_one() {
    let workplace = fitted();
    for key in ["a", "b", "c"] {
        workplace.ok(&format!("calib keygen -o {key}.pem"));
    }
    workplace.ok("calib rotate-key --key a.pem --next b.pem.pub --counter 6 -o ab.json");
    let said = workplace
        .json("calib rotate-key --key b.pem --next c.pem.pub --counter 7 --chain ab.json -o abc.json --json");
    assert_eq!((&said["statements"], &said["counter"]), (&2.into(), &7.into()));
    workplace.ok("calib sign cal.bin --key c.pem --chain abc.json -o signed.bin");
    for key in ["a", "b", "c"] {
        let verified = workplace.json(&format!("calib verify signed.bin --key {key}.pem.pub --json"));
        assert_eq!(verified["valid"], true, "{key}");
    }
    workplace.says("calib verify signed.bin --key a.pem.pub");
    workplace.says("calib verify signed.bin --key c.pem.pub");
    let signed = workplace.inspect("signed.bin");
    assert_eq!(signed["next_keys"][1], serde_json::json!({"key": said["next"], "counter": 7}));
    assert_eq!(signed["tables"], workplace.inspect("cal.bin")["tables"]);
    workplace.ok("calib apply cal.bin --scores cal.csv -o plain.csv");
    workplace.ok("calib apply signed.bin --scores cal.csv -o chained.csv");
    assert_eq!(workplace.bytes("plain.csv"), workplace.bytes("chained.csv"));

    let workplace = workplace.with("bad.json", "{\"chain\": []}").with("none.json", "{\"chain\": 1}");
    for line in [
        // Another key than the chain's last, one that is named already, too early, and twice.
        "calib sign cal.bin --key b.pem --chain abc.json -o x.bin",
        "calib rotate-key --key a.pem --next c.pem.pub --counter 8 --chain ab.json -o x.json",
        "calib rotate-key --key b.pem --next b.pem.pub --counter 8 --chain ab.json -o x.json",
        "calib rotate-key --key b.pem --next c.pem.pub --counter 5 --chain ab.json -o x.json",
        "calib rotate-key --key a.pem --next b.pem.pub --counter 0 -o x.json",
        "calib rotate-key --key a.pem --next b.pem.pub --counter 6 -o ab.json",
        "calib sign signed.bin --key c.pem --chain abc.json -o x.bin",
        // No chains.
        "calib sign cal.bin --key b.pem --chain bad.json -o x.bin",
        "calib sign cal.bin --key b.pem --chain none.json -o x.bin",
        "calib sign cal.bin --key b.pem --chain b.pem.pub -o x.bin",
        "calib sign cal.bin --key b.pem --chain /dev/zero -o x.bin",
    ] {
        workplace.says(line);
    }
    workplace.ok("calib rotate-key --key a.pem --next b.pem.pub --counter 8 -o late.json");
    workplace.says("calib sign cal.bin --key b.pem --chain late.json -o x.bin");
    assert!(!workplace.path().join("x.bin").exists() && !workplace.path().join("x.json").exists());
    said!();
}

/// Signed without a counter, it could be put in the place of every newer one.
#[test]
fn what_has_no_counter_is_not_signed() {
    let workplace = fitted();
    workplace.ok("calib keygen -o owner.pem");
    workplace.ok("calib fit --method umd --bins 5 --scores cal.csv -o zero.bin");
    workplace.says("calib sign zero.bin --key owner.pem -o signed.bin");
    assert!(!workplace.path().join("signed.bin").exists());
    said!();
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
        workplace.says("calib keygen -o owner.pem");
        assert!(workplace.everything() == before, "without {gone}: files were made or changed");
        std::fs::write(workplace.path().join(gone), key).unwrap();
    }
    // A folder stands where the public key should: nothing is there afterwards, also with --force.
    std::fs::create_dir(workplace.path().join("x.pem.pub")).unwrap();
    let before = workplace.everything();
    for line in ["calib keygen -o x.pem", "calib keygen -o x.pem --force"] {
        workplace.says(line);
        assert!(workplace.everything() == before, "{line}: files were made or changed");
    }
    said!();
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
    workplace.says("calib sign cal.bin --key locked.pem -o x.bin");
    workplace.says("calib sign cal.bin --key /dev/zero -o x.bin");
    said!();
}

#[test]
fn keys_are_kept_and_kept_secret() {
    let workplace = fitted();
    workplace.ok("calib keygen -o owner.pem");
    let before = (workplace.bytes("owner.pem"), workplace.bytes("owner.pem.pub"));
    workplace.says("calib keygen -o owner.pem");
    assert_eq!((workplace.bytes("owner.pem"), workplace.bytes("owner.pem.pub")), before);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = workplace.path().join("owner.pem").metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        workplace.says("calib sign cal.bin --key owner.pem -o kept.bin");
        for mode in [0o644, 0o666, 0o620] {
            let open = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(workplace.path().join("owner.pem"), open).unwrap();
            workplace.says("calib --quiet sign cal.bin --key owner.pem -o open.bin --force");
        }
    }
    for line in [
        "calib sign cal.bin --key owner.pem.pub -o x.bin",
        "calib verify cal.bin --key owner.pem",
        "calib sign cal.bin --key cal.csv -o x.bin",
        "calib verify cal.bin --key cal.bin",
    ] {
        workplace.says(line);
    }
    said!();
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

/// A device that holds a signed calibrator refuses another one with the same counter, signed or not.
#[test]
fn what_has_the_counter_of_a_signed_artifact_is_warned_of() {
    let costs = "uncalibrated = \"wait\"\n[[action]]\nname = \"wait\"\npositive = 9\nnegative = 0\nalarm = false\n\
                 [[action]]\nname = \"treat\"\npositive = 0\nnegative = 1\nalarm = true\n";
    let workplace = fitted().with("costs.toml", costs);
    workplace.ok("calib keygen -o owner.pem");
    workplace.ok("calib sign cal.bin --key owner.pem -o signed.bin");
    let told = "signed.bin has the counter 7 itself: a device with a key that holds it refuses another calibrator with that counter, so \
                give --counter 8 or more";
    for line in [
        "calib adjust signed.bin --prevalence 0.1",
        "calib threshold cal.csv --calibrator signed.bin --sensitivity 0.8",
        "calib sets --scores cal.csv --calibrator signed.bin",
        "calib decide signed.bin --actions costs.toml",
    ] {
        for (counter, warns) in [(" --counter 7", true), (" --counter 8", false)] {
            let run = workplace.ok(&format!("{line}{counter} -o new.bin --force"));
            assert_eq!(run.stderr.contains(told), warns, "{line}{counter}: {}", run.stderr);
            assert_eq!(workplace.inspect("new.bin")["counter"], if warns { 7 } else { 8 }, "{line}");
        }
        // Of one that is not signed, devices without a key take it again.
        let plain = workplace
            .ok(&format!("{} --counter 7 -o new.bin --force", line.replace("signed.bin", "cal.bin")));
        assert!(!plain.stderr.contains("has the counter"), "{}", plain.stderr);
    }
    let kept = workplace.ok("calib decide signed.bin --actions costs.toml -o new.bin --force");
    assert!(kept.stderr.contains(told), "{}", kept.stderr);
    let lower = workplace.ok("calib decide cal.bin --actions costs.toml --counter 3 -o new.bin --force");
    assert!(
        lower.stderr.contains("the counter of cal.bin is 7: a device that holds it refuses 3"),
        "{}",
        lower.stderr
    );
}

#[test]
fn numbers_of_options_are_read_as_people_write_them() {
    let workplace = fitted();
    workplace.ok("calib fit cal.csv --counter 1e3 -o many.bin");
    assert_eq!(workplace.inspect("many.bin")["counter"], 1000);
    for option in ["--counter -1", "--seed -1", "--bins -2"] {
        let run = workplace.run(&format!("calib fit cal.csv --method umd {option} -o none.bin"));
        let name = option.split(' ').next().unwrap();
        assert!(run.code == 2 && run.stderr.contains(&format!("for '{name} <")), "{option}: {}", run.stderr);
    }
}
