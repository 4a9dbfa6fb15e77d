//! The tables of an artifact with their flags, intervals and direct tables, read in place.

use super::error::{ParseError, TableFault};
use super::form::{Parts, TableForm, margin_scaling, scaling};
use super::header::{Header, HeaderFlags, is_epsilon};
use super::layout::SectionKind;
use super::pool::Pool;
use super::score_intervals::{Rate, ScoreBins, ScoreIntervals, score_keys};
use super::section::Payloads;
use crate::outcome::{BinFlags, Calibrated, Outcome, ProbInterval, Uncalibrated};
use crate::score::{FloatScore, Margin, Score, ScoreEncoding};
use crate::table::{
    InterpolatedTableOf, MarginFunction, RandomizedTableOf, ScalingFunction, StepTableOf, VennAbersTableOf,
};

/// The tables of an artifact, one per binary problem of its reduction, in the order that [`Reduction`](super::Reduction) states.
///
/// ```
/// use calib_core::Artifact;
///
/// # mod sample { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/sample.rs")); }
/// # let bytes = sample::top_label();
/// let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
/// let tables = artifact.tables();
/// assert_eq!((tables.count(), tables.get(0).unwrap().form.bins()), (3, 2));
/// assert!(tables.get(2).is_none()); // an uncalibrated class
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Tables<'a> {
    kind: SectionKind,
    /// Whether the tables in words are over margins.
    of_margins: bool,
    /// What a lookup starts with: the kind of the tables, `ScoreRanges` if it also asks whether the score is in range, or
    /// `ScoreIntervals` if it also finds the interval of a range. So artifacts without them pay nothing for the question.
    lookup: SectionKind,
    pool: TablePool<'a>,
    /// Empty, or a byte per bin.
    bin_flags: &'a [u8],
    /// Of bins, section 8; or of ranges of the score, section 38, if a lookup starts with it.
    intervals: Option<Pool<'a>>,
    /// Empty, or 256 bytes per table.
    direct: &'a [u8],
    /// Empty, or a range per table.
    ranges: &'a [[u32; 2]],
}

