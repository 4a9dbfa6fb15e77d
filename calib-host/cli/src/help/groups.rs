//! The groups of options, and those of commands.

use std::fmt::Write;

use clap::Command;

/// Options under one heading, by the names of their fields; `command.name` is for one command alone.
struct Group {
    heading: &'static str,
    /// What `-h` shows.
    usual: &'static [&'static str],
    /// What `--help` shows, too.
    more: &'static [&'static str],
}

/// Where an option stands.
pub(super) struct Place {
    pub(super) heading: &'static str,
    pub(super) order: usize,
    pub(super) is_usual: bool,
}

const GROUPS: [Group; 9] = [
    Group {
        heading: "Data",
        usual: &[
            "data",
            "scores",
            "dialect",
            "from",
            "sql.pass1",
            "from_score",
            "from_label",
            "are_margins",
            "margins",
            "logits",
            "probs",
            "labels",
            "test",
            "test_labels",
            "calibration",
            "calibration_labels",
            "validation_rows",
            "decide.validation",
            "score_column",
            "label_column",
            "decide.actions",
            "counters",
            "outcomes",
            "starter",
            "calibrator",
            "estimate_from",
            "n",
            "chip",
            "port",
            "firmware",
            "key",
        ],
        more: &[
            "fit.scores",
            "fit.margins",
            "pass1",
            "pass2",
            "from_counters",
            "fit.calibrator",
            "since",
            "per_unit",
            "skip_ties",
            "prob_column",
            "class_column",
            "matrix",
        ],
    },
    Group {
        heading: "Method and bins",
        usual: &[
            "method",
            "bins",
            "reduction",
            "methods",
            "metric",
            "epsilon",
            "fit.reduction",
            "fit.alpha",
            "plan.points_per_bin",
            "at_most",
            "claim",
            "class",
            "sets.class_score",
            "by_class",
            "sensitivity",
            "specificity",
            "prevalence",
            "validation",
        ],
        more: &[
            "points_per_bin",
            "strategy",
            "k",
            "class_score",
            "reductions",
            "class_scores",
            "classes",
            "groups",
            "auc",
            "binning",
            "bin_column",
            "norm",
            "top_k",
            "extreme_probs",
            "never_empty",
            "refer_raises",
            "calibration_prevalence",
        ],
    },
    Group {
        heading: "Guarantees and intervals",
        usual: &["alpha", "delta", "confidence"],
        more: &[
            "candidates",
            "alpha_spent",
            "bootstrap",
            "bca",
            "compare.folds",
            "repeats",
            "prevalence_alpha",
            "se_auc",
            "se_slope",
            "se_intercept",
            "seed",
        ],
    },
    Group {
        heading: "What rows are",
        usual: &["cluster_column", "apply.group_column"],
        more: &[
            "fit.cluster_column",
            "clusters",
            "test_clusters",
            "group_column",
            "common_threshold",
            "weight_column",
            "count_column",
            "positives_column",
            "same_rows",
            "positive_label",
            "drop_missing",
        ],
    },
    Group {
        heading: "Details of methods",
        usual: &[],
        more: &[
            "max_bins",
            "interpolate",
            "smoothing",
            "boundary",
            "ties",
            "scaling",
            "platt_on",
            "range",
            "loss",
            "targets",
            "one_set",
        ],
    },
    Group {
        heading: "Methods for whole vectors",
        usual: &[],
        more: &[
            "log_probs",
            "odir_lambda",
            "odir_mu",
            "folds",
            "depth",
            "resolution",
            "directions",
            "max_regions",
            "split_grid",
            "strict",
            "paper_compat",
        ],
    },
    Group {
        heading: "Scores as integers",
        usual: &[],
        more: &["score_encoding", "scale", "zero_point", "direct_table"],
    },
    Group {
        heading: "The device",
        usual: &["adjust.counter", "elf", "log_port", "log_chip", "dry_run"],
        more: &[
            "table",
            "intervals",
            "actions",
            "classifier_id",
            "counter",
            "monitor",
            "monitor_bins",
            "monitor_scores",
            "monitor_shift",
            "monitor_change",
            "monitor_promise",
            "monitor_action",
            "probe",
            "slot_addr",
            "slot_len",
            "report_addr",
            "baud",
            "timeout",
            "tries",
            "no_verdict",
            "made_by",
        ],
    },
    Group {
        heading: "Output",
        usual: &[
            "new",
            "verify",
            "output",
            "status.counters",
            "reset",
            "format",
            "svg",
            "html",
            "csv",
            "lines",
            "watch",
            "fleet_log",
            "force",
            "json",
            "help",
        ],
        more: &[
            "fit.force",
            "fit.json",
            "title",
            "model",
            "note",
            "date",
            "evidence",
            "name",
            "drawn_classes",
            "plot.scale",
            "quiet",
            "fail_on_warning",
            "color",
            "version",
        ],
    },
];

/// Where an option of a command stands.
pub(super) fn place(command: &str, id: &str) -> Option<Place> {
    let own = format!("{command}.{id}");
    find(&own).or_else(|| find(id))
}

fn find(name: &str) -> Option<Place> {
    GROUPS.iter().find_map(|group| {
        let mut names = group.usual.iter().chain(group.more);
        let order = names.position(|other| *other == name)?;
        Some(Place { heading: group.heading, order, is_usual: order < group.usual.len() })
    })
}

/// The commands in the order in which they are needed.
pub(super) const COMMANDS: [(&str, &[&str]); 6] = [
    ("Calibrate", &["fit", "sql", "apply", "inspect"]),
    ("Judge", &["assess", "report", "plot"]),
    ("Choose", &["compare", "bins", "plan"]),
    ("Decide", &["threshold", "sets", "decide", "adjust"]),
    (
        "Deploy",
        &["export", "flash", "push", "status", "monitor", "label", "fleet", "keygen", "sign", "verify"],
    ),
    ("Find out", &["help", "methods", "doctor", "completions", "man"]),
];

/// The list of commands.
pub(super) fn listing(program: &Command) -> String {
    let mut listing = String::new();
    for (heading, names) in COMMANDS {
        let _ = writeln!(listing, "{heading}:");
        for name in names {
            let found = program.get_subcommands().find(|command| command.get_name() == *name);
            // Some are for devices, which not every build is.
            let Some(command) = found else { continue };
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(listing, "  {name:<12} {about}");
        }
        listing.push('\n');
    }
    listing
}
