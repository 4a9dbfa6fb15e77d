//! What commands print at first fits a screen.

use crate::data::{binary, binary_place, csv, matrix_place};
use crate::workplace::{Run, Workplace};

/// The lines of a screen, without warnings, which are never too many.
fn lines(run: &Run) -> Vec<String> {
    let all = run.stderr.lines().chain(run.stdout.lines());
    all.filter(|line| !line.starts_with("warning: ")).map(str::to_owned).collect()
}

/// A place with scores of two classes, with groups, and of several classes.
fn place() -> Workplace {
    let rows = binary(2000);
    let grouped = rows
        .iter()
        .enumerate()
        .map(|(row, (score, label))| format!("{score},{label},{}\n", ["a", "b"][row % 2]));
    let grouped = "score,label,site\n".chars().chain(grouped.collect::<String>().chars()).collect::<String>();
    matrix_place(2000)
        .0
        .with("cal.csv", csv(&rows))
        .with("test.csv", csv(&binary(1999)))
        .with("grouped.csv", grouped)
}

const CLASSES: &str = "--logits val_logits.npy --labels val_labels.npy";

#[test]
fn a_fit_says_what_it_found_in_twelve_lines() {
    let place = place();
    let of_classes = |options: &str| format!("{CLASSES} {options}");
    for options in [
        "cal.csv".to_owned(),
        "cal.csv --method umd --bins 10".into(),
        "cal.csv --method umd --epsilon 0.1".into(),
        "cal.csv --method ums --bins 5".into(),
        "cal.csv --method fixed-width --bins 5".into(),
        "cal.csv --method isotonic".into(),
        "cal.csv --method platt".into(),
        "cal.csv --method beta".into(),
        "cal.csv --method quadratic".into(),
        "cal.csv --method temperature".into(),
        "cal.csv --method venn-abers".into(),
        "cal.csv --method none".into(),
        "cal.csv --epsilon 0.1".into(),
        "grouped.csv --group-column site".into(),
        of_classes(""),
        of_classes("--reduction top-label"),
        of_classes("--reduction class-wise"),
        of_classes("--reduction top-label --method umd --rows-per-bin 50"),
        of_classes("--method temperature"),
        of_classes("--method svs"),
    ] {
        let run = place.ok(&format!("calib fit {options} -o out.cal --force"));
        let said = lines(&run);
        assert!(said.len() <= 12, "{options}: {} lines\n{}", said.len(), run.stderr);
        // Only the next command, which is pasted, may be longer.
        let wide = said.iter().find(|line| line.len() > 100 && !line.starts_with("next: "));
        assert_eq!(wide, None, "{options}");
        let all = lines(&place.ok(&format!("calib fit {options} -o out.cal --force --all")));
        assert!(all.len() >= said.len(), "{options}: {all:?}");
    }
}

/// How many figures a text has: an interval in brackets belongs to the figure before it, and a level is none.
fn figures(text: &str) -> usize {
    let text =
        text.replace("95% interval", "interval").replace("9 of 10 cases", "most cases").replace("best: ", "");
    let outside = text.split('[').enumerate().map(|(at, part)| match at {
        0 => part,
        _ => part.split_once(']').map_or(part, |(_, rest)| rest),
    });
    let outside = outside.collect::<String>();
    let is_figure =
        |word: &&str| word.trim_matches(['(', '+', '-']).starts_with(|c: char| c.is_ascii_digit());
    outside.split_whitespace().filter(is_figure).count()
}

