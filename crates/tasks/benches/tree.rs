//! Speed of a tree of tasks: `cargo bench -p accord-tasks --bench tree -- [FOLDER]`.
//!
//! Without a folder, a temporary one. Give one on a memory file system for the speed of the code
//! alone.

#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::path::Path;
use std::time::{Duration, Instant};

use accord_tasks::operations::NewTask;
use accord_tasks::{Environment, Tree};
use accord_tasks_core::board::Limits;
use accord_tasks_core::lease::LeaseTimes;

fn new(title: &str) -> NewTask {
    let mut new = NewTask::new(title, "human:reviewer");
    new.is_ready = true;
    new
}

fn main() {
    let place = std::env::args().nth(1).filter(|place| place != "--bench");
    let folder = match &place {
        Some(place) => tempfile::tempdir_in(place),
        None => tempfile::tempdir(),
    }
    .expect("a folder");
    for callers in [1, 16, 64] {
        let path = folder.path().join(format!("c{callers}"));
        std::fs::create_dir(&path).expect("a folder");
        throughput(&path, callers);
    }
}

fn throughput(path: &Path, callers: usize) {
    let tree = Tree::open(path, "shop", Environment::system()).expect("a tree");
    tree.init().expect("a tree");
    let each = if callers == 1 { 200 } else { 1_600 / callers };
    let began = Instant::now();
    std::thread::scope(|scope| {
        for caller in 0..callers {
            let tree = tree.clone();
            scope.spawn(move || {
                for _ in 0..each {
                    let id = tree.create(new("x")).expect("a task").task().id;
                    tree.claim(id, &format!("a{caller}"), LeaseTimes::default()).expect("a lease");
                }
            });
        }
    });
    let took = began.elapsed();
    println!("{callers:>3} callers: {:>8.0} changes a second", rate(2 * callers * each, took));
    let began = Instant::now();
    let polls = 100;
    for _ in 0..polls {
        tree.poll(&Limits::default()).expect("a poll");
    }
    println!("    poll: {:?} each", began.elapsed() / polls);
}

fn rate(count: usize, took: Duration) -> f64 {
    count as f64 / took.as_secs_f64()
}
