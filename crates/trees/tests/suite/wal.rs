//! A log keeps what was committed, and what others wrote.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, SystemTime};

use accord_contract::{Object, Value};
use accord_trees::testing::{Crash, SimDisk};
use accord_trees::wal::{Committed, News, Op, Record, Wal, digest};
use accord_trees::{Disk, Kind, Root, read_file};
use serde_json::json;

/// A state that counts commits and remembers the last file.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Tally {
    commits: u64,
    last: Option<String>,
}

impl Committed for Tally {
    fn load(saved: Option<&Object>) -> Self {
        let text = |name: &str| Some(saved?.get(name)?.as_str()?.to_owned());
        let commits = saved.and_then(|saved| saved.get("commits")).and_then(Value::as_u64);
        Self { commits: commits.unwrap_or(0), last: text("last") }
    }

    fn apply(&mut self, record: &Record) {
        self.commits += 1;
        let put = record.ops.iter().find_map(|op| match op {
            Op::Put { path, .. } => Some(path.clone()),
            _ => None,
        });
        self.last = put.or(self.last.take());
    }

    fn save(&self) -> Object {
        let mut saved = Object::new();
        saved.insert("commits".into(), self.commits.into());
        saved.extend(self.last.clone().map(|last| ("last".to_owned(), last.into())));
        saved
    }
}

pub(crate) fn record(ops: Vec<Op>) -> Record {
    Record { ops, detail: Object::new() }
}

pub(crate) fn put(path: &str, text: &str, was: Option<&str>) -> Op {
    let was = was.map(|was| digest(was.as_bytes()));
    Op::Put { path: path.into(), text: text.into(), was }
}

fn moved(from: &str, to: &str) -> Op {
    Op::Move { from: from.into(), to: to.into() }
}

/// The life of a task in five commits: its file moves three times, with the folder beside it.
pub(crate) fn life() -> Vec<Record> {
    let line =
        |at: u64, text: &str| Op::Append { path: "events/day".into(), at, text: text.into() };
    vec![
        record(vec![
            put("ready/a.md", "status ready", None),
            Op::Folder { path: "ready/a/inputs".into() },
            put("ready/a/inputs/note", "read me", None),
            line(0, "made\n"),
        ]),
        record(vec![
            moved("ready/a.md", "busy/a.md"),
            put("busy/a.md", "status busy", Some("status ready")),
            moved("ready/a", "busy/a"),
            put("busy/a/inputs/run", "one", None),
            line(5, "busy\n"),
        ]),
        record(vec![
            put("busy/a.md", "status busy, beat", Some("status busy")),
            line(10, "beat\n"),
        ]),
        record(vec![
            moved("busy/a.md", "done/a.md"),
            put("done/a.md", "status done", Some("status busy, beat")),
            moved("busy/a", "done/a"),
            line(15, "done\n"),
        ]),
        record(vec![
            Op::Remove { path: "done/a/inputs/run".into() },
            put("ready/b.md", "another", None),
            line(20, "more\n"),
        ]),
    ]
}

pub(crate) fn data(disk: &SimDisk) -> BTreeMap<String, Vec<u8>> {
    let mut files = disk.files();
    files.retain(|path, _| !path.starts_with("own/"));
    files
}

/// Commits records, one group each. Answers how many were acknowledged.
pub(crate) fn commit<S: Committed>(wal: &mut Wal<S>, records: &[Record]) -> usize {
    let mut done = 0;
    for record in records {
        let Ok(mut locked) = wal.lock() else { break };
        locked.stage(record.clone());
        if locked.commit().is_err() {
            break;
        }
        done += 1;
        // A log is emptied at any time.
        if done == 3 && locked.checkpoint().is_err() {
            break;
        }
    }
    done
}

pub(crate) fn open(disk: &Arc<SimDisk>, boot: &str) -> Wal<Tally> {
    Wal::new(disk.clone(), "own", boot)
}

/// The state after the first commits of a life.
pub(crate) fn tally(commits: usize) -> Tally {
    let mut tally = Tally::default();
    life()[..commits].iter().for_each(|record| tally.apply(record));
    tally
}

