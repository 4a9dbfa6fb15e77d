//! Tables in Rust, built into a program with calib-core.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use calib_core::artifact::{Method, Reduction, TableForm};
use calib_core::{Artifact, Calibrated};
use calib_host::io::export::export_rust;

use super::artifacts::Exportable;
use super::asked::{code_steps, of_code, of_margin, of_score, scores, word};

/// What all exported tables give for everything asked of them: the bin and the probability's bits, artifact by artifact.
pub(crate) fn looked_up(folder: &Path, all: &[Exportable]) -> Vec<u32> {
    let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../calib-core");
    let manifest = format!(
        "[package]\nname = \"exported\"\nedition = \"2024\"\n[workspace]\n[dependencies]\ncalib-core = {{ path = {core:?} }}\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    // The releases that are there already.
    fs::copy(core.join("../Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    fs::create_dir_all(folder.join("src")).unwrap();
    let mut program = String::from(PROGRAM);
    let mut calls = String::new();
    for Exportable { name, stored } in all {
        let artifact = stored.artifact();
        let table = export_rust(stored, &name.to_ascii_uppercase()).unwrap();
        let table = format!("{table}\n{}", example(&table));
        fs::write(folder.join("src").join(format!("{name}.in")), table).unwrap();
        let asked: Vec<u8> = asked(&artifact).iter().flat_map(|word| word.to_le_bytes()).collect();
        fs::write(folder.join("src").join(format!("{name}.bin")), asked).unwrap();
        let _ = writeln!(program, "{}", module(name, &artifact));
        let _ = writeln!(calls, "    {name}::run();");
    }
    let _ = writeln!(program, "fn main() {{\n{calls}}}");
    fs::write(folder.join("src/main.rs"), program).unwrap();
    // Kept, so that calib-core is built once.
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/exported");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let run = Command::new(cargo)
        .args(["run", "--quiet", "--offline", "--target-dir"])
        .arg(target)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    run.stdout.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// The function that the first comment shows; nobody calls it.
fn example(table: &str) -> String {
    let lines = table.lines().skip_while(|line| !line.starts_with("//     fn example("));
    let lines = lines.map_while(|line| line.strip_prefix("//     "));
    let function: Vec<&str> = lines.collect();
    let has_intervals = table.contains("_INTERVALS");
    assert!(function.len() == if has_intervals { 8 } else { 4 }, "{table}");
    function.chunks(4).map(|lines| format!("#[allow(dead_code)]\n{}\n", lines.join("\n"))).collect()
}

const PROGRAM: &str = "
use std::io::Write;

fn put((bin, prob): (u16, f32)) {
    put_words([u32::from(bin), prob.to_bits()]);
}

#[allow(dead_code)]
fn put_interval(interval: Option<calib_core::ProbInterval>) {
    put_words(interval.map_or([f32::NAN; 2], |interval| [interval.lo, interval.hi]).map(f32::to_bits));
}

fn put_words(words: [u32; 2]) {
    std::io::stdout().write_all(words.map(u32::to_le_bytes).as_flattened()).unwrap();
}
";

/// A module with the exported tables, which looks everything up.
fn module(name: &str, artifact: &Artifact<'_>) -> String {
    let encoding = artifact.header().encoding;
    let score = match (encoding.is_quantized(), encoding.is_margin()) {
        (false, true) => "calib_core::Margin::new(f32::from_bits(word)).unwrap()".to_owned(),
        (false, false) => "calib_core::Score::new(f32::from_bits(word)).unwrap()".to_owned(),
        // The key of a table, whatever it stands for.
        (true, _) if is_top2_margin(artifact) => format!(
            "calib_core::QuantizedScore::from_key(calib_core::ScoreEncoding::{encoding:?}, word as u16).unwrap()"
        ),
        (true, _) => format!(
            "calib_core::QuantizedScore::new(calib_core::ScoreEncoding::{encoding:?}, word as i32).unwrap()"
        ),
    };
    let first = (0..artifact.tables().count()).find_map(|index| artifact.tables().get(index)).unwrap();
    let looked_up = match first.form {
        TableForm::Randomized(_) | TableForm::MarginRandomized(_) => {
            "table.lookup(score, (place as u32).wrapping_mul(2_654_435_761))"
        }
        TableForm::VennAbers(_) | TableForm::MarginVennAbers(_) => {
            "{ let (bin, prob, _) = table.lookup(score); (bin, prob) }"
        }
        TableForm::Scaling(_) | TableForm::MarginScaling(_) => "(0, table.prob(score))",
        TableForm::Compact(_) if !encoding.is_quantized() => "table.lookup_score(score)",
        _ => "table.lookup(score)",
    };
    format!(
        "mod {name} {{
    include!(\"{name}.in\");
    pub(crate) fn run() {{
        let words = include_bytes!(\"{name}.bin\").as_chunks::<4>().0;
        for (at, table) in {static_name}.iter().enumerate().filter_map(|(at, table)| Some((at, table.as_ref()?))) {{
            let _ = at;
            for (place, word) in words.iter().enumerate() {{
                let word = u32::from_le_bytes(*word);
                let score = {score};
                let _ = place;
                super::put({looked_up});
                {interval}
            }}
        }}
    }}
}}",
        static_name = name.to_ascii_uppercase(),
        interval = interval(artifact, &first.form, looked_up, &name.to_ascii_uppercase()),
    )
}

/// What puts out the interval of a score, if there is one.
fn interval(artifact: &Artifact<'_>, form: &TableForm<'_>, looked_up: &str, name: &str) -> String {
    let encoding = artifact.header().encoding;
    if !has_intervals(artifact) {
        return String::new();
    }
    if artifact.score_intervals().is_none() {
        return format!("super::put_interval({name}_INTERVALS[at].unwrap()[usize::from({looked_up}.0)]);");
    }
    let key = match form {
        _ if encoding.is_quantized() => "score.key().into()",
        TableForm::Compact(_) => "score.rounded_key().into()",
        _ if encoding.is_margin() => "score.key()",
        _ => "score.to_bits()",
    };
    format!(
        "{{ let ranges = {name}_INTERVALS[at].as_ref().unwrap(); super::put_interval(ranges.interval(ranges.bin({key}))); }}"
    )
}

/// Whether probabilities have an interval; Venn-Abers has p0 and p1 in its place.
fn has_intervals(artifact: &Artifact<'_>) -> bool {
    let header = artifact.header();
    let has_own = header.method != Method::VennAbers && header.reduction != Reduction::Normalized;
    artifact.score_intervals().is_some() || (artifact.tables().has_intervals() && has_own)
}

/// The bits of scores, or codes.
fn asked(artifact: &Artifact<'_>) -> Vec<u32> {
    match code_steps(artifact.header()) {
        Some((lowest, highest, step)) => {
            (lowest..=highest).step_by(step as usize).map(|code| code as u32).collect()
        }
        None => {
            let is_margin = artifact.header().encoding.is_margin();
            let valid = |score: &f32| match is_margin {
                true => calib_core::Margin::new(*score).is_ok(),
                false => calib_core::Score::new(*score).is_ok(),
            };
            scores(artifact).into_iter().filter(valid).map(f32::to_bits).collect()
        }
    }
}

/// The same by calib-core, from the artifacts.
pub(crate) fn expected(all: &[Exportable]) -> Vec<u32> {
    let mut out = Vec::new();
    for Exportable { stored, .. } in all {
        let artifact = stored.artifact();
        let tables = artifact.tables();
        for index in (0..tables.count()).filter(|&index| tables.get(index).is_some()) {
            let form = tables.get(index).unwrap().form;
            for (place, bits) in (0..).zip(asked(&artifact)) {
                let (bin, prob) = look_up(&artifact, &form, bits, word(place));
                out.extend([bin.into(), prob.to_bits()]);
                if has_intervals(&artifact) {
                    let calibrated = calibrated(&artifact, index, bits, word(place));
                    let ends =
                        calibrated.interval.map_or([f32::NAN; 2], |interval| [interval.lo, interval.hi]);
                    out.extend(ends.map(f32::to_bits));
                }
            }
        }
    }
    out
}

/// The answer of the calibrator, which finds the interval itself.
fn calibrated(artifact: &Artifact<'_>, table: usize, bits: u32, word: u32) -> Calibrated {
    let float = f32::from_bits(bits);
    let found = match artifact.header().encoding {
        encoding if encoding.is_quantized() => of_code(artifact, table, bits as i32),
        encoding if encoding.is_margin() => of_margin(artifact, table, float.try_into().unwrap(), word),
        _ => of_score(artifact, table, float.try_into().unwrap(), word),
    };
    found.unwrap()
}

fn is_top2_margin(artifact: &Artifact<'_>) -> bool {
    artifact.header().flags.contains(calib_core::artifact::HeaderFlags::TOP2_MARGIN)
}

fn look_up(artifact: &Artifact<'_>, form: &TableForm<'_>, bits: u32, word: u32) -> (u16, f32) {
    let score = || calib_core::Score::new(f32::from_bits(bits)).unwrap();
    let margin = || calib_core::Margin::new(f32::from_bits(bits)).unwrap();
    let encoding = artifact.header().encoding;
    let code = || match is_top2_margin(artifact) {
        true => calib_core::QuantizedScore::from_key(encoding, bits as u16).unwrap(),
        false => calib_core::QuantizedScore::new(encoding, bits as i32).unwrap(),
    };
    match form {
        TableForm::Steps(table) => table.lookup(score()),
        TableForm::Randomized(table) => table.lookup(score(), word),
        TableForm::Interpolated(table) => table.lookup(score()),
        TableForm::Scaling(function) => (0, function.prob(score())),
        TableForm::VennAbers(table) => {
            let (bin, prob, _) = table.lookup(score());
            (bin, prob)
        }
        TableForm::Codes(table) => table.lookup(code()),
        TableForm::Compact(table) if artifact.header().encoding.is_quantized() => table.lookup(code()),
        TableForm::Compact(table) if encoding.is_margin() => table.lookup_score(margin()),
        TableForm::Compact(table) => table.lookup_score(score()),
        TableForm::MarginSteps(table) => table.lookup(margin()),
        TableForm::MarginRandomized(table) => table.lookup(margin(), word),
        TableForm::MarginInterpolated(table) => table.lookup(margin()),
        TableForm::MarginScaling(function) => (0, function.prob(margin())),
        TableForm::MarginVennAbers(table) => {
            let (bin, prob, _) = table.lookup(margin());
            (bin, prob)
        }
        other => panic!("no test for {other:?}"),
    }
}
