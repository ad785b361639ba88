//! Lines of an export, and back.

use accord_contract::{Code, Wire as _};
use accord_memory_core::export::{
    ExportLine, MergedPackage, MergedSession, document_line, may_hold_project, merge_package,
    merge_session, package_line, read_line,
};
use accord_memory_core::lifecycle::{Change, Move, Reviewer, Revision, Transition, transition};
use accord_memory_core::limits::MAX_PACKAGE_BYTES;
use accord_memory_core::package::Status;
use accord_memory_core::{Package, Session};
use serde_json::{Value, json};

use crate::support::{fact, invalid, minimal, now, object, package, project, refused, time, with};

fn session() -> Session {
    Session::read(object(json!({
        "session_id": "s1", "project_id": "atlas", "actor_id": "ada", "actor_type": "human",
        "started_at": "2026-04-18T19:00:00Z", "packages_deposited": ["pkg_1"], "x-own": {"a": null},
    })))
    .unwrap()
}

/// A draft that was flagged and completed, with its log.
fn lived() -> (Package, Vec<Revision>) {
    let pretty = format!(
        "{:#}",
        with(json!({"status": "draft", "x-n": [1.0, null], "title": "a  b\\\" c"}))
    );
    let mut package = Package::parse(pretty.as_bytes()).unwrap();
    let mut log = vec![Revision::deposited(&package, None, now())];
    for change in [Change::Flag(Reviewer::Human), Change::Review(Status::Complete)] {
        let asked = Move { note: Some("note\nwith a break".into()), ..Move::new(change) };
        match transition(&package, log.last().unwrap(), &asked, now()).unwrap() {
            Transition::Moved { package: next, revision } => {
                package = *next;
                log.push(*revision);
            }
            Transition::Unchanged => panic!("it moves"),
        }
    }
    (package, log)
}

/// The line again, from what it was read as.
fn again(line: &str) -> String {
    match read_line(line.as_bytes()).unwrap() {
        ExportLine::Project(project) => document_line("project", &*project),
        ExportLine::Session(session) => document_line("session", &*session),
        ExportLine::Fact(fact) => document_line("fact", &*fact),
        ExportLine::Package { package, revisions, rejected } => {
            package_line(package.text(), package.content_hash(), &revisions, rejected.as_ref())
        }
    }
}

#[test]
fn export_import_export_gives_the_same_lines() {
    let mut project = project();
    project.extra = object(json!({"x-own": 1e-7, "z": {}, "a": [null]}));
    let fact =
        fact(json!({"x-own": 1.0, "valid_to": "2026-04-11T00:00:00.50+00:00", "confidence": 0.5}));
    let (package, log) = lived();
    let lines = [
        document_line("project", &project),
        document_line("session", &session()),
        package_line(package.text(), package.content_hash(), &log, None),
        document_line("fact", &fact),
    ];
    for line in &lines {
        assert!(!line.contains('\n'), "{line}");
        assert_eq!(again(line), *line);
    }
    assert!(package.text().contains('\n'), "the text itself has breaks");
    let ExportLine::Package { package: read, revisions, .. } =
        read_line(lines[2].as_bytes()).unwrap()
    else {
        panic!("it is a package")
    };
    assert_eq!((read.content_hash(), &revisions), (package.content_hash(), &log));
    let kinds: Vec<Value> = lines
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["kind"].clone())
        .collect();
    assert_eq!(kinds, ["project", "session", "package", "fact"]);
}

