//! The hand-written pages name things that exist.

use std::path::{Path, PathBuf};

use accord_contract::{Code, Protocol};

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

#[test]
fn every_path_in_the_architecture_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("ARCHITECTURE.md")).expect("the page");
    let folders = [
        ".agentxchain-conformance/",
        "contracts/",
        "corpus/",
        "crates/",
        "docs/",
        "examples/",
        "tools/",
    ];
    // Every second part is between two backticks.
    let quoted = page.split('`').skip(1).step_by(2);
    let paths: Vec<&str> =
        quoted.filter(|word| folders.iter().any(|folder| word.starts_with(folder))).collect();
    assert!(paths.len() > 50, "the page names files");
    let missing: Vec<&&str> = paths.iter().filter(|path| !root.join(path).exists()).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names {missing:#?}");
}

#[test]
fn every_crate_has_a_readme_and_a_row_in_the_architecture() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("ARCHITECTURE.md")).expect("the page");
    for entry in std::fs::read_dir(root.join("crates")).expect("the crates") {
        let folder = entry.expect("an entry").path();
        let name = folder.file_name().expect("a name").to_string_lossy();
        assert!(folder.join("README.md").exists(), "crates/{name}/README.md");
        assert!(page.contains(&format!("| `crates/{name}` |")), "{name}");
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
