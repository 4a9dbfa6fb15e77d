//! The writing of artifacts, of all tables, and of signatures.

use calib_core::artifact::{
    ArtifactWriter, BandParts, Header, HeaderFlags, KeyId, Method, Provenance, Rate, Reduction,
    ScoreIntervalParts, Table, TableForm, crc32c, sign,
};
use calib_core::decision::{
    AccuracyGuarantee, Action, Conformity, DecisionParts, OperatingParts, Quantiles, SetParts, Thresholds,
};
use calib_core::{BinFlags, Identity, ProbInterval, ScoreEncoding, StepTable};

use crate::any::{any, bytes, floats, from, keep, words};

fn text() -> &'static str {
    from("")
}

/// Writes all sections into `space`.
fn write(space: &mut [u8]) -> Result<usize, calib_core::artifact::WriteError> {
    let provenance = Provenance {
        data_sha256: from([0; 32]),
        tool_version: text(),
        parameters: text(),
        classifier: from(None),
    };
    let header = Header {
        method: from(Method::Isotonic),
        reduction: from(Reduction::Binary),
        encoding: from(ScoreEncoding::F32),
        classes: any(),
        bins: any(),
        n: any(),
        guarantee: from(None),
        flags: from(HeaderFlags::NONE),
        provenance,
    };
    let mut writer = ArtifactWriter::new(space);
    writer.header(&header)?;
    if let Ok(steps) = StepTable::new(floats(), floats()) {
        let tables = from([Some(Table { form: TableForm::Steps(steps), epsilon: from(None) })]);
        writer.tables(&tables)?;
        writer.direct_table(&tables)?;
    }
    writer.bin_flags(from::<&[BinFlags]>(&[]))?;
    writer.intervals(from::<&[Option<&[Option<ProbInterval>]>]>(&[]))?;
    writer.score_ranges(from::<&[Option<[u32; 2]>]>(&[]))?;
    let ranges: &[Option<(&[u32], &[ProbInterval])>] = from(&[]);
    writer.score_intervals(&ScoreIntervalParts {
        rate: from(Rate::OfRange),
        alpha: any(),
        tables: ranges,
    })?;
    writer.band(&BandParts { alpha: any(), lower: (words(), floats()), upper: (words(), floats()) })?;
    writer.counter(any())?;
    writer.decision(&DecisionParts {
        thresholds: floats(),
        intervals: bytes(),
        uncalibrated: any(),
        unsure: from(None),
        actions: from::<&[Action<'_>]>(&[]),
    })?;
    writer.operating_points(&OperatingParts {
        groups: from::<&[Thresholds]>(&[]),
        refer_raises: any(),
        guarantees: from::<&[AccuracyGuarantee]>(&[]),
    })?;
    writer.prediction_sets(&SetParts {
        conformity: from(Conformity::Score),
        never_empty: any(),
        alpha: any(),
        confidence: from(None),
        quantiles: from(Quantiles::ByClass(&[])),
    })?;
    writer.groups(from::<&[&str]>(&[]))?;
    writer.section(any(), any(), bytes())?;
    writer.finish(|sections| Identity([crc32c(sections) as u8; 8])).map(<[u8]>::len)
}

/// Writes an artifact and signs it.
pub(crate) fn prove() {
    let mut space = from([0; 256]);
    if let Ok(len_bytes) = write(&mut space) {
        keep(sign(&mut space, len_bytes, KeyId([0; 8]), |part| [crc32c(part.rest) as u8; 64]));
    }
}
