//! A small project, and a runner for it that does nothing but what is needed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use accord_contract::{Failure, Object, Time};
use accord_runs::repository::{LockedRepository, Repository};
use accord_runs_core::accept::{
    Acceptance, Answer, Commit, Conclusion, Inputs, Observation, Options, Want,
};
use accord_runs_core::config::Config;
use accord_runs_core::hooks::{HookPhase, HookReport};
use accord_runs_core::run::{BaselineCheck, Beginning, check_assignment, init};
use accord_runs_core::state::{Baseline, State};
use accord_runs_core::{Ids, RepoPath, TurnId};
use accord_trees::testing::SimDisk;
use serde_json::{Value, json};
use tempfile::TempDir;

pub(super) fn now() -> Time {
    Time::parse_iso("2026-04-20T10:00:00Z").unwrap()
}

pub(super) fn ids(seed: u8) -> Ids {
    Ids::new([seed; 32])
}

pub(super) fn path(text: &str) -> RepoPath {
    RepoPath::parse(text).unwrap()
}

pub(super) fn object(value: Value) -> Object {
    value.as_object().unwrap().clone()
}

/// A folder on this machine that is governed, and a run that has begun in it.
pub(super) fn begun() -> (TempDir, Repository) {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open(folder.path()).unwrap();
    let held = lock(&repository);
    govern(&held);
    begin(&held).unwrap();
    drop(held);
    (folder, repository)
}

/// A simulated disk, and the repository on it.
pub(super) fn simulated() -> (Arc<SimDisk>, Repository) {
    let disk = Arc::new(SimDisk::new());
    (disk.clone(), Repository::on(disk))
}

pub(super) fn lock(repository: &Repository) -> LockedRepository {
    repository.lock(Duration::ZERO).unwrap()
}

pub(super) fn govern(held: &LockedRepository) {
    let document = json!({
        "schema_version": "1.0",
        "project": {"id": "shop", "name": "Shop"},
        "roles": {
            "dev": {"title": "Dev", "mandate": "Build.", "write_authority": "authoritative",
                "runtime": "hand"}
        },
        "runtimes": {"hand": {"type": "manual"}},
        "routing": {
            "implementation": {"entry_role": "dev", "allowed_next_roles": ["dev", "human"],
                "max_concurrent_turns": 2}
        },
        "gates": {},
        "workflow_kit": {}
    });
    let made = held.create(&path("agentxchain.json"), document.to_string().as_bytes());
    assert!(made.unwrap());
}

/// Begins a run.
pub(super) fn begin(held: &LockedRepository) -> Result<(), Failure> {
    let config = Config::read(held.config()?).unwrap();
    let before = held.state()?.unwrap_or_else(|| State::idle(&config));
    let mut ids = ids(1);
    let change = init(&before, &config, Beginning::default(), &mut ids, now())?;
    held.commit(&Commit::of_change(&before, &change, &mut ids, now()))?;
    Ok(())
}

/// Assigns a turn to the only role.
pub(super) fn assign(held: &LockedRepository, seed: u8) -> Result<TurnId, Failure> {
    let config = Config::read(held.config()?).unwrap();
    let before = held.state()?.unwrap();
    let length = held.index(before.run_id())?.length();
    let clean = BaselineCheck::Clean(Baseline {
        head_ref: None,
        clean: true,
        dirty: Vec::new(),
        ..Baseline::default()
    });
    let ready = check_assignment(&before, &config, "dev", clean, length)?;
    let mut ids = ids(seed);
    let none = HookReport::none(HookPhase::BeforeAssignment);
    let (change, turn) = ready.confirm(&none, &mut ids, now()).unwrap();
    held.commit(&Commit::of_change(&before, &change, &mut ids, now()))?;
    Ok(turn.id().clone())
}