#[test]
fn every_crash_leaves_the_state_before_or_after_a_commit() {
    let mut states = vec![BTreeMap::new()];
    for length in 1..=life().len() {
        let disk = Arc::new(SimDisk::new());
        assert_eq!(commit(&mut open(&disk, "one"), &life()[..length]), length);
        states.push(data(&disk));
    }
    let disk = Arc::new(SimDisk::new());
    commit(&mut open(&disk, "one"), &life());
    let operations = disk.operations();
    assert!(operations > 40, "{operations} operations are too few");
    for cut in 0..operations {
        let disk = Arc::new(SimDisk::new());
        disk.stop_after(cut);
        let acknowledged = commit(&mut open(&disk, "one"), &life());
        for seed in 0..9 {
            let (crash, boot) = match seed {
                0 => (Crash::Process, "one"),
                8 => (Crash::Remount, "one"),
                seed => (Crash::Power(cut * 100 + seed), "two"),
            };
            let survivor = Arc::new(disk.after(crash));
            let mut wal = open(&survivor, boot);
            let state = Tally::load(Some(&wal.lock().unwrap().state().save()));
            let found = data(&survivor);
            let files: BTreeMap<_, _> =
                found.into_iter().filter(|(path, _)| !path.contains(".tmp-")).collect();
            let after = states.iter().position(|state| *state == files);
            assert!(
                after.is_some_and(|after| after == acknowledged || after == acknowledged + 1),
                "cut {cut}, {crash:?}: {acknowledged} acknowledged, found {after:?}: {files:?}"
            );
            // The committed state is that of the files, whatever became of the records.
            assert_eq!(state, tally(after.unwrap()), "cut {cut}, {crash:?}");
            // It goes on from there.
            let rest = &life()[after.unwrap()..];
            assert_eq!(commit(&mut open(&survivor, boot), rest), rest.len());
            assert_eq!(*open(&survivor, boot).lock().unwrap().state(), tally(life().len()));
        }
    }
}

/// A folder that is complete before any record names it, and the commits that take it over.
fn uploaded(disk: &SimDisk) -> [Record; 3] {
    for folder in ["own", "own/up", "own/up/1", "own/up/1/outputs", "own/up/1/outputs/deep"] {
        disk.make_folder(folder).unwrap();
    }
    for (path, text) in [("own/up/1/outputs/a", "new"), ("own/up/1/outputs/deep/b", "more")] {
        disk.create(path, text.as_bytes()).unwrap();
        disk.sync(path).unwrap();
    }
    disk.sync_tree().unwrap();
    let replaced = Op::Replace { from: "own/up/1/outputs".into(), to: "busy/t/outputs".into() };
    [
        record(vec![put("busy/t/outputs/a", "old", None), put("busy/t/outputs/c", "old", None)]),
        record(vec![
            replaced,
            moved("busy/t", "done/t"),
            Op::Remove { path: "own/up/1".into() },
            put("done/t.md", "done", None),
        ]),
        record(vec![moved("done/t", "over/t"), put("over/x", "x", None)]),
    ]
}

