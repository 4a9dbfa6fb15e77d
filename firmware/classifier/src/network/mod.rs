//! A quantized network as a device's [`Classifier`](calib_firmware::Classifier): features in, int8 codes out.
//!
//! microflow runs the layers, from source code that [`tflite::source`](crate::tflite) writes for a file. What is around them is here: features become
//! codes as TensorFlow Lite makes them, and the output is the codes, with the logits that they stand for. A calibrator of codes
//! takes the former, a calibrator of floats the latter: one run of the network is enough for both.
//!
//! ```
//! use calib_core::ClassifierId;
//! use calib_firmware::{Classifier, Features, Output};
//! use calib_classifier::OutputKind;
//! use calib_classifier::network::{Codes, Network};
//!
//! /// Stands for the layers: the codes of two features are the logits of two classes.
//! fn run(codes: &[i8; 2]) -> [f32; 2] {
//!     codes.map(|code| 0.25 * f32::from(code))
//! }
//!
//! let codes = Codes { scale: 0.5, zero_point: -10 };
//! let network = Network::new("two", ClassifierId([7; 8]), codes, Codes { scale: 0.25, zero_point: 0 }, OutputKind::Logits, run);
//! let features = Features::new(&[4.0, 7.0], 2).unwrap();
//! assert_eq!(network.codes(features), [-2, 4]);
//!
//! let mut scratch = [0.0; 128];
//! let Ok(Output::QuantizedLogits { codes, logits }) = network.classify(features, &mut scratch) else { panic!() };
//! assert_eq!((codes.top_label_margin().top2_margin(), logits.top_label().class), (6, 1));
//! ```
//!
//! # What this module does not do
//!
//! It does not panic; whether microflow does nobody has proved.

mod codes;
mod compiled;

pub use codes::Codes;
pub use compiled::Network;
