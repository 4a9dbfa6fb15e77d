//! The scalar metrics of a set of predictions.

use crate::stats::Interval;

/// Defines a struct of so many numbers, or whatever stands for them, that can be walked in order.
macro_rules! figures {
    ($($name:ident),+ $(,)?) => {
        /// One `T` for every metric.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(crate) struct Figures<T> {
            $(pub(crate) $name: T,)+
        }

        impl<T: Copy> Figures<T> {
            /// The values, in a fixed order.
            pub(crate) fn values(&self) -> Vec<T> {
                vec![$(self.$name),+]
            }
        }

        impl<T> Figures<T> {
            pub(crate) const COUNT: usize = [$(stringify!($name)),+].len();

            /// Takes one `T` for every metric, in the order of the values.
            ///
            /// # Panics
            ///
            /// If there are too few.
            pub(crate) fn take(from: &mut impl Iterator<Item = T>) -> Self {
                Self { $($name: from.next().expect("one for every metric")),+ }
            }
        }
    };
}

figures! {
    accuracy, brier, brier_refinement, log_loss, sharpness, auc,
    brier_calibration, c_emp, ece, ece_debiased, ece_noise, mce, l2_squared, l2_squared_debiased, lp,
    tl_ece, tl_ece_debiased, tl_ece_noise, tl_mce, tl_mce_bin, tl_l2_squared, tl_l2_squared_debiased,
}

/// The place of the first calibration error.
const FIRST_BIASED: usize = 6;

impl<T> Figures<T> {
    /// Whether the values in these places, of one or more such sets one after the other, are calibration errors, whose bias
    /// is large against their noise.
    pub(crate) fn is_biased(place: usize) -> bool {
        place % Self::COUNT >= FIRST_BIASED
    }
}

impl Figures<Option<Interval>> {
    /// Moves the intervals of estimates and of debiased estimates to where these are, and takes away those that would be
    /// beside the truth.
    ///
    /// The largest of many deviations is too high, and in the resamples once more, by an amount that nothing tells. So is an
    /// error in a norm without a debiased estimate. The calibration part of the Brier score is the mean squared deviation, and
    /// gets the interval of that one's debiased estimate, from 0 on.
    pub(crate) fn around(mut self, values: &Figures<f64>) -> Self {
        for without in [&mut self.c_emp, &mut self.mce, &mut self.lp, &mut self.tl_mce, &mut self.tl_mce_bin]
        {
            *without = None;
        }
        for (of_plugin, of_debiased, plugin, debiased) in [
            (&mut self.ece, &mut self.ece_debiased, values.ece, values.ece_debiased),
            (
                &mut self.l2_squared,
                &mut self.l2_squared_debiased,
                values.l2_squared,
                values.l2_squared_debiased,
            ),
            (&mut self.tl_ece, &mut self.tl_ece_debiased, values.tl_ece, values.tl_ece_debiased),
            (
                &mut self.tl_l2_squared,
                &mut self.tl_l2_squared_debiased,
                values.tl_l2_squared,
                values.tl_l2_squared_debiased,
            ),
        ] {
            for interval in [of_plugin, of_debiased] {
                *interval = interval.map(|interval| interval.less_bias(plugin, debiased));
            }
        }
        self.brier_calibration = self.l2_squared_debiased.map(Interval::not_below_zero);
        self
    }

    /// Widens the intervals of debiased absolute errors by what debiasing may leave: see [`Interval::of_absolute_error`].
    pub(crate) fn of_absolute_errors(mut self, values: &Figures<f64>) -> Self {
        self.ece_debiased = self.ece.map(|interval| interval.of_absolute_error(values.ece_noise));
        self.tl_ece_debiased = self.tl_ece.map(|interval| interval.of_absolute_error(values.tl_ece_noise));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calibration_errors_follow_the_other_metrics() {
        let places: Vec<f64> = (0..Figures::<f64>::COUNT).map(|place| place as f64).collect();
        let places = Figures::take(&mut places.into_iter());
        assert_eq!((places.auc, places.brier_calibration), ((FIRST_BIASED - 1) as f64, FIRST_BIASED as f64));
        assert!(Figures::<f64>::is_biased(2 * Figures::<f64>::COUNT - 1));
        assert!(!Figures::<f64>::is_biased(2 * Figures::<f64>::COUNT));
    }
}
