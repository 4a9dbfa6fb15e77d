//! A picture with its words, and the numbers behind it.

use serde::Serialize;

use super::chart::{Chart, LegendEntry};

/// A plot: what is drawn, and the numbers behind it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plot {
    /// A name that is unique in a report, of letters and hyphens.
    pub id: String,
    /// The heading.
    pub title: String,
    /// What to see, and how it was computed.
    pub caption: String,
    /// What is drawn, as SVG.
    #[serde(skip)]
    pub svg: String,
    /// The same as a separate SVG file.
    #[serde(skip)]
    pub file: String,
    /// What the marks mean: the class of a mark, and words.
    #[serde(skip)]
    pub legend: Vec<(&'static str, &'static str)>,
    /// The names of the columns.
    pub columns: Vec<&'static str>,
    /// The rows, as text.
    pub rows: Vec<Vec<String>>,
}

/// The text parts of a plot.
pub(crate) struct PlotText<'a> {
    pub(crate) id: &'a str,
    pub(crate) title: &'a str,
    pub(crate) caption: String,
    pub(crate) legend: Vec<LegendEntry>,
}

pub(crate) fn finish(
    chart: &Chart,
    words: PlotText<'_>,
    columns: Vec<&'static str>,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> Plot {
    let PlotText { id, title, caption, legend } = words;
    Plot {
        svg: chart.svg(id, title, &caption),
        file: chart.file(title, &caption, &legend),
        id: id.into(),
        title: title.into(),
        caption,
        legend,
        columns,
        rows: rows.into_iter().collect(),
    }
}
