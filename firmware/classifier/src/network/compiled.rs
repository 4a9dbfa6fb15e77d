//! A network with what its codes stand for.

use calib_core::score::{CodeVector, CodeVectorError};
use calib_core::wire::{MAX_VALUES, Refusal};
use calib_core::{ClassifierId, Logits, QuantizedScore, ScoreEncoding};
use calib_firmware::{Classifier, Features, Output, Scratch, Task};

use super::Codes;
use crate::{MAX_CLASSES, OutputKind};

/// A network that was compiled, with names and scales.
#[derive(Clone, Copy, Debug)]
pub struct Network<const FEATURES: usize, const OUTPUTS: usize> {
    name: &'static str,
    id: ClassifierId,
    input: Codes,
    output: Codes,
    output_kind: OutputKind,
    run: fn(&[i8; FEATURES]) -> [f32; OUTPUTS],
}

impl<const FEATURES: usize, const OUTPUTS: usize> Network<FEATURES, OUTPUTS> {
    /// Joins the layers with what their codes stand for. `run` gives what the codes stand for that come out.
    ///
    /// More than 128 features or 85 outputs, or none, do not compile.
    pub const fn new(
        name: &'static str,
        id: ClassifierId,
        input: Codes,
        output: Codes,
        output_kind: OutputKind,
        run: fn(&[i8; FEATURES]) -> [f32; OUTPUTS],
    ) -> Self {
        const {
            assert!(FEATURES > 0 && FEATURES <= MAX_VALUES, "a request holds 1 to 128 features");
            assert!(OUTPUTS > 0 && OUTPUTS <= MAX_CLASSES, "a network has 1 to 85 outputs");
        }
        Self { name, id, input, output, output_kind, run }
    }

    /// How many codes come out.
    pub const fn outputs(&self) -> usize {
        OUTPUTS
    }

    /// What they stand for.
    pub const fn output_kind(&self) -> OutputKind {
        self.output_kind
    }

    /// What its codes stand for.
    pub const fn encoding(&self) -> ScoreEncoding {
        ScoreEncoding::I8 { scale: self.output.scale, zero_point: self.output.zero_point as i32 }
    }

    /// The codes that come out.
    pub fn codes(&self, features: Features<'_>) -> [i8; OUTPUTS] {
        let mut taken = [0; FEATURES];
        for (code, &feature) in taken.iter_mut().zip(features.iter()) {
            *code = self.input.quantize(feature);
        }
        // microflow gives each code as the number that it stands for: the code is found again exactly.
        (self.run)(&taken).map(|value| self.output.quantize(value))
    }
}

impl<const FEATURES: usize, const OUTPUTS: usize> Classifier for Network<FEATURES, OUTPUTS> {
    fn name(&self) -> &str {
        self.name
    }

    fn id(&self) -> ClassifierId {
        self.id
    }

    fn feature_count(&self) -> u16 {
        FEATURES as u16
    }

    fn task(&self) -> Task {
        Task::of_outputs(OUTPUTS as u16)
    }

