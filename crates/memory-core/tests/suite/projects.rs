//! Projects.

use accord_contract::{Code, Wire as _};
use accord_memory_core::Project;
use accord_memory_core::project::{ProjectUpdate, change, create, requested};
use serde_json::json;

use crate::support::{at, invalid, now, object, project, refused};

fn changed(outcome: ProjectUpdate) -> Project {
    match outcome {
        ProjectUpdate::Changed(project) => *project,
        ProjectUpdate::Unchanged => panic!("nothing changed"),
    }
}

#[test]
fn a_project_is_created_once() {
    let body = br#"{"project_id":"atlas","name":"Atlas","description":"maps",
        "x-team":["a"],"archived_at":null}"#;
    let asked = requested(body, [0; 16], now()).unwrap();
    let expected = json!({
        "project_id": "atlas", "name": "Atlas", "description": "maps",
        "created_at": "2026-05-01T00:00:00.000Z", "archived_at": null, "x-team": ["a"],
    });
    assert_eq!(asked.encode(), expected);
    assert_eq!(changed(create(&asked, None).unwrap()), asked);
    let later = requested(body, [0; 16], at("2026-06-01T00:00:00Z")).unwrap();
    assert_eq!(create(&later, Some(&asked)).unwrap(), ProjectUpdate::Unchanged);
    let other = requested(br#"{"project_id":"atlas"}"#, [0; 16], now()).unwrap();
    assert_eq!(
        refused(create(&other, Some(&asked))),
        (Code::AgenticDuplicateProjectId, "/project_id".into())
    );

    let bare = requested(b"{}", [0xab; 16], now()).unwrap();
    assert_eq!(bare.project_id.as_str(), "proj_abababababababababababababababab");
    assert_eq!(bare.name.as_str(), bare.project_id.as_str());
}

#[test]
fn what_is_no_request_is_refused() {
    let request = |body: &str| refused(requested(body.as_bytes(), [0; 16], now()));
    assert_eq!(request(r#"{"name":""}"#), invalid("/name"));
    assert_eq!(request(r#"{"name":7}"#), invalid("/name"));
    assert_eq!(request(r#"{"project_id":""}"#), invalid("/project_id"));
    assert_eq!(request(r#"{"created_at":"2026-05-01T00:00:00Z"}"#), invalid("/created_at"));
    assert_eq!(request("[]"), invalid(""));
    let patch = |body: &str| refused(change(body.as_bytes()));
    assert_eq!(patch(r#"{"project_id":"b"}"#), invalid("/project_id"));
    assert_eq!(patch(r#"{"archived_at":"2026-05-01T00:00:00Z"}"#), invalid("/archived_at"));
    assert_eq!(patch(r#"{"name":null}"#), invalid("/name"));
    assert_eq!(
        patch(&json!({"description": "x".repeat(70_000)}).to_string()).0,
        Code::AgenticTextTooLong
    );
}

#[test]
fn other_words_replace_and_the_rest_stays() {
    let mut old = project();
    old.extra = object(json!({"x-a": 1, "x-b": 2}));
    let new = change(br#"{"name":"New","x-a":null,"x-c":3}"#).unwrap();
    let new = changed(old.changed(new).unwrap());
    assert_eq!(new.name.as_str(), "New");
    assert_eq!(new.extra, object(json!({"x-b": 2, "x-c": 3})));
    assert_eq!((&new.created_at, &new.description), (&old.created_at, &old.description));
    assert_eq!(old.changed(change(b"{}").unwrap()).unwrap(), ProjectUpdate::Unchanged);
    let words = changed(old.changed(change(br#"{"description":"maps"}"#).unwrap()).unwrap());
    let none = changed(words.changed(change(br#"{"description":null}"#).unwrap()).unwrap());
    assert_eq!((words.description.as_str(), none.description.as_str()), ("maps", ""));
}

#[test]
fn an_archive_can_be_undone_and_takes_no_writes_meanwhile() {
    let open = project();
    assert_eq!(open.restored(), ProjectUpdate::Unchanged);
    let archived = changed(open.archived(now()));
    assert_eq!(archived.archived_at.as_ref().unwrap().as_str(), "2026-05-01T00:00:00.000Z");
    assert_eq!(archived.archived(at("2026-06-01T00:00:00Z")), ProjectUpdate::Unchanged);
    assert_eq!(refused(archived.must_take_writes()).0, Code::AgenticProjectArchived);
    let rename = change(br#"{"name":"New"}"#).unwrap();
    assert_eq!(refused(archived.changed(rename)).0, Code::AgenticProjectArchived);
    assert_eq!(changed(archived.restored()), open);
}

#[test]
fn a_stored_project_reads_as_it_was_written() {
    let mut full = project();
    full.extra = object(json!({"x-a": {"b": null}}));
    assert_eq!(Project::read(object(full.encode())).unwrap(), full);
    let short = json!({"project_id": "atlas", "created_at": "2026-01-01T00:00:00Z"});
    let short = Project::read(object(short)).unwrap();
    assert_eq!(
        (short.name.as_str(), short.description.as_str(), short.archived_at),
        ("atlas", "", None)
    );
    assert_eq!(
        refused(Project::read(object(json!({"project_id": "atlas"})))),
        invalid("/created_at")
    );
    assert_eq!(refused(Project::read(object(json!({"project_id": 1})))), invalid("/project_id"));
}
