//! Reading a protocol.

use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use sha2::{Digest, Sha256};
use toml::Spanned;

use super::plan::{Accept, Change, Demands, Margins, Protocol, RequiredRows, Signers};
use crate::files::{FileError, Problem, ProtocolError, PublicKey, TomlText, read_limited, text_of};

/// Far more than any protocol takes.
const MAX_LEN_BYTES: u64 = 1 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: Spanned<String>,
    #[serde(default = "nothing")]
    change: Spanned<Change>,
    accept: Spanned<Accept>,
    rows: Spanned<RequiredRows>,
    sign: Sign,
    #[serde(default)]
    rollback: Rollback,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sign {
    keys: Vec<Spanned<String>>,
    needed: Spanned<i64>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rollback {
    allowed: bool,
}

fn nothing() -> Spanned<Change> {
    Spanned::new(0..0, Change::default())
}

/// Reads a protocol.
///
/// ```
/// use calib_io::protocol::{STARTER, read_protocol};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("protocol.toml");
/// std::fs::write(&path, STARTER)?;
/// assert_eq!(read_protocol(&path)?.rows.n, 500);
/// std::fs::write(&path, STARTER.replace("n = 500", "n = 500\nrow = 5"))?;
/// let refused = read_protocol(&path).unwrap_err().to_string();
/// assert!(refused.contains("protocol.toml, line 43: unknown field `row`"), "{refused}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If it cannot be read, or says something else; with the line.
pub fn read_protocol(path: &Path) -> Result<Protocol, FileError> {
    protocol_of_bytes(path, read_limited(path, MAX_LEN_BYTES)?)
}

/// Reads a protocol in memory; errors name it as the file.
pub(crate) fn protocol_of_bytes(path: &Path, bytes: Vec<u8>) -> Result<Protocol, FileError> {
    let sha256 = Sha256::digest(&bytes).into();
    let text = text_of(path, bytes)?;
    ProtocolText(TomlText { path, text: &text }).parse(sha256)
}

/// The text of a protocol.
struct ProtocolText<'a>(TomlText<'a>);

/// A number of a section, with the numbers that it may be.
type Limit = (&'static str, Option<f64>, fn(f64) -> bool, &'static str);

impl ProtocolText<'_> {
    fn parse(&self, sha256: [u8; 32]) -> Result<Protocol, FileError> {
        let file: File = self.0.parse(|why| Problem::Protocol(ProtocolError::Toml(why)))?;
        if file.name.get_ref().trim().is_empty() {
            return Err(self.error(file.name.span(), ProtocolError::NoName));
        }
        self.check_change(&file.change)?;
        self.check_accept(&file.accept)?;
        let rows = file.rows.get_ref();
        self.check(&file.rows.span(), &[("n", Some(rows.n as f64), |n| n >= 1.0, "at least one row")])?;
        Ok(Protocol {
            name: file.name.into_inner(),
            sha256,
            change: file.change.into_inner(),
            accept: file.accept.into_inner(),
            rows: file.rows.into_inner(),
            sign: self.signers(&file.sign)?,
            rollback: file.rollback.allowed,
        })
    }

    fn check_change(&self, change: &Spanned<Change>) -> Result<(), FileError> {
        let Change { bins, prevalence, .. } = change.get_ref();
        let order = |key| Err(self.error(change.span(), ProtocolError::Order { key }));
        match (bins, prevalence) {
            (Some([least, greatest]), _) if least > greatest => return order("bins"),
            (_, Some([least, greatest])) if least > greatest => return order("prevalence"),
            _ => {}
        }
        let prevalences = prevalence.iter().flatten();
        let limits: Vec<Limit> = prevalences
            .map(|&share| ("prevalence", Some(share), is_share as fn(f64) -> bool, SHARE))
            .collect();
        self.check(&change.span(), &limits)
    }

    fn check_accept(&self, accept: &Spanned<Accept>) -> Result<(), FileError> {
        let Accept { epsilon, interval_width, alpha, each_group, .. } = *accept.get_ref();
        let all = accept.get_ref().all();
        let limits = [
            ("epsilon", epsilon, is_share as fn(f64) -> bool, SHARE),
            ("interval_width", interval_width, is_share, SHARE),
            ("alpha", alpha, is_share, SHARE),
        ];
        if limits.iter().all(|limit| limit.1.is_none())
            && [Some(all), each_group].into_iter().flatten().all(is_nothing)
        {
            return Err(self.error(accept.span(), ProtocolError::AcceptsAll));
        }
        self.check(&accept.span(), &limits)?;
        [Some(all), each_group].into_iter().flatten().try_for_each(|demands| {
            let Demands {
                sensitivity,
                specificity,
                not_worse_by: Margins { brier, log_loss, auc, conf_ece },
            } = demands;
            self.check(
                &accept.span(),
                &[
                    ("sensitivity", sensitivity, is_share, SHARE),
                    ("specificity", specificity, is_share, SHARE),
                    ("brier", brier, is_margin, MARGIN),
                    ("log_loss", log_loss, is_margin, MARGIN),
                    ("auc", auc, is_margin, MARGIN),
                    ("conf_ece", conf_ece, is_margin, MARGIN),
                ],
            )
        })
    }

    fn check(&self, section: &Range<usize>, limits: &[Limit]) -> Result<(), FileError> {
        for &(key, value, is_fine, expected) in limits {
            if let Some(value) = value.filter(|&value| !is_fine(value)) {
                return Err(
                    self.error(self.key_in(section, key), ProtocolError::Number { key, value, expected })
                );
            }
        }
        Ok(())
    }

    /// Where a key is first written in a section, or the section.
    fn key_in(&self, section: &Range<usize>, key: &str) -> Range<usize> {
        let text = self.0.text.get(section.clone()).unwrap_or_default();
        let is_key = |(at, _): &(usize, &str)| {
            let (before, after) = (&text[..*at], text[at + key.len()..].trim_start());
            after.starts_with('=') && !before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
        };
        match text.match_indices(key).find(is_key) {
            Some((at, _)) => section.start + at..section.end,
            None => section.clone(),
        }
    }

    fn signers(&self, sign: &Sign) -> Result<Signers, FileError> {
        let mut keys: Vec<PublicKey> = Vec::new();
        for text in &sign.keys {
            let refused = |cause| self.error(text.span(), cause);
            let key = text.get_ref().parse().map_err(|_| refused(ProtocolError::Key))?;
            if keys.contains(&key) {
                return Err(refused(ProtocolError::KeyTwice));
            }
            keys.push(key);
        }
        let needed = *sign.needed.get_ref();
        match usize::try_from(needed) {
            Ok(needed @ 1..=2) if needed <= keys.len() => Ok(Signers { keys, needed }),
            _ => Err(self.error(sign.needed.span(), ProtocolError::Needed { needed, keys: keys.len() })),
        }
    }

    fn error(&self, span: Range<usize>, problem: ProtocolError) -> FileError {
        self.0.error(span, Problem::Protocol(problem))
    }
}

const SHARE: &str = "a number between 0 and 1";
const MARGIN: &str = "a number from 0 on";

fn is_share(number: f64) -> bool {
    number > 0.0 && number < 1.0
}

fn is_margin(number: f64) -> bool {
    number >= 0.0 && number.is_finite()
}

fn is_nothing(demands: Demands) -> bool {
    demands == Demands::default()
}
