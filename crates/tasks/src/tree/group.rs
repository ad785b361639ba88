//! The group of commits that callers share.
//!
//! A caller hands in a decision. The first caller becomes the leader: it takes the lock, runs the
//! decisions of everyone who is waiting, commits them with one sync, makes one of those who came
//! meanwhile the next leader, and wakes the callers. While it syncs, the next group gathers.
//! Callers make their answers themselves, after the group.

use std::collections::{BTreeSet, VecDeque};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};

use accord_contract::{Code, Failure};
use accord_tasks_core::TaskId;
use accord_trees::wal::{LockedWal, News, Skipped, Wal};
use accord_trees::{Disk, TreeError};

use super::unavailable::missing_index;
use super::{Store, Tree, failure, has_log, is_unwritable};
use crate::Result;
use crate::clock_watch::{ClockWatch, Jump};
use crate::committed::State;
use crate::index::Index;
use crate::layout::{RunLayout, status_folder};
use crate::manifest::Settings;
use crate::remembered::Remembered;
use crate::scan::{check_folders, check_gone, scan};
use crate::work::{Work, take_over};
use crate::writers::Writers;

/// The longest time that a leader waits for more callers.
const LONGEST_GATHERING: Duration = Duration::from_millis(2);
/// A shorter time is not worth a wait.
const SHORTEST_GATHERING: Duration = Duration::from_micros(100);

/// How often a leader looks for callers that came while it decided.
const LATE_ROUNDS: usize = 2;

#[derive(Default)]
pub(super) struct Queue {
    waiting: VecDeque<Job>,
    has_leader: bool,
    /// How many callers the next leader waits for: those that waited when the last group ended,
    /// and those that it answered, which may come back at once.
    wanted: usize,
    sync_time: Duration,
}

/// A decision that waits for its group.
struct Job {
    /// Stages the changes, and answers what to do once they are committed.
    run: Box<Decide>,
    /// Makes its caller the leader.
    lead: Box<dyn Fn() + Send>,
    /// Whether it changes nothing.
    reads: bool,
}

