//! Every figure of a report, each with where it comes from.

use calib_fit::artifact::StoredArtifact;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::figure::{Figure, FigureInterval};
use super::lie::Lie;
use super::page::PageFigures;
use crate::report::{REPORT_KEYS, Report};

/// The version of the form.
const FORM: u32 = 1;

/// Parts of a report that are no figures: the version of its form, and the tables behind the plots.
const NO_FIGURES: [&str; 2] = ["schema", "plots"];

/// The points of curves in a clinical validation: many of them are scores of rows, and no row is in a bundle.
const POINTS: [&str; 2] = ["curve", "band"];

/// The sentences of a report that a page has to state, by their place.
const SENTENCES: [&str; 5] = ["verdict.sentences", "guarantee", "assumptions", "limits", "warnings"];

/// All that a bundle claims.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// The version of this form.
    pub calib_claims: u32,
    /// The version of calib that made the claims.
    pub calib: String,
    /// When, if that was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// What they are about.
    pub artifact: ArtifactClaim,
    /// The files of rows, and other inputs that no bundle holds.
    pub data: Vec<DataClaim>,
    /// The hash of the last line of the log of decisions, if the bundle has a log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_head: Option<String>,
    /// The command that computes all figures again, with `artifact.cal` and the files of `data` in the folder.
    pub command: Vec<String>,
    /// What the report states in sentences.
    pub sentences: Vec<Stated>,
    /// The figures.
    pub claims: Vec<Claim>,
}

/// The artifact that claims are about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArtifactClaim {
    /// Its identity.
    pub identity: String,
    /// Its rollback counter.
    pub counter: u32,
    /// The name of the key that signed it.
    pub key: String,
    /// The SHA-256 of its bytes.
    pub sha256: String,
}

/// A file that figures come from, without what it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataClaim {
    /// The option of the command that names it.
    pub option: String,
    /// What it is.
    pub role: String,
    /// Its name, without a folder.
    pub file: String,
    /// The SHA-256 of its bytes.
    pub sha256: String,
    /// The number of rows, if it holds rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
}

/// A sentence of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stated {
    /// Its name, unique among the claims.
    pub id: String,
    /// The sentence.
    pub text: String,
    /// Where the JSON form of the report has it: a JSON pointer.
    pub source: String,
}

/// A figure of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its name, unique among the claims.
    pub id: String,
    /// What it is, in words.
    pub name: String,
    /// The group or class that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slice: Option<String>,
    /// The figure.
    pub value: Figure,
    /// Its interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<FigureInterval>,
    /// Its unit: `1` of what has none.
    pub unit: String,
    /// Where the answer of the command has it: a JSON pointer.
    pub source: String,
    /// Whether a cell of the page shows it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub shown: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_false(shown: &bool) -> bool {
    !shown
}

/// What claims come from, besides the report.
#[derive(Clone, Default)]
pub(super) struct Origins {
    pub(super) data: Vec<DataClaim>,
    pub(super) command: Vec<String>,
    pub(super) created: Option<String>,
    pub(super) log_head: Option<String>,
}

impl ArtifactClaim {
    /// What is to be claimed of an artifact.
    pub(super) fn of(stored: &StoredArtifact) -> Self {
        let artifact = stored.artifact();
        Self {
            identity: artifact.identity().to_string(),
            counter: artifact.counter(),
            key: artifact.signature().map(|signature| signature.key.to_string()).unwrap_or_default(),
            sha256: hex::encode(Sha256::digest(stored.as_bytes())),
        }
    }
}

impl Claims {
    /// The figures and sentences of a report, and of its page which of them it shows.
    pub(super) fn new(
        stored: &StoredArtifact,
        report: &Report,
        page: &str,
        of: Origins,
    ) -> serde_json::Result<Self> {
        let json = report.to_json()?;
        let mut found = Found { report: &json, shown: PageFigures::of(page), claims: Vec::new() };
        for (key, value) in json.as_object().into_iter().flatten() {
            if !NO_FIGURES.contains(&key.as_str()) {
                found.add(std::slice::from_ref(key), value, None);
            }
        }
        Ok(Self {
            calib_claims: FORM,
            calib: report.version.clone(),
            created: of.created,
            artifact: ArtifactClaim::of(stored),
            data: of.data,
            log_head: of.log_head,
            command: of.command,
            claims: found.claims,
            sentences: sentences(&json),
        })
    }

