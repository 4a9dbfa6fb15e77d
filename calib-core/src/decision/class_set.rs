//! A set of classes.

use serde::{Deserialize, Serialize};

/// A set of classes.
///
/// ```
/// use calib_core::decision::ClassSet;
///
/// let set: ClassSet = [3, 0].into_iter().collect();
/// assert_eq!((set.len(), set.contains(3), set.alone()), (2, true, None));
/// assert!(set.classes().eq([0, 3]));
/// assert_eq!([7].into_iter().collect::<ClassSet>().alone(), Some(7));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ClassSet([u32; Self::MAX_CLASSES / 32]);

impl ClassSet {
    /// The most classes that there can be.
    pub const MAX_CLASSES: usize = 128;

    /// Adds a class; one that is no class of 128 is left out.
    #[inline]
    pub fn insert(&mut self, class: u16) {
        if let Some(word) = self.0.get_mut(usize::from(class / 32)) {
            *word |= 1 << (class % 32);
        }
    }

    pub(super) fn remove(&mut self, class: u16) {
        if let Some(word) = self.0.get_mut(usize::from(class / 32)) {
            *word &= !(1 << (class % 32));
        }
    }

    /// Returns the places of a slice at which a condition holds, up to [`ClassSet::MAX_CLASSES`].
    // Word by word, so that a class takes a shift and no index.
    #[inline]
    pub(super) fn of_slice<T>(values: &[T], is_in: impl Fn(&T) -> bool) -> Self {
        let mut set = Self::default();
        for (word, values) in set.0.iter_mut().zip(values.chunks(32)) {
            let mut bit = 1;
            for value in values {
                if is_in(value) {
                    *word |= bit;
                }
                bit <<= 1;
            }
        }
        set
    }

    /// Tells whether a class is in the set.
    #[inline]
    pub fn contains(&self, class: u16) -> bool {
        self.0.get(usize::from(class / 32)).is_some_and(|word| word & 1 << (class % 32) != 0)
    }

    /// Returns the number of classes in the set.
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Tells whether no class is in the set.
    pub fn is_empty(&self) -> bool {
        self.0 == [0; Self::MAX_CLASSES / 32]
    }

    /// Returns the only class of the set; `None` if there is none or more than one.
    pub fn alone(&self) -> Option<u16> {
        let mut classes = self.classes();
        classes.next().filter(|_| classes.next().is_none())
    }

    /// Returns the classes in ascending order.
    pub fn classes(&self) -> impl Iterator<Item = u16> + use<> {
        let set = *self;
        (0..Self::MAX_CLASSES as u16).filter(move |&class| set.contains(class))
    }
}

impl FromIterator<u16> for ClassSet {
    fn from_iter<I: IntoIterator<Item = u16>>(classes: I) -> Self {
        let mut set = Self::default();
        classes.into_iter().for_each(|class| set.insert(class));
        set
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_set_is_a_set(classes in proptest::collection::btree_set(0u16..128, 0..128)) {
            let set: ClassSet = classes.iter().copied().collect();
            prop_assert!(set.classes().eq(classes.iter().copied()));
            prop_assert_eq!((set.len(), set.is_empty()), (classes.len(), classes.is_empty()));
            prop_assert_eq!(set.alone(), if classes.len() == 1 { classes.first().copied() } else { None });
        }

        #[test]
        fn what_is_removed_is_all_that_goes(
            classes in proptest::collection::btree_set(0u16..128, 0..128),
            removed in proptest::collection::btree_set(0u16..140, 0..140),
        ) {
            let mut set: ClassSet = classes.iter().copied().collect();
            removed.iter().for_each(|&class| set.remove(class));
            prop_assert!(set.classes().eq(classes.difference(&removed).copied()));
        }
    }
}
