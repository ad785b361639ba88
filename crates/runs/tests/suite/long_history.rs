//! No ordinary operation reads a long history to its beginning.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use accord_contract::Code;
use accord_runs::operations::{Checkpoint, NextStep};
use accord_runs::repository::Repository;
use accord_runs::{Environment, Reading, Runs};
use accord_trees::{Content, Disk, Result, Root};
use serde_json::json;

use crate::support::{Repo, accept, dispatched, refused, result, stage};

const HISTORY: &str = ".agentxchain/history.jsonl";

/// A disk that counts how many bytes of the history are read.
struct Counting {
    disk: Root,
    read: Arc<AtomicU64>,
}

struct CountedContent {
    content: Box<dyn Content>,
    read: Arc<AtomicU64>,
}

impl Content for CountedContent {
    fn length(&self) -> Result<u64> {
        self.content.length()
    }

    fn read_at(&self, offset: u64, length: usize) -> Result<Vec<u8>> {
        let bytes = self.content.read_at(offset, length)?;
        self.read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(bytes)
    }
}

impl Disk for Counting {
    accord_trees::forward! { disk: root_path, stat, list, make_folder, create, append, truncate,
    rename, move_to, publish, remove_file, remove_tree, sync, sync_folder, sync_tree, guard,
    try_guard }

    fn open(&self, path: &str) -> Result<Option<Box<dyn Content>>> {
        let content = self.disk.open(path)?;
        if path != HISTORY {
            return Ok(content);
        }
        let count = |content| {
            let read = Arc::clone(&self.read);
            Box::new(CountedContent { content, read }) as Box<dyn Content>
        };
        Ok(content.map(count))
    }
}

/// A run whose last turn, after `turns` others with summaries of that length, is not committed.
fn long_run(turns: usize, summary: usize) -> Repo {
    let repo = Repo::with_git();
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    repo.write("src/first.rs", "first\n");
    stage(&repo, &turn, &result(&turn, &["src/first.rs"], |_| {}));
    accept(&runs, turn.turn.id()).unwrap();
    let first = repo.lines(HISTORY).remove(0);
    let mut lines = String::new();
    for number in 0..turns {
        let mut line = first.clone();
        line["turn_id"] = format!("turn_{number:016x}").into();
        line["summary"] = "x".repeat(summary).into();
        line["files_changed"] = vec![format!("src/{number}.rs")].into();
        let observed = &mut line["observed_artifact"];
        observed["files_changed"] = vec![format!("src/{number}.rs")].into();
        observed["file_markers"] = json!({format!("src/{number}.rs"): "sha256:00"});
        writeln!(lines, "{line}").unwrap();
    }
    repo.write(HISTORY, &(lines + &repo.read(HISTORY)));
    // The index of the short history is of no use, and the next writer stores the one of the long.
    refused(runs.assign(Some("dev")), Code::XchainCheckpointRequired);
    repo
}

/// An operation, and how many bytes of the history it reads.
fn read<T>(repo: &Repo, operation: impl FnOnce(&Runs) -> T) -> (T, u64) {
    let read = Arc::new(AtomicU64::new(0));
    let disk = Counting { disk: Root::open(&repo.root()).unwrap(), read: Arc::clone(&read) };
    let repository = Repository::on(Arc::new(disk));
    let runs = Runs::on(repository, Environment::system(), Reading::Full);
    let done = operation(&runs);
    (done, read.load(Ordering::Relaxed))
}

#[test]
fn what_a_dirty_tree_costs_does_not_grow_with_the_history() {
    // Lines that are longer than what is read at a time, and many ordinary ones.
    for (turns, summary) in [(60, 300_000), (3_000, 500)] {
        let repo = long_run(turns, summary);
        let length = repo.read(HISTORY).len() as u64;
        let most = 16 * (summary as u64 + 64 * 1024);
        assert!(most < length / 2, "{most} of {length}");
        let (overview, bytes) = read(&repo, |runs| runs.status().unwrap());
        assert_eq!(overview.next.first(), Some(&NextStep::Checkpoint));
        assert_eq!(overview.accepted_turns, turns as u64 + 1);
        assert!(bytes < most, "status reads {bytes} of {length}");
        let (assigned, bytes) = read(&repo, |runs| runs.assign(Some("dev")));
        refused(assigned, Code::XchainCheckpointRequired);
        assert!(bytes < most, "assign reads {bytes} of {length}");
        let (made, bytes) = read(&repo, |runs| runs.checkpoint(None).unwrap());
        let Checkpoint { files, turns, .. } = made;
        assert_eq!((files, turns.len()), (vec!["src/first.rs".to_owned()], 1));
        assert!(bytes < most, "checkpoint reads {bytes} of {length}");
        let ((), bytes) = read(&repo, |runs| drop(dispatched(runs, "dev")));
        assert!(bytes < most, "assign and dispatch read {bytes} of {length}");
    }
}

#[test]
fn an_index_that_points_to_another_line_is_not_believed() {
    let repo = long_run(100, 10);
    // As long as before, with the same beginning and end: only the middle is another.
    let lines = repo.read(HISTORY);
    let (one, other) = ("turn_000000000000000a", "turn_000000000000000b");
    let swapped = lines.replace(one, "turn_x").replace(other, one).replace("turn_x", other);
    repo.write(HISTORY, &swapped);
    repo.write("src/10.rs", "not what any turn left\n");
    let runs = repo.runs();
    refused(runs.assign(Some("dev")), Code::XchainBaselineDirty);
    std::fs::remove_file(repo.root().join("src/10.rs")).unwrap();
    refused(runs.assign(Some("dev")), Code::XchainCheckpointRequired);
    // A position in the middle of a line.
    let path = ".agentxchain/transactions/index/run.json";
    let mut index = repo.json(path);
    let touch = &mut index["index"]["touched"]["src/first.rs"];
    let position = touch[3].as_u64().unwrap();
    touch[3] = (position + 5).into();
    repo.write(path, &index.to_string());
    assert_eq!(runs.checkpoint(None).unwrap().files, ["src/first.rs"]);
}

#[test]
fn a_checkpoint_names_the_files_of_each_turn() {
    let repo = Repo::with_git();
    repo.configure(|config| config["routing"]["planning"]["max_concurrent_turns"] = json!(2));
    let runs = repo.started();
    let work = [("pm", "src/one.rs"), ("dev", "src/two.rs")];
    let turns = work.map(|(role, file)| (role, file, dispatched(&runs, role)));
    for (_, file, turn) in &turns {
        repo.write(file, "changed\n");
        stage(&repo, turn, &result(turn, &[file], |_| {}));
        accept(&runs, turn.turn.id()).unwrap();
    }
    let uncommitted = runs.uncommitted_turns().unwrap();
    for (role, _, turn) in &turns {
        assert_eq!(uncommitted[turn.turn.id().as_str()], *role);
    }
    assert_eq!(runs.checkpoint(None).unwrap().files, ["src/one.rs", "src/two.rs"]);
    let events = repo.lines(".agentxchain/events.jsonl");
    for (_, file, turn) in &turns {
        let event = events.iter().find(|event| {
            event["event_type"] == "turn_checkpointed"
                && event["turn"]["turn_id"] == turn.turn.id().as_str()
        });
        assert_eq!(event.unwrap()["payload"]["files_changed"], json!([file]));
    }
    assert!(repo.git(&["log", "-1", "--format=%s"]).starts_with("Checkpoint of 2 accepted turns"));
    assert!(runs.uncommitted_turns().unwrap().is_empty());
}
