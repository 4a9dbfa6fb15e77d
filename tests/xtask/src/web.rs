//! `cargo xtask web`

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use base64::prelude::{BASE64_STANDARD, Engine};
use xtask::{cargo, root, run};

use crate::notices;
use crate::report_check;
use crate::setup::{Needs, Setup};

/// The target of the page's program: a system of files and two streams, which a page gives it in 200 lines.
pub(crate) const TARGET: &str = "wasm32-wasip1";

/// The largest size of the page.
const MAX_LEN_BYTES: usize = 4_000_000;

/// Makes the page, and uses it in headless Chromium if that is asked for.
pub(crate) fn web(setup: Setup, checked: bool) -> Result<()> {
    setup.provide(&Needs { targets: &[TARGET], ..Needs::default() })?;
    let folder = root().join("calib-host/web");
    let built = root().join("target/web");
    run(cargo(&folder)
        .args(["build", "--quiet", "--locked", "--release", "--target", TARGET, "--target-dir"])
        .arg(&built))?;
    let program = fs::read(built.join(TARGET).join("release/calib-web.wasm"))?;
    let page = page(&folder.join("page"), &program)?;
    ensure!(page.len() <= MAX_LEN_BYTES, "the page has {} bytes", page.len());
    let file = built.join("calib.html");
    fs::write(&file, &page)?;
    println!("{}: {} bytes, of which the program has {} unpacked", file.display(), page.len(), program.len());
    if checked { report_check::in_chromium(setup, "web-check") } else { Ok(()) }
}

/// The page with everything that it names in double braces.
fn page(folder: &Path, program: &[u8]) -> Result<String> {
    let read =
        |path: &Path| fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()));
    let first_steps = root().join("docs/src/first-steps");
    let parts = [
        ("style.css", read(&folder.join("style.css"))?),
        ("worker.js", read(&folder.join("worker.js"))?),
        ("page.js", read(&folder.join("page.js"))?),
        ("cal.csv", read(&first_steps.join("cal.csv"))?),
        ("test.csv", read(&first_steps.join("test.csv"))?),
        ("notices", packed(&fs::read(notices::write(notices::CALIB_WEB)?)?)?),
        ("command", packed(program)?),
    ];
    let mut page = read(&folder.join("calib.html"))?;
    for (name, text) in parts {
        let place = format!("{{{{{name}}}}}");
        ensure!(page.matches(&place).count() == 1, "calib.html has not one place for {name}");
        page = page.replace(&place, &text);
    }
    Ok(page)
}

/// Bytes as text, compressed: zopfli makes the page 3% smaller than gzip does.
fn packed(bytes: &[u8]) -> Result<String> {
    let mut packed = Vec::new();
    zopfli::compress(zopfli::Options::default(), zopfli::Format::Gzip, bytes, &mut packed)?;
    Ok(BASE64_STANDARD.encode(packed))
}
