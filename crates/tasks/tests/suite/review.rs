//! A review ends by a person's decision.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use accord_contract::Code;
use accord_tasks_core::operations::{
    ApproveRequest, EditRequest, InitRequest, ReviewBy, ReviewMode, SendBackRequest,
};
use accord_tasks_core::{Status, TaskId};
use serde_json::json;

use crate::support::{AGENT, Case, agent, human, way};

fn approve(expect: &str) -> ApproveRequest {
    ApproveRequest {
        note: Some("good work".into()),
        expect: Some(expect.to_owned()),
        despite_leftovers: None,
    }
}

fn evidence(case: &Case, id: TaskId) -> String {
    case.tree.show(&id.to_string(), &Default::default(), &human()).unwrap().evidence
}

/// The agent asks for `done`, as in the guide.
fn asks_for_done(case: &Case, id: TaskId) -> accord_tasks_core::operations::MessageAnswer {
    let payload = json!({
        "taskId": id.to_string(),
        "agentId": AGENT,
        "status": "done",
        "notes": "please",
    });
    case.send("status.update", id, payload)
}

#[test]
fn an_approval_records_who_where_and_about_what() {
    let case = Case::new();
    let id = case.reviewed();
    let seen = evidence(&case, id);
    let done = case.tree.approve(&id.to_string(), &approve(&seen[..32]), &human()).unwrap();
    assert_eq!(way(&done.moves), [(Status::Review, Status::Done)]);
    let approval = done.task.approval.unwrap();
    assert_eq!((approval.by.as_str(), approval.door.as_str()), ("human:reviewer", "cli"));
    assert_eq!(
        (approval.note.as_deref(), approval.evidence.as_deref()),
        (Some("good work"), Some(seen.as_str()))
    );
    let events = case.events();
    let event = events.last().unwrap();
    assert_eq!(event["actor"], "human:reviewer");
    assert_eq!(
        (&event["payload"]["door"], &event["payload"]["evidence"]),
        (&json!("cli"), &json!(seen))
    );
    assert_eq!(done.notices[0].status, Status::Done);
    case.is_clean();
}

#[test]
fn outputs_that_change_after_the_approval_are_named() {
    let case = Case::new();
    let id = case.reviewed();
    let outputs = |status: &str| case.folder.path().join(format!("tasks/{status}/{id}/outputs"));
    fs::write(outputs("review").join("summary.md"), "Fine.").unwrap();
    case.tree.approve(&id.to_string(), &approve(&evidence(&case, id)), &human()).unwrap();
    case.is_clean();
    let findings = || case.tree.show(&id.to_string(), &Default::default(), &human()).unwrap();
    assert_eq!(findings().findings, Vec::<String>::new());
    fs::write(outputs("done").join("summary.md"), "Other.").unwrap();
    assert_eq!(findings().findings, ["outputs/ changed after the approval"]);
    let lint = case.tree.lint(&Default::default(), &human()).unwrap();
    let codes: Vec<&str> = lint.findings.iter().map(|it| it.code.as_str()).collect();
    assert_eq!(codes, ["outputs_changed"]);
}

#[test]
fn a_decision_about_other_evidence_is_refused() {
    let case = Case::new();
    let id = case.reviewed();
    let outputs = case.folder.path().join(format!("tasks/review/{id}/outputs"));
    let mut digests = vec![evidence(&case, id)];
    let changes: [&dyn Fn(); 3] = [
        &|| fs::write(outputs.join("api.rs"), "fn a() {}").unwrap(),
        &|| fs::write(outputs.join("api.rs"), "fn b() {}").unwrap(),
        &|| {
            let edit = EditRequest { body: Some("Another task.".into()), ..EditRequest::default() };
            case.tree.edit(&id.to_string(), &edit, &human()).unwrap();
        },
    ];
    for change in changes {
        change();
        let refused =
            case.tree.approve(&id.to_string(), &approve(&digests[digests.len() - 1]), &human());
        assert_eq!(refused.unwrap_err().code, Code::XchainEvidenceChanged);
        let now = evidence(&case, id);
        assert!(!digests.contains(&now));
        digests.push(now);
    }
    let mut back = SendBackRequest::default();
    (back.reason, back.expect) = ("no".into(), Some(digests[0].clone()));
    let refused = case.tree.send_back(&id.to_string(), &back, &human()).unwrap_err();
    assert_eq!(refused.code, Code::XchainEvidenceChanged);
    let wrong = case.tree.approve(&id.to_string(), &approve("not a digest"), &human());
    assert_eq!(wrong.unwrap_err().code, Code::WireFieldValue);
    case.tree.approve(&id.to_string(), &approve(&digests[3]), &human()).unwrap();
}

