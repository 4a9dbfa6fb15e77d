//! What others call the columns of scores and labels.

/// What others call the scores of class 1, without case and signs.
const SCORES: &[&str] = &[
    "score",
    "scores",
    "yscore",
    "yscores",
    "prob",
    "probs",
    "proba",
    "probas",
    "probability",
    "probabilities",
    "yprob",
    "yprobs",
    "yproba",
    "ypredproba",
    "ypredprob",
    "predproba",
    "predprob",
    "predictproba",
    "predictedprobability",
    "prob1",
    "proba1",
    "probability1",
    "pred1",
    "predyes",
    "phat",
    "yhat",
    "p",
];

/// What others call the labels.
const LABELS: &[&str] = &[
    "label",
    "labels",
    "truelabel",
    "y",
    "ytrue",
    "ytest",
    "yval",
    "target",
    "targets",
    "truth",
    "groundtruth",
    "gt",
    "outcome",
    "actual",
    "observed",
    "event",
];

/// What else may be scores or labels, and is something else as often, such as the class that was predicted: it is proposed, and never taken.
const DOUBTFUL: [(&str, &[&str]); 2] = [
    ("score", &["p1", "pred", "prediction", "predicted", "confidence"]),
    ("label", &["class", "result", "status"]),
];

/// The first column that may be the `score` or `label` that is asked for, by the names that others have for it.
///
/// ```
/// use calib_io::input::likely_column;
///
/// let names = ["id", "Pred", "y_true"].map(str::to_owned);
/// assert_eq!(likely_column("score", &names), Some("Pred"));
/// assert_eq!(likely_column("label", &names), Some("y_true"));
/// assert_eq!(likely_column("weight", &names), None);
/// ```
pub fn likely_column<'n>(wanted: &str, names: &'n [String]) -> Option<&'n str> {
    let doubtful = DOUBTFUL.iter().find(|(name, _)| *name == wanted).map_or(&[][..], |(_, names)| names);
    let find = |known: &[&str]| names.iter().find(|name| known.contains(&&*plain(name)));
    find(usual(wanted)).or_else(|| find(doubtful)).map(String::as_str)
}

/// What others call the column that is asked for.
fn usual(wanted: &str) -> &'static [&'static str] {
    match wanted {
        "score" => SCORES,
        "label" => LABELS,
        _ => &[],
    }
}

/// Why no one column is the one that is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::input) enum NotFound {
    /// The name is there twice.
    Twice,
    /// None may be it.
    Missing,
    /// Each of these may be it.
    Several(Vec<String>),
}

/// Whether a column may be the one that is asked for, if that is not there.
pub(in crate::input) fn may_be(wanted: &str, name: &str) -> bool {
    usual(wanted).contains(&&*plain(name))
        || by_position(wanted, 2).is_some_and(|number| number == name.trim())
        || (name.trim() == "0" && wanted == "label")
}

/// The number of a column that has none but a number for a name, in a table of so many columns.
fn by_position(wanted: &str, width: usize) -> Option<&'static str> {
    match (wanted, width) {
        ("score", 1 | 2) | ("label", 1) => Some("0"),
        ("label", 2) => Some("1"),
        _ => None,
    }
}

/// Which of the columns of a table is the one that is asked for; with `guess` one that may be it, if it is the only one.
pub(in crate::input) fn find<'n>(
    wanted: &str,
    names: impl Iterator<Item = &'n str> + Clone,
    guess: bool,
) -> Result<usize, NotFound> {
    let mut exact = names.clone().enumerate().filter(|(_, name)| name.trim() == wanted);
    match (exact.next(), exact.next()) {
        (Some((column, _)), None) => return Ok(column),
        (Some(_), Some(_)) => return Err(NotFound::Twice),
        (None, _) if !guess => return Err(NotFound::Missing),
        (None, _) => {}
    }
    let are_numbers = names.clone().enumerate().all(|(number, name)| name.trim() == number.to_string());
    let candidates: Vec<(usize, &str)> = match are_numbers {
        true => {
            let number = by_position(wanted, names.clone().count());
            names.enumerate().filter(|(_, name)| Some(name.trim()) == number).collect()
        }
        false => {
            let is_word = |name: &str| !name.trim().starts_with(|first: char| first.is_ascii_digit());
            names.enumerate().filter(|(_, name)| is_word(name) && may_be(wanted, name)).collect()
        }
    };
    match candidates[..] {
        [] => Err(NotFound::Missing),
        [(column, _)] => Ok(column),
        _ => Err(NotFound::Several(candidates.iter().map(|(_, name)| name.trim().to_owned()).collect())),
    }
}

/// A name without case and signs.
fn plain(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-' | ' ' | '.')).flat_map(char::to_lowercase).collect()
}

/// The names that a list of columns stands for: `p0..p9` for all from `p0` to `p9`.
pub(in crate::input) fn listed(list: &str) -> Vec<String> {
    list.split(',').flat_map(|part| range(part.trim()).unwrap_or_else(|| vec![part.trim().into()])).collect()
}

/// The names of a range, of which both ends have the same word before their numbers, or the second no word.
fn range(part: &str) -> Option<Vec<String>> {
    /// More classes than any classifier has.
    const LONGEST: usize = 1 << 16;
    let (first, last) = part.split_once("..")?;
    let (word, first) = numbered(first.trim())?;
    let (other, last) = numbered(last.trim())?;
    let fits = (other == word || other.is_empty()) && first < last && last - first < LONGEST;
    fits.then(|| (first..=last).map(|number| format!("{word}{number}")).collect())
}

