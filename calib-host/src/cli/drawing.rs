//! Curves against two linear axes, as SVG.

use std::error::Error;
use std::ops::Range;

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

/// What a drawing is made on.
pub(super) type Chart<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// A curve's colour.
pub(super) const BLUE: RGBColor = RGBColor(0, 90, 160);
pub(super) const ORANGE: RGBColor = RGBColor(190, 80, 0);
pub(super) const GREY: RGBColor = RGBColor(90, 90, 90);

/// An axis, and how its numbers are written.
pub(super) struct Axis<'a> {
    pub(super) title: String,
    pub(super) range: Range<f64>,
    pub(super) tick: &'a dyn Fn(&f64) -> String,
}

/// Draws the axes, whatever `curves` puts between them, and a legend.
pub(super) fn draw(
    caption: &str,
    x: Axis<'_>,
    y: Axis<'_>,
    legend: SeriesLabelPosition,
    curves: impl FnOnce(&mut Chart<'_>) -> Result<(), Box<dyn Error>>,
) -> Result<String, Box<dyn Error>> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (720, 440)).into_drawing_area();
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .margin(16)
            .caption(caption, ("sans-serif", 18))
            .x_label_area_size(44)
            .y_label_area_size(70)
            .build_cartesian_2d(x.range, y.range)?;
        chart
            .configure_mesh()
            .x_desc(x.title)
            .y_desc(y.title)
            .x_labels(8)
            .x_label_formatter(x.tick)
            .y_label_formatter(y.tick)
            .light_line_style(WHITE)
            .draw()?;
        curves(&mut chart)?;
        chart
            .configure_series_labels()
            .position(legend)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK)
            .draw()?;
        root.present()?;
    }
    Ok(svg)
}

/// Draws a curve through points, and names it in the legend.
pub(super) fn curve(
    chart: &mut Chart<'_>,
    name: &str,
    colour: RGBColor,
    points: impl Iterator<Item = (f64, f64)>,
) -> Result<(), Box<dyn Error>> {
    chart
        .draw_series(LineSeries::new(points, colour.stroke_width(2)))?
        .label(name)
        .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
    Ok(())
}

/// The decimals that tell the numbers along an axis of this length apart.
pub(super) fn decimals(length: f64) -> usize {
    (10.0 / length).log10().ceil().max(1.0) as usize
}
