//! A band around the calibration curve, through all commands that show one.

use crate::data::scored;
use crate::decide::COSTS;
use crate::workplace::Workplace;

/// 600 rows whose label is 1 about as often as the square of the score says.
fn place() -> Workplace {
    let hash = |row: u32| f64::from(row.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24);
    let score = move |row: u32| f64::from(row % 600) / 600.0;
    let rows =
        move |salt: u32| scored(600, move |row| (score(row), hash(row + salt) < score(row) * score(row)));
    Workplace::new().with("cal.csv", rows(1)).with("test.csv", rows(1000))
}

#[test]
fn every_score_has_a_band() {
    let place = place();
    place.says("calib fit --method beta --no-intervals --band --scores cal.csv -o beta.bin");
    place.says("calib inspect beta.bin");
    place.says("calib apply beta.bin --scores test.csv -o out.csv");
    let out = place.text("out.csv");
    let mut lines = out.lines();
    assert_eq!(lines.next(), Some("score,label,prob,bin,epsilon,flags,band_lo,band_hi"));
    let mut before = (0.0, 0.0);
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let band: (f64, f64) = (cells[6].parse().unwrap(), cells[7].parse().unwrap());
        assert!(before.0 <= band.0 && before.1 <= band.1 && band.0 < band.1, "{line}");
        before = band;
    }
    assert!(before.0 > 0.5);
    place.says("calib adjust beta.bin --prevalence 0.1 --counter 1 -o rare.bin");
    place.says("calib fit --method umd --bins 5 --band --scores cal.csv -o umd.bin");
    let inspected = place.inspect("umd.bin");
    assert!(inspected["band"]["steps"].as_array().unwrap().len() > 5);
    // Beside intervals it is there unasked from 500 rows on, unless it is left out, and then there is no word of it.
    place.ok("calib fit --method beta --scores cal.csv -o both.bin");
    assert!(place.inspect("both.bin")["band"].is_object());
    for options in ["--no-band", "--no-intervals"] {
        place.ok(&format!("calib fit --method beta {options} --scores cal.csv -o plain.bin --force"));
        assert_eq!(place.inspect("plain.bin").get("band"), None);
    }
    said!();
}

#[test]
fn a_band_that_would_not_hold_is_refused() {
    let turned = scored(600, |row| (f64::from(row) / 600.0, row * 7 % 600 > row));
    let place = place().with("turned.csv", turned);
    assert_ne!(place.says("calib fit --method beta --band --scores turned.csv -o no.bin").code, 0);
    assert!(!place.path().join("no.bin").exists());
    // Unasked it is told and left out.
    place.says("calib fit --method beta --scores turned.csv -o no.bin");
    assert_eq!(place.inspect("no.bin").get("band"), None);
    said!();
}

/// An action that asks for the band is taken where the whole band at the score leads to it, whatever the intervals of ranges say.
#[test]
fn a_rule_asks_the_band_at_the_score() {
    let costs = COSTS.replace("alarm = true", "alarm = true\nif_sure = \"band\"");
    let by_interval = COSTS.replace("alarm = true", "alarm = true\nif_sure = true");
    let place = place().with("costs.toml", costs).with("interval.toml", by_interval);
    place.ok("calib fit --method beta --scores cal.csv -o cal.bin");
    place.says("calib decide cal.bin --actions costs.toml -o rule.bin");
    place.says("calib inspect rule.bin");
    assert_eq!(place.inspect("rule.bin")["decision"]["actions"][2]["if_sure"], "band");
    let column = |costs: &str, name: &str| {
        place.ok(&format!("calib decide cal.bin --actions {costs} -o rule.bin --force"));
        place.ok("calib apply rule.bin --scores test.csv -o out.csv --force");
        let out = place.text("out.csv");
        let at = out.lines().next().unwrap().split(',').position(|header| header == name).unwrap();
        out.lines().skip(1).map(|line| line.split(',').nth(at).unwrap().to_owned()).collect::<Vec<_>>()
    };
    let numbers =
        |name| column("costs.toml", name).iter().map(|cell| cell.parse().unwrap()).collect::<Vec<f64>>();
    let (actions, prob, lowest) = (column("costs.toml", "action"), numbers("prob"), numbers("band_lo"));
    let threshold = 4.0 / 19.0;
    for ((action, prob), lowest) in actions.iter().zip(prob).zip(lowest) {
        assert_eq!(action == "treat", prob > threshold && lowest > threshold, "{action} {prob} {lowest}");
    }
    let treated = |actions: &[String]| actions.iter().filter(|action| *action == "treat").count();
    let (by_band, by_interval) = (treated(&actions), treated(&column("interval.toml", "action")));
    assert!((100..by_interval).contains(&by_band), "{by_band} {by_interval}");
    // Without a band it would never be taken.
    place.ok("calib fit --method beta --no-band --scores cal.csv -o plain.bin");
    assert_ne!(place.says("calib decide plain.bin --actions costs.toml -o no.bin").code, 0);
    assert_ne!(
        place.says("calib fit --method beta --no-band --actions costs.toml --scores cal.csv -o no.bin").code,
        0
    );
    assert!(!place.path().join("no.bin").exists());
    let other = COSTS.replace("alarm = true", "alarm = true\nif_sure = \"sure\"");
    let place = place.with("other.toml", other);
    assert_ne!(place.says("calib decide --actions other.toml").code, 0);
    said!();
}
