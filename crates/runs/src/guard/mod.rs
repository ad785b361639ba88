//! What judges a turn is fixed before its worker starts.
//!
//! A worker runs with the rights of its user. It can write the configuration and the records of the
//! run that decide about its own result. So they are copied to a folder of the user before the
//! worker starts, and the process that waits for it remembers them. While a worker runs:
//!
//! - the copied configuration is in force. A changed one is put back, and the results of the turns
//!   whose workers ran are refused;
//! - a change of the records that Accord did not make is taken over if it concerns another turn
//!   only, see [`check_foreign_change`](accord_runs_core::guard::check_foreign_change). Any other
//!   one is put back, and the turn stops until a person has looked at it;
//! - whatever is put back is kept first. `accord run adopt` puts it in force.
//!
//! Invariants:
//! - a commit of Accord moves memory and copies along, under the lock of the repository; a commit
//!   that another waiting process would have to put back is refused;
//! - copies are changed only after the commit, and say before it what it will do, so that a process
//!   that is killed in between leaves copies that the next one can complete;
//! - without memory (the waiting process ended), a turn goes on only if copies and repository
//!   agree;
//! - an index of the records that Accord did not store while a worker ran is dropped: acceptance
//!   reads it instead of the records;
//! - once no worker runs, the repository alone judges.

mod adopt;
mod commits;
mod decisions;
mod digest;
mod document;
mod files;
mod folder;
mod kept;
mod memory;
mod settle;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use accord_contract::{Code, Failure};
use accord_runs_core::{Result, State, TurnId, dispatch};
use accord_trees::Root;

use crate::{Environment, LockedRepository, RecordFile, Repository};

pub(crate) use adopt::{Choice, Found};
pub use kept::KeptChange;
pub(crate) use settle::InForce;

use digest::identity;
use document::{Document, GuardedTurn, Holder, Snapshot};
use folder::Place;
use memory::Memory;

#[derive(Clone)]
pub(crate) struct Guard {
    place: Place,
    environment: Environment,
}

impl Guard {
    pub(crate) fn new(root: &Path, environment: &Environment) -> Self {
        Self { place: Place::new(root, environment), environment: environment.clone() }
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.place.path()
    }

    /// The copies; `None` if no worker was ever guarded.
    fn load(&self) -> Result<Option<(Root, Document)>> {
        let Some(root) = self.place.open()? else { return Ok(None) };
        let document = Document::load(&root)?;
        Ok(Some((root, document)))
    }

    /// The copies, for a process that waits for no worker; `None` if no worker was ever guarded.
    /// Fails with `records_changed` if they are missing or damaged and the run had a worker.
    fn copies(&self, repository: &Repository) -> Result<Option<(Root, Document)>> {
        let loaded = self.load()?.filter(|(_, document)| document.intact);
        if loaded.is_none() && had_worker(repository)? {
            return Err(self.missing());
        }
        Ok(loaded)
    }

    /// The configuration that is in force while workers run; `None` if none runs.
    pub(crate) fn config_in_force(&self) -> Result<Option<Vec<u8>>> {
        if let Some(memory) = memory::of(&self.folder()) {
            return Ok(Some(memory::lock(&memory).snapshot.config.clone()));
        }
        let active = self.load()?.filter(|(_, document)| document.is_active());
        let snapshot = active.and_then(|(_, document)| document.snapshot);
        Ok(snapshot.map(|snapshot| snapshot.config))
    }

    /// Whether workers of a killed process may have left a run here. For a folder without a
    /// configuration, which a worker may have removed.
    pub(crate) fn knows_run(&self) -> bool {
        let loaded = self.load().ok().flatten();
        loaded.is_some_and(|(_, document)| document.is_active())
    }

