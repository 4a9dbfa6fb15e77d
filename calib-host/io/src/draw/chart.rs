//! A small drawing board: a plot area with axes, and marks in data coordinates, as SVG.
//!
//! Colors are classes, which the page's or the file's style gives a light and a dark shade. What is before calibration has
//! hollow marks and dashed lines, what is after filled ones and solid lines: color is never the only difference.

use std::fmt::Write;

use super::labels::{Label, Segment, place};

/// The sizes of charts in pixels: width and height.
const SMALL: (f64, f64) = (360.0, 320.0);
const WIDE: (f64, f64) = (600.0, 400.0);
/// The room around the plot area.
const LEFT: f64 = 52.0;
/// About how wide a character of a tick is.
const TICK_CHAR: f64 = 7.5;
const RIGHT: f64 = 12.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 46.0;

/// The style of charts, for a page or a file: custom properties with both shades.
pub const STYLE: &str = include_str!("chart.css");

/// A chart that is being drawn. What is outside of its axes is drawn at their ends.
///
/// ```
/// use calib_io::draw::{Axis, Chart};
///
/// let mut chart = Chart::new(Axis::unit("mean probability"), Axis::unit("observed frequency"));
/// chart.diagonal();
/// chart.line("after", [(0.1, 0.12), (0.5, 0.49), (0.9, 0.93)]);
/// let svg = chart.file("Reliability", "Three bins near the diagonal.", &[("after", "after calibration")]);
/// assert!(svg.starts_with("<svg") && svg.contains("after calibration"));
/// ```
#[derive(Clone, Debug)]
pub struct Chart {
    body: String,
    x: Axis,
    y: Axis,
    size: (f64, f64),
    /// The room to the left of the plot area.
    left: f64,
    /// The lines so far, in pixels.
    lines: Vec<Segment>,
}

/// A linear axis from `lo` to `hi`.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What it measures.
    pub label: String,
    /// Where it begins.
    pub lo: f64,
    /// Where it ends, above `lo`.
    pub hi: f64,
}

/// The shape of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A circle.
    Circle,
    /// An upright cross.
    Plus,
}

impl Axis {
    /// An axis for fractions.
    pub fn unit(label: impl Into<String>) -> Self {
        Self::new(label, 0.0, 1.0)
    }

    /// An axis for probabilities up to this one: to 1, or, where none is above a tenth, to a round number above all.
    ///
    /// ```
    /// use calib_io::draw::Axis;
    ///
    /// assert_eq!((Axis::probs("", 0.3).hi, Axis::probs("", 0.0042).hi, Axis::probs("", 0.0).hi), (1.0, 0.005, 1.0));
    /// ```
    pub fn probs(label: impl Into<String>, largest: f64) -> Self {
        /// Far below what a device tells from 0.
        const LEAST: f64 = 1e-12;
        if !(LEAST..=0.1).contains(&largest) {
            return Self::unit(label);
        }
        let power = 10f64.powf((1.05 * largest).log10().floor());
        let round = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
        let end = round.into_iter().find(|&end| end >= 1.05 * largest).unwrap_or(1.0);
        Self::new(label, 0.0, end)
    }

    /// An axis from `lo` to `hi`, which is above it.
    pub fn new(label: impl Into<String>, lo: f64, hi: f64) -> Self {
        Self { label: label.into(), lo, hi }
    }

    /// The distance of round numbers along the axis: about five of them.
    fn step(&self) -> f64 {
        let raw = (self.hi - self.lo) / 5.0;
        let magnitude = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|m| m * magnitude).into_iter().find(|&s| s >= raw * 0.999);
        step.unwrap_or(10.0 * magnitude)
    }

    /// Round numbers along the axis, and their text.
    fn ticks(&self) -> Vec<(f64, String)> {
        let step = self.step();
        let (first, last) = ((self.lo / step).ceil() as i64, (self.hi / step + 1e-9).floor() as i64);
        (first..=last).map(|k| k as f64 * step).map(|tick| (tick, tick_label(tick, step))).collect()
    }
}