#[test]
fn an_assessment_begins_with_at_most_fifteen_figures() {
    assert_eq!(figures("falls from 0.1580 to 0.1451 (change -0.0129, 95% interval [-0.0178, -0.0079])."), 3);
    let place = place();
    for fit in
        ["cal.csv", "cal.csv --method isotonic", "cal.csv --method umd --bins 5", "cal.csv --method platt"]
    {
        place.ok(&format!("calib fit {fit} -o cal.bin --force"));
        for options in ["", " --bootstrap 20"] {
            let run = place.ok(&format!("calib assess cal.bin test.csv{options}"));
            assert!(
                run.stdout.starts_with("Calibration makes the probabilities better"),
                "{fit}: {}",
                run.stdout
            );
            assert!(
                (8..=15).contains(&figures(&run.stdout)),
                "{fit}{options}: {}\n{}",
                figures(&run.stdout),
                run.stdout
            );
            assert!(lines(&run).len() <= 16, "{fit}: {}", run.stdout);
        }
    }
    for fit in ["", "--method temperature"] {
        place.ok(&format!("calib fit {CLASSES} {fit} -o top.bin --force"));
        let run = place.ok(&format!("calib assess top.bin --same-rows {CLASSES}"));
        assert!(figures(&run.stdout) <= 15, "{fit}: {}\n{}", figures(&run.stdout), run.stdout);
    }
    for source in ["test.csv", CLASSES] {
        let run = place.ok(&format!("calib assess {source}"));
        assert!((4..=15).contains(&figures(&run.stdout)), "{source}: {}", run.stdout);
        let all = place.ok(&format!("calib assess {source} --all"));
        assert!(figures(&all.stdout) > 15, "{source}: {}", all.stdout);
    }
}

#[test]
fn an_artifact_is_inspected_on_a_screen() {
    let place = place();
    for fit in [
        "cal.csv".to_owned(),
        "cal.csv --method isotonic".into(),
        "cal.csv --method umd --bins 40".into(),
        "cal.csv --method venn-abers".into(),
        "cal.csv --method platt".into(),
        "grouped.csv --group-column site".into(),
        format!("{CLASSES} --reduction class-wise"),
        format!("{CLASSES} --method svs"),
    ] {
        place.ok(&format!("calib fit {fit} -o out.cal --force"));
        let said = lines(&place.ok("calib inspect out.cal"));
        assert!(said.len() <= 40, "{fit}: {} lines\n{said:#?}", said.len());
        let wide = said.iter().find(|line| line.len() > 100 && !line.starts_with("next: "));
        assert_eq!(wide, None, "{fit}");
        assert!(said.iter().any(|line| line.starts_with("guarantee")), "{fit}: {said:#?}");
        assert!(lines(&place.ok("calib inspect out.cal --all")).len() > said.len(), "{fit}");
    }
}

/// Classes with too few rows share the table of the rows of all classes.
#[test]
fn classes_that_were_calibrated_together_are_named() {
    let row = |row: usize| {
        let class = if row.is_multiple_of(40) {
            2
        } else if row % 40 == 1 {
            3
        } else {
            row % 2
        };
        let mut probs = [0.1; 4];
        probs[class] = 0.3 + 0.4 * (row * 7919 % 1000) as f64 / 1000.0;
        let rest: f64 = (1.0 - probs[class]) / 3.0;
        let probs: Vec<f64> = (0..4).map(|at| if at == class { probs[class] } else { rest }).collect();
        let right = (row * 104_729 % 997) as f64 / 997.0 < probs[class];
        format!(
            "{},{},{},{},{}\n",
            probs[0],
            probs[1],
            probs[2],
            probs[3],
            if right { class } else { (class + 1) % 4 }
        )
    };
    let table = "p0,p1,p2,p3,label\n".to_owned() + &(0..1000).map(row).collect::<String>();
    let place = Workplace::new().with("cal.csv", table);
    let told = place.ok("calib fit cal.csv --reduction top-label -o cal.bin").words();
    assert!(
        told.contains("calibrated with the rows of all classes: class 2 (25 rows), class 3 (25 rows)"),
        "{told}"
    );
    let shown = place.ok("calib inspect cal.bin").stdout;
    assert!(shown.contains("together    class 2, class 3 have the same table\n"), "{shown}");
}

#[test]
fn a_comparison_begins_with_what_to_do_and_what_it_costs() {
    let run = binary_place()
        .says("calib compare cal.csv --methods isotonic,umd,platt --folds 2 --repeats 1 --bootstrap 50");
    let first: String =
        run.stdout.split("\n\n").next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        first.starts_with("Take ")
            && first.contains(" bytes, ")
            && first.contains(" instructions on a Cortex-M0 and "),
        "{first}"
    );
    assert!(run.stdout.lines().all(|line| line.len() <= 100), "{}", run.stdout);
    said!();
}
