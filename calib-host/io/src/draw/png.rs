//! Plots as pixels.

use std::sync::{Arc, LazyLock};

use epaint_default_fonts::UBUNTU_LIGHT;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, Options, Tree, fontdb};

use super::chart::STYLE;
use super::plot::Plot;

/// A plot that cannot be made of pixels.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PngError {
    /// The plot is no SVG that the renderer reads. It never happens with plots of a report.
    #[error("the plot cannot be drawn: {0}")]
    Svg(#[from] usvg::Error),
    /// The image would have no or too many pixels.
    #[error("an image of {width} x {height} pixels cannot be made")]
    Size {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
    },
    /// The image cannot be encoded.
    #[error("the image cannot be encoded: {0}")]
    Encode(String),
}

impl Plot {
    /// The plot as a PNG image in its light colors, at `scale` times its size of 360 pixels by some more than that. The same
    /// plot gives the same bytes on every machine: the font comes with the program.
    ///
    /// # Errors
    ///
    /// If the image would have no or too many pixels.
    pub fn png(&self, scale: f32) -> Result<Vec<u8>, PngError> {
        static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
            let mut fonts = fontdb::Database::new();
            fonts.load_font_data(UBUNTU_LIGHT.to_vec());
            let family = fonts.faces().next().map(|face| face.families[0].0.clone());
            fonts.set_sans_serif_family(family.unwrap_or_default());
            Arc::new(fonts)
        });
        let options = Options { fontdb: FONTS.clone(), ..Options::default() };
        let tree = Tree::from_str(&self.file.replace(STYLE, &light_style()), &options)?;
        let pixels = |length: f32| (length * scale).round() as u32;
        let (width, height) = (pixels(tree.size().width()), pixels(tree.size().height()));
        let mut image = Pixmap::new(width, height).ok_or(PngError::Size { width, height })?;
        resvg::render(&tree, Transform::from_scale(scale, scale), &mut image.as_mut());
        image.encode_png().map_err(|cause| PngError::Encode(cause.to_string()))
    }
}

/// The style without custom properties and media, which the renderer does not know: the light colors.
fn light_style() -> String {
    let mut lines = STYLE.lines();
    let properties = lines.next().unwrap_or_default();
    let properties = properties.trim_start_matches(":root{").trim_end_matches('}');
    let rules: String = lines.filter(|line| !line.starts_with('@')).collect();
    let named = properties.split(';').filter_map(|property| property.split_once(':'));
    named.fold(rules, |rules, (name, color)| rules.replace(&format!("var({name})"), color))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_color_is_left_open() {
        let style = light_style();
        assert!(!style.contains("var(") && !style.contains('@'), "{style}");
        assert!(style.contains(".chart .after{stroke:#0550ae;fill:#0550ae;"), "{style}");
    }
}
