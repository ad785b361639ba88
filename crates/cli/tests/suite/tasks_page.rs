//! The tutorial about tasks, as docs/tasks.md describes it, works as it is written.

use std::path::Path;

use crate::walk::{Walk, page};

#[test]
fn the_commands_of_the_tutorial_about_tasks_work_and_show_what_it_says() {
    let place = tempfile::tempdir().expect("a folder");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::copy(root.join("examples/tasks/agent.sh"), place.path().join("agent.sh"))
        .expect("the agent");
    Walk::of(&page("tasks.md")).run(place.path());
    // Nothing opened the store.
    let data = place.path().join("shop/.accord");
    assert!(data.join("projects/shop/tasks").is_dir());
    assert!(!data.join("accord.db").exists());
}
