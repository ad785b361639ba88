//! How soon a tree notices the edits of others, and what that costs while nothing happens.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use accord_tasks::Tree;
use accord_tasks::layout::task_file;
use accord_tasks_core::Status;

use crate::measure::{Limit, process_cpu};
use crate::seed;

const EDITS: usize = 20;
const IDLE: Duration = Duration::from_secs(5);
/// An edit that is not noticed after this time is a failure of the benchmark.
const LONGEST: Duration = Duration::from_secs(60);

/// Measures a watched tree that the seed made.
pub(crate) fn watch(tree: &Tree, folder: &Path, limits: &mut Vec<Limit>) {
    let _watching = tree.watch().expect("a watch");
    let mut ready = seed::ready();
    // The watch begins by reading everything.
    edit(folder, &task_file(Status::Ready, ready.next().expect("a task")));
    let used = process_cpu();
    std::thread::sleep(IDLE);
    let idle = (process_cpu() - used).as_secs_f64() / IDLE.as_secs_f64();
    let mut times: Vec<Duration> =
        ready.take(EDITS).map(|id| edit(folder, &task_file(Status::Ready, id))).collect();
    times.sort();
    let (p50, last) = (times[EDITS / 2], times[EDITS - 1]);
    println!(
        "watch: {:.1} % of a core while idle; an edit is noticed after {p50:?}, at the \
              latest after {last:?}",
        100.0 * idle
    );
    limits.push(Limit::at_most("idle watch, % of a core", 100.0 * idle, 1.0));
    limits.push(Limit::at_most("an edit is noticed, s", last.as_secs_f64(), 1.0));
}

/// Edits a task as another tool does, and waits for the event about it.
fn edit(folder: &Path, path: &str) -> Duration {
    let path = folder.join(path);
    let text = fs::read_to_string(&path).expect("a task");
    let before = events(folder);
    let began = Instant::now();
    fs::write(path, text.replace("priority: ", "priority: low # ")).expect("an edit");
    while events(folder) == before {
        assert!(began.elapsed() < LONGEST, "an edit was not noticed");
        std::thread::sleep(Duration::from_millis(1));
    }
    began.elapsed()
}

/// The length of all event logs.
fn events(folder: &Path) -> u64 {
    let logs = fs::read_dir(folder.join("events")).expect("a folder");
    logs.map(|log| log.and_then(|log| log.metadata()).expect("a log").len()).sum()
}
