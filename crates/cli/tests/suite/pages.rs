//! The hand-written pages name things that exist.

use std::path::{Path, PathBuf};

use accord_contract::codes::{Code, Protocol};

#[test]
fn every_relative_link_leads_to_a_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut broken = Vec::new();
    for page in pages(&root) {
        let text = std::fs::read_to_string(&page).expect("a page");
        let folder = page.parent().expect("a folder");
        for link in text.split("](").skip(1) {
            let target = link.split([')', '#']).next().unwrap_or_default();
            if target.contains("://") || target.is_empty() {
                continue;
            }
            if !folder.join(target).exists() {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn the_page_of_refusals_has_every_code_of_governed_runs() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/run-refusals.md");
    let page = std::fs::read_to_string(page).expect("the page");
    for code in Code::ALL {
        if code.protocol() == Protocol::Xchain {
            let name = format!("`{}`", code.as_str());
            assert!(page.contains(&name), "{name} is missing");
        }
    }
}

/// Every page outside of `target` and of folders whose names begin with a dot.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy();
        if name.starts_with('.') || name == "target" {
            continue;
        }
        if path.is_dir() {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found
}
