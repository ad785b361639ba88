//! The way of a newcomer, as docs/quickstart.md tells it, works as it is written.

use std::path::Path;
use std::process::Command;

use crate::memory::Served;

#[test]
fn the_commands_of_the_quickstart_work_and_show_what_it_says() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/quickstart.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let place = tempfile::tempdir().expect("a folder");
    let _server = Served::start(&place.path().join(".accord"), &[]);
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
        .env_remove("ACCORD_URL")
        .env_remove("ACCORD_KEY")
        .env_remove("ACCORD_DATA")
        .output()
        .expect("a shell");
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let shown = String::from_utf8(ran.stdout).expect("text");
    let promised = blocks(&page, "text").concat();
    assert!(promised.lines().count() >= 6);
    for line in promised.lines() {
        let line = line.split('…').next().unwrap_or(line);
        assert!(shown.contains(line), "{line:?} is not in\n{shown}");
    }
}

/// The code of a page in one language.
pub(crate) fn blocks(page: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let blocks = page.split(&fence).skip(1);
    blocks
        .map(|block| block.split("```").next().unwrap_or_default().to_owned())
        .collect()
}
