//! The checklists of others, and what in a bundle answers their items.

use minijinja::{AutoEscape, Environment, Value, context};
use serde::Deserialize;

use super::about::About;
use super::claims::Claims;
use super::content::{Bundle, BundleFile};
use super::lie::Lie;
use crate::report::PageError;

/// The items: a line each.
const ITEMS: &str = include_str!("checklist.csv");

/// What is said of each standard before its items.
const STANDARDS: [(&str, &str); 4] = [
    ("TRIPOD+AI", "Reporting of studies that develop or evaluate a prediction model (BMJ 2024;385:e078378)."),
    (
        "PROBAST+AI",
        "Risk of bias of such studies (BMJ 2025;388:e082505): what its questions ask in each domain, without their numbers.",
    ),
    ("STARD 2015", "Reporting of studies of diagnostic accuracy, if there are thresholds."),
    (
        "ISO/TS 24971-2",
        "Hazards of machine learning that calibration touches, for a risk management file by ISO 14971; without clause numbers.",
    ),
];

/// What answers an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Answer {
    /// Parts of the report, if it has one of them.
    Figure,
    /// Files of the bundle, if one of them is there.
    Bundle,
    /// Only the owner knows.
    Owner,
    /// It does not apply, and why.
    None,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Item {
    standard: String,
    item: String,
    title: String,
    answer: Answer,
    #[serde(rename = "where")]
    place: String,
}

impl Item {
    /// What an answer calls it.
    fn name(&self) -> String {
        format!("{} {}", self.standard, self.item)
    }
}

fn items() -> Vec<Item> {
    let lines = csv::Reader::from_reader(ITEMS.as_bytes()).into_deserialize();
    lines.map(|line| line.expect("a test reads the list")).collect()
}

/// Finds an answer to an item that is in no checklist.
pub(super) fn check_answers(about: &About) -> Result<(), Lie> {
    let known: Vec<String> = items().iter().map(Item::name).collect();
    match about.answers.keys().find(|answered| !known.contains(answered)) {
        Some(answered) => Err(Lie::About(format!("no checklist has an item {answered:?}"))),
        None => Ok(()),
    }
}

/// The page of the checklists.
pub(super) fn checklist(
    bundle: &Bundle,
    page: &str,
    claims: &Claims,
    about: &About,
) -> Result<String, PageError> {
    let is_there = |link: &&str| match link.split_once('#') {
        Some((_, anchor)) => page.contains(&format!("id=\"{anchor}\"")),
        None => BundleFile::of(link).is_some_and(|file| is_part(bundle, file)),
    };
    let has_thresholds = ["thresholds", "operating"].iter().any(|id| page.contains(&format!("id=\"{id}\"")));
    let mut counts = [0; 4];
    let mut row = |item: &Item| {
        let links: Vec<&str> = match item.answer {
            Answer::Figure | Answer::Bundle => item.place.split(' ').filter(is_there).collect(),
            Answer::Owner | Answer::None => Vec::new(),
        };
        let stated = about.answers.get(&item.name());
        let (at, text) = match (item.answer, stated) {
            (Answer::None, _) => (3, format!("Not applicable: {}.", item.place)),
            _ if item.standard == "STARD 2015" && !has_thresholds => {
                (3, "Not applicable: there are no thresholds.".into())
            }
            (_, Some(stated)) => (1, format!("The owner: {stated}")),
            _ if links.is_empty() => (2, "To be answered by you.".into()),
            _ => (0, String::new()),
        };
        counts[at] += 1;
        let links = if at == 3 { Vec::new() } else { links };
        context! {item => item.item, title => item.title, text => text, links => links}
    };
    let items = items();
    let standard = |(name, note): (&str, &str)| {
        let own = items.iter().filter(|item| item.standard == name);
        context! {name => name, note => note, rows => own.map(&mut row).collect::<Vec<_>>()}
    };
    let standards: Vec<Value> = STANDARDS.into_iter().map(standard).collect();
    let [answered, owner, open, none] = counts;
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_template("checklist.html", include_str!("checklist.html"))?;
    Ok(environment.get_template("checklist.html")?.render(context! {
        identity => claims.artifact.identity,
        style => Value::from_safe_string(include_str!("../report/report.css").into()),
        standards => standards,
        counts => context! {all => items.len(), answered => answered, owner => owner, open => open, none => none},
    })?)
}

/// Whether a bundle has a file, or will have it when it is complete.
fn is_part(bundle: &Bundle, file: BundleFile) -> bool {
    !file.is_optional() || bundle.get(file).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_has_a_standard_and_what_answers_it() {
        let items = items();
        let count = |name: &str| items.iter().filter(|item| item.standard == name).count();
        // As published: 52 items and parts of TRIPOD+AI, 34 of STARD.
        assert_eq!(STANDARDS.map(|(name, _)| count(name)), [52, 23, 34, 14]);
        let names: std::collections::BTreeSet<String> = items.iter().map(Item::name).collect();
        assert_eq!(names.len(), items.len());
        for item in &items {
            let links = item.place.split(' ').filter(|link| !link.is_empty());
            match item.answer {
                Answer::Owner => assert_eq!(item.place, "", "{item:?}"),
                Answer::None => assert!(!item.place.is_empty(), "{item:?}"),
                Answer::Figure | Answer::Bundle => {
                    for link in links {
                        let file = link.split('#').next().and_then(BundleFile::of);
                        assert!(file.is_some(), "{item:?}");
                        assert_eq!(link.contains('#'), item.answer == Answer::Figure, "{item:?}");
                    }
                }
            }
        }
    }
}
