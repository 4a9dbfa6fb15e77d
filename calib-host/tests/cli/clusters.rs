//! Rows that belong together: one of each is fitted to, and all are resampled and dealt out together.

use std::fmt::Write;

use crate::data::{Json, noise, without_origin};
use crate::npy::{f32s, i64s};
use crate::transcript::{note, quote};
use crate::workplace::Workplace;

const PATIENTS: usize = 40;
const RECORDINGS: usize = 10;

/// Recordings of patients: nearly the same score, and the patient's label.
fn rows() -> Vec<(f32, u8, String)> {
    let row = |row: usize| {
        let patient = row % PATIENTS;
        let score = (patient as f32 + 0.5) / PATIENTS as f32 + row as f32 * 1e-6;
        let label = u8::from(noise(patient) < f64::from(score).powi(2));
        (score, label, format!("patient {patient}"))
    };
    (0..PATIENTS * RECORDINGS).map(row).collect()
}

fn csv(rows: &[(f32, u8, String)]) -> String {
    let mut text = "score,label,patient\n".to_owned();
    for (score, label, patient) in rows {
        writeln!(text, "{},{label},{patient}", f64::from(*score)).unwrap();
    }
    text
}

fn place() -> Workplace {
    let rows = rows();
    let mut moved = rows.clone();
    moved.rotate_left(123);
    let singles: Vec<_> = rows.iter().enumerate().map(|(row, r)| (r.0, r.1, format!("row {row}"))).collect();
    Workplace::new()
        .with("rows.csv", csv(&rows))
        .with("moved.csv", csv(&moved))
        .with("singles.csv", csv(&singles))
        .with("scores.npy", f32s(&[rows.len()], rows.iter().map(|row| row.0)).bytes())
        .with("labels.npy", i64s(rows.iter().map(|row| row.1.into())).bytes())
        .with("patients.npy", i64s((0..rows.len()).map(|row| (row % PATIENTS) as i64)).bytes())
        .with("logits.npy", f32s(&[rows.len(), 2], rows.iter().flat_map(|row| [0.0, row.0])).bytes())
}

#[test]
fn fit_takes_one_row_of_each_cluster_and_says_so() {
    let place = place();
    let fit = |data: &str| {
        let form = format!("calib fit --method umd --bins 4 {data} -o out.bin --force --json --seed 3");
        (place.json(&form), without_origin(place.inspect("out.bin")))
    };
    let (fitted, inspected) = fit("--scores rows.csv --cluster-column patient");
    assert_eq!((&fitted["n"], &fitted["cluster_rows"]), (&PATIENTS.into(), &400.into()));
    quote(&fitted["statement"]);
    let parameters = inspected["provenance"]["parameters"].text();
    assert!(parameters.ends_with("cluster-rows=400 cluster-seed=3"), "{parameters}");
    place.says("calib inspect out.bin");
    // Neither the order of the rows nor where the clusters are matters.
    assert_eq!(fit("--scores moved.csv --cluster-column patient").1, inspected);
    let arrays = "--scores scores.npy --labels labels.npy --clusters patients.npy";
    assert_eq!(fit(arrays).1, inspected);
    assert_eq!(fit("--scores rows.csv --clusters rows.csv --cluster-column patient").1, inspected);
    // Wider by far than what dependent rows seem to allow.
    let epsilon = |fitted: &serde_json::Value| fitted["guarantee"]["epsilon"].number();
    assert!(epsilon(&fitted) > 3.0 * epsilon(&fit("--scores rows.csv").0));
    said!();
}

#[test]
fn clusters_of_one_row_are_rows() {
    let place = place();
    let fit = |options: &str| {
        place.ok(&format!(
            "calib fit --method umd --bins 4 --scores singles.csv {options} -o out.bin --force --quiet"
        ));
        place.bytes("out.bin")
    };
    let artifact = fit("");
    assert_eq!(fit("--cluster-column patient"), artifact);
    for command in [
        "compare --methods umd,isotonic --bins 4 --repeats 1 --bootstrap 50 --scores singles.csv",
        "assess --bootstrap 50 --scores singles.csv",
        "assess out.bin --same-rows --bootstrap 50 --bca --scores singles.csv",
        "bins --bins 2,4 --bootstrap 50 --scores singles.csv --test singles.csv --same-rows",
    ] {
        let run = |options: &str| {
            let mut got = place.json(&format!("calib {command} {options} --json --quiet"));
            let object = got.as_object_mut().unwrap();
            // Without the option it is asked whether the rows are independent.
            object.remove("warnings");
            (object.remove("clusters"), object.remove("clusters_test"), got)
        };
        let (alone, together) = (run(""), run("--cluster-column patient"));
        assert_eq!(alone.2, together.2, "{command}");
        assert!(together.0.into_iter().chain(together.1).any(|count| count == 400), "{command}");
    }
}

