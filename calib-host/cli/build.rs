//! Lists the packages that this build links in: `calib bundle` names them in its bill of materials.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| PathBuf::from(env::var_os(name).expect("cargo sets it"));
    let (out, manifest) = (variable("OUT_DIR"), variable("CARGO_MANIFEST_DIR"));
    // The lock file is that of the program that is built, which need not be the one beside this package.
    let is_workspace = |folder: &&Path| folder.join("Cargo.lock").is_file();
    let workspace = out.ancestors().find(is_workspace).or_else(|| manifest.ancestors().find(is_workspace));
    let listed = workspace.ok_or_else(|| "there is no Cargo.lock".to_owned()).and_then(list);
    let packages = listed.unwrap_or_else(|why| {
        println!("cargo::warning=bundles of this build name no packages: {why}");
        String::new()
    });
    fs::write(out.join("packages.txt"), packages).expect("the folder of the build can be written");
}

/// A line a package: name, version and license, with a bar between.
fn list(workspace: &Path) -> Result<String, String> {
    println!("cargo::rerun-if-changed={}", workspace.join("Cargo.lock").display());
    let target = env::var("TARGET").expect("cargo sets it");
    let features = ["arrow", "png", "probe", "serial"];
    let is_on = |feature: &&str| env::var_os(format!("CARGO_FEATURE_{}", feature.to_uppercase())).is_some();
    let features: Vec<&str> = features.into_iter().filter(is_on).collect();
    let features = features.join(",");
    let of_package = ["--package", "calib-cli", "--features", &features];
    // Elsewhere the program is the workspace: the package for Python, or the page.
    let what: &[&str] =
        if workspace.join("calib-host/cli").is_dir() { &of_package } else { &["--all-features"] };
    let cargo = Command::new(env::var_os("CARGO").expect("cargo sets it"))
        .current_dir(workspace)
        .args(["tree", "--locked", "--offline", "--edges", "normal,no-proc-macro", "--prefix", "none"])
        .args(["--format", "{p}|{l}", "--target", &target])
        .args(what)
        .output()
        .map_err(|cause| cause.to_string())?;
    if !cargo.status.success() {
        return Err(String::from_utf8_lossy(&cargo.stderr).lines().next().unwrap_or_default().to_owned());
    }
    let mut packages: Vec<String> =
        String::from_utf8_lossy(&cargo.stdout).lines().filter_map(package).collect();
    packages.sort();
    packages.dedup();
    Ok(packages.join("\n"))
}

/// `name v1.0.0 (/folder)|MIT (*)` without the folder and the mark of what is listed before.
fn package(line: &str) -> Option<String> {
    let (package, license) = line.trim_end_matches(" (*)").split_once('|')?;
    let (name, version) = package.split_once(" v")?;
    let version = version.split(' ').next()?;
    Some(format!("{name}|{version}|{license}"))
}
