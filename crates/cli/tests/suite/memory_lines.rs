//! Whole projects out and in again.

use crate::memory::{Memory, Way};
use crate::snapshot;

/// A memory with two projects, one of them archived.
fn filled(way: Way) -> Memory {
    let memory = Memory::reached(way);
    let session = memory.ran(&["session", "start", "--id-only"]).yes();
    memory.deposit("One", &["--session", session.trim(), "--question", "why?"]);
    memory.deposit("Two", &["--status", "draft"]);
    memory.ran(&["fact", "assert", "api", "version", "1"]).yes();
    memory.ran(&["fact", "assert", "api", "version", "2"]).yes();
    memory.deposit("Elsewhere", &["--project", "archive"]);
    memory.ran(&["project", "archive", "archive"]).yes();
    memory
}

#[test]
fn what_was_exported_and_imported_is_exported_again() {
    let places = Way::ALL.map(filled);
    for memory in &places {
        let file = memory.file("all.ndjson");
        let ran = memory.ran(&["context", "export", "--all", "-o", &file]);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran:?}");
        assert_eq!(ran.stderr, "exported 8 lines of 2 projects\n");
        let lines = std::fs::read_to_string(&file).expect("lines");
        let other = Memory::reached(Way::Folder);
        let said = other.ran(&["context", "import", &file]).yes();
        assert!(said.contains("added: 1 project, 1 session, 2 packages, 2 facts"), "{said}");
        assert_eq!(other.ran(&["context", "export", "--all"]).yes(), lines);
        let said = other.ran(&["context", "import", &file]).yes();
        assert!(!said.contains("added") && said.contains("unchanged"), "{said}");
        // Through a pipe, and one project of several.
        let third = Memory::reached(Way::Folder);
        third.ran_with(&["context", "import", "-", "--project", "archive"], &lines).yes();
        let listed = third.json(&["project", "list", "--include-archived"]);
        assert_eq!(listed["projects"].as_array().map(Vec::len), Some(1));
        third.ran_with(&["context", "import", "-"], &lines).yes();
        assert_eq!(third.ran(&["context", "export", "--all"]).yes(), lines);
    }
}

#[test]
fn lines_in_any_order_go_where_they_belong() {
    let memory = filled(Way::Folder);
    let lines = memory.ran(&["context", "export", "--all"]).yes();
    // From both ends at once, so that the projects are mixed.
    let ordered: Vec<&str> = lines.lines().collect();
    let (front, back) = ordered.split_at(ordered.len() / 2);
    let mixed: Vec<&str> =
        back.iter().rev().zip(front).flat_map(|(one, other)| [*one, *other]).collect();
    let mixed = format!("{}\n\n", mixed.join("\n\n"));
    let other = Memory::new();
    other.ran_with(&["context", "import", "-"], mixed.trim_end()).yes();
    assert_eq!(other.ran(&["context", "export", "--all"]).yes(), lines);
}

#[test]
fn refused_lines_are_named_and_keep_nothing_else_out() {
    let memory = filled(Way::Folder);
    let lines = memory.ran(&["context", "export", "--all"]).yes();
    let mut lines: Vec<String> = lines.lines().map(str::to_owned).collect();
    lines.insert(0, "nonsense before any project".to_owned());
    let one = lines.iter().position(|line| line.contains("\"One\"")).expect("a package");
    lines[one] = lines[one].replace("\"One\"", "\"Won\"");
    lines.insert(one + 1, "{\"half".to_owned());
    let file = memory.file("lines");
    std::fs::write(&file, lines.join("\n")).expect("written");
    let other = Memory::new();
    let ran = other.ran(&["context", "import", &file]);
    assert_eq!(ran.code, 1, "{ran:?}");
    snapshot::check("refused_lines_are_named_and_keep_nothing_else_out", &ran.stderr);
    for (line, code) in [(one + 1, "hash_mismatch"), (one + 2, "invalid_schema")] {
        let named = format!("line {line}  {code}");
        assert!(ran.stdout.contains(&named), "{named}: {}", ran.stdout);
    }
    snapshot::check("refused_lines_are_named_and_keep_nothing_else_out-2", &ran.stdout);
    let kept = other.ran(&["context", "export", "--all"]).yes();
    assert_eq!(kept.lines().count(), lines.len() - 3);
    let ran = other.ran(&["context", "import", &file, "--json"]);
    let documents: Vec<serde_json::Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(documents.len(), 2, "one for each project");
    assert!(
        documents.iter().any(|document| document["refused"][0]["line"] == one + 1),
        "{documents:?}"
    );
}

