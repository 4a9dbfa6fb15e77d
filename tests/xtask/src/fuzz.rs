//! `cargo xtask fuzz`

use std::fs;

use anyhow::{Context, Result};

use crate::root;
use crate::run::{cargo, output, run};

/// Runs every fuzz target. Works with stable Rust: coverage is built in, sanitizers are not used.
pub(crate) fn fuzz(runs: u64) -> Result<()> {
    let folder = root().join("tests/fuzz");
    if output("cargo", &["fuzz", "--version"]).is_none() {
        run(cargo(&root()).args(["install", "--locked", "cargo-fuzz"]))?;
    }
    for target in ["parse", "frame", "boot", "serve"] {
        let corpus = folder.join("corpus").join(target);
        fs::create_dir_all(&corpus).with_context(|| format!("cannot create {}", corpus.display()))?;
        run(cargo(&folder)
            .args(["fuzz", "run", "--fuzz-dir", ".", "--sanitizer", "none", target])
            .arg(&corpus)
            .arg(folder.join("seeds").join(target))
            .args(["--", &format!("-runs={runs}"), "-max_len=2048", "-print_final_stats=1"]))?;
    }
    Ok(())
}
