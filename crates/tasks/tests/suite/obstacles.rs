//! Things in the tree that are no files of tasks: pipes, devices, folders, endless files, odd
//! names. They must neither stop other tasks nor hide them, and no process may wait for them.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::channel;
use std::time::Duration;

use accord_process::Cancel;
use accord_tasks::event_log::{EventPlace, events_after};
use accord_tasks::worker::{AgentCommand, WorkEnd, Worker, end_leftovers};
use accord_tasks_core::operations::{ApproveRequest, ShowQuery};
use accord_tasks_core::{Status, TaskId};

use crate::support::{AGENT, World, agent, claim, human};

/// Longer than anything takes on a busy machine.
const LONG: Duration = Duration::from_secs(240);

/// Larger than the memory and the disk of any machine.
const ENDLESS: u64 = 1 << 42;

/// What an agent puts where a file is expected.
const OBSTACLES: [fn(&Path); 5] = [pipe, folder, endless, to_a_device, to_itself];

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn folder(path: &Path) {
    fs::create_dir_all(path.join("deep/deeper")).unwrap();
    fs::write(path.join("deep/file"), "x").unwrap();
}

/// A file without blocks.
fn endless(path: &Path) {
    File::create(path).unwrap().set_len(ENDLESS).unwrap();
}

fn to_a_device(path: &Path) {
    symlink("/dev/zero", path).unwrap();
}

fn to_itself(path: &Path) {
    symlink(path, path).unwrap();
}

fn replace(path: &Path, obstacle: fn(&Path)) {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
        Err(_) => fs::create_dir_all(path.parent().unwrap()).unwrap(),
    }
    obstacle(path);
}

/// Runs something that must not wait for an agent.
#[track_caller]
fn in_time<T: Send + 'static>(what: String, act: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = channel();
    std::thread::spawn(move || sender.send(act()));
    receiver.recv_timeout(LONG).unwrap_or_else(|error| panic!("{what}: {error}"))
}

/// Runs an attack on a leased task, seen by the process that was open, and by a new one. Then the
/// task and another one go their way.
fn survives(name: &'static str, attack: impl Fn(&World, TaskId) + Clone + Send + 'static) {
    for is_new in [false, true] {
        let attack = attack.clone();
        in_time(format!("{name}, new: {is_new}"), move || {
            let mut world = World::new();
            let (id, other) = (world.ready("Ship it"), world.ready("Another"));
            world.claim(id, AGENT);
            attack(&world, id);
            if is_new {
                world.reopen();
            }
            world.look();
            world.poll();
            world.lint();
            world.claim(other, "other");
            world.report(other, "other", "done").unwrap();
            assert_eq!(world.copies(other), [Status::Review], "{name}");
            world.report(id, AGENT, "done").unwrap();
            assert_eq!(world.copies(id), [Status::Review], "{name}");
            let text = fs::read_to_string(world.file(Status::Review, id)).unwrap();
            assert!(text.contains("status: review"), "{name}: {text}");
            // The next process sees the same.
            world.reopen();
            world.look();
            assert_eq!(world.copies(id), [Status::Review], "{name}");
            let request = ApproveRequest::default();
            world.tree().approve(&id.to_string(), &request, &human()).unwrap();
            assert_eq!(world.copies(id), [Status::Done], "{name}");
        });
    }
}

#[test]
fn in_place_of_a_task_file() {
    for obstacle in OBSTACLES {
        survives("the task", move |world, id| {
            replace(&world.file(Status::InProgress, id), obstacle);
        });
    }
}

#[test]
fn in_place_of_a_run_artifact() {
    for name in ["run.json", "run_heartbeat.json", "run_result.json"] {
        for obstacle in OBSTACLES {
            survives(name, move |world, id| {
                replace(&world.root().join(format!("runs/{id}/{name}")), obstacle);
            });
        }
    }
}

#[test]
fn in_place_of_the_folder_of_a_run() {
    for obstacle in [pipe, endless, to_a_device, to_itself] {
        survives("the folder of a run", move |world, id| {
            replace(&world.root().join(format!("runs/{id}")), obstacle);
        });
    }
}

#[test]
fn in_place_of_an_event_log() {
    for obstacle in OBSTACLES {
        survives("the events", move |world, _| {
            replace(&crate::support::log_of(world.root(), "2026-02-09"), obstacle);
        });
    }
    // Beside it.
    for obstacle in OBSTACLES {
        survives("the events of another day", move |world, _| {
            replace(&crate::support::log_of(world.root(), "2026-02-10"), obstacle);
            let events = events_after(world.tree(), EventPlace::default(), 1_000).unwrap().0;
            assert_eq!(events.last().unwrap().number, *world.own_event_numbers().last().unwrap());
        });
    }
}

