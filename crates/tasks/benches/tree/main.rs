//! Speed of a tree of tasks.
//!
//! ```text
//! cargo bench -p accord-tasks --bench tree -- FOLDER [poll] [report] [rate] [disk] [start] [watch]
//! ```
//!
//! The trees are made in FOLDER and removed afterwards. Give one on a memory file system for the
//! speed of the code alone. Each line has a floor of the same run: what the file system alone takes
//! for the same files. Without names, everything but `disk` is measured; `disk` wants a folder on a
//! disk. The command fails if a limit is missed.

#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock and writes files")]

mod calls;
mod floor;
mod measure;
mod seed;
mod slow;
mod watch;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use accord_tasks::Tree;
use accord_trees::{Disk, Root};
use tempfile::TempDir;

use crate::measure::{Limit, cpu, p50, process_cpu};
use crate::slow::Slow;

#[global_allocator]
static ALLOCATOR: accord_system::Allocator = accord_system::Allocator;

const SMALL: usize = 10_000;
const LARGE: usize = 100_000;
/// What a slow disk adds to every sync.
const SLOW_SYNC: Duration = Duration::from_millis(5);

fn main() -> ExitCode {
    // Cargo adds a flag of its own.
    let mut asked = std::env::args().skip(1).filter(|word| word != "--bench");
    let Some(place) = asked.next() else {
        eprintln!("give a folder for the trees");
        return ExitCode::FAILURE;
    };
    let asked: Vec<String> = asked.collect();
    let wanted = |part: &str| match asked.is_empty() {
        true => part != "disk",
        false => asked.iter().any(|word| word == part),
    };
    let place = Path::new(&place);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("folder {}, load average {}", place.display(), load.trim());
    let mut limits = Vec::new();
    if ["poll", "report", "start", "watch"].iter().any(|part| wanted(part)) {
        large_trees(place, &wanted, &mut limits);
    }
    // Removed at the end: some file systems look for a free inode among those that were freed in
    // the last seconds, which takes longer than everything that is measured.
    let mut folders = Vec::new();
    if wanted("rate") {
        rate(place, 16, Duration::ZERO, &mut folders, &mut limits);
    }
    if wanted("disk") {
        rate(place, 64, Duration::ZERO, &mut folders, &mut limits);
        rate(place, 64, SLOW_SYNC, &mut folders, &mut limits);
    }
    drop(folders);
    let missed = limits.iter().filter(|limit| !limit.print()).count();
    if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What depends on the number of tasks.
fn large_trees(place: &Path, wanted: &dyn Fn(&str) -> bool, limits: &mut Vec<Limit>) {
    let mut polls = Vec::new();
    let mut reports = Vec::new();
    for count in [SMALL, LARGE] {
        let folder = tempfile::tempdir_in(place).expect("a folder");
        seed::tree(folder.path(), count);
        // A server has seen the tree before: what is committed about its tasks is in the log.
        let first = start(folder.path());
        let again = start(folder.path());
        if wanted("start") && count == LARGE {
            let floor = floor::list_and_read(folder.path());
            println!("start on {count} tasks: {again:?}; for the first time: {first:?}");
            println!("    floor {floor:?} (list and read)");
            limits.push(Limit::at_most("start, s", again.took.as_secs_f64(), 3.0));
        }
        let tree = calls::tree(folder.path());
        calls::poll(&tree);
        if wanted("poll") {
            let took = p50(300, || calls::poll(&tree));
            let floor = p50(300, || floor::lock(folder.path()));
            println!("poll on {count} tasks: p50 {took:?}, floor {floor:?} (two locks)");
            polls.push(took.as_secs_f64());
        }
        if wanted("report") {
            reports.push(report(&tree, folder.path(), count));
        }
        if wanted("watch") && count == LARGE {
            watch::watch(&tree, folder.path(), limits);
        }
    }
    if let [small, large] = polls[..] {
        limits.push(Limit::at_most("poll at 10,000, ms", small * 1e3, 2.0));
        limits.push(Limit::at_most("poll at 100,000 / at 10,000", large / small, 3.0));
    }
    if let [small, large] = reports[..] {
        limits.push(Limit::at_most("report at 10,000, ms of CPU", small * 1e3, 2.0));
        limits.push(Limit::at_most("report at 100,000, ms of CPU", large * 1e3, 2.0));
        limits.push(Limit::at_most("report at 100,000 / at 10,000", large / small, 1.5));
    }
}

/// How long the first poll of a new process takes, and its CPU time.
#[derive(Debug)]
struct Started {
    took: Duration,
    #[expect(dead_code, reason = "it is printed")]
    cpu: Duration,
}

fn start(folder: &Path) -> Started {
    let (began, used) = (Instant::now(), cpu());
    let tree = calls::tree(folder);
    calls::poll(&tree);
    Started { took: began.elapsed(), cpu: cpu() - used }
}

/// The CPU time of a report, in seconds. A second half that costs more would show that the cost
/// grows with the number of reports.
fn report(tree: &Tree, folder: &Path, count: usize) -> f64 {
    const REPORTS: usize = 1_000;
    let claimed: Vec<_> = (0..REPORTS)
        .map(|_| {
            let id = calls::create(tree, "x");
            let run = calls::claim(tree, id, "dev");
            std::fs::write(folder.join(format!("tasks/in-progress/{id}/outputs/summary.md")), "x")
                .expect("a summary");
            (id, run)
        })
        .collect();
    let halves: Vec<Duration> = claimed
        .chunks(REPORTS / 2)
        .map(|half| {
            let began = cpu();
            half.iter().for_each(|(id, run)| calls::report(tree, *id, "dev", run));
            cpu() - began
        })
        .collect();
    let each = (halves[0] + halves[1]) / REPORTS as u32;
    let (first, second) = (halves[0], halves[1]);
    println!("report on {count} tasks: {each:?} of CPU, halves {first:?} and {second:?}");
    each.as_secs_f64()
}

/// Creations and claims of many callers.
fn rate(
    place: &Path,
    callers: usize,
    sync: Duration,
    folders: &mut Vec<TempDir>,
    limits: &mut Vec<Limit>,
) {
    const PAIRS: usize = 8_000;
    let [folder, other] = [(); 2].map(|()| tempfile::tempdir_in(place).expect("a folder"));
    let disk: Arc<dyn Disk> =
        Arc::new(Slow::new(Root::open(folder.path()).expect("a folder"), sync));
    let tree = calls::tree_on(disk, 500);
    // An fsync of one small append, as the floor of a change that syncs alone.
    let one_sync = p50(50, || floor::append_and_sync(folder.path())) + sync;
    let floor = floor::pairs(other.path(), 500, callers, sync);
    let each = PAIRS / callers;
    let (began, used) = (Instant::now(), process_cpu());
    std::thread::scope(|scope| {
        for caller in 0..callers {
            let tree = &tree;
            scope.spawn(move || {
                let agent = format!("a{caller}");
                for _ in 0..each {
                    let id = calls::create(tree, "x");
                    calls::claim(tree, id, &agent);
                }
            });
        }
    });
    let (took, used) = (began.elapsed(), process_cpu() - used);
    let changes = (2 * each * callers) as f64;
    let rate = changes / took.as_secs_f64();
    // On a busy machine the rate says how much of it was left. The CPU time says what a change
    // costs.
    println!(
        "{callers} callers, {sync:?} added to a sync: {rate:.0} changes a second, {:.0} µs of CPU \
         each, CPU {:.2} of one; floor {floor:.0} ({:.1} times), one sync {one_sync:?}",
        used.as_secs_f64() * 1e6 / changes,
        used.as_secs_f64() / took.as_secs_f64(),
        floor / rate
    );
    let times = rate * one_sync.as_secs_f64();
    limits.push(match (callers, sync.is_zero()) {
        (16, _) => Limit::at_least("changes a second, 16 callers", rate, 5_000.0),
        (_, true) => Limit::at_least("changes a second, 64 callers", rate, 2_500.0),
        (_, false) => Limit::at_least("changes in the time of one slow sync", times, 10.0),
    });
    folders.extend([folder, other]);
}
