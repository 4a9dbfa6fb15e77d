//! The options that plan thresholds.

use std::io::Write;

use calib_fit::operating::{Aim, Class, rows_needed};
use calib_fit::stats::percent;
use clap::Args;
use serde_json::json;

use super::parse::{count, parse_share};
use crate::context::Context;
use crate::error::Error;

/// What thresholds are to promise.
#[derive(Args)]
pub(crate) struct PlannedThresholds {
    /// Plan a threshold instead: how many points of class 1 it takes so that at least this share of class 1 is raised. With
    /// --prevalence also the rows.
    #[arg(long, value_name = "P", value_parser = parse_share, conflicts_with_all = PLAN, help_heading = "Method and bins")]
    sensitivity: Option<f64>,
    /// Likewise the points of class 0 so that at least this share of class 0 is not raised.
    #[arg(long, value_name = "P", value_parser = parse_share, conflicts_with_all = PLAN, help_heading = "Method and bins")]
    specificity: Option<f64>,
    /// The confidence of each of the two, and that so many rows have enough points.
    #[arg(long, default_value_t = 0.95, value_name = "C", value_parser = parse_share, help_heading = "Guarantees and intervals")]
    confidence: f64,
    /// Among how many groups with thresholds of their own the failure probability is divided; each takes so many points.
    #[arg(long, default_value_t = 1, value_name = "G", value_parser = count::<u64>(1..=255), help_heading = "Method and bins", hide_short_help = true)]
    groups: u64,
}

/// What is planned otherwise.
const PLAN: [&str; 7] = ["n", "bins", "points_per_bin", "epsilon", "reduction", "svg", "validation"];

/// How many may lie on the wrong side in the lines of the answer.
const ALLOWED: u64 = 4;

impl PlannedThresholds {
    /// Whether a threshold is planned.
    pub(crate) fn is_asked(&self) -> bool {
        self.sensitivity.or(self.specificity).is_some()
    }

    /// Answers how many points it takes, and how many rows if the prevalence is known.
    pub(crate) fn answer(&self, prevalence: Option<f64>, json: bool, cx: &Context) -> Result<(), Error> {
        let asked = [
            (Class::Positives, "sensitivity", self.sensitivity, prevalence),
            (
                Class::Negatives,
                "specificity",
                self.specificity,
                prevalence.map(|prevalence| 1.0 - prevalence),
            ),
        ];
        let mut answers = Vec::new();
        for (class, name, level, share) in asked {
            let Some(level) = level else { continue };
            let aim = Aim { level, confidence: self.confidence };
            let points = (0..ALLOWED).map(|k| aim.points_needed(k, self.groups));
            let points: Vec<u64> = points.collect::<Option<_>>().ok_or_else(|| {
                Error::Usage(format!("a {name} of {level} takes more than 2^53 {class}: nobody has them"))
            })?;
            let rows = |points: u64| {
                share.map(|share| (rows_needed(points, share, self.confidence), points as f64 / share))
            };
            let lines: Vec<_> =
                (0..).zip(&points).map(|(allowed, &points)| (allowed, points, rows(points))).collect();
            answers.push((class, name, level, lines));
        }
        if json {
            let line = |&(allowed, points, rows): &(u64, u64, Option<(Option<u64>, f64)>)| json!({"allowed": allowed, "points": points, "rows": rows.and_then(|rows| rows.0), "mean_rows": rows.map(|rows| rows.1)});
            let answer = |(class, name, level, lines): &(Class, &str, f64, Vec<_>)| json!({"class": class, "accuracy": name, "level": level, "points": lines.iter().map(line).collect::<Vec<_>>()});
            return cx.print_json(&json!({
                "confidence": self.confidence,
                "groups": self.groups,
                "prevalence": prevalence,
                "thresholds": answers.iter().map(answer).collect::<Vec<_>>(),
            }));
        }
        let mut out = cx.stdout();
        for (class, name, level, lines) in answers {
            let confidence = percent(self.confidence);
            writeln!(
                out,
                "a {name} of at least {} % with {confidence} % confidence takes {} {class}",
                percent(level),
                lines[0].1
            )?;
            for (allowed, points, rows) in lines {
                let of_rows = match rows {
                    Some((Some(rows), mean)) => {
                        format!(", in {rows} rows with {confidence} % confidence ({mean:.0} on average)")
                    }
                    _ => String::new(),
                };
                writeln!(out, "  {points:>8} allow {allowed} on the wrong side{of_rows}")?;
            }
        }
        if self.groups > 1 {
            writeln!(out, "in each of {} groups, of all of which it then holds together", self.groups)?;
        }
        Ok(writeln!(
            out,
            "if points are independent, one per patient, and new ones are drawn as they were; whatever the distribution of the scores"
        )?)
    }
}
