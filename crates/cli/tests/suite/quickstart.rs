//! The way of a newcomer, as docs/quickstart.md tells it, works as it is written.

use std::path::Path;
use std::process::Command;

use crate::accord::{path_with_accord, run};
use crate::server::Server;

#[test]
fn the_commands_of_the_quickstart_work_and_show_what_it_says() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/quickstart.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let place = tempfile::tempdir().expect("a folder");
    let _server = Server::start(&place.path().join(".accord"), &[]);
    let mut shell = Command::new("sh");
    shell
        .args(["-euc", &blocks(&page, "sh").concat()])
        .current_dir(place.path())
        .env("PATH", path_with_accord())
        .env_remove("ACCORD_URL")
        .env_remove("ACCORD_KEY")
        .env_remove("ACCORD_DATA");
    let ran = run(shell, "");
    assert_eq!(ran.code, 0, "{ran:?}");
    let promised = blocks(&page, "text").concat();
    assert!(promised.lines().count() >= 6);
    assert_shows(&ran.stdout, &promised);
}

/// Output has each line that a page promises, up to an ellipsis.
#[track_caller]
pub(crate) fn assert_shows(output: &str, promised: &str) {
    for line in promised.lines() {
        let line = line.split('…').next().unwrap_or(line);
        assert!(output.contains(line), "{line:?} is not in\n{output}");
    }
}

/// The code of a page in one language.
pub(crate) fn blocks(page: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let blocks = page.split(&fence).skip(1);
    blocks.map(|block| block.split("```").next().unwrap_or_default().to_owned()).collect()
}
