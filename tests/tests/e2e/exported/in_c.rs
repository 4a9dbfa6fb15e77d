//! Headers compiled for the host and for the cores, and run.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use calib_core::artifact::{Method, Reduction};
use calib_core::{Artifact, ScoreEncoding};
use calib_tests::Board;

use super::asked::{code_steps, codes, probs, scores};

/// What no compiler of the field objects to.
const WARNINGS: [&str; 6] = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion", "-Wshadow"];

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/exported")
}

/// Writes the header and what is asked of it into a folder.
pub(crate) fn prepare(folder: &Path, artifact: &Artifact<'_>, header: &str) {
    fs::write(folder.join("cal.h"), header).unwrap();
    fs::write(folder.join("case.h"), case(artifact)).unwrap();
    fs::copy(sources().join("probe.c"), folder.join("probe.c")).unwrap();
}

/// Compiles the function that the header's first comment shows, in a file of its own.
pub(crate) fn check_example(folder: &Path, header: &str) {
    let place = folder.join("example.c");
    fs::write(&place, example(header)).unwrap();
    compile(folder, "cc", &["-std=c99", "-fsyntax-only"], &[&place]);
}

fn example(header: &str) -> String {
    let comment = header.split_once("*/").unwrap().0;
    let lines = comment.lines().skip_while(|line| !line.trim_start().starts_with("void example("));
    let function: Vec<&str> = lines.map(str::trim_end).take_while(|line| !line.ends_with('.')).collect();
    assert!(function.len() > 5, "{comment}");
    format!("#include \"cal.h\"\n\nvoid use_it(double number);\n\n{}\n", function.join("\n"))
}

/// The macros and arrays that `probe.c` takes.
fn case(artifact: &Artifact<'_>) -> String {
    let header = artifact.header();
    let mut text = String::from("#include <stdint.h>\n");
    // Writing to a string does not fail.
    match code_steps(header) {
        Some((lowest, highest, step)) => {
            let kind = match header.encoding {
                ScoreEncoding::U8 { .. } => "uint8_t",
                ScoreEncoding::I8 { .. } => "int8_t",
                ScoreEncoding::I16 { .. } => "int16_t",
                _ => "uint16_t",
            };
            let _ = writeln!(text, "#define CODE_TYPE {kind}\n#define LOWEST ({lowest})");
            let _ = writeln!(text, "#define HIGHEST {highest}\n#define STEP {step}");
        }
        None => {
            let words: Vec<String> =
                scores(artifact).iter().map(|score| format!("{:#x}u", score.to_bits())).collect();
            let _ = writeln!(text, "static const uint32_t asked[] = {{{}}};", words.join(", "));
        }
    }
    let word = if artifact.is_randomized() { "((uint32_t)(place) * 2654435761u)," } else { "" };
    let _ = writeln!(text, "#define WORD(place) {word}");
    // Those of Venn-Abers are p0 and p1, unless it has others beside.
    let is_pair = header.method == Method::VennAbers && artifact.score_intervals().is_none();
    if artifact.tables().has_intervals() && header.reduction != Reduction::Normalized {
        let _ = writeln!(text, "#define {}", if is_pair { "HAS_P0_P1" } else { "HAS_INTERVAL" });
    }
    let function = match header.reduction {
        Reduction::Confidence | Reduction::TopLabel => "HAS_TOP_LABEL",
        Reduction::TopKLabel { .. } | Reduction::TopKConfidence { .. } => "HAS_TOP_K",
        Reduction::Normalized => "HAS_NORMALIZED",
        _ => return text,
    };
    if header.encoding.is_quantized() {
        let _ = writeln!(
            text,
            "#define VECTOR_TYPE {}",
            if matches!(header.encoding, ScoreEncoding::I8 { .. }) { "int8_t" } else { "uint8_t" }
        );
    }
    // Floats as their bits: NaN has no notation in C.
    let (kind, rows) = match header.encoding.is_quantized() {
        true if matches!(header.encoding, ScoreEncoding::I8 { .. }) => {
            ("int8_t", rows(&codes(), |code| (code as i8).to_string()))
        }
        true => ("uint8_t", rows(&codes(), |code| code.to_string())),
        false => ("uint32_t", rows(&probs(), |prob| format!("{:#x}u", prob.to_bits()))),
    };
    let _ = writeln!(text, "#define {function}\n#define VECTORS {}", rows.len());
    let _ = writeln!(text, "static const {kind} vector_words[] = {{{}}};", rows.join(", "));
    text
}

fn rows<T: Copy, const N: usize>(rows: &[[T; N]], show: impl Fn(T) -> String) -> Vec<String> {
    rows.iter().map(|row| row.map(&show).join(", ")).collect()
}

