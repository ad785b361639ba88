//! Links the command of a development build to a fixed address.
#![expect(clippy::disallowed_methods, reason = "Cargo speaks to a build script by variables")]

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|it| it == value);
    // The tests start the command thousands of times. Without optimisation, half of such a start
    // was to relocate it.
    if is("PROFILE", "debug")
        && is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
    {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