/// A number with as many digits as tell it from the next, at a distance of `step`.
fn tick_label(value: f64, step: f64) -> String {
    // A step is 1, 2, 2.5 or 5 times a power of ten.
    let digits = (1.0 - step.log10().floor()).clamp(0.0, 12.0) as usize;
    let text = format!("{value:.digits$}");
    let text = if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".into() } else { text.into() }
}

impl Chart {
    /// An empty chart with axes that are not drawn.
    pub fn bare(x: Axis, y: Axis) -> Self {
        // Four characters of a tick fit beside the axis's name.
        let wider = y.ticks().iter().map(|(_, label)| label.len()).max().unwrap_or(0).saturating_sub(4);
        let left = LEFT + TICK_CHAR * wider as f64;
        Self { body: String::new(), x, y, size: SMALL, left, lines: Vec::new() }
    }

    /// An empty chart with axes and a grid.
    pub fn new(x: Axis, y: Axis) -> Self {
        Self::bare(x, y).with_axes()
    }

    /// As [`Chart::new`], but larger: for a separate file.
    pub fn wide(x: Axis, y: Axis) -> Self {
        Self { size: WIDE, ..Self::bare(x, y) }.with_axes()
    }

    fn with_axes(mut self) -> Self {
        let chart = &mut self;
        let (width, height) = chart.size;
        let (left, bottom, right) = (chart.left, height - BOTTOM, width - RIGHT);
        for (tick, label) in chart.x.ticks() {
            let at = chart.at_x(tick);
            chart.put(format_args!("<path class=\"grid\" d=\"M{at:.1} {TOP}V{bottom}\"/>"));
            chart.put(format_args!(
                "<text class=\"tick\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
                bottom + 16.0
            ));
        }
        for (tick, label) in chart.y.ticks() {
            let at = chart.at_y(tick);
            chart.put(format_args!("<path class=\"grid\" d=\"M{left} {at:.1}H{right}\"/>"));
            chart.put(format_args!(
                "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                left - 6.0,
                at + 4.0
            ));
        }
        let (x_label, y_label) = (escape(&chart.x.label), escape(&chart.y.label));
        let (middle_x, middle_y) = ((left + right) / 2.0, (TOP + bottom) / 2.0);
        chart.put(format_args!(
            "<text class=\"name\" x=\"{middle_x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{x_label}</text>\
             <text class=\"name\" transform=\"translate(14 {middle_y:.1})rotate(-90)\" text-anchor=\"middle\">{y_label}</text>",
            height - 8.0
        ));
        self
    }

    /// The line on which both coordinates are equal.
    pub fn diagonal(&mut self) {
        let (lo, hi) = (self.x.lo.max(self.y.lo), self.x.hi.min(self.y.hi));
        self.line("diagonal", [(lo, lo), (hi, hi)]);
    }

    /// A line through points.
    pub fn line(&mut self, class: &str, points: impl IntoIterator<Item = (f64, f64)>) {
        let mut path = String::new();
        let mut last = String::new();
        let mut previous = None;
        for (x, y) in points {
            let (x, y) = (self.at_x(x), self.at_y(y));
            self.lines.extend(previous.replace((x, y)).map(|from| [from, (x, y)]));
            let at = format!("{x:.1} {y:.1}");
            // Points that fall on one place are drawn once.
            if at != last {
                path.push_str(if path.is_empty() { "M" } else { "L" });
                path.push_str(&at);
                last = at;
            }
        }
        self.put(format_args!("<path class=\"{class}\" d=\"{path}\"/>"));
    }

