//! What flash does besides keeping bits.

/// What flash does with units that were torn or written before, and with reads and erases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    /// A torn unit reads as its bits are, and may be written further. Parallel and serial NOR are like that.
    Plain,
    /// A second write of a unit fails, and changes nothing.
    SecondWriteFails,
    /// A second write of a unit says nothing, and leaves its bits to read otherwise every time.
    SecondWriteSpoils,
    /// A torn unit cannot be read until it is erased, because its error correction does not fit. Parts with error correction are
    /// like that.
    TornUnreadable,
    /// A torn unit cannot be read now and then.
    TornFlickers,
    /// A cut tears all bytes of a write at once. Serial NOR, which programs pages, is like that.
    TearsPages,
    /// A read fails now and then, wherever.
    ReadsFail,
    /// An erase leaves a bit now and then, and says nothing.
    ErasesBadly,
    /// A read gets a bit wrong now and then, wherever, and says nothing.
    Misreads,
}

impl Nature {
    /// Every nature.
    pub const ALL: [Self; 9] = [
        Self::Plain,
        Self::SecondWriteFails,
        Self::SecondWriteSpoils,
        Self::TornUnreadable,
        Self::TornFlickers,
        Self::TearsPages,
        Self::ReadsFail,
        Self::ErasesBadly,
        Self::Misreads,
    ];

    /// Those whose flash does what it is told unless the power fails, in turn.
    pub(crate) fn of_cut(number: u64) -> Self {
        Self::ALL[number as usize % 6]
    }
}