/// Decides within a group, or is refused with the failure of the whole group.
type Decide = dyn FnOnce(Result<&mut Work<'_>>) -> Finish + Send;

/// Gives the caller its answer, or the failure of the commit.
type Finish = Box<dyn FnOnce(Result<()>) + Send>;

/// A group that is decided and committed, and not answered yet.
struct Ended {
    finishes: Vec<Finish>,
    outcome: Result<()>,
    sync_time: Option<Duration>,
}

impl Ended {
    /// A group that was refused as a whole.
    fn refused(jobs: Vec<Job>, failure: &Failure) -> Self {
        let finishes = jobs.into_iter().map(|job| (job.run)(Err(failure.clone()))).collect();
        Self { finishes, outcome: Ok(()), sync_time: None }
    }
}

enum Signal<T> {
    Answer(Result<T>),
    /// The last leader is done: this caller leads the next group.
    Lead,
}

impl Tree {
    pub(super) fn join_group<T: Send + 'static>(
        &self,
        reads: bool,
        decide: impl FnOnce(&mut Work<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        // A caller is made the leader once, and answered once.
        let (sender, receiver) = sync_channel(2);
        let lead = sender.clone();
        let job = Job {
            run: Box::new(move |work| {
                let answer = work.and_then(|work| work.attempt(decide));
                Box::new(move |committed| finish(&sender, committed, answer))
            }),
            // A caller never goes away before its answer, so the signal is received.
            lead: Box::new(move || drop(lead.send(Signal::Lead))),
            reads,
        };
        let leads = {
            let mut queue = self.0.queue.lock();
            queue.waiting.push_back(job);
            if queue.waiting.len() == queue.wanted {
                self.0.gathered.notify_one();
            }
            !std::mem::replace(&mut queue.has_leader, true)
        };
        if leads {
            self.lead();
        }
        loop {
            match receiver.recv() {
                Ok(Signal::Answer(answer)) => return answer,
                Ok(Signal::Lead) => self.lead(),
                Err(_) => {
                    let message = "the group of this change ended without an answer";
                    return Err(Failure::new(Code::AofTaskTreeUnavailable, message));
                }
            }
        }
    }

    /// Leads one group, then makes the next caller the leader.
    fn lead(&self) {
        self.gather();
        let Ended { finishes, outcome, sync_time } = self.run_group();
        let mut queue = self.0.queue.lock();
        queue.wanted = queue.waiting.len() + finishes.len();
        queue.sync_time = sync_time.unwrap_or(queue.sync_time);
        // Those who wait go on while this group is answered. If no one waits, those who are
        // answered may come back and make the next group together.
        let is_led = queue.waiting.front().inspect(|next| (next.lead)()).is_some();
        drop(queue);
        for finish in finishes {
            finish(outcome.clone());
        }
        if is_led {
            return;
        }
        let mut queue = self.0.queue.lock();
        match queue.waiting.front() {
            Some(next) => (next.lead)(),
            None => queue.has_leader = false,
        }
    }

    /// Waits a part of the time of a sync for the callers that the last group answered. If they
    /// come back, they share the next sync. Without the wait, the next group would have only those
    /// that came during the last one, and the others would wait for two syncs. Where a sync takes
    /// no time there is nothing to wait for, and a caller that is alone does not wait.
    fn gather(&self) {
        let mut queue = self.0.queue.lock();
        let time = (queue.sync_time / 2).min(LONGEST_GATHERING);
        if time >= SHORTEST_GATHERING {
            let until = Instant::now() + time;
            while queue.waiting.len() < queue.wanted
                && !self.0.gathered.wait_until(&mut queue, until).timed_out()
            {}
        }
        queue.wanted = 0;
    }

    fn run_group(&self) -> Ended {
        let mut store = self.0.store.lock();
        let Store { wal, index, pace } = &mut *store;
        if self.0.queue.lock().waiting.iter().all(|job| job.reads) {
            return self.run_readers(wal, index, pace);
        }
        let changes = std::mem::take(&mut *self.0.changes.lock());
        if changes.is_unknown {
            *index = None;
        }
        let locked = wal.lock().and_then(|locked| {
            // After the lock, which completes what the log says about the files.
            self.refresh(index, &locked, &self.current_settings())?;
            self.check_gone(index.as_ref(), locked.state(), &changes.tasks)?;
            Ok(locked)
        });
        // After the lock: callers that came while this process waited for it join the group.
        let jobs = self.take_waiting();
        let shared = &self.0;
        let (mut locked, known) = match (locked, index.as_mut()) {
            (Ok(locked), Some(known)) => (locked, known),
            (locked, _) => {
                *index = None;
                let error = locked.err();
                if let Some(error) = error.as_ref().filter(|error| is_unwritable(error)) {
                    return self.run_unwritten(wal, jobs, Some(error));
                }
                let failure = error.map_or_else(missing_index, |error| failure(&error));
                return Ended::refused(jobs, &failure);
            }
        };
        let (now, jump) = pace.read(&shared.environment);
        if let Some(Jump { before, seconds }) = jump {
            known.board.shift_clock(before, seconds);
        }
        let settings = self.held_settings(locked.state());
        let (disk, is_in_git) = (shared.disk.as_ref(), shared.is_in_git);
        let writers = Writers::next(disk, locked.state(), &shared.environment, is_in_git);
        (known.writers, known.is_new_writer) = writers;
        known.odd.extend(changes.tasks);
        known.odd.extend(known.waiting.keys());
        known.has_odd_settings |= changes.has_settings;
        let mut work = Work::new(shared.disk.as_ref(), locked.state(), known, settings, now);
        work.settle_all(&[]);
        let mut decide = |jobs: Vec<Job>| -> Vec<Finish> {
            jobs.into_iter().map(|job| (job.run)(Ok(&mut work))).collect()
        };
        let mut finishes = decide(jobs);
        // Callers that came meanwhile join the group: one commit for all costs less than two.
        for _ in 0..LATE_ROUNDS {
            finishes.extend(decide(self.take_waiting()));
        }
        work.settle_rest();
        let (records, is_spoiled) = work.into_records();
        records.into_iter().for_each(|record| locked.stage(record));
        let mut is_settled = true;
        let outcome = match locked.commit() {
            Ok(skipped) => {
                // The group has happened. What is not judged now is judged by the next one.
                is_settled = self.settle_skipped(&mut locked, known, skipped).is_ok();
                Ok(())
            }
            Err(error) => Err(failure(&error)),
        };
        self.held_settings(locked.state());
        if outcome.is_ok() {
            self.remember(known);
        }
        drop(locked);
        if outcome.is_err() || is_spoiled || !is_settled {
            // The index is ahead of the files.
            *index = None;
        }
        Ended { finishes, outcome, sync_time: Some(wal.sync_time()) }
    }

    /// Runs a group of readers. If a log exists, what it says about the files is completed first.
    fn run_readers(
        &self,
        wal: &mut Wal<State>,
        index: &mut Option<Index>,
        pace: &mut ClockWatch,
    ) -> Ended {
        let shared = &self.0;
        let disk = shared.disk.as_ref();
        if !has_log(disk) {
            *index = None;
            return self.run_unwritten(wal, self.take_readers(), None);
        }
        let locked = wal.lock().and_then(|locked| {
            self.refresh(index, &locked, &self.current_settings())?;
            self.check_gone(index.as_ref(), locked.state(), &BTreeSet::new())?;
            Ok(locked)
        });
        let jobs = self.take_readers();
        let (locked, known) = match (locked, index.as_mut()) {
            (Ok(locked), Some(known)) => (locked, known),
            (locked, _) => {
                *index = None;
                let error = locked.err();
                if let Some(error) = error.as_ref().filter(|error| is_unwritable(error)) {
                    return self.run_unwritten(wal, jobs, Some(error));
                }
                let failure = error.map_or_else(missing_index, |error| failure(&error));
                return Ended::refused(jobs, &failure);
            }
        };
        let (now, jump) = pace.read(&shared.environment);
        if let Some(Jump { before, seconds }) = jump {
            known.board.shift_clock(before, seconds);
        }
        let settings = self.held_settings(locked.state());
        let is_settled = locked.state().is_begun() && known.odd.is_empty();
        let mut work = Work::new(disk, locked.state(), known, settings, now);
        if !is_settled {
            work.settle_tasks();
        }
        let finishes: Vec<Finish> = jobs.into_iter().map(|job| (job.run)(Ok(&mut work))).collect();
        // The next change writes what was judged.
        let judged: Vec<TaskId> = work.verdicts.borrow().keys().copied().collect();
        shared.changes.lock().tasks.extend(judged);
        drop(locked);
        if !is_settled {
            // What was judged is not written.
            *index = None;
        }
        Ended { finishes, outcome: Ok(()), sync_time: None }
    }

    /// The readers at the front of the queue. Who changes something gets the next group.
    fn take_readers(&self) -> Vec<Job> {
        let waiting = &mut self.0.queue.lock().waiting;
        let count = waiting.iter().take_while(|job| job.reads).count();
        waiting.drain(..count).collect()
    }

    fn take_waiting(&self) -> Vec<Job> {
        self.0.queue.lock().waiting.drain(..).collect()
    }

    /// Runs the decisions of a group on a tree that cannot be written, or whose disk is too full
    /// for what is committed: those that change nothing are answered, as if the files had all of
    /// it. It has no lock, so a commit that happens at the same time may be missing.
    fn run_unwritten(&self, wal: &Wal<State>, jobs: Vec<Job>, error: Option<&TreeError>) -> Ended {
        let layout = self.current_settings().layout();
        let read = || {
            let (state, disk) = match wal.preview()? {
                Some(preview) => (preview.state, preview.disk),
                None => (State::default(), self.shared_disk()),
            };
            let index = self.scanned(disk.as_ref(), layout, &state)?;
            Ok((state, disk, index))
        };
        let (state, disk, mut index) = match read() {
            Ok(read) => read,
            Err(error) => return Ended::refused(jobs, &failure(&error)),
        };
        let (settings, now) = (self.held_settings(&state), self.0.environment.now());
        let mut work = Work::new(disk.as_ref(), &state, &mut index, settings, now);
        if !state.is_begun() {
            work.settle_tasks();
            work.forget();
        }
        let finishes: Vec<Finish> = jobs.into_iter().map(|job| (job.run)(Ok(&mut work))).collect();
        let (records, _) = work.into_records();
        let outcome = match error.filter(|_| !records.is_empty()) {
            Some(error) => Err(failure(error)),
            None => Ok(()),
        };
        Ended { finishes, outcome, sync_time: None }
    }

    /// Judges files that others changed while the group was decided.
    fn settle_skipped(
        &self,
        locked: &mut LockedWal<'_, State>,
        index: &mut Index,
        skipped: Vec<Skipped>,
    ) -> accord_trees::Result<()> {
        if skipped.is_empty() {
            return Ok(());
        }
        let (disk, now) = (self.0.disk.as_ref(), self.0.environment.now());
        let settings = self.held_settings(locked.state());
        let mut work = Work::new(disk, locked.state(), index, settings, now);
        work.settle_all(&skipped);
        let (records, _) = work.into_records();
        records.into_iter().for_each(|record| locked.stage(record));
        // What was changed once more is noticed as any other change.
        locked.commit().map(drop)
    }

    fn scanned(
        &self,
        disk: &dyn Disk,
        layout: RunLayout,
        state: &State,
    ) -> accord_trees::Result<Index> {
        let remembered = || {
            let folder = self.environment().state_folder()?;
            Remembered::read(folder, disk.root_path(), &self.0.project)
        };
        scan(disk, layout, state, self.0.is_in_git, remembered)
    }

    /// Remembers the last numbers outside of the tree.
    fn remember(&self, known: &mut Index) {
        let Some(folder) = self.environment().state_folder() else { return };
        if known.last_event == 0 || known.remembered == known.last_event {
            return;
        }
        known.remembered = known.last_event;
        let remembered = Remembered { last_event: known.last_event, ids: known.last_ids() };
        remembered.write(folder, self.disk().root_path(), self.project());
    }

    /// Fails if the folder of a status is gone with the open tasks in it.
    fn check_gone(
        &self,
        index: Option<&Index>,
        state: &State,
        changed: &BTreeSet<TaskId>,
    ) -> accord_trees::Result<()> {
        let (Some(known), disk) = (index, self.0.disk.as_ref()) else { return Ok(()) };
        let mut tasks: BTreeSet<TaskId> = known.odd.union(changed).copied().collect();
        for (status, count) in known.board.counts() {
            let is_open = count > 0 && !status.is_final();
            if is_open && disk.stat(&status_folder(status))?.is_none() {
                let of_status = known.board.open().filter(|entry| entry.status == status);
                tasks.extend(of_status.map(|entry| entry.id));
            }
        }
        check_gone(disk, state, tasks.iter())
    }

    /// Brings the index up to what other processes did.
    fn refresh(
        &self,
        index: &mut Option<Index>,
        locked: &LockedWal<'_, State>,
        settings: &Settings,
    ) -> accord_trees::Result<()> {
        let (disk, layout) = (self.0.disk.as_ref(), settings.layout());
        check_folders(disk, locked.state())?;
        match (locked.news(), index.as_mut()) {
            (News::Records(records), Some(known)) => {
                take_over(known, disk, layout, locked.state(), records)
            }
            _ => {
                *index = Some(self.scanned(disk, layout, locked.state())?);
                Ok(())
            }
        }
    }
}

fn finish<T>(sender: &SyncSender<Signal<T>>, committed: Result<()>, answer: Result<T>) {
    // A refusal holds whether or not the group was committed.
    let answer = answer.and_then(|answer| committed.map(|()| answer));
    drop(sender.send(Signal::Answer(answer)));
}
