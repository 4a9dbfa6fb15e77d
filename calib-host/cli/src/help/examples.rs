//! Examples of every command. A test runs them all, in this order, in one folder.

use std::fmt::Write;

/// A command line and what it is for. Where it is longer than a line, ` \` ends the first.
type Example = (&'static str, &'static str);

/// The examples of every command, those that make files before those that take them. The first is the one that `-h` shows.
const EXAMPLES: [(&str, &[Example]); 28] = [
    (
        "fit",
        &[
            ("bins that suit the number of rows, written to cal.cal", "calib fit cal.csv"),
            ("ten bins with a guarantee", "calib fit --method umd --bins 10 --scores cal.csv -o cal.bin"),
            (
                "the labels in a file of their own",
                "calib fit --method isotonic --scores s.npy --labels y.npy -o iso.bin",
            ),
            (
                "columns with other names",
                "calib fit --method umd --bins 10 --scores frame.csv \\\n    --score-column y_prob --label-column y_true -o frame.bin",
            ),
            (
                "several classes, from logits",
                "calib fit --method umd --reduction top-label --points-per-bin 50 \\\n    --logits val_logits.npy --labels val_labels.npy -o top.bin",
            ),
            (
                "with monitors, which notice on the device that scores have changed",
                "calib fit --method umd --bins 10 --scores cal.csv --monitor -o monitored.cal",
            ),
            (
                "one temperature for all classes",
                "calib fit --method temperature --logits val_logits.npy \\\n    --labels val_labels.npy -o temperature.bin",
            ),
            (
                "several rows of each patient",
                "calib fit --method umd --bins 5 --scores visits.csv \\\n    --cluster-column patient -o visits.bin",
            ),
            (
                "int8 scores of TFLite's softmax",
                "calib fit --method umd --bins 5 --scores codes.csv --score-encoding i8,1/256,-128 -o codes.bin",
            ),
        ],
    ),
    (
        "sql",
        &[
            ("pass 1, for a table in DuckDB", "calib sql --dialect duckdb --from scored"),
            (
                "pass 2, from its answer",
                "calib sql --dialect duckdb --from scored --method umd --bins 10 \\\n    --pass1 pass1.csv",
            ),
            (
                "and the fit",
                "calib fit --passes pass1.csv pass2.csv --method umd --bins 10 \\\n    -o counted.bin",
            ),
        ],
    ),
    (
        "apply",
        &[
            ("a probability for every row", "calib apply cal.bin --scores new.csv -o out.csv"),
            ("the same of rows with labels", "calib apply cal.bin --scores test.csv -o judged.csv"),
            ("several classes", "calib apply top.bin --logits test_logits.npy -o classes.csv"),
            ("into another program", "calib apply cal.bin --scores new.csv -o - --format jsonl"),
        ],
    ),
    (
        "assess",
        &[
            ("before and after, on rows the fit has not seen", "calib assess cal.bin --scores test.csv"),
            (
                "with intervals, for a program",
                "calib assess cal.bin --scores test.csv --bootstrap 100 --json",
            ),
            ("probabilities as they are", "calib assess --probs judged.csv"),
            ("several classes", "calib assess --logits test_logits.npy --labels test_labels.npy"),
        ],
    ),
    ("inspect", &[("what is in an artefact, and what it promises", "calib inspect cal.bin")]),
    (
        "report",
        &[
            (
                "a page to hand over",
                "calib report cal.bin --calibration cal.csv --test test.csv -o report.html",
            ),
            (
                "several classes",
                "calib report top.bin --calibration val_logits.npy \\\n    --calibration-labels val_labels.npy --test test_logits.npy \\\n    --test-labels test_labels.npy -o classes.html",
            ),
        ],
    ),
    (
        "plot",
        &[
            ("one diagram", "calib plot reliability cal.bin --test test.csv -o reliability.svg"),
            (
                "how full the bins are",
                "calib plot occupancy cal.bin --calibration cal.csv --test test.csv \\\n    -o occupancy.svg",
            ),
        ],
    ),
    (
        "compare",
        &[
            ("every method", "calib compare --scores cal.csv"),
            (
                "some, with a guarantee of 0.1 at most",
                "calib compare --scores cal.csv --methods umd,platt --epsilon 0.1",
            ),
            (
                "several classes, by the predicted one",
                "calib compare --logits val_logits.npy --labels val_labels.npy \\\n    --claim top-label --methods umd,temperature",
            ),
        ],
    ),
    (
        "bins",
        &[
            ("how many bins", "calib bins --scores cal.csv"),
            (
                "the best with an error of 0.2 at most",
                "calib bins --scores cal.csv --at-most 0.2 --svg bins.svg",
            ),
        ],
    ),
    (
        "plan",
        &[
            ("how many bins 5000 points allow", "calib plan --n 5000 --epsilon 0.08"),
            ("how many points ten bins take", "calib plan --bins 10 --epsilon 0.1"),
            (
                "how many points a threshold takes",
                "calib plan --sensitivity 0.95 --confidence 0.95 --prevalence 0.1",
            ),
            ("how many rows a validation takes", "calib plan --validation --prevalence 0.1 --auc 0.8"),
        ],
    ),
    (
        "threshold",
        &[
            (
                "raise 95 % of class 1, with 95 % confidence",
                "calib threshold --scores cal.csv --sensitivity 0.95 -o point.bin",
            ),
            (
                "beside a calibrator",
                "calib threshold --scores cal.csv --sensitivity 0.95 \\\n    --calibrator cal.bin --counter 1 -o both.bin",
            ),
        ],
    ),
    (
        "sets",
        &[
            (
                "sets of classes that hold the true one in 9 of 10 rows",
                "calib sets --logits val_logits.npy --labels val_labels.npy -o sets.bin",
            ),
            (
                "without an exponential on the device",
                "calib sets --logits val_logits.npy --labels val_labels.npy \\\n    --class-score margin --alpha 0.05 -o margin.bin",
            ),
        ],
    ),
    (
        "decide",
        &[
            ("a costs file to begin with", "calib decide --starter actions.toml"),
            ("which action is cheapest at which probability", "calib decide --actions costs.toml"),
            (
                "what it costs, and an artefact with the rule",
                "calib decide --actions costs.toml cal.bin --scores new.csv \\\n    --validation test.csv -o rule.bin",
            ),
        ],
    ),
    (
        "adjust",
        &[
            ("where 2 % are of class 1", "calib adjust cal.bin --prevalence 0.02 --counter 1 -o here.bin"),
            (
                "where nobody knows how many",
                "calib adjust cal.bin --estimate-from new.csv --counter 1 -o there.bin",
            ),
        ],
    ),
    (
        "export",
        &[
            ("a header in C", "calib export cal.bin -o cal.h"),
            ("tables in Rust", "calib export cal.bin -o cal.rs"),
        ],
    ),
    (
        "fleet",
        &[
            ("the form of a device's counters", "calib fleet monitored.cal --new ward-3 -o ward-3.json"),
            ("what the counters of all devices say", "calib fleet monitored.cal ward-3.json"),
            ("what a device answered, worked out again", "calib fleet monitored.cal --verify ward-3.jsonl"),
        ],
    ),
    (
        "recalibrate",
        &[(
            "the values that outcomes in the field show",
            "calib recalibrate monitored.cal counters.json --counter 1 -o new.cal",
        )],
    ),
    ("keygen", &[("owner.pem to sign with, owner.pem.pub for devices", "calib keygen -o owner.pem")]),
    ("sign", &[("an artefact with a counter above 0", "calib sign here.bin --key owner.pem -o signed.bin")]),
    ("verify", &[("who signed it", "calib verify signed.bin --key owner.pem.pub")]),
    (
        "flash",
        &[
            ("a calibrator, through a debug probe", "calib flash cal.bin --chip nRF52840_xxAA"),
            ("the program", "calib flash --firmware app.elf --chip nRF52840_xxAA"),
            ("what would be erased", "calib flash cal.bin --chip nRF52840_xxAA --dry-run"),
        ],
    ),
    ("push", &[("a calibrator, over the serial line", "calib push cal.bin --port /dev/ttyACM0")]),
    (
        "status",
        &[
            ("over the serial line", "calib status --port /dev/ttyACM0"),
            ("through a debug probe", "calib status --chip nRF52840_xxAA"),
            ("what it counted, to a file", "calib status --port /dev/ttyACM0 --counters ward-3.json"),
        ],
    ),
    (
        "monitor",
        &[
            ("every reply as a line of JSON", "calib monitor --port /dev/ttyACM0 --format json"),
            ("every minute what its monitors say", "calib monitor --port /dev/ttyACM0 --watch 60"),
            (
                "ten lines, with the device's log",
                "calib monitor --port /dev/ttyACM0 --lines 10 --elf app.elf",
            ),
        ],
    ),
    (
        "label",
        &[
            ("outcomes of predictions", "calib label outcomes.csv --port /dev/ttyACM0"),
            ("let it count anew", "calib label --reset --port /dev/ttyACM0"),
        ],
    ),
    ("doctor", &[("what is missing on this computer", "calib doctor")]),
    ("completions", &[("for bash", "calib completions bash"), ("for zsh", "calib completions zsh")]),
    ("man", &[("the page of calib fit", "calib man fit")]),
];

/// The examples of a command; none has no entry.
fn of(command: &str) -> &'static [Example] {
    EXAMPLES.iter().find(|(name, _)| *name == command).map(|(_, examples)| *examples).unwrap_or_default()
}

/// What `-h` says at its end.
pub(super) fn short(command: &str) -> String {
    of(command).first().map(|(_, line)| format!("Example: {line}")).unwrap_or_default()
}

/// What `--help` says at its end.
pub(super) fn long(command: &str) -> String {
    let mut text = "Examples:\n".to_owned();
    for (what, line) in of(command) {
        let _ = writeln!(text, "  # {what}\n  {line}");
    }
    text
}
