//! Jobs: what the writer does with them.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use accord_base::ProjectId;
use accord_store::Engine as _;
use accord_store::{
    PackageIndex, PackageQuery, QuestionQuery, Result, SearchQuery, StoreError, StoreErrorKind,
    StoreExt as _, WriteUnit,
};
use accord_store_sqlite::{Options, SqliteStore};

use crate::support::{deposit, event, log, open, package, project, whole_packages};

#[test]
fn a_job_that_breaks_off_takes_nothing_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    deposit(&store, "p", "before", "").unwrap();
    let broken: Result<()> = store.write(|unit| {
        unit.append_event(&ProjectId::new("p").unwrap(), &event("never"))?;
        std::panic::resume_unwind(Box::new("on purpose"))
    });
    assert_eq!(broken.unwrap_err().kind(), StoreErrorKind::Broken);
    deposit(&store, "p", "after", "").unwrap();
    let names: Vec<_> = whole_packages(&store).into_iter().map(|(_, id)| id).collect();
    assert_eq!(names, ["before", "after"]);
}

/// Those who come while the writer is busy with the first share its commit.
#[test]
fn in_a_group_only_the_job_that_fails_is_undone() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    store.write(|unit| unit.insert_project(&project("p"))).unwrap();
    let go = hold(&store);
    let (sender, receiver) = mpsc::channel();
    for number in 0..12 {
        let sender = sender.clone();
        let job = move |unit: &mut dyn WriteUnit| {
            let seq = unit.append_event(&ProjectId::new("p").unwrap(), &event("e"))?;
            match number % 3 {
                0 => Err(StoreError::from(StoreErrorKind::Conflict)),
                _ => Ok(seq),
            }
        };
        store.enqueue(job, move |outcome| sender.send((number, outcome)).unwrap());
    }
    go.send(()).unwrap();
    let outcomes: Vec<(u64, Result<u64>)> = receiver.iter().take(12).collect();
    let given: Vec<u64> = outcomes.iter().filter_map(|(_, seq)| seq.clone().ok()).collect();
    assert_eq!(given, [1, 2, 3, 4, 5, 6, 7, 8], "no gap, and in order");
    assert!(outcomes.iter().all(|(number, seq)| seq.is_err() == (number % 3 == 0)));
    // The project; everything else together.
    assert_eq!(store.statistics().commits, 2);
}

#[test]
fn those_who_join_a_group_do_not_make_it_larger_than_it_may_be() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::default();
    options.group = 4;
    let store = SqliteStore::open(folder.path(), &options).unwrap();
    let go = hold(&store);
    let (sender, receiver) = mpsc::channel();
    for number in 0..10 {
        let sender = sender.clone();
        store.enqueue(
            move |_| Ok(number),
            move |outcome: Result<u64>| sender.send(outcome.unwrap()).unwrap(),
        );
    }
    go.send(()).unwrap();
    let given: Vec<u64> = receiver.iter().take(10).collect();
    assert_eq!(given, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    // The job that waited and three; four; three.
    assert_eq!(store.statistics().commits, 3);
}

