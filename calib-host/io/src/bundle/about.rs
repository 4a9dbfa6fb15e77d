//! What the owner says of the model and its use, which no figure tells.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::lie::Lie;

/// What the owner states: TOML, in which every key may be left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct About {
    /// The model that the scores come from.
    pub model: AboutModel,
    /// Who uses the probabilities.
    pub users: Vec<String>,
    /// What for.
    pub uses: Vec<String>,
    /// What they must not be used for.
    pub misuses: Vec<String>,
    /// What limits their use besides the limits of the guarantee.
    pub limits: Vec<String>,
    /// Answers to items of the checklist, by `standard item`, such as `TRIPOD+AI 3a`.
    pub answers: BTreeMap<String, String>,
}

/// The model that the scores come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AboutModel {
    /// Its name.
    pub name: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// What it is: an architecture, or a family of models.
    pub architecture: Option<String>,
    /// The SHA-256 of its file, in hex.
    pub sha256: Option<String>,
}

impl About {
    /// Reads what the owner states.
    ///
    /// # Errors
    ///
    /// [`Lie::About`].
    pub fn from_toml(toml: &[u8]) -> Result<Self, Lie> {
        let wrong = |cause: String| Lie::About(cause.trim_end().to_owned());
        let text = std::str::from_utf8(toml).map_err(|cause| wrong(cause.to_string()))?;
        let about: Self = toml::from_str(text).map_err(|cause| wrong(cause.to_string()))?;
        let is_hash = |text: &String| hex::decode(text).is_ok_and(|bytes| bytes.len() == 32);
        match about.model.sha256.as_ref().is_none_or(is_hash) {
            true => Ok(about),
            false => Err(wrong("model.sha256 is no SHA-256 in hex".into())),
        }
    }
}