#[test]
fn in_the_folders_of_an_agent() {
    for inside in ["outputs", "outputs/summary.md", "work", "work/log.md", "inputs", "inputs/x"] {
        for obstacle in OBSTACLES {
            survives(inside, move |world, id| {
                replace(&world.folder(Status::InProgress, id).join(inside), obstacle);
                let shown = world.tree().show(&id.to_string(), &ShowQuery::default(), &human());
                shown.unwrap();
            });
        }
    }
}

#[test]
fn a_log_that_grows_without_end() {
    survives("the events", |world, _| {
        let path = crate::support::log_of(world.root(), "2026-02-09");
        File::options().write(true).open(path).unwrap().set_len(ENDLESS).unwrap();
    });
    survives("the committed state", |world, _| {
        let path = log(world);
        File::options().write(true).open(path).unwrap().set_len(ENDLESS).unwrap();
    });
}

/// The log of the tree.
fn log(world: &World) -> PathBuf {
    let entries = fs::read_dir(world.root().join("state/accord")).unwrap();
    let mut logs: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    logs.retain(|path| path.file_name().unwrap().to_str().unwrap().starts_with("log-"));
    assert_eq!(logs.len(), 1, "{logs:?}");
    logs.remove(0)
}

#[test]
fn logs_that_accord_did_not_begin() {
    for name in ["log-000000000002", "log-999999999999", "log-18446744073709551615", "log-x"] {
        let plant: [fn(&Path); 4] =
            [pipe, folder, endless, |path| fs::write(path, "no header\n").unwrap()];
        for obstacle in plant {
            survives(name, move |world, id| {
                obstacle(&world.root().join("state/accord").join(name));
                // What was committed still counts.
                let path = world.file(Status::InProgress, id);
                let text = fs::read_to_string(&path).unwrap();
                fs::write(&path, text.replace("agent: swe-backend", "agent: intruder")).unwrap();
            });
        }
    }
}

#[test]
fn in_place_of_what_accord_keeps() {
    for name in ["next", "aside", "refused", "workers"] {
        for obstacle in OBSTACLES {
            survives(name, move |world, id| {
                replace(&world.root().join("state/accord").join(name), obstacle);
                replace(&world.root().join(format!("runs/{id}/run_result.json")), pipe);
            });
        }
    }
    // A process that has the tree open remembers what the log said.
    for obstacle in [pipe, folder, to_a_device, to_itself] {
        in_time("the log".to_owned(), move || {
            let world = World::new();
            let id = world.ready("Ship it");
            world.claim(id, AGENT);
            replace(&log(&world), obstacle);
            world.report(id, AGENT, "done").unwrap();
            assert_eq!(world.copies(id), [Status::Review]);
            assert_eq!(world.lint(), Vec::<String>::new());
        });
    }
}

#[test]
fn a_line_that_is_too_long_for_an_event_hides_no_event() {
    let world = World::new();
    world.ready("First");
    let path = crate::support::log_of(world.root(), "2026-02-09");
    let mut text = fs::read(&path).unwrap();
    text.extend(vec![b'x'; 40 * 1024 * 1024]);
    text.push(b'\n');
    fs::write(&path, text).unwrap();
    let id = world.ready("Second");
    let mut place = EventPlace::default();
    let mut seen = Vec::new();
    loop {
        let (lines, next) = events_after(world.tree(), place, 100).unwrap();
        if lines.is_empty() {
            break;
        }
        seen.extend(lines.into_iter().filter_map(|line| Some(line.object.get("taskId")?.clone())));
        place = next;
    }
    assert!(seen.contains(&id.to_string().into()), "{seen:?}");
}

/// The numbers of the events after a place.
fn follow(world: &World, place: &mut EventPlace) -> Vec<u64> {
    let mut seen = Vec::new();
    loop {
        let (lines, next) = events_after(world.tree(), place.clone(), 3).unwrap();
        if lines.is_empty() {
            return seen;
        }
        seen.extend(lines.into_iter().map(|line| line.number));
        *place = next;
    }
}

