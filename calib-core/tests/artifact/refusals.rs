//! Every contradiction that a right CRC does not hide, each with its exact error.

use calib_core::ParseError::{
    DuplicateSection, FormatVersion, Header as BadHeader, Magic, MissingSection, Reserved, SectionCount,
    Table as BadTable, TotalLength, Truncated, UnknownSection,
};
use calib_core::artifact::{HeaderFlags, Method, PREFIX_LEN, Reduction, SectionKind, TableFault, Theorem};
use calib_core::{Artifact, ParseError};

use crate::forge::{BIN_FLAGS, Draft, MANDATORY, Section, aligned, assemble, f32s, refusal, seal, seal_crc};

/// The length of the drafts' header, whose section has three bytes of padding.
const HEADER_LEN: usize = 57;
/// Where the padding lies.
const HEADER_PAD_AT: usize = 32 + 8 + HEADER_LEN;

#[test]
fn an_unspoiled_draft_is_an_artifact() {
    assert_eq!(refusal(&Draft::new().bytes()), None);
    assert_eq!(refusal(&Draft { bin_flags: None, ..Draft::new() }.bytes()), None);
}

#[test]
fn contradictions_in_the_prefix() {
    type Spoil = fn(&mut Vec<u8>);
    let whole = Draft::new().bytes().len();
    let cases: &[(&str, Spoil, ParseError)] = &[
        ("magic", |b| b[0] = b'c', Magic),
        ("format 0", |b| b[4] = 0, FormatVersion(0)),
        ("format 2", |b| b[4] = 2, FormatVersion(2)),
        ("format 257", |b| b[5] = 1, FormatVersion(257)),
        ("section count too low", |b| b[6] = 2, SectionCount { stated: 2, found: 3 }),
        ("section count too high", |b| b[6] = 4, SectionCount { stated: 4, found: 3 }),
        ("no sections", |b| b.truncate(32), SectionCount { stated: 3, found: 0 }),
        ("first reserved byte", |b| b[24] = 1, Reserved),
        ("last reserved byte", |b| b[31] = 0x80, Reserved),
        ("half a word too many", |b| b.extend([0, 0]), TotalLength(whole as u32 + 2)),
        ("a word too many", |b| b.extend([0; 4]), ParseError::Section(whole)),
        ("a section's head too many", |b| b.extend([0; 8]), SectionCount { stated: 3, found: 4 }),
        ("a word too few", |b| b.truncate(b.len() - 4), ParseError::Section(whole - 12)),
    ];
    for &(name, spoil, expected) in cases {
        let mut bytes = Draft::new().bytes();
        spoil(&mut bytes);
        seal(&mut bytes);
        assert_eq!(refusal(&bytes), Some(expected), "{name}");
    }
}

#[test]
fn impossible_lengths() {
    let cases = [
        (0, TotalLength(0)),
        (28, TotalLength(28)),
        (33, TotalLength(33)),
        (u32::MAX, TotalLength(u32::MAX)),
        (u32::MAX - 3, Truncated { needed: u32::MAX as usize - 3, available: Draft::new().bytes().len() }),
    ];
    for (len, expected) in cases {
        let mut bytes = Draft::new().bytes();
        bytes[8..12].copy_from_slice(&u32::to_le_bytes(len));
        seal_crc(&mut bytes);
        assert_eq!(refusal(&bytes), Some(expected));
    }
}

