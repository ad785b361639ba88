//! Importing notes and records of other tools.

use std::fs;
use std::path::Path;

use crate::memory::{Memory, Way};

const PROJECT: [&str; 2] = ["--project", "shop"];

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("written");
}

fn adr(number: u32, title: &str, status: &str) -> String {
    format!(
        "# {number}. {title}\n\nDate: 2026-02-0{number}\n\n## Status\n\n{status}\n\n\
        ## Decision\n\nWe do it.\n"
    )
}

#[test]
fn decision_records_are_looked_at_imported_and_imported_again() {
    for way in Way::ALL {
        let memory = Memory::reached(way);
        let folder = memory.file("repo");
        let root = Path::new(&folder);
        fs::create_dir_all(root.join(".git")).expect("a folder");
        write(root, "docs/adr/0001-files.md", &adr(1, "Use files", "Accepted"));
        write(root, "docs/adr/0002-queue.md", &adr(2, "Use a queue", "Proposed"));
        write(root, "docs/adr/node_modules/x/0003-no.md", &adr(3, "No", "Accepted"));
        let path = root.join("docs/adr").display().to_string();
        let import = [&["context", "import", &path, "--from", "adr"], &PROJECT[..]].concat();
        let look = [&import[..], &["--dry-run"]].concat();
        let said = memory.ran(&look).yes();
        for part in ["add", "decision", "2026-02-01", "Use files", "docs/adr/0002-queue.md line 1"]
        {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(said.contains("2 packages would be added"), "{said}");
        let plan = memory.json(&look);
        assert_eq!(plan["added"], 2);
        assert_eq!(plan["packages"][0]["path"], "docs/adr/0001-files.md");
        // Nothing is written by a look, not even the project.
        let projects = memory.ran(&["project", "list"]);
        assert!(!projects.stdout.contains("shop"), "{projects:?}");

        let said = memory.ran(&import).yes();
        assert!(said.contains("added: 2 packages"), "{said}");
        let again = memory.ran(&import).yes();
        assert!(again.contains("unchanged: 2 packages") && !again.contains("added"), "{again}");

        write(root, "docs/adr/0001-files.md", &adr(1, "Use files", "Superseded by ADR-0003"));
        write(root, "docs/adr/0003-sqlite.md", &adr(3, "Use SQLite", "Accepted"));
        let plan = memory.json(&look);
        assert_eq!(
            (&plan["added"], &plan["superseding"], &plan["unchanged"]),
            (&1.into(), &1.into(), &1.into())
        );
        memory.ran(&import).yes();
        let questions = memory.ran(&["context", "questions", "--project", "shop"]).yes();
        assert!(questions.contains("Proposed decision: Use a queue?"), "{questions}");
        let list = memory.json(&["context", "pull", "--project", "shop"]);
        let superseded = list["x-superseded"].as_object().expect("marks");
        assert_eq!(superseded.len(), 2, "{list}");
        let packages = list["packages"].as_array().expect("packages");
        let held: Vec<&str> = (packages.iter())
            .filter(|it| !superseded.contains_key(it["package_id"].as_str().expect("an id")))
            .map(|it| it["title"].as_str().expect("a title"))
            .collect();
        assert_eq!(held.len(), 2, "{held:?}");
        assert!(held.contains(&"Use SQLite") && held.contains(&"Use a queue"), "{held:?}");
        // A proposal that is accepted is no question any more.
        write(root, "docs/adr/0002-queue.md", &adr(2, "Use a queue", "Accepted"));
        memory.ran(&import).yes();
        let questions = memory.ran(&["context", "questions", "--project", "shop"]);
        assert!(!questions.stdout.contains("queue"), "{questions:?}");
    }
}

#[test]
fn a_file_that_cannot_be_read_imports_nothing() {
    let memory = Memory::new();
    let folder = memory.file("notes");
    let root = Path::new(&folder);
    write(root, "a.md", "# A\n");
    write(root, "b.md", "---\ntitle: b\n  - odd\nnot a member\n---\n");
    let import = ["context", "import", &folder, "--from", "markdown", "--project", "shop"];
    let refused = memory.ran(&import).refused("INPUT_UNREADABLE");
    assert!(refused.contains("notes/b.md line 4"), "{refused}");
    let pulled = memory.ran(&["context", "pull", "--project", "shop"]);
    assert!(!pulled.stdout.contains('A'), "{pulled:?}");
    fs::write(root.join("b.md"), b"# \xff\n").expect("written");
    let refused = memory.ran(&import).refused("INPUT_UNREADABLE");
    assert!(refused.contains("b.md line 1: it is not UTF-8"), "{refused}");
    fs::remove_file(root.join("b.md")).expect("removed");
    memory.ran(&import).yes();
    // No file of the format is an error, too.
    let other = memory.ran(&["context", "import", &folder, "--from", "beads", "--project", "shop"]);
    assert!(other.refused("INPUT_UNREADABLE").contains("bd export"));
    let alone = memory.ran(&["context", "import", &folder, "--dry-run"]);
    assert_eq!(alone.code, 2);
}

#[test]
fn issues_memories_and_rules_are_imported() {
    let memory = Memory::new();
    let folder = memory.file("repo");
    let root = Path::new(&folder);
    let issue = r#"{"id":"bd-1","title":"Limits","status":"open","priority":1,"issue_type":"bug"}"#;
    write(root, ".beads/issues.jsonl", &format!("{issue}\n"));
    write(root, "CLAUDE.md", "# Shop\n\n## Commands\n\nmake test\n");
    let mem0 = r#"{"results":[{"id":"m1","memory":"Deploys on Friday","user_id":"u1"}]}"#;
    write(root, "mem0.json", mem0);
    let mem0 = root.join("mem0.json").display().to_string();
    for (format, path, title) in [
        ("beads", folder.as_str(), "Limits"),
        ("claude", folder.as_str(), "Commands (CLAUDE.md)"),
        ("mem0", mem0.as_str(), "Deploys on Friday"),
    ] {
        let import = [&["context", "import", path, "--from", format], &PROJECT[..]].concat();
        let said = memory.ran(&import).yes();
        assert!(said.contains("added: 1 package") || said.contains("1 package"), "{said}");
        let list = memory.json(&["context", "pull", "--project", "shop"]);
        let newest = list["packages"].as_array().expect("packages").iter();
        let mut newest = newest.filter(|package| package["title"] == title);
        let package = newest.next().expect("the package");
        assert_eq!(package["x-source"]["format"], format);
        assert_eq!(package["created_by"]["id"], "planner");
        let again = memory.ran(&import).yes();
        assert!(!again.contains("added"), "{again}");
    }
    // The author can be named, and a credential is a warning.
    let token = format!("ghp{}{}", "_", "uX9r2KpLq7TzBv4MwYc1Ns8Hd3Jf6GaEo5Ri");
    write(root, "notes/a.md", &format!("# A\n\nThe token is {token}.\n"));
    let notes = root.join("notes").display().to_string();
    let import = ["context", "import", &notes, "--from", "markdown", "--actor", "human:lead"];
    let said = memory.ran(&[&import[..], &PROJECT].concat());
    assert!(said.stdout.contains("content_md contains a token of GitHub"), "{said:?}");
    assert!(!said.stdout.contains(&token) && !said.stderr.contains(&token), "{said:?}");
}
