//! The walk through a governed run, as docs/governed-runs.md describes it, works as it is written.

use std::path::Path;

use crate::walk::{Walk, page};

#[test]
fn the_commands_of_the_walk_work_and_show_what_it_says() {
    let place = tempfile::tempdir().expect("a folder");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let agent = root.join("examples/governed-run/agent.sh");
    std::fs::copy(agent, place.path().join("agent.sh")).expect("the agent");
    Walk::of(&page("governed-runs.md")).run(place.path());
}
