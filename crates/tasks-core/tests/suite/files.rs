//! Task files.

use accord_tasks_core::task::{FileError, TaskFile, content_hash};
use accord_tasks_core::yaml::Change;
use serde_json::json;

use crate::support::{members, task};

#[test]
fn a_new_file_is_read_again() {
    let file = task("TASK-2026-02-09-001", "backlog", json!({"title": "yes: no # maybe"}));
    let text = file.text();
    assert!(text.starts_with("---\nschemaVersion: 1\nid: TASK-2026-02-09-001\n"), "{text}");
    assert!(text.ends_with("metadata: {}\n---\n\n## Instructions\n\nShip it.\n"), "{text}");
    assert_eq!(TaskFile::read(&text).unwrap(), file);
    assert_eq!(content_hash("x").len(), 16);
}

#[test]
fn what_a_person_saved_stays_as_it_is() {
    let file = task("TASK-2026-02-09-001", "backlog", json!({}));
    let body = "## Instructions\n\n---\n\nmore\n\n\n";
    let marked = format!("\u{feff}--- \n{}", &file.text()[4..]);
    let own = marked.replace("Ship it.\n", &format!("{body}\t"));
    for text in [own.clone(), own.replace('\n', "\r\n")] {
        let mut read = TaskFile::read(&text).unwrap();
        assert_eq!(read.text(), text);
        assert!(read.is_text(&text));
        assert!(!read.is_text(&text[..text.len() - 1]) && !read.is_text(&format!("{text} ")));
        read.edit(&[Change::set(&["status"], "ready")]).unwrap();
        assert_eq!(read.text(), text.replace("status: backlog", "status: ready"));
    }
}

#[test]
fn a_broken_file_is_refused_with_its_reason() {
    let text = task("TASK-2026-02-09-001", "backlog", json!({})).text();
    assert_eq!(TaskFile::read("title: x"), Err(FileError::NoFence));
    assert_eq!(TaskFile::read(""), Err(FileError::NoFence));
    assert_eq!(TaskFile::read("---\ntitle: x\n"), Err(FileError::Unterminated));
    let twice = text.replace("title: Ship it", "title: a\ntitle: b");
    let error = TaskFile::read(&twice).unwrap_err().to_string();
    assert_eq!(error, "the front matter: line 6: the key title appears twice");
    for (member, wrong) in [
        ("schemaVersion", json!(3)),
        ("id", json!("TASK-1")),
        ("title", json!("")),
        ("status", json!("open")),
        ("priority", json!("urgent")),
        ("createdAt", json!("2026-02-09")),
        ("dependsOn", json!(["x"])),
        ("metadata", json!([])),
        ("lease", json!({"agent": "a"})),
    ] {
        let mut changed = members("TASK-2026-02-09-001", "backlog", json!({}));
        changed.insert(member.into(), wrong.clone());
        let error = TaskFile::write(changed, "").unwrap_err().to_string();
        assert!(error.contains(&format!("/{member}")), "{member}: {error}");
    }
}

#[test]
fn an_edit_that_would_break_a_task_changes_nothing() {
    let mut file = task("TASK-2026-02-09-001", "backlog", json!({}));
    let before = file.clone();
    file.edit(&[Change::set(&["title"], "new"), Change::set(&["status"], "open")]).unwrap_err();
    assert_eq!(file, before);
}
