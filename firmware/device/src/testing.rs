//! Doubles for the unit tests.

use std::vec::Vec;

use calib_core::artifact::{
    ArtifactWriter, Guarantee, Header, HeaderFlags, Method, Provenance, Reduction, Table, TableForm, Theorem,
};
use calib_core::decision::{Action, DecisionParts};
use calib_core::table::{CodeTable, MarginTable, RandomizedMarginTable, RandomizedTable};
use calib_core::{
    Anybody, BinFlags, ClassifierId, Identity, Outcome, ScoreEncoding, StepTable, TopLabelCode,
    TopLabelCodeMargin,
};

use calib_core::wire::{FrameReader, Refusal, Reply, ReplyBody, Request, RequestBody, Values};
use embedded_hal_mock::eh1::digital::{Mock, State, Transaction};
use embedded_io::ErrorKind;
use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash};

use crate::{
    Alarm, AlarmRule, Classifier, Device, Entropy, Features, LinearClassifier, Meter, Output, Scratch, Task,
};

pub(crate) const ID: ClassifierId = ClassifierId(*b"testing!");
pub(crate) const OTHER_ID: ClassifierId = ClassifierId(*b"another!");

pub(crate) static BINARY: LinearClassifier<2, 1> =
    LinearClassifier::new("binary", ID, [0.0; 2], [1.0; 2], [[1.0, 1.0]], [0.0]);
pub(crate) static TERNARY: LinearClassifier<2, 3> = LinearClassifier::new(
    "ternary",
    ID,
    [0.0; 2],
    [1.0; 2],
    [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]],
    [0.0; 3],
);

/// A meter that always shows the same.
#[derive(Debug)]
pub(crate) struct StopWatch {
    pub(crate) ticks: Option<u32>,
}

impl Meter for StopWatch {
    fn measure_ticks(&mut self, work: impl FnOnce()) -> Option<u32> {
        work();
        self.ticks
    }

    fn stack_high_water_bytes(&mut self) -> u32 {
        1234
    }
}

/// A source of words that go up by 0x1000_0000.
#[derive(Debug)]
pub(crate) struct Dice(pub(crate) u32);

impl Entropy for Dice {
    fn word(&mut self) -> Option<u32> {
        self.0 = self.0.wrapping_add(0x1000_0000);
        Some(self.0)
    }
}

/// An artifact at a multiple of 4 in memory.
#[derive(Clone)]
pub(crate) struct Aligned(Vec<u32>);

impl Aligned {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }

    pub(crate) fn flip(&mut self, bit: usize) {
        bytemuck::cast_slice_mut::<u32, u8>(&mut self.0)[bit / 8] ^= 1 << (bit % 8);
    }
}

/// 0.05 below 0.2, 0.4 below 0.7, then 0.9.
pub(crate) fn binary_artifact(classifier: Option<ClassifierId>) -> Aligned {
    let steps = StepTable::new(&[0.2, 0.7], &[0.05, 0.4, 0.9]).unwrap();
    let table = Table { form: TableForm::Steps(steps), epsilon: None };
    artifact(Reduction::Binary, 2, &[Some(table)], classifier)
}

/// 0.3 for class 0, 0.8 for class 1, nothing for class 2.
pub(crate) fn top_label_artifact(classifier: Option<ClassifierId>) -> Aligned {
    let form = |values| TableForm::Steps(StepTable::new(&[], values).unwrap());
    let table = |values| Some(Table { form: form(values), epsilon: None });
    artifact(Reduction::TopLabel, 3, &[table(&[0.3]), table(&[0.8]), None], classifier)
}

/// Of three classes 0.1 and then 0.6, 0.2 and then 0.8, both from the score 0.5 on, and no table for the third; the same for
/// the first three ranks.
pub(crate) fn multi_class_artifact(reduction: Reduction) -> Aligned {
    let steps = |values| TableForm::Steps(StepTable::new(&[0.5], values).unwrap());
    let table = |values| Some(Table { form: steps(values), epsilon: None });
    artifact(reduction, 3, &[table(&[0.1, 0.6]), table(&[0.2, 0.8]), None], Some(ID))
}