/// The pool that contains the tables.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
enum TablePool<'a> {
    Words(Pool<'a>),
    Halves(Pool<'a, u16>),
}

impl<'a> TablePool<'a> {
    fn parse(kind: SectionKind, payload: &'a [u8], expected: usize) -> Result<Self, TableFault> {
        match kind {
            SectionKind::CompactSteps => Pool::parse(payload, expected).map(Self::Halves),
            _ => Pool::parse(payload, expected).map(Self::Words),
        }
    }

    const fn count(&self) -> usize {
        match self {
            Self::Words(pool) => pool.count(),
            Self::Halves(pool) => pool.count(),
        }
    }

    /// Checks a table and returns its epsilon and form; `None` if the table is empty.
    fn check(
        &self,
        kind: SectionKind,
        header: &Header<'_>,
        table: usize,
    ) -> Result<Option<(f32, TableForm<'a>)>, TableFault> {
        match self {
            Self::Words(pool) => {
                let words = pool.words(table).ok_or(TableFault::Extent)?;
                let Some((&epsilon, words)) = words.split_first() else { return Ok(None) };
                Ok(Some((f32::from_bits(epsilon), TableForm::parse(kind, header.encoding, words)?)))
            }
            Self::Halves(pool) => {
                let halves = pool.words(table).ok_or(TableFault::Extent)?;
                if halves.is_empty() {
                    return Ok(None);
                }
                let (epsilon, halves) = halves.split_first_chunk().ok_or(TableFault::Extent)?;
                Ok(Some((joined(*epsilon), TableForm::parse_halves(header.encoding, halves)?)))
            }
        }
    }

    /// Returns the epsilon and form of a table that was checked.
    #[inline(always)]
    fn read(&self, kind: SectionKind, of_margins: bool, table: usize) -> Option<(f32, TableForm<'a>)> {
        match self {
            Self::Words(pool) => {
                let (&epsilon, words) = pool.words(table)?.split_first()?;
                let form = match of_margins {
                    true => TableForm::trusted_margins(kind, words)?,
                    false => TableForm::trusted(kind, words)?,
                };
                Some((f32::from_bits(epsilon), form))
            }
            Self::Halves(pool) => {
                let (epsilon, halves) = pool.words(table)?.split_first_chunk()?;
                Some((joined(*epsilon), TableForm::trusted_halves(halves)?))
            }
        }
    }

    /// Returns the number of bins before a step table over scores or keys, and the number of bins in it.
    #[inline]
    fn step_bins(&self, table: usize) -> Option<(usize, usize)> {
        match self {
            // Two words per bin, with the epsilon.
            Self::Words(pool) => {
                let (start, end) = (pool.start(table)?, pool.start(table.checked_add(1)?)?);
                Some((start / 2, end.checked_sub(start)? / 2))
            }
            // Two halves per bin, and one more for a table that is not empty.
            Self::Halves(pool) => {
                let bins = |table| pool.words(table).map_or(0, |halves| halves.len() / 2);
                Some(((0..table).map(bins).sum(), bins(table)))
            }
        }
    }
}

/// Marks a result as one for a score outside of the range, if it is.
#[inline]
fn mark(outcome: &mut Outcome, is_outside: bool) {
    if let (true, Outcome::Calibrated(calibrated)) = (is_outside, outcome) {
        calibrated.flags = calibrated.flags.with(BinFlags::OUT_OF_RANGE);
    }
}

/// Joins the halves of an epsilon, the lower half first.
#[inline]
pub(super) fn joined([low, high]: [u16; 2]) -> f32 {
    f32::from_bits(u32::from(low) | u32::from(high) << 16)
}

/// Returns a stored epsilon, which is finite and above 0, or `None` for NaN.
// By its bits, because a comparison of floats is a call on cores without an FPU.
#[inline(always)]
pub(super) const fn guaranteed(epsilon: f32) -> Option<f32> {
    if epsilon.to_bits() < f32::INFINITY.to_bits() { Some(epsilon) } else { None }
}

/// A table with its guarantee.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Table<'a> {
    /// The edges and probabilities, or the function.
    pub form: TableForm<'a>,
    /// The largest deviation of a probability from the truth, at the header's alpha; `None` if nothing is guaranteed.
    pub epsilon: Option<f32>,
}

/// The number of codes of an 8-bit encoding.
pub(super) const CODES: usize = 1 << 8;

impl<'a> Tables<'a> {
    /// No tables.
    pub(super) const NONE: Self = Self {
        kind: SectionKind::Tables,
        of_margins: false,
        lookup: SectionKind::Tables,
        pool: TablePool::Words(Pool::EMPTY),
        bin_flags: &[],
        intervals: None,
        direct: &[],
        ranges: &[],
    };

