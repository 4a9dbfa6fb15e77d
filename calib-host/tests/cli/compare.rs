//! `calib compare` and `calib bins`: what they rank, on what, and what they refuse.

use serde_json::{Value, json};

use crate::data::{Json, binary_place, matrix_place};
use crate::npy::{f32s, i64s};
use crate::refusal::{File, text};
use crate::transcript::{quote, refused};
use crate::workplace::Workplace;

fn names(comparison: &Value) -> Vec<String> {
    let named = |list: &str| comparison[list].list().clone();
    let all = named("methods").into_iter().chain(named("failed"));
    let mut names: Vec<String> = all.map(|method| method["name"].text().into()).collect();
    names.sort();
    names
}

#[test]
fn compare_ranks_methods_for_several_classes() {
    let (place, _) = matrix_place(400);
    let form = "calib compare --logits val_logits.npy --labels val_labels.npy --methods umd,isotonic,temperature \
                --repeats 1 --folds 3 --bootstrap 50";
    let got = place.json(&format!("{form} --json"));
    let expected = [
        "class-wise/isotonic",
        "class-wise/temperature",
        "class-wise/umd",
        "normalized/isotonic",
        "normalized/temperature",
        "normalized/umd",
        "temperature",
    ];
    assert_eq!(names(&got), expected);
    assert_eq!((&got["claim"], &got["n"]), (&json!("all-classes"), &json!(400)));
    assert_eq!(got["split"], json!({"kind": "cross-validation", "folds": 3, "repeats": 1}));
    // The scores as they are have the Brier score of an assessment.
    let brier = &place.json("calib assess --logits val_logits.npy --labels val_labels.npy --json")["brier"];
    let difference = brier["value"].number() - got["uncalibrated"]["value"].number();
    assert!(difference.abs() < 1e-6, "{difference}");
    let method =
        |name: &str| got["methods"].list().iter().find(|method| method["name"] == name).unwrap().clone();
    let umd = method("class-wise/umd");
    assert!(umd["epsilon"].is_number() && umd["len_bytes"].as_u64() > Some(100), "{umd}");
    let m4 = &umd["cost"]["cores"][2];
    assert!(m4["core"] == "Cortex-M4F" && m4["instructions"].as_f64() > Some(100.0), "{umd}");
    assert_eq!(
        (&method("normalized/umd")["epsilon"], &method("temperature")["epsilon"]),
        (&json!(null), &json!(null))
    );
    assert_eq!(got, place.json(&format!("{form} --json")));

    // Log-loss is not proper for what need not sum to one.
    let log_loss = place.json(&format!("{form} --metric log-loss --json"));
    let failed: Vec<_> = log_loss["failed"].list().iter().map(|f| f["name"].clone()).collect();
    assert_eq!(failed, ["class-wise/umd", "class-wise/isotonic", "class-wise/temperature"]);

    // The predicted class alone; the last class is predicted too rarely for a table.
    let softmax = format!("{form} --claim top-label --class-scores softmax");
    let top = place.json(&format!("{softmax} --epsilon 0.4 --json"));
    assert_eq!(names(&top)[..2], ["confidence/isotonic", "confidence/temperature"]);
    let umd = top["methods"].list().iter().find(|m| m["name"] == "top-label/umd").unwrap();
    assert_eq!(umd["uncalibrated_tables"], 1);
    assert!(umd["meets_epsilon"].is_boolean());
    // With the top-two margin of the logit for a score, too: other losses, and more to choose among.
    let both = place.json(&format!("{form} --claim top-label --json"));
    let of = |got: &Value, name: &str| {
        let methods = got["methods"].list().iter();
        methods.clone().find(|method| method["name"] == name).map(|method| method["loss"]["value"].clone())
    };
    for name in ["confidence/isotonic", "top-label/umd"] {
        let by_top2_margin = of(&both, &format!("{name}/margin"));
        assert_eq!(of(&both, name), of(&top, name));
        assert!(by_top2_margin.is_some(), "{name}");
    }
    let margin = place.json(&format!("{form} --claim top-label --class-scores margin --json"));
    let names = names(&margin);
    let mut reduced = names.iter().filter(|name| name.contains('/'));
    assert!(names.len() == 7 && reduced.all(|name| name.ends_with("/margin")), "{names:?}");
    place.says(&softmax);
    said!();
}