/// [`top_label_artifact`] with a rule: up to 0.5 act, which raises the alarm, above leave; without a probability ask.
pub(crate) fn deciding_artifact() -> Aligned {
    let form = |values| TableForm::Steps(StepTable::new(&[], values).unwrap());
    let table = |values| Some(Table { form: form(values), epsilon: None });
    let tables = [table(&[0.3]), table(&[0.8]), None];
    let action = |name, alarm, abstain| Action { name, alarm, abstain, if_sure: None };
    let actions = [action("leave", false, false), action("ask", false, true), action("act", true, false)];
    let parts = DecisionParts {
        thresholds: &[0.5],
        intervals: &[2, 0],
        uncalibrated: 1,
        unsure: None,
        actions: &actions,
    };
    write_with(&header(Reduction::TopLabel, 3, &tables, Some(ID)), &tables, &[], Some(&parts))
}

/// 0.05 below 0.2, nothing known below 0.7, then 0.9; with `decides`, a rule that leaves up to 0.5 and acts above, and asks
/// without a probability.
pub(crate) fn artifact_with_an_empty_bin(decides: bool) -> Aligned {
    let steps = StepTable::new(&[0.2, 0.7], &[0.05, 0.45, 0.9]).unwrap();
    let tables = [Some(Table { form: TableForm::Steps(steps), epsilon: None })];
    let action = |name, alarm, abstain| Action { name, alarm, abstain, if_sure: None };
    let actions = [action("leave", false, false), action("ask", false, true), action("act", true, false)];
    let parts = DecisionParts {
        thresholds: &[0.5],
        intervals: &[0, 2],
        uncalibrated: 1,
        unsure: None,
        actions: &actions,
    };
    let flags = [BinFlags::NONE, BinFlags::EMPTY, BinFlags::NONE];
    write_with(
        &header(Reduction::Binary, 2, &tables, Some(ID)),
        &tables,
        &flags,
        Some(&parts).filter(|_| decides),
    )
}

/// 0.25 up to 0.5, then 0.75; scores of 0.5 are divided by the word 0x1800_0000.
pub(crate) fn randomized_artifact() -> Aligned {
    let steps = RandomizedTable::new(&[0.5], &[0x1800_0000], &[0.25, 0.75]).unwrap();
    let table = Table { form: TableForm::Randomized(steps), epsilon: Some(0.125) };
    let guarantee = Guarantee { theorem: Theorem::Gr21Theorem4, alpha: 0.1, epsilon: 0.125 };
    let header = header(Reduction::Binary, 2, &[Some(table)], None);
    write(&Header { method: Method::UmdRandomized, guarantee: Some(guarantee), ..header }, &[Some(table)])
}

/// 0.25 below the code 128, then 0.75.
pub(crate) fn code_artifact() -> Aligned {
    let encoding = ScoreEncoding::U8 { scale: 1.0 / 255.0, zero_point: 0 };
    let steps = CodeTable::new(&[128], &[0.25, 0.75], encoding).unwrap();
    let table = Table { form: TableForm::Codes(steps), epsilon: None };
    write(&Header { encoding, ..header(Reduction::Binary, 2, &[Some(table)], None) }, &[Some(table)])
}

/// What an int8 softmax gives.
pub(crate) const SOFTMAX: ScoreEncoding = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };

/// For class 0 0.25 below the code 64, then 0.75; 0.125 for class 1, nothing for class 2.
pub(crate) fn top_label_code_artifact() -> Aligned {
    let form = |edges, values| TableForm::Codes(CodeTable::new(edges, values, SOFTMAX).unwrap());
    let table = |form| Some(Table { form, epsilon: None });
    let tables = [table(form(&[192], &[0.25, 0.75])), table(form(&[], &[0.125])), None];
    write(&Header { encoding: SOFTMAX, ..header(Reduction::TopLabel, 3, &tables, Some(ID)) }, &tables)
}

