//! A band around the calibration curve: pinned bytes, look-up, and what is refused.

use calib_core::artifact::{
    ArtifactWriter, Band, BandParts, Header, HeaderFlags, Method, Reduction, SectionKind, Table, TableForm,
};
use calib_core::table::{CompactTable, MarginFunction, MarginScaling};
use calib_core::{
    Artifact, Margin, MarginTable, ParseError, ProbInterval, QuantizedScore, Score, ScoreEncoding,
};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::forge::{MAX_WORDS, Section, aligned, assemble, disassemble, identity, refusal};
use crate::golden::{binary_header, hex};
use crate::golden_forms::{Form, forms};
use crate::listings::{CODES, PLATT_PROB};
use crate::test_size::step;

/// The payload of a band: at least 0.25 from 0.5 up; at most 0.125 up to 0.25, 0.75 up to 0.5.
const PAYLOAD: &str = "
    cd cc cc 3d                 # alpha: 0.1
    01 00 00 00                 # one edge of the lower side
    00 00 00 3f                 # 0.5
    00 00 00 00  00 00 80 3e    # 0, 0.25
    01 00 80 3e  01 00 00 3f    # of the upper side: above 0.25, above 0.5
    00 00 00 3e  00 00 40 3f    # 0.125, 0.75
    00 00 80 3f                 # 1
";

/// The edges and values of a side.
type Side = (Vec<u32>, Vec<f32>);

fn sides() -> (Side, Side) {
    let above = |score: f32| score.next_up().to_bits();
    ((vec![0.5f32.to_bits()], vec![0.0, 0.25]), (vec![above(0.25), above(0.5)], vec![0.125, 0.75, 1.0]))
}

/// The value of a side by a scan.
fn scan((edges, values): &Side, key: u32) -> f32 {
    values[edges.iter().filter(|&&edge| edge <= key).count()]
}

fn parts<'p>(alpha: f32, lower: &'p Side, upper: &'p Side) -> BandParts<'p> {
    BandParts { alpha, lower: (&lower.0, &lower.1), upper: (&upper.0, &upper.1) }
}

fn write(header: &Header<'_>, table: Table<'_>, parts: &BandParts<'_>) -> Vec<u8> {
    let mut buf = vec![0xEE; 4 * MAX_WORDS];
    let mut writer = ArtifactWriter::new(&mut buf);
    writer.header(header).unwrap();
    writer.tables(&[Some(table)]).unwrap();
    writer.band(parts).unwrap();
    writer.finish(identity).unwrap().to_vec()
}

fn platt() -> Form {
    forms().into_iter().find(|form| form.listing == PLATT_PROB).unwrap()
}

#[test]
fn the_writer_gives_exactly_the_pinned_bytes() {
    let form = platt();
    let (lower, upper) = sides();
    let sections = disassemble(&write(&form.header(), form.table, &parts(0.1, &lower, &upper)));
    assert_eq!(sections.len(), 3);
    assert_eq!(sections[2], Section { kind: 39, flags: 0, payload: hex(PAYLOAD) });
    // A value more than edges, or nothing is written.
    let mut buf = [0; 512];
    let mut writer = ArtifactWriter::new(&mut buf);
    writer.header(&form.header()).unwrap();
    let short = (vec![1, 2], vec![0.0, 1.0]);
    assert!(writer.band(&parts(0.1, &short, &upper)).is_err());
    assert!(writer.band(&parts(0.1, &lower, &short)).is_err());
}

#[test]
fn the_parser_reads_the_pinned_bytes() {
    let form = platt();
    let payload = hex(PAYLOAD);
    let plain = disassemble(&hex(PLATT_PROB));
    let bytes = [plain.clone(), vec![Section { kind: 39, flags: 0, payload }]].concat();
    let bytes = aligned(&assemble(&bytes));
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    let band = artifact.band().unwrap();
    let (lower, upper) = sides();
    assert_eq!(band.alpha(), 0.1);
    for (side, (edges, values)) in [(band.lower(), &lower), (band.upper(), &upper)] {
        assert_eq!((side.edges(), &side.values().collect::<Vec<_>>()), (&edges[..], values));
    }
    for (score, lo, hi) in [
        (0.0, 0.0, 0.125),
        (0.25, 0.0, 0.125),
        (0.25f32.next_up(), 0.0, 0.75),
        (0.5f32.next_down(), 0.0, 0.75),
        (0.5, 0.25, 0.75),
        (0.5f32.next_up(), 0.25, 1.0),
        (1.0, 0.25, 1.0),
    ] {
        assert_eq!(band.at(Score::new(score).unwrap()), Some(ProbInterval { lo, hi }), "{score}");
    }
    // Other scores have no band here.
    assert_eq!(band.at(Margin::new(0.5).unwrap()), None);
    let encoding = ScoreEncoding::U8 { scale: 1.0 / 256.0, zero_point: 0 };
    assert_eq!(band.at_code(QuantizedScore::from_key(encoding, 7).unwrap()), None);

    // The rest of the artifact is what it was without.
    let without = aligned(&hex(PLATT_PROB));
    let without = Artifact::parse(without.as_bytes()).unwrap();
    assert_eq!(without.band(), None);
    assert_eq!((without.tables(), without.header()), (artifact.tables(), &form.header()));
}