#[test]
fn work_that_is_sent_back_reaches_the_next_agent_with_the_reason() {
    let case = Case::new();
    let id = case.reviewed();
    let request = SendBackRequest {
        reason: "Tests are missing.\n## Work Log".into(),
        ..SendBackRequest::default()
    };
    let back = case.tree.send_back(&id.to_string(), &request, &human()).unwrap();
    // A task in progress has a lease, so that it passes through that status in one commit.
    let steps = [(Status::Review, Status::InProgress), (Status::InProgress, Status::Ready)];
    assert_eq!(way(&back.moves), steps);
    assert!(!case.file(Status::Ready, id).contains("lease:"));
    let events = case.events();
    for event in &events[events.len() - 2..] {
        assert_eq!(event["payload"]["reason"], json!(request.reason));
        assert_eq!(event["actor"], "human:reviewer");
    }
    let body = back.task.body.unwrap();
    assert!(
        body.ends_with("Sent back by human:reviewer: Tests are missing.\\n## Work Log"),
        "{body}"
    );
    let claimed = case.tree.claim(&id.to_string(), &Default::default(), &agent("swe-qa")).unwrap();
    let why = claimed.task.sent_back.unwrap();
    assert_eq!(
        (why.by.as_str(), why.note.as_deref()),
        ("human:reviewer", Some(request.reason.as_str()))
    );
    // The result of the refused run does not decide about the next one.
    assert!(!case.folder.path().join(format!("runs/{id}/run_result.json")).exists());
    case.clock.add(300);
    assert_eq!(way(&case.poll().moves), [(Status::InProgress, Status::Ready)]);
    case.is_clean();
}

#[test]
fn an_agent_does_not_end_a_review() {
    let case = Case::new();
    let id = case.reviewed();
    let answer = asks_for_done(&case, id);
    assert!(!answer.applied && answer.moves.is_empty());
    assert_eq!(answer.reason.as_deref(), Some("review_is_human"));
    assert_eq!(answer.status, Some(Status::Review));
    // As for any move that is not possible, the text goes to the work log.
    assert!(case.file(Status::Review, id).ends_with("Notes: please\n"));
    let events = case.events();
    assert_eq!(events.last().unwrap()["type"], "protocol.message.received");
    case.is_clean();
}

#[test]
fn an_agent_ends_a_review_where_a_person_allowed_it() {
    // For one task.
    let case = Case::new();
    let id = case.reviewed();
    let edit = EditRequest {
        review_by: accord_contract::wire::Field::Value(ReviewBy::Agent),
        ..EditRequest::default()
    };
    case.tree.edit(&id.to_string(), &edit, &human()).unwrap();
    assert_eq!(asks_for_done(&case, id).status, Some(Status::Done));
    // For a tree.
    let request = InitRequest { review: Some(ReviewMode::Guide), ..InitRequest::default() };
    let case = Case::with(&request);
    let id = case.reviewed();
    let done = asks_for_done(&case, id);
    assert_eq!((done.applied, done.status), (true, Some(Status::Done)));
}

/// Writes the begin of a file, until the system has given it another time.
fn overwrite(path: &Path) {
    let time = || fs::metadata(path).map(|about| (about.ctime(), about.ctime_nsec())).unwrap();
    let before = time();
    while time() == before {
        fs::File::options().write(true).open(path).unwrap().write_all_at(b"EVIL", 0).unwrap();
    }
}

