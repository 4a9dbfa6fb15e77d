//! Calibrators of whole vectors: their sections pinned word by word, every contradiction in them, and the laws of use.

use calib_core::ParseError::{Header as BadHeader, MissingSection, Table as BadTable, UnexpectedSection};
use calib_core::artifact::TableFault::{self, Bins, Content, Extent, Flags};
use calib_core::artifact::{
    ArtifactWriter, Guarantee, Header, HeaderFlags, Method, Provenance, Reduction, SectionKind, Theorem,
    WriteError,
};
use calib_core::vector::{
    CellScheme, CellTable, Joint, Projection, ScalingInput, ScalingShape, Sierpinski, SimplexGrid, SplitTree,
    VectorScaling,
};
use calib_core::{
    Artifact, BinFlags, Calibrator, Logits, Outcome, ParseError, Probs, ScoreEncoding, ScoreVector,
    Uncalibrated,
};
use proptest::prelude::*;

use crate::forge::{
    BIN_FLAGS, HEADER, MANDATORY, PROVENANCE, Section, aligned, assemble, disassemble, f32s, identity,
    refusal,
};
use crate::golden::hex;

/// Dirichlet calibration of two classes.
pub(crate) const DIRICHLET: &str = concat!(
    prefix!("02", "88 00", "94 52 0a 1e", "0f 1b 99 35  a6 d7 91 e1"), // 136 bytes
    // Dirichlet, joint, f32 scores; 52 bytes. Parameters: a=1.
    header!("34", "0f 07 00", "02 00 ac 02", "00", "00", "03 61 3d 31  00"),
    "
    0c 00  01 00  24 00 00 00   # vector scaling: kind, mandatory, 36 bytes
    02 00 00 00                 # a matrix
    01 00 00 00                 # of log-probabilities
    00 00 80 33                 # clip: 2^-24
    00 00 80 3f  00 00 00 be    # weights: 1 -0.125
    00 00 80 3e  00 00 40 3f    #          0.25 0.75
    00 00 00 3f  00 00 00 bf    # intercepts: 0.5 -0.5
"
);

const CLIP: f32 = 1.0 / (1 << 24) as f32;
const LOG_PROBS: ScalingInput = ScalingInput::LogProbs { clip: CLIP };
const NODES: [u32; 6] = [1 << 30, 0, 0, SplitTree::LEAF, SplitTree::LEAF | 1, SplitTree::LEAF | 2];
const DIRECTIONS: [f32; 3] = [-1.0, 0.0, 0.0];

fn header(method: Method, classes: u16, bins: u32) -> Header<'static> {
    Header {
        method,
        reduction: Reduction::Joint,
        encoding: ScoreEncoding::F32,
        classes,
        bins,
        n: 300,
        guarantee: None,
        flags: HeaderFlags::NONE,
        provenance: Provenance { parameters: "a=1", ..PROVENANCE },
    }
}

fn write(header: &Header<'_>, calibrator: &Joint<'_>, flags: &[BinFlags]) -> Result<Vec<u8>, WriteError> {
    let mut buf = vec![0xEE; 4096];
    let mut writer = ArtifactWriter::new(&mut buf);
    writer.header(header)?;
    writer.joint(calibrator)?;
    if !flags.is_empty() {
        writer.bin_flags(flags)?;
    }
    Ok(writer.finish(identity)?.to_vec())
}

/// An artifact of these words, made without the writer.
fn forge(header: &Header<'_>, kind: SectionKind, words: &[u32], flags: Option<&[u8]>) -> Vec<u8> {
    let mut buf = [0; 256];
    let payload = postcard::to_slice(header, &mut buf).unwrap().to_vec();
    let words = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut sections = vec![
        Section { kind: HEADER, flags: MANDATORY, payload },
        Section { kind: kind as u16, flags: MANDATORY, payload: words },
    ];
    sections.extend(flags.map(|flags| Section { kind: BIN_FLAGS, flags: 0, payload: flags.to_vec() }));
    assemble(&sections)
}