/// 0.05 below the margin -2.5, 0.4 below 3, then 0.9; up to 0.5 leave, above act.
pub(crate) fn margin_artifact() -> Aligned {
    let steps = MarginTable::new(&[-2.5, 3.0], &[0.05, 0.4, 0.9]).unwrap();
    let tables = [Some(Table { form: TableForm::MarginSteps(steps), epsilon: None })];
    let action = |name, alarm| Action { name, alarm, abstain: false, if_sure: None };
    let actions = [action("leave", false), action("act", true)];
    let parts = DecisionParts {
        thresholds: &[0.5],
        intervals: &[0, 1],
        uncalibrated: 1,
        unsure: None,
        actions: &actions,
    };
    let header = header(Reduction::Binary, 2, &tables, Some(ID));
    write_with(&Header { encoding: ScoreEncoding::Margin, ..header }, &tables, &[], Some(&parts))
}

/// 0.25 up to the margin -1, then 0.75; margins of -1 are divided by the word 0x1800_0000.
pub(crate) fn randomized_margin_artifact() -> Aligned {
    let steps = RandomizedMarginTable::new(&[-1.0], &[0x1800_0000], &[0.25, 0.75]).unwrap();
    let table = Table { form: TableForm::MarginRandomized(steps), epsilon: Some(0.125) };
    let guarantee = Guarantee { theorem: Theorem::Gr21Theorem4, alpha: 0.1, epsilon: 0.125 };
    let header = Header {
        method: Method::UmdRandomized,
        encoding: ScoreEncoding::Margin,
        guarantee: Some(guarantee),
        ..header(Reduction::Binary, 2, &[Some(table)], None)
    };
    write(&header, &[Some(table)])
}

/// For class 0 0.25 below a top-two margin of 2, then 0.75; 0.125 for class 1, nothing for class 2.
pub(crate) fn top_label_margin_artifact() -> Aligned {
    let form = |edges, values| TableForm::MarginSteps(MarginTable::new(edges, values).unwrap());
    by_top2_margin(ScoreEncoding::Margin, [form(&[2.0], &[0.25, 0.75]), form(&[], &[0.125])])
}

/// What int8 logits are.
pub(crate) const LOGITS: ScoreEncoding = ScoreEncoding::I8 { scale: 0.25, zero_point: 10 };

/// For class 0 0.25 below a top-two margin of 8 codes, then 0.75; 0.125 for class 1, nothing for class 2.
pub(crate) fn top_label_code_margin_artifact() -> Aligned {
    let form = |edges, values| TableForm::Codes(CodeTable::new(edges, values, LOGITS).unwrap());
    by_top2_margin(LOGITS, [form(&[8], &[0.25, 0.75]), form(&[], &[0.125])])
}