    /// Copies what judges a turn, before its worker starts. Fails with `state_folder_unusable`, or
    /// a failure of the file system. The worker must not start then.
    pub(crate) fn start(
        &self,
        repository: &LockedRepository,
        turn: &TurnId,
        attempt: u64,
    ) -> Result<()> {
        let root = self.place.make()?;
        let mut document = Document::load(&root)?;
        let known = memory::of(&self.folder());
        // The worker of another process may have written the index by now.
        let is_fresh = !document.is_active();
        let index = is_fresh.then(|| identity(repository.disk(), &Repository::index_path()));
        let snapshot = match &known {
            Some(memory) => memory::lock(memory).snapshot.clone(),
            // Another process waits for a worker: what it copied is in force for this one too.
            None if document.is_active() => document.snapshot.clone().ok_or_else(damaged)?,
            None => {
                let snapshot = Snapshot::take(repository, document.snapshot.as_ref())?;
                snapshot.copy_records(repository, &root)?;
                // Refusals of turns of earlier runs, or of turns that were continued elsewhere.
                let state = state_of(&snapshot.state);
                document.turns.retain(|id, guarded| is_at(state.as_ref(), id, guarded));
                snapshot
            }
        };
        let user_git = memory::first_user_git((&self.folder(), turn), snapshot.user_git.clone());
        let snapshot = Snapshot { user_git, ..snapshot };
        let guarded = GuardedTurn { attempt, holder: Some(Holder::own()), config_changed: None };
        document.turns.insert(turn.clone(), guarded);
        document.snapshot = Some(snapshot.clone());
        document.pending = None;
        // The copies are complete before they say that they judge.
        document.store(&root)?;
        match known {
            Some(memory) => {
                let mut memory = memory::lock(&memory);
                memory.turns.insert(turn.clone(), attempt);
                memory.refused.remove(turn);
            }
            None => {
                let memory = Memory {
                    snapshot,
                    index: index.flatten(),
                    turns: [(turn.clone(), attempt)].into(),
                    pending: None,
                    stops: BTreeMap::new(),
                    refused: BTreeMap::new(),
                };
                memory::remember(&self.folder(), memory);
            }
        }
        Ok(())
    }

    /// A turn is not guarded any more: its worker has ended, and nothing is left to judge now.
    pub(crate) fn release(&self, turn: &TurnId) -> Result<()> {
        memory::forget_user_git(&self.folder(), turn);
        let Some(memory) = memory::of(&self.folder()) else { return Ok(()) };
        let mut held = memory::lock(&memory);
        let root = self.place.make()?;
        let mut document = Document::load(&root)?;
        held.correct(&mut document);
        if let Some(guarded) = document.turns.get_mut(turn) {
            // A refusal outlives the worker: its result may be accepted later.
            guarded.holder = None;
        }
        document.turns.retain(|_, turn| turn.holder.is_some() || turn.config_changed.is_some());
        document.store(&root)?;
        held.turns.remove(turn);
        held.stops.remove(turn);
        if held.turns.is_empty() {
            memory::forget(&self.folder());
        }
        Ok(())
    }

    /// Accord has stored the index of the records.
    pub(crate) fn note_index(&self, repository: &LockedRepository) {
        if let Some(memory) = memory::of(&self.folder()) {
            memory::lock(&memory).index = identity(repository.disk(), &Repository::index_path());
        }
    }

    pub(crate) fn is_stopped(&self, turn: &TurnId) -> bool {
        let memory = memory::of(&self.folder());
        memory.is_some_and(|memory| memory::lock(&memory).stops.contains_key(turn))
    }

    pub(crate) fn take_stop(&self, turn: &TurnId) -> Option<Failure> {
        memory::lock(&*memory::of(&self.folder())?).stops.remove(turn)
    }

