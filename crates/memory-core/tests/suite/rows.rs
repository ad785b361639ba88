//! Rows of the reference tool's backup become lines that can be imported.

use accord_contract::Code;
use accord_memory_core::export::{
    ExportLine, RowArchive, RowFile, line_project, read_line, row_line,
};
use accord_memory_core::package::{ReviewType, Status};
use serde_json::{Value, json};

fn document(file: RowFile, row: &Value) -> Value {
    let line = row_line(file, row.to_string().as_bytes(), |_, _| None).unwrap();
    serde_json::from_str(&line).unwrap()
}

fn read(file: RowFile, row: &Value) -> ExportLine {
    let line = row_line(file, row.to_string().as_bytes(), |_, _| None).unwrap();
    read_line(line.as_bytes()).unwrap()
}

fn package_row() -> Value {
    let mut row = json!({
        "id": "pkg_1", "project_id": "atlas", "title": "Column title", "description": "",
        "status": "complete",
        "package_type": "standard", "review_type": "none", "parent_package_id": null,
        "created_by_type": "agent", "created_by_id": "claude", "session_id": null,
        "tags": ["db"], "open_questions": [], "decisions_made": [], "handoff_note": "",
        "estimated_next_actor": null, "deliverables": [], "storage_path": "atlas/pkg_1.relay.zip",
        "context_md": "# Context", "significance": 7, "topic": null, "artifact_type": "decision",
        "created_at": "2026-04-18T20:00:01.123456+00:00", "claude_session_id": null,
        "cwd": "/home/ada",
    });
    row["manifest"] = json!({
        "relay_version": "0.1", "package_id": "pkg_1", "created_at": "2026-04-18T20:00:00.000Z",
        "created_by": {"type": "agent", "id": "claude", "session_id": ""},
        "title": "Indexes rebuilt", "description": "All of them.", "status": "complete",
        "package_type": "standard", "review_type": "human", "parent_package_id": null,
        "child_package_ids": [], "dependencies": [], "tags": ["db"], "project_id": "atlas",
        "deliverables": [{"path": "a.sql", "type": "sql", "language": "sql"}],
        "open_questions": ["Which next?"], "decisions_made": ["Rebuild."], "handoff_note": "",
        "estimated_next_actor": null, "context_diff_ref": "context.cdiff",
    });
    row
}

#[test]
fn a_package_is_its_manifest_and_what_that_lacks() {
    let ExportLine::Package { package, revisions, .. } = read(RowFile::Packages, &package_row())
    else {
        panic!("it is a package")
    };
    let fields = package.fields();
    assert_eq!(fields.title.as_str(), "Indexes rebuilt");
    assert_eq!(fields.created_at.as_str(), "2026-04-18T20:00:00.000Z");
    assert_eq!(fields.review_type, ReviewType::Human);
    assert_eq!(fields.content_md(), "# Context");
    assert_eq!(fields.significance().number(), 7);
    assert_eq!(fields.created_by.session(), None);
    assert_eq!(fields.artifact_type.value().unwrap(), "decision");
    assert_eq!(fields.storage_path.value().unwrap(), "atlas/pkg_1.relay.zip");
    assert_eq!(fields.extra["context_diff_ref"], "context.cdiff");
    assert_eq!(fields.extra["x-cwd"], "/home/ada");
    assert!(!fields.extra.contains_key("x-claude_session_id"));
    assert_eq!(revisions.len(), 1);
}

#[test]
fn a_package_without_a_manifest_is_made_of_its_columns() {
    let mut row = package_row();
    row["manifest"] = json!(null);
    row["session_id"] = json!("sess_1");
    row["significance"] = json!(0);
    let ExportLine::Package { package, .. } = read(RowFile::Packages, &row) else {
        panic!("it is a package")
    };
    let fields = package.fields();
    assert_eq!(fields.title.as_str(), "Column title");
    assert_eq!(fields.created_by.session().unwrap().as_str(), "sess_1");
    assert!(fields.significance.value().is_none());
    assert_eq!(fields.created_at.as_str(), "2026-04-18T20:00:01.123456+00:00");
}

