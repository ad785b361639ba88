//! The first day of a team, as docs/first-day.md describes it, works as it is written.

use std::path::Path;

use crate::walk::{Walk, page};

#[test]
fn the_first_day_goes_as_the_page_says() {
    let place = tempfile::tempdir().expect("a folder");
    let agents = place.path().join("agents");
    std::fs::create_dir(&agents).expect("a folder");
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for (example, name) in [("tasks", "worker.sh"), ("governed-run", "builder.sh")] {
        std::fs::copy(examples.join(example).join("agent.sh"), agents.join(name))
            .expect("an agent");
    }
    Walk::of(&page("first-day.md")).run(place.path());
}
