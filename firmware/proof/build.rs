//! Nothing but the functions under test: no start-up code, and the symbol of the panic handler stays undefined.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-arg-bins=--gc-sections");
    println!("cargo::rustc-link-arg-bins=--no-undefined");
    println!("cargo::rustc-link-arg-bins=--entry=prove");
}
