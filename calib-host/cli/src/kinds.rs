//! What kind of file a name states by its extension, and that what is written is of that kind.

use std::path::Path;

use calib_io::output::{TableFormat, UnknownFormat};

use crate::error::Error;

/// A kind of file that calib writes, or that a user may expect it to write.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FileKind {
    Artifact,
    C,
    Rust,
    Page,
    Svg,
    Png,
    Pdf,
    Table,
}

impl FileKind {
    /// The kind that a name states, whatever its case; `None` without an extension, or with one that says nothing of calib's files.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_string_lossy().to_ascii_lowercase();
        Some(match extension.as_str() {
            "cal" | "bin" => Self::Artifact,
            "h" | "hh" | "hpp" | "hxx" => Self::C,
            "rs" | "in" => Self::Rust,
            "html" | "htm" | "xhtml" => Self::Page,
            "svg" => Self::Svg,
            "png" => Self::Png,
            "pdf" => Self::Pdf,
            _ => match TableFormat::of(path) {
                Ok(_) | Err(UnknownFormat::NotBuilt(_)) => Self::Table,
                Err(_) => return None,
            },
        })
    }

    /// Refuses a name that states another kind than this, which is what would be written there.
    pub(crate) fn check(self, path: &Path) -> Result<(), Error> {
        let named = Self::of(path);
        // An artifact has no extension of its own, a page and a picture have.
        let is_fine = match self {
            Self::Artifact => named.is_none_or(|kind| kind == Self::Artifact),
            _ => path.extension().is_none() || named == Some(self),
        };
        if is_fine {
            return Ok(());
        }
        let stem = |extension: &str| path.with_extension(extension).display().to_string();
        let instead = match (self, named) {
            (Self::Artifact, Some(Self::C | Self::Rust)) => {
                format!(
                    "name it .cal or .bin, and make source code of it with `calib export {} -o {}`",
                    stem("cal"),
                    path.display()
                )
            }
            (Self::Artifact, Some(Self::Page | Self::Pdf)) => {
                format!(
                    "name it .cal or .bin, and have a page made about it with `calib report {} -o {}`",
                    stem("cal"),
                    stem("html")
                )
            }
            (Self::Artifact, Some(Self::Svg | Self::Png)) => {
                format!(
                    "name it .cal or .bin, and draw it with `calib plot reliability {} -o {}`",
                    stem("cal"),
                    path.display()
                )
            }
            (Self::Artifact, _) => format!(
                "name it .cal or .bin, and calibrate scores into a table with `calib apply {} -o {}`",
                stem("cal"),
                path.display()
            ),
            (Self::Page, _) => "name it .html (a browser prints it as PDF)".into(),
            (Self::Svg, _) => "name it .svg (PNG is what `calib plot` writes)".into(),
            _ => "take another extension".into(),
        };
        Err(Error::Usage(format!("{} would hold {}: {instead}", path.display(), self.in_words())))
    }

    fn in_words(self) -> &'static str {
        match self {
            Self::Artifact => "an artifact",
            Self::C => "a header in C",
            Self::Rust => "source code in Rust",
            Self::Page => "a page in HTML",
            Self::Svg => "a picture in SVG",
            Self::Png => "a picture in PNG",
            Self::Pdf => "a PDF",
            Self::Table => "a table",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_say_what_is_written_and_nothing_else() {
        for (kind, name, is_fine) in [
            (FileKind::Artifact, "a.cal", true),
            (FileKind::Artifact, "a.BIN", true),
            (FileKind::Artifact, "a", true),
            (FileKind::Artifact, "model.v2", true),
            (FileKind::Artifact, "a.h", false),
            (FileKind::Artifact, "a.parquet", false),
            (FileKind::Page, "a.HTM", true),
            (FileKind::Page, "a", true),
            (FileKind::Page, "a.pdf", false),
            (FileKind::Page, "a.cal", false),
            (FileKind::Svg, "a.svg", true),
            (FileKind::Svg, "a.png", false),
            (FileKind::Svg, "a.jpg", false),
        ] {
            assert_eq!(kind.check(Path::new(name)).is_ok(), is_fine, "{kind:?} {name}");
        }
    }
}