#[test]
fn a_folder_that_replaces_another_is_there_as_a_whole_or_not_at_all() {
    let run = |disk: &Arc<SimDisk>| {
        let records = uploaded(disk);
        let done = commit(&mut open(disk, "one"), &records);
        (records, done)
    };
    let state = |disk: &SimDisk| {
        let files = data(disk).into_iter();
        files.filter(|(path, _)| path.contains("/t/")).collect::<BTreeMap<_, _>>()
    };
    let text = |text: &str| text.as_bytes().to_vec();
    let of = |root: &str| {
        let paths = [format!("{root}/outputs/a"), format!("{root}/outputs/deep/b")];
        BTreeMap::from_iter(paths.into_iter().zip([text("new"), text("more")]))
    };
    let old = ["a", "c"].map(|name| (format!("busy/t/outputs/{name}"), text("old")));
    let states = [BTreeMap::new(), BTreeMap::from(old), of("done/t"), of("over/t")];
    let disk = Arc::new(SimDisk::new());
    let before = uploaded(&disk).len() as u64;
    let prepared = disk.operations();
    assert_eq!(commit(&mut open(&disk, "one"), &uploaded(&Arc::new(SimDisk::new()))), 3);
    assert_eq!((before, state(&disk)), (3, states[3].clone()));
    for cut in prepared..disk.operations() {
        let disk = Arc::new(SimDisk::new());
        disk.stop_after(cut);
        let (records, acknowledged) = run(&disk);
        for seed in 0..9 {
            let (crash, boot) = match seed {
                0 => (Crash::Process, "one"),
                8 => (Crash::Remount, "one"),
                seed => (Crash::Power(cut * 100 + seed), "two"),
            };
            let survivor = Arc::new(disk.after(crash));
            drop(open(&survivor, boot).lock().unwrap());
            let found = state(&survivor);
            let after = states.iter().position(|state| *state == found);
            assert!(
                after.is_some_and(|after| after == acknowledged || after == acknowledged + 1),
                "cut {cut}, {crash:?}: {acknowledged} acknowledged, found {found:?}"
            );
            let rest = &records[after.unwrap()..];
            assert_eq!(commit(&mut open(&survivor, boot), rest), rest.len());
            assert_eq!(state(&survivor), states[3], "cut {cut}, {crash:?}");
        }
    }
}

#[test]
fn a_group_has_one_sync() {
    let disk = Arc::new(SimDisk::new());
    let mut wal = open(&disk, "one");
    drop(wal.lock().unwrap());
    let mut locked = wal.lock().unwrap();
    let before = disk.syncs();
    for number in 0..100 {
        locked.stage(record(vec![put(&format!("ready/{number}"), "x", None)]));
    }
    locked.commit().unwrap();
    assert_eq!(disk.syncs() - before, 1);
}

#[test]
fn what_others_wrote_after_a_commit_stays() {
    let disk = Arc::new(SimDisk::new());
    assert_eq!(commit(&mut open(&disk, "one"), &life()[..1]), 1);
    disk.truncate("ready/a.md", 0).unwrap();
    disk.append("ready/a.md", b"a person's text").unwrap();
    // Another process sees the commit for the first time.
    drop(open(&disk, "one").lock().unwrap());
    assert_eq!(disk.files()["ready/a.md"], b"a person's text");
    // It stays after a restart of the machine. A file that is lost is written again.
    disk.sync_tree().unwrap();
    disk.remove_file("ready/a/inputs/note").unwrap();
    drop(open(&disk, "two").lock().unwrap());
    assert_eq!(disk.files()["ready/a.md"], b"a person's text");
    assert_eq!(disk.files()["ready/a/inputs/note"], b"read me");
}

#[test]
fn what_others_undid_after_a_commit_stays_undone() {
    let disk = Arc::new(SimDisk::new());
    assert_eq!(commit(&mut open(&disk, "one"), &life()[..2]), 2);
    disk.move_to("busy/a.md", "ready/a.md").unwrap();
    drop(open(&disk, "one").lock().unwrap());
    assert!(disk.files().contains_key("ready/a.md"));
    assert!(!disk.files().contains_key("busy/a.md"));
}

#[test]
fn a_torn_file_is_written_again_after_a_restart() {
    for left in [&b"status"[..], b"status rea\0\0", b"", b"\0\0\0"] {
        let disk = Arc::new(SimDisk::new());
        assert_eq!(commit(&mut open(&disk, "one"), &life()[..1]), 1);
        disk.truncate("ready/a.md", 0).unwrap();
        disk.append("ready/a.md", left).unwrap();
        drop(open(&disk, "two").lock().unwrap());
        assert_eq!(disk.files()["ready/a.md"], b"status ready", "{left:?}");
    }
}

