//! The decision rule of an artifact on the device, against the same code on the host and against a scan.

use calib_core::artifact::{
    ArtifactWriter, Header, HeaderFlags, Method, Provenance, Reduction, Table, TableForm,
};
use calib_core::wire::{Answer, ReplyBody, RequestBody};
use calib_core::{Calibrator, Identity, Outcome, Score, ScoreEncoding, StepTable};
use calib_firmware::AlarmRule;
use calib_host::StoredArtifact;
use calib_host::decide::{Actions, Cost, CostedAction, Envelope, Rule, with_decision};
use calib_tests::{Board, stand_in};

use crate::harness::{ID, Image, random_inputs};

/// Never raised by a probability: whatever raises the alarm is the artifact's rule.
const BUILT_IN: AlarmRule = AlarmRule::Below(0.0);
const SCORES: usize = 10_000;

/// Four actions with awkward thresholds; the third raises the alarm.
fn actions() -> Actions {
    let cost = |value: f64| Cost::new(value).unwrap();
    let action = |(name, positive, negative, alarm): (&str, f64, f64, bool)| CostedAction {
        name: name.into(),
        positive: cost(positive),
        negative: cost(negative),
        start_up: Cost::default(),
        alarm,
        abstain: name == "ask",
        if_sure: None,
    };
    let all = [
        ("wait", 100.0, 0.0, false),
        ("test", 31.7, 0.9, false),
        ("treat", 1.3, 17.0, true),
        ("ask", 9.0, 9.0, false),
    ];
    Actions::new(all.map(action).into(), None).unwrap()
}

/// An artifact whose probabilities are the thresholds and their neighbors one ulp away, among others.
fn artifact(rule: &Rule) -> StoredArtifact {
    let mut values: Vec<f32> = vec![0.0, f32::from_bits(1), 0.5, 1.0f32.next_down(), 1.0];
    values.extend(rule.thresholds().iter().flat_map(|t| [t.next_down(), *t, t.next_up()]));
    values.extend((1..20).map(|i| i as f32 / 20.0));
    let edges: Vec<f32> = (1..values.len()).map(|i| i as f32 / values.len() as f32).collect();
    let header = Header {
        method: Method::Isotonic,
        reduction: Reduction::Binary,
        encoding: ScoreEncoding::F32,
        classes: 2,
        bins: values.len() as u32,
        n: 1000,
        guarantee: None,
        flags: HeaderFlags::NONE,
        provenance: Provenance {
            data_sha256: [4; 32],
            tool_version: "test",
            parameters: "",
            classifier: Some(ID),
        },
    };
    let form = TableForm::Steps(StepTable::new(&edges, &values).unwrap());
    let mut bytes = vec![0; 4096];
    let mut writer = ArtifactWriter::new(&mut bytes);
    writer.header(&header).unwrap();
    writer.tables(&[Some(Table { form, epsilon: None })]).unwrap();
    let plain = writer.finish(|_| Identity([0; 8])).unwrap();
    let plain = StoredArtifact::from_bytes(plain).unwrap();
    StoredArtifact::from_bytes(&with_decision(&plain, &actions(), rule, None).unwrap()).unwrap()
}

#[test]
fn the_device_decides_as_the_host_does() {
    let image = Image::new(Board::Mps2An386, stand_in("decisions", ID, 1, BUILT_IN).unwrap());
    let actions = actions();
    let envelope = Envelope::new(&actions, |_| true);
    let rule = Rule::bayes(&envelope);
    assert_eq!(rule.intervals(), [0, 1, 3, 2]);
    let stored = artifact(&rule);
    let mut deployed = image.deploy("decisions", stored.as_bytes());

    // Every edge and its neighbors, and random scores: the same bits, and so the same action and alarm.
    let parity = deployed.bare_scores(SCORES, 5);
    assert_eq!(parity.predictions.len(), random_inputs(SCORES));

    // The action is the cheapest one at the probability, by exact comparison with the thresholds; each is taken.
    let mut taken = [0; 4];
    for Answer { outcome, action, alarm, .. } in &parity.predictions {
        let Outcome::Calibrated(calibrated) = outcome else { panic!("uncalibrated") };
        let below = envelope.thresholds.iter().filter(|t| t.is_below(calibrated.prob.into())).count();
        let expected = envelope.actions[below];
        assert_eq!(action.map(usize::from), Some(expected), "{}", calibrated.prob);
        assert_eq!(*alarm, actions.all()[expected].alarm);
        taken[expected] += 1;
    }
    assert!(taken.iter().all(|&count| count > random_inputs(SCORES) / 100), "{taken:?}");

    // The status tells of the rule, so that nobody takes the built-in one for it.
    let reply = deployed.device.request(RequestBody::Status).unwrap();
    let ReplyBody::Status(status) = reply else { panic!("{reply:?}") };
    assert_eq!(status.calibrator.unwrap().actions, 4);

    // The tables are what they were: the rule adds nothing to the calibration.
    let Calibrator::Binary(calibrator) = deployed.artifact().calibrator() else { panic!("not binary") };
    assert_eq!(calibrator.calibrate(Score::ONE).calibrated().unwrap().prob, 19.0 / 20.0);
}