/// Its words, its questions and its counts go with it, also where a search brought them to the
/// index.
#[test]
fn a_job_that_gives_up_in_a_group_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    deposit(&store, "p", "before", "").unwrap();
    let id = ProjectId::new("p").unwrap();
    let go = hold(&store);
    let (sender, receiver) = mpsc::channel();
    for (name, gives_up) in [("one", false), ("lost", true), ("two", false)] {
        let (sender, id, row) = (sender.clone(), id.clone(), package("p", name));
        let question = format!("Why {name}?");
        let index = PackageIndex::of_parts([name, "", "", "", ""], &[question]);
        let job = move |unit: &mut dyn WriteUnit| {
            unit.insert_package(&row, &index, &log())?;
            let seq = unit.append_event(&id, &event(name))?;
            if !gives_up {
                return Ok(seq);
            }
            // Brings the words of all of them to the index.
            for word in ["one", "lost"] {
                assert_eq!(unit.search(&id, &words(word))?.hits.len(), 1, "{word}");
            }
            Err(StoreError::from(StoreErrorKind::Conflict))
        };
        store.enqueue(job, move |outcome| sender.send((name, outcome)).unwrap());
    }
    go.send(()).unwrap();
    let outcomes: Vec<(&str, Result<u64>)> = receiver.iter().take(3).collect();
    assert_eq!(outcomes[0], ("one", Ok(2)));
    assert_eq!(outcomes[1], ("lost", Err(StoreErrorKind::Conflict.into())));
    assert_eq!(outcomes[2], ("two", Ok(3)));
    // The deposit; everything else together.
    assert_eq!(store.statistics().commits, 2);
    store
        .read(|unit| {
            for (name, there) in [("one", 1), ("lost", 0), ("two", 1)] {
                assert_eq!(unit.search(&id, &words(name))?.hits.len(), there, "{name}");
                let package = package("p", name).package_id;
                assert_eq!(unit.package(&id, &package)?.is_some(), there == 1);
                assert_eq!(unit.revisions(&id, &package)?.len(), there);
            }
            let questions = unit.questions(
                &id,
                &QuestionQuery { limit: 9, sources: 9, ..QuestionQuery::default() },
            )?;
            let questions: Vec<&str> = questions.iter().map(|one| one.text.as_str()).collect();
            assert_eq!(questions, ["Why two?", "Why one?"]);
            let counted: u64 = unit.tallies(&id, None)?.iter().map(|tally| tally.packages).sum();
            assert_eq!(counted, 3);
            assert_eq!(unit.event_range(&id)?.newest, 3);
            Ok::<_, StoreError>(())
        })
        .unwrap();
    store.check().unwrap();
}

/// The next project gets the number that the lost one had.
#[test]
fn a_project_that_was_lost_with_its_job_is_not_taken_for_another() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let go = hold(&store);
    let [lost, next] = ["lost", "next"].map(project);
    let id = lost.project_id.clone();
    let job = move |unit: &mut dyn WriteUnit| {
        unit.insert_project(&lost)?;
        unit.append_event(&lost.project_id, &event("never"))?;
        Err(StoreError::from(StoreErrorKind::Broken))
    };
    store.enqueue(job, |_: Result<()>| {});
    let (sender, receiver) = mpsc::channel();
    let job = move |unit: &mut dyn WriteUnit| {
        unit.insert_project(&next)?;
        match unit.append_event(&id, &event("to nobody")) {
            Err(error) => Ok(error.kind()),
            Ok(_) => Err(StoreError::from(StoreErrorKind::Broken)),
        }
    };
    store.enqueue(job, move |outcome: Result<StoreErrorKind>| {
        sender.send(outcome).unwrap();
    });
    go.send(()).unwrap();
    assert_eq!(receiver.recv().unwrap(), Ok(StoreErrorKind::Conflict));
    assert_eq!(store.statistics().commits, 1);
}

#[test]
fn too_many_jobs_are_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::default();
    options.queue = 2;
    let store = SqliteStore::open(folder.path(), &options).unwrap();
    let go = hold(&store);
    let (sender, receiver) = mpsc::channel();
    for _ in 0..3 {
        let sender = sender.clone();
        store.enqueue(|_| Ok(()), move |outcome: Result<()>| sender.send(outcome).unwrap());
    }
    let refused = receiver.recv().unwrap();
    assert_eq!(refused.unwrap_err().kind(), StoreErrorKind::Busy);
    go.send(()).unwrap();
    assert!(receiver.recv().unwrap().is_ok() && receiver.recv().unwrap().is_ok());
}

#[test]
fn what_waits_is_done_before_the_store_closes() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    store.write(|unit| unit.insert_project(&project("p"))).unwrap();
    let (sender, receiver) = mpsc::channel();
    for _ in 0..50 {
        let sender = sender.clone();
        let job = |unit: &mut dyn WriteUnit| {
            unit.append_event(&ProjectId::new("p").unwrap(), &event("e"))
        };
        store.enqueue(job, move |outcome: Result<u64>| {
            sender.send(outcome).unwrap();
        });
    }
    store.close().unwrap();
    drop(store);
    drop(sender);
    assert_eq!(receiver.iter().filter(Result::is_ok).count(), 50);
}