/// A name that ends in a number, taken apart.
fn numbered(name: &str) -> Option<(&str, usize)> {
    let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (word, number) = name.split_at(name.len() - digits);
    let is_plain = number == "0" || !number.starts_with('0');
    Some((word, number.parse().ok().filter(|_| is_plain)?))
}

/// The columns that are numbered from 0 or 1 on behind the same word, in the order of their numbers, if they are the only ones that are so.
pub(in crate::input) fn classes<'n>(names: impl Iterator<Item = &'n str>) -> Result<Vec<String>, NotFound> {
    let mut families: Vec<(&str, Vec<(usize, &str)>)> = Vec::new();
    for name in names {
        let Some((word, number)) = numbered(name.trim()) else { continue };
        match families.iter_mut().find(|(other, _)| *other == word) {
            Some((_, members)) => members.push((number, name.trim())),
            None => families.push((word, vec![(number, name.trim())])),
        }
    }
    let whole = families.into_iter().filter_map(|(_, mut members)| {
        members.sort_unstable();
        let first = members[0].0;
        let follow = members.iter().zip(first..).all(|(&(number, _), expected)| number == expected);
        (follow && first < 2 && members.len() > 1).then_some(members)
    });
    let whole: Vec<_> = whole.collect();
    match &whole[..] {
        [] => Err(NotFound::Missing),
        [members] => Ok(members.iter().map(|(_, name)| (*name).to_owned()).collect()),
        _ => {
            let end =
                |members: &Vec<(usize, &str)>| format!("{}..{}", members[0].1, members[members.len() - 1].1);
            Err(NotFound::Several(whole.iter().map(end).collect()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usual_name_is_found_where_the_own_is_missing() {
        let found = |wanted: &str, names: &[&str]| find(wanted, names.iter().copied(), true);
        assert_eq!(found("score", &["id", "Y_Prob", "y_true"]), Ok(1));
        assert_eq!(found("label", &["id", "Y_Prob", "y_true"]), Ok(2));
        assert_eq!(found("label", &["y_true", "label"]), Ok(1));
        assert_eq!(found("score", &["prob", " score "]), Ok(1));
        assert_eq!(found("score", &["score", "score"]), Err(NotFound::Twice));
        let several = NotFound::Several(vec!["prob".into(), "y_score".into()]);
        assert_eq!(found("score", &["prob", "y_score", "y"]), Err(several));
        // Anyone who names a column means that one.
        assert_eq!(found("y_prob", &["prob", "y"]), Err(NotFound::Missing));
        // A prediction may be a class.
        assert_eq!(found("score", &["y_pred", "y_true"]), Err(NotFound::Missing));
        assert_eq!(find("score", ["prob"].into_iter(), false), Err(NotFound::Missing));
    }

    #[test]
    fn columns_without_names_are_taken_by_position_where_there_are_two() {
        let found = |wanted: &str, names: &[&str]| find(wanted, names.iter().copied(), true);
        assert_eq!((found("score", &["0", "1"]), found("label", &["0", "1"])), (Ok(0), Ok(1)));
        assert_eq!((found("score", &["0"]), found("label", &["0"])), (Ok(0), Ok(0)));
        assert_eq!(found("score", &["0", "1", "2"]), Err(NotFound::Missing));
        assert_eq!(found("label", &["0", "x"]), Err(NotFound::Missing));
    }

    #[test]
    fn what_is_found_is_read() {
        let names = ["score", "Y-Prob", "p", "y", "target", "0", "1"];
        for wanted in ["score", "label"] {
            for name in names {
                if find(wanted, [name, "x"].into_iter(), true) == Ok(0) {
                    assert!(may_be(wanted, name) || name == wanted, "{wanted} {name}");
                }
            }
        }
        assert!(may_be("label", "0") && may_be("label", "1") && may_be("score", "0"));
    }

    #[test]
    fn lists_and_ranges_are_columns() {
        assert_eq!(listed("cat, dog"), ["cat", "dog"]);
        assert_eq!(listed("p0..p3"), ["p0", "p1", "p2", "p3"]);
        assert_eq!(listed("other,class_9..11"), ["other", "class_9", "class_10", "class_11"]);
        for no_range in ["p3..p0", "p0..q3", "p..q", "a..b", "p01..p03", "p0..p99999999"] {
            assert_eq!(listed(no_range), [no_range]);
        }
    }

    #[test]
    fn classes_are_numbered_from_0_or_1_on() {
        let found = |names: &[&str]| classes(names.iter().copied());
        assert_eq!(found(&["label", "p1", "p0", "p10", "p2"]), Err(NotFound::Missing));
        assert_eq!(found(&["label", "p1", "p0", "p2"]).unwrap(), ["p0", "p1", "p2"]);
        assert_eq!(found(&["x_1", "x_2", "y"]).unwrap(), ["x_1", "x_2"]);
        assert_eq!(found(&["0", "1", "2", "label"]).unwrap(), ["0", "1", "2"]);
        assert_eq!(found(&["x2", "x3"]), Err(NotFound::Missing));
        let several = NotFound::Several(vec!["p0..p1".into(), "q0..q1".into()]);
        assert_eq!(found(&["p0", "p1", "q0", "q1"]), Err(several));
    }
}