#[test]
fn what_is_no_band_of_the_scores_is_refused() {
    let form = platt();
    let (lower, upper) = sides();
    let refused =
        |lower: &Side, upper: &Side| refusal(&write(&form.header(), form.table, &parts(0.1, lower, upper)));
    assert_eq!(refused(&lower, &upper), None);
    let (none, all) = ((vec![], vec![0.0]), (vec![], vec![1.0]));
    assert_eq!(refused(&none, &all), None);
    let bits = |edges: &[f32]| edges.iter().map(|edge| edge.to_bits()).collect::<Vec<_>>();
    for edges in [
        bits(&[0.0]),
        bits(&[0.5, 0.5]),
        bits(&[0.5, 0.25]),
        bits(&[1.0f32.next_up()]),
        bits(&[f32::NAN]),
        bits(&[-0.5]),
    ] {
        let values = vec![0.5; edges.len() + 1];
        let side = (edges, values);
        assert_eq!(refused(&side, &all), Some(ParseError::Band), "{side:?}");
        assert_eq!(refused(&none, &side), Some(ParseError::Band), "{side:?}");
    }
    assert_eq!(refused(&none, &(bits(&[1.0]), vec![0.5, 1.0])), None);
    for values in [[0.5, 0.25], [0.5, 1.5], [-0.5, 0.5], [-0.0, 0.5], [f32::NAN, 1.0], [0.5, f32::NAN]] {
        let side = (bits(&[0.5]), values.to_vec());
        assert_eq!(refused(&side, &all), Some(ParseError::Band), "{values:?}");
        assert_eq!(refused(&none, &side), Some(ParseError::Band), "{values:?}");
    }
    // The lower side above the upper one: everywhere, and at one score only.
    assert_eq!(refused(&(vec![], vec![0.5]), &(vec![], vec![0.25])), Some(ParseError::Band));
    let at = |score: f32| (vec![score.to_bits()], vec![0.0, 0.5]);
    let up_to = |score: f32| (vec![score.to_bits()], vec![0.25, 1.0]);
    assert_eq!(refused(&at(0.5), &up_to(0.5)), None);
    assert_eq!(refused(&at(0.5), &up_to(0.5f32.next_up())), Some(ParseError::Band));
    for alpha in [0.0, 1.0, -0.1, f32::NAN, f32::INFINITY] {
        let bytes = write(&form.header(), form.table, &parts(alpha, &lower, &upper));
        assert_eq!(refusal(&bytes), Some(ParseError::Band), "{alpha}");
    }
    // The length, and the number of edges.
    let spoilt = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut sections = disassemble(&write(&form.header(), form.table, &parts(0.1, &lower, &upper)));
        change(&mut sections[2].payload);
        refusal(&assemble(&sections))
    };
    assert_eq!(spoilt(&|_| ()), None);
    // The first 24 bytes are a band with an upper side of one value, 0.25.
    assert_eq!(spoilt(&|payload| payload.truncate(24)), None);
    for len in (0..40).filter(|&len| len % 4 == 0 && len != 24) {
        assert_eq!(spoilt(&|payload| payload.truncate(len)), Some(ParseError::Band), "{len}");
    }
    for count in [0u32, 2, 3, 255, 256, u32::MAX] {
        let counted = |payload: &mut Vec<u8>| payload[4..8].copy_from_slice(&count.to_le_bytes());
        assert_eq!(spoilt(&counted), Some(ParseError::Band), "{count}");
    }
    let many = |edges: u32| ((1..=edges).collect(), vec![0.5; edges as usize + 1]);
    assert_eq!(refused(&many(Band::MAX_EDGES as u32), &many(Band::MAX_EDGES as u32)), None);
    assert_eq!(refused(&many(Band::MAX_EDGES as u32 + 1), &all), Some(ParseError::Band));
    assert_eq!(refused(&none, &many(Band::MAX_EDGES as u32 + 1)), Some(ParseError::Band));
}