#[test]
fn words_that_the_protocol_does_not_know_are_kept_beside_its_own() {
    for (word, status) in [
        ("in_progress", Status::Draft),
        ("blocked", Status::Draft),
        ("pending_review", Status::AwaitingReview),
        ("approved", Status::Complete),
        ("rejected", Status::RevisionRequested),
    ] {
        let mut row = package_row();
        row["manifest"]["status"] = json!(word);
        row["manifest"]["package_type"] = json!("lattice_synthesis");
        let document = document(RowFile::Packages, &row);
        assert_eq!(document["status"], status.as_str());
        assert_eq!(document["x-status"], word);
        assert_eq!(document["package_type"], "x-lattice_synthesis");
        assert!(matches!(read(RowFile::Packages, &row), ExportLine::Package { .. }));
    }
    assert!(document(RowFile::Packages, &package_row()).get("x-status").is_none());
}

#[test]
fn facts_sessions_and_projects_get_the_protocols_names() {
    let fact = json!({
        "id": "fact_1", "project_id": "atlas", "subject": "build", "relation": "status",
        "object": "green",
        "source_package_id": null, "asserted_by_type": "human", "asserted_by_id": "ada",
        "valid_from": "2026-04-18T20:00:00+00:00", "ended_at": "2026-04-19T20:00:00+00:00",
        "created_at": "2026-04-18T20:00:00+00:00",
    });
    let ExportLine::Fact(fact) = read(RowFile::Facts, &fact) else { panic!("it is a fact") };
    assert_eq!((fact.predicate.as_str(), fact.value.as_str()), ("status", "green"));
    assert_eq!(fact.valid_to.unwrap().as_str(), "2026-04-19T20:00:00+00:00");
    assert_eq!(fact.asserted_by.unwrap().id.as_str(), "ada");
    assert!(fact.extra.is_empty());
    let session = json!({
        "id": "sess_1", "project_id": "atlas", "actor": {"type": "agent", "id": "claude"},
        "agent_description": "reviews", "callsign": "coral-heron",
        "started_at": "2026-04-18T20:00:00Z",
        "ended_at": null, "packages_pulled": ["pkg_0"], "packages_deposited": ["pkg_1"],
    });
    let ExportLine::Session(session) = read(RowFile::Sessions, &session) else {
        panic!("it is a session")
    };
    assert_eq!(session.actor_id.as_str(), "claude");
    assert_eq!(session.callsign.as_deref(), Some("coral-heron"));
    assert_eq!(session.extra["x-agent_description"], "reviews");
    assert_eq!(session.extra["x-packages_pulled"], json!(["pkg_0"]));
    let project = json!({
        "id": "atlas", "name": "Atlas", "description": null, "created_at": "2026-04-01T00:00:00Z",
        "owner_id": "ada", "settings": {}, "archived_at": null,
    });
    let ExportLine::Project(project) = read(RowFile::Projects, &project) else {
        panic!("it is a project")
    };
    assert_eq!(project.project_id.as_str(), "atlas");
    assert_eq!(project.extra["x-owner_id"], "ada");
    assert!(!project.extra.contains_key("x-settings"));
}

