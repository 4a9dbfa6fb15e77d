//! Actions that are only taken where the evidence suffices, and rules in signed artifacts.

use crate::data::scored;
use crate::transcript::quote;
use crate::workplace::Workplace;

/// Waits up to one half, treats above if that is sure, and asks where it is not.
const COSTS: &str = "
[[action]]
name = \"wait\"
positive = 1
negative = 0
alarm = false

[[action]]
name = \"ask\"
positive = 10
negative = 10
alarm = false
abstain = true

[[action]]
name = \"treat\"
positive = 0
negative = 1
alarm = true
if_sure = true
";

/// Four bins of 250 points each, with the rates 0, 1/4, 1/2 and 3/4, and an epsilon of .094.
fn place() -> Workplace {
    let place = Workplace::new()
        .with("cal.csv", scored(1000, |i| (f64::from(i) / 1024.0, i % 4 < i / 250)))
        .with("costs.toml", COSTS);
    place.ok("calib fit --method umd --bins 4 --scores cal.csv --counter 7 -o cal.bin");
    place
}

#[test]
fn an_action_that_asks_for_evidence_is_held_back_without_it() {
    let place = place();
    place.says("calib decide cal.bin --actions costs.toml -o decided.bin");
    let rule = &place.inspect("decided.bin")["decision"];
    assert_eq!((&rule["unsure"], &rule["actions"][2]["if_sure"]), (&1.into(), &true.into()));
    place.says("calib inspect decided.bin");
    let json = place.json("calib decide cal.bin --actions costs.toml --json");
    assert_eq!(json["flaws"][0]["kind"], "withheld", "{}", json["flaws"]);
    let report = place.json(
        "calib report decided.bin --calibration cal.csv --test cal.csv --same-rows --bootstrap 20 --json",
    );
    quote(&report["warnings"]);
    said!();
}

#[test]
fn who_stands_in_is_named_or_clear() {
    let unclear = COSTS.replace("alarm = false", "alarm = false\nif_sure = true");
    let place = place().with("all.toml", format!("uncalibrated = \"ask\"\n{unclear}"));
    place.says("calib decide --actions all.toml");
    let place = place.with("named.toml", format!("\nunsure = \"treat\"\n{COSTS}"));
    place.says("calib decide --actions named.toml");
    let place = place.with("wait.toml", format!("unsure = \"wait\"\n{COSTS}"));
    place.ok("calib decide cal.bin --actions wait.toml -o waits.bin");
    assert_eq!(place.inspect("waits.bin")["decision"]["unsure"], 0);
    said!();
}

#[test]
fn a_signature_is_of_what_was_signed() {
    let place = place();
    place.ok("calib keygen -o owner.pem");
    place.ok("calib sign cal.bin --key owner.pem -o signed.bin");
    place.says("calib decide signed.bin --actions costs.toml -o decided.bin");
    let decided = place.inspect("decided.bin");
    assert!(decided["signed_with"].is_null());
    assert_eq!(decided["counter"], 7);
    place.ok("calib sign decided.bin --key owner.pem -o again.bin");
    place.ok("calib verify again.bin --key owner.pem.pub");
    said!();
}
