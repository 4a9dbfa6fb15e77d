//! A classifier's input, checked once.

use core::ops::Deref;

use calib_core::wire::Refusal;

/// As many finite numbers as the classifier takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Features<'a>(&'a [f32]);

impl<'a> Features<'a> {
    /// Checks that there are `expected` values, and that every one is finite.
    ///
    /// # Errors
    ///
    /// [`Refusal::FeatureCount`], or [`Refusal::Feature`] with the first that is NaN or infinite.
    pub fn new(values: &'a [f32], expected: u16) -> Result<Self, Refusal> {
        if values.len() != usize::from(expected) {
            let got = u16::try_from(values.len()).unwrap_or(u16::MAX);
            return Err(Refusal::FeatureCount { expected, got });
        }
        match (0..=u16::MAX).zip(values).find(|(_, value)| !value.is_finite()) {
            Some((index, _)) => Err(Refusal::Feature(index)),
            None => Ok(Self(values)),
        }
    }
}

impl Deref for Features<'_> {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_the_classifier_does_not_take() {
        assert_eq!(Features::new(&[1.0], 2), Err(Refusal::FeatureCount { expected: 2, got: 1 }));
        assert_eq!(Features::new(&[0.0; 3], 2), Err(Refusal::FeatureCount { expected: 2, got: 3 }));
        assert_eq!(Features::new(&[0.0, f32::NAN], 2), Err(Refusal::Feature(1)));
        assert_eq!(Features::new(&[f32::NEG_INFINITY, f32::NAN], 2), Err(Refusal::Feature(0)));
        assert_eq!(*Features::new(&[f32::MAX, -0.0], 2).unwrap(), [f32::MAX, -0.0]);
    }
}
