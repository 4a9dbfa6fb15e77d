//! A band around the calibration curve, through all commands that show one.

use crate::data::scored;
use crate::decide::COSTS;
use crate::workplace::Workplace;

fn score(row: u32) -> f64 {
    f64::from(row % 600) / 600.0
}

/// A label that is 1 about as often as the square of the score says.
fn label(row: u32, salt: u32) -> bool {
    let hash = |row: u32| f64::from(row.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24);
    hash(row + salt) < score(row) * score(row)
}

/// 600 rows.
fn place() -> Workplace {
    let rows = |salt: u32| scored(600, |row| (score(row), label(row, salt)));
    Workplace::new().with("cal.csv", rows(1)).with("test.csv", rows(1000))
}

#[test]
fn every_score_has_a_band() {
    let place = place();
    place.says("calib fit --method beta --intervals band --scores cal.csv -o beta.bin");
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
    place.says("calib fit --method umd --bins 5 --intervals both --scores cal.csv -o umd.bin");
    let inspected = place.inspect("umd.bin");
    assert!(inspected["band"]["steps"].as_array().unwrap().len() > 5);
    // Beside intervals it is there unasked from 500 rows on, unless it is left out, and then there is no word of it.
    place.ok("calib fit --method beta --scores cal.csv -o both.bin");
    assert!(place.inspect("both.bin")["band"].is_object());
    for options in ["--intervals ranges", "--intervals none"] {
        place.ok(&format!("calib fit --method beta {options} --scores cal.csv -o plain.bin --force"));
        assert_eq!(place.inspect("plain.bin").get("band"), None);
    }
    said!();
}

#[test]
fn a_band_that_would_not_hold_is_refused() {
    let turned = scored(600, |row| (f64::from(row) / 600.0, row * 7 % 600 > row));
    let place = place().with("turned.csv", turned);
    assert_ne!(place.says("calib fit --method beta --intervals both --scores turned.csv -o no.bin").code, 0);
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
    let json = place.json("calib decide --actions costs.toml --json");
    let threshold = json["rule"]["intervals"][2]["above"].as_f64().unwrap();
    for ((action, prob), lowest) in actions.iter().zip(prob).zip(lowest) {
        assert_eq!(action == "treat", prob > threshold && lowest > threshold, "{action} {prob} {lowest}");
    }
    let treated = |actions: &[String]| actions.iter().filter(|action| *action == "treat").count();
    let (by_band, by_interval) = (treated(&actions), treated(&column("interval.toml", "action")));
    assert!((100..by_interval).contains(&by_band), "{by_band} {by_interval}");
    // Without a band it would never be taken.
    place.ok("calib fit --method beta --intervals ranges --scores cal.csv -o plain.bin");
    assert_ne!(place.says("calib decide plain.bin --actions costs.toml -o no.bin").code, 0);
    assert_ne!(
        place
            .says(
                "calib fit --method beta --intervals ranges --actions costs.toml --scores cal.csv -o no.bin"
            )
            .code,
        0
    );
    assert!(!place.path().join("no.bin").exists());
    let other = COSTS.replace("alarm = true", "alarm = true\nif_sure = \"sure\"");
    let place = place.with("other.toml", other);
    assert_ne!(place.says("calib decide --actions other.toml").code, 0);
    said!();
}

/// The page and the picture show the area between both sides, step by step, and for how many rows the probability lies in it.
#[test]
fn a_band_is_drawn() {
    let place = place();
    place.ok("calib fit --method beta --scores cal.csv -o cal.bin");
    place.ok(
        "calib report cal.bin --calibration cal.csv --test test.csv --same-rows --bootstrap 20 -o page.html",
    );
    let page = place.text("page.html");
    let rows = "The calibrated probability lies in it for all test rows.";
    assert!(page.contains("The band around the calibration curve") && page.contains(rows));
    assert!(page.contains("the band: where the probability of an event lies"));
    place.says("calib plot band cal.bin --test test.csv --same-rows -o band.svg");
    place.says("calib plot band cal.bin --test test.csv --same-rows -o band.png");
    assert!(place.path().join("band.png").metadata().unwrap().len() > 5000);
    let svg = place.text("band.svg");
    let (_, polygon) = svg.split_once("<polygon class=\"band\" points=\"").unwrap();
    let corners = polygon.split_once('"').unwrap().0.split(' ');
    let corner = |corner: &str| corner.split_once(',').map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap()));
    let corners: Vec<(f64, f64)> = corners.map(|at| corner(at).unwrap()).collect();
    let steps = place.inspect("cal.bin")["band"]["steps"].as_array().unwrap().clone();
    assert_eq!(corners.len(), 4 * steps.len());
    // From left to right along the lower side, and back along the upper one. Pixels grow downwards.
    let (lower, upper) = corners.split_at(2 * steps.len());
    let bottom = lower[0].1;
    let top = upper[0].1;
    for (step, (lower, upper)) in steps.iter().zip(lower.chunks(2).zip(upper.chunks(2).rev())) {
        let height = |end: usize| step["interval"][end].as_f64().unwrap();
        let pixel = |height: f64| bottom - height * (bottom - top);
        assert!((lower[0].1 - pixel(height(0))).abs() < 0.11 && (upper[0].1 - pixel(height(1))).abs() < 0.11);
        assert!(lower[0].1 == lower[1].1 && upper[0].1 == upper[1].1);
        assert!(lower[0].0 <= lower[1].0 && lower[0].0 == upper[1].0 && lower[1].0 == upper[0].0);
    }
    // Of codes and of margins, too.
    let codes = scored(600, |row| ((255.0 * score(row)).floor(), label(row, 1)));
    let place = place.with("codes.csv", codes);
    place
        .ok("calib fit --method isotonic --scores codes.csv --score-encoding u8,1/255,0 --intervals both -o codes.bin");
    place.ok("calib plot band codes.bin --test codes.csv --same-rows -o codes.svg");
    let margins = scored(600, |row| (10.0 * score(row) - 5.0, label(row, 1)));
    let place = place.with("margins.csv", margins);
    place.ok("calib fit --method platt --margins margins.csv --intervals both -o margins.bin");
    place.ok("calib plot band margins.bin --test margins.csv --same-rows -o margins.svg");
    assert!(place.text("margins.svg").contains(">margin</text>"));
    place.ok("calib fit --method beta --intervals ranges --scores cal.csv -o plain.bin");
    assert_ne!(place.says("calib plot band plain.bin --test test.csv --same-rows -o no.svg").code, 0);
    said!();
}