#[test]
fn processes_see_each_others_commits_once() {
    let folder = tempfile::tempdir().unwrap();
    let disk: Arc<dyn Disk> = Arc::new(Root::open(folder.path()).unwrap());
    let mut one: Wal<Tally> = Wal::new(disk.clone(), "own", "boot");
    let mut other: Wal<Tally> = Wal::new(disk.clone(), "own", "boot");
    assert_eq!(*one.lock().unwrap().news(), News::Unknown);
    assert_eq!(*other.lock().unwrap().news(), News::Unknown);
    for (number, change) in life().into_iter().enumerate() {
        let mut locked = one.lock().unwrap();
        assert_eq!(*locked.news(), News::Records(Vec::new()));
        locked.stage(change.clone());
        locked.commit().unwrap();
        if number == 2 {
            locked.checkpoint().unwrap();
            drop(locked);
            // The log was emptied before the other process saw the commit.
            assert_eq!(*other.lock().unwrap().news(), News::Unknown);
            assert_eq!(*other.lock().unwrap().state(), tally(number + 1));
            continue;
        }
        assert_eq!(*locked.state(), tally(number + 1));
        drop(locked);
        assert_eq!(*other.lock().unwrap().news(), News::Records(vec![change]));
        assert_eq!(*other.lock().unwrap().news(), News::Records(Vec::new()));
    }
    // A log that was emptied after the other process saw all of it hides nothing.
    one.lock().unwrap().checkpoint().unwrap();
    assert_eq!(*other.lock().unwrap().news(), News::Records(Vec::new()));
    let done = read_file(disk.as_ref(), "done/a.md", 100).unwrap().unwrap();
    assert_eq!(done, b"status done");
    assert!(disk.stat("busy/a.md").unwrap().is_none());
    assert!(disk.stat("done/a/inputs/note").unwrap().is_some());
}

#[test]
fn a_file_that_others_changed_meanwhile_is_named() {
    let disk = Arc::new(SimDisk::new());
    let mut wal = open(&disk, "one");
    let mut locked = wal.lock().unwrap();
    disk.make_folder("busy").unwrap();
    disk.create("busy/a.md", b"a person's text").unwrap();
    locked.stage(record(vec![put("busy/a.md", "status busy", Some("status ready"))]));
    locked.stage(record(vec![put("busy/b.md", "new", None)]));
    let skipped = locked.commit().unwrap();
    assert_eq!(skipped.len(), 1);
    assert_eq!((&*skipped[0].path, &*skipped[0].text), ("busy/a.md", "status busy"));
    assert_eq!(disk.files()["busy/a.md"], b"a person's text");
}

#[test]
fn lines_of_other_programs_stay() {
    let line = |text: &str| Op::Append { path: "events/day".into(), at: 0, text: text.into() };
    for crash in [Crash::Process, Crash::Power(1)] {
        let disk = Arc::new(SimDisk::new());
        let mut wal = open(&disk, "one");
        disk.make_folder("events").unwrap();
        disk.append("events/day", b"{\"other\":1}\n").unwrap();
        let mut locked = wal.lock().unwrap();
        // Decided before the other program wrote.
        locked.stage(record(vec![line("{\"own\":1}\n")]));
        locked.commit().unwrap();
        assert_eq!(disk.files()["events/day"], b"{\"other\":1}\n{\"own\":1}\n");
        drop(locked);
        disk.append("events/day", b"{\"other\":2}\n{\"own").unwrap();
        disk.sync("events/day").unwrap();
        disk.sync_tree().unwrap();
        // The same lines are not added again; a torn line that could be one of this log is.
        let boot = if crash == Crash::Process { "one" } else { "two" };
        let survivor = Arc::new(disk.after(crash));
        let mut wal = open(&survivor, boot);
        let mut locked = wal.lock().unwrap();
        locked.stage(record(vec![line("{\"own\":2}\n")]));
        locked.commit().unwrap();
        let found = survivor.files()["events/day"].clone();
        let found = String::from_utf8(found).unwrap();
        let mut lines: Vec<&str> = found.lines().collect();
        lines.sort_unstable();
        let expected = ["{\"other\":1}", "{\"other\":2}", "{\"own\":1}", "{\"own\":2}"];
        assert_eq!(lines, expected, "{crash:?}");
    }
}

