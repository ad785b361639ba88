//! The walk through a governed run, as docs/governed-runs.md tells it, works as it is written.

use std::path::Path;
use std::process::Command;

use crate::accord::{path_with_accord, run};
use crate::quickstart::{assert_shows, blocks};

#[test]
fn the_commands_of_the_walk_work_and_show_what_it_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/governed-runs.md")).expect("the page");
    let place = tempfile::tempdir().expect("a folder");
    let agent = root.join("examples/governed-run/agent.sh");
    std::fs::copy(agent, place.path().join("agent.sh")).expect("the agent");
    let mut shell = Command::new("sh");
    shell
        .args(["-euc", &blocks(&page, "sh").concat()])
        .current_dir(place.path())
        .env("PATH", path_with_accord())
        .env("HOME", place.path())
        .envs([
            ("GIT_AUTHOR_NAME", "T"),
            ("GIT_AUTHOR_EMAIL", "t@example.org"),
            ("GIT_COMMITTER_NAME", "T"),
            ("GIT_COMMITTER_EMAIL", "t@example.org"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
        ]);
    let ran = run(shell, "");
    assert_eq!(ran.code, 0, "{ran:?}");
    let promised = blocks(&page, "text").concat();
    assert!(promised.lines().count() >= 12);
    assert_shows(&ran.stdout, &promised);
}