/// An artifact of three classes by the top-two margin of the predicted one, the last class without a table.
fn by_top2_margin(encoding: ScoreEncoding, forms: [TableForm<'_>; 2]) -> Aligned {
    let [first, second] = forms.map(|form| Some(Table { form, epsilon: None }));
    let tables = [first, second, None];
    let header = header(Reduction::TopLabel, 3, &tables, Some(ID));
    let flags = header.flags.with(HeaderFlags::TOP2_MARGIN);
    write(&Header { encoding, flags, ..header }, &tables)
}

/// A classifier of three classes whose features are the codes of an int8 softmax, and which gives the highest one.
#[derive(Debug)]
pub(crate) struct Quantized;

/// A classifier of three classes whose features are the codes of int8 logits, and which gives the highest one's top-two margin.
#[derive(Debug)]
pub(crate) struct LeadOfCodes;

macro_rules! of_three_codes {
    ($classifier:ty, $output:expr) => {
        impl Classifier for $classifier {
            fn name(&self) -> &str {
                "quantized"
            }

            fn id(&self) -> ClassifierId {
                ID
            }

            fn feature_count(&self) -> u16 {
                3
            }

            fn task(&self) -> Task {
                Task::TopLabel { classes: 3 }
            }

            fn classify<'s>(&self, codes: Features<'_>, _: &'s mut Scratch) -> Result<Output<'s>, Refusal> {
                Ok($output(codes.iter().map(|&code| code as i8).collect()))
            }
        }
    };
}

of_three_codes!(Quantized, |codes: Vec<i8>| Output::TopLabelCode(TopLabelCode::new(SOFTMAX, codes).unwrap()));
of_three_codes!(LeadOfCodes, |codes: Vec<i8>| {
    Output::TopLabelCodeMargin(TopLabelCodeMargin::new(LOGITS, codes).unwrap())
});

fn artifact(
    reduction: Reduction,
    classes: u16,
    tables: &[Option<Table<'_>>],
    classifier: Option<ClassifierId>,
) -> Aligned {
    write(&header(reduction, classes, tables, classifier), tables)
}

pub(crate) fn header(
    reduction: Reduction,
    classes: u16,
    tables: &[Option<Table<'_>>],
    classifier: Option<ClassifierId>,
) -> Header<'static> {
    let whole = tables.iter().all(Option::is_some);
    Header {
        method: Method::Umd,
        reduction,
        encoding: ScoreEncoding::F32,
        classes,
        bins: tables.iter().flatten().map(|table| table.form.bins() as u32).sum(),
        n: 100,
        guarantee: None,
        flags: if whole { HeaderFlags::NONE } else { HeaderFlags::CLASS_UNCALIBRATED },
        provenance: Provenance { data_sha256: [0; 32], tool_version: "test", parameters: "", classifier },
    }
}

fn write(header: &Header<'_>, tables: &[Option<Table<'_>>]) -> Aligned {
    write_with(header, tables, &[], None)
}

fn write_with(
    header: &Header<'_>,
    tables: &[Option<Table<'_>>],
    flags: &[BinFlags],
    decision: Option<&DecisionParts<'_>>,
) -> Aligned {
    write_by(header, |writer| {
        writer.tables(tables).unwrap();
        if !flags.is_empty() {
            writer.bin_flags(flags).unwrap();
        }
        if let Some(parts) = decision {
            writer.decision(parts).unwrap();
        }
    })
}

/// An artifact of this header and what `fill` writes behind it.
pub(crate) fn write_by(header: &Header<'_>, fill: impl FnOnce(&mut ArtifactWriter<'_>)) -> Aligned {
    write_named(header, Identity([1; 8]), fill)
}

/// The same with this identity.
pub(crate) fn write_named(
    header: &Header<'_>,
    identity: Identity,
    fill: impl FnOnce(&mut ArtifactWriter<'_>),
) -> Aligned {
    let mut words = std::vec![0; 256];
    let mut writer = ArtifactWriter::new(bytemuck::cast_slice_mut(&mut words));
    writer.header(header).unwrap();
    fill(&mut writer);
    let len_bytes = writer.finish(|_| identity).unwrap().len();
    words.truncate(len_bytes / 4);
    Aligned(words)
}

/// The probability of a calibrated outcome.
pub(crate) fn calibrated(outcome: Outcome) -> f32 {
    match outcome {
        Outcome::Calibrated(calibrated) => calibrated.prob,
        Outcome::Uncalibrated(reason) => panic!("uncalibrated: {reason}"),
    }
}

pub(crate) type Under<'a, C> = Device<'a, &'static C, Mock, StopWatch, Dice>;

/// A device whose alarm pin is expected to go through these states, after the first.
pub(crate) fn device<'a, C: Classifier>(
    classifier: &'static C,
    slot: &'a [u8],
    states: &[State],
) -> Under<'a, C> {
    let expected: std::vec::Vec<_> =
        core::iter::once(&State::High).chain(states).map(|&state| Transaction::set(state)).collect();
    let alarm = Alarm::new(Mock::new(&expected), AlarmRule::AtLeast(0.5)).unwrap();
    Device::new(classifier, slot, Anybody, alarm, StopWatch { ticks: Some(40) }, Dice(0))
}

