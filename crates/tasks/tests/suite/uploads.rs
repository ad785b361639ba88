//! Outputs that a worker uploads: piece by piece, for the run that holds the task, and into the
//! tree with the report.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use accord_canon::sha256;
use accord_contract::{Code, Failure};
use accord_tasks::Tree;
use accord_tasks_core::operations::{
    AgentExit, ClaimRequest, EndRunRequest, OutputsQuery, PollRequest, RunEnding, StageQuery,
    StagedAnswer,
};
use accord_tasks_core::uploads::MOST_BYTES;
use accord_tasks_core::{Status, TaskId};
use serde_json::json;

use crate::support::{AGENT, Case, agent, claim, human};

fn query(run_id: &str, path: &str, bytes: &[u8]) -> StageQuery {
    StageQuery {
        actor: None,
        door: None,
        agent: Some(AGENT.to_owned()),
        run_id: run_id.to_owned(),
        path: path.to_owned(),
        size: Some(u32::try_from(bytes.len()).unwrap()),
        sha256: sha256(bytes).hex(),
        offset: None,
        executable: false,
    }
}

/// Uploads bytes from an offset on.
fn stage(
    tree: &Tree,
    id: TaskId,
    query: &StageQuery,
    offset: usize,
    piece: &[u8],
) -> Result<StagedAnswer, Failure> {
    let offset = Some(u32::try_from(offset).unwrap());
    tree.stage_output(
        &id.to_string(),
        &StageQuery { offset, ..query.clone() },
        piece,
        &agent(AGENT),
    )
}

fn upload(case: &Case, id: TaskId, run: &str, path: &str, bytes: &[u8]) {
    let staged = stage(&case.tree, id, &query(run, path, bytes), 0, bytes).unwrap();
    assert!(staged.complete && staged.received == bytes.len() as u64, "{staged:?}");
}

fn end(case: &Case, id: TaskId, run: &str, exit: AgentExit) -> (RunEnding, Status) {
    let request = EndRunRequest {
        agent: Some(AGENT.to_owned()),
        run_id: run.to_owned(),
        exit,
        text: None,
        observed: None,
        uploads: Some(true),
        changes: None,
    };
    let ended = case.tree.end_run(&id.to_string(), &request, &agent(AGENT)).unwrap();
    (ended.ending, ended.status)
}

/// The files below `outputs` of a task.
fn outputs(case: &Case, status: Status, id: TaskId) -> BTreeMap<String, Vec<u8>> {
    let root = case.folder.path().join(format!("tasks/{status}/{id}/outputs"));
    let mut found = BTreeMap::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(&root).unwrap().display().to_string();
                found.insert(name, fs::read(path).unwrap());
            }
        }
    }
    found
}

