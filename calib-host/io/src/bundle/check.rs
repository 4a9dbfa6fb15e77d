//! What is true of a bundle, and the first thing that is not.

use std::collections::BTreeMap;

use calib_fit::artifact::{StoredArtifact, guarantee_text};
use serde::Serialize;

use super::about::About;
use super::bom::check_bom;
use super::changes::{Changes, check_changes};
use super::checklist::{check_answers, checklist};
use super::claims::{ArtifactClaim, Claim, Claims, Origins};
use super::content::{Bundle, BundleFile};
use super::lie::Lie;
use super::shown::check_page;
use super::statement;
use crate::files::{PublicKey, artifact_of_bytes};
use crate::report::{CalibratorSummary, Report};

/// Something that was checked, or could not be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// What.
    pub what: &'static str,
    /// Whether it was checked; if not, `found` states why.
    pub is_checked: bool,
    /// What was found.
    pub found: String,
}

/// A bundle in which no lie was found so far.
pub struct Checked {
    /// What it claims.
    pub claims: Claims,
    /// Its artifact.
    pub artifact: StoredArtifact,
    page: String,
}

/// What is kept of the steps: all that came before a lie.
type Steps<'s> = &'s mut Vec<Step>;

fn done(steps: Steps<'_>, what: &'static str, found: impl Into<String>) {
    steps.push(Step { what, found: found.into(), is_checked: true });
}

fn open(steps: Steps<'_>, what: &'static str, why: impl Into<String>) {
    steps.push(Step { what, found: why.into(), is_checked: false });
}

/// Checks all of a bundle that can be checked without the rows. Without the owner's key from elsewhere, it trusts the key in the
/// bundle, and says so. `steps` receives what was checked.
///
/// # Errors
///
/// The first lie.
pub fn check(bundle: &Bundle, key: Option<&PublicKey>, steps: &mut Vec<Step>) -> Result<Checked, Lie> {
    let needed = BundleFile::NAMES.map(|(file, _)| file).into_iter().filter(|file| !file.is_optional());
    let bytes = |file: BundleFile| bundle.get(file).ok_or(Lie::MissingFile(file));
    for file in needed {
        bytes(file)?;
    }
    done(steps, "files", format!("{} files, all of a bundle", bundle.files().count()));
    let key = check_key(bytes(BundleFile::Key)?, key, steps)?;
    let predicate = statement::check(bundle, &key)?;
    done(steps, "statement", format!("signed with the key {}, and every file has its SHA-256", key.id()));
    let claims = Claims::from_json(bytes(BundleFile::Claims)?)?;
    done(steps, "claims", format!("{} figures in their form", claims.claims.len()));
    if predicate
        != (statement::Predicate { calib: claims.calib.clone(), artifact: claims.artifact.identity.clone() })
    {
        return Err(Lie::Statement("it is about other claims than claims.json".into()));
    }
    let artifact = check_artifact(bytes(BundleFile::Artifact)?, &key, &claims)?;
    done(steps, "artifact", format!("{}, signed; what is claimed of it is so", claims.artifact.identity));
    let page = text(bytes(BundleFile::Report)?, |cause| Lie::Claims(format!("report.html: {cause}")))?;
    let shown = check_page(&page, &claims)?;
    done(steps, "report", format!("{shown} cells and {} sentences are as claimed", claims.sentences.len()));
    match check_changes(bundle, &artifact, claims.log_head.as_deref())? {
        Changes::Kept(decisions) => {
            done(
                steps,
                "changes",
                format!("{decisions} decisions keep the protocol; it signed this artifact"),
            );
        }
        Changes::Unknown(why) => open(steps, "changes", why),
    }
    let about = bundle.get(BundleFile::About).map(About::from_toml).transpose()?.unwrap_or_default();
    check_answers(&about)?;
    let components = check_bom(bytes(BundleFile::Bom)?, &claims, &about)?;
    done(
        steps,
        "materials",
        format!("{components} components; the model card has the figures of the claims"),
    );
    if claims.calib == env!("CARGO_PKG_VERSION") {
        let expected = checklist(bundle, &page, &claims, &about).map_err(|_| Lie::OtherChecklist)?;
        if bytes(BundleFile::Checklist)? != expected.as_bytes() {
            return Err(Lie::OtherChecklist);
        }
        done(steps, "checklist", "its links and answers are those of this report");
    } else {
        open(steps, "checklist", format!("made by calib {}", claims.calib));
    }
    Ok(Checked { claims, artifact, page })
}