    /// Why the result of an attempt is refused, if its worker changed the configuration, or the
    /// programs that git starts for the user.
    pub(crate) fn refusal(
        &self,
        repository: &Repository,
        turn: &TurnId,
        attempt: u64,
    ) -> Result<Option<Failure>> {
        let remembered = memory::of(&self.folder())
            .and_then(|memory| memory::lock(&memory).refused.get(turn).cloned());
        if let Some(message) = remembered {
            return Ok(Some(config_changed(message, turn)));
        }
        let Some((_, document)) = self.load()? else { return Ok(None) };
        let guarded = document.turns.get(turn).filter(|guarded| guarded.attempt == attempt);
        let Some(guarded) = guarded else { return Ok(None) };
        if let Some(message) = &guarded.config_changed {
            return Ok(Some(config_changed(message.clone(), turn)));
        }
        let held = memory::of(&self.folder());
        let remembered = held.map(|memory| memory::lock(&memory).snapshot.clone());
        let snapshot = remembered.or(document.snapshot).filter(|_| guarded.holder.is_some());
        let before = snapshot.and_then(|snapshot| snapshot.user_git);
        let both = before.zip(files::user_git(repository));
        Ok(both.and_then(|(before, now)| user_git_changed(&before, &now, turn)))
    }
}

/// The failure for settings of the user that name programs which git starts, if they changed.
fn user_git_changed(
    before: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
    turn: &TurnId,
) -> Option<Failure> {
    let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    let differing = names.into_iter().filter(|name| before.get(*name) != now.get(*name));
    let names: Vec<&str> = differing.map(String::as_str).collect();
    if names.is_empty() {
        return None;
    }
    let message = format!(
        "{} of your own git configuration changed while the worker of {turn} ran; it names a \
         program that git starts for you",
        names.join(", ")
    );
    let failure = Failure::new(Code::XchainVersionControlChanged, message);
    let next = "git config --global --list --show-origin shows it; put it right before you use git";
    Some(failure.with("turn_id", turn.as_str()).suggesting(next))
}

impl Guard {
    fn missing(&self) -> Failure {
        let message = format!(
            "a worker ran in this run, and the copies that judge its turns are missing or damaged \
             in {}; nothing shows what the worker changed",
            self.folder().display()
        );
        Failure::new(Code::XchainRecordsChanged, message).suggesting(ADOPT_ALL)
    }
}

fn config_changed(message: String, turn: &TurnId) -> Failure {
    Failure::new(Code::XchainConfigChanged, message).with("turn_id", turn.as_str())
}

fn state_of(bytes: &[u8]) -> Option<State> {
    State::read(accord_canon::read(bytes).ok()?).ok()
}

fn is_at(state: Option<&State>, id: &TurnId, guarded: &GuardedTurn) -> bool {
    let turn = state.and_then(|state| state.turn(id));
    turn.is_some_and(|turn| turn.attempt() == guarded.attempt)
}

fn ids(document: &Document) -> Vec<String> {
    let active = document.turns.iter().filter(|(_, turn)| turn.holder.is_some());
    active.map(|(id, _)| id.to_string()).collect()
}

/// Whether the records say that Accord prepared a worker. Only the last events are read, so that an
/// operation does not grow with the run.
fn had_worker(repository: &Repository) -> Result<bool> {
    let events = repository.last_lines(RecordFile::Events, RECENT_EVENTS)?;
    Ok(dispatch::had_worker(repository.state()?.as_ref(), &events))
}

fn damaged() -> Failure {
    let message = "the copies that judge a turn are incomplete or were changed";
    Failure::new(Code::XchainRecordsChanged, message).suggesting(ADOPT)
}

/// How many of the last events may say that the run had a worker.
const RECENT_EVENTS: usize = 100;

const ADOPT_ALL: &str = "look at agentxchain.json and .agentxchain yourself, for example with git \
                         diff; then `accord run adopt --yes` puts the repository as it is in force";

const ADOPT: &str = "`accord run adopt` shows what differs; `accord run adopt --yes` puts the \
                     repository as it is in force, `accord run adopt --undo --yes` puts the copies \
                     back";
