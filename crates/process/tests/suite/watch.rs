//! [`accord_process::run_watched`]: who looks on hears everything and may end it.

use std::time::{Duration, Instant};

use accord_process::{Ending, Spec, Watch, WatchDecision, run_watched};

use crate::{LONG, SHORT, assert_gone, sh};

/// Hears everything, and has the child ended at a word or when it was silent for too long.
#[derive(Default)]
struct Ear {
    id: Option<u32>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    end_at: Option<&'static [u8]>,
    patience: Option<Duration>,
    last: Option<Instant>,
}

impl Watch for Ear {
    fn started(&mut self, id: u32) {
        self.id = Some(id);
    }

    fn stdout(&mut self, chunk: &[u8]) {
        assert!(!chunk.is_empty());
        self.stdout.extend_from_slice(chunk);
        self.last = Some(Instant::now());
    }

    fn stderr(&mut self, chunk: &[u8]) {
        assert!(!chunk.is_empty());
        self.stderr.extend_from_slice(chunk);
    }

    fn decide(&mut self, now: Instant) -> WatchDecision {
        let last = *self.last.get_or_insert(now);
        if self.end_at.is_some_and(|word| self.stdout.ends_with(word)) {
            return WatchDecision::Stop;
        }
        match self.patience {
            Some(patience) if now >= last + patience => WatchDecision::Stop,
            Some(patience) => WatchDecision::AskAgain(last + patience),
            None => WatchDecision::Continue,
        }
    }
}

#[test]
fn everything_is_heard_beyond_what_is_kept() {
    let mut ear = Ear::default();
    let script = "i=0; while [ $i -lt 2000 ]; do echo 0123456789; i=$((i+1)); done; echo e >&2";
    let mut spec = Spec::new(sh(script));
    spec.stdout_limit = 10;
    let outcome = run_watched(&spec, &mut ear).unwrap();
    assert_eq!(outcome.ending, Ending::Exited(0));
    assert!(!outcome.stopped);
    assert_eq!((ear.stdout.len(), outcome.stdout.len()), (22_000, 10));
    assert_eq!(ear.stderr, b"e\n");
    assert!(ear.id.is_some());
}

#[test]
fn a_word_of_the_child_can_end_it() {
    let mut ear = Ear { end_at: Some(b"stop\n"), ..Ear::default() };
    let outcome = run_watched(&Spec::new(sh("echo stop; sleep 600")), &mut ear).unwrap();
    assert!(outcome.stopped && !outcome.timed_out && !outcome.cancelled);
    assert_eq!(outcome.ending, Ending::Signalled(9));
}

#[test]
fn silence_can_end_it_although_nothing_happens() {
    let mut ear = Ear { patience: Some(SHORT), ..Ear::default() };
    let outcome = run_watched(&Spec::new(sh("echo once; sleep 600")), &mut ear).unwrap();
    assert!(outcome.stopped);
    assert_eq!(ear.stdout, b"once\n");
}

#[test]
fn a_group_that_must_end_is_asked_first_and_killed_when_it_does_not() {
    let polite = "trap 'echo bye; exit 5' TERM; echo stop; while :; do sleep 0.05; done";
    let ear = || Ear { end_at: Some(b"stop\n"), ..Ear::default() };
    let spec = Spec::new(sh(polite)).grace(LONG);
    let mut hears = ear();
    let outcome = run_watched(&spec, &mut hears).unwrap();
    assert_eq!(outcome.ending, Ending::Exited(5));
    assert_eq!(hears.stdout, b"stop\nbye\n");

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let deaf = format!("trap '' TERM; echo $$ > {}; echo stop; sleep 600", file.display());
    let spec = Spec::new(sh(&deaf)).grace(Duration::from_millis(200));
    let outcome = run_watched(&spec, &mut ear()).unwrap();
    assert_eq!(outcome.ending, Ending::Signalled(9));
    assert_gone(&file);
}

/// Lets the child end once its time limit has passed.
struct Release {
    limit: Duration,
    started: Instant,
    gate: std::path::PathBuf,
}

impl Watch for Release {
    fn started(&mut self, _id: u32) {
        self.started = Instant::now();
    }

    fn decide(&mut self, now: Instant) -> WatchDecision {
        if now < self.started + self.limit {
            return WatchDecision::AskAgain(self.started + self.limit);
        }
        std::fs::write(&self.gate, "").unwrap();
        WatchDecision::Continue
    }
}

#[test]
fn a_child_that_ends_by_itself_in_the_overtime_is_timed_out_and_keeps_its_code() {
    let folder = tempfile::tempdir().unwrap();
    let gate = folder.path().join("gate");
    let script = format!("until [ -e {} ]; do sleep 0.01; done; exit 3", gate.display());
    let spec = Spec::new(sh(&script)).time_limit(SHORT).overtime(LONG);
    let mut release = Release { limit: SHORT, started: Instant::now(), gate };
    let outcome = run_watched(&spec, &mut release).unwrap();
    assert!(outcome.timed_out);
    assert_eq!(outcome.ending, Ending::Exited(3));
    // One that does not end is killed when the overtime is over, too.
    let spec = Spec::new(sh("sleep 600")).time_limit(SHORT).overtime(SHORT);
    let outcome = accord_process::run(&spec).unwrap();
    assert!(outcome.timed_out && outcome.duration >= 2 * SHORT, "{outcome:?}");
    assert_eq!(outcome.ending, Ending::Signalled(9));
}
