//! Files that a failure of the file system cut off, and trees whose files are behind the log.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use accord_trees::testing::{Crash, SimDisk};
use accord_trees::wal::{Op, Wal, digest};
use accord_trees::{Disk, Root, read_file};
use serde_json::json;

use crate::wal::{Tally, commit, data, life, open, put, record, tally};

#[test]
fn what_a_failure_of_the_file_system_emptied_is_whole_again() {
    for length in 1..=life().len() {
        let disk = Arc::new(SimDisk::new());
        assert_eq!(commit(&mut open(&disk, "one"), &life()[..length]), length);
        let survivor = Arc::new(disk.after(Crash::Remount));
        // After three commits the log is emptied, and everything is synced.
        assert_eq!(data(&survivor) == data(&disk), length == 3, "{length}");
        assert_eq!(*open(&survivor, "one").lock().unwrap().state(), tally(length));
        assert_eq!(data(&survivor), data(&disk), "{length}");
        // What was cut off in the middle, too.
        for path in data(&disk).into_keys() {
            for left in [&b""[..], b"\0"] {
                let survivor = Arc::new(disk.after(Crash::Process));
                let half = disk.files()[&path].len() / 2;
                survivor.truncate(&path, half as u64).unwrap();
                survivor.append(&path, left).unwrap();
                drop(open(&survivor, "one").lock().unwrap());
                // What was synced before the log was begun cannot be lost, and is not in the log.
                if length < 3 {
                    assert_eq!(data(&survivor), data(&disk), "{length}, {path}");
                }
            }
        }
    }
}

/// Changes when the files followed the groups of a log, according to the log.
fn set_followed(disk: &dyn Disk, time_ms: i64) {
    let path = "own/log-000000000001";
    let log = String::from_utf8(read_file(disk, path, 1 << 20).unwrap().unwrap()).unwrap();
    let mark = json!({"followed": time_ms}).to_string();
    let mark = format!("{} {mark}", digest(mark.as_bytes()));
    let is_mark = |line: &str| line.contains("\"followed\"");
    let lines = log.lines().map(|line| if is_mark(line) { mark.as_str() } else { line });
    let lines: Vec<&str> = lines.collect();
    disk.remove_file(path).unwrap();
    disk.create(path, format!("{}\n", lines.join("\n")).as_bytes()).unwrap();
}

#[test]
fn what_others_cut_off_after_a_commit_stays() {
    for (time_ms, is_mended) in [(4_000, true), (6_000, false)] {
        let disk = Arc::new(SimDisk::new());
        assert_eq!(commit(&mut open(&disk, "one"), &life()[..2]), 2);
        let whole = data(&disk);
        set_followed(disk.as_ref(), 5_000);
        disk.set_now_ms(time_ms);
        disk.truncate("busy/a.md", 0).unwrap();
        disk.truncate("busy/a/inputs/note", 3).unwrap();
        disk.truncate("events/day", 5).unwrap();
        let expected = if is_mended { whole } else { data(&disk) };
        drop(open(&disk, "one").lock().unwrap());
        assert_eq!(data(&disk), expected, "{time_ms}");
        // After the next commit the log is newer than the files. They stay all the same.
        let mut wal = open(&disk, "one");
        let mut locked = wal.lock().unwrap();
        locked.stage(record(vec![put("ready/b.md", "another", None)]));
        locked.commit().unwrap();
        drop(locked);
        drop(open(&disk, "one").lock().unwrap());
        let mut found = data(&disk);
        assert_eq!(found.remove("ready/b.md").unwrap(), b"another");
        assert_eq!(found, expected, "{time_ms}");
    }
}

/// A disk with an editor: it has emptied a file, and writes it after Accord looked at it.
struct Edited {
    disk: Root,
    path: PathBuf,
    text: Option<&'static str>,
    looks: AtomicUsize,
}

impl Disk for Edited {
    accord_trees::forward! { disk: root_path, list, open, make_folder, create, append, truncate,
    rename, move_to, publish, remove_file, remove_tree, sync, sync_folder, sync_tree, guard,
    try_guard }

    fn stat(&self, path: &str) -> accord_trees::Result<Option<accord_trees::Stat>> {
        if self.path.ends_with(path)
            && self.looks.fetch_add(1, Ordering::Relaxed) == 1
            && let Some(text) = self.text
        {
            std::fs::write(&self.path, text).unwrap();
        }
        self.disk.stat(path)
    }
}

#[test]
fn a_file_that_is_cut_off_just_now_belongs_to_its_editor() {
    let (now, hour) = (SystemTime::now(), Duration::from_secs(3_600));
    for (modified, text, expected) in [
        // An editor is at work.
        (now, Some("status"), "status"),
        // Nothing is: the file system failed a moment ago.
        (now, None, "status ready"),
        (now - hour, None, "status ready"),
        // The clock was set back.
        (now + Duration::from_secs(60), None, ""),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let disk: Arc<dyn Disk> = Arc::new(Root::open(folder.path()).unwrap());
        assert_eq!(commit(&mut Wal::<Tally>::new(disk.clone(), "own", "one"), &life()[..1]), 1);
        // The file is not newer than the log, whatever its time.
        let later = (now + hour).duration_since(SystemTime::UNIX_EPOCH).unwrap();
        set_followed(disk.as_ref(), i64::try_from(later.as_millis()).unwrap());
        let path = folder.path().join("ready/a.md");
        let file = File::options().write(true).truncate(true).open(&path).unwrap();
        file.set_modified(modified).unwrap();
        let disk = Root::open(folder.path()).unwrap();
        let looks = AtomicUsize::new(0);
        let edited = Arc::new(Edited { disk, path: path.clone(), text, looks });
        drop(Wal::<Tally>::new(edited, "own", "one").lock().unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected, "{modified:?}, {text:?}");
    }
}