#[test]
fn rows_of_the_reference_tool_are_taken_in() {
    let memory = Memory::new();
    let folder = memory.file("backup");
    std::fs::create_dir(&folder).expect("a folder");
    let write =
        |name: &str, text: &str| std::fs::write(format!("{folder}/{name}"), text).expect("written");
    write(
        "projects.ndjson",
        "{\"id\":\"shop\",\"name\":\"The shop\",\"created_at\":\"2026-01-01T00:00:00Z\"}\n",
    );
    write(
        "packages.ndjson",
        "{\"id\":\"p1\",\"project_id\":\"shop\",\"title\":\"From afar\",\"status\":\"approved\",\
         \"package_type\":\"standard\",\"review_type\":\"none\",\
         \"created_at\":\"2026-01-02T00:00:00Z\",\"created_by_id\":\"lead\",\
         \"created_by_type\":\"human\"}\nbroken\n",
    );
    let ran = memory.ran(&["context", "import", &folder]);
    assert_eq!(ran.code, 1, "one row is broken: {ran:?}");
    assert!(!ran.stdout.contains("refused"), "{}", ran.stdout);
    snapshot::check("rows_of_the_reference_tool_are_taken_in", &ran.stderr);
    let package = memory.json(&["context", "pull", "p1"]);
    assert_eq!(package["title"], "From afar");
    let empty = memory.file("empty");
    std::fs::create_dir(&empty).expect("a folder");
    let said = memory.ran(&["context", "import", &empty]).refused("INPUT_UNREADABLE");
    snapshot::check("rows_of_the_reference_tool_are_taken_in-2", &said);
    memory.ran(&["context", "import", "/no/such/file"]).refused("INPUT_UNREADABLE");
}

#[test]
fn an_export_that_goes_wrong_leaves_the_old_file() {
    let memory = filled(Way::Folder);
    let file = memory.file("kept");
    std::fs::write(&file, "what was there").expect("written");
    memory
        .ran(&["context", "export", "--project", "nowhere", "-o", &file])
        .refused("project_not_found");
    assert_eq!(std::fs::read_to_string(&file).expect("text"), "what was there");
    let written = memory.json(&["context", "export", "-o", &file]);
    assert_eq!(written["lines"], 6);
    let refused = memory.ran(&["context", "export", "--json"]);
    assert!(refused.code == 2 && refused.stderr.starts_with("USAGE"), "{refused:?}");
}

#[test]
fn a_damaged_package_is_found() {
    for way in [Way::Folder, Way::Url] {
        let memory = Memory::new();
        let id = memory.deposit("Sound until now", &[]);
        memory.ran(&["context", "verify"]).yes();
        damage(&memory.data().join("accord.db"));
        let memory = memory.served(way);
        let ran = memory.ran(&["context", "verify"]);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(
            ran.stdout.contains(&id) && ran.stdout.contains("integrity_error"),
            "{}",
            ran.stdout
        );
        assert!(ran.stdout.contains("problem"), "{}", ran.stdout);
        assert_eq!(memory.ran(&["context", "verify", "--json"]).code, 1);
        memory.ran(&["context", "pull", &id]).refused("integrity_error");
    }
}

/// Changes a letter of a package where it lies, as a failing disk would.
fn damage(database: &std::path::Path) {
    let mut bytes = std::fs::read(database).expect("a database");
    let needle = b"\"Sound until now\"";
    let places: Vec<usize> = (0..bytes.len() - needle.len())
        .filter(|place| bytes[*place..].starts_with(needle))
        .collect();
    assert!(!places.is_empty(), "the package lies in the database");
    for place in places {
        bytes[place + 1] = b'Z';
    }
    std::fs::write(database, bytes).expect("written");
}