#[test]
fn contradictions_in_the_sections() {
    type Spoil = fn(&mut Vec<Section>);
    const TABLES_AT: usize = PREFIX_LEN + 8 + HEADER_LEN + 3;
    let cases: &[(&str, Spoil, ParseError)] = &[
        ("unknown mandatory", |s| s.push(unknown(MANDATORY)), UnknownSection(77)),
        ("two headers", |s| s.push(s[0].clone()), DuplicateSection(1)),
        ("two tables", |s| s.push(s[1].clone()), DuplicateSection(2)),
        ("two bin flags", |s| s.push(s[2].clone()), DuplicateSection(3)),
        ("no header", |s| drop(s.remove(0)), MissingSection(SectionKind::Header)),
        ("no tables", |s| drop(s.remove(1)), MissingSection(SectionKind::Tables)),
        ("only a header", |s| s.truncate(1), MissingSection(SectionKind::Tables)),
        ("header not first", |s| s.swap(0, 1), MissingSection(SectionKind::Header)),
        ("header after an unknown", |s| s.insert(0, unknown(0)), MissingSection(SectionKind::Header)),
        ("unknown section flag", |s| s[1].flags |= 2, ParseError::Section(TABLES_AT)),
        ("highest section flag", |s| s[0].flags |= 0x8000, ParseError::Section(PREFIX_LEN)),
        ("trailing byte in the header", |s| s[0].payload.push(0), BadHeader),
        ("header cut short", |s| s[0].payload.truncate(HEADER_LEN - 1), BadHeader),
        ("empty header", |s| s[0].payload.clear(), BadHeader),
    ];
    for &(name, spoil, expected) in cases {
        let mut sections = Draft::new().sections();
        spoil(&mut sections);
        assert_eq!(refusal(&assemble(&sections)), Some(expected), "{name}");
    }
    assert_eq!(refusal(&assemble(&[])), Some(MissingSection(SectionKind::Header)));
}

fn unknown(flags: u16) -> Section {
    Section { kind: 77, flags, payload: vec![1, 2, 3] }
}

#[test]
fn unknown_optional_sections_are_skipped() {
    for at in 1..=3 {
        let mut sections = Draft::new().sections();
        sections.insert(at, unknown(0));
        sections.push(unknown(0));
        let buffer = aligned(&assemble(&sections));
        let with = Artifact::parse(buffer.as_bytes()).unwrap();
        let buffer = aligned(&Draft::new().bytes());
        let without = Artifact::parse(buffer.as_bytes()).unwrap();
        assert_eq!((with.header(), with.tables()), (without.header(), without.tables()));
    }
}

#[test]
fn padding_is_zero_and_sections_end_inside() {
    for at in HEADER_PAD_AT..HEADER_PAD_AT + 3 {
        let mut bytes = Draft::new().bytes();
        assert_eq!(bytes[at], 0);
        bytes[at] = 1;
        seal(&mut bytes);
        assert_eq!(refusal(&bytes), Some(ParseError::Section(PREFIX_LEN)));
    }
    for len in [1000, u32::MAX - 8, u32::MAX] {
        let mut bytes = Draft::new().bytes();
        bytes[36..40].copy_from_slice(&u32::to_le_bytes(len));
        seal(&mut bytes);
        assert_eq!(refusal(&bytes), Some(ParseError::Section(PREFIX_LEN)));
    }
}

#[test]
fn contradictions_in_the_header() {
    type Spoil = fn(&mut Draft);
    fn guarantee(draft: &mut Draft) -> &mut calib_core::artifact::Guarantee {
        draft.header.guarantee.as_mut().unwrap()
    }
    let cases: &[(&str, Spoil)] = &[
        ("no class", |d| d.header.classes = 0),
        ("one class", |d| d.header.classes = 1),
        ("three classes in a binary problem", |d| d.header.reduction = Reduction::Binary),
        ("no bins", |d| d.header.bins = 0),
        ("no observations", |d| d.header.n = 0),
        ("alpha 0", |d| guarantee(d).alpha = 0.0),
        ("alpha 1", |d| guarantee(d).alpha = 1.0),
        ("alpha below 0", |d| guarantee(d).alpha = -0.1),
        ("alpha NaN", |d| guarantee(d).alpha = f32::NAN),
        ("epsilon 0", |d| guarantee(d).epsilon = 0.0),
        ("epsilon below 0", |d| guarantee(d).epsilon = -0.1),
        ("epsilon infinite", |d| guarantee(d).epsilon = f32::INFINITY),
        ("epsilon NaN", |d| guarantee(d).epsilon = f32::NAN),
        ("a guarantee for isotonic regression", |d| d.header.method = Method::Isotonic),
        ("a top-label theorem for a binary problem", |d| {
            *d = binary(&one_bin());
            guarantee(d).theorem = Theorem::Gr22Theorem1;
        }),
        ("ties merged in a binary problem with a guarantee", |d| {
            *d = binary(&one_bin());
            d.header.flags = HeaderFlags::TIES_MERGED;
        }),
    ];
    for &(name, spoil) in cases {
        let mut draft = Draft::new();
        spoil(&mut draft);
        assert_eq!(refusal(&draft.bytes()), Some(BadHeader), "{name}");
    }
}