#[test]
fn removed_lines_hide_no_later_event() {
    let world = World::new();
    let path = crate::support::log_of(world.root(), "2026-02-09");
    let mut place = EventPlace::default();
    let first = world.ready("First");
    let known = *follow(&world, &mut place).last().unwrap();
    // A line that was taken over before: every later one is at another place.
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.split_once('\n').unwrap().1).unwrap();
    world.claim(first, AGENT);
    let seen = follow(&world, &mut place);
    assert_eq!(seen.first(), Some(&(known + 1)), "{seen:?}");
    let known = *seen.last().unwrap();
    // A line that was not: it is gone, the later ones are not. A forged number skips nothing.
    world.ready("Second");
    world.ready("Third");
    let text = fs::read_to_string(&path).unwrap();
    let next = format!("\"eventId\":{},", known + 1);
    let mut lines: Vec<&str> = text.lines().filter(|line| !line.contains(&next)).collect();
    assert_eq!(lines.len() + 1, text.lines().count(), "{text}");
    let forged = lines[0].replacen("\"eventId\":", "\"eventId\":9", 1);
    lines.push(&forged);
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    let seen = follow(&world, &mut place);
    let expected: Vec<u64> = (known + 2..=world_last(&world)).collect();
    assert_eq!(seen, expected);
    assert!(world.lint().contains(&"event_gap".to_owned()));
    // All of it is gone.
    fs::remove_file(&path).unwrap();
    world.ready("Fourth");
    assert!(!follow(&world, &mut place).is_empty());
}

/// The last event that was committed.
fn world_last(world: &World) -> u64 {
    let numbers = world.own_event_numbers();
    // The last line is forged.
    numbers[..numbers.len() - 1].iter().copied().max().unwrap()
}

#[test]
fn names_that_no_task_has() {
    survives("names", |world, id| {
        let folder = world.root().join("tasks/in-progress");
        let lower = format!("{id}.md").to_lowercase();
        let names: [&[u8]; 7] = [
            lower.as_bytes(),
            b"TASK-2026-02-09-001.MD",
            b"TASK-2026-02-09-001 .md",
            b"TASK-2026-02-09-0\xff1.md",
            b"\xff\xfe.md",
            b"two\nlines.md",
            b"..md",
        ];
        let text = fs::read(world.file(Status::InProgress, id)).unwrap();
        for name in names {
            fs::write(folder.join(OsStr::from_bytes(name)), &text).unwrap();
            fs::create_dir(world.root().join("events").join(OsStr::from_bytes(name))).unwrap();
        }
        let output = world.folder(Status::InProgress, id).join("outputs");
        fs::write(output.join(OsStr::from_bytes(b"\xff.txt")), "x").unwrap();
    });
}

#[test]
fn two_files_that_changed_their_names() {
    for is_new in [false, true] {
        let mut world = World::new();
        let (one, other) = (world.ready("One"), world.ready("Other"));
        world.claim(one, "first");
        world.claim(other, "second");
        let (here, there) =
            (world.file(Status::InProgress, one), world.file(Status::InProgress, other));
        let between = world.root().join("between");
        fs::rename(&here, &between).unwrap();
        fs::rename(&there, &here).unwrap();
        fs::rename(&between, &there).unwrap();
        if is_new {
            world.reopen();
        }
        world.look();
        for (path, agent) in [(here, "agent: first"), (there, "agent: second")] {
            let text = fs::read_to_string(path).unwrap();
            assert!(text.contains(agent), "{text}");
        }
        assert_eq!(world.events_of("task.edit_refused").len(), 2);
        assert_eq!(world.lint(), Vec::<String>::new());
        assert!(world.report(one, "second", "done").is_err());
        world.report(one, "first", "done").unwrap();
        world.report(other, "second", "done").unwrap();
    }
}

#[test]
fn a_hard_link_is_not_written_through() {
    let world = World::new();
    let id = world.ready("Ship it");
    world.claim(id, AGENT);
    let (file, victim) = (world.file(Status::InProgress, id), world.root().join("victim"));
    fs::hard_link(&file, &victim).unwrap();
    let result = world.root().join(format!("runs/{id}/run_result.json"));
    fs::write(&result, "{}").unwrap();
    fs::hard_link(&result, world.root().join("result")).unwrap();
    let before = fs::read_to_string(&victim).unwrap();
    world.report(id, AGENT, "done").unwrap();
    assert_eq!(fs::read_to_string(&victim).unwrap(), before);
    assert_eq!(fs::read_to_string(world.root().join("result")).unwrap(), "{}");
    let new = fs::metadata(world.file(Status::Review, id)).unwrap();
    assert_ne!(new.ino(), fs::metadata(&victim).unwrap().ino());
}