fn text(bytes: &[u8], wrong: impl Fn(String) -> Lie) -> Result<String, Lie> {
    String::from_utf8(bytes.to_vec()).map_err(|cause| wrong(cause.to_string()))
}

fn check_key(pem: &[u8], expected: Option<&PublicKey>, steps: Steps<'_>) -> Result<PublicKey, Lie> {
    let no_key = || Lie::Signature("of owner.pub, which is no public Ed25519 key".into());
    let found = std::str::from_utf8(pem).ok().and_then(PublicKey::from_pem).ok_or_else(no_key)?;
    match expected {
        Some(expected) if expected.to_bytes() != found.to_bytes() => {
            Err(Lie::OtherKey { expected: expected.id().to_string(), found: found.id().to_string() })
        }
        Some(_) => {
            done(steps, "owner", format!("{}, the key that was given", found.id()));
            Ok(found)
        }
        None => {
            open(
                steps,
                "owner",
                format!("{}: whose key this is, only a key from elsewhere can show", found.id()),
            );
            Ok(found)
        }
    }
}

/// Finds what the claims say of the artifact and is not so.
fn check_artifact(bytes: &[u8], key: &PublicKey, claims: &Claims) -> Result<StoredArtifact, Lie> {
    let stored = artifact_of_bytes(bytes).map_err(|problem| Lie::Artifact(problem.to_string()))?;
    key.verify(&stored).map_err(|cause| Lie::ArtifactSignature(cause.to_string()))?;
    let differs = |what: &str, claimed: &str, found: &str| match claimed == found {
        true => Ok(()),
        false => Err(Lie::OtherArtifact { what: what.into(), claimed: claimed.into(), found: found.into() }),
    };
    let (claimed, found) = (&claims.artifact, ArtifactClaim::of(&stored));
    differs("identity", &claimed.identity, &found.identity)?;
    differs("sha256", &claimed.sha256, &found.sha256)?;
    differs("counter", &claimed.counter.to_string(), &found.counter.to_string())?;
    differs("key", &claimed.key, &found.key)?;
    // The facts of the artifact are computed again.
    let artifact = stored.artifact();
    let summary = CalibratorSummary::of(&artifact);
    for (id, figure) in [("calibrator.n", summary.n), ("calibrator.len_bytes", summary.len_bytes as u64)] {
        let claim = claims.get(id).ok_or_else(|| Lie::UnclaimedFigure(id.into()))?;
        differs(id, &claim.value.to_string(), &figure.to_string())?;
    }
    let guarantee = guarantee_text(&stored);
    let stated =
        |id: &str| claims.sentences.iter().find(|stated| stated.id == id).map_or("", |stated| &stated.text);
    let lists = [("assumptions", guarantee.full_assumptions()), ("limits", guarantee.full_limits())];
    let of_lists = lists.iter().flat_map(|(key, list)| {
        list.iter().enumerate().map(move |(at, text)| (format!("{key}.{at}"), text.to_string()))
    });
    let own = std::iter::once(("guarantee".to_owned(), Report::guarantee_of(&stored)));
    for (id, text) in own.chain(of_lists) {
        differs(&id, stated(&id), &text)?;
    }
    Ok(stored)
}