#[test]
fn a_process_keeps_the_state_of_a_log_that_others_removed() {
    let disk = Arc::new(SimDisk::new());
    let mut wal = open(&disk, "one");
    assert_eq!(commit(&mut wal, &life()[..2]), 2);
    disk.remove_tree("own").unwrap();
    {
        let locked = wal.lock().unwrap();
        assert_eq!((locked.news(), locked.state()), (&News::Unknown, &tally(2)));
    }
    // So does one whose log was cut.
    disk.truncate("own/log-000000000002", 10).unwrap();
    assert_eq!(*wal.lock().unwrap().state(), tally(2));
    // The state is in the log again.
    assert_eq!(*open(&disk, "one").lock().unwrap().state(), tally(2));
}

#[test]
fn a_damaged_log_is_cut_where_it_was_not_synced() {
    let disk = Arc::new(SimDisk::new());
    assert_eq!(commit(&mut open(&disk, "one"), &life()[..2]), 2);
    let files = data(&disk);
    disk.append("own/log-000000000001", b"0123456789abcdef {\"ops\"").unwrap();
    drop(open(&disk, "one").lock().unwrap());
    assert_eq!(data(&disk), files);
    // A record that this version cannot read stops writers, and stays.
    let text = json!({"ops": [{"dance": 1}], "detail": {}}).to_string();
    let line = format!("{} {text}\n", digest(text.as_bytes()));
    disk.append("own/log-000000000001", line.as_bytes()).unwrap();
    assert!(open(&disk, "one").lock().is_err());
    assert!(disk.files()["own/log-000000000001"].ends_with(line.as_bytes()));
}

/// Changes one byte of a file in place.
fn scratch(path: &Path, at: u64) {
    let file = std::fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 1], at).unwrap();
}

#[test]
fn a_log_that_was_changed_after_its_sync_is_not_cut() {
    let folder = tempfile::tempdir().unwrap();
    let disk: Arc<dyn Disk> = Arc::new(Root::open(folder.path()).unwrap());
    let open = || Wal::<Tally>::new(disk.clone(), "own", "one");
    let log = folder.path().join("own/log-000000000001");
    let mut wal = open();
    assert_eq!(commit(&mut wal, &life()[..1]), 1);
    let one = std::fs::metadata(&log).unwrap().len();
    assert_eq!(commit(&mut wal, &life()[1..2]), 1);
    let bytes = std::fs::read(&log).unwrap();
    // A time that tells the change from the write before it.
    let earlier = SystemTime::now() - Duration::from_secs(9);
    File::open(&log).unwrap().set_modified(earlier).unwrap();
    drop(wal.lock().unwrap());
    scratch(&log, one + 30);
    // Without the state in memory, everything after the change would be lost.
    let said = open().lock().err().expect("a damaged log").to_string();
    assert!(said.contains("was changed after it was written"), "{said}");
    assert!(open().peek().is_err());
    assert_eq!(std::fs::read(&log).unwrap().len(), bytes.len(), "it was cut");
    // A process that has the state writes the log again.
    assert_eq!(*wal.lock().unwrap().state(), tally(2));
    assert_eq!(*open().lock().unwrap().state(), tally(2));
}

#[test]
fn a_group_between_lines_of_others_is_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let disk: Arc<dyn Disk> = Arc::new(Root::open(folder.path()).unwrap());
    let open = || Wal::<Tally>::new(disk.clone(), "own", "one");
    let mut wal = open();
    assert_eq!(commit(&mut wal, &life()[..1]), 1);
    let mut locked = wal.lock().unwrap();
    disk.append("own/log-000000000001", b"no record\n").unwrap();
    locked.stage(life()[1].clone());
    locked.commit().unwrap();
    drop(locked);
    assert_eq!(*open().lock().unwrap().state(), tally(2));
}