    fn classify<'s>(&self, features: Features<'_>, scratch: &'s mut Scratch) -> Result<Output<'s>, Refusal> {
        let codes = self.codes(features);
        if let [code] = codes[..] {
            let score = QuantizedScore::new(self.encoding(), code.into());
            return score.map(Output::Code).map_err(Refusal::Code);
        }
        let (floats, rest) = scratch.split_at_mut(OUTPUTS);
        let keys = bytemuck::cast_slice_mut::<f32, u16>(rest);
        let keys = keys.get_mut(..OUTPUTS).unwrap_or_default();
        for ((key, float), code) in keys.iter_mut().zip(floats.iter_mut()).zip(codes) {
            // Keys count from the lowest code.
            *key = (i16::from(code) - i16::from(i8::MIN)) as u16;
            *float = self.output.dequantize(code);
        }
        let codes = CodeVector::new(self.encoding(), keys).map_err(|error| match error {
            CodeVectorError::Code(_, cause) => Refusal::Code(cause),
            _ => Refusal::Kind { classes: OUTPUTS as u16 },
        })?;
        match self.output_kind {
            OutputKind::Probs => Ok(Output::Codes(codes)),
            OutputKind::Logits => {
                let logits = Logits::new(floats).map_err(Refusal::Logits)?;
                Ok(Output::QuantizedLogits { codes, logits })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: ClassifierId = ClassifierId([3; 8]);
    const IN: Codes = Codes { scale: 1.0, zero_point: 0 };
    const PROBS: Codes = Codes { scale: 1.0 / 256.0, zero_point: -128 };

    fn features(values: &[f32]) -> Features<'_> {
        Features::new(values, values.len() as u16).unwrap()
    }

    #[test]
    fn every_code_is_found_again_whatever_the_scale() {
        for scale in [1.0 / 256.0, 0.1, 0.3, 7.77e-5, 0.177_384_6, 1e-30, 3e30] {
            for zero_point in [-128, -3, 0, 127] {
                let codes = Codes { scale, zero_point };
                for code in i8::MIN..=i8::MAX {
                    assert_eq!(codes.quantize(codes.dequantize(code)), code, "{codes:?}");
                }
            }
        }
    }

    #[test]
    fn logits_come_as_codes_and_as_what_they_stand_for() {
        const OUT: Codes = Codes { scale: 0.1, zero_point: -7 };
        let run = |codes: &[i8; 3]| codes.map(|code| OUT.dequantize(code));
        let network = Network::new("n", ID, IN, OUT, OutputKind::Logits, run);
        assert_eq!((network.task(), network.feature_count()), (Task::TopLabel { classes: 3 }, 3));
        let mut scratch = [f32::NAN; MAX_VALUES];
        let output = network.classify(features(&[-128.0, 100.4, 99.0]), &mut scratch).unwrap();
        assert!(network.task().gives(&output));
        let Output::QuantizedLogits { codes, logits } = output else { panic!("{output:?}") };
        assert_eq!((codes.keys(), codes.encoding()), (&[0, 228, 227][..], network.encoding()));
        let stands_for = codes.keys().iter().map(|&key| QuantizedScore::from_key(network.encoding(), key));
        let stands_for = stands_for.map(|score| score.unwrap().dequantized());
        assert!(logits.as_slice().iter().copied().eq(stands_for));
    }

    #[test]
    fn probabilities_and_margins_come_as_codes_alone() {
        let run = |codes: &[i8; 2]| codes.map(|code| PROBS.dequantize(code));
        let mut scratch = [0.0; MAX_VALUES];
        let output = Network::new("n", ID, IN, PROBS, OutputKind::Probs, run)
            .classify(features(&[-100.0, 99.0]), &mut scratch)
            .unwrap();
        assert!(matches!(output, Output::Codes(codes) if codes.top_label().score().code() == 99));

        let network =
            Network::new("n", ID, IN, IN, OutputKind::Logits, |codes: &[i8; 1]| codes.map(f32::from));
        let output = network.classify(features(&[-5.0]), &mut scratch).unwrap();
        assert!(Task::Binary.gives(&output) && matches!(output, Output::Code(score) if score.code() == -5));
    }

    /// As many classes as there is memory for.
    #[test]
    fn the_most_classes_fit() {
        let run = |codes: &[i8; 85]| codes.map(f32::from);
        let network = Network::new("n", ID, IN, IN, OutputKind::Logits, run);
        let values: [f32; 85] = core::array::from_fn(|class| class as f32);
        let mut scratch = [0.0; MAX_VALUES];
        let output = network.classify(features(&values), &mut scratch).unwrap();
        let Output::QuantizedLogits { codes, logits } = output else { panic!("{output:?}") };
        assert_eq!((codes.top_label().class(), logits.classes()), (84, 85));
    }
}