#[test]
fn a_reader_sees_one_snapshot_and_never_waits() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    deposit(&store, "p", "first", "").unwrap();
    let id = ProjectId::new("p").unwrap();
    let (before, after) = store
        .read(|unit| {
            let before = unit.event_range(&id)?.newest;
            deposit(&store, "p", "second", "")?;
            Ok::<_, StoreError>((before, unit.event_range(&id)?.newest))
        })
        .unwrap();
    assert_eq!((before, after), (1, 1));
    assert_eq!(store.read(|unit| unit.event_range(&id)).unwrap().newest, 2);
}

#[test]
fn more_readers_than_connections_take_turns() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::default();
    options.readers = 2;
    let store = SqliteStore::open(folder.path(), &options).unwrap();
    deposit(&store, "p", "one", "").unwrap();
    let row = package("p", "one");
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let found = store.read(|unit| unit.package(&row.project_id, &row.package_id));
                    assert!(found.unwrap().is_some());
                }
                // One that breaks off gives its connection back, too.
                let broken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    let read: Result<()> =
                        store.read(|_| std::panic::resume_unwind(Box::new("on purpose")));
                    read
                }));
                assert!(broken.is_err());
            });
        }
    });
}

#[test]
fn unused_readers_are_closed_and_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::default();
    options.rest = Duration::from_millis(5);
    let store = SqliteStore::open(folder.path(), &options).unwrap();
    for number in 0..4 {
        deposit(&store, "p", &format!("n{number}"), "").unwrap();
        let open = store.read(|unit| {
            let found = unit.packages(
                &ProjectId::new("p").unwrap(),
                &PackageQuery { limit: 9, ..PackageQuery::default() },
            )?;
            Ok::<_, StoreError>((found.len(), store.statistics().readers))
        });
        assert_eq!(open.unwrap(), (number + 1, 1));
        let given_up = Instant::now() + Duration::from_secs(120);
        while store.statistics().readers > 0 {
            assert!(Instant::now() < given_up, "a reader stays open");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

#[test]
fn a_store_that_was_closed_is_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    deposit(&store, "p", "one", "").unwrap();
    assert_eq!(whole_packages(&store).len(), 1);
    store.close().unwrap();
    drop(store);
    let names: Vec<_> = fs_names(folder.path());
    assert_eq!(names, ["accord.db", "accord.lock"], "a store that was closed has no log");
}

/// Closing the last connection removes the log, and a reader cannot.
#[test]
fn a_store_that_is_closed_during_a_read_is_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    deposit(&store, "p", "one", "").unwrap();
    let (began, begun) = mpsc::channel();
    std::thread::scope(|scope| {
        let (reads, id) = (&store, ProjectId::new("p").unwrap());
        let reader = scope.spawn(move || {
            reads.read(|unit| {
                began.send(()).unwrap();
                // Goes on once the store takes nothing more.
                let mut more = (0..).map(|number| format!("n{number}"));
                while deposit(reads, "p", &more.next().unwrap(), "").is_ok() {}
                unit.event_range(&id)
            })
        });
        begun.recv().unwrap();
        store.close().unwrap();
        assert!(reader.join().unwrap().unwrap().newest >= 1);
    });
    assert_eq!(fs_names(folder.path()), ["accord.db", "accord.lock"]);
    let late = store.read(|unit| unit.event_range(&ProjectId::new("p").unwrap()));
    assert_eq!(late.unwrap_err().kind(), StoreErrorKind::Unavailable);
}

/// Makes the writer wait until it is receiver to go on, so that what comes meanwhile gathers.
fn hold(store: &SqliteStore) -> mpsc::Sender<()> {
    let (go, wait) = mpsc::channel();
    let (began, begun) = mpsc::channel();
    let mut held = false;
    let job = move |_: &mut dyn WriteUnit| {
        // Run again with the others of its group, it has waited.
        if std::mem::replace(&mut held, true) {
            return Ok(());
        }
        began.send(()).unwrap();
        wait.recv().map_err(|_| StoreError::from(StoreErrorKind::Broken))
    };
    store.enqueue(job, |_| {});
    begun.recv().unwrap();
    go
}

fn words(text: &str) -> SearchQuery<'_> {
    SearchQuery { text, limit: 9, ..SearchQuery::default() }
}

fn fs_names(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
