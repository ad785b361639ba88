//! The tutorial about live sessions, as docs/live.md describes it, works as it is written.

use crate::walk::{Walk, page};

#[test]
fn the_commands_of_the_tutorial_about_live_sessions_work_and_show_what_it_says() {
    let place = tempfile::tempdir().expect("a folder");
    Walk::of(&page("live.md")).run(place.path());
}
