//! The committed networks: what a device runs, and what is refused, with the reason.

use std::fs;
use std::path::PathBuf;

use calib_classifier::OutputKind;
use calib_classifier::tflite::{Fault, Network, NetworkError, Side};
use calib_core::ScoreEncoding;
use calib_tests::classifier::NetworkCase;

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("network").join(name).with_extension("tflite")
}

fn fault(name: &str) -> Fault {
    match Network::load(file(&format!("refused/{name}"))) {
        Err(NetworkError::Fault(_, fault)) => fault,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn what_a_device_would_not_run_rightly_is_refused_with_the_reason() {
    assert_eq!(fault("float-in-and-out"), Fault::Quantization(Side::Input));
    assert_eq!(fault("no-batch-size"), Fault::Operator(1, "SHAPE".into()));
    assert_eq!(fault("sigmoid"), Fault::Operator(2, "LOGISTIC".into()));
    assert_eq!(fault("per-channel-dense"), Fault::PerChannelDense(2, 3));
    assert_eq!(fault("depthwise-stride-2-same"), Fault::Padding { layer: 0, needed: 0, added: 1 });
    let Fault::LogitScale(scale, 3) = fault("peaked-softmax") else { panic!("taken") };
    // Exponentials of 127 such steps are beyond f32.
    assert!((127.0 * scale).exp().is_infinite(), "{scale}");

    assert!(
        fault("no-batch-size").to_string().ends_with("Give the Keras input `batch_size=1`, and it goes away")
    );
    assert!(
        fault("per-channel-dense").to_string().contains("_experimental_disable_per_channel_quantization")
    );
    let none = Network::load(file("none")).unwrap_err().to_string();
    assert!(none.contains("none.tflite: No such file"), "{none}");
}

#[test]
fn the_networks_of_the_demonstration_are_read() {
    let case = NetworkCase::digits().unwrap();
    let Network { name, shape, outputs, output_kind, .. } = &case.network;
    assert_eq!(
        (name.as_str(), &shape[..], *outputs, *output_kind),
        ("digits", &[8, 8, 1][..], 10, OutputKind::Logits)
    );
    assert_eq!(case.calibration.map(|rows| rows.codes.len()), Some(900));
    assert_eq!((case.test.codes.len(), case.test.rows.features[0].len()), (497, 64));

    let small = NetworkCase::digits_small().unwrap();
    assert_eq!((small.network.output_kind, small.test.codes.len()), (OutputKind::Probs, 497));
    assert_eq!(small.network.encoding(), ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 });
    assert_ne!(small.network.id, case.network.id);
    // They read digits: accuracy on the rows that neither has seen.
    for (test, least) in [(case.test, 0.92), (small.test, 0.92)] {
        let right = test.codes.iter().zip(&test.rows.labels).filter(|(codes, label)| {
            let most = codes.iter().max().unwrap();
            codes.iter().position(|code| code == most) == Some(usize::from(**label))
        });
        let accuracy = right.count() as f64 / test.codes.len() as f64;
        assert!(accuracy > least, "{accuracy}");
    }
}

/// Whatever a byte becomes, and wherever the file ends, nothing panics; a network that comes out is whole.
#[test]
fn damaged_files_are_refused_or_read_and_never_more() {
    let bytes = fs::read(file("digits-small")).unwrap();
    for end in 0..bytes.len() {
        let _ = Network::new("cut", bytes[..end].to_vec());
    }
    let (mut damaged, mut refused) = (bytes.clone(), 0);
    for at in 0..bytes.len() {
        for value in [0x00, 0x01, 0x7F, 0x80, 0xFF, bytes[at] ^ 0x10] {
            damaged[at] = value;
            match Network::new("damaged", damaged.clone()) {
                Ok(network) => assert!(network.features() <= 128 && network.outputs <= 85, "byte {at}"),
                Err(_) => refused += 1,
            }
        }
        damaged[at] = bytes[at];
    }
    assert!(refused > 1000, "{refused}");
    for name in ["", "a name", "ä", &"x".repeat(33)] {
        assert_eq!(Network::new(name, bytes.clone()), Err(Fault::Name));
    }
}
