//! The scalar metrics of a set of predictions.

use super::bootstrap::{Bootstrap, Interval};

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
    accuracy, brier, brier_calibration, brier_refinement, log_loss, sharpness, auc, c_emp,
    ece, ece_debiased, mce, l2_squared, l2_squared_debiased, lp,
    tl_ece, tl_ece_debiased, tl_mce, tl_mce_bin, tl_l2_squared, tl_l2_squared_debiased,
}

impl Figures<Option<Interval>> {
    /// Moves the percentile intervals of debiased estimates to where these are.
    pub(crate) fn around(mut self, values: &Figures<f64>, bootstrap: Option<Bootstrap>) -> Self {
        let Some(bootstrap) = bootstrap else { return self };
        for (interval, plugin, debiased) in [
            (&mut self.ece_debiased, values.ece, values.ece_debiased),
            (&mut self.l2_squared_debiased, values.l2_squared, values.l2_squared_debiased),
            (&mut self.tl_ece_debiased, values.tl_ece, values.tl_ece_debiased),
            (&mut self.tl_l2_squared_debiased, values.tl_l2_squared, values.tl_l2_squared_debiased),
        ] {
            *interval = interval.map(|interval| bootstrap.around(plugin, debiased, interval));
        }
        self
    }
}