#[test]
fn compare_on_test_data() {
    let place = binary_place();
    let place = place.with("test.csv", "score,label\n0.25,0\n0.75,1\n0.5,1\n");
    let got = place
        .json("calib compare --scores cal.csv --test test.csv --methods platt,umd --bootstrap 50 --json");
    assert_eq!((&got["split"], &got["n"]), (&json!({"kind": "test", "n": 3}), &json!(400)));
    let uncalibrated = got["uncalibrated"]["value"].number();
    assert!((uncalibrated - (0.0625 + 0.0625 + 0.25) / 3.0).abs() < 1e-9);
    // As the same fit is assessed.
    place.ok("calib fit --method platt --scores cal.csv -o platt.bin");
    let assessed = place.json("calib assess platt.bin --scores test.csv --json");
    let platt = got["methods"].list().iter().find(|m| m["name"] == "platt").unwrap().clone();
    let difference = platt["loss"]["value"].number() - assessed["after"]["brier"]["value"].number();
    assert!(difference.abs() < 1e-9, "{difference}");

    let four: [File; 2] = [
        ("four.npy", f32s(&[8, 4], (0..32).map(|i| i as f32)).bytes()),
        ("y.npy", i64s((0..8).map(|row| row % 4)).bytes()),
    ];
    refused(
        &four,
        "calib compare --logits logits.npy --labels labels.npy --test four.npy --test-labels y.npy",
    );
    refused(
        &four,
        "calib compare --logits logits.npy --labels labels.npy --test logits.npy --test-labels y.npy",
    );
    said!();
}

#[test]
fn what_does_not_go_together_is_not_compared() {
    for options in
        ["--claim top-label", "--reductions normalized", "--rows-per-bin 9", "--methods umd,vector"]
    {
        refused(&[], &format!("calib compare --scores cal.csv {options}"));
    }
    refused(&[], "calib compare --logits logits.npy");
    said!();
}

/// One class, or one score: defined results, and reasons where there are none.
#[test]
fn little_is_compared_as_far_as_it_goes() {
    let rows = |n: usize, row: &dyn Fn(usize) -> String| (0..n).map(row).collect::<String>();
    let place = Workplace::new()
        .with("one.csv", format!("score,label\n{}", rows(40, &|i| format!("0.{:02},1\n", i + 10))))
        .with(
            "same.csv",
            format!("score,label\n{}", rows(400, &|i| format!("0.5,{}\n", u8::from(i % 4 == 0)))),
        );
    let got =
        place.json("calib compare --scores one.csv --methods umd,isotonic --bins 2 --bootstrap 50 --json");
    assert_eq!((got["methods"].list().len(), &got["recommendation"]), (0, &json!(null)));
    quote(&json!([got["reason"], got["failed"][0]["reason"]]));
    let got = place.json("calib compare --scores same.csv --methods isotonic --bootstrap 50 --json");
    assert_eq!(got["recommendation"], "isotonic");
    let assessed = place.json("calib assess --scores same.csv --json");
    assert_eq!((&assessed["auc"]["value"], &assessed["conf_ece"]["groups"]), (&json!(0.5), &json!(1)));
    assert!((assessed["conf_ece"]["value"].number() - 0.25).abs() < 1e-12);
    // Fewer rows than bins, and bins without rows.
    let place = place.with("few.csv", "score,label\n0.25,0\n0.75,1\n");
    for binning in ["equal-width", "equal-mass"] {
        let got = place.json(&format!("calib assess --scores few.csv --binning {binning} --bins 15 --json"));
        assert_eq!((&got["conf_ece"]["groups"], &got["conf_ece"]["singles"]), (&json!(2), &json!(2)));
        assert!((got["conf_ece"]["value"].number() - 0.25).abs() < 1e-12);
    }
    said!();
}

