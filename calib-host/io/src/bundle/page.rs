//! What the cells of a page show, and its text.

use std::collections::BTreeMap;

/// How a cell of the page names its claim.
const MARK: &str = " data-claim=\"";

/// The cells of a page that show claims: the claim's id, and what each cell shows.
pub(super) struct PageFigures(pub(super) BTreeMap<String, Vec<String>>);

impl PageFigures {
    pub(super) fn of(page: &str) -> Self {
        let mut cells = BTreeMap::<String, Vec<String>>::new();
        for rest in page.split(MARK).skip(1) {
            let Some((id, rest)) = rest.split_once('"') else { continue };
            let Some((_, rest)) = rest.split_once('>') else { continue };
            let Some((text, _)) = rest.split_once("</td>") else { continue };
            cells.entry(id.into()).or_default().push(plain(text));
        }
        Self(cells)
    }

    /// Whether a cell shows the claim, with a figure.
    pub(super) fn has(&self, id: &str) -> bool {
        self.0
            .get(id)
            .is_some_and(|cells| cells.iter().any(|text| text.contains(|c: char| c.is_ascii_digit())))
    }
}

/// The text between tags, with one space for each stretch of white space.
pub(super) fn plain(html: &str) -> String {
    let mut text = String::new();
    for piece in html.split('<') {
        // Before the first tag nothing is part of one.
        text += if text.is_empty() && !html.starts_with('<') {
            piece
        } else {
            piece.split_once('>').map_or("", |(_, rest)| rest)
        };
    }
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&#x2f;", "/"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ];
    let text = entities.iter().fold(text, |text, (entity, char)| text.replace(entity, char));
    plain_spaces(&text)
}

pub(super) fn plain_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_read_without_their_tags() {
        let page =
            "<td class=\"interval\" data-claim=\"a.b\">0.5 [0.4,\u{a0}0.6]</td><td data-claim=\"c\"></td>";
        let cells = PageFigures::of(page);
        assert_eq!(cells.0["a.b"], ["0.5 [0.4, 0.6]"]);
        assert!(cells.has("a.b") && !cells.has("c") && !cells.has("d"));
        assert_eq!(plain("<p>a &lt;b&gt;\n<b>c</b> &amp;lt;</p>"), "a <b> c &lt;");
        assert_eq!(plain("x<br>y"), "xy");
    }
}
