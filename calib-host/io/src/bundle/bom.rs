//! The bill of materials: CycloneDX 1.6, with the figures as a model card.

use serde_json::{Map, Value, json};

use super::about::About;
use super::claims::{Claim, Claims, DataClaim};
use super::lie::Lie;

/// A package that a program links in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkedPackage<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its version.
    pub version: &'a str,
    /// Its license, as an SPDX expression.
    pub license: &'a str,
}

impl<'a> LinkedPackage<'a> {
    /// The packages in a list: a line a package, with bars between name, version and license.
    pub fn list(lines: &'a str) -> Vec<Self> {
        let of = |line: &'a str| {
            let (name, rest) = line.split_once('|')?;
            let (version, license) = rest.split_once('|')?;
            Some(Self { name, version, license })
        };
        lines.lines().filter_map(of).collect()
    }

    fn reference(&self) -> String {
        // In such an address, a plus stands for a space.
        format!("pkg:cargo/{}@{}", self.name, self.version.replace('+', "%2B"))
    }

    fn component(&self) -> Value {
        let mut component = json!({
            "type": "library",
            "bom-ref": self.reference(),
            "name": self.name,
            "version": self.version,
            "purl": self.reference(),
        });
        if !self.license.is_empty() {
            // Older packages have a slash for `OR`.
            let expression = self.license.replace('/', " OR ");
            component["licenses"] = json!([{ "expression": expression }]);
        }
        component
    }
}

/// The package that lists the others.
const COMMAND: &str = "calib-cli";
/// The name of the program among the components.
const CALIB: &str = "calib";
const CALIBRATOR: &str = "calibrator";
const MODEL: &str = "model";

/// The bill of materials of a bundle.
pub(super) fn bom(claims: &Claims, about: &About, packages: &[LinkedPackage<'_>]) -> Value {
    let (own, linked): (Vec<_>, Vec<_>) = packages.iter().partition(|package| package.name == COMMAND);
    let references = |packages: &[&LinkedPackage<'_>]| -> Vec<String> {
        packages.iter().map(|package| package.reference()).collect()
    };
    let command = references(&own);
    let data = claims.data.iter().map(data_reference);
    let inputs: Vec<String> =
        std::iter::once(MODEL.to_owned()).chain(data).chain([CALIB.to_owned()]).collect();
    let program =
        [json!({"ref": CALIBRATOR, "dependsOn": inputs}), json!({"ref": CALIB, "dependsOn": command})];
    let of_command = command.iter().map(|command| json!({"ref": command, "dependsOn": references(&linked)}));
    let dependencies: Vec<Value> = program.into_iter().chain(of_command).collect();
    let components = std::iter::once(model(about))
        .chain(claims.data.iter().map(dataset))
        .chain([json!({"type": "application", "bom-ref": CALIB, "name": CALIB, "version": claims.calib})])
        .chain(packages.iter().map(LinkedPackage::component));
    let mut metadata = Map::new();
    if let Some(created) = &claims.created {
        metadata.insert("timestamp".into(), created.as_str().into());
    }
    metadata.insert("component".into(), calibrator(claims, about));
    json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": metadata,
        "components": components.collect::<Vec<_>>(),
        "dependencies": dependencies,
        // What a program adds to the command, such as an interface to Python, the command does not know.
        "compositions": [
            {"aggregate": "complete", "dependencies": command},
            {"aggregate": "unknown", "dependencies": [CALIB]},
        ],
    })
}

fn hashes(sha256: &str) -> Value {
    json!([{"alg": "SHA-256", "content": sha256}])
}

fn calibrator(claims: &Claims, about: &About) -> Value {
    let stated = |key: &str| {
        let is_of = |id: &str| id == key || id.strip_prefix(key).is_some_and(|rest| rest.starts_with('.'));
        let found = claims.sentences.iter().filter(move |stated| is_of(&stated.id));
        found.map(|stated| stated.text.as_str()).collect::<Vec<_>>()
    };
    let property = |name: &str, value: &str| json!({"name": format!("calib:{name}"), "value": value});
    let properties = [
        ("guarantee", "guarantee"),
        ("assumption", "assumptions"),
        ("limit", "limits"),
        ("warning", "warnings"),
    ];
    let properties = properties
        .iter()
        .flat_map(|(name, key)| stated(key).into_iter().map(|text| property(name, text)).collect::<Vec<_>>());
    let misuses = about.misuses.iter().map(|text| property("misuse", text));
    let artifact = &claims.artifact;
    let counter = artifact.counter.to_string();
    let identity = [("identity", &artifact.identity), ("key", &artifact.key), ("counter", &counter)];
    let identity = identity.map(|(name, value)| property(name, value));
    let limits: Vec<&str> =
        stated("limits").into_iter().chain(about.limits.iter().map(String::as_str)).collect();
    let mut considerations = Map::new();
    for (key, list) in [("users", &about.users), ("useCases", &about.uses)] {
        if !list.is_empty() {
            considerations.insert(key.into(), json!(list));
        }
    }
    considerations.insert("technicalLimitations".into(), json!(limits));
    let datasets: Vec<Value> = claims.data.iter().map(|data| json!({"ref": data_reference(data)})).collect();
    json!({
        "type": "machine-learning-model",
        "bom-ref": CALIBRATOR,
        "name": format!("calibrator {}", artifact.identity),
        "version": artifact.counter.to_string(),
        "hashes": hashes(&artifact.sha256),
        "modelCard": {
            "modelParameters": {
                "approach": {"type": "supervised"},
                "task": "calibration of classifier scores",
                "datasets": datasets,
            },
            "quantitativeAnalysis": {
                "performanceMetrics": claims.claims.iter().filter(|claim| claim.shown).map(metric).collect::<Vec<_>>(),
            },
            "considerations": considerations,
        },
        "properties": identity.into_iter().chain(properties).chain(misuses).collect::<Vec<_>>(),
    })
}

