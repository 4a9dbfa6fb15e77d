//! Intervals of ranges of the score beside a calibrator without a guarantee of its own, through all commands that show one.

use crate::data::{Json, scored};
use crate::decide::COSTS;
use crate::workplace::Workplace;

/// 400 rows whose label is 1 about as often as the square of the score says.
fn place() -> Workplace {
    let hash = |row: u32| f64::from(row.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24);
    let score = move |row: u32| f64::from(row % 400) / 400.0;
    let rows =
        move |salt: u32| scored(400, move |row| (score(row), hash(row + salt) < score(row) * score(row)));
    Workplace::new().with("cal.csv", rows(1)).with("test.csv", rows(1000))
}

#[test]
fn a_function_has_an_interval_for_each_range_of_the_score() {
    let place = place();
    place.says("calib fit --method beta --scores cal.csv -o beta.bin");
    place.says("calib inspect beta.bin");
    place.says("calib apply beta.bin --scores test.csv -o out.csv");
    let out = place.text("out.csv");
    let mut lines = out.lines();
    assert_eq!(lines.next(), Some("score,label,prob,bin,epsilon,flags,lo,hi"));
    let bins: Vec<&str> = lines.map(|line| line.split(',').nth(3).unwrap()).collect();
    assert_eq!(bins.len(), 400);
    assert!((0..7).all(|bin| bins.iter().filter(|&&found| found == bin.to_string()).count() > 50));
    place.says("calib assess beta.bin --scores test.csv");
    place.says("calib adjust beta.bin --prevalence 0.1 --counter 1 -o rare.bin");
    place.says("calib inspect rare.bin");
    place.says("calib fit --method venn-abers --scores cal.csv -o venn.bin");
    // Three values: scores tie at the edges, and no row is lost.
    let votes = scored(300, |row| (f64::from(row % 3) / 2.0, row % 7 < row % 3 * 2));
    let place = place.with("votes.csv", votes);
    place.says("calib fit --method isotonic --scores votes.csv -o votes.bin");
    place.says("calib inspect votes.bin");
    said!();
}

/// The test rows are counted in the ranges, and held against the intervals: in words, as JSON and on the page.
#[test]
fn rows_of_a_test_are_held_against_the_intervals() {
    let hash = |row: u32| f64::from(row.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24);
    // Between the calibration scores, since the same scores with the same labels would be their rows.
    let score = |row: u32| (f64::from(row % 500) + 0.1) / 500.0;
    // Above a half the label is 1 more often than in the calibration rows.
    let shifted = scored(3000, |row| {
        (score(row), hash(row + 77) < (score(row) + if score(row) < 0.5 { 0.0 } else { 0.3 }).powi(2))
    });
    let same = scored(6000, |row| (score(row), hash(row + 9000) < score(row) * score(row)));
    let few = scored(70, |row| (score(row * 7), hash(row + 500) < score(row * 7) * score(row * 7)));
    let place = place().with("shifted.csv", shifted).with("same.csv", same).with("few.csv", few);
    place.ok("calib fit --method beta --scores cal.csv -o beta.bin");
    for (test, guarantee) in
        [("few.csv", "not-refuted"), ("same.csv", "shown"), ("shifted.csv", "contradicted")]
    {
        let json = place.json(&format!("calib assess beta.bin --scores {test} --bootstrap 20 --json"));
        let verdict = &json["verdict"];
        assert_eq!(verdict["guarantee"], guarantee, "{verdict}");
        assert_eq!(verdict["unseen"].is_null(), guarantee != "not-refuted", "{verdict}");
        let ranges = verdict["ranges"].list();
        let rows: f64 = ranges.iter().map(|range| range["n"].as_f64().unwrap()).sum();
        assert_eq!((ranges.len(), rows), (7, json["after"]["n"].as_f64().unwrap()));
        for range in ranges {
            let [lo, hi] = ["lo", "hi"].map(|end| range["interval"][end].as_f64().unwrap());
            let rate = range["rate"].as_f64().unwrap();
            assert!(range["guarantee"] != "contradicted" || rate < lo || hi < rate, "{range}");
        }
        let is_broken = json["evidence"].list().iter().any(|found| found["kind"] == "contradicted-intervals");
        assert_eq!(is_broken, guarantee == "contradicted");
        let report = format!("calib report beta.bin --calibration cal.csv --test {test} --bootstrap 20");
        assert_eq!(place.json(&format!("{report} --json"))["verdict"], *verdict);
        place.ok(&format!("{report} -o page.html --force"));
        let page = place.text("page.html");
        assert!(page.contains("The guarantee on the test rows"));
        assert_eq!(page.matches(">outside<").count() > 0, guarantee == "contradicted");
    }
    place.says("calib assess beta.bin --scores shifted.csv");
    said!();
}

/// An action that asks for evidence is taken where the interval of the range lies on one side of its threshold, and nowhere without intervals.
#[test]
fn a_rule_asks_the_interval_of_the_range() {
    let costs = COSTS.replace("alarm = true", "alarm = true\nif_sure = true");
    let place = place().with("costs.toml", costs);
    let actions = |options: &str| {
        place.ok(&format!("calib fit --scores cal.csv {options} -o cal.bin --force"));
        place.ok("calib decide cal.bin --actions costs.toml -o rule.bin --force");
        place.ok("calib apply rule.bin --scores test.csv -o out.csv --force");
        place.text("out.csv").lines().filter(|line| line.contains("treat")).count()
    };
    let (platt, none) = (actions("--method platt"), actions("--method platt --intervals none"));
    assert!((50..300).contains(&platt) && none == 0, "{platt} {none}");
}