    /// A line that keeps its height up to the next point, and goes on to the end of the axis.
    pub fn steps(&mut self, class: &str, start: f64, points: impl IntoIterator<Item = (f64, f64)>) {
        let mut corners = vec![(self.x.lo, start)];
        let mut height = start;
        for (x, y) in points.into_iter().take_while(|point| point.0 <= self.x.hi) {
            corners.extend([(x, height), (x, y)]);
            height = y;
        }
        corners.push((self.x.hi, height));
        self.line(class, corners);
    }

    /// A mark at a point.
    pub fn mark(&mut self, class: &str, mark: Mark, x: f64, y: f64) {
        let (x, y) = (self.at_x(x), self.at_y(y));
        match mark {
            Mark::Circle => {
                self.put(format_args!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\"/>"));
            }
            Mark::Plus => self.put(format_args!(
                "<path class=\"{class}\" d=\"M{:.1} {y:.1}h9M{x:.1} {:.1}v9\"/>",
                x - 4.5,
                y - 4.5
            )),
        }
    }

    /// An area between points.
    pub fn area(&mut self, class: &str, points: impl IntoIterator<Item = (f64, f64)>) {
        let corners = points.into_iter().map(|(x, y)| format!("{:.1},{:.1}", self.at_x(x), self.at_y(y)));
        let corners = corners.collect::<Vec<_>>().join(" ");
        self.put(format_args!("<polygon class=\"{class}\" points=\"{corners}\"/>"));
    }

    /// The area between a lower and an upper line: at every place the two heights.
    pub fn band(&mut self, class: &str, places: &[(f64, f64, f64)]) {
        let lower = places.iter().map(|&(x, lo, _)| (x, lo));
        self.area(class, lower.chain(places.iter().rev().map(|&(x, _, hi)| (x, hi))));
    }

    /// A line that is level over every whole number, from 0 on.
    pub fn levels(&mut self, class: &str, heights: &[f64]) {
        let ends = |(x, &y): (usize, &f64)| [(x as f64, y), (x as f64 + 1.0, y)];
        self.line(class, heights.iter().enumerate().flat_map(ends));
    }

    /// An arrow, or a dot if both ends are in one place.
    pub fn arrow(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let (x0, y0, x, y) = (self.at_x(from.0), self.at_y(from.1), self.at_x(to.0), self.at_y(to.1));
        let (dx, dy) = (x - x0, y - y0);
        let len = dx.hypot(dy);
        if len < 2.0 {
            self.put(format_args!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"1.5\"/>"));
            return;
        }
        // The barbs are at most as long as the shaft.
        let barb = len.min(5.0) / len;
        let side = |turn: f64| (x - barb * (dx + turn * dy), y - barb * (dy - turn * dx));
        let ((ax, ay), (bx, by)) = (side(0.5), side(-0.5));
        self.put(format_args!(
            "<path class=\"{class}\" d=\"M{x0:.1} {y0:.1}L{x:.1} {y:.1}M{ax:.1} {ay:.1}L{x:.1} {y:.1}L{bx:.1} {by:.1}\"/>"
        ));
    }

    /// A line of text, so many pixels below a point; `anchor` is SVG's `text-anchor`.
    pub fn text(&mut self, (x, y): (f64, f64), below: f64, anchor: &str, text: &str) {
        let (x, y) = (self.at_x(x), self.at_y(y) + below);
        let text = escape(text);
        self.put(format_args!(
            "<text class=\"name\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>"
        ));
    }

    /// A text beside each point, so that none covers another.
    pub fn labels(&mut self, points: &[((f64, f64), String)]) {
        let at: Vec<_> = points.iter().map(|((x, y), _)| (self.at_x(*x), self.at_y(*y))).collect();
        let chars: Vec<_> = points.iter().map(|(_, text)| text.chars().count()).collect();
        let labels = place(&at, &chars, &self.lines, self.size);
        for (Label { x, y, anchor }, (_, text)) in labels.into_iter().zip(points) {
            let text = escape(text);
            self.put(format_args!(
                "<text class=\"label\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>"
            ));
        }
    }

    /// A vertical line between two heights.
    pub fn whisker(&mut self, class: &str, x: f64, lo: f64, hi: f64) {
        let (x, lo, hi) = (self.at_x(x), self.at_y(lo), self.at_y(hi));
        self.put(format_args!("<path class=\"{class}\" d=\"M{x:.1} {lo:.1}V{hi:.1}\"/>"));
    }

    /// A bar from the bottom.
    pub fn bar(&mut self, class: &str, from: f64, to: f64, height: f64) {
        let (from, to) = (self.at_x(from), self.at_x(to));
        let (top, bottom) = (self.at_y(height), self.at_y(self.y.lo));
        if bottom - top > 0.05 {
            self.put(format_args!(
                "<rect class=\"{class}\" x=\"{from:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
                to - from,
                bottom - top
            ));
        }
    }

    /// The finished SVG. It has the role of an image, with a name and a description for anyone who does not see it; `id` is
    /// unique on its page.
    pub fn svg(&self, id: &str, title: &str, description: &str) -> String {
        image(id, title, description, self.size, &self.body)
    }

    /// The finished SVG as a separate file, with its title and what the marks mean.
    pub fn file(&self, title: &str, description: &str, legend: &[(&str, impl AsRef<str>)]) -> String {
        let (width, height) = self.size;
        let mut below = String::new();
        let mut y = FILE_TOP + height;
        let chars = ((width - LEGEND_LEFT) / LEGEND_CHAR) as usize;
        for (class, words) in legend {
            write!(below, "<g transform=\"translate(16 {y})\">{}</g>", key(class)).expect(INTO_STRING);
            for line in wrapped(words.as_ref(), chars) {
                let line = escape(&line);
                write!(below, "<text class=\"tick\" x=\"{LEGEND_LEFT}\" y=\"{}\">{line}</text>", y + 10.0)
                    .expect(INTO_STRING);
                y += 16.0;
            }
        }
        let height = y + 8.0;
        let inner = format!(
            "<style>{STYLE}</style><rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>\
             <text class=\"name\" x=\"12\" y=\"18\">{}</text><g transform=\"translate(0 {FILE_TOP})\">{}</g>{below}",
            escape(title),
            self.body
        );
        image("chart", title, description, (width, height), &inner) + "\n"
    }

    fn at_x(&self, x: f64) -> f64 {
        self.left
            + (self.size.0 - self.left - RIGHT) * ((x - self.x.lo) / (self.x.hi - self.x.lo)).clamp(0.0, 1.0)
    }

    fn at_y(&self, y: f64) -> f64 {
        let share = ((y - self.y.lo) / (self.y.hi - self.y.lo)).clamp(0.0, 1.0);
        self.size.1 - BOTTOM - (self.size.1 - TOP - BOTTOM) * share
    }

    fn put(&mut self, element: std::fmt::Arguments<'_>) {
        self.body.write_fmt(element).expect(INTO_STRING);
    }
}