    /// Checks the tables of a header and of so many groups, of which each has separate tables; 1 without groups. Returns them with the
    /// rate and the alpha of intervals of ranges of the score, if there are some.
    pub(super) fn parse(
        sections: &Payloads<'a>,
        header: &Header<'_>,
        groups: usize,
    ) -> Result<(Self, Option<(Rate, f32)>), ParseError> {
        let at = |fault| ParseError::Table { table: 0, fault };
        let kind = header.table_section().ok_or(ParseError::Header)?;
        let per_group = header.reduction.tables(header.classes).ok_or(ParseError::Header)?;
        let expected = per_group.checked_mul(groups).ok_or(ParseError::Header)?;
        let pool = TablePool::parse(kind, sections.require(kind)?, expected).map_err(at)?;
        let intervals = sections.get(SectionKind::Intervals).map(|payload| Pool::parse(payload, expected));
        let bin_flags = sections.get(SectionKind::BinFlags);
        let direct = sections.get(SectionKind::DirectTable);
        let ranges = sections.get(SectionKind::ScoreRanges);
        let beside = sections.get(SectionKind::ScoreIntervals);
        let beside =
            beside.map(|payload| ScoreIntervals::parse(payload, expected)).transpose().map_err(at)?;
        if beside.is_some() && intervals.is_some() {
            return Err(ParseError::UnexpectedSection(SectionKind::Intervals));
        }
        let intervals = intervals.transpose().map_err(|_| at(TableFault::Intervals))?;
        let tables = Self {
            kind,
            of_margins: header.encoding == ScoreEncoding::Margin,
            lookup: match (&beside, ranges) {
                (Some(_), _) => SectionKind::ScoreIntervals,
                (None, Some(_)) => SectionKind::ScoreRanges,
                (None, None) => kind,
            },
            pool,
            bin_flags: bin_flags.unwrap_or_default(),
            intervals: beside.map_or(intervals, |beside| Some(beside.pool())),
            direct: direct.unwrap_or_default(),
            ranges: match ranges.map(bytemuck::try_cast_slice) {
                Some(ranges) => ranges.map_err(|_| at(TableFault::Ranges))?,
                None => &[],
            },
        };
        let bins = tables.check(header)?;
        if bin_flags.is_some_and(|flags| flags.len() != bins)
            || tables.bin_flags.iter().any(|&b| BinFlags::from_bits(b).is_none())
        {
            return Err(at(TableFault::Flags));
        }
        if direct.is_some_and(|direct| direct.len() != CODES * expected) {
            return Err(at(TableFault::Direct));
        }
        if ranges.is_some() {
            tables.check_ranges(header, expected)?;
        }
        for table in 0..expected {
            let intervals = match &beside {
                Some(beside) => beside.check(header, table, tables.get(table).is_some()),
                None => tables.check_intervals(table),
            };
            let direct = || tables.check_direct(table);
            intervals.and_then(|()| direct()).map_err(|fault| ParseError::Table { table, fault })?;
        }
        Ok((tables, beside.map(|beside| (beside.rate(), beside.alpha()))))
    }

    /// Checks the intervals beside a calibrator of whole vectors: no tables, and ranges of the score for each predicted class.
    pub(super) fn beside_joint(
        sections: &Payloads<'a>,
        header: &Header<'_>,
    ) -> Result<(Self, Option<(Rate, f32)>), ParseError> {
        let Some(payload) = sections.get(SectionKind::ScoreIntervals) else { return Ok((Self::NONE, None)) };
        let classes = usize::from(header.classes);
        let at = |table| move |fault| ParseError::Table { table, fault };
        let found = ScoreIntervals::parse(payload, classes).map_err(at(0))?;
        for class in 0..classes {
            found.check(header, class, found.table(class).is_some()).map_err(at(class))?;
        }
        let tables =
            Self { lookup: SectionKind::ScoreIntervals, intervals: Some(found.pool()), ..Self::NONE };
        Ok((tables, Some((found.rate(), found.alpha()))))
    }

    /// Checks the tables against the header and returns their number of bins.
    fn check(&self, header: &Header<'_>) -> Result<usize, ParseError> {
        let may_miss = header.flags.contains(HeaderFlags::CLASS_UNCALIBRATED);
        let mut missing = false;
        let mut largest = 0.0f32;
        let mut bins = 0usize;
        for table in 0..self.count() {
            let at = |fault| ParseError::Table { table, fault };
            let Some((epsilon, form)) = self.pool.check(self.kind, header, table).map_err(at)? else {
                if may_miss && self.count() > 1 {
                    missing = true;
                    continue;
                }
                return Err(at(TableFault::Missing));
            };
            bins += form.bins();
            // NaN stands for no guarantee. A table's epsilon is not above the header's.
            let guaranteed = header.guarantee.is_some_and(|g| is_epsilon(epsilon) && epsilon <= g.epsilon);
            if !(epsilon.is_nan() || guaranteed) {
                return Err(at(TableFault::Epsilon));
            }
            largest = largest.max(epsilon);
        }
        if header.guarantee.is_some_and(|g| g.epsilon != largest) {
            return Err(ParseError::Table { table: 0, fault: TableFault::Epsilon });
        }
        if may_miss != missing {
            return Err(ParseError::Table { table: 0, fault: TableFault::Missing });
        }
        if u32::try_from(bins) != Ok(header.bins) {
            return Err(ParseError::Table { table: 0, fault: TableFault::Bins });
        }
        Ok(bins)
    }