#[test]
fn nothing_is_said_where_nothing_could_be() {
    let form = platt();
    let (lower, upper) = sides();
    let unexpected = Some(ParseError::UnexpectedSection(SectionKind::Band));
    let with = |header: Header<'_>| refusal(&write(&header, form.table, &parts(0.1, &lower, &upper)));
    assert_eq!(with(form.header()), None);
    assert_eq!(with(Header { flags: HeaderFlags::WEIGHTED, ..form.header() }), unexpected);
    assert_eq!(with(Header { reduction: Reduction::Confidence, ..form.header() }), unexpected);
    // Whole vectors have no score.
    let band = Section { kind: 39, flags: 0, payload: hex(PAYLOAD) };
    let joint = [disassemble(&hex(crate::joint::DIRICHLET)), vec![band]].concat();
    assert_eq!(refusal(&assemble(&joint)), unexpected);
    // Nor does a group of several.
    let mut buf = [0; 1024];
    let mut writer = ArtifactWriter::new(&mut buf);
    writer.header(&Header { flags: HeaderFlags::GROUPED, ..form.header() }).unwrap();
    writer.tables(&[Some(form.table); 2]).unwrap();
    writer.groups(&["a", "b"]).unwrap();
    writer.band(&parts(0.1, &lower, &upper)).unwrap();
    assert_eq!(refusal(writer.finish(identity).unwrap()), unexpected);
}

#[test]
fn damage_is_refused() {
    let form = platt();
    let (lower, upper) = sides();
    let bytes = write(&form.header(), form.table, &parts(0.1, &lower, &upper));
    for bit in (0..8 * bytes.len()).step_by(step(97)) {
        let mut bad = bytes.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        assert!(refusal(&bad).is_some(), "bit {bit}");
    }
}

/// Scores, margins, codes, and scores and margins of 16-bit tables, each with its lowest and highest key.
fn kinds() -> Vec<(Header<'static>, Table<'static>, [u32; 2])> {
    let of = |method, bins, encoding, flags, form| {
        let header = Header { method, bins, encoding, flags, guarantee: None, ..binary_header() };
        (header, Table { form, epsilon: None })
    };
    let function = MarginFunction::new(MarginScaling::Platt { a: 1.0, b: 0.0 }).unwrap();
    let margins =
        of(Method::Platt, 0, ScoreEncoding::Margin, HeaderFlags::NONE, TableForm::MarginScaling(function));
    let steps = MarginTable::new(&[-1.0, 0.5], &[0.0625, 0.5, 0.9375]).unwrap();
    let steps = of(Method::Umd, 3, ScoreEncoding::Margin, HeaderFlags::NONE, TableForm::MarginSteps(steps));
    let compact = |encoding| {
        let table = CompactTable::new(&[16_384, 49_152], &[0x800, 0x4000, 0x8000], encoding).unwrap();
        of(Method::Umd, 3, encoding, HeaderFlags::COMPACT, TableForm::Compact(table))
    };
    let all = |(header, table), keys| (header, table, keys);
    let codes = forms().into_iter().find(|form| form.listing == CODES).unwrap();
    let form = platt();
    let margin = [Margin::MIN.key(), Margin::MAX.key()];
    let rounded = [Margin::MIN.rounded_key().into(), Margin::MAX.rounded_key().into()];
    vec![
        (form.header(), form.table, [0, 1.0f32.to_bits()]),
        (codes.header(), codes.table, [0, 255]),
        all(margins, margin),
        all(steps, margin),
        all(compact(ScoreEncoding::RoundedF32), [0, 65_535]),
        all(compact(ScoreEncoding::RoundedMargin), rounded),
    ]
}

