//! Where the labels of points go, so that none covers another, nor a line if that can be helped.

/// About how wide a character is, and how high a line, in pixels.
const CHAR: f64 = 7.0;
const LINE: f64 = 12.0;
/// A mark and the room around it.
const MARK: f64 = 5.0;

/// Where a text begins, ends or has its middle, and its base line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Label {
    pub(super) x: f64,
    pub(super) y: f64,
    /// The anchor of SVG.
    pub(super) anchor: &'static str,
}

#[derive(Clone, Copy)]
struct Area {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Area {
    fn meets(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// Whether a line goes through it: what the four sides leave of the line (Liang and Barsky 1984).
    fn is_crossed(&self, &[(x, y), (to_x, to_y)]: &Segment) -> bool {
        let (dx, dy) = (to_x - x, to_y - y);
        let sides = [(-dx, x - self.left), (dx, self.right - x), (-dy, y - self.top), (dy, self.bottom - y)];
        let (mut from, mut to) = (0.0f64, 1.0f64);
        for (step, room) in sides {
            if step == 0.0 && room < 0.0 {
                return false;
            }
            if step < 0.0 {
                from = from.max(room / step);
            } else if step > 0.0 {
                to = to.min(room / step);
            }
        }
        from <= to
    }

    fn is_within(&self, other: &Self) -> bool {
        other.left <= self.left
            && self.right <= other.right
            && other.top <= self.top
            && self.bottom <= other.bottom
    }
}

/// A straight line between two places.
pub(super) type Segment = [(f64, f64); 2];

/// Places a label of so many characters beside each point, within the first `width` by `height` pixels. Of the eight sides of a
/// point it takes one where the label covers no point, no earlier label and the fewest lines; if there is none, the side above.
pub(super) fn place(
    points: &[(f64, f64)],
    chars: &[usize],
    lines: &[Segment],
    (width, height): (f64, f64),
) -> Vec<Label> {
    let paper = Area { left: 0.0, top: 0.0, right: width, bottom: height };
    let mut taken: Vec<Area> = points
        .iter()
        .map(|&(x, y)| Area { left: x - MARK, top: y - MARK, right: x + MARK, bottom: y + MARK })
        .collect();
    let mut labels = Vec::with_capacity(points.len());
    for (&point, &chars) in points.iter().zip(chars) {
        let sides = sides(point, chars as f64 * CHAR);
        let is_free = |area: &Area| area.is_within(&paper) && !taken.iter().any(|other| area.meets(other));
        let crossed = |area: &Area| lines.iter().filter(|line| area.is_crossed(line)).count();
        // Of equals the first is taken.
        let free = sides.into_iter().filter(|(_, area)| is_free(area));
        let (label, area) = free.min_by_key(|(_, area)| crossed(area)).unwrap_or(sides[0]);
        taken.push(area);
        labels.push(label);
    }
    labels
}

/// The places around a point, the best first: above, below, right, left, and the corners.
fn sides((x, y): (f64, f64), width: f64) -> [(Label, Area); 8] {
    let (near, corner) = (MARK + 2.0, MARK);
    let side = |anchor, x: f64, y: f64| {
        let left = match anchor {
            "middle" => x - width / 2.0,
            "end" => x - width,
            _ => x,
        };
        let area = Area { left, top: y - LINE, right: left + width, bottom: y };
        // Letters reach a little below the line that they stand on.
        (Label { x, y: y - 2.0, anchor }, area)
    };
    [
        side("middle", x, y - corner),
        side("middle", x, y + corner + LINE),
        side("start", x + near, y + LINE / 2.0),
        side("end", x - near, y + LINE / 2.0),
        side("start", x + corner, y - corner),
        side("end", x - corner, y - corner),
        side("start", x + corner, y + corner + LINE),
        side("end", x - corner, y + corner + LINE),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_label_covers_another_or_a_point() {
        let points = [(50.0, 50.0), (52.0, 66.0), (62.0, 50.0), (50.0, 34.0)];
        let labels = place(&points, &[2; 4], &[], (100.0, 100.0));
        let area = |label: &Label| {
            let left = match label.anchor {
                "middle" => label.x - CHAR,
                "end" => label.x - 2.0 * CHAR,
                _ => label.x,
            };
            Area { left, top: label.y + 2.0 - LINE, right: left + 2.0 * CHAR, bottom: label.y + 2.0 }
        };
        let areas: Vec<Area> = labels.iter().map(area).collect();
        for (i, area) in areas.iter().enumerate() {
            assert!(areas[..i].iter().all(|other| !area.meets(other)), "{labels:?}");
            assert!(points.iter().all(|&(x, y)| {
                let mark = Area { left: x, top: y, right: x, bottom: y };
                !area.meets(&mark)
            }));
        }
        // At the edge of the paper it goes to the other side.
        assert!(place(&[(50.0, 4.0)], &[2], &[], (100.0, 100.0))[0].y > 4.0);
    }

    #[test]
    fn a_label_keeps_clear_of_lines() {
        // A line from the left to the right above the point, and one that ends far from it.
        let lines = [[(0.0, 40.0), (100.0, 41.0)], [(50.0, 90.0), (50.0, 100.0)]];
        let label = place(&[(50.0, 50.0)], &[2], &lines, (100.0, 100.0))[0];
        assert!(label.y > 55.0, "{label:?}");
        // With lines on all sides it is above, where there is one, not below, where there are two.
        let level = |y| [(0.0, y), (100.0, y)];
        let upright = |x| [(x, 0.0), (x, 100.0)];
        let all = [level(40.0), level(61.0), level(62.0), upright(40.0), upright(60.0)];
        assert!(place(&[(50.0, 50.0)], &[2], &all, (100.0, 100.0))[0].y < 50.0);
    }
}
