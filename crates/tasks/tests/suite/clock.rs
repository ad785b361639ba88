//! The clock of the machine jumps while a tree is in use.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use accord_tasks::Tree;
use accord_tasks_core::operations::InitRequest;
use accord_tasks_core::{Status, TaskId};

use crate::support::{
    AGENT, Clock, beat, claim, create_ready, event_numbers, human, is_clean, poll,
};

const DAY: i64 = 86_400;

/// A tree, its clock, and the time that really goes by.
struct Case {
    folder: tempfile::TempDir,
    clock: Clock,
    uptime: Arc<AtomicI64>,
}

impl Case {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let case = Self { folder, clock: Clock::default(), uptime: Arc::default() };
        case.open().init(&InitRequest::default(), &human()).unwrap();
        case
    }

    fn open(&self) -> Tree {
        let uptime = self.uptime.clone();
        let seconds = move || u64::try_from(uptime.load(Ordering::Acquire)).unwrap();
        let environment =
            self.clock.environment().with_uptime(move || Duration::from_secs(seconds()));
        Tree::open(self.folder.path(), "shop", environment).unwrap()
    }

    /// Time goes by.
    fn wait(&self, seconds: i64) {
        self.uptime.fetch_add(seconds, Ordering::AcqRel);
        self.clock.add(seconds);
    }

    /// The clock is set.
    fn jump(&self, seconds: i64) {
        self.clock.add(seconds);
    }
}

/// A claimed task, and its run.
fn claimed(tree: &Tree) -> (TaskId, String) {
    let id = create_ready(tree, "x");
    (id, claim(tree, id, AGENT))
}

#[test]
fn a_run_that_beats_outlives_every_jump() {
    for jump in [DAY, -DAY, 3_600, -3_600] {
        let case = Case::new();
        let tree = case.open();
        let (id, run) = claimed(&tree);
        for _ in 0..3 {
            case.wait(200);
            case.jump(jump);
            assert_eq!(poll(&tree), [], "after a jump of {jump} seconds");
            case.wait(90);
            assert_eq!(poll(&tree), [], "after a jump of {jump} seconds");
            beat(&tree, id, AGENT, &run);
        }
        is_clean(&tree);
    }
}

#[test]
fn a_silent_run_is_taken_back_in_its_time_whatever_the_clock_says() {
    for jump in [DAY, -DAY] {
        let case = Case::new();
        let tree = case.open();
        let (id, _) = claimed(&tree);
        case.wait(100);
        case.jump(jump);
        assert_eq!(poll(&tree), [], "after a jump of {jump} seconds");
        case.wait(199);
        assert_eq!(poll(&tree), [], "after a jump of {jump} seconds");
        case.wait(2);
        assert_eq!(poll(&tree), [(id, Status::Ready)], "after a jump of {jump} seconds");
    }
}

#[test]
fn a_day_that_comes_again_continues_its_ids_and_events() {
    let case = Case::new();
    let tree = case.open();
    let first = create_ready(&tree, "x");
    case.jump(DAY);
    let next_day = create_ready(&tree, "x");
    case.jump(-DAY);
    let again = create_ready(&tree, "x");
    assert_eq!(first.to_string(), "TASK-2026-02-09-001");
    assert_eq!(next_day.to_string(), "TASK-2026-02-10-001");
    assert_eq!(again.to_string(), "TASK-2026-02-09-002");
    // A process that starts now knows the highest number, though the newest log does not have it.
    let last = create_ready(&case.open(), "x");
    assert_eq!(last.to_string(), "TASK-2026-02-09-003");
    assert_eq!(event_numbers(case.folder.path()), [1, 2, 3, 4]);
    is_clean(&case.open());
    let log = fs::read_to_string(crate::support::log_of(case.folder.path(), "2026-02-09")).unwrap();
    assert_eq!(log.lines().count(), 3);
}