#[test]
fn lines_that_others_removed_or_moved_are_not_written_again() {
    let lines = ["{\"own\":1}\n", "{\"own\":2}\n", "{\"own\":3}\n"];
    let wrote = || {
        let disk = Arc::new(SimDisk::new());
        let mut wal = open(&disk, "one");
        for (number, line) in lines.iter().enumerate() {
            let mut locked = wal.lock().unwrap();
            let at = (number * line.len()) as u64;
            let append = Op::Append { path: "events/day".into(), at, text: (*line).into() };
            locked.stage(record(vec![append]));
            locked.commit().unwrap();
        }
        disk
    };
    let other = "{\"other\":1}\n";
    for (left, expected) in [
        // What a crash leaves: the beginning, also with lines of other programs.
        (String::new(), lines.concat()),
        (lines[0].to_owned(), lines.concat()),
        (format!("{}{{\"ow", lines[0]), lines.concat()),
        (format!("{other}{}", lines[0]), format!("{other}{}", lines.concat())),
        // What others leave.
        (lines[1..].concat(), lines[1..].concat()),
        (lines[2].to_owned(), lines[2].to_owned()),
        (format!("{}{}", lines[0], lines[2]), format!("{}{}", lines[0], lines[2])),
        (format!("{}{{\"other", lines[0]), format!("{}{{\"other", lines[0])),
    ] {
        let disk = wrote();
        disk.truncate("events/day", 0).unwrap();
        disk.append("events/day", left.as_bytes()).unwrap();
        drop(open(&disk, "one").lock().unwrap());
        let found = String::from_utf8(disk.files()["events/day"].clone()).unwrap();
        assert_eq!(found, expected, "{left:?}");
    }
}

/// A disk that counts how often files are looked at and opened.
struct Counted {
    disk: SimDisk,
    stats: AtomicUsize,
    opens: AtomicUsize,
}

impl Disk for Counted {
    accord_trees::forward! { disk: root_path, list, make_folder, create, append, truncate, rename,
    move_to, publish, remove_file, remove_tree, sync, sync_folder, sync_tree, guard, try_guard }

    fn stat(&self, path: &str) -> accord_trees::Result<Option<accord_trees::Stat>> {
        self.stats.fetch_add(1, Ordering::Relaxed);
        self.disk.stat(path)
    }

    fn open(&self, path: &str) -> accord_trees::Result<Option<Box<dyn accord_trees::Content>>> {
        self.opens.fetch_add(1, Ordering::Relaxed);
        self.disk.open(path)
    }
}

#[test]
fn a_first_look_at_a_log_costs_one_stat_for_each_file() {
    const FILES: usize = 500;
    let disk = SimDisk::new();
    let disk = Arc::new(Counted { disk, stats: AtomicUsize::new(0), opens: AtomicUsize::new(0) });
    let open = || Wal::<Tally>::new(disk.clone(), "own", "one");
    let mut wal = open();
    for text in ["first", "second"] {
        let mut locked = wal.lock().unwrap();
        for number in 0..FILES {
            let was = (text == "second").then_some("first");
            locked.stage(record(vec![put(&format!("ready/{number}"), text, was)]));
        }
        locked.commit().unwrap();
    }
    let before = (disk.stats.load(Ordering::Relaxed), disk.opens.load(Ordering::Relaxed));
    drop(open().lock().unwrap());
    let stats = disk.stats.load(Ordering::Relaxed) - before.0;
    let opens = disk.opens.load(Ordering::Relaxed) - before.1;
    assert!((FILES..FILES + 10).contains(&stats), "{stats} stats");
    assert!(opens < 5, "{opens} files were opened");
}

#[test]
fn a_preview_shows_what_the_files_do_not_have_yet() {
    for length in 1..=life().len() {
        let complete = Arc::new(SimDisk::new());
        assert_eq!(commit(&mut open(&complete, "one"), &life()[..length]), length);
        let operations = complete.operations();
        for cut in 0..operations {
            let disk = Arc::new(SimDisk::new());
            disk.stop_after(cut);
            commit(&mut open(&disk, "one"), &life()[..length]);
            let disk = Arc::new(disk.after(Crash::Process));
            let before = disk.files();
            let Some(preview) = open(&disk, "one").preview().unwrap() else { continue };
            let real = Arc::new(disk.after(Crash::Process));
            drop(open(&real, "one").lock().unwrap());
            for (path, content) in data(&real) {
                let found = read_file(preview.disk.as_ref(), &path, 100).unwrap();
                assert_eq!(found.unwrap(), content, "{length}, {cut}, {path}");
            }
            for folder in ["", "ready", "ready/a", "busy", "busy/a", "busy/a/inputs", "done/a"] {
                let listed = |disk: &dyn Disk| {
                    let mut entries = disk.list(folder).unwrap();
                    // Names that only the log has.
                    entries.iter_mut().for_each(|list| list.retain(|one| one.name != "own"));
                    entries
                };
                let (found, real) = (listed(preview.disk.as_ref()), listed(real.as_ref()));
                assert_eq!(found, real, "{length}, {cut}, {folder:?}");
            }
            assert_eq!(preview.state, *open(&real, "one").lock().unwrap().state());
            assert_eq!(disk.files(), before, "to look at a preview changed the disk");
        }
    }
}