    /// Checks that there is a range of scores for each table, and none for a table without words.
    fn check_ranges(&self, header: &Header<'_>, expected: usize) -> Result<(), ParseError> {
        let at = |table| ParseError::Table { table, fault: TableFault::Ranges };
        if self.ranges.len() != expected {
            return Err(at(0));
        }
        let [lowest, highest] = score_keys(header.encoding);
        let holds = |(table, &[lo, hi]): (usize, &[u32; 2])| match self.get(table) {
            Some(_) => lowest <= lo && lo <= hi && hi <= highest,
            None => lo == 0 && hi == 0,
        };
        match self.ranges.iter().enumerate().position(|range| !holds(range)) {
            Some(table) => Err(at(table)),
            None => Ok(()),
        }
    }

    /// Checks the intervals of a table's bins against the table.
    fn check_intervals(&self, table: usize) -> Result<(), TableFault> {
        let form = self.get(table);
        if let Some(intervals) = &self.intervals {
            let words = intervals.words(table).ok_or(TableFault::Intervals)?;
            if words.len() != 2 * form.map_or(0, |table| table.form.bins()) {
                return Err(TableFault::Intervals);
            }
            for (bin, pair) in words.as_chunks().0.iter().enumerate() {
                let [lo, hi] = pair.map(f32::from_bits);
                if lo.is_nan() && hi.is_nan() {
                    continue;
                }
                let step = form.filter(|table| table.epsilon.is_some()).and_then(|t| t.form.step(bin));
                let holds = ProbInterval::new(lo, hi).zip(step).is_some_and(|(i, prob)| i.contains(prob));
                let empty = self.bin_flags(table, bin as u16).contains(BinFlags::EMPTY);
                if !holds || empty {
                    return Err(TableFault::Intervals);
                }
            }
        }
        Ok(())
    }

    /// Checks a table's direct table against the table.
    fn check_direct(&self, table: usize) -> Result<(), TableFault> {
        let form = self.get(table);
        if let Some(direct) = self.direct(table) {
            let same = match form.map(|table| table.form) {
                Some(TableForm::Codes(codes)) => {
                    (0..).zip(direct).all(|(key, &bin)| codes.bin(key) == usize::from(bin))
                }
                _ => direct.iter().all(|&bin| bin == 0),
            };
            if !same {
                return Err(TableFault::Direct);
            }
        }
        Ok(())
    }

    /// Returns the number of tables, with the empty ones of uncalibrated classes.
    pub const fn count(&self) -> usize {
        self.pool.count()
    }

