//! Why there is no operating point.

use super::scores::Class;

/// Why there is no operating point.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OperatingError {
    /// Neither a sensitivity nor a specificity is asked for.
    #[error("neither a sensitivity nor a specificity is requested")]
    NoAim,
    /// A level, a confidence or a prevalence is not between 0 and 1.
    #[error("the {name} is {value:?}: it must lie between 0 and 1")]
    Share {
        /// What it is.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// There are no groups.
    #[error("there are no observations")]
    Empty,
    /// There are too few points of a class.
    #[error("{}", too_few(*class, *n, *needed, group.as_deref()))]
    TooFew {
        /// The class.
        class: Class,
        /// How many points of it there are.
        n: u64,
        /// How many it takes; `None` if it is more than 2^53.
        needed: Option<u64>,
        /// The group that has so few; `None` if there are no groups.
        group: Option<String>,
    },
    /// The grid is not ascending, or reaches beyond the scores.
    #[error("the thresholds of a grid ascend, and are scores")]
    Grid,
}

fn too_few(class: Class, n: u64, needed: Option<u64>, group: Option<&str>) -> String {
    let among = group.map(|name| format!(" in group {name}")).unwrap_or_default();
    let there = match n {
        0 => "there are none".to_owned(),
        1 => "there is 1".to_owned(),
        n => format!("there are {n}"),
    };
    match needed {
        Some(needed) => format!("{needed} {class}{among} are needed, {there}"),
        None => format!("more than 2^53 {class}{among} are needed, {there}"),
    }
}