impl Checked {
    /// Compares every figure and the page with a report that was made of the rows again.
    ///
    /// # Errors
    ///
    /// The first figure that is another one.
    pub fn compare(&self, report: &Report, rows: [u64; 2], steps: &mut Vec<Step>) -> Result<(), Lie> {
        self.check_rows(rows)?;
        let no_report = |cause: &dyn std::fmt::Display| Lie::NoReport(cause.to_string());
        let page = report.html().map_err(|cause| no_report(&cause))?;
        let found = Claims::new(&self.artifact, report, &page, Origins::default())
            .map_err(|cause| no_report(&cause))?;
        let is_same_version = found.calib == self.claims.calib;
        let by_id = |claims: &'_ Claims| -> BTreeMap<String, Claim> {
            claims.claims.iter().map(|claim| (claim.id.clone(), claim.clone())).collect()
        };
        let (all_claimed, all_found) = (by_id(&self.claims), by_id(&found));
        for claim in &found.claims {
            let claimed = all_claimed.get(&claim.id).ok_or_else(|| Lie::UnclaimedFigure(claim.id.clone()))?;
            let is_same = if is_same_version { claimed == claim } else { is_near(claimed, claim) };
            if !is_same {
                return Err(Lie::OtherFigure {
                    claim: claim.id.clone(),
                    claimed: in_words(claimed),
                    found: in_words(claim),
                });
            }
        }
        if let Some(claim) = self.claims.claims.iter().find(|claim| !all_found.contains_key(&claim.id)) {
            return Err(Lie::InventedFigure(claim.id.clone()));
        }
        if is_same_version {
            let pairs = self.claims.sentences.iter().zip(&found.sentences);
            let other = pairs.into_iter().find(|(claimed, found)| claimed != found);
            if let Some((claimed, _)) = other {
                return Err(Lie::InventedFigure(claimed.id.clone()));
            }
            if page != self.page {
                return Err(Lie::OtherReport);
            }
            done(
                steps,
                "rows",
                format!("all {} figures and the report follow from the rows", found.claims.len()),
            );
        } else {
            let why = format!("all {} figures follow from the rows", found.claims.len());
            done(steps, "rows", why);
            open(
                steps,
                "page",
                format!("the report was made by calib {}, and this is {}", self.claims.calib, found.calib),
            );
        }
        Ok(())
    }

    /// Compares the numbers of calibration and test rows.
    fn check_rows(&self, [calibration, test]: [u64; 2]) -> Result<(), Lie> {
        for data in &self.claims.data {
            let found = if data.option.starts_with("test") { test } else { calibration };
            if let Some(claimed) = data.rows.filter(|&claimed| claimed != found) {
                return Err(Lie::RowCount { file: data.file.clone(), claimed, found });
            }
        }
        Ok(())
    }

    /// States that there were no rows to compare with.
    pub fn without_rows(&self, steps: &mut Vec<Step>) {
        let files: Vec<&str> = self.claims.data.iter().map(|data| data.file.as_str()).collect();
        open(steps, "rows", format!("not given: {}", files.join(", ")));
    }
}

/// Another version may round otherwise.
fn is_near(a: &Claim, b: &Claim) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * a.abs().max(1.0);
    let ends = |claim: &Claim| claim.interval.as_ref().map(|ends| [ends.lo.number(), ends.hi.number()]);
    let is_near = match (ends(a), ends(b)) {
        (Some(a), Some(b)) => near(a[0], b[0]) && near(a[1], b[1]),
        (a, b) => a.is_none() && b.is_none(),
    };
    is_near && near(a.value.number(), b.value.number())
}

/// A claim's figure, and all else that may differ.
fn in_words(claim: &Claim) -> String {
    let interval = claim.interval.as_ref().map(|ends| format!(" [{}, {}]", ends.lo, ends.hi));
    format!("{}{} ({}, {})", claim.value, interval.unwrap_or_default(), claim.unit, claim.name)
}