#[test]
fn a_process_that_waits_for_the_lock_gets_its_turn() {
    const TURNS: usize = 100;
    let folder = tempfile::tempdir().unwrap();
    let disk: Arc<dyn Disk> = Arc::new(Root::open(folder.path()).unwrap());
    drop(Wal::<()>::new(disk.clone(), "own", "boot").lock().unwrap());
    // Two logs stand for two processes: each opens the lock file by itself.
    let turns = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let start = Barrier::new(2);
    let left = std::thread::scope(|scope| {
        let workers = [0, 1].map(|worker| {
            let (disk, turns, start) = (disk.clone(), &turns, &start);
            scope.spawn(move || {
                let mut wal: Wal = Wal::new(disk, "own", "boot");
                start.wait();
                for turn in 0..TURNS {
                    let mut locked = wal.lock().unwrap();
                    let path = format!("{worker}/{turn}");
                    locked.stage(record(vec![put(&path, "x", None)]));
                    locked.commit().unwrap();
                    turns[worker].fetch_add(1, Ordering::AcqRel);
                }
                // How far the other one is when this one has finished.
                turns[1 - worker].load(Ordering::Acquire)
            })
        });
        workers.map(|worker| worker.join().unwrap())
    });
    let other = left.iter().min().unwrap();
    assert!(*other >= TURNS / 2, "one process had {TURNS} turns, the other {other}");
}

#[test]
fn only_the_last_group_is_applied_again() {
    let disk = Arc::new(SimDisk::new());
    let groups = ["a", "b"].map(|path| record(vec![put(path, "x", None)]));
    let mut wal = open(&disk, "one");
    assert_eq!(commit(&mut wal, &groups[..1]), 1);
    // The process is killed when the second group is in the log, and no file has followed it.
    disk.stop_after(2);
    assert_eq!(commit(&mut wal, &groups[1..]), 0);
    let disk = Arc::new(disk.after(Crash::Process));
    // The files had followed the first group before the second one was written, so others removed
    // this one.
    disk.remove_file("a").unwrap();
    drop(open(&disk, "one").lock().unwrap());
    assert_eq!(data(&disk).into_keys().collect::<Vec<_>>(), ["b"]);
    // After a restart of the machine any of them may be lost.
    drop(open(&disk, "two").lock().unwrap());
    assert_eq!(data(&disk).into_keys().collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn what_others_put_in_the_way_stops_nothing_else() {
    let disk = Arc::new(SimDisk::new());
    disk.make_folder("taken.md").unwrap();
    disk.create("runs", b"a file").unwrap();
    let mut wal = open(&disk, "one");
    let mut locked = wal.lock().unwrap();
    locked.stage(record(vec![
        put("taken.md", "x", None),
        put("runs/a/run", "x", None),
        Op::Folder { path: "runs/a/work".into() },
        put("free.md", "x", None),
    ]));
    let skipped = locked.commit().unwrap();
    let skipped: Vec<&str> = skipped.iter().map(|skipped| skipped.path.as_str()).collect();
    assert_eq!(skipped, ["runs/a/run"]);
    assert_eq!(disk.files()["free.md"], b"x");
    // What was there is beside the log.
    assert_eq!(disk.files()["taken.md"], b"x");
    assert_eq!(disk.stat("own/aside/1").unwrap().unwrap().kind, Kind::Folder);
    assert_eq!(disk.files()["runs"], b"a file");
}

#[test]
fn a_new_file_never_replaces_one_that_others_made() {
    let folder = tempfile::tempdir().unwrap();
    let disk: Arc<dyn Disk> = Arc::new(Root::open(folder.path()).unwrap());
    let mut wal: Wal<Tally> = Wal::new(disk.clone(), "own", "boot");
    let mut locked = wal.lock().unwrap();
    disk.make_folder("ready").unwrap();
    disk.create("ready/a.md", b"a person's text").unwrap();
    locked.stage(record(vec![put("ready/a.md", "new", None), put("ready/b/c.md", "new", None)]));
    let skipped = locked.commit().unwrap();
    let skipped: Vec<&str> = skipped.iter().map(|skipped| skipped.path.as_str()).collect();
    assert_eq!(skipped, ["ready/a.md"]);
    assert_eq!(read_file(disk.as_ref(), "ready/a.md", 100).unwrap().unwrap(), b"a person's text");
    assert_eq!(read_file(disk.as_ref(), "ready/b/c.md", 100).unwrap().unwrap(), b"new");
    // Nothing is left over.
    assert!(disk.stat("own/next").unwrap().is_none());
}