fn staged(case: &Case) -> Vec<String> {
    let folder = case.folder.path().join("state/accord/staged");
    let tasks = fs::read_dir(folder).into_iter().flatten().flatten();
    tasks.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

#[test]
fn what_a_run_uploaded_is_in_the_tree_with_its_report() {
    let case = Case::new();
    let id = case.ready();
    let run = claim(&case.tree, id, AGENT);
    // What an earlier run left, and this one did not.
    let folder = case.folder.path().join(format!("tasks/in-progress/{id}/outputs"));
    fs::write(folder.join("old.txt"), "old").unwrap();
    fs::write(folder.join("same.txt"), "same").unwrap();
    let bytes: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
    let program = query(&run, "outputs/deep/er/a.bin", &bytes);
    let program = StageQuery { executable: true, ..program };
    let received = |answer: StagedAnswer| (answer.received, answer.complete);
    let at = |offset: usize, piece: &[u8]| stage(&case.tree, id, &program, offset, piece);
    assert_eq!(received(at(0, b"").unwrap()), (0, false));
    assert_eq!(received(at(0, &bytes[..1_000]).unwrap()), (1_000, false));
    // What was interrupted goes on where it was; nothing is taken twice or left out.
    assert_eq!(received(at(0, b"").unwrap()), (1_000, false));
    for offset in [0, 999, 1_001] {
        let refused = at(offset, &bytes[offset..offset + 10]).unwrap_err();
        assert_eq!(refused.code, Code::AofOutputOffset);
        assert_eq!(refused.details.unwrap()["received"], 1_000);
    }
    assert_eq!(received(at(1_000, &bytes[1_000..]).unwrap()), (400_000, true));
    assert_eq!(received(at(0, b"").unwrap()), (400_000, true));
    upload(&case, id, &run, "outputs/empty", b"");
    upload(&case, id, &run, "outputs/report.json", br#"{"outcome":"done","notes":"there"}"#);
    // A file that the task has is not sent again.
    let same = stage(&case.tree, id, &query(&run, "outputs/same.txt", b"same"), 0, b"").unwrap();
    assert!(same.complete);
    // A later version takes the place of an earlier one.
    upload(&case, id, &run, "outputs/note", b"first");
    upload(&case, id, &run, "outputs/note", b"second");
    // Nothing of it is in the tree before the report.
    let before = outputs(&case, Status::InProgress, id);
    assert_eq!(before.keys().collect::<Vec<_>>(), ["old.txt", "same.txt"]);
    assert_eq!(end(&case, id, &run, AgentExit::Success), (RunEnding::Reported, Status::Review));
    let after = outputs(&case, Status::Review, id);
    let names: Vec<_> = after.keys().map(String::as_str).collect();
    assert_eq!(names, ["deep/er/a.bin", "empty", "note", "report.json", "same.txt"]);
    assert_eq!(after["deep/er/a.bin"], bytes);
    assert_eq!((&after["note"][..], &after["same.txt"][..]), (&b"second"[..], &b"same"[..]));
    let program = format!("tasks/review/{id}/outputs/deep/er/a.bin");
    let mode = fs::metadata(case.folder.path().join(program)).unwrap().permissions().mode();
    assert_eq!(mode & 0o111, 0o111);
    assert_eq!(staged(&case), [""; 0]);
    // Reviewers read them.
    let listed = case.tree.outputs(&id.to_string(), &Default::default(), &human()).unwrap();
    assert_eq!((listed.outputs.len(), listed.hidden, listed.status), (5, 0, Status::Review));
    let digest = sha256(&bytes).hex();
    assert_eq!(listed.outputs[0].sha256.as_deref(), Some(digest.as_str()));
    let read = case.tree.task_file(&id.to_string(), "note", &human()).unwrap();
    assert_eq!(read.content.read_at(0, 100).unwrap(), b"second");
    let shown = case.tree.show(&id.to_string(), &Default::default(), &human()).unwrap();
    assert_eq!(shown.task.run.unwrap().result.unwrap().notes, "there");
}

#[test]
fn only_the_run_that_holds_the_task_uploads() {
    let case = Case::new();
    let id = case.ready();
    let run = claim(&case.tree, id, AGENT);
    let code = |run: &str, agent_id: &str| {
        let query = StageQuery { agent: None, ..query(run, "outputs/a", b"a") };
        let by = agent(agent_id);
        case.tree.stage_output(&id.to_string(), &query, b"a", &by).unwrap_err().code
    };
    assert_eq!(code("run_0", AGENT), Code::AofStaleRun);
    assert_eq!(code(&run, "other"), Code::AofUnauthorizedAgent);
    upload(&case, id, &run, "outputs/a", b"of the first run");
    // The lease ends: what it uploaded goes with it.
    assert_eq!(end(&case, id, &run, AgentExit::Cancelled).0, RunEnding::Released);
    assert_eq!(staged(&case), [""; 0]);
    assert_eq!(code(&run, AGENT), Code::AofUnassignedTask);
    let next = claim(&case.tree, id, AGENT);
    assert_eq!(code(&run, AGENT), Code::AofStaleRun);
    upload(&case, id, &next, "outputs/b", b"of the second run");
    // A report ends it. An agent that is silent loses the task, and what it uploaded.
    case.clock.add(4_000);
    case.tree.poll(&PollRequest::default(), &human()).unwrap();
    case.tree.poll(&PollRequest::default(), &human()).unwrap();
    assert_eq!(staged(&case), [""; 0]);
    let last = claim(&case.tree, id, AGENT);
    upload(&case, id, &last, "outputs/c", b"of the third run");
    case.tree.message(&case.report(id, "done"), &agent(AGENT)).unwrap();
    assert_eq!(outputs(&case, Status::Review, id).keys().collect::<Vec<_>>(), ["c"]);
    assert_eq!(code(&last, AGENT), Code::AofUnassignedTask);
}

#[test]
fn a_report_that_waits_for_its_session_ends_the_uploads() {
    let settings = json!({"apply": "session-end"});
    let case = Case::with(&accord_contract::Wire::from_document(settings).unwrap());
    let id = case.ready();
    let run = claim(&case.tree, id, AGENT);
    upload(&case, id, &run, "outputs/a", b"a");
    case.tree.message(&case.report(id, "done"), &agent(AGENT)).unwrap();
    assert_eq!(outputs(&case, Status::InProgress, id).keys().collect::<Vec<_>>(), ["a"]);
    let again = query(&run, "outputs/b", b"b");
    let refused = stage(&case.tree, id, &again, 0, b"b").unwrap_err();
    assert_eq!(refused.code, Code::AofRunReported);
    assert_eq!(end(&case, id, &run, AgentExit::Success).1, Status::Review);
    assert_eq!(outputs(&case, Status::Review, id).keys().collect::<Vec<_>>(), ["a"]);
}

#[test]
fn a_report_of_an_earlier_run_is_not_that_of_a_run_that_uploads() {
    let case = Case::new();
    let id = case.ready();
    let run = claim(&case.tree, id, AGENT);
    let folder = case.folder.path().join(format!("tasks/in-progress/{id}/outputs"));
    fs::write(folder.join("report.json"), r#"{"outcome":"done"}"#).unwrap();
    let (ending, _) = end(&case, id, &run, AgentExit::Failure);
    assert_eq!(ending, RunEnding::Failed);
}

#[test]
fn uploads_have_limits() {
    let case = Case::new();
    let id = case.ready();
    let run = claim(&case.tree, id, AGENT);
    let refused =
        |query: &StageQuery, piece: &[u8]| stage(&case.tree, id, query, 0, piece).unwrap_err().code;
    for path in ["outputs", "outputs/../../x", "/outputs/x", "inputs/x", "work/x", "outputs//x"] {
        assert_eq!(refused(&query(&run, path, b"x"), b"x"), Code::AofPathOutsideTask, "{path}");
    }
    let large = |path: &str| StageQuery { size: Some(MOST_BYTES), ..query(&run, path, b"") };
    let larger = StageQuery { size: Some(MOST_BYTES + 1), ..large("outputs/x") };
    assert_eq!(refused(&larger, b"x"), Code::AofOutputTooLarge);
    // What was announced counts, also if it is not there yet.
    assert!(!stage(&case.tree, id, &large("outputs/x"), 0, b"x").unwrap().complete);
    assert_eq!(refused(&query(&run, "outputs/y", b"y"), b"y"), Code::AofOutputTooLarge);
    upload(&case, id, &run, "outputs/x", b"small");
    upload(&case, id, &run, "outputs/y", b"y");
    // A file with another digest is not taken, and is sent from its start.
    let wrong = query(&run, "outputs/z", b"right");
    assert_eq!(refused(&wrong, b"wrong"), Code::AofOutputDamaged);
    assert_eq!(stage(&case.tree, id, &wrong, 0, b"").unwrap().received, 0);
    upload(&case, id, &run, "outputs/z", b"right");
    assert_eq!(refused(&query(&run, "outputs/w", b"ab"), b"abc"), Code::AofOutputOffset);
}

#[test]
fn a_link_is_no_file_of_a_task() {
    let case = Case::new();
    let id = case.ready();
    claim(&case.tree, id, AGENT);
    let folder = case.folder.path().join(format!("tasks/in-progress/{id}"));
    fs::write(folder.join("inputs/plan.md"), "the plan").unwrap();
    fs::write(folder.join("work/secret"), "secret").unwrap();
    symlink("../work/secret", folder.join("outputs/link")).unwrap();
    symlink("../work", folder.join("outputs/folder")).unwrap();
    let code = |path: &str| {
        case.tree.task_file(&id.to_string(), path, &human()).err().map(|failure| failure.code)
    };
    assert_eq!(code("inputs/plan.md"), None);
    for path in ["outputs/link", "outputs/folder/secret", "folder/secret", "outputs/none"] {
        assert_eq!(code(path), Some(Code::AofOutputNotFound), "{path}");
    }
    for path in ["work/../../secret", "outputs/../work/secret", "/etc/passwd"] {
        assert_eq!(code(path), Some(Code::AofPathOutsideTask), "{path}");
    }
    let listed = case.tree.outputs(&id.to_string(), &Default::default(), &human()).unwrap();
    assert_eq!((listed.outputs.len(), listed.hidden), (0, 2));
}

#[test]
fn claims_and_heartbeats_say_how_many_seconds_are_left() {
    let case = Case::new();
    let id = case.ready();
    let request = ClaimRequest { heartbeat_ttl_ms: Some(30_000), ..ClaimRequest::default() };
    let claimed = case.tree.claim(&id.to_string(), &request, &agent(AGENT)).unwrap();
    assert_eq!((claimed.lease_seconds, claimed.alive_seconds), (Some(600), Some(30)));
    let beat = case.tree.heartbeat(&id.to_string(), &Default::default(), &agent(AGENT)).unwrap();
    assert_eq!((beat.lease_seconds, beat.alive_seconds), (Some(600), Some(300)));
}

#[test]
fn a_scheduler_that_looks_in_the_same_commit_removes_nothing() {
    let case = Case::new();
    let id = case.ready();
    let run = claim(&case.tree, id, AGENT);
    upload(&case, id, &run, "outputs/a", b"a");
    let report = case.report(id, "done");
    // Both wait while the tree is held, so that one commit has both.
    let (send, held) = std::sync::mpsc::channel::<()>();
    let holder = case.tree.clone();
    std::thread::scope(|scope| {
        scope.spawn(move || holder.hold(move |_| held.recv()));
        std::thread::sleep(std::time::Duration::from_millis(100));
        for _ in 0..4 {
            scope.spawn(|| case.tree.poll(&PollRequest::default(), &human()).unwrap());
        }
        scope.spawn(|| case.tree.message(&report, &agent(AGENT)).unwrap());
        std::thread::sleep(std::time::Duration::from_millis(100));
        for _ in 0..4 {
            scope.spawn(|| case.tree.poll(&PollRequest::default(), &human()).unwrap());
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
        send.send(()).unwrap();
    });
    assert_eq!(outputs(&case, Status::Review, id).keys().collect::<Vec<_>>(), ["a"]);
}

#[test]
fn files_beyond_one_answer_are_read_page_by_page() {
    let case = Case::new();
    let id = case.claimed();
    let folder = case.folder.path().join(format!("tasks/in-progress/{id}/inputs"));
    for number in 0..2_003 {
        fs::write(folder.join(format!("{number:04}")), "x").unwrap();
    }
    let ask = |inputs, after: Option<&str>| {
        let query = OutputsQuery { inputs, after: after.map(str::to_owned), changes: false };
        case.tree.outputs(&id.to_string(), &query, &human()).unwrap()
    };
    let first = ask(true, None);
    assert_eq!((first.outputs.len(), first.hidden), (2_000, 3));
    assert_eq!(first.next.as_deref(), Some("inputs/1999"));
    let rest = ask(true, first.next.as_deref());
    let paths: Vec<&str> = rest.outputs.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["inputs/2000", "inputs/2001", "inputs/2002"]);
    assert_eq!((rest.hidden, rest.next), (0, None));
    assert_eq!(ask(false, None).outputs, []);
}
