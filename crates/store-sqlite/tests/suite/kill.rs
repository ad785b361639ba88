//! `kill -9` in the middle of everything: what was acknowledged is there, and nothing is there by
//! half.
//!
//! 20 rounds; for a long run, say how many: `ACCORD_KILL_ROUNDS=200`.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use accord_store::Engine as _;
use accord_store::StoreErrorKind;
use accord_store::testing::Random;

use crate::support::{ask_for_review, deposit, given, open, refusal, start, whole_packages};

const THREADS: usize = 32;

/// Much longer than a child needs for one line on a busy machine.
const LIMIT: Duration = Duration::from_secs(240);

#[test]
fn what_was_acknowledged_survives_kill_9() {
    if let Some(folder) = given() {
        write_for_ever(Path::new(&folder));
    }
    let rounds = std::env::var("ACCORD_KILL_ROUNDS").map_or(20, |text| text.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random::new(std::process::id().into());
    let mut acknowledged = BTreeSet::new();
    for round in 0..rounds {
        let before = acknowledged.len();
        let after = Duration::from_micros(random.below(60_000) as u64);
        round_of(folder.path(), after, &mut acknowledged);
        assert!(acknowledged.len() > before, "round {round} wrote nothing");
        let store = open(folder.path());
        let found: BTreeSet<(String, String)> = whole_packages(&store).into_iter().collect();
        let lost: Vec<_> = acknowledged.difference(&found).collect();
        assert!(lost.is_empty(), "round {round}, killed {after:?} after the first: lost {lost:?}");
        if round % 10 == 9 {
            store.check().unwrap();
        }
    }
}

/// Lets a process write, kills it, and adds what it acknowledged.
fn round_of(folder: &Path, after: Duration, acknowledged: &mut BTreeSet<(String, String)>) {
    let test = "kill::what_was_acknowledged_survives_kill_9";
    let mut child = start(test, folder.to_str().unwrap());
    let lines = lines_of(child.stdout.take().unwrap());
    let mut take = |line: &str| {
        // The last line may be cut, and the harness says something, too.
        let names = line.strip_suffix('\n').and_then(|line| line.strip_prefix("ack "));
        if let Some((project, package)) = names.and_then(|names| names.split_once(' ')) {
            acknowledged.insert((project.to_owned(), package.to_owned()));
        }
        names.is_some()
    };
    while let Some(line) = next(&lines, "the first acknowledgement") {
        if take(&line) {
            break;
        }
    }
    assert_eq!(refusal(folder).kind(), StoreErrorKind::Locked { pid: Some(child.id()) });
    std::thread::sleep(after);
    child.kill().unwrap();
    while let Some(line) = next(&lines, "the end of a killed process") {
        take(&line);
    }
    child.wait().unwrap();
}

/// Reads the lines of a pipe in a thread, so that a wait for them can be bounded. The last line may
/// lack its end.
fn lines_of(pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut line = String::new();
        while pipe.read_line(&mut line).unwrap() > 0 {
            if sender.send(std::mem::take(&mut line)).is_err() {
                break;
            }
        }
    });
    lines
}

/// The next line; `None` at the end of the pipe.
fn next(lines: &Receiver<String>, what: &str) -> Option<String> {
    match lines.recv_timeout(LIMIT) {
        Ok(line) => Some(line),
        Err(RecvTimeoutError::Disconnected) => None,
        Err(RecvTimeoutError::Timeout) => panic!("waited {LIMIT:?} for {what}"),
    }
}

/// Many threads write, each says what was acknowledged, until the process is killed.
fn write_for_ever(folder: &Path) -> ! {
    let store = open(folder);
    let process = std::process::id();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let store = &store;
            scope.spawn(move || {
                for number in 0.. {
                    let project = format!("p{}", (thread + number) % 3);
                    let id = format!("{process}.{thread}.{number}");
                    match number % 2 {
                        0 => deposit(store, &project, &id, "some words to find").unwrap(),
                        _ => ask_for_review(store, &project, &id).unwrap(),
                    };
                    let line = format!("ack {project} {id}\n");
                    std::io::stdout().write_all(line.as_bytes()).unwrap();
                }
            });
        }
    });
    unreachable!("the threads end with the process")
}

/// A disk that has acknowledged what it was asked to sync, and has torn what came later.
#[test]
fn a_torn_end_of_the_log_takes_nothing_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let log = folder.path().join("accord.db-wal");
    let mut lengths = Vec::new();
    for number in 0..30 {
        deposit(&store, "p", &format!("n{number}"), "words").unwrap();
        lengths.push(fs::metadata(&log).unwrap().len());
    }
    let (database, log) = (fs::read(folder.path().join("accord.db")), fs::read(&log));
    let (database, log) = (database.unwrap(), log.unwrap());
    let mut random = Random::new(9);
    for _ in 0..40 {
        let kept = random.below(lengths.len());
        let synced = lengths[kept] as usize;
        let end = synced + random.below(log.len() - synced + 1);
        let mut torn = log[..end].to_vec();
        for byte in &mut torn[synced..] {
            if random.one_in(3) {
                *byte = random.number() as u8;
            }
        }
        let after = tempfile::tempdir().unwrap();
        fs::write(after.path().join("accord.db"), &database).unwrap();
        fs::write(after.path().join("accord.db-wal"), torn).unwrap();
        let found = whole_packages(&open(after.path()));
        assert!(
            found.len() > kept,
            "{} of {}, cut at {end} of {}",
            found.len(),
            kept + 1,
            log.len()
        );
    }
}