#[test]
fn bare_documents_are_read_too() {
    let sound = package(&with(json!({"kind": "own", "data": {"a": 1}})));
    let ExportLine::Package { package: read, revisions, .. } =
        read_line(sound.transport_text().as_bytes()).unwrap()
    else {
        panic!("it is a package")
    };
    assert_eq!(*read, sound);
    assert_eq!(revisions, [Revision::imported(&sound)]);
    assert_eq!(revisions[0].at.as_str(), "2026-04-18T20:00:00Z");
    // Once imported, it is exported the same way for ever.
    let line = package_line(read.text(), read.content_hash(), &revisions, None);
    assert_eq!(again(&line), line);
    let read = |document: Value| read_line(document.to_string().as_bytes()).unwrap();
    assert_eq!(read(fact(json!({})).encode()), ExportLine::Fact(Box::new(fact(json!({})))));
    assert_eq!(read(session().encode()), ExportLine::Session(Box::new(session())));
    assert_eq!(read(project().encode()), ExportLine::Project(Box::new(project())));
    let enveloped = json!({"kind": "package", "data": minimal()});
    assert!(
        matches!(read(enveloped), ExportLine::Package { revisions, .. } if revisions.len() == 1)
    );
}

#[test]
fn lines_that_are_wrong_name_the_place() {
    let (package, log) = lived();
    let line: Value =
        serde_json::from_str(&package_line(package.text(), package.content_hash(), &log, None))
            .unwrap();
    let mut rejected = line.clone();
    rejected["x-rejected"] = json!({"at": "2026-04-18T20:00:00Z", "work": "TASK-1"});
    let read: Value = serde_json::from_str(&again(&rejected.to_string())).unwrap();
    assert_eq!(read["x-rejected"], rejected["x-rejected"]);
    let wrong = |change: &dyn Fn(&mut Value)| {
        let mut line = line.clone();
        change(&mut line);
        refused(read_line(line.to_string().as_bytes()))
    };
    let mismatch = |pointer: &str| (Code::AgenticHashMismatch, pointer.to_owned());
    assert_eq!(wrong(&|line| line["content_hash"] = json!("sha256:00")), mismatch("/content_hash"));
    assert_eq!(wrong(&|line| line["data"]["title"] = json!("other")), mismatch("/content_hash"));
    assert_eq!(
        wrong(&|line| line["data"]["relay_version"] = json!("0.2")),
        invalid("/data/relay_version")
    );
    assert_eq!(
        wrong(&|line| line["x-revisions"][1]["seq"] = json!(9)),
        invalid("/x-revisions/1/seq")
    );
    assert_eq!(
        wrong(&|line| line["x-revisions"][0]["status"] = json!("x")),
        invalid("/x-revisions/0/status")
    );
    assert_eq!(wrong(&|line| line["x-revisions"] = json!([])), mismatch("/x-revisions"));
    assert_eq!(wrong(&|line| line["kind"] = json!("blob")), invalid("/kind"));
    assert_eq!(wrong(&|line| line["x-rejected"] = json!(true)), invalid("/x-rejected"));
    let fact = json!({"kind": "fact", "data": {"fact_id": "f"}});
    assert_eq!(refused(read_line(fact.to_string().as_bytes())), invalid("/data/project_id"));
    for line in ["", "null", "{}", "{\"kind\":\"fact\"}", "{\"a\":1"] {
        assert_eq!(refused(read_line(line.as_bytes())).0, Code::AgenticInvalidSchema, "{line}");
    }
}

#[test]
fn the_largest_package_can_be_imported_after_it_moved() {
    let room = MAX_PACKAGE_BYTES - with(json!({"status": "draft", "x": ""})).to_string().len();
    let largest = package(&with(json!({"status": "draft", "x": "y".repeat(room)})));
    assert_eq!(largest.text().len(), MAX_PACKAGE_BYTES);
    let first = Revision::deposited(&largest, None, now());
    let asked = Move::new(Change::Flag(Reviewer::Human));
    let Transition::Moved { package, revision } =
        transition(&largest, &first, &asked, now()).unwrap()
    else {
        panic!("it moves")
    };
    assert!(package.text().len() > MAX_PACKAGE_BYTES);
    let line = package_line(package.text(), package.content_hash(), &[first, *revision], None);
    assert_eq!(again(&line), line);
}