#[test]
fn bins_are_chosen_by_squared_error_and_bound() {
    let place = binary_place();
    let form = "calib bins --scores cal.csv --bins 2,5,10 --at-most 0.5 --bootstrap 50";
    let got = place.json(&format!("{form} --svg bins.svg --json"));
    assert_eq!((&got["n"], &got["n_test"]), (&json!(200), &json!(200)));
    let tried = got["tried"].list();
    assert_eq!(tried.iter().map(|tried| &tried["bins"]).collect::<Vec<_>>(), [2, 5, 10]);
    assert!(tried.iter().all(|tried| tried["upper_debiased"].as_f64() < tried["upper_plugin"].as_f64()));
    let least = tried.iter().min_by(|a, b| a["brier"].as_f64().partial_cmp(&b["brier"].as_f64()).unwrap());
    assert_eq!(got["chosen"]["debiased"], least.unwrap()["bins"]);
    let svg = place.text("bins.svg");
    assert!(svg.starts_with("<svg") && svg.contains("from the debiased estimate"), "{svg}");
    assert_eq!(svg.matches("<circle").count(), 6);
    place.says(form);
    // Test data of their own, fewer than the bins; no bound is that low.
    let place = place.with("test.csv", "score,label\n0.25,0\n0.75,1\n0.5,1\n");
    let got =
        place.json("calib bins --scores cal.csv --test test.csv --at-most 0.000001 --bootstrap 50 --json");
    assert_eq!((&got["n"], &got["n_test"], &got["chosen"]["plugin"]), (&json!(400), &json!(3), &json!(null)));
    assert_eq!(got["tried"].list().len(), 10);

    refused(&[], "calib bins --scores cal.csv --bins 2,11");
    let one = ("one.csv", text("score,label\n0.5,1\n"));
    refused(&[one], "calib bins --scores one.csv");
    said!();
}

/// Whoever follows the advice gets what was asked for.
#[test]
fn an_epsilon_that_none_meets_is_answered_with_what_does() {
    let place = binary_place();
    let form = "calib compare --scores cal.csv --methods umd --bins 20 --bootstrap 50 --repeats 1 --epsilon 0.1 --json";
    let got = place.json(form);
    assert_eq!(got["recommendation"], json!(null));
    let unmet = &got["unmet"];
    assert_eq!((&unmet["epsilon"], unmet["without"].is_string()), (&json!(0.1), true), "{got}");
    let fit = format!("calib fit --method umd --scores cal.csv --bins {} -o few.bin --json", unmet["bins"]);
    assert!(place.json(&fit)["guarantee"]["epsilon"].number() <= 0.1);
    let plan = place.json(&format!("calib plan --n {} --bins 2 --json", unmet["points"]));
    assert!(plan.to_string().contains("epsilon"), "{plan}");
    assert!(got["methods"][0]["behind_best"]["value"].as_f64() == Some(0.0), "{got}");
}

/// Whoever takes what a comparison recommends has chosen by the labels: the epsilons are those of `fit --candidates`.
#[test]
fn a_recommendation_says_among_how_many_it_chose() {
    let place = binary_place();
    let form = "calib compare --methods umd,ums,fixed-width,platt --bootstrap 50 --scores cal.csv";
    let got = place.json(&format!("{form} --json"));
    // Platt scaling guarantees nothing that could fail.
    assert_eq!(got["candidates"], 3);
    let umd = got["methods"].list().iter().find(|method| method["name"] == "umd").unwrap();
    let fitted =
        place.json("calib fit --method umd --bins 10 --candidates 3 --scores cal.csv -o cal.bin --json");
    assert_eq!(umd["epsilon"], fitted["guarantee"]["epsilon"]);
    assert_eq!(umd["parameters"], "alpha=0.1 candidates=3 bins=10 boundary=ceil");
    place.says("calib compare --methods umd,fixed-width --bootstrap 50 --scores cal.csv");
    said!();
}

/// All bounds hold together, so that the chosen one does; and none is exactly 0.
#[test]
fn bounds_share_alpha_and_none_is_0() {
    let place = binary_place();
    let bound = |options: &str, bins: &str| {
        let form = format!("calib bins --scores cal.csv --bins {bins} --bootstrap 50 {options} --json");
        place.json(&form)["tried"][0]["upper_plugin"].number()
    };
    assert!(bound("", "5,10") > bound("", "5"));
    assert!((bound("--alpha 0.2", "5,10") - bound("--alpha 0.1", "5")).abs() < 1e-12);
    place.says("calib bins --scores cal.csv --bins 2,5 --bootstrap 50 --at-most 0.5");
    // Two scores, each always right: no error is seen, and nothing bounds it.
    let rows = (0..40).map(|row| format!("0.{},{}\n", if row % 2 == 0 { 1 } else { 9 }, row % 2));
    let place = place.with("sure.csv", format!("score,label\n{}", rows.collect::<String>()));
    let sure = "calib bins --scores sure.csv --bins 2 --bootstrap 50 --at-most 0.1";
    let got = place.json(&format!("{sure} --json"));
    assert!(got["tried"][0]["upper_plugin"].is_null() && got["chosen"]["plugin"].is_null(), "{got}");
    place.says(sure);
    said!();
}