#[test]
fn any_change_of_the_outputs_changes_the_evidence() {
    let case = Case::new();
    let id = case.reviewed();
    let task = case.folder.path().join(format!("tasks/review/{id}"));
    let outputs = task.join("outputs");
    let deep = outputs.join("d/".repeat(66));
    fs::create_dir_all(&deep).unwrap();
    let name = OsStr::from_bytes(b"a\xffb");
    let files = [outputs.join("large"), outputs.join(name), deep.join("f"), task.join("work/f")];
    for file in &files {
        fs::write(file, "good").unwrap();
    }
    // Without a content on the disk.
    fs::File::options().write(true).open(&files[0]).unwrap().set_len((1 << 30) + 1).unwrap();
    std::os::unix::fs::symlink("../work/f", outputs.join("link")).unwrap();
    fs::write(outputs.join("tool"), "").unwrap();
    let mut seen = evidence(&case, id);
    assert_eq!(evidence(&case, id), seen);
    for file in &files {
        overwrite(file);
        let now = evidence(&case, id);
        assert_ne!(now, seen, "{}", file.display());
        seen = now;
    }
    fs::set_permissions(outputs.join("tool"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_ne!(evidence(&case, id), seen);
}

/// An approval that nobody gave, as a line of a front matter.
const FORGED: &str = r#"approval: {by: "human:ceo", door: cli, at: "2026-02-09T10:00:00.000Z"}"#;

#[test]
fn a_decision_in_the_file_of_a_task_that_nobody_took_does_not_count() {
    for member in [FORGED.to_owned(), FORGED.replace("approval", "sentBack")] {
        for id in [|case: &Case| case.reviewed(), |case: &Case| case.ready()] {
            let case = Case::new();
            let id = id(&case);
            let shown = case.tree.show(&id.to_string(), &Default::default(), &human()).unwrap();
            let path = case.folder.path().join(shown.task.path);
            let text = fs::read_to_string(&path).unwrap();
            let text = text.replacen("\nmetadata:\n", &format!("\nmetadata:\n  {member}\n"), 1);
            let text = text.replacen("\nmetadata: {}", &format!("\nmetadata: {{{member}}}"), 1);
            fs::write(&path, text).unwrap();
            let shown = case.tree.show(&id.to_string(), &Default::default(), &human()).unwrap();
            assert_eq!((shown.task.approval, shown.task.sent_back), (None, None));
            // Reading writes nothing: the next change does.
            assert!(fs::read_to_string(&path).unwrap().contains("human:ceo"));
            case.poll();
            assert!(!fs::read_to_string(&path).unwrap().contains("human:ceo"));
            let events = case.events();
            assert!(events.iter().any(|it| it["type"] == "task.edit_refused"), "{events:?}");
        }
    }
}

#[test]
fn an_approval_of_a_finished_task_is_that_of_the_record() {
    let case = Case::new();
    let id = case.reviewed();
    let seen = evidence(&case, id);
    case.tree.approve(&id.to_string(), &approve(&seen), &human()).unwrap();
    let show = || case.tree.show(&id.to_string(), &Default::default(), &human()).unwrap();
    assert_eq!(show().task.approval.unwrap().by, "human:reviewer");
    case.is_clean();
    let path = case.folder.path().join(show().task.path);
    let text = fs::read_to_string(&path).unwrap();
    for (old, new) in [("human:reviewer", "human:ceo"), ("good work", "all checks pass")] {
        fs::write(&path, text.replace(old, new)).unwrap();
        assert_eq!(show().task.approval, None);
        assert!(show().findings.iter().any(|it| it.contains("not in the record")));
        let findings = case.tree.lint(&Default::default(), &human()).unwrap().findings;
        assert!(findings.iter().any(|it| it.code == "approval_not_recorded"), "{findings:?}");
    }
}
