//! What the file system alone takes.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// One small append and its sync.
pub(crate) fn append_and_sync(folder: &Path) {
    let path = folder.join("floor-log");
    let mut log = OpenOptions::new().create(true).append(true).open(path).expect("a log");
    log.write_all(&[b'x'; 1_000]).expect("an append");
    log.sync_all().expect("a sync");
}

/// The two locks that every operation takes.
pub(crate) fn lock(folder: &Path) {
    for name in ["floor-gate", "floor-lock"] {
        let file = OpenOptions::new().create(true).append(true).open(folder.join(name));
        file.expect("a file").lock().expect("a lock");
    }
}

/// Lists every folder of tasks, and reads the files of those that are not finished.
pub(crate) fn list_and_read(folder: &Path) -> Duration {
    let began = Instant::now();
    for status in fs::read_dir(folder.join("tasks")).expect("a folder") {
        let status = status.expect("an entry");
        let is_final = ["done", "cancelled"].iter().any(|name| status.file_name() == *name);
        for entry in fs::read_dir(status.path()).expect("a folder") {
            let entry = entry.expect("an entry");
            if !is_final && entry.file_type().expect("a type").is_file() {
                fs::read(entry.path()).expect("a file");
            }
        }
    }
    began.elapsed()
}

/// The changes a second that the same files take, one after another: a creation and a claim, with
/// a synced log for each group.
pub(crate) fn pairs(folder: &Path, pairs: usize, group: usize, sync: Duration) -> f64 {
    let at = |path: &str| folder.join(path);
    for name in ["ready", "in-progress", "runs"] {
        fs::create_dir(at(name)).expect("a folder");
    }
    let mut log = File::create(at("log")).expect("a log");
    let put = |path: &str, text: &[u8]| {
        fs::write(at("next"), text).expect("a file");
        fs::rename(at("next"), at(path)).expect("a file");
    };
    let mut group_end = |changes: usize| {
        if changes.is_multiple_of(group) {
            log.sync_all().expect("a sync");
            std::thread::sleep(sync);
        }
        log.write_all(&[b'x'; 1_500]).expect("an append");
    };
    let text = [b'x'; 600];
    let began = Instant::now();
    for pair in 0..pairs {
        group_end(2 * pair);
        for folder in ["", "/inputs", "/work", "/outputs", "/subtasks"] {
            fs::create_dir(at(&format!("ready/{pair}{folder}"))).expect("a folder");
        }
        put(&format!("ready/{pair}.md"), &text);
        group_end(2 * pair + 1);
        fs::read(at(&format!("ready/{pair}.md"))).expect("a file");
        fs::create_dir(at(&format!("runs/{pair}"))).expect("a folder");
        put(&format!("runs/{pair}/run.json"), &text[..300]);
        put(&format!("runs/{pair}/run_heartbeat.json"), &text[..200]);
        for name in [format!("{pair}.md"), format!("{pair}")] {
            let (from, to) = (at(&format!("ready/{name}")), at(&format!("in-progress/{name}")));
            fs::rename(from, to).expect("a move");
        }
        put(&format!("in-progress/{pair}.md"), &text);
    }
    (2 * pairs) as f64 / began.elapsed().as_secs_f64()
}