#[test]
fn what_is_said_of_test_rows_counts_clusters() {
    let place = place();
    place.ok("calib fit --method isotonic --scores rows.csv -o out.bin --quiet");
    let width = |interval: &serde_json::Value| interval["hi"].number() - interval["lo"].number();
    let assess = |options: &str| place.json(&format!("calib assess --bootstrap 200 --json {options}"));
    let (rows, clusters) =
        (assess("--scores rows.csv"), assess("--scores rows.csv --cluster-column patient"));
    assert_eq!((&clusters["clusters"], &rows["clusters"]), (&PATIENTS.into(), &serde_json::Value::Null));
    assert_eq!(clusters["brier"]["value"], rows["brier"]["value"]);
    assert!(width(&clusters["brier"]["interval"]) > 2.0 * width(&rows["brier"]["interval"]));
    assert!(width(&clusters["bins"][0]["interval"]) > 2.0 * width(&rows["bins"][0]["interval"]));
    let of_arrays = assess("--scores scores.npy --labels labels.npy --clusters patients.npy");
    assert_eq!(of_arrays["brier"], clusters["brier"]);
    assert_eq!(assess("--scores moved.csv --cluster-column patient"), clusters);
    place.says("calib assess --scores rows.csv --cluster-column patient");

    let form = "calib compare --methods isotonic,umd --bins 2 --scores rows.csv --cluster-column patient --repeats 1";
    let compared = place.json(&format!("{form} --json"));
    assert_eq!(compared["clusters"], PATIENTS);
    place.says(form);
    place.says(&format!("{form} --folds 50"));

    let report = place.json(
        "calib report out.bin --calibration rows.csv --test rows.csv --same-rows --cluster-column patient --bootstrap 100 \
         --json",
    );
    assert_eq!(report["options"]["clusters"], PATIENTS);
    place.says("calib bins --bins 2,3 --scores rows.csv --cluster-column patient");
    let matrix = place.json(
        "calib assess --logits logits.npy --labels labels.npy --clusters patients.npy --bootstrap 20 --json",
    );
    assert_eq!(matrix["clusters"], PATIENTS);
    let fitted = place.json(
        "calib fit --method umd --reduction confidence --rows-per-bin 10 --logits logits.npy --labels labels.npy \
         --clusters patients.npy -o matrix.bin --json",
    );
    assert_eq!((&fitted["n"], &fitted["cluster_rows"]), (&PATIENTS.into(), &400.into()));
    said!();
}

#[test]
fn rows_that_do_not_look_independent_are_warned_of() {
    let place = place().with("cal.csv", crate::data::csv(&crate::data::binary(400)));
    place.ok("calib fit --method isotonic --scores cal.csv -o out.bin --quiet");
    let json = "calib fit --method umd --bins 4 --scores rows.csv -o out.bin --force --json";
    let dependent = place.json(json)["warnings"][0].text().to_owned();
    note(&dependent);
    let sentence = dependent.split('.').next().unwrap();
    let warned = |form: &str| place.ok(form).stderr.contains(&format!("warning: {sentence}"));
    for command in [
        "fit --method umd --bins 4 --quiet -o new.bin --force --scores",
        "fit --method umd --bins 4 --table u16 --quiet -o new.bin --force --scores",
        "assess --quiet --scores",
        "assess out.bin --same-rows --quiet --scores",
        "compare --methods umd --bins 4 --repeats 1 --bootstrap 20 --quiet --scores",
        "bins --bins 2,4 --bootstrap 20 --quiet --scores",
        "report out.bin --same-rows --calibration cal.csv --bootstrap 20 --quiet --json --test",
        "plot reliability out.bin --same-rows --quiet -o new.svg --force --test",
    ] {
        assert!(warned(&format!("calib {command} rows.csv")), "{command}");
        assert!(!warned(&format!("calib {command} rows.csv --cluster-column patient")), "{command}");
        assert!(!warned(&format!("calib {command} cal.csv")), "{command}");
    }
    for command in [
        "fit --method umd --bins 4 -o new.bin --force --scores",
        "fit --method umd --bins 4 --table u16 -o new.bin --force --scores",
        "assess --scores",
        "compare --methods umd --bins 4 --repeats 1 --bootstrap 20 --scores",
        "bins --bins 2,4 --bootstrap 20 --scores",
        "threshold --sensitivity .9 -o new.bin --force --scores",
    ] {
        let told = |rows: &str| {
            let value = place.json(&format!("calib {command} {rows} --json"));
            let warnings = value["warnings"].as_array().expect("a list");
            let of_this =
                |warning: &serde_json::Value| warning.as_str().is_some_and(|text| text.starts_with(sentence));
            warnings.iter().filter(|warning| of_this(warning)).count()
        };
        assert_eq!((told("rows.csv"), told("cal.csv")), (1, 0), "{command}");
    }
    assert!(warned("calib assess --logits logits.npy --labels labels.npy"));
    let form = "calib fit --method umd --reduction confidence --rows-per-bin 10 --logits logits.npy --labels labels.npy \
                -o new.bin --force";
    assert!(warned(form) && !warned(&format!("{form} --clusters patients.npy")));
    said!();
}

#[test]
fn clusters_that_are_not_there_are_refused() {
    let place = place()
        .with("gaps.csv", "score,label,patient\n0.2,0,a\n0.3,1,\n")
        .with("w.csv", "score,label,w,p\n0.1,0,1,a\n");
    let refused = |form: &str| {
        place.says(&format!("calib fit --method isotonic -o none.bin {form}"));
    };
    refused("--scores gaps.csv --cluster-column patient");
    refused("--scores rows.csv --cluster-column nobody");
    refused("--scores rows.csv --clusters rows.csv");
    refused("--scores scores.npy --labels labels.npy --cluster-column patient");
    refused("--scores w.csv --weight-column w --cluster-column p");
    refused("--scores gaps.csv --clusters patients.npy");
    said!();
}
