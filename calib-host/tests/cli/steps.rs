//! `--table steps`: smooth functions as tables.

use crate::data::scored;
use crate::workplace::Workplace;

fn place() -> Workplace {
    let labeled = |row: u32| (f64::from(row) / 400.0, (row * 7919) % 400 * 400 < row * row);
    Workplace::new().with("cal.csv", scored(400, labeled))
}

/// The largest difference is stated by `fit`, by `inspect` and in JSON; C takes the table, and not the function.
#[test]
fn a_smooth_function_is_stored_in_steps() {
    let place = place();
    for method in ["platt", "beta", "temperature", "quadratic", "isotonic-interpolated", "isotonic-centered"]
    {
        let table = "--scores cal.csv --table steps --force";
        let fit = place.json(&format!("calib fit --method {method} {table} -o cal.bin --json"));
        let within = fit["tables"][0]["within"].as_f64().unwrap();
        assert!(fit["tables"][0]["values"].as_array().unwrap().len() <= 64 && within > 0.0, "{method}");
        assert!(fit["tables"][0].get("weights").is_none(), "{method}");
        let stated = place.json("calib inspect cal.bin --json")["within"].as_f64().unwrap();
        assert!(within <= stated && stated < within + 1e-4, "{method} {within} {stated}");
        place.ok("calib export cal.bin -o cal.h --force");
        place.ok(&format!("calib fit --method {method} --scores cal.csv -o exact.bin --force"));
        place.ok("calib apply cal.bin cal.csv -o steps.csv --force");
        place.ok("calib apply exact.bin cal.csv -o exact.csv --force");
        let probs = |file: &str| {
            let (names, rows) = place.table(file);
            let at = names.iter().position(|name| name == "prob").unwrap();
            rows.iter().map(|row| row[at].parse().unwrap()).collect::<Vec<f64>>()
        };
        let far =
            probs("steps.csv").iter().zip(probs("exact.csv")).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(0.0 < far && far <= stated, "{method} {far} {stated}");
    }
    place.says("calib fit --method beta --scores cal.csv --table steps -o cal.bin --force");
    place.says("calib inspect cal.bin");
    place.says("calib fit --method beta --scores cal.csv -o function.bin");
    place.says("calib export function.bin -o function.h");
    place.says("calib adjust cal.bin --prevalence 0.1 --counter 2 -o adjusted.bin");
    assert!(place.json("calib inspect adjusted.bin --json").get("within").is_none());
    said!();
}

#[test]
fn what_is_no_function_of_the_score_has_no_steps() {
    let place = place();
    for method in ["venn-abers", "umd-randomized --bins 3"] {
        place.says(&format!("calib fit --method {method} --scores cal.csv --table steps -o cal.bin"));
    }
    // What is steps anyway stays as it is.
    for method in ["umd --bins 5", "blend"] {
        place.ok(&format!("calib fit --method {method} --scores cal.csv -o plain.bin --force"));
        place.ok(&format!("calib fit --method {method} --scores cal.csv --table steps -o cal.bin --force"));
        assert_eq!(place.bytes("plain.bin"), place.bytes("cal.bin"), "{method}");
    }
    said!();
}