    /// Returns the table with this index; `None` for an uncalibrated class, and beyond the last table.
    pub fn get(&self, table: usize) -> Option<Table<'a>> {
        let (epsilon, form) = self.pool.read(self.kind, self.of_margins, table)?;
        Some(Table { form, epsilon: guaranteed(epsilon) })
    }

    /// Returns a table over scores or codes, of a section of this kind.
    // The caller states the kind, so that the compiler need neither make nor match the other forms.
    #[inline(always)]
    fn read(&self, kind: SectionKind, table: usize) -> Option<Table<'a>> {
        let (epsilon, form) = self.pool.read(kind, false, table)?;
        Some(Table { form, epsilon: guaranteed(epsilon) })
    }

    /// Returns the epsilon and the parts of a table in words, of a section of this kind.
    #[inline(always)]
    fn parts(&self, kind: SectionKind, table: usize) -> Option<(Option<f32>, Parts<'a>)> {
        let TablePool::Words(pool) = &self.pool else { return None };
        let (&epsilon, words) = pool.words(table)?.split_first()?;
        Some((guaranteed(f32::from_bits(epsilon)), Parts::of(kind, words)?))
    }

    /// Calibrates a score with a table; [`Outcome::NO_TABLE`] for a class without one, beyond the last table, and for tables over
    /// codes.
    // Every form has a separate function: on cores without an FPU every operation on floats is a call, so stack that is taken
    // above it counts. A Cortex-M0 (the core without atomics) takes the most stack for floats.
    #[cfg_attr(all(target_arch = "arm", not(target_has_atomic = "32")), inline(always))]
    #[cfg_attr(not(all(target_arch = "arm", not(target_has_atomic = "32"))), inline)]
    pub(crate) fn calibrate<S: Scalable>(&self, table: usize, score: S, word: Option<u32>) -> Outcome {
        self.calibrate_by(self.lookup, table, score, word, || self.calibrate_aside(table, score, word))
    }

    /// Calibrates a score with what lies beside its table.
    // Not inlined: on a Cortex-M0, tables with nothing beside them would take more instructions.
    #[inline(never)]
    fn calibrate_aside<S: Scalable>(&self, table: usize, score: S, word: Option<u32>) -> Outcome {
        match self.lookup {
            SectionKind::ScoreIntervals => self.calibrate_beside(table, score, word),
            _ => self.calibrate_in_range(table, score, word),
        }
    }

    /// Calibrates a score, and finds the interval of its range.
    // A Cortex-M0 makes no tail calls: inlined, this takes one stack frame less.
    #[cfg_attr(all(target_arch = "arm", not(target_has_atomic = "32")), inline(always))]
    #[cfg_attr(not(all(target_arch = "arm", not(target_has_atomic = "32"))), inline(never))]
    fn calibrate_beside<S: Scalable>(&self, table: usize, score: S, word: Option<u32>) -> Outcome {
        let mut outcome = self.calibrate_in_range(table, score, word);
        let is_rounded = self.kind == SectionKind::CompactSteps;
        let key = if is_rounded { score.rounded_key().into() } else { score.key() };
        self.put_interval(&mut outcome, table, key);
        outcome
    }

    /// Gives a result the range that contains its key as its bin, and the interval of the range.
    #[inline(never)]
    pub(crate) fn put_interval(&self, outcome: &mut Outcome, table: usize, key: u32) {
        if let (Outcome::Calibrated(calibrated), Some(bins)) = (outcome, self.score_bins(table)) {
            let bin = bins.bin(key);
            calibrated.bin = bin as u16;
            calibrated.flags = calibrated.flags.with(BinFlags::RANGE);
            calibrated.interval = bins.interval(bin);
        }
    }

    /// Calibrates a score, and marks the result if no calibration point has a score as low or as high.
    // Its frame lies below every form's, so it keeps the answer to its question alone, and has no form in it.
    #[inline(never)]
    fn calibrate_in_range<S: Scalable>(&self, table: usize, score: S, word: Option<u32>) -> Outcome {
        let is_outside = self.is_outside(table, score.key());
        let mut outcome = match self.kind {
            SectionKind::Tables => self.step_aside(table, score),
            kind => self.calibrate_by(kind, table, score, word, || Outcome::NO_TABLE),
        };
        mark(&mut outcome, is_outside);
        outcome
    }

    /// [`Tables::step`] with a separate frame.
    #[inline(never)]
    fn step_aside<S: FloatScore>(&self, table: usize, score: S) -> Outcome {
        self.step(table, score)
    }

    /// Calibrates a score with a table of a section of this kind, or `otherwise` if that holds no tables over floats.
    // The question whether there are ranges is the last of those that a lookup asks anyway.
    #[inline(always)]
    fn calibrate_by<S: Scalable>(
        &self,
        kind: SectionKind,
        table: usize,
        score: S,
        word: Option<u32>,
        otherwise: impl FnOnce() -> Outcome,
    ) -> Outcome {
        match kind {
            SectionKind::Tables => self.step(table, score),
            SectionKind::RandomizedSteps => self.randomized_step(table, score, word),
            SectionKind::Interpolated => self.interpolate(table, score),
            SectionKind::VennAbers => self.venn_abers(table, score),
            SectionKind::Scaling => self.scale(table, score),
            SectionKind::CompactSteps => self.rounded_step(table, score),
            _ => otherwise(),
        }
    }

    /// Calibrates a score with a step table.
    // Inlining saves instructions, on the cores that have the stack for it.
    #[cfg_attr(all(target_arch = "arm", not(target_has_atomic = "32")), inline(never))]
    #[cfg_attr(not(all(target_arch = "arm", not(target_has_atomic = "32"))), inline(always))]
    fn step<S: FloatScore>(&self, table: usize, score: S) -> Outcome {
        let Some((epsilon, Parts::Steps { edges, values })) = self.parts(SectionKind::Tables, table) else {
            return Outcome::NO_TABLE;
        };
        let Some(steps) = StepTableOf::<S>::trusted(edges, values) else { return Outcome::NO_TABLE };
        let (bin, prob) = steps.lookup(score);
        self.evidence(table, bin, prob, epsilon)
    }

    /// Calibrates a score with a step table that divides equal scores at random.
    ///
    /// Without a word nothing is guaranteed, whatever the score: the values beside an edge were estimated for a random mix of the
    /// scores at the edge and the others. Theorem 4 of Gupta and Ramdas 2021 is about pairs of score and word.
    #[inline(never)]
    fn randomized_step<S: FloatScore>(&self, table: usize, score: S, word: Option<u32>) -> Outcome {
        let Some((epsilon, Parts::Randomized { edges, ties, values })) =
            self.parts(SectionKind::RandomizedSteps, table)
        else {
            return Outcome::NO_TABLE;
        };
        let Some(steps) = RandomizedTableOf::<S>::trusted(edges, ties, values) else {
            return Outcome::NO_TABLE;
        };
        let (bin, prob) = steps.lookup(score, word.unwrap_or(u32::MAX));
        self.evidence(table, bin, prob, epsilon.filter(|_| word.is_some()))
    }

    /// Calibrates a score with an interpolated table.
    #[inline(never)]
    fn interpolate<S: FloatScore>(&self, table: usize, score: S) -> Outcome {
        let Some((epsilon, Parts::Interpolated { x, y, slopes })) =
            self.parts(SectionKind::Interpolated, table)
        else {
            return Outcome::NO_TABLE;
        };
        let (bin, prob) = InterpolatedTableOf::<S>::trusted(x, y, slopes).lookup(score);
        self.evidence(table, bin, prob, epsilon)
    }

    /// Calibrates a score with two probabilities per bin.
    #[inline(never)]
    fn venn_abers<S: FloatScore>(&self, table: usize, score: S) -> Outcome {
        let Some((epsilon, Parts::VennAbers { edges, p0, p1 })) = self.parts(SectionKind::VennAbers, table)
        else {
            return Outcome::NO_TABLE;
        };
        let Some(bins) = VennAbersTableOf::<S>::trusted(edges, p0, p1) else { return Outcome::NO_TABLE };
        let (bin, prob, [p0, p1]) = bins.lookup(score);
        let interval = Some(ProbInterval { lo: p0, hi: p1 });
        Outcome::Calibrated(Calibrated { prob, bin, epsilon, flags: BinFlags::NONE, interval })
    }

    /// Calibrates a score with a scaling function, which has no bins.
    #[inline(never)]
    fn scale<S: Scalable>(&self, table: usize, score: S) -> Outcome {
        let Some((epsilon, Parts::Scaling(words))) = self.parts(SectionKind::Scaling, table) else {
            return Outcome::NO_TABLE;
        };
        let Some(prob) = score.scaled(words) else { return Outcome::NO_TABLE };
        Outcome::Calibrated(Calibrated { prob, bin: 0, epsilon, flags: BinFlags::NONE, interval: None })
    }

    /// Calibrates the key of a code, or of a difference of codes, with a table; [`Outcome::NO_TABLE`] for a class without one, beyond the last table, and for tables over
    /// floats.
    #[inline]
    pub(crate) fn calibrate_code(&self, table: usize, key: u16) -> Outcome {
        self.calibrate_code_by(self.lookup, table, key, || self.calibrate_code_aside(table, key))
    }

    /// Calibrates a code with what lies beside its table.
    #[inline(never)]
    fn calibrate_code_aside(&self, table: usize, key: u16) -> Outcome {
        match self.lookup {
            SectionKind::ScoreIntervals => self.calibrate_code_beside(table, key),
            _ => self.calibrate_code_in_range(table, key),
        }
    }

    /// Calibrates a code, and finds the interval of its range.
    #[inline(never)]
    fn calibrate_code_beside(&self, table: usize, key: u16) -> Outcome {
        let mut outcome = self.calibrate_code_in_range(table, key);
        self.put_interval(&mut outcome, table, key.into());
        outcome
    }

    /// Calibrates a code, and marks the result if no calibration point has a code as low or as high.
    #[inline(never)]
    fn calibrate_code_in_range(&self, table: usize, key: u16) -> Outcome {
        let is_outside = self.is_outside(table, key.into());
        let mut outcome = self.calibrate_code_by(self.kind, table, key, || Outcome::NO_TABLE);
        mark(&mut outcome, is_outside);
        outcome
    }

    /// Calibrates a code with a table of a section of this kind, or `otherwise` if that holds no tables over codes.
    #[inline(always)]
    fn calibrate_code_by(
        &self,
        kind: SectionKind,
        table: usize,
        key: u16,
        otherwise: impl FnOnce() -> Outcome,
    ) -> Outcome {
        match kind {
            SectionKind::IntegerSteps => self.code_step(table, key),
            SectionKind::CompactSteps => self.compact_step(table, key),
            _ => otherwise(),
        }
    }

    /// Calibrates a code with a table in words.
    #[inline(never)]
    fn code_step(&self, table: usize, key: u16) -> Outcome {
        let Some(Table { form: TableForm::Codes(codes), epsilon }) =
            self.read(SectionKind::IntegerSteps, table)
        else {
            return Outcome::NO_TABLE;
        };
        let direct = self.direct(table).and_then(|direct| direct.get(usize::from(key)));
        let bin = direct.map_or_else(|| codes.bin(key), |&bin| bin.into());
        self.evidence(table, bin as u16, codes.value(bin), epsilon)
    }

    /// Calibrates a rounded float with a table in half words.
    #[inline(never)]
    fn rounded_step<S: FloatScore>(&self, table: usize, score: S) -> Outcome {
        self.compact_step(table, score.rounded_key())
    }

    /// Calibrates a key with a table in half words.
    #[inline(never)]
    fn compact_step(&self, table: usize, key: u16) -> Outcome {
        let Some(Table { form: TableForm::Compact(steps), epsilon }) =
            self.read(SectionKind::CompactSteps, table)
        else {
            return Outcome::NO_TABLE;
        };
        let (bin, prob) = steps.find(key);
        self.evidence(table, bin, prob, epsilon)
    }

    /// Tells whether a score, as section 17 writes scores, lies outside of the table's range.
    #[inline]
    fn is_outside(&self, table: usize, score: u32) -> bool {
        self.ranges.get(table).is_some_and(|&[lo, hi]| score < lo || score > hi)
    }

    /// Returns the least and the greatest score of a table's calibration points, from section 17: the bits of two f32 in `[0, 1]`, or
    /// two keys of [codes](crate::score::QuantizedScore::key) or [margins](Margin::key); `None` if the artifact does not tell, and for an uncalibrated class.
    pub fn score_range(&self, table: usize) -> Option<[u32; 2]> {
        self.get(table).and_then(|_| self.ranges.get(table).copied())
    }

    /// Makes the result of a bin, with its evidence. A bin without calibration points has no probability.
    #[inline(always)]
    fn evidence(&self, table: usize, bin: u16, prob: f32, epsilon: Option<f32>) -> Outcome {
        let flags = self.bin_flags(table, bin);
        if flags.contains(BinFlags::EMPTY) {
            return Outcome::Uncalibrated(Uncalibrated::EmptyBin);
        }
        // An interval holds under the same conditions as the epsilon: without the epsilon there is none.
        // Intervals of ranges of the score are put in their place afterwards.
        let interval = epsilon.and_then(|_| self.own_interval(table, bin));
        Outcome::Calibrated(Calibrated { prob, bin, epsilon, flags, interval })
    }

    /// Returns the flags of a bin of a table; [`BinFlags::NONE`] if there is no such bin or table.
    #[inline]
    pub fn bin_flags(&self, table: usize, bin: u16) -> BinFlags {
        if self.bin_flags.is_empty() {
            return BinFlags::NONE;
        }
        let extent = self.pool.step_bins(table);
        let flags = extent.and_then(|(before, bins)| self.bin_flags.get(before..)?.get(..bins));
        let bits = flags.and_then(|flags| flags.get(usize::from(bin))).copied().unwrap_or_default();
        BinFlags::from_bits(bits).unwrap_or_default()
    }

    /// Returns the interval of a bin of a table, from section 8, or of a range of the score, from section 38; `None` if there is none.
    #[inline]
    pub fn interval(&self, table: usize, bin: u16) -> Option<ProbInterval> {
        if self.has_ranges() { self.range_interval(table, bin) } else { self.own_interval(table, bin) }
    }

    /// Tells whether results have ranges of the score as their bins, from section 38.
    #[inline]
    pub(super) fn has_ranges(&self) -> bool {
        self.lookup == SectionKind::ScoreIntervals
    }

    /// Returns the interval of a range of the score.
    // Not inlined, so that what looks at bins alone has no larger frame.
    #[inline(never)]
    pub(super) fn range_interval(&self, table: usize, bin: u16) -> Option<ProbInterval> {
        self.score_bins(table)?.interval(bin.into())
    }

    /// Returns the ranges of the score that have separate intervals, from section 38; `None` if the artifact has no such section, and for
    /// an uncalibrated class. Beside a calibrator of whole vectors a table is a predicted class.
    #[inline]
    pub fn score_bins(&self, table: usize) -> Option<ScoreBins<'a>> {
        match self.lookup {
            SectionKind::ScoreIntervals => ScoreBins::of(self.intervals?.words(table)?),
            _ => None,
        }
    }

    /// Returns how many bins the results of a table tell apart: ranges of the score that have separate intervals, or the bins of the table's
    /// form; `None` for an uncalibrated class.
    pub fn bins(&self, table: usize) -> Option<usize> {
        match self.score_bins(table) {
            Some(ranges) => Some(ranges.bins()),
            None => self.get(table).map(|table| table.form.bins()),
        }
    }

    /// Returns the interval of a bin from section 8, if that is what there is.
    #[inline]
    pub(super) fn own_interval(&self, table: usize, bin: u16) -> Option<ProbInterval> {
        let pairs = self.intervals?.words(table)?.as_chunks::<2>().0;
        let [lo, hi] = pairs.get(usize::from(bin))?.map(f32::from_bits);
        ProbInterval::new(lo, hi)
    }

    /// Returns the bins of all 256 codes of a table, from section 10.
    #[inline]
    fn direct(&self, table: usize) -> Option<&'a [u8]> {
        self.direct.get(table.checked_mul(CODES)?..)?.get(..CODES)
    }

    pub(super) const fn intervals(&self) -> Option<Pool<'a>> {
        self.intervals
    }

    /// Tells whether results may have an interval, from section 8 or 38, or the two probabilities of Venn-Abers.
    pub fn has_intervals(&self) -> bool {
        self.intervals.is_some() || self.kind == SectionKind::VennAbers
    }

    /// Tells whether every table over codes has a direct table.
    pub const fn has_direct_table(&self) -> bool {
        !self.direct.is_empty()
    }
}

/// A float of which a scaling function can be stored.
pub(crate) trait Scalable: FloatScore {
    /// Returns the probability by the function in these words; `None` if they are none for such a float.
    fn scaled(self, words: &[u32]) -> Option<f32>;
}

impl Scalable for Score {
    #[inline(always)]
    fn scaled(self, words: &[u32]) -> Option<f32> {
        Some(ScalingFunction::trusted(scaling(words)?).evaluate(self))
    }
}

impl Scalable for Margin {
    #[inline(always)]
    fn scaled(self, words: &[u32]) -> Option<f32> {
        Some(MarginFunction::trusted(margin_scaling(words)?).prob(self))
    }
}
