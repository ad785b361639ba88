//! Whatever is cut off at any write, the tree is whole afterwards.

use std::collections::BTreeMap;
use std::sync::Arc;

use accord_contract::Failure;
use accord_tasks::{Environment, Tree};
use accord_tasks_core::operations::{
    ClaimRequest, HeartbeatRequest, InitRequest, LintQuery, PollRequest,
};
use accord_tasks_core::{Status, TaskId};
use accord_trees::Disk as _;
use accord_trees::testing::{Crash, SimDisk};

use crate::support::{Clock, agent, human, ready, report};

fn open(disk: &Arc<SimDisk>, boot: &str) -> Tree {
    let clock = Clock::default();
    let environment = Environment::new(move || clock.now(), || [7; 16], boot);
    Tree::on(disk.clone(), "shop", environment).unwrap()
}

/// A step that is acknowledged or not.
type Step = Box<dyn Fn(&Tree) -> Result<(), Failure>>;

/// The steps of two tasks.
fn steps() -> Vec<Step> {
    const FIRST: &str = "TASK-2026-02-09-001";
    let create = |tree: &Tree| tree.create(&ready("Ship it"), &human()).map(drop);
    vec![
        Box::new(create),
        Box::new(|tree| tree.claim(FIRST, &ClaimRequest::default(), &agent("a")).map(drop)),
        Box::new(create),
        Box::new(|tree| tree.heartbeat(FIRST, &HeartbeatRequest::default(), &agent("a")).map(drop)),
        Box::new(|tree| tree.message(&report(FIRST, "a", "done"), &agent("a")).map(drop)),
    ]
}

/// How far a tree got, by its first task.
fn progress(disk: &SimDisk) -> (usize, bool) {
    let files = disk.files();
    let has = |path: &str| files.contains_key(path);
    let status = Status::ALL
        .iter()
        .position(|status| has(&format!("tasks/{status}/TASK-2026-02-09-001.md")));
    (status.map_or(0, |status| status + 1), has("tasks/ready/TASK-2026-02-09-002.md"))
}

#[test]
fn a_crash_at_any_write_leaves_a_clean_tree_with_everything_acknowledged() {
    let disk = Arc::new(SimDisk::new());
    let tree = open(&disk, "one");
    tree.init(&InitRequest::default(), &human()).unwrap();
    let began = disk.operations();
    let mut states = vec![progress(&disk)];
    for step in steps() {
        step(&tree).unwrap();
        states.push(progress(&disk));
    }
    assert_eq!(tree.lint(&LintQuery::default(), &human()).unwrap().findings, []);
    let operations = disk.operations() - began;
    assert!(operations > 40, "{operations} operations are too few");
    for cut in 0..operations {
        let disk = Arc::new(SimDisk::new());
        let tree = open(&disk, "one");
        tree.init(&InitRequest::default(), &human()).unwrap();
        disk.stop_after(cut);
        let acknowledged = steps().iter().take_while(|step| step(&tree).is_ok()).count();
        for seed in 0..5 {
            let (crash, boot) = match seed {
                0 => (Crash::Process, "one"),
                4 => (Crash::Remount, "one"),
                seed => (Crash::Power(cut * 10 + seed), "two"),
            };
            let survivor = Arc::new(disk.after(crash));
            let tree = open(&survivor, boot);
            tree.poll(&PollRequest::default(), &human()).unwrap();
            let findings = tree.lint(&LintQuery::default(), &human()).unwrap().findings;
            assert_eq!(findings, [], "cut {cut}, {crash:?}");
            let found = progress(&survivor);
            let possible = &states[acknowledged..states.len().min(acknowledged + 2)];
            assert!(possible.contains(&found), "cut {cut}, {crash:?}: {acknowledged} of {found:?}");
            edit_is_undone(&survivor, &tree);
        }
    }
}

/// The files of a tree, without the log.
fn files(disk: &SimDisk) -> BTreeMap<String, Vec<u8>> {
    let mut files = disk.files();
    files.retain(|path, _| !path.starts_with("state/accord/log-"));
    files
}

#[test]
fn a_tree_that_a_failure_of_the_file_system_emptied_is_whole_again() {
    for length in 0..=steps().len() {
        let disk = Arc::new(SimDisk::new());
        let tree = open(&disk, "one");
        tree.init(&InitRequest::default(), &human()).unwrap();
        steps()[..length].iter().for_each(|step| step(&tree).unwrap());
        // It is mounted again, and the machine was not restarted.
        let survivor = Arc::new(disk.after(Crash::Remount));
        assert!(files(&survivor).values().all(Vec::is_empty), "{:?}", files(&survivor));
        let tree = open(&survivor, "one");
        assert_eq!(files(&survivor), files(&disk), "{length}");
        let findings = tree.lint(&LintQuery::default(), &human()).unwrap().findings;
        assert_eq!(findings, [], "{length}");
        edit_is_undone(&survivor, &tree);
    }
}

#[test]
fn a_file_that_a_person_emptied_is_left_to_the_referee() {
    let disk = Arc::new(SimDisk::new());
    let tree = open(&disk, "one");
    tree.init(&InitRequest::default(), &human()).unwrap();
    for title in ["Ship it", "Then this"] {
        tree.create(&ready(title), &human()).unwrap();
    }
    // Long after the last commit.
    disk.set_now_ms(4_102_444_800_000);
    let path = "tasks/ready/TASK-2026-02-09-001.md";
    disk.truncate(path, 0).unwrap();
    // Accord notes it, once. It does not write the file again, not even when its log is newer.
    for _ in 0..3 {
        let tree = open(&disk, "one");
        tree.poll(&PollRequest::default(), &human()).unwrap();
        assert_eq!(disk.files()[path], b"");
        let findings = tree.lint(&LintQuery::default(), &human()).unwrap().findings;
        let findings: Vec<_> = findings.iter().map(|one| (&*one.code, &*one.path)).collect();
        assert_eq!(findings, [("broken_file", path)]);
        let files = disk.files();
        let log = files.iter().find(|(path, _)| path.starts_with("events/2026-02-09."));
        let events = String::from_utf8(log.unwrap().1.clone()).unwrap();
        assert_eq!(events.matches("task.validation.failed").count(), 1, "{events}");
    }
}

/// What Accord committed about a leased task survived, so that an edit of its agent is undone.
fn edit_is_undone(disk: &SimDisk, tree: &Tree) {
    let path = "tasks/in-progress/TASK-2026-02-09-001.md";
    let Some(bytes) = disk.files().get(path).cloned() else { return };
    let text = String::from_utf8(bytes).unwrap();
    let edited = text.replace("agent: a\n", "agent: b\n");
    assert_ne!(text, edited);
    disk.remove_file(path).unwrap();
    disk.create(path, edited.as_bytes()).unwrap();
    tree.look_at(&[TaskId::parse("TASK-2026-02-09-001").unwrap()]).unwrap();
    assert_eq!(String::from_utf8(disk.files()[path].clone()).unwrap(), text);
}
