//! Columns that are not there, and those that may be meant.

use calib_io::files::{Location, quoted};
use calib_io::input::likely_column;

/// Which columns there are, and which of them it may be.
pub(super) fn missing_column(place: &Location, there: &[String]) -> String {
    let are_numbered =
        there.iter().zip(0..).all(|(name, number): (_, usize)| name.trim() == number.to_string());
    if there.len() > 1 && are_numbered {
        let last = there.len() - 1;
        // Of two the first one is taken for the scores, unless it cannot be.
        let [score, label] = if last == 1 { [1, 0] } else { [last - 1, last] };
        return format!(
            "the columns have no names, and are called 0 to {last}: choose with --score-column and --label-column, as in --score-column {score} \
             --label-column {label}; where numbers have decimal commas, separate the fields by ;"
        );
    }
    if let [name] = there
        && name.trim().contains([' ', ':', '~'])
    {
        let name = quoted(name);
        return format!(
            "the only column is {name}: separate fields by a comma, a semicolon, a tab or | (R: write.csv; NumPy: delimiter=\",\")"
        );
    }
    let asked = place.column.as_deref().unwrap_or_default();
    let alike = there.iter().find(|name| plain(name) == plain(asked));
    // Whoever has another name for the one mostly has one for the other, too.
    let missing = |name: &str| !there.iter().any(|column| column.trim() == name);
    let options = [("score", "--score-column"), ("label", "--label-column")];
    let usual = options
        .into_iter()
        .filter(|(name, _)| missing(name))
        .filter_map(|(name, option)| Some((name, format!("{option} {:?}", likely_column(name, there)?))));
    let usual: Vec<(&str, String)> = usual.collect();
    let columns = list(there);
    match alike {
        Some(name) => format!("the columns are {columns}: did you mean {}?", quoted(name)),
        None if usual.iter().any(|(name, _)| *name == asked) => {
            let options: Vec<&str> = usual.iter().map(|(_, option)| option.as_str()).collect();
            format!("the columns are {columns}: try {}", options.join(" "))
        }
        // What predict_proba gives of two classes, as a table.
        None if asked == "score"
            && there.iter().any(|name| name == "1")
            && !there.iter().any(|name| name == "2") =>
        {
            format!(
                "the columns are {columns}: if they are the probabilities of two classes, --score-column 1"
            )
        }
        None => match nearest(asked, there) {
            Some(name) => format!("the columns are {columns}: did you mean {}?", quoted(name)),
            None => {
                format!("the columns are {columns}: choose with --score-column, --label-column or the like")
            }
        },
    }
}

/// A name without case and signs.
fn plain(name: &str) -> String {
    name.to_lowercase().replace(['_', '-', ' ', '.'], "")
}

/// The name that is the most like one that is not there, if it is much like it: one slip in four letters.
fn nearest<'n>(asked: &str, there: &'n [String]) -> Option<&'n str> {
    const LEAST: f64 = 0.75;
    let likeness = |name: &str| strsim::normalized_damerau_levenshtein(&plain(asked), &plain(name));
    let all = there.iter().map(|name| (likeness(name), name.as_str()));
    let best = all.filter(|(likeness, _)| *likeness >= LEAST).max_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(_, name)| name)
}

/// Names from a file.
pub(super) fn list(names: &[String]) -> String {
    names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ")
}