fn scaled(classes: u16, input: ScalingInput, shape: ScalingShape<'static>) -> Joint<'static> {
    Joint::Scaled(VectorScaling::new(classes, input, shape).unwrap())
}

fn binned<'v>(scheme: CellScheme<'v>, values: &'v [f32]) -> Joint<'v> {
    Joint::Binned(CellTable::new(scheme, values).unwrap())
}

/// Values of so many cells of three classes.
fn values(cells: usize) -> Vec<f32> {
    (0..cells)
        .flat_map(|cell| {
            let p = cell as f32 / 32.0;
            [p, 0.5, 0.5 - p]
        })
        .collect()
}

/// What was made by the writer is what was made by hand, and is read back as it was.
#[track_caller]
fn is_pinned(header: Header<'_>, kind: SectionKind, words: &[u32], calibrator: &Joint<'_>) {
    let bytes = write(&header, calibrator, &[]).unwrap();
    assert_eq!(bytes, forge(&header, kind, words, None));
    let buffer = aligned(&bytes);
    let artifact = Artifact::parse(buffer.as_bytes()).unwrap();
    assert_eq!(artifact.header(), &header);
    assert_eq!(artifact.tables().count(), 0);
    assert_eq!(artifact.calibrator(), Calibrator::Vector((*calibrator).into()));
}

#[test]
fn the_listing_is_a_dirichlet_calibrator() {
    let shape = ScalingShape::Matrix { weights: &[1.0, -0.125, 0.25, 0.75], intercepts: &[0.5, -0.5] };
    let calibrator = scaled(2, LOG_PROBS, shape);
    assert_eq!(write(&header(Method::Dirichlet, 2, 0), &calibrator, &[]).unwrap(), hex(DIRICHLET));
}

#[test]
fn scaling_functions_are_pinned() {
    let kind = SectionKind::VectorScaling;
    let temperature = scaled(3, ScalingInput::Logits, ScalingShape::Temperature { inverse_t: 0.5 });
    let words = [&[0, 0, 0][..], &f32s(&[0.5])].concat();
    is_pinned(header(Method::Temperature, 3, 0), kind, &words, &temperature);
    let shape = ScalingShape::Vector { weights: &[0.5, 1.5], intercepts: &[-1.0, 1.0] };
    let words = [&[1, 1, CLIP.to_bits()][..], &f32s(&[0.5, 1.5, -1.0, 1.0])].concat();
    for method in [Method::VectorScaling, Method::StructuredVector] {
        is_pinned(header(method, 2, 0), kind, &words, &scaled(2, LOG_PROBS, shape));
    }
    let shape = ScalingShape::Matrix { weights: &[1.0, 0.0, 0.25, 0.75], intercepts: &[0.5, -0.5] };
    let words = [&[2, 0, 0][..], &f32s(&[1.0, 0.0, 0.25, 0.75, 0.5, -0.5])].concat();
    for method in [Method::MatrixScaling, Method::StructuredMatrix] {
        is_pinned(header(method, 2, 0), kind, &words, &scaled(2, ScalingInput::Logits, shape));
    }
}

#[test]
fn cells_are_pinned() {
    let values = values(9);
    let (four, nine, two) = (&values[..12], &values[..27], &values[..6]);
    let words = |head: &[u32], values: &[f32]| [head, &f32s(values)].concat();
    let sierpinski = binned(CellScheme::Sierpinski(Sierpinski::new(3, 1).unwrap()), four);
    is_pinned(header(Method::Sierpinski, 3, 4), SectionKind::Sierpinski, &words(&[1], four), &sierpinski);
    let grid = binned(CellScheme::Grid(SimplexGrid::new(3, 3).unwrap()), nine);
    is_pinned(header(Method::Grid, 3, 9), SectionKind::Grid, &words(&[3], nine), &grid);
    let projection = binned(CellScheme::Projection(Projection::new(3, &DIRECTIONS, &[-0.5]).unwrap()), two);
    let head = f32s(&[-1.0, 0.0, 0.0, -0.5]);
    is_pinned(header(Method::Projection, 3, 2), SectionKind::Projection, &words(&head, two), &projection);
    let three = &values[..9];
    let tree = binned(CellScheme::SplitTree(SplitTree::new(3, &NODES).unwrap()), three);
    is_pinned(header(Method::MulticlassIrp, 3, 3), SectionKind::SplitTree, &words(&NODES, three), &tree);
    let all = [[0.1f32, 0.2, 0.7], [0.9, 0.05, 0.05]].concat();
    let leaf = binned(CellScheme::SplitTree(SplitTree::new(3, &[]).unwrap()), &all[..3]);
    is_pinned(header(Method::MulticlassIrp, 3, 1), SectionKind::SplitTree, &f32s(&all[..3]), &leaf);
}

#[test]
fn empty_cells_are_told() {
    let values = values(4);
    let sierpinski = binned(CellScheme::Sierpinski(Sierpinski::new(3, 1).unwrap()), &values);
    let (none, empty) = (BinFlags::NONE, BinFlags::EMPTY);
    let bytes = write(&header(Method::Sierpinski, 3, 4), &sierpinski, &[none, empty, none, none]).unwrap();
    let buffer = aligned(&bytes);
    let artifact = Artifact::parse(buffer.as_bytes()).unwrap();
    let Calibrator::Vector(calibrator) = artifact.calibrator() else { panic!() };
    let mut space = [0.0; 3];
    let vector = Probs::new(&[0.4, 0.3, 0.3]).unwrap().into();
    let probs = calibrator.calibrate(vector, None, &mut space).unwrap();
    assert_eq!((probs.bin(), probs.flags()), (Some(3), none));
    assert!(probs.iter().map(Option::unwrap).eq(values[9..].iter().copied()));
    let Outcome::Calibrated(calibrated) = calibrator.outcome(vector.top_label(), None, probs) else {
        panic!()
    };
    assert_eq!((calibrated.bin, calibrated.flags, calibrated.epsilon), (3, none, None));

    // No calibration point was in this cell: nothing is known about any class.
    let vector = Probs::new(&[0.1, 0.8, 0.1]).unwrap().into();
    let probs = calibrator.calibrate(vector, None, &mut space).unwrap();
    assert_eq!((probs.bin(), probs.flags()), (Some(1), empty));
    assert!(probs.iter().all(|prob| prob.is_none()));
    let outcome = calibrator.outcome(vector.top_label(), None, probs);
    assert_eq!(outcome, Outcome::Uncalibrated(Uncalibrated::EmptyBin));
}

fn fault(fault: TableFault) -> Option<ParseError> {
    Some(BadTable { table: 0, fault })
}

#[test]
fn spoiled_scaling_is_refused() {
    let dirichlet = header(Method::Dirichlet, 2, 0);
    let kind = SectionKind::VectorScaling;
    let says = |words: &[u32]| refusal(&forge(&dirichlet, kind, words, None));
    let matrix = f32s(&[1.0, 0.0, 0.25, 0.75, 0.5, -0.5]);
    let words = |head: [u32; 3], rest: &[u32]| [&head[..], rest].concat();
    let clip = CLIP.to_bits();
    assert_eq!(says(&words([2, 1, clip], &matrix)), None);
    assert_eq!(says(&[2, 1]), fault(Extent));
    assert_eq!(says(&words([3, 1, clip], &matrix)), fault(Content));
    assert_eq!(says(&words([2, 2, clip], &matrix)), fault(Content));
    // A clip of what is not clipped, and none of what is.
    assert_eq!(says(&words([2, 0, clip], &matrix)), fault(Content));
    assert_eq!(says(&words([2, 1, 0], &matrix)), fault(Content));
    for len in [0, 1, 4, 5] {
        assert_eq!(says(&words([2, 1, clip], &matrix[..len])), fault(Extent), "{len}");
    }
    assert_eq!(says(&words([1, 1, clip], &matrix)), fault(Extent));
    assert_eq!(says(&words([0, 1, clip], &matrix)), fault(Extent));
    assert_eq!(says(&words([0, 1, clip], &f32s(&[-1.0]))), fault(Content));
    assert_eq!(says(&words([0, 1, clip], &f32s(&[f32::NAN]))), fault(Content));
    for place in 0..matrix.len() {
        let mut spoiled = matrix.clone();
        spoiled[place] = f32::INFINITY.to_bits();
        assert_eq!(says(&words([2, 1, clip], &spoiled)), fault(Content), "{place}");
    }
    let mut odd = disassemble(&forge(&dirichlet, kind, &words([2, 1, clip], &matrix), None));
    odd[1].payload.pop();
    assert_eq!(refusal(&assemble(&odd)), fault(Extent));
}

#[test]
fn spoiled_cells_are_refused() {
    let sierpinski = header(Method::Sierpinski, 3, 4);
    let words = |head: &[u32], cells: usize| [head, &f32s(&values(cells))].concat();
    let of = |header: &Header<'_>, kind, words: &[u32]| refusal(&forge(header, kind, words, None));
    let says = |words: &[u32]| of(&sierpinski, SectionKind::Sierpinski, words);
    assert_eq!(says(&words(&[1], 4)), None);
    assert_eq!(says(&words(&[2], 4)), fault(Bins));
    assert_eq!(says(&words(&[1000], 4)), fault(Content));
    assert_eq!(says(&words(&[1, 1], 4)), fault(Extent));
    assert_eq!(says(&words(&[], 4)), fault(Extent));
    assert_eq!(says(&words(&[1], 3)), fault(Extent));
    for bad in [-0.5f32, 1.5, f32::NAN, -0.0] {
        let mut spoiled = words(&[1], 4);
        spoiled[7] = bad.to_bits();
        assert_eq!(says(&spoiled), fault(Content), "{bad}");
    }
    let grid = header(Method::Grid, 3, 9);
    assert_eq!(of(&grid, SectionKind::Grid, &words(&[4], 9)), fault(Bins));
    assert_eq!(of(&grid, SectionKind::Grid, &words(&[0], 9)), fault(Content));
    let projection = header(Method::Projection, 3, 2);
    let of_projection = |words: &[u32]| of(&projection, SectionKind::Projection, words);
    assert_eq!(of_projection(&words(&f32s(&[-1.0, 0.0, 0.0, -0.5]), 2)), None);
    assert_eq!(of_projection(&words(&f32s(&[-2.0, 0.0, 0.0, -0.5]), 2)), fault(Content));
    assert_eq!(of_projection(&words(&f32s(&[-1.0, 0.0, 0.0, f32::NAN]), 2)), fault(Content));
    assert_eq!(of_projection(&words(&f32s(&[-1.0, 0.0, -0.5]), 2)), fault(Content));
    assert_eq!(of_projection(&words(&[], 2)), fault(Extent));
    let tree = header(Method::MulticlassIrp, 3, 3);
    let of_tree = |nodes: &[u32]| of(&tree, SectionKind::SplitTree, &words(nodes, 3));
    assert_eq!(of_tree(&NODES), None);
    assert_eq!(of_tree(&NODES[1..]), fault(Content));
    // A cycle, a leaf out of turn, and more leaves than cells.
    for (place, child) in [(3, 0), (3, 1), (4, SplitTree::LEAF), (5, SplitTree::LEAF | 3)] {
        let mut spoiled = NODES;
        spoiled[place] = child;
        assert_eq!(of_tree(&spoiled), fault(Content), "{place} {child:x}");
    }
    assert_eq!(
        of(&header(Method::MulticlassIrp, 3, 1), SectionKind::SplitTree, &words(&NODES, 1)),
        fault(Bins)
    );
    let flagged =
        |flags: &[u8]| refusal(&forge(&sierpinski, SectionKind::Sierpinski, &words(&[1], 4), Some(flags)));
    assert_eq!(flagged(&[0, 1, 0, 0]), None);
    assert_eq!(flagged(&[0, 1, 0]), fault(Flags));
    assert_eq!(flagged(&[0, 2, 0, 0]), fault(Flags));
}

#[test]
fn headers_that_contradict_themselves_are_refused() {
    let words = [&[1][..], &f32s(&values(4))].concat();
    let says = |change: fn(&mut Header<'_>)| {
        let mut header = header(Method::Sierpinski, 3, 4);
        change(&mut header);
        refusal(&forge(&header, SectionKind::Sierpinski, &words, None))
    };
    assert_eq!(says(|_| {}), None);
    assert_eq!(says(|h| h.flags = HeaderFlags::TIES_MERGED), None);
    let changes: [fn(&mut Header<'_>); 11] = [
        |h| h.bins = 0,
        |h| h.classes = 1,
        |h| h.n = 0,
        |h| h.method = Method::Umd,
        |h| h.method = Method::Platt,
        |h| h.reduction = Reduction::ClassWise,
        |h| h.flags = HeaderFlags::CLASS_UNCALIBRATED,
        |h| h.flags = HeaderFlags::COMPACT,
        |h| h.encoding = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 },
        |h| h.encoding = ScoreEncoding::RoundedF32,
        |h| h.guarantee = Some(Guarantee { theorem: Theorem::ClopperPearson, alpha: 0.1, epsilon: 0.5 }),
    ];
    for change in changes {
        assert_eq!(says(change), Some(BadHeader));
    }
    assert_eq!(says(|h| h.method = Method::Grid), Some(UnexpectedSection(SectionKind::Sierpinski)));
    assert_eq!(says(|h| h.bins = 5), fault(Extent));
    let bytes = forge(&header(Method::Sierpinski, 3, 4), SectionKind::Sierpinski, &words, None);
    assert_eq!(refusal(&assemble(&disassemble(&bytes)[..1])), Some(MissingSection(SectionKind::Sierpinski)));
    let mut scaling = header(Method::Dirichlet, 3, 0);
    scaling.bins = 1;
    assert_eq!(refusal(&forge(&scaling, SectionKind::VectorScaling, &words, None)), Some(BadHeader));
    let values = values(4);
    let cells = binned(CellScheme::Sierpinski(Sierpinski::new(3, 1).unwrap()), &values);
    assert_eq!(write(&header(Method::Grid, 3, 4), &cells, &[]), Err(WriteError::Form));
}

proptest! {
    /// No change of a word makes the parser panic, and what it accepts calibrates every vector into [0, 1].
    #[test]
    fn whatever_is_accepted_calibrates(
        which in 0usize..5, place in any::<prop::sample::Index>(), word in prop_oneof![0u32..8, any::<u32>()],
        logits in proptest::collection::vec(prop_oneof![-30.0f32..30.0, Just(f32::MAX), Just(f32::MIN)], 3),
    ) {
        let (method, kind, mut words, cells) = match which {
            0 => (Method::MatrixScaling, SectionKind::VectorScaling,
                [&[2, 1, CLIP.to_bits()][..], &f32s(&[0.5; 12])].concat(), 0),
            1 => (Method::Sierpinski, SectionKind::Sierpinski, [&[1][..], &f32s(&values(4))].concat(), 4),
            2 => (Method::Grid, SectionKind::Grid, [&[3][..], &f32s(&values(9))].concat(), 9),
            3 => (Method::Projection, SectionKind::Projection,
                [f32s(&[-1.0, 0.0, 0.0, -0.5]), f32s(&values(2))].concat(), 2),
            _ => (Method::MulticlassIrp, SectionKind::SplitTree, [&NODES[..], &f32s(&values(3))].concat(), 3),
        };
        let place = place.index(words.len());
        words[place] = word;
        let buffer = aligned(&forge(&header(method, 3, cells), kind, &words, None));
        let Ok(artifact) = Artifact::parse(buffer.as_bytes()) else { return Ok(()) };
        let Calibrator::Vector(calibrator) = artifact.calibrator() else { panic!() };
        let mut space = vec![0.0; calibrator.space()];
        let vector = ScoreVector::from(Logits::new(&logits).unwrap());
        let probs = calibrator.calibrate(vector, None, &mut space).unwrap();
        prop_assert_eq!(probs.bin().is_some(), cells > 0);
        prop_assert!(probs.bin().is_none_or(|bin| u32::from(bin) < cells));
        prop_assert!(probs.iter().all(|prob| prob.is_some_and(|prob| (0.0..=1.0).contains(&prob))));
    }
}
