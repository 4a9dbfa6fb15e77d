//! The `calib` command, for tests of what it does with devices.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The `calib` that the variable `CALIB` names, such as the one that was built with the tests; otherwise builds one, light:
/// without the formats of tables and without probes.
///
/// # Panics
///
/// If it does not build.
pub fn calib() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        if let Some(built) = env::var_os("CALIB") {
            return built.into();
        }
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests are in the workspace");
        let built = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .current_dir(workspace)
            .args(["build", "--quiet", "--locked", "--package", "calib-host", "--no-default-features"])
            .args(["--features", "cli,serial"])
            .status();
        assert!(built.is_ok_and(|status| status.success()), "`calib` did not build");
        let target = env::var_os("CARGO_TARGET_DIR").map_or(workspace.join("target"), PathBuf::from);
        target.join("debug/calib")
    })
}