#[test]
fn documents_of_the_protocol_pass_and_others_are_refused() {
    let line = r#"{"package_id": "p", "x-n": 1.50}"#;
    let passed = row_line(RowFile::Packages, line.as_bytes(), |_, _| None).unwrap();
    assert_eq!(passed, r#"{"package_id":"p","x-n":1.50}"#);
    for line in ["", "[]", "{", "1"] {
        row_line(RowFile::Facts, line.as_bytes(), |_, _| None).unwrap_err();
    }
    let names = RowFile::ALL.map(RowFile::name);
    assert_eq!(names, ["projects.ndjson", "sessions.ndjson", "packages.ndjson", "facts.ndjson"]);
}

/// Rows in the form of `relay backup`, one of each file.
fn rows_as_written() -> [(RowFile, Value); 4] {
    let project = json!({
        "id": "proj_1", "name": "Shop", "description": "The shop", "owner_id": "ada",
        "created_at": "2026-04-01T00:00:00.000Z", "settings": {}, "archived_at": null,
    });
    let session = json!({
        "id": "sess_1", "project_id": "proj_1", "actor": {"type": "human", "id": "ada"},
        "started_at": "2026-04-02T00:00:00.000Z", "ended_at": null, "packages_pulled": [],
        "packages_deposited": [],
    });
    let fact = json!({
        "id": "fact_1", "project_id": "proj_1", "subject": "db", "relation": "engine",
        "object": "sqlite", "source_package_id": null, "asserted_by_type": "human",
        "asserted_by_id": "ada", "valid_from": "2026-04-03T00:00:00.000Z", "ended_at": null,
        "created_at": "2026-04-03T00:00:00.000Z",
    });
    let mut package = package_row();
    package["session_id"] = json!("sess_1");
    package["project_id"] = json!("proj_1");
    package["manifest"]["project_id"] = json!("proj_1");
    [
        (RowFile::Projects, project),
        (RowFile::Sessions, session),
        (RowFile::Packages, package),
        (RowFile::Facts, fact),
    ]
}

#[test]
fn a_row_outside_of_its_file_is_recognised() {
    for (file, row) in rows_as_written() {
        assert_eq!(RowFile::of(row.as_object().unwrap()), Some(file), "{row}");
        let alone = read_line(row.to_string().as_bytes()).unwrap();
        assert_eq!(alone, read(file, &row), "{row}");
        assert_eq!(line_project(row.as_object().unwrap()), Some("proj_1"));
    }
}

#[test]
fn a_row_of_a_fact_is_never_a_project() {
    let fact = rows_as_written()[3].1.clone();
    assert!(matches!(read_line(fact.to_string().as_bytes()).unwrap(), ExportLine::Fact(_)));
    // Without one of its members, and with the names of other tools.
    let mut strange = vec![
        json!({"project_id": "proj_1", "key": "db", "val": "sqlite"}),
        json!({"project_id": "proj_1", "entity": "db", "attribute": "engine", "created_at":
            "2026-04-03T00:00:00Z", "text": "sqlite"}),
        json!({"project_id": "proj_1", "name": "db", "subject": "db"}),
        json!({"id": 7, "project_id": "proj_1", "name": "a user"}),
        json!({"id": "user_1", "name": "a user", "created_at": "2026-04-03T00:00:00Z"}),
        json!({"project_id": "proj_1", "title": "without its id", "relay_version": "0.1"}),
    ];
    for name in ["id", "subject", "relation", "object"] {
        let mut row = fact.clone();
        row.as_object_mut().unwrap().shift_remove(name);
        strange.push(row);
    }
    for row in strange {
        let refused = read_line(row.to_string().as_bytes());
        assert_eq!(refused.unwrap_err().code, Code::AgenticInvalidSchema, "{row}");
    }
    // A project needs no name if it has no member but its own.
    for project in [
        json!({"project_id": "proj_1", "created_at": "2026-04-03T00:00:00Z", "x-own": 1}),
        json!({"project_id": "proj_1", "name": "P", "created_at": "2026-04-03T00:00:00Z",
            "team": "a"}),
    ] {
        let read = read_line(project.to_string().as_bytes()).unwrap();
        assert!(matches!(read, ExportLine::Project(_)), "{project}");
    }
}

#[test]
fn a_package_names_its_archive_and_gets_its_type() {
    let mut row = package_row();
    let digest = accord_canon::sha256(b"zip");
    let archive = |project: &str, path: &str| {
        assert_eq!((project, path), ("atlas", "atlas/pkg_1.relay.zip"));
        Some(RowArchive { digest, size: 3 })
    };
    let line = row_line(RowFile::Packages, row.to_string().as_bytes(), archive).unwrap();
    let document: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(
        document["x-archive"],
        json!({"path": "atlas/pkg_1.relay.zip", "hash": format!("sha256:{}", digest.hex()),
            "size_bytes": 3})
    );
    assert_eq!(document["package_type"], "decision");
    row["artifact_type"] = json!("auto-deposit");
    assert_eq!(self::document(RowFile::Packages, &row)["package_type"], "auto_deposit");
    row["artifact_type"] = json!("screenshot");
    assert_eq!(self::document(RowFile::Packages, &row)["package_type"], "standard");
}