/// A figure that the page shows, with its interval, and the group that it is about.
fn metric(claim: &Claim) -> Value {
    let mut metric = json!({"type": claim.id, "value": claim.value.to_string()});
    if let Some(group) = &claim.slice {
        metric["slice"] = group.as_str().into();
    }
    if let Some(interval) = &claim.interval {
        metric["confidenceInterval"] =
            json!({"lowerBound": interval.lo.to_string(), "upperBound": interval.hi.to_string()});
    }
    metric
}

fn model(about: &About) -> Value {
    let about = &about.model;
    let mut model = json!({
        "type": "machine-learning-model",
        "bom-ref": MODEL,
        "name": about.name.as_deref().unwrap_or("not stated by the owner"),
    });
    for (key, value) in [("version", &about.version), ("description", &about.description)] {
        if let Some(value) = value {
            model[key] = value.as_str().into();
        }
    }
    if let Some(sha256) = &about.sha256 {
        model["hashes"] = hashes(&sha256.to_lowercase());
    }
    if let Some(architecture) = &about.architecture {
        model["modelCard"] = json!({"modelParameters": {"modelArchitecture": architecture}});
    }
    model
}

fn data_reference(data: &DataClaim) -> String {
    format!("data:{}", data.option)
}

fn dataset(data: &DataClaim) -> Value {
    let rows =
        data.rows.map(|rows| json!({"properties": [{"name": "calib:rows", "value": rows.to_string()}]}));
    let mut dataset = json!({"type": "dataset", "name": data.file});
    if let Some(rows) = rows {
        dataset["contents"] = rows;
    }
    json!({
        "type": "data",
        "bom-ref": data_reference(data),
        "name": data.file,
        "description": format!("{}: the hash and the number of rows, and no row", data.role),
        "hashes": hashes(&data.sha256),
        "data": [dataset],
    })
}

/// Finds a part of a bill of materials that does not follow from the claims. The packages are those of whatever made it.
pub(super) fn check_bom(found: &[u8], claims: &Claims, about: &About) -> Result<usize, Lie> {
    let wrong = |cause: &dyn std::fmt::Display| Lie::Bom(cause.to_string());
    let found: Value = serde_json::from_slice(found).map_err(|cause| wrong(&cause))?;
    let components = found["components"].as_array().ok_or_else(|| wrong(&"there are no components"))?;
    let field = |component: &'_ Value, key: &str| component[key].as_str().unwrap_or_default().to_owned();
    let libraries = components.iter().filter(|component| component["type"] == "library");
    let owned: Vec<[String; 3]> = libraries
        .map(|component| {
            let license = component["licenses"][0]["expression"].as_str().unwrap_or_default().to_owned();
            [field(component, "name"), field(component, "version"), license]
        })
        .collect();
    let packages: Vec<LinkedPackage<'_>> =
        owned.iter().map(|[name, version, license]| LinkedPackage { name, version, license }).collect();
    match first_difference(&bom(claims, about, &packages), &found, "") {
        Some(place) => Err(Lie::OtherBom(place)),
        None => Ok(components.len()),
    }
}

/// The first place, as a JSON pointer, at which two values differ.
fn first_difference(a: &Value, b: &Value, place: &str) -> Option<String> {
    match (a, b) {
        (Value::Object(one), Value::Object(other)) if one.len() == other.len() => {
            one.iter().find_map(|(key, value)| {
                let place = format!("{place}/{key}");
                other.get(key).map_or(Some(place.clone()), |other| first_difference(value, other, &place))
            })
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => one
            .iter()
            .zip(other)
            .enumerate()
            .find_map(|(at, (one, other))| first_difference(one, other, &format!("{place}/{at}"))),
        _ => (a != b).then(|| if place.is_empty() { "/".into() } else { place.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_found_where_it_is() {
        let one = json!({"a": [1, {"b": 2}], "c": null});
        for (other, place) in [
            (one.clone(), None),
            (json!({"a": [1, {"b": 3}], "c": null}), Some("/a/1/b")),
            (json!({"a": [1], "c": null}), Some("/a")),
            (json!({"a": [1, {"b": 2}], "d": null}), Some("/c")),
            (json!({"a": [1, {"b": 2}]}), Some("/")),
        ] {
            assert_eq!(first_difference(&one, &other, "").as_deref(), place);
        }
    }

    #[test]
    fn a_list_of_packages_is_read_by_lines() {
        let found = LinkedPackage::list("csv|1.4.0|Unlicense/MIT\nx|2.0.0|\n");
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].component()["licenses"][0]["expression"], "Unlicense OR MIT");
        assert!(found[1].component().get("licenses").is_none());
    }
}
