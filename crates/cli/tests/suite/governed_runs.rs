//! The walk through a governed run, as docs/governed-runs.md tells it, works as it is written.

use std::path::Path;
use std::process::Command;

use crate::quickstart::blocks;

#[test]
fn the_commands_of_the_walk_work_and_show_what_it_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/governed-runs.md")).expect("the page");
    let place = tempfile::tempdir().expect("a folder");
    let agent = root.join("examples/governed-run/agent.sh");
    std::fs::copy(agent, place.path().join("agent.sh")).expect("the agent");
    let binary = Path::new(env!("CARGO_BIN_EXE_accord"));
    let path = format!(
        "{}:{}",
        binary.parent().expect("a folder").display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let ran = Command::new("sh")
        .args(["-euc", &blocks(&page, "sh").concat()])
        .current_dir(place.path())
        .env("PATH", path)
        .env("HOME", place.path())
        .envs([
            ("GIT_AUTHOR_NAME", "T"),
            ("GIT_AUTHOR_EMAIL", "t@example.org"),
            ("GIT_COMMITTER_NAME", "T"),
            ("GIT_COMMITTER_EMAIL", "t@example.org"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
        ])
        .output()
        .expect("a shell");
    let shown = String::from_utf8(ran.stdout).expect("text");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{shown}\n{said}");
    let promised = blocks(&page, "text").concat();
    assert!(promised.lines().count() >= 12);
    for line in promised.lines() {
        let line = line.split('…').next().unwrap_or(line);
        assert!(shown.contains(line), "{line:?} is not in\n{shown}");
    }
}