/// What the probe puts out on this machine; its header is also valid C++.
pub(crate) fn on_host(folder: &Path) -> Vec<u32> {
    let (probe, host) = (folder.join("probe.c"), sources().join("host.c"));
    compile(folder, "c++", &["-std=c++11", "-fsyntax-only", "-x", "c++"], &[&probe]);
    check_casts(folder);
    compile(folder, "cc", &["-std=c99", "-O2", "-o", "probe"], &[&probe, &host]);
    put_out(folder, &mut Command::new(folder.join("probe")))
}

/// What a file that includes the header is compiled to, by each compiler and standard that a firmware may have.
pub(crate) fn objects(folder: &Path) -> Vec<Vec<u8>> {
    let places = ["use.c", "use.cpp"].map(|name| folder.join(name));
    for place in &places {
        fs::write(place, "#include \"cal.h\"\n").unwrap();
    }
    let [c, cpp] = &places;
    // Functions that nobody calls are kept, so that they are compared.
    let kept: &[&str] =
        &["-fkeep-inline-functions", "-fkeep-static-functions", "-Wno-comment", "-c", "-o", "use.o"];
    let compiled = |compiler, flags: &[&str], place: &Path| {
        compile(folder, compiler, &[flags, kept].concat(), &[place]);
        fs::read(folder.join("use.o")).unwrap()
    };
    vec![
        compiled("cc", &["-std=c99"], c),
        compiled("cc", &["-std=c11"], c),
        compiled("cc", &["-std=gnu99", "-trigraphs"], c),
        compiled("c++", &["-std=c++11"], cpp),
    ]
}

/// That the header converts numbers as C++ likes it.
fn check_casts(folder: &Path) {
    let place = folder.join("header.cpp");
    fs::write(&place, "#include \"cal.h\"\n").unwrap();
    let version = Command::new("c++").arg("--version").output().unwrap().stdout;
    // Clang has no warning of a cast that changes nothing.
    let is_clang = String::from_utf8_lossy(&version).contains("clang");
    let more: &[&str] = if is_clang { &[] } else { &["-Wuseless-cast"] };
    let flags = [&["-std=c++11", "-fsyntax-only", "-Wold-style-cast"], more].concat();
    compile(folder, "c++", &flags, &[&place]);
}

/// What it puts out on an emulated core, linked without any library but the compiler's own.
pub(crate) fn on_core(folder: &Path, board: Board) -> Vec<u32> {
    let (tools, flags) = board.c_compiler();
    // Homebrew's tools for RISC-V have a shorter name.
    let compilers = [format!("{tools}-gcc"), format!("{}-gcc", tools.replace("-unknown", ""))];
    let compiler = compilers.iter().find(|name| Command::new(name).arg("--version").output().is_ok());
    let compiler =
        compiler.unwrap_or_else(|| panic!("{} is missing: `cargo xtask test` installs it", compilers[0]));
    let maps = Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware/boards/src");
    fs::copy(maps.join(board.memory_map()), folder.join("memory.x")).unwrap();
    let script = sources().join("core.ld").display().to_string();
    // Not `c99`: a compiler that keeps to it joins no multiplication with an addition.
    let own = ["-std=gnu99", "-O2", "-ffreestanding", "-nostdlib", "-T", &script, "-o", "probe.elf"];
    let (probe, core) = (folder.join("probe.c"), sources().join("core.c"));
    compile(folder, compiler, &[flags, &own].concat(), &[&probe, &core, Path::new("-lgcc")]);
    let mut qemu = board.emulator();
    qemu.args(["-machine", board.name(), "-display", "none", "-monitor", "none", "-serial", "none"])
        .args(["-semihosting-config", "enable=on,target=native"]);
    if board == Board::Virt {
        qemu.args(["-bios", "none"]);
    }
    put_out(folder, qemu.args(["-kernel", "probe.elf"]))
}

fn compile(folder: &Path, compiler: &str, arguments: &[&str], inputs: &[&Path]) {
    let built = Command::new(compiler)
        .args(WARNINGS)
        .args(["-I", "."])
        .args(arguments)
        .args(inputs)
        .current_dir(folder)
        .output()
        .unwrap_or_else(|error| panic!("{compiler}: {error}"));
    assert!(built.status.success(), "{compiler}: {}", String::from_utf8_lossy(&built.stderr));
}

/// Runs a program that writes words to `out.bin`.
fn put_out(folder: &Path, program: &mut Command) -> Vec<u32> {
    let path = folder.join("out.bin");
    let _ = fs::remove_file(&path);
    let run = program.current_dir(folder).stdin(Stdio::null()).output().unwrap();
    assert!(run.status.success(), "{program:?}: {}", String::from_utf8_lossy(&run.stderr));
    let bytes = fs::read(&path).unwrap();
    let (words, rest) = bytes.as_chunks::<4>();
    assert!(rest.is_empty());
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}
