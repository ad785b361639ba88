//! The way of a newcomer, as docs/quickstart.md describes it, works as it is written.

use crate::server::Server;
use crate::walk::{Walk, page};

#[test]
fn the_commands_of_the_quickstart_work_and_show_what_it_says() {
    let place = tempfile::tempdir().expect("a folder");
    let _server = Server::start(&place.path().join(".accord"), &[]);
    Walk::of(&page("quickstart.md")).run(place.path());
}
