//! Scores by several classifiers, as cross-validation gives them: a calibrator of them, and no word of a guarantee.

use calib_fit::artifact::guarantee_text;
use calib_fit::binary::{FixedWidth, Ums};
use calib_fit::{
    ArtifactOptions, BinaryData, BinaryMethod, Isotonic, StoredArtifact, Umd, artifact_bytes, fit_binary,
};

fn data() -> BinaryData {
    let scores = (0..400).map(|i| f64::from(i) / 400.0).collect();
    BinaryData::new(scores, (0..400).map(|i| i % 40 < i / 20).collect()).unwrap().on_device()
}

#[test]
fn every_theorem_is_void() {
    let methods = [
        BinaryMethod::Umd(Umd::new(4)),
        BinaryMethod::UmdRandomized(Umd::new(4), 3),
        BinaryMethod::Ums(Ums { bins: 4, seed: 1 }),
        BinaryMethod::FixedWidth(FixedWidth { bins: 4 }),
    ];
    for method in methods {
        let one = fit_binary(&data(), &method, 0.1).unwrap();
        let several = one.clone().of_classifiers(5);
        let options = ArtifactOptions::default().intervals(true);
        let stored = |fit| StoredArtifact::from_bytes(&artifact_bytes(fit, &options).unwrap()).unwrap();
        let (one, several) = (stored(&one), stored(&several));
        assert!(one.artifact().header().guarantee.is_some() && one.artifact().tables().has_intervals());
        assert_eq!(several.artifact().header().guarantee, None, "{method:?}");
        assert!(!several.artifact().tables().has_intervals(), "{method:?}");
        let table = several.artifact().tables().get(0).unwrap();
        assert_eq!((table.epsilon, table.form), (None, one.artifact().tables().get(0).unwrap().form));
        let guarantee = guarantee_text(&several);
        assert!(
            guarantee.statement.starts_with("Nothing is guaranteed: the scores are from 5 classifiers"),
            "{guarantee}"
        );
        assert!(guarantee.assumptions.is_empty(), "{guarantee}");
    }
}

#[test]
fn where_there_was_no_guarantee_that_is_why() {
    let fit = fit_binary(&data(), &BinaryMethod::Isotonic(Isotonic::default()), 0.1).unwrap();
    let bytes = artifact_bytes(&fit.of_classifiers(5), &ArtifactOptions::default()).unwrap();
    let stored = StoredArtifact::from_bytes(&bytes).unwrap();
    assert_eq!(
        guarantee_text(&stored).statement,
        "Nothing is guaranteed: isotonic has no distribution-free guarantee."
    );
    assert!(stored.artifact().header().provenance.parameters.ends_with(" classifiers=5"));
}