    /// Reads claims in their form.
    ///
    /// # Errors
    ///
    /// [`Lie::Claims`].
    pub fn from_json(json: &[u8]) -> Result<Self, Lie> {
        let claims: Self = serde_json::from_slice(json).map_err(|cause| Lie::Claims(cause.to_string()))?;
        if claims.calib_claims != FORM {
            return Err(Lie::Claims(format!("the form is {}, and {FORM} is known", claims.calib_claims)));
        }
        let mut ids: Vec<&str> = claims.claims.iter().map(|claim| claim.id.as_str()).collect();
        ids.sort_unstable();
        match ids.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(Lie::Claims(format!("{} is claimed twice", pair[0]))),
            None => Ok(claims),
        }
    }

    /// The JSON form: a line a claim.
    pub(super) fn to_json(&self) -> serde_json::Result<String> {
        let mut head =
            serde_json::to_value(Self { claims: Vec::new(), sentences: Vec::new(), ..self.clone() })?;
        let head = head.as_object_mut().map(std::mem::take).unwrap_or_default();
        let mut text = String::from("{\n");
        for (key, value) in head.iter().filter(|(key, _)| !["claims", "sentences"].contains(&key.as_str())) {
            text += &format!("  {}: {},\n", Value::from(key.as_str()), serde_json::to_string(value)?);
        }
        let lines = |lines: Vec<String>| lines.join(",\n    ");
        let sentences =
            self.sentences.iter().map(serde_json::to_string).collect::<serde_json::Result<_>>()?;
        let claims = self.claims.iter().map(serde_json::to_string).collect::<serde_json::Result<_>>()?;
        text += &format!("  \"sentences\": [\n    {}\n  ],\n", lines(sentences));
        text += &format!("  \"claims\": [\n    {}\n  ]\n}}\n", lines(claims));
        Ok(text)
    }

    /// The claim of this name.
    pub fn get(&self, id: &str) -> Option<&Claim> {
        self.claims.iter().find(|claim| claim.id == id)
    }
}

/// The sentences of a report, each with its place.
pub(super) fn sentences(report: &Value) -> Vec<Stated> {
    let stated = |key: &str| {
        let source = format!("/{}", key.replace('.', "/"));
        let one = |id: String, source: String, text: &Value| {
            text.as_str().map(|text| Stated { id, text: text.into(), source })
        };
        match report.pointer(&source) {
            Some(Value::Array(list)) => (0..)
                .zip(list)
                .filter_map(|(at, text): (usize, _)| {
                    one(format!("{key}.{at}"), format!("{source}/{at}"), text)
                })
                .collect::<Vec<_>>(),
            Some(text) => one(key.to_owned(), source, text).into_iter().collect(),
            None => Vec::new(),
        }
    };
    SENTENCES.into_iter().flat_map(stated).collect()
}

/// Claims as they are found in a report.
struct Found<'a> {
    report: &'a Value,
    shown: PageFigures,
    claims: Vec<Claim>,
}

impl Found<'_> {
    fn add(&mut self, path: &[String], value: &Value, interval: Option<&Value>) {
        match value {
            Value::Object(fields) => {
                let is_claim = |(key, value): &(&String, &Value)| {
                    !POINTS.contains(&key.as_str()) && !is_interval_of_another(fields, key, value)
                };
                for (key, value) in fields.iter().filter(is_claim) {
                    let path = [path, std::slice::from_ref(key)].concat();
                    self.add(&path, value, interval_of(fields, key));
                }
            }
            Value::Array(list) => {
                for (at, value) in list.iter().enumerate() {
                    self.add(&[path, &[at.to_string()]].concat(), value, None);
                }
            }
            _ => self.claims.extend(Figure::of(value).map(|figure| self.claim(path, figure, interval))),
        }
    }

    fn claim(&self, path: &[String], value: Figure, interval: Option<&Value>) -> Claim {
        let named = path.strip_suffix(&["value".to_owned()]).unwrap_or(path);
        let id = named.join(".");
        let end = |end: &str| interval.and_then(|interval| Figure::of(&interval[end]));
        Claim {
            name: name(named),
            slice: self.slice(path),
            unit: unit(named, &value).into(),
            value,
            interval: end("lo").zip(end("hi")).map(|(lo, hi)| FigureInterval { lo, hi }),
            source: format!("/{}", path.join("/")),
            shown: self.shown.has(&id),
            id,
        }
    }

    /// The group that a figure of a group is about.
    fn slice(&self, path: &[String]) -> Option<String> {
        let ["groups", "groups", at, ..] = path.iter().map(String::as_str).collect::<Vec<_>>()[..] else {
            return None;
        };
        Some(self.report["groups"]["groups"][at.parse::<usize>().ok()?]["group"].as_str()?.to_owned())
    }
}