/// Stages a sound result of a turn, with a decision that outlives the run.
pub(super) fn stage(held: &LockedRepository, turn: &TurnId) -> Result<(), Failure> {
    let state = held.state()?.unwrap();
    let result = json!({
        "schema_version": "1.0",
        "run_id": state.run_id().unwrap().as_str(),
        "turn_id": turn.as_str(),
        "role": "dev",
        "runtime_id": "hand",
        "status": "completed",
        "summary": "Did the work.",
        "decisions": [{"id": format!("DEC-{}", 100 + state.turn_sequence()), "category": "scope",
                       "statement": "Small.", "rationale": "Time.", "durability": "repo"}],
        "objections": [],
        "files_changed": ["src/lib.rs"],
        "verification": {"status": "pass", "commands": ["make test"],
                         "machine_evidence": [{"command": "make test", "exit_code": 0}]},
        "artifact": {"type": "workspace"},
        "proposed_next_role": "human"
    });
    held.stage(turn, result.to_string().as_bytes())?;
    Ok(())
}

/// The commit that accepts a turn, before it is carried out; everything else is answered.
pub(super) fn acceptance(
    held: &LockedRepository,
    turn: &TurnId,
    seed: u8,
) -> Result<Commit, Failure> {
    let mut commits = Vec::new();
    drive(held, turn, seed, |commit| {
        commits.push(commit.clone());
        Ok(())
    })?;
    Ok(commits.remove(0))
}

/// Accepts a turn.
pub(super) fn accept(held: &LockedRepository, turn: &TurnId, seed: u8) -> Result<(), Failure> {
    let outcome = drive(held, turn, seed, |commit| {
        held.commit(commit)?;
        Ok(())
    })?;
    match outcome {
        Conclusion::Accepted(_) => Ok(()),
        Conclusion::Refused { failure, .. } => Err(failure),
    }
}

fn drive(
    held: &LockedRepository,
    turn: &TurnId,
    seed: u8,
    mut commit: impl FnMut(&Commit) -> Result<(), Failure>,
) -> Result<Conclusion, Failure> {
    let state = held.state()?.unwrap();
    let inputs = Inputs {
        config: Config::read(held.config()?).unwrap(),
        index: held.index(state.run_id())?,
        repo_decisions: held.repo_decisions()?,
        state,
    };
    let options = Options::default();
    let mut machine = Acceptance::begin(inputs, Some(turn), options, ids(seed), now())?;
    loop {
        let answer = match machine.want().clone() {
            Want::Staging(paths) => Answer::Staging(held.staged(&paths)?),
            Want::Hooks(batch) => Answer::Hooks(HookReport::none(batch.phase)),
            Want::Clean(_) => Answer::Cleaned,
            Want::Observe { .. } => Answer::Observed(Observation::default()),
            Want::Files(paths) => Answer::Files(held.texts(&paths)?),
            Want::Replay(commands) => Answer::Replayed(vec![None; commands.len()]),
            Want::Commit(wanted) => {
                commit(&wanted)?;
                Answer::Committed
            }
            Want::Done(outcome) => return Ok(*outcome),
        };
        machine.answer(answer, now())?;
    }
}

/// The steps of a small run; each is one thing that is acknowledged.
pub(super) const STEPS: usize = 7;

pub(super) fn step(number: usize, held: &LockedRepository) -> Result<(), Failure> {
    let turn = |held: &LockedRepository| -> Result<TurnId, Failure> {
        let state = held.state()?.unwrap();
        Ok(state.only_turn().unwrap().id().clone())
    };
    match number {
        0 => begin(held),
        1 | 4 => assign(held, 10 + number as u8).map(drop),
        2 | 5 => stage(held, &turn(held)?),
        _ => accept(held, &turn(held)?, 20 + number as u8),
    }
}

/// Every file below a folder, by its path; the lock's own and the index are left out.
pub(super) fn files(folder: &std::path::Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let entry = entry.unwrap().path();
            if entry.is_dir() {
                open.push(entry);
            } else {
                let name = entry.strip_prefix(folder).unwrap().to_str().unwrap();
                files.insert(name.to_owned(), std::fs::read(&entry).unwrap());
            }
        }
    }
    meaningful(files)
}

/// Of these files, those that say something about the run.
pub(super) fn meaningful(mut files: BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Vec<u8>> {
    files.retain(|path, _| {
        // A temporary file beside a staged result is in nobody's way, and goes with its folder.
        let beside_staged = path.starts_with(".agentxchain/staging/") && path.contains("/.tmp-");
        !path.starts_with(".agentxchain/locks/")
            && !path.starts_with(".agentxchain/transactions/index/")
            && !beside_staged
    });
    files
}
