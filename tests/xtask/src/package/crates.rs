//! The packages of Rust, as cargo would upload them.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};
use xtask::{cargo, root, run};

use super::{VERSION, unpacked};

/// In the order in which they are published: each uses only those before it.
const CRATES: [&str; 5] = ["calib-core", "calib-fit", "calib-io", "calib-cli", "calib-host"];

/// Packs every package, and compiles what was packed except in a sample.
pub(super) fn make(into: &Path, sample: bool) -> Result<()> {
    let target = root().join("target/package-build");
    let packages = CRATES.map(|name| ["--package", name]);
    let call = |words: &[&str], unverified: bool| {
        let mut cargo = cargo(&root());
        cargo.args(words).args(["--quiet", "--locked", "--allow-dirty", "--target-dir"]).arg(&target);
        run(cargo.args(packages.as_flattened()).args(unverified.then_some("--no-verify")))
    };
    // Those that use one another are compiled together, though none is published.
    call(&["package"], sample)?;
    // What the registry asks for.
    call(&["publish", "--dry-run"], true)?;
    for name in CRATES {
        let file = format!("{name}-{VERSION}.crate");
        let packed = target.join("package").join(&file);
        let folder = unpacked(&packed, "crate-unpacked")?;
        for (file, word) in
            [("LICENSE-MIT", "WITHOUT WARRANTY"), ("LICENSE-APACHE", "Apache License"), ("README.md", name)]
        {
            let text = fs::read_to_string(folder.join(file)).unwrap_or_default();
            ensure!(text.contains(word), "{name} is packed without its {file}");
        }
        fs::copy(&packed, into.join(&file))?;
    }
    if sample {
        eprintln!("not run: compiling the packed packages, which is done without --sample");
    }
    let manifest = fs::read_to_string(root().join("Cargo.toml"))?;
    if !manifest.lines().any(|line| line.starts_with("repository")) {
        eprintln!(
            "missing before publication: `repository` in [workspace.package] of Cargo.toml, and in each package"
        );
    }
    Ok(())
}