/// A worker on the tasks of a world.
fn worker(world: &World) -> Worker {
    Worker::new(world.tree().clone(), world.root().to_owned(), "shop")
}

#[test]
fn a_briefing_waits_for_nothing_that_an_agent_left() {
    for name in ["inputs/handoff.md", "inputs"] {
        for obstacle in OBSTACLES {
            in_time(name.to_owned(), move || {
                let world = World::new();
                let id = world.ready("Ship it");
                world.claim(id, AGENT);
                replace(&world.folder(Status::InProgress, id).join(name), obstacle);
                let parts = world.tree().briefing(&id.to_string(), &agent(AGENT)).unwrap();
                // The beginning of a file without an end is text.
                assert!(parts.handoff.is_none_or(|text| text.len() < 1_000_000));
            });
        }
    }
}

#[test]
fn a_report_is_read_only_from_a_file_of_the_task() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("report.json"), r#"{"outcome":"done"}"#).unwrap();
    let outside = outside.path().to_owned();
    for left in [
        format!("rm -r outputs; ln -s {} outputs", outside.display()),
        format!("ln -s {}/report.json outputs/report.json", outside.display()),
        "mkfifo outputs/report.json".to_owned(),
        "mkdir outputs/report.json".to_owned(),
        "truncate -s 4T outputs/report.json".to_owned(),
        "ln -s /dev/zero outputs/report.json".to_owned(),
    ] {
        in_time(left.clone(), move || {
            let world = World::new();
            let id = world.ready("Ship it");
            let worker = worker(&world);
            let run = claim(world.tree(), id, AGENT);
            let claimed = worker.claimed(id, &run).unwrap().unwrap();
            let command = AgentCommand::new(["sh", "-c", &left].map(str::to_owned).to_vec());
            let ended = worker.work(&claimed, &command, "", &Cancel::new(), &mut |_| {}).unwrap();
            assert!(matches!(ended, WorkEnd::Reported(Status::Review)), "{left}: {ended:?}");
            let result = world.root().join(format!("runs/{id}/run_result.json"));
            let result = fs::read_to_string(result).unwrap();
            assert!(result.contains("without a report"), "{left}: {result}");
        });
    }
}

#[test]
fn records_of_workers_that_no_worker_wrote() {
    let world = World::new();
    let id = world.ready("Ship it");
    let run = claim(world.tree(), id, AGENT);
    let workers = world.root().join("state/accord/workers");
    for (number, obstacle) in OBSTACLES.into_iter().enumerate() {
        replace(&workers.join(format!("{number}.json")), obstacle);
    }
    fs::write(workers.join("garbage.json"), "{").unwrap();
    fs::write(workers.join("lists.json"), r#"{"pid": [1], "worker": 7, "taskId": "x"}"#).unwrap();
    // A worker that was killed.
    let record = serde_json::json!({
        "taskId": id.to_string(), "runId": run, "pid": 4_000_000_000_u64, "startedMs": 1,
        "worker": {"pid": 4_000_000_000_u64, "startedMs": 1},
    });
    fs::write(workers.join(format!("{id}.json")), record.to_string()).unwrap();
    let worker = worker(&world);
    let ended = in_time("leftovers".to_owned(), move || end_leftovers(&worker).unwrap());
    assert_eq!(ended.len(), 1, "{ended:?}");
    assert_eq!(ended[0].0, id);
}

#[test]
fn what_may_not_be_read_hides_nothing_else() {
    use std::os::unix::fs::PermissionsExt as _;
    let probe = tempfile::tempdir().unwrap();
    let path = probe.path().join("probe");
    fs::write(&path, "x").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o0)).unwrap();
    if File::open(&path).is_ok() {
        eprintln!("skipped: this user may read every file");
        return;
    }
    let close = |path: PathBuf| {
        fs::set_permissions(path, fs::Permissions::from_mode(0o0)).unwrap();
    };
    survives("the task", move |world, id| close(world.file(Status::InProgress, id)));
    for name in ["run.json", "run_heartbeat.json"] {
        survives(name, move |world, id| close(world.root().join(format!("runs/{id}/{name}"))));
    }
    survives("the events", move |world, _| {
        close(crate::support::log_of(world.root(), "2026-02-09"));
    });
    survives("the outputs", move |world, id| {
        close(world.folder(Status::InProgress, id).join("outputs"));
    });
}
