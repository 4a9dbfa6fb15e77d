//! Nothing but the part that is weighed: no start-up code.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-arg-bins=--gc-sections");
    println!("cargo::rustc-link-arg-bins=--entry=part");
    if ["LOG_PROB", "LOG_CALIBRATED"].map(feature).contains(&true) {
        println!("cargo::rustc-link-arg-bins=-Tdefmt.x");
    }
}

fn feature(name: &str) -> bool {
    std::env::var_os(format!("CARGO_FEATURE_{name}")).is_some()
}