const INTO_STRING: &str = "writing to a string cannot fail";

/// The class of a mark, and what it means.
pub type LegendEntry = (&'static str, &'static str);

/// Room for the title above a chart in a separate file.
const FILE_TOP: f64 = 24.0;

/// Where the words of a legend begin, and about how wide a character of them is.
const LEGEND_LEFT: f64 = 52.0;
const LEGEND_CHAR: f64 = 6.6;

/// A mark of a class as a legend shows it, 28 wide and 12 high.
///
/// ```
/// assert!(calib_io::draw::key("before").starts_with("<path class=\"before\""));
/// ```
pub fn key(class: &str) -> String {
    let is_area = matches!(class, "bar" | "band") || class.starts_with("region");
    if is_area {
        format!("<rect class=\"{class}\" x=\"4\" y=\"1\" width=\"20\" height=\"10\"/>")
    } else if class.contains("cross") {
        format!("<path class=\"{class}\" d=\"M9 6h10M14 1v10\"/>")
    } else if class == "answer" {
        format!("<circle class=\"{class}\" cx=\"14\" cy=\"6\" r=\"3.5\"/>")
    } else if class == "arrow" {
        format!("<path class=\"{class}\" d=\"M2 6H26M21 3L26 6L21 9\"/>")
    } else {
        format!("<path class=\"{class}\" d=\"M1 6H27\"/>")
    }
}

