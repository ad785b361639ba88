//! How Accord is built and tested: one test command, and one build of each crate from the registry.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::accord::run;

/// README's first command and its test command share what they build from the registry.
#[test]
fn the_command_and_its_tests_use_crates_with_the_same_features() {
    let command = registry_crates(&["-p", "accord-cli", "-e", "normal,build"]);
    let tests = ["--workspace", "-e", "normal,build,dev", "--features", "accord-cli/faults"];
    let tests = registry_crates(&tests);
    assert!(command.len() > 100 && tests.len() > command.len());
    let different: Vec<&String> = command.difference(&tests).collect();
    assert!(
        different.is_empty(),
        "tests need these with other features; see [workspace.dependencies]:\n{different:#?}"
    );
}

#[test]
fn there_is_one_command_for_all_tests() {
    let read = |name: &str| std::fs::read_to_string(workspace().join(name)).expect(name);
    let readme = read("README.md");
    let named = readme.split('`').find(|code| code.starts_with("cargo test "));
    let named = named.expect("README names the command");
    assert!(read(".ci/run").lines().any(|line| line == named), "{named}");
    assert!(read("CONTRIBUTING.md").contains(&format!("`{named}`")), "{named}");
}

/// The crates from the registry that a build uses, each with its features.
fn registry_crates(args: &[&str]) -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(workspace()).args(["tree", "--offline", "--prefix", "none", "--no-dedupe"]);
    cargo.args(["--format", "{p} {f}"]).args(args);
    let ran = run(cargo, "");
    assert_eq!(ran.code, 0, "{ran:?}");
    // A crate of the workspace has its folder after its version.
    let lines = ran.stdout.lines().filter(|line| !line.is_empty() && !line.contains(" (/"));
    lines.map(str::to_owned).collect()
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