pub(crate) fn ask<C: Classifier>(device: &mut Under<'_, C>, body: RequestBody) -> ReplyBody {
    let reply = device.answer(&Request { id: 3, body }).unwrap();
    assert_eq!(reply.id, 3);
    reply.body
}

pub(crate) fn values(values: &[f32]) -> Values {
    values.iter().copied().collect()
}

/// Flash in RAM, of sectors of 512 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TestFlash {
    bytes: Vec<u8>,
    /// Whether erasing fails.
    pub(crate) fails: bool,
    /// How many reads will fail.
    pub(crate) unreadable: usize,
    pub(crate) erases: usize,
}

impl TestFlash {
    pub(crate) fn new(len: usize) -> Self {
        Self { bytes: std::vec![0xFF; len], fails: false, unreadable: 0, erases: 0 }
    }

    /// Clears bits by another way than the driver.
    pub(crate) fn spoil(&mut self, offset: u32, len: usize) {
        self.bytes[offset as usize..][..len].fill(0);
    }

    /// Turns a bit, as happens at rest.
    pub(crate) fn flip(&mut self, bit: usize) {
        self.bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

impl ErrorType for TestFlash {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for TestFlash {
    const READ_SIZE: usize = 4;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        if self.unreadable > 0 {
            self.unreadable -= 1;
            return Err(NorFlashErrorKind::Other);
        }
        let from = offset as usize;
        bytes.copy_from_slice(&self.bytes[from..from + bytes.len()]);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.bytes.len()
    }
}

impl NorFlash for TestFlash {
    const WRITE_SIZE: usize = 8;
    const ERASE_SIZE: usize = 512;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        self.erases += 1;
        self.bytes[from as usize..to as usize].fill(0xFF);
        if self.fails { Err(NorFlashErrorKind::Other) } else { Ok(()) }
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        assert!(offset.is_multiple_of(8) && bytes.len().is_multiple_of(8));
        let to = &mut self.bytes[offset as usize..][..bytes.len()];
        assert!(to.iter().all(|&byte| byte == 0xFF), "a word is written twice");
        to.copy_from_slice(bytes);
        Ok(())
    }
}

/// A line that yields `input` a few bytes at a time, then ends or fails.
pub(crate) struct Line<'a> {
    pub(crate) input: &'a [u8],
    pub(crate) end: Result<(), ErrorKind>,
    pub(crate) output: Vec<u8>,
    /// How many bytes can be written before the line breaks.
    pub(crate) room: usize,
}

impl<'a> Line<'a> {
    pub(crate) fn new(input: &'a [u8]) -> Self {
        Self { input, end: Ok(()), output: Vec::new(), room: usize::MAX }
    }

    pub(crate) fn replies(&self) -> Vec<Reply> {
        let mut reader = FrameReader::new();
        self.output.iter().filter_map(|&byte| reader.push(byte)).map(Result::unwrap).collect()
    }
}

impl embedded_io::ErrorType for Line<'_> {
    type Error = ErrorKind;
}

impl embedded_io::Read for Line<'_> {
    fn read(&mut self, buf: &mut [u8]) -> Result<usize, ErrorKind> {
        let (now, later) = self.input.split_at(self.input.len().min(buf.len()).min(7));
        buf[..now.len()].copy_from_slice(now);
        self.input = later;
        if now.is_empty() { self.end.map(|()| 0) } else { Ok(now.len()) }
    }
}

impl embedded_io::Write for Line<'_> {
    fn write(&mut self, buf: &[u8]) -> Result<usize, ErrorKind> {
        let len = buf.len().min(5).min(self.room - self.output.len());
        self.output.extend_from_slice(&buf[..len]);
        if len == 0 { Err(ErrorKind::BrokenPipe) } else { Ok(len) }
    }

    fn flush(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }
}