#[test]
fn a_package_that_is_there_advances_or_stays() {
    let (done, log) = lived();
    let decide = |package: &Package, log: &[Revision], known: &[Revision]| {
        merge_package(package, log, Some(known))
    };
    assert_eq!(merge_package(&done, &log, None).unwrap(), MergedPackage::Added);
    assert_eq!(decide(&done, &log, &log).unwrap(), MergedPackage::Unchanged);
    assert_eq!(decide(&done, &log, &log[..1]).unwrap(), MergedPackage::Advanced(log[1..].to_vec()));
    let bare = [Revision::imported(&done)];
    assert_eq!(decide(&done, &bare, &log).unwrap(), MergedPackage::Unchanged);
    assert_eq!(
        refused(decide(&done, &bare, &log[..2])),
        (Code::AgenticDuplicatePackageId, "/package_id".into())
    );
    let other = package(&minimal());
    let outcome = decide(&other, &[Revision::imported(&other)], &log);
    assert_eq!(refused(outcome).0, Code::AgenticDuplicatePackageId);
}

#[test]
fn a_session_that_is_there_ends_or_stays() {
    let active = session();
    let mut ended = active.clone();
    ended.ended_at = Some(time("2026-04-19T00:00:00Z"));
    assert_eq!(merge_session(&active, None).unwrap(), MergedSession::Added);
    assert_eq!(merge_session(&active, Some(&ended)).unwrap(), MergedSession::Unchanged);
    assert_eq!(
        merge_session(&ended, Some(&active)).unwrap(),
        MergedSession::Ended(time("2026-04-19T00:00:00Z"))
    );
    let mut other = active.clone();
    other.started_at = time("2026-04-18T19:00:01Z");
    assert_eq!(refused(merge_session(&other, Some(&active))).0, Code::AgenticDuplicateSessionId);
}

/// A line that a glance rules out is no project, and every project passes.
#[test]
fn a_glance_misses_no_project() {
    let bare = project().encode().to_string();
    let named = with_member(&bare, r#""kind":"own""#);
    let spelled = r#"{"kind":"proj\u0065ct","data":{"project_id":"atlas"}}"#;
    for line in [
        document_line("project", &project()),
        bare,
        named,
        spelled.to_owned(),
        "not JSON".to_owned(),
    ] {
        assert!(may_hold_project(line.as_bytes()), "{line}");
    }
    let (package, log) = lived();
    let hash = package.content_hash();
    for line in [
        package_line(package.text(), hash, &log, None),
        package.text().to_owned(),
        with_member(&minimal().to_string(), r#""kind":"project""#),
        document_line("session", &session()),
        session().encode().to_string(),
        document_line("fact", &fact(json!({}))),
        fact(json!({})).encode().to_string(),
        r#"{"kind":"later","data":{}}"#.to_owned(),
    ] {
        let found = read_line(line.as_bytes());
        assert!(!matches!(found, Ok(ExportLine::Project(_))), "{line}");
        assert!(!may_hold_project(line.as_bytes()), "{line}");
    }
}

/// A package alone on its line is read once, and as strictly as in an envelope.
#[test]
fn a_bare_package_is_read_strictly() {
    let text = minimal().to_string();
    assert!(read_line(text.as_bytes()).is_ok());
    for (member, code) in [
        (r#""x-own":1,"x-own":2"#, Code::AgenticInvalidSchema),
        (r#""title":"another""#, Code::AgenticInvalidSchema),
        (r#""content_hash":"sha256:00""#, Code::AgenticHashMismatch),
    ] {
        let line = with_member(&text, member);
        assert_eq!(read_line(line.as_bytes()).unwrap_err().code, code, "{line}");
    }
}

/// The text of an object with something more before its end.
fn with_member(object: &str, member: &str) -> String {
    format!("{},{member}}}", object.strip_suffix('}').unwrap())
}
