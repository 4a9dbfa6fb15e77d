//! A report about a calibrator that can be shared.
//!
//! [`report`] makes a [`Report`] of an artifact, the rows that it was fitted to and rows that it was not: what is guaranteed,
//! how good it is before and after, what to be careful about, and plots. The report is a page ([`Report::html`]) or JSON,
//! whose names [`REPORT_KEYS`] documents.
//!
//! [`plot`] draws one [`Figure`] of it alone. A [`FleetReport`] is a page like it about what the counters of a fleet say.
//!
//! This room knows artifacts, their assessment and decisions, and [`draw`](crate::draw).

mod classes;
mod clinical;
mod clinical_plots;
mod data;
mod figures;
mod fleet;
mod groups;
mod guarantee;
mod make;
mod metrics;
mod page;
mod plots;
mod request;
mod simplex;
mod size;
mod subject;
mod threshold;
mod warnings;
mod words;

pub use classes::{ClassWiseSide, ClassWiseSummary};
pub use data::{
    CalibratorSummary, FileOrigin, Labels, Origin, REPORT_KEYS, REPORT_SCHEMA, Report, ReportOptions,
};
pub use fleet::FleetReport;
pub use make::{Figure, plot, report};
pub use page::PageError;
pub use plots::Occupancy;
pub use request::{ReportRequest, report_of};
pub use size::ArtifactPart;
pub use subject::ReportData;
pub(crate) use words::two_lines;
