//! Lies in a bundle, each planted and found with its name.

use std::collections::BTreeMap;
use std::fs;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use calib_host::io::files::PrivateKey;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::bundle::{BUNDLE, evidence, files};
use crate::data::Json;
use crate::workplace::Workplace;

const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";
const ROWS: &str = "cal.csv test.csv";

/// A bundle that someone alters.
struct Forgery<'p> {
    place: &'p Workplace,
    files: BTreeMap<String, Vec<u8>>,
}

impl Forgery<'_> {
    fn text(&self, name: &str) -> String {
        String::from_utf8(self.files[name].clone()).unwrap()
    }

    /// Replaces a text that is there, once.
    #[track_caller]
    fn replace(&mut self, name: &str, old: &str, new: &str) {
        let text = self.text(name);
        assert!(text.contains(old), "{name} has no {old:?}");
        self.files.insert(name.into(), text.replacen(old, new, 1).into_bytes());
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&self.files[name]).unwrap()
    }

    /// Changes JSON, of which every digit stays.
    fn change(&mut self, name: &str, change: impl FnOnce(&mut Value)) {
        let mut json = self.json(name);
        change(&mut json);
        self.files.insert(name.into(), serde_json::to_vec_pretty(&json).unwrap());
    }

    fn claims(&mut self, change: impl FnOnce(&mut Value)) {
        self.change("claims.json", change);
    }

    /// Changes the claim of this name.
    fn claim(&mut self, id: &str, change: impl FnOnce(&mut Value)) {
        self.claims(|claims| {
            let list = claims["claims"].as_array_mut().unwrap();
            change(list.iter_mut().find(|claim| claim["id"] == id).unwrap());
        });
    }

    fn bom(&mut self, change: impl FnOnce(&mut Value)) {
        self.change("bom.cdx.json", change);
    }

    fn take(&mut self, file: &str, as_name: &str) {
        self.files.insert(as_name.into(), self.place.bytes(file));
    }

    fn statement(&self) -> Value {
        serde_json::from_slice(&STANDARD.decode(self.json("statement.json")["payload"].text()).unwrap())
            .unwrap()
    }

    /// Signs a statement with a key, whatever it says.
    fn sign(&mut self, statement: &Value, key: &str) {
        let key = PrivateKey::read(&self.place.path().join(key)).unwrap();
        let payload = serde_json::to_vec(statement).unwrap();
        let envelope = json!({
            "payload": STANDARD.encode(&payload),
            "payloadType": PAYLOAD_TYPE,
            "signatures": [{
                "keyid": key.public().id().to_string(),
                "sig": STANDARD.encode(key.sign_payload(PAYLOAD_TYPE, &payload)),
            }],
        });
        self.files.insert("statement.json".into(), envelope.to_string().into_bytes());
    }

    /// The statement over the files as they are, with the predicate as it was.
    fn statement_of_all(&self) -> Value {
        let mut statement = self.statement();
        let files = self.files.iter().filter(|(name, _)| *name != "statement.json");
        statement["subject"] = files
            .map(|(name, bytes)| json!({"name": name, "digest": {"sha256": hex(&Sha256::digest(bytes))}}))
            .collect();
        statement
    }

    /// Signs all files again, as the owner of the key can.
    fn resign(&mut self) {
        let statement = self.statement_of_all();
        self.sign(&statement, "owner.pem");
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What a lie is, what it does, the name and a part of the words with which it is found, and with which rows.
type Lie = (&'static str, fn(&mut Forgery<'_>), &'static str, &'static str, &'static str);

/// What others can do, who have no key of the owner.
const BY_OTHERS: &[Lie] = &[
    (
        "a changed figure in the report",
        |f| f.replace("report.html", "0.1", "0.0"),
        "changed-file",
        "report.html",
        "",
    ),
    (
        "a changed figure in the claims",
        |f| f.claim("metrics.after.brier", |c| c["value"] = json!(0.01)),
        "changed-file",
        "claims.json",
        "",
    ),
    (
        "a changed figure in the model card",
        |f| f.replace("bom.cdx.json", "\"value\": \"0.", "\"value\": \"1."),
        "changed-file",
        "bom.cdx.json",
        "",
    ),
    (
        "a changed number of rows",
        |f| f.replace("bom.cdx.json", "\"1200\"", "\"12000\""),
        "changed-file",
        "bom.cdx.json",
        "",
    ),
    (
        "a changed answer of the checklist",
        |f| f.replace("checklist.html", "To be answered by you.", "Yes."),
        "changed-file",
        "checklist.html",
        "",
    ),
    (
        "a changed bit of the artifact",
        |f| f.files.get_mut("artifact.cal").unwrap()[200] ^= 1,
        "changed-file",
        "artifact.cal",
        "",
    ),
    (
        "another artifact with the owner's signature",
        |f| f.take("second.cal", "artifact.cal"),
        "changed-file",
        "artifact.cal",
        "",
    ),
    (
        "two swapped files",
        |f| {
            let (claims, bom) = (f.files["claims.json"].clone(), f.files["bom.cdx.json"].clone());
            f.files.extend([("claims.json".into(), bom), ("bom.cdx.json".into(), claims)]);
        },
        "changed-file",
        "bom.cdx.json",
        "",
    ),
    ("a missing report", |f| drop(f.files.remove("report.html")), "missing-file", "report.html", ""),
    ("a missing statement", |f| drop(f.files.remove("statement.json")), "missing-file", "statement.json", ""),
    (
        "a missing log, which a bundle need not have",
        |f| drop(f.files.remove("decisions.jsonl")),
        "missing-file",
        "decisions.jsonl",
        "",
    ),
    (
        "a file more",
        |f| drop(f.files.insert("notes.txt".into(), b"all fine".to_vec())),
        "stray-file",
        "notes.txt",
        "",
    ),
    (
        "a hash in the statement that fits a changed file",
        |f| {
            f.replace("report.html", "0.1", "0.0");
            let payload = STANDARD.encode(f.statement_of_all().to_string());
            f.change("statement.json", |envelope| envelope["payload"] = payload.into());
        },
        "signature",
        "not signed with the key",
        "",
    ),
    (
        "a changed signature",
        |f| {
            f.change("statement.json", |envelope| {
                let mut signature = STANDARD.decode(envelope["signatures"][0]["sig"].text()).unwrap();
                signature[5] ^= 1;
                envelope["signatures"][0]["sig"] = STANDARD.encode(signature).into();
            })
        },
        "signature",
        "not signed with the key",
        "",
    ),
    (
        "a signature that is cut short",
        |f| f.change("statement.json", |envelope| envelope["signatures"][0]["sig"] = "AAAA".into()),
        "signature",
        "not signed",
        "",
    ),
    (
        "no signature",
        |f| f.change("statement.json", |envelope| envelope["signatures"] = json!([])),
        "statement",
        "0 signatures",
        "",
    ),
    (
        "a second signature before the owner's",
        |f| {
            f.change("statement.json", |envelope| {
                let own = envelope["signatures"][0].clone();
                envelope["signatures"] = json!([{"keyid": "0000000000000000", "sig": own["sig"]}, own]);
            })
        },
        "statement",
        "2 signatures",
        "",
    ),
    (
        "another type of payload",
        |f| f.replace("statement.json", PAYLOAD_TYPE, "text/plain"),
        "signature",
        "not signed",
        "",
    ),
    (
        "a statement that is none",
        |f| drop(f.files.insert("statement.json".into(), b"signed: yes".to_vec())),
        "statement",
        "statement.json",
        "",
    ),
    (
        "a statement by another key",
        |f| {
            let statement = f.statement_of_all();
            f.sign(&statement, "other.pem");
        },
        "signature",
        "not signed with the key",
        "",
    ),
    (
        "all of it signed with another key, which is in the bundle",
        |f| {
            f.take("other.pem.pub", "owner.pub");
            let statement = f.statement_of_all();
            f.sign(&statement, "other.pem");
        },
        "other-key",
        "was expected",
        "",
    ),
    (
        "a key that is none",
        |f| drop(f.files.insert("owner.pub".into(), b"key".to_vec())),
        "signature",
        "owner.pub",
        "",
    ),
    (
        "the statement of an older bundle",
        |f| drop(f.files.insert("statement.json".into(), f.place.bytes("old/statement.json"))),
        "changed-file",
        "bom.cdx.json",
        "",
    ),
];

/// What the owner of the key can do.
const BY_THE_OWNER: &[Lie] = &[
    (
        "a figure that the report shows otherwise",
        |f| f.claim("metrics.after.brier", |c| c["value"] = json!(0.01)),
        "shown-figure",
        "metrics.after.brier",
        "",
    ),
    (
        "a figure in the report that is claimed otherwise",
        |f| {
            let marked = "data-claim=\"metrics.after.auc\">0.";
            f.replace("report.html", marked, &marked.replace("0.", "0.9"));
        },
        "shown-figure",
        "metrics.after.auc",
        "",
    ),
    (
        "a narrower interval",
        |f| f.claim("clinical.after.cox.slope", |c| c["interval"]["lo"] = json!(0.99)),
        "shown-figure",
        "clinical.after.cox.slope",
        "",
    ),
    (
        "a figure of a group",
        |f| f.claim("groups.groups.1.auc", |c| c["value"] = json!(0.999)),
        "shown-figure",
        "groups.groups.1.auc",
        "",
    ),
    (
        "a cell that is gone",
        |f| f.replace("report.html", "data-claim=\"metrics.after.brier\"", ""),
        "hidden-figure",
        "metrics.after.brier",
        "",
    ),
    (
        "another guarantee in the report",
        |f| f.replace("report.html", "With at least 90% probability", "With at least 99% probability"),
        "hidden-sentence",
        "guarantee",
        "",
    ),
    (
        "another guarantee in report and claims",
        |f| {
            for file in ["report.html", "claims.json"] {
                f.replace(file, "With at least 90% probability", "With at least 99% probability");
            }
        },
        "other-artifact",
        "guarantee is",
        "",
    ),
    (
        "a limit that is left out",
        |f| {
            f.claims(|claims| {
                claims["sentences"]
                    .as_array_mut()
                    .unwrap()
                    .retain(|stated| !stated["id"].text().starts_with("limits"));
            })
        },
        "other-artifact",
        "limits.0 is",
        "",
    ),
    (
        "a warning that is left out in the report",
        |f| {
            let warning = f.json("claims.json")["sentences"]
                .list()
                .iter()
                .find(|stated| stated["id"] == "warnings.0")
                .unwrap()["text"]
                .clone();
            let words: String =
                warning.text().chars().take_while(|c| c.is_alphanumeric() || *c == ' ').collect();
            f.replace("report.html", &words, "None ");
        },
        "hidden-sentence",
        "warnings.0",
        "",
    ),
    ("another artifact", |f| f.take("second.cal", "artifact.cal"), "other-artifact", "identity is", ""),
    (
        "a second artifact of the same identity",
        |f| f.take("others.cal", "artifact.cal"),
        "artifact-signature",
        "artifact.cal",
        "",
    ),
    (
        "the artifact without its signature",
        |f| f.take("cal.cal", "artifact.cal"),
        "artifact-signature",
        "artifact.cal",
        "",
    ),
    (
        "an artifact that is cut short",
        |f| f.files.get_mut("artifact.cal").unwrap().truncate(100),
        "artifact",
        "artifact.cal",
        "",
    ),
    (
        "a field that no claim has",
        |f| f.claim("metrics.after.brier", |c| c["note"] = json!("good")),
        "claims",
        "unknown field `note`",
        "",
    ),
    (
        "a figure that is text",
        |f| f.claim("metrics.after.brier", |c| c["value"] = json!("0.1")),
        "claims",
        "not a number",
        "",
    ),
    (
        "a figure that is claimed twice",
        |f| {
            f.claims(|claims| {
                let first = claims["claims"][0].clone();
                claims["claims"].as_array_mut().unwrap().push(first);
            })
        },
        "claims",
        "claimed twice",
        "",
    ),
    (
        "another form of claims",
        |f| f.claims(|claims| claims["calib_claims"] = json!(2)),
        "claims",
        "form is 2",
        "",
    ),
    (
        "more calibration rows than the artifact has",
        |f| f.claim("calibrator.n", |c| c["value"] = json!(12000)),
        "other-artifact",
        "calibrator.n is 12000",
        "",
    ),
    (
        "a higher counter",
        |f| f.claims(|claims| claims["artifact"]["counter"] = json!(9)),
        "other-artifact",
        "counter is 9",
        "",
    ),
    (
        "another figure in the model card",
        |f| {
            f.bom(|bom| {
                bom["metadata"]["component"]["modelCard"]["quantitativeAnalysis"]["performanceMetrics"][1]
                    ["value"] = json!("0.01");
            })
        },
        "other-bom",
        "/performanceMetrics/1/value",
        "",
    ),
    (
        "another data set in the bill of materials",
        |f| f.bom(|bom| bom["components"][2]["hashes"][0]["content"] = json!("00".repeat(32))),
        "other-bom",
        "/components/2/hashes",
        "",
    ),
    (
        "a misuse that is left out",
        |f| f.replace("about.toml", "\"children\"", ""),
        "other-bom",
        "/metadata/component",
        "",
    ),
    (
        "a bill of materials that is none",
        |f| drop(f.files.insert("bom.cdx.json".into(), b"{".to_vec())),
        "bom",
        "bom.cdx.json",
        "",
    ),
    (
        "a checklist that is all answered",
        |f| f.replace("checklist.html", "To be answered by you.", "Yes."),
        "other-checklist",
        "checklist.html",
        "",
    ),
    (
        "an owner's key that nobody knows",
        |f| f.replace("about.toml", "users =", "approved = true\nusers ="),
        "about",
        "unknown field `approved`",
        "",
    ),
    (
        "a report of other rows",
        |f| drop(f.files.insert("report.html".into(), f.place.bytes("old/report.html"))),
        "shown-figure",
        "report.html shows",
        "",
    ),
    (
        "claims of other rows",
        |f| drop(f.files.insert("claims.json".into(), f.place.bytes("old/claims.json"))),
        "shown-figure",
        "report.html shows",
        "",
    ),
    // The rows show the rest.
    ("a changed row", |_| (), "other-rows", "changed.csv", "cal.csv changed.csv"),
    ("a missing file of rows", |_| (), "missing-rows", "Calibration scores", "test.csv"),
    (
        "the same figure in report, claims and model card",
        |f| {
            let old = f.json("claims.json")["claims"]
                .list()
                .iter()
                .find(|claim| claim["id"] == "metrics.after.accuracy")
                .unwrap()
                .clone();
            let digits = format!("{:.4}", old["value"].number());
            f.replace(
                "report.html",
                &format!("data-claim=\"metrics.after.accuracy\">{digits}"),
                "data-claim=\"metrics.after.accuracy\">0.9990",
            );
            f.claim("metrics.after.accuracy", |c| c["value"] = json!(0.999));
            f.bom(|bom| {
            let metrics = bom["metadata"]["component"]["modelCard"]["quantitativeAnalysis"]["performanceMetrics"].as_array_mut().unwrap();
            metrics.iter_mut().find(|metric| metric["type"] == "metrics.after.accuracy").unwrap()["value"] = json!("0.999");
        });
        },
        "other-figure",
        "metrics.after.accuracy is 0.",
        ROWS,
    ),
    (
        "a figure that the page has in a plot alone",
        |f| f.claim("occupancy.2.test", |c| c["value"] = json!(7)),
        "other-figure",
        "occupancy.2.test",
        ROWS,
    ),
    (
        "another unit",
        |f| f.claim("metrics.after.log_loss", |c| c["unit"] = json!("bits")),
        "other-figure",
        "metrics.after.log_loss",
        ROWS,
    ),
    (
        "a figure that is left out",
        |f| {
            f.claims(|claims| {
                claims["claims"].as_array_mut().unwrap().retain(|claim| claim["id"] != "occupancy.2.test")
            })
        },
        "unclaimed-figure",
        "occupancy.2.test",
        ROWS,
    ),
    (
        "a figure more",
        |f| {
            f.claims(|claims| {
                let mut more = claims["claims"][0].clone();
                more["id"] = json!("metrics.after.trust");
                more.as_object_mut().unwrap().remove("shown");
                claims["claims"].as_array_mut().unwrap().push(more);
            })
        },
        "invented-figure",
        "metrics.after.trust",
        ROWS,
    ),
    (
        "a number in a plot of the report",
        |f| f.replace("report.html", "700 test rows", "7,000 test rows"),
        "other-report",
        "report.html",
        ROWS,
    ),
    (
        "another number of rows in claims and bill of materials",
        |f| {
            f.claims(|claims| claims["data"][1]["rows"] = json!(7000));
            f.bom(|bom| {
                bom["components"][2]["data"][0]["contents"]["properties"][0]["value"] = json!("7000")
            });
        },
        "row-count",
        "test.csv has 700 rows, and 7000",
        ROWS,
    ),
    (
        "the hash of other rows in claims and bill of materials",
        |f| {
            let hash = hex(&Sha256::digest(f.place.bytes("changed.csv")));
            f.claims(|claims| claims["data"][1]["sha256"] = json!(hash));
            f.bom(|bom| bom["components"][2]["hashes"][0]["content"] = json!(hash));
        },
        "other-figure",
        "by the rows",
        "cal.csv changed.csv",
    ),
    (
        "fewer resamples in the command",
        |f| {
            f.claims(|claims| {
                let command = claims["command"].as_array_mut().unwrap();
                *command.iter_mut().find(|word| *word == "20").unwrap() = json!("21");
            })
        },
        "other-figure",
        "by the rows",
        ROWS,
    ),
    (
        "a command that makes no report",
        |f| f.claims(|claims| claims["command"][1] = json!("doctor")),
        "no-report",
        "none of a report",
        ROWS,
    ),
    (
        "a command that names a file of the reader",
        |f| {
            f.claims(|claims| {
                claims["command"].as_array_mut().unwrap().extend([json!("--actions"), json!("/etc/passwd")]);
            })
        },
        "no-report",
        "no file is known of actions",
        ROWS,
    ),
    // The protocol, and the decisions under it.
    (
        "an edited decision",
        |f| f.replace("decisions.jsonl", "\"kept\":false", "\"kept\":true"),
        "log",
        "line 2",
        "",
    ),
    (
        "decisions in another order",
        |f| {
            let lines: Vec<String> = f.text("decisions.jsonl").lines().map(str::to_owned).collect();
            let swapped = [&lines[0], &lines[2], &lines[1]].map(|line| format!("{line}\n")).concat();
            f.files.insert("decisions.jsonl".into(), swapped.into_bytes());
        },
        "log",
        "line 2",
        "",
    ),
    (
        "a log that is cut short",
        |f| {
            let lines: Vec<String> =
                f.text("decisions.jsonl").lines().map(|line| format!("{line}\n")).collect();
            f.files.insert("decisions.jsonl".into(), lines[..2].concat().into_bytes());
        },
        "log",
        "last line",
        "",
    ),
    (
        "a log without the decision about this artifact",
        |f| {
            f.files.insert("decisions.jsonl".into(), Vec::new());
            f.claims(|claims| drop(claims.as_object_mut().unwrap().remove("log_head")));
        },
        "log",
        "does not state that it was signed",
        "",
    ),
    ("no log", |f| drop(f.files.remove("decisions.jsonl")), "log", "last line", ""),
    (
        "a protocol that was loosened afterwards",
        |f| f.replace("protocol.toml", "epsilon = 0.2", "epsilon = 0.9"),
        "log",
        "under another protocol",
        "",
    ),
    (
        "a protocol that is none",
        |f| f.replace("protocol.toml", "[accept]", "[accepts]"),
        "protocol",
        "accepts",
        "",
    ),
    (
        "a statement about another artifact",
        |f| f.claims(|claims| claims["artifact"]["identity"] = json!("0000000000000000")),
        "statement",
        "other claims",
        "",
    ),
];

/// A lie in a statement, what it does, and the name and a part of the words with which it is found.
type StatementLie = (&'static str, fn(&mut Value), &'static str, &'static str);

/// What the owner can sign in place of the statement.
const STATEMENTS: &[StatementLie] = &[
    (
        "a file that is not listed",
        |s| drop(s["subject"].as_array_mut().unwrap().remove(2)),
        "unlisted-file",
        "bom.cdx.json",
    ),
    (
        "a file that is not there",
        |s| {
            let more = json!({"name": "audit.html", "digest": {"sha256": "00".repeat(32)}});
            s["subject"].as_array_mut().unwrap().push(more);
        },
        "stray-file",
        "audit.html",
    ),
    (
        "a hash of another kind",
        |s| s["subject"][0]["digest"] = json!({"md5": "00".repeat(16)}),
        "changed-file",
        "about.toml",
    ),
    (
        "a statement of something else",
        |s| s["predicateType"] = json!("https://slsa.dev/provenance/v1"),
        "statement",
        "no statement of a bundle",
    ),
    (
        "a statement with a field more",
        |s| s["approved"] = json!(true),
        "statement",
        "unknown field `approved`",
    ),
];

#[test]
fn every_planted_lie_is_found_with_its_name() {
    let place = evidence();
    let changed = place.text("test.csv").replacen(",0,", ",1,", 1);
    fs::write(place.path().join("changed.csv"), changed).unwrap();
    place.ok("calib fit cal.csv --method umd --bins 5 --counter 2 -o second.raw");
    place.ok("calib sign second.raw --key owner.pem -o second.cal");
    place.ok("calib sign cal.cal --key other.pem -o others.cal");
    place.ok(&format!("{} -o old", BUNDLE.replace("test.csv", "changed.csv")));
    let honest = files(&place.path().join("evidence"));
    let mut missed = Vec::new();
    let mut check = |what: &str, forgery: Forgery<'_>, (name, words, rows): (&str, &str, &str)| {
        let folder = place.path().join("lie");
        fs::create_dir(&folder).unwrap();
        for (name, bytes) in &forgery.files {
            fs::write(folder.join(name), bytes).unwrap();
        }
        let rows = if rows.is_empty() { String::new() } else { format!(" --rows {rows}") };
        let run = place.run(&format!("calib bundle --check lie --key owner.pem.pub{rows}"));
        let found = run.stderr.contains(&format!("error: lie: {name}: ")) && run.stderr.contains(words);
        if run.code != 1 || !found || !run.stdout.ends_with(&format!("{name}\n")) {
            missed.push(format!("{what}: {name}, {words}\n{}{}", run.stdout, run.stderr));
        }
        fs::remove_dir_all(&folder).unwrap();
    };
    let forgery = || Forgery { place: &place, files: honest.clone() };
    for &(what, change, name, words, rows) in BY_OTHERS {
        let mut forged = forgery();
        change(&mut forged);
        check(what, forged, (name, words, rows));
    }
    for &(what, change, name, words, rows) in BY_THE_OWNER {
        let mut forged = forgery();
        change(&mut forged);
        forged.resign();
        check(what, forged, (name, words, rows));
    }
    for &(what, change, name, words) in STATEMENTS {
        let mut forged = forgery();
        let mut statement = forged.statement();
        change(&mut statement);
        forged.sign(&statement, "owner.pem");
        check(what, forged, (name, words, ""));
    }
    assert!(missed.is_empty(), "{} missed\n{}", missed.len(), missed.join("\n"));
    assert!(BY_OTHERS.len() + BY_THE_OWNER.len() + STATEMENTS.len() >= 40);
    // A bundle that is signed again without a lie is fine.
    let mut honest = forgery();
    honest.resign();
    for (name, bytes) in &honest.files {
        fs::write(place.path().join("evidence").join(name), bytes).unwrap();
    }
    place.ok("calib bundle --check evidence --key owner.pem.pub --rows cal.csv test.csv");
}
