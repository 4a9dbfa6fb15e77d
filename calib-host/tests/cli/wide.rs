//! Guarantees that are wide, or say nothing.

use crate::data::{Json, binary, csv, matrix_place, noise};
use crate::transcript::note;
use crate::workplace::Workplace;

#[test]
fn every_wide_guarantee_is_called_so() {
    let (place, _) = matrix_place(400);
    let place = place.with("cal.csv", csv(&binary(400)));
    for options in [
        "--method umd --bins 10 --scores cal.csv",
        "--method umd-original --bins 10 --scores cal.csv",
        "--method umd-randomized --bins 10 --scores cal.csv",
        "--method ums --bins 10 --scores cal.csv",
        "--method fixed-width --bins 10 --scores cal.csv",
        "--method umd --rows-per-bin 50 --reduction top-label --logits val_logits.npy --labels val_labels.npy",
        "--method umd --rows-per-bin 50 --reduction confidence --logits val_logits.npy --labels val_labels.npy",
        "--method ums --rows-per-bin 50 --reduction class-wise --logits val_logits.npy --labels val_labels.npy",
    ] {
        let fitted = place.json(&format!("calib fit {options} -o out.bin --force --json"));
        let guarantee = fitted["statement"].text();
        let epsilon = fitted["guarantee"]["epsilon"].number();
        assert!(epsilon > 0.1, "{options}: {guarantee}");
        note(guarantee);
    }
    let many = place.with("many.csv", csv(&binary(20_000)));
    let fitted =
        many.json("calib fit --method fixed-width --bins 4 --scores many.csv -o out.bin --force --json");
    note(fitted["statement"].text());
    said!();
}

/// Seven points a bin, of which six count, half of them positive: 0.65 reaches from 0.5 beyond both ends.
#[test]
fn bins_about_which_nothing_is_said_are_counted() {
    let rows: String =
        (0..60).map(|row| format!("{},{}\n", (f64::from(row) + 0.5) / 60.0, row % 2)).collect();
    let place = Workplace::new().with("cal.csv", format!("score,label\n{rows}"));
    let fitted =
        place.json("calib fit --method umd --bins 8 --bound hoeffding --scores cal.csv -o out.bin --json");
    let vacuous = fitted["vacuous_bins"].whole();
    let epsilon = fitted["guarantee"]["epsilon"].number();
    let values = crate::data::numbers(&fitted["tables"][0]["values"]);
    let expected = values.iter().filter(|&&value| epsilon >= value.max(1.0 - value)).count();
    assert!(vacuous as usize == expected && expected >= 6 && epsilon < 1.0, "{fitted}");
    let sentence =
        fitted["statement"].text().split(". ").find(|part| part.contains(&format!(" {expected} of 8 bins")));
    let words = sentence.unwrap_or_else(|| panic!("{fitted}"));
    note(words);
    let report = place
        .json("calib report out.bin --calibration cal.csv --test cal.csv --same-rows --bootstrap 5 --json");
    assert!(report["warnings"].to_string().contains(words), "{}", report["warnings"]);
    said!();
}

#[test]
fn of_rare_events_the_exact_intervals_are_printed() {
    let rows: String = (0..1000usize)
        .map(|row| {
            let score = (row * 7919 % 1000) as f64 / 1000.0 + 0.0005;
            format!("{score},{}\n", u8::from(noise(row) < 0.01 + 0.01 * score))
        })
        .collect();
    let place = Workplace::new().with("rare.csv", format!("score,label\n{rows}"));
    let form = "calib fit --method umd --bins 5 --scores rare.csv -o out.bin --force";
    let text = place.says(form).stderr;
    let table = &place.json(&format!("{form} --json"))["tables"][0];
    for bin in 0..5 {
        let (n, k) = (&table["counts"][bin], &table["positives"][bin]);
        let [lo, hi] = ["lo", "hi"].map(|end| table["intervals"][bin][end].number());
        let line = format!("  bin {}: {k} of {n}, [{lo:.4}, {hi:.4}]\n", bin + 1);
        assert!(text.contains(&line), "{line} {text}");
    }
    // Where epsilon tells something, it is all that is printed.
    let place = place.with("cal.csv", csv(&binary(2000)));
    place.says("calib fit --method umd --bins 5 --scores cal.csv -o out.bin --force");
    said!();
}