/// The keys and the band of a score that stands for a word.
fn ask(artifact: &Artifact<'_>, word: u32) -> Option<(u32, Option<ProbInterval>)> {
    let band = artifact.band().unwrap();
    match artifact.header().encoding {
        ScoreEncoding::F32 => Score::new(f32::from_bits(word)).ok().map(|s| (s.to_bits(), band.at(s))),
        ScoreEncoding::RoundedF32 => {
            Score::new(f32::from_bits(word)).ok().map(|s| (s.rounded_key().into(), band.at(s)))
        }
        ScoreEncoding::Margin => Margin::new(f32::from_bits(word)).ok().map(|m| (m.key(), band.at(m))),
        ScoreEncoding::RoundedMargin => {
            Margin::new(f32::from_bits(word)).ok().map(|m| (m.rounded_key().into(), band.at(m)))
        }
        encoding => {
            QuantizedScore::from_key(encoding, word as u16).ok().map(|c| (c.key().into(), band.at_code(c)))
        }
    }
}

proptest! {
    /// Of every kind of score: the values of a linear scan.
    #[test]
    fn every_score_is_answered_as_a_scan_would(
        shares in [btree_set(1u32..=u32::MAX, 0..60), btree_set(1u32..=u32::MAX, 0..60)],
        values in [vec(0.0f32..0.5, 61), vec(0.5f32..1.0, 61)],
        words in vec(any::<u32>(), 20),
    ) {
        for (header, table, [lowest, highest]) in kinds() {
            let key = |share: &u32| lowest + 1 + ((u64::from(*share) * u64::from(highest - lowest - 1)) >> 32) as u32;
            let side = |at: usize| -> Side {
                let mut edges: Vec<u32> = shares[at].iter().map(key).collect();
                edges.dedup();
                let mut values = values[at][..=edges.len()].to_vec();
                values.sort_by(f32::total_cmp);
                (edges, values)
            };
            let (lower, upper) = (side(0), side(1));
            let bytes = aligned(&write(&header, table, &parts(0.1, &lower, &upper)));
            let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
            let band = artifact.band().unwrap();
            for key in lower.0.iter().chain(&upper.0).flat_map(|&edge| [edge - 1, edge, edge.saturating_add(1)]) {
                prop_assert_eq!(band.at_key(key), ProbInterval { lo: scan(&lower, key), hi: scan(&upper, key) });
            }
            let edges = lower.0.iter().chain(&upper.0).filter_map(|&edge| match header.encoding {
                ScoreEncoding::Margin => Margin::from_key(edge).map(|margin| margin.get().to_bits()),
                _ => Some(edge),
            });
            let simple = (0..=20).map(|i| (i as f32 / 20.0).to_bits());
            for word in words.iter().copied().chain(simple).chain(edges) {
                let Some((key, found)) = ask(&artifact, word) else { continue };
                prop_assert_eq!(found, Some(ProbInterval { lo: scan(&lower, key), hi: scan(&upper, key) }), "{:?}", header.encoding);
            }
        }
    }

    /// Whatever an attacker or a faulty writer puts into the section under a right CRC: it is refused, or it can be used.
    #[test]
    fn mutants_never_panic(
        kind in any::<Index>(),
        edits in vec((any::<Index>(), prop_oneof![any::<u32>(), 0u32..=0x3F80_0000, 0u32..300]), 0..4),
        len in prop::option::weighted(0.2, any::<Index>()),
        words in vec(any::<u32>(), 1..8),
    ) {
        let all = kinds();
        let (header, table, [lowest, _]) = kind.get(&all);
        let edges: Vec<u32> = (1..5).map(|i| lowest + i * 30).collect();
        let lower = (edges.clone(), vec![0.0, 0.125, 0.25, 0.25, 0.5]);
        let upper = (edges, vec![0.5, 0.625, 0.75, 0.875, 1.0]);
        let mut sections = disassemble(&write(header, *table, &parts(0.1, &lower, &upper)));
        let payload = &mut sections.last_mut().unwrap().payload;
        for (at, word) in edits {
            let at = 4 * at.index(payload.len() / 4);
            payload[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        if let Some(len) = len {
            payload.truncate(len.index(payload.len()));
        }
        let bytes = aligned(&assemble(&sections));
        let Ok(artifact) = Artifact::parse(bytes.as_bytes()) else { return Ok(()) };
        let band = artifact.band().unwrap();
        let sides = [band.lower(), band.upper()].map(|side| (side.edges().to_vec(), side.values().collect()));
        for word in words.into_iter().chain(sides.iter().flat_map(|side: &Side| side.0.clone())) {
            let Some((key, found)) = ask(&artifact, word) else { continue };
            let found = found.unwrap();
            prop_assert_eq!((found.lo, found.hi), (scan(&sides[0], key), scan(&sides[1], key)));
            prop_assert!(0.0 <= found.lo && found.lo <= found.hi && found.hi <= 1.0);
        }
    }
}
