//! The artifact: what the host writes and the device reads, format 1.
//!
//! ```text
//! prefix, 32 bytes     0 magic "CALB"      4 format u16      6 section count u16
//!                      8 total length u32  12 CRC-32C u32    16 identity, 8 bytes    24 zeros, 8 bytes
//! section, repeated    0 kind u16          2 flags u16       4 payload length u32
//!                      8 payload, then zeros up to a multiple of 4 bytes
//! ```
//!
//! Integers and floats are little-endian. The CRC covers every byte of the artifact but the CRC itself. The identity is the first 8
//! bytes of the SHA-256 of all sections but the signature. Bit 0 of a section's flags marks a mandatory section. A reader that
//! does not know a section's kind refuses the artifact if the section is mandatory, and skips the section otherwise. A new
//! capability becomes a new section; what is written here does not change.
//!
//! | kind | section | payload |
//! |---|---|---|
//! | 1 | header, mandatory, first | [`Header`] in postcard |
//! | 2 | steps | for each table of `B` bins: epsilon, `B - 1` inner edges, `B` values |
//! | 3 | bin flags, optional, beside 2, 9, 11 and 13 to 16 | a byte per bin ([`BinFlags`](crate::outcome::BinFlags)): 1 for a bin without calibration points, whose value is a midpoint and no probability; absent if all are zero |
//! | 4 | randomized steps | epsilon, `B - 1` edges, which may be 0, the u32 words of the edges' ties, `B` values |
//! | 5 | interpolated | epsilon, `K` knots' x, `K` knots' y, `K - 1` slopes |
//! | 6 | scaling | epsilon, u32 kind, parameters: 0 Platt on the logit (a, b, clip), 1 Platt on the probability (a, b), 2 beta (a, b, c, clip), 3 temperature (1/T, clip); of margins 4 Platt (a, b), 5 temperature (1/T) |
//! | 7 | Venn-Abers | epsilon, `B - 1` edges, `B` values p0, `B` values p1 |
//! | 8 | intervals, optional, beside 2, 4, 9 and 11 | for each table of `B` bins `B` pairs lo, hi; both NaN if a bin has none |
//! | 9 | integer steps | epsilon, `B - 1` u32 edges, `B` values |
//! | 10 | direct table, optional, beside 9 | for each table 256 bytes: the bin of every 8-bit code; zeros for a table without words |
//! | 11 | compact steps | epsilon in two halves, the lower first, `B - 1` u16 edges, `B` u16 values in units of 1/32768 |
//! | 12 | vector scaling | u32 shape: 0 temperature, 1 diagonal, 2 matrix; u32 features: 0 logits, 1 log-probabilities; clip, 0 for logits; weights: 1/T, or `L`, or `L` rows of `L`; `L` intercepts except for shape 0 |
//! | 13 | Sierpinski cells | u32 depth, values |
//! | 14 | grid cells | u32 resolution, values |
//! | 15 | projection cells | `C - 1` directions of `L` entries, `C - 1` thresholds, values |
//! | 16 | split tree | for each node `L` i32 entries of gamma and `L` u32 children ([`SplitTree`](crate::vector::SplitTree)), values |
//! | 17 | score ranges, optional, beside 2, 4 to 7, 9 and 11 | for each table the least and the greatest score of its calibration points: two f32; over codes two u32, each a code less the lowest code of its encoding; over margins two [keys](crate::score::Margin::key); zeros for a table without words |
//! | 32 | decision, may be absent, mandatory if there | four bytes: the number of actions `A`, of thresholds `T`, the action for the uncalibrated, 0; `T` f32 thresholds; `T + 1` bytes, the action of every interval; `A` bytes of flags (1 alarm, 2 abstain, 4 only if the evidence suffices, 8 beside 4: by the band at the score, in place of the interval); `A` names, a byte with the length before each. The fourth byte is the action in place of one for which the evidence does not suffice, plus 1, if there is a flag 4 |
//! | 33 | operating points, may be absent, mandatory if there | four bytes: the number of groups `G` or 1, of thresholds a group (2 if scores are referred), flags (1 if a referral raises the alarm), of guarantees `P`; for each group its thresholds in ascending order, each 5 u32: a key, then of the calibration rows those of class 1, those of them at or above the key, those of class 0, those of them at or above the key; `P` guarantees of four words: u32 accuracy (0 sensitivity, 1 specificity, 2 and 3 positive and negative predictive value), level, confidence, prevalence or 0 |
//! | 34 | groups, may be absent, mandatory if there | a byte with the number `G`; `G` names, a byte with the length before each |
//! | 35 | prediction sets, may be absent, mandatory if there | four bytes: the conformity (0 score, 1 margin), flags (1 never empty, 2 by class), 0, 0; alpha; confidence or 0; one pair for all or a pair for each class: u32 rows, u32 key of the least conformity in a set, 0 if every class is in it |
//! | 36 | monitors, optional, beside tables | four u32, of each table: one in how many lives a shift's alarm may be false, how many predictions are between false alarms of a change, one in how many lives an alarm about the guarantee may be false; and 1 if bins are the monitors' own; then a ragged pool: for each table the gaps of its `B` bins, or ranges of section 38, and, if bins are their own, `B - 1` edges as keys; no words for a table without a monitor |
//! | 37 | monitor action, may be absent, mandatory if there, beside 36 | u32: what is done on an alarm of a shift or of the guarantee, until counting restarts: 1 the device's alarm stays raised, 2 every prediction is uncalibrated |
//! | 38 | score intervals, optional, beside tables, not with 8 | u32: whose rate the intervals contain, 0 the range's, 1 the calibration scores' in it ([`Rate`]); f32 alpha; then a ragged pool: for each table `B - 1` edges as keys, `B` pairs lo, hi of f32. The bins and intervals of results are these, also beside Venn-Abers, whose p0 and p1 then stay in its table |
//! | 64 | counter, optional | u32, never lower in a later artifact; 0 if it is not there |
//! | 65 | signature, optional, last | the name of a public key, 8 bytes, and an Ed25519 signature, 64 bytes (see `SignedPart`) |
//! | 66 | sample, optional, before 65, for hosts | what is known of the calibration points: see `SampleFacts` in calib-fit |
//! | 68 | rotations, optional, before 65 | statements by which keys name the next one, the first key's first: see `slot::Rotation` |
//!
//! An artifact has at most one of the sections 32, 33 and 35, which say what is done. One without a calibrator
//! ([`Method::OperatingPoint`], [`Method::PredictionSet`]) has 33 or 35, and no other but 1, 34, 64 and 65. A key is the bits of a
//! probability, the key of a margin or the key of a code; keys of differences of codes have 65 536 added to them.
//!
//! Sections 2, 4, 5, 6, 7, 9 and 11 hold the tables: each artifact with a binary calibrator has exactly one of them, the one that goes with its
//! method, its score encoding and its flags. With [`HeaderFlags::GROUPED`] there are as many tables for each group of section 34. They and section 8 are ragged pools: a u32 count `T`, `T + 1` u32 offsets in words,
//! then the words of the tables one after the other, u32 where the table says so and otherwise f32. A table without
//! words is an uncalibrated class. Epsilon is NaN if nothing is guaranteed. An edge of sections 9 and 11 is a code minus the lowest
//! code of its encoding. Or it is a score rounded to the nearest `k / 65535`, or the upper half of a margin's key. Edges and knots
//! over margins are any finite f32 but `-0.0`. Under [`HeaderFlags::TOP2_MARGIN`] the keys of codes are differences. Section 11 is a pool of u16 instead of u32, with
//! its count and offsets. Under [`HeaderFlags::STEPS`] section 2 takes the place of section 5 or 6.
//!
//! Sections 12 to 16 hold a calibrator of a whole vector of `L` classes, in place of the tables. The header's `C` bins are cells of
//! the simplex; values are `L` probabilities for each cell.
//!
//! This room imports [`score`](crate::score), [`outcome`](crate::outcome), [`table`](crate::table), [`vector`](crate::vector),
//! [`decision`](crate::decision) and [`monitor`](crate::monitor). [`Artifact`] reads, [`ArtifactWriter`] writes.