/// Ties in one class void that class's guarantee only.
#[test]
fn ties_merged_in_a_class_leave_the_others_their_guarantee() {
    let mut draft = Draft::new();
    draft.header.flags = draft.header.flags.with(HeaderFlags::TIES_MERGED);
    draft.words[5] = f32::NAN.to_bits();
    assert_eq!(refusal(&draft.bytes()), None);
}

#[test]
fn a_header_that_postcard_cannot_hold() {
    // The drafts' header: 0 method, 1 reduction, 2 encoding, 3 classes, 4 bins, 5 n, 6 guarantee, 7 theorem,
    // 8 alpha, 12 epsilon, 16 flags, 17 data, 49 length of the tool version, 50 tool version, 56 classifier.
    let cases = [
        ("unknown method", 0, 13),
        ("unknown reduction", 1, 2),
        ("unknown encoding", 2, 4),
        ("unknown theorem", 7, 6),
        ("unknown flag", 16, 2 | 8),
        ("an option that is neither there nor not", 6, 2),
        ("a string beyond the end", 49, 200),
        ("a string that is not UTF-8", 50, 0xFF),
    ];
    for (name, at, byte) in cases {
        let mut sections = Draft::new().sections();
        sections[0].payload[at] = byte;
        assert_eq!(refusal(&assemble(&sections)), Some(BadHeader), "{name}");
    }
}

#[test]
fn contradictions_in_the_tables() {
    use TableFault::{Bins, Content, Count, Epsilon, Extent, Missing};
    type Spoil = fn(&mut Draft);
    const NEGATIVE: u32 = 0xBF00_0000;
    const BEYOND_ONE: u32 = 0x3F80_0001;

    // The drafts' words: 0 count, 1..5 offsets, 5 epsilon, 6 edge, 7 and 8 values; 9 epsilon, 10 value.
    let cases: &[(&str, Spoil, usize, TableFault)] = &[
        ("no words at all", |d| d.words.clear(), 0, Count),
        ("too few tables", |d| d.words[0] = 2, 0, Count),
        ("too many tables", |d| d.words[0] = u32::MAX, 0, Count),
        ("more classes than tables", |d| d.header.classes = 4, 0, Count),
        ("offsets cut off", |d| d.words.truncate(4), 0, Extent),
        ("first offset not 0", |d| d.words[1] = 1, 0, Extent),
        ("last offset too low", |d| d.words[4] = 5, 0, Extent),
        ("last offset too high", |d| d.words[4] = 7, 0, Extent),
        ("offsets that descend", |d| d.words[3] = 2, 1, Extent),
        ("an offset beyond the end", |d| d.words[3] = 9, 1, Extent),
        ("the highest offset", |d| d.words[2] = u32::MAX, 0, Extent),
        ("an odd number of words", |d| d.words[2] = 3, 0, Extent),
        ("only an epsilon", |d| d.words[2..4].copy_from_slice(&[1, 1]), 0, Extent),
        ("overlapping tables", |d| d.words[2] = 6, 0, Content),
        ("edge 0", |d| d.words[6] = 0, 0, Content),
        ("edge -0", |d| d.words[6] = 0x8000_0000, 0, Content),
        ("edge below 0", |d| d.words[6] = NEGATIVE, 0, Content),
        ("edge above 1", |d| d.words[6] = BEYOND_ONE, 0, Content),
        ("edge NaN", |d| d.words[6] = f32::NAN.to_bits(), 0, Content),
        ("edge infinite", |d| d.words[6] = f32::INFINITY.to_bits(), 0, Content),
        ("edges that descend", |d| *d = three_bins([0.7, 0.2]), 0, Content),
        ("equal edges", |d| *d = three_bins([0.7, 0.7]), 0, Content),
        ("value below 0", |d| d.words[7] = NEGATIVE, 0, Content),
        ("value above 1", |d| d.words[8] = BEYOND_ONE, 0, Content),
        ("value NaN", |d| d.words[10] = f32::NAN.to_bits(), 2, Content),
        ("value infinite", |d| d.words[10] = f32::INFINITY.to_bits(), 2, Content),
        ("epsilon 0", |d| d.words[5] = 0, 0, Epsilon),
        ("epsilon below 0", |d| d.words[5] = NEGATIVE, 0, Epsilon),
        ("epsilon infinite", |d| d.words[9] = f32::INFINITY.to_bits(), 2, Epsilon),
        ("epsilon above the header's", |d| d.words[9] = 0.25f32.next_up().to_bits(), 2, Epsilon),
        (
            "epsilons all below the header's",
            |d| d.header.guarantee.as_mut().unwrap().epsilon = 0.5,
            0,
            Epsilon,
        ),
        ("epsilon without a guarantee", |d| d.header.guarantee = None, 0, Epsilon),
        ("fewer bins than stated", |d| d.header.bins = 4, 0, Bins),
        ("more bins than stated", |d| d.header.bins = 2, 0, Bins),
        ("bins beyond all words", |d| d.header.bins = u32::MAX, 0, Bins),
        ("a class unexpectedly uncalibrated", |d| d.header.flags = HeaderFlags::NONE, 1, Missing),
        ("no class uncalibrated after all", |d| *d = all_calibrated(), 0, Missing),
        ("an uncalibrated binary problem", |d| *d = binary(&[1, 0, 0]), 0, Missing),
        ("a binary problem with uncalibrated classes", |d| *d = binary(&one_bin()), 0, Missing),
    ];
    for &(name, spoil, table, fault) in cases {
        let mut draft = Draft { bin_flags: None, ..Draft::new() };
        spoil(&mut draft);
        assert_eq!(refusal(&draft.bytes()), Some(BadTable { table, fault }), "{name}");
    }

    let mut sections = Draft::new().sections();
    sections[1].payload.push(0);
    assert_eq!(refusal(&assemble(&sections)), Some(BadTable { table: 0, fault: Extent }));
}

