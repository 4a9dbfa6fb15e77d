//! What counting adds to a prediction on average, where evidence is worked out with every so many.

use std::collections::BTreeMap;

use super::image::Cost;

/// What is counted, and the functions: alone, counted, and with a look at the evidence.
const KINDS: [(&str, Option<&str>, &str, &str); 5] = [
    ("counted, 15 bins", Some("predicted_15"), "counted_15", "counted_look_15"),
    ("counted, top-label of 10", Some("predicted_top_label"), "counted_top_label", "counted_look_top_label"),
    ("all monitors, 15 bins", Some("predicted_15"), "watched_15", "watched_look_15"),
    ("all monitors, top-label", Some("predicted_top_label"), "watched_top_label", "watched_look_top_label"),
    ("an outcome, 15 bins", None, "told_15", "told_look_15"),
];
/// How many predictions, or outcomes, there are from one look at the evidence to the next.
const EVERY: [u32; 4] = [16, 256, 4096, 32_768];

/// Prints what a prediction takes more on average than one that is not counted.
pub(super) fn print(costs: &BTreeMap<String, Cost>) {
    println!(
        "  more than a prediction alone {:>11} {}  {:>9}",
        "no look",
        EVERY.map(|every| format!("{:>12}", format!("every {every}"))).concat(),
        "the look"
    );
    let of = |name: &str| costs.get(name).map(|cost| cost.instructions);
    for (title, alone, counted, look) in KINDS {
        let Some((counted, look)) = of(counted).zip(of(look)) else { continue };
        let more = counted - alone.and_then(of).unwrap_or_default();
        let look = look - counted;
        let each = EVERY.map(|every| format!("{:>12.1}", more + look / f64::from(every)));
        println!("  {title:28} {more:>11.1} {}  {look:>9.0}", each.concat());
    }
}