/// The interval of a figure among the fields beside it.
fn interval_of<'f>(fields: &'f Map<String, Value>, key: &str) -> Option<&'f Value> {
    let own = fields.get(&format!("{key}_interval"));
    let of_all =
        || ["value", "rate", "difference", "net_benefit"].contains(&key).then(|| fields.get("interval"));
    own.or_else(|| of_all().flatten()).filter(|interval| Figure::of(&interval["lo"]).is_some())
}

/// Whether a field is the interval of a figure beside it.
fn is_interval_of_another(fields: &Map<String, Value>, key: &str, interval: &Value) -> bool {
    let is_of = |(name, value): (&String, &Value)| {
        Figure::of(value).is_some()
            && interval_of(fields, name).is_some_and(|found| std::ptr::eq(found, interval))
    };
    key.ends_with("interval") && fields.iter().any(is_of)
}

/// What a figure is: the sentence that documents the name, of a list without the number of the entry.
fn name(path: &[String]) -> String {
    let path: Vec<&str> = path.iter().map(String::as_str).filter(|key| key.parse::<u32>().is_err()).collect();
    let meaning = |key: &str| {
        let line = REPORT_KEYS.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
        line.map(str::to_owned)
    };
    let whole = path.join(".");
    meaning(&whole).unwrap_or_else(|| {
        let of = (1..path.len()).rev().find_map(|end| {
            let all = meaning(&format!("{}.*", path[..end].join(".")))?;
            Some(format!("{}: {all}", path[end..].join(" ").replace('_', " ")))
        });
        of.unwrap_or(whole)
    })
}

/// The unit of a figure, by its name.
fn unit(path: &[String], value: &Figure) -> &'static str {
    let last = path.last().map_or("", String::as_str);
    let is_one_of = |names: &[&str]| path.iter().any(|key| names.contains(&key.as_str()));
    match last {
        "len_bytes" => "bytes",
        "instructions" => "instructions",
        "seed" | "bin" | "class" => "1",
        _ if is_one_of(&["cost"]) && last != "n" => "cost",
        _ if is_one_of(&["log_loss"]) => "nats",
        _ if value.is_whole() => "count",
        _ => "1",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_interval_goes_with_its_figure_and_is_no_claim_of_its_own() {
        let report = json!({"metrics": {"after": {
            "conf_ece": {"value": 0.5, "interval": {"lo": 0.25, "hi": 0.75}, "debiased": 0.125,
                "debiased_interval": {"lo": 0.0, "hi": 0.5}, "groups": 15},
            "c_emp": {"value": 0.5, "bound": {"lo": 0.25, "hi": 1.0}}, "auc": null}},
            "groups": {"groups": [{"group": "A", "n": 7}]}});
        let mut found = Found { report: &report, shown: PageFigures::of(""), claims: Vec::new() };
        found.add(&["metrics".into()], &report["metrics"], None);
        found.add(&["groups".into()], &report["groups"], None);
        let shown = |claim: &Claim| {
            let interval =
                claim.interval.as_ref().map(|interval| format!(" [{}, {}]", interval.lo, interval.hi));
            format!("{} {}{} {}", claim.id, claim.value, interval.unwrap_or_default(), claim.unit)
        };
        assert_eq!(
            found.claims.iter().map(shown).collect::<Vec<_>>(),
            [
                "metrics.after.conf_ece 0.5 [0.25, 0.75] 1",
                "metrics.after.conf_ece.debiased 0.125 [0.0, 0.5] 1",
                "metrics.after.conf_ece.groups 15 count",
                "metrics.after.c_emp 0.5 1",
                "metrics.after.c_emp.bound.lo 0.25 1",
                "metrics.after.c_emp.bound.hi 1.0 1",
                "groups.groups.0.n 7 count",
            ]
        );
        assert_eq!(found.claims[0].source, "/metrics/after/conf_ece/value");
        assert_eq!(found.claims[1].name, "conf ece debiased: of the calibrated probabilities");
        assert_eq!(found.claims[6].slice.as_deref(), Some("A"));
    }
}
