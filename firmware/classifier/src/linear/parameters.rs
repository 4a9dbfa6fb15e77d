//! What stands in a classifier's file.

use calib_core::{AlarmRule, ClassifierId};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A linear classifier with its alarm rule, not yet checked: what stands in the file.
///
/// ```json
/// {"name": "fever", "id": "00112233aabbccdd", "mean": [37.0, 80.0], "scale": [0.5, 12.0],
///  "weights": [[1.5, 0.25]], "bias": [-1.0], "alarm": {"at_least": 0.5}}
/// ```
///
/// One row of weights makes a binary classifier, more a multi-class one. `alarm` is `at_least` or `below`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearParameters {
    /// A name for people, 1 to 32 bytes.
    pub name: String,
    /// The identity, 16 hexadecimal digits in the file.
    #[serde(serialize_with = "write_id", deserialize_with = "read_id")]
    pub id: ClassifierId,
    /// The mean of each feature.
    pub mean: Vec<f32>,
    /// The standard deviation of each feature, above 0.
    pub scale: Vec<f32>,
    /// A row per output, a weight per standardized feature.
    pub weights: Vec<Vec<f32>>,
    /// A number per output.
    pub bias: Vec<f32>,
    /// When the alarm is raised, at a probability in `[0, 1]`.
    #[serde(with = "Rule")]
    pub alarm: AlarmRule,
}

/// How an [`AlarmRule`] is written.
#[derive(Serialize, Deserialize)]
#[serde(remote = "AlarmRule", rename_all = "snake_case")]
enum Rule {
    AtLeast(f32),
    Below(f32),
}

fn write_id<S: Serializer>(id: &ClassifierId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
}

fn read_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ClassifierId, D::Error> {
    let text = String::deserialize(deserializer)?;
    let digits = text.len() == 16 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    match u64::from_str_radix(&text, 16) {
        Ok(id) if digits => Ok(ClassifierId(id.to_be_bytes())),
        _ => Err(de::Error::custom(format_args!("the id is 16 hexadecimal digits, not \"{text}\""))),
    }
}
