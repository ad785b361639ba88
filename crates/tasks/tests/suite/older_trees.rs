//! A tree that an earlier version wrote, with one log a day and no writers.

use std::fs;
use std::path::Path;

use accord_tasks::Tree;
use accord_tasks::event_log::{EventPlace, events_after, events_of, sources};
use accord_tasks_core::operations::{HeartbeatRequest, LintQuery};
use serde_json::Value;

use crate::support::{Clock, agent, human, log_of, ready};

const TREE: &str = include_str!("../old_tree/tree.json");
/// From the time of the tests to that of the tree.
const LATER: i64 = 282 * 86_400 + 3_600;

fn written(root: &Path) -> Value {
    let tree: Value = serde_json::from_str(TREE).unwrap();
    for folder in tree["folders"].as_array().unwrap() {
        fs::create_dir_all(root.join(folder.as_str().unwrap())).unwrap();
    }
    for (path, text) in tree["files"].as_object().unwrap() {
        fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        fs::write(root.join(path), text.as_str().unwrap()).unwrap();
    }
    tree
}

#[test]
fn an_older_tree_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let old = written(folder.path());
    let clock = Clock::default();
    clock.add(LATER);
    let tree = Tree::open(folder.path(), "shop", clock.environment()).unwrap();
    assert_eq!(tree.lint(&LintQuery::default(), &human()).unwrap().findings, []);
    // A host took the first events over before.
    let source = sources(&tree).unwrap();
    let (taken, place) = events_of(&tree, &source[0], EventPlace::default(), 2).unwrap();
    assert_eq!(taken.len(), 2);
    // The lease of the earlier version holds.
    let run = old["files"]["runs/TASK-2026-11-18-001/run.json"].as_str().unwrap();
    let run: Value = serde_json::from_str(run).unwrap();
    let run_id = run["runId"].as_str().map(str::to_owned);
    let beat = HeartbeatRequest { run_id, ..HeartbeatRequest::default() };
    tree.heartbeat("TASK-2026-11-18-001", &beat, &agent("builder")).unwrap();
    let id = tree.create(&ready("New"), &human()).unwrap().task.id;
    assert_eq!(id.to_string(), "TASK-2026-11-18-003");
    let log = "events/2026-11-18.jsonl";
    let kept = fs::read_to_string(folder.path().join(log)).unwrap();
    assert_eq!(kept, old["files"][log].as_str().unwrap());
    assert!(log_of(folder.path(), "2026-11-18").exists());
    assert_ne!(log_of(folder.path(), "2026-11-18"), folder.path().join(log));
    // The source and its numbers go on.
    assert_eq!(sources(&tree).unwrap(), source);
    let (mut more, mut place) = (Vec::new(), place);
    loop {
        let (lines, next) = events_of(&tree, &source[0], place, 100).unwrap();
        place = next;
        if lines.is_empty() {
            break;
        }
        more.extend(lines);
    }
    let (all, _) = events_after(&tree, EventPlace::default(), 100).unwrap();
    let numbers: Vec<u64> = taken.iter().chain(&more).map(|event| event.number).collect();
    assert_eq!(numbers, (1..=all.len() as u64).collect::<Vec<_>>());
    assert_eq!(numbers.len(), kept.lines().count() + 1);
    assert_eq!(tree.lint(&LintQuery::default(), &human()).unwrap().findings, []);
}