fn image(id: &str, title: &str, description: &str, (width, height): (f64, f64), inner: &str) -> String {
    let (title, description) = (escape(title), escape(description));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-labelledby=\"{id}-title {id}-desc\"><title id=\"{id}-title\">{title}</title>\
         <desc id=\"{id}-desc\">{description}</desc>{inner}</svg>"
    )
}

/// The words in lines of at most so many characters, unless a word is longer.
fn wrapped(text: &str, chars: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("there is a line from the start");
        if last.is_empty() {
            last.push_str(word);
        } else if last.chars().count() + 1 + word.chars().count() <= chars {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// Text that is safe in XML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within_the_axis() {
        let labels = |lo, hi| {
            let ticks = Axis::new("", lo, hi).ticks();
            ticks.into_iter().map(|(_, label)| label).collect::<Vec<_>>()
        };
        assert_eq!(labels(0.0, 1.0), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(labels(0.0, 0.13), ["0", "0.05", "0.1"]);
        assert_eq!(labels(-0.5, 0.5), ["-0.4", "-0.2", "0", "0.2", "0.4"]);
        assert_eq!(labels(0.0, 5000.0), ["0", "1000", "2000", "3000", "4000", "5000"]);
        assert_eq!(labels(0.14321, 0.14333), ["0.143225", "0.14325", "0.143275", "0.1433", "0.143325"]);
    }

    #[test]
    fn a_chart_is_an_image_with_a_name() {
        let mut chart = Chart::new(Axis::unit("score"), Axis::unit("rate"));
        chart.diagonal();
        chart.mark("after", Mark::Circle, 0.5, 2.0);
        let svg = chart.svg("a", "R < S & T", "one \"mark\"");
        assert!(
            svg.contains("role=\"img\"") && svg.contains("<title id=\"a-title\">R &lt; S &amp; T</title>")
        );
        // What is outside the axes is drawn at their end.
        assert!(svg.contains("cy=\"12.0\""));
        assert_eq!(svg, chart.svg("a", "R < S & T", "one \"mark\""));
    }

    #[test]
    fn a_legend_is_broken_between_words() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        let chart = Chart::new(Axis::unit("score"), Axis::unit("rate"));
        let file = chart.file("t", "d", &[("bar", "one"), ("before", "two")]);
        assert!(
            file.contains("viewBox=\"0 0 360 384\"") && file.matches("class=\"tick\" x=\"52\"").count() == 2
        );
    }

    #[test]
    fn an_arrow_has_a_head_and_a_short_one_is_a_dot() {
        let mut chart = Chart::bare(Axis::unit("x"), Axis::unit("y"));
        chart.arrow("arrow", (0.5, 0.0), (0.5, 1.0));
        assert_eq!(chart.body.matches('L').count(), 3);
        chart.arrow("arrow", (0.5, 0.5), (0.5, 0.5));
        assert!(chart.body.ends_with("r=\"1.5\"/>"));
    }

    #[test]
    fn steps_go_on_to_the_end() {
        let mut chart = Chart::new(Axis::new("e", 0.0, 0.5), Axis::unit("v"));
        chart.body.clear();
        chart.steps("after", 0.0, [(0.25, 0.5), (0.7, 1.0)]);
        assert_eq!(
            chart.body,
            "<path class=\"after\" d=\"M52.0 274.0L200.0 274.0L200.0 143.0L348.0 143.0\"/>"
        );
    }
}
