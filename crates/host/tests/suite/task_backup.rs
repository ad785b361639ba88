//! Task trees in backups.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use accord_base::{By, Door};
use accord_contract::Code;
use accord_host::http::Host;
use accord_host::settings::Settings;
use accord_host::upkeep::restore;
use accord_tasks::{Environment, Tree};
use accord_tasks_core::TaskId;
use accord_tasks_core::operations::{ClaimRequest, LintQuery, ListQuery};
use serde_json::json;

use crate::scheduling::{all_taken_over, create, human, logged, tree};
use crate::support::{Asker, opened, project_id};

async fn open(data: &Path) -> Host {
    opened(data, Settings::default()).await
}

/// The tasks of the project atlas in a data folder, whose tree is as it should be.
fn tasks_in(data: &Path) -> Vec<TaskId> {
    let tree = Tree::open(&data.join("projects/atlas"), "atlas", Environment::system()).unwrap();
    let lint = tree.lint(&LintQuery::default(), &human()).unwrap();
    assert_eq!(lint.findings, []);
    let mut all = ListQuery::default();
    (all.all, all.limit) = (true, Some(500));
    tree.list(&all, &human()).unwrap().tasks.iter().map(|task| task.id).collect()
}

async fn back_up(host: &Host, to: &Path) {
    Asker::of(host).post("/accord/v1/store/backup", &json!({"to": to})).await.expect(200);
}

#[tokio::test]
async fn a_backup_has_the_tasks_and_gives_them_back() {
    let place = tempfile::tempdir().unwrap();
    let [data, backup, other] = ["data", "backup", "other"].map(|name| place.path().join(name));
    let host = open(&data).await;
    let tasks = tree(&data.join("projects/atlas"), "atlas");
    let first = create(&tasks, &[]);
    fs::write(data.join(format!("projects/atlas/tasks/backlog/{first}/work/notes")), "x").unwrap();
    back_up(&host, &backup).await;
    let second = create(&tasks, &[]);
    drop(host);
    // A backup is a data folder.
    assert_eq!(tasks_in(&backup), [first]);
    // Into a folder of its own.
    restore(&backup, &other, false).unwrap();
    assert_eq!(tasks_in(&other), [first]);
    assert!(other.join(format!("projects/atlas/tasks/backlog/{first}/work/notes")).exists());
    // Over what is there only on request: the store, or tasks without a store.
    fs::remove_file(other.join("accord.db")).unwrap();
    for folder in [&data, &other] {
        let refused = restore(&backup, folder, false).unwrap_err();
        assert_eq!(refused.code, Code::StoreOccupied);
    }
    assert_eq!(tasks_in(&data), [first, second]);
    restore(&backup, &data, true).unwrap();
    assert_eq!(tasks_in(&data), [first]);
    let left = fs::read_dir(data.join("projects")).unwrap().count();
    assert_eq!(left, 1, "copies were left behind");
    // Work goes on there, and every event is in the stream once.
    drop(tasks);
    let tasks = Tree::open(&data.join("projects/atlas"), "atlas", Environment::system()).unwrap();
    let third = create(&tasks, &[]);
    for _ in 0..2 {
        all_taken_over(&open(&data).await, "atlas", &data.join("projects/atlas")).await;
    }
    assert_eq!(tasks_in(&data), [first, third]);
}

/// A tree that a backup does not have stays, and a linked one is not copied.
#[tokio::test]
async fn a_restore_leaves_other_trees_alone() {
    let place = tempfile::tempdir().unwrap();
    let [data, backup, linked] = ["data", "backup", "linked"].map(|name| place.path().join(name));
    let host = open(&data).await;
    Asker::of(&host).post("/v1/projects", &json!({"project_id": "map"})).await.expect(201);
    create(&tree(&linked, "map"), &[]);
    host.tasks().link(&project_id("map"), Some(linked));
    back_up(&host, &backup).await;
    assert!(!backup.join("projects").exists());
    drop(host);
    let kept = create(&tree(&data.join("projects/atlas"), "atlas"), &[]);
    restore(&backup, &data, true).unwrap();
    assert_eq!(tasks_in(&data), [kept]);
    all_taken_over(&open(&data).await, "atlas", &data.join("projects/atlas")).await;
}

/// A backup that is made while agents work is a clean tree, with events without a gap.
#[tokio::test(flavor = "multi_thread")]
async fn a_backup_while_agents_work_is_whole() {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    let host = open(&data).await;
    let tasks = tree(&data.join("projects/atlas"), "atlas");
    create(&tasks, &[]);
    let is_over = AtomicBool::new(false);
    let (tasks, is_over) = (&tasks, &is_over);
    let copies = [1, 2, 3].map(|number| place.path().join(format!("backup-{number}")));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(move || {
                let agent = By::parse("swe-backend", Door::Message).unwrap();
                // Bounded, for a backup that fails.
                for _ in 0..5_000 {
                    if is_over.load(Ordering::Acquire) {
                        break;
                    }
                    let id = create(tasks, &[]).to_string();
                    tasks.promote(&id, &Default::default(), &human()).unwrap();
                    tasks.claim(&id, &ClaimRequest::default(), &agent).unwrap();
                }
            });
        }
        let runtime = tokio::runtime::Handle::current();
        for copy in &copies {
            tokio::task::block_in_place(|| runtime.block_on(back_up(&host, copy)));
        }
        is_over.store(true, Ordering::Release);
    });
    for copy in &copies {
        assert!(!tasks_in(copy).is_empty());
        let folder = copy.join("projects/atlas");
        let numbers: Vec<u64> = logged(&folder).iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
        all_taken_over(&open(copy).await, "atlas", &folder).await;
    }
}