/// Three bins in the first class, with these edges.
fn three_bins(edges: [f32; 2]) -> Draft {
    let mut draft = Draft { bin_flags: None, ..Draft::new() };
    draft.header.bins = 4;
    draft.words.splice(6..7, f32s(&edges));
    draft.words.insert(8, 0);
    draft.words[2..5].copy_from_slice(&[6, 6, 8]);
    draft
}

/// No class is uncalibrated, though the header says so.
fn all_calibrated() -> Draft {
    let mut draft = Draft { bin_flags: None, ..Draft::new() };
    draft.header.classes = 2;
    draft.words.remove(3);
    draft.words[0] = 2;
    draft
}

/// A binary problem with this tables section, whose header tells of an uncalibrated class.
fn binary(words: &[u32]) -> Draft {
    let mut draft = Draft { bin_flags: None, words: words.to_vec(), ..Draft::new() };
    draft.header.reduction = Reduction::Binary;
    draft.header.classes = 2;
    draft.header.bins = 1;
    draft.header.guarantee.as_mut().unwrap().theorem = Theorem::Gr21Theorem3;
    draft
}

fn one_bin() -> Vec<u32> {
    [&[1, 0, 2][..], &f32s(&[0.25, 0.5])].concat()
}

#[test]
fn contradictions_in_the_bin_flags() {
    let cases: [(&str, &[u8]); 5] = [
        ("none, though there is the section", &[]),
        ("too few", &[0, 0]),
        ("too many", &[0, 0, 0, 0]),
        ("unknown flag", &[0, 2, 0]),
        ("unknown and known flag", &[0, 0, 0x81]),
    ];
    for (name, flags) in cases {
        let draft = Draft { bin_flags: Some(flags.to_vec()), ..Draft::new() };
        let expected = BadTable { table: 0, fault: TableFault::Flags };
        assert_eq!(refusal(&draft.bytes()), Some(expected), "{name}");
    }
}

#[test]
fn bin_flags_may_be_mandatory() {
    let mut sections = Draft::new().sections();
    assert_eq!((sections[2].kind, sections[2].flags), (BIN_FLAGS, 0));
    sections[2].flags = MANDATORY;
    assert_eq!(refusal(&assemble(&sections)), None);
}