mod band;
mod binary_steps;
mod crc32c;
mod error;
mod form;
mod groups;
mod guaranteed;
mod header;
mod header_bytes;
mod identity;
mod joint;
mod layout;
mod monitor_action;
mod monitors;
mod parsed;
mod pool;
mod prefix;
mod score_intervals;
mod section;
mod signature;
mod tables;
mod writer;

pub use band::{Band, BandParts, BandSide};
pub use binary_steps::{BinarySteps, BinaryStepsError};
pub(crate) use crc32c::CRC_32C;
pub use crc32c::crc32c;
pub use error::{MonitorsError, ParseError, TableFault};
pub use form::TableForm;
pub use groups::{Groups, GroupsError};
pub use header::{Guarantee, Header, HeaderFlags, Method, Provenance, Reduction, Theorem};
pub use identity::{ClassifierId, Identity};
pub use layout::{FORMAT_VERSION, PREFIX_LEN, SectionKind};
pub use monitor_action::MonitorAction;
pub use monitors::{Alarms, MonitorParts, Monitors};
pub use parsed::Artifact;
pub(crate) use parsed::Rule;
pub use score_intervals::{Rate, ScoreBins, ScoreIntervalParts, ScoreIntervals};
pub(crate) use section::optional_section;
pub use signature::{KeyId, SIGNATURE_SECTION_LEN, Signature, SignedPart, sign};
pub use tables::{Table, Tables};
pub use writer::{ArtifactWriter, WriteError};
