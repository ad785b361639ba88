//! A claim whose answer may be lost.
//!
//! The worker makes the id of a run before it claims a task, and writes it down. A claim with the
//! same id again gives the same task, so that one whose answer was lost, or whose worker was killed
//! before it made the folder of the run, is not left to its lease.
//!
//! Invariants:
//! - an id is that of one worker, and goes to another one only if that does not run any more;
//! - the id of a run that has a folder is not used for a claim again.

use std::cell::Cell;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use accord_canon::sha256;
use accord_contract::text::pretty;
use accord_contract::{Code, Failure, Object, Value};
use accord_system::random_hex;
use accord_trees::lock::{process_start, still_runs};

use crate::Result;

/// The folder of the intents, beside those of runs.
pub(super) const CLAIMS: &str = "claims";

/// A claim that is going to be made, and may have been.
pub struct ClaimIntent {
    path: PathBuf,
    run_id: String,
    /// Whether a claim with this id may have been carried out, and nothing else says so.
    is_in_doubt: Cell<bool>,
}

impl ClaimIntent {
    /// That of a worker of this agent that was killed, else a new one.
    pub fn begin(above: &Path, agent: &str) -> Result<Self> {
        let folder = above.join(CLAIMS);
        let made = begin(above, &folder, agent);
        made.map_err(|error| {
            let message = format!("{} cannot be written: {error}", folder.display());
            Failure::new(Code::AofTaskTreeUnavailable, message)
        })
    }

    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// Says whether a claim may have been carried out whose task nobody knows here.
    pub fn doubt(&self, is_in_doubt: bool) {
        self.is_in_doubt.set(is_in_doubt);
    }
}

impl Drop for ClaimIntent {
    fn drop(&mut self) {
        if !self.is_in_doubt.get() {
            // One that stays is asked for again, and gives a new claim.
            drop(fs::remove_file(&self.path));
        }
    }
}

fn begin(above: &Path, folder: &Path, agent: &str) -> std::io::Result<ClaimIntent> {
    fs::create_dir_all(folder)?;
    // Two workers that begin must not get the same one.
    let lock = File::open(folder)?;
    lock.lock()?;
    let left = left(above, folder, agent);
    let is_in_doubt = Cell::new(left.is_some());
    let (path, run_id) = left.unwrap_or_else(|| {
        let id = random_hex::<16>();
        (folder.join(format!("{id}.json")), format!("run_{id}"))
    });
    let mut known = Object::new();
    known.insert("agent".into(), agent.into());
    known.insert("runId".into(), run_id.as_str().into());
    known.insert("worker".into(), this_worker());
    let part = path.with_extension("part");
    fs::write(&part, pretty(&known))?;
    fs::rename(&part, &path)?;
    Ok(ClaimIntent { path, run_id, is_in_doubt })
}

/// The intent of a worker of this agent that does not run any more.
fn left(above: &Path, folder: &Path, agent: &str) -> Option<(PathBuf, String)> {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let Some(known) = read(&path) else { continue };
        let text = |name: &str| known.get(name).and_then(Value::as_str);
        if text("agent") != Some(agent) || known.get("worker").is_none_or(runs) {
            continue;
        }
        let Some(run_id) = text("runId") else { continue };
        if above.join(folder_of(run_id)).is_dir() {
            drop(fs::remove_file(&path));
        } else {
            return Some((path, run_id.to_owned()));
        }
    }
    None
}

fn read(path: &Path) -> Option<Object> {
    match accord_canon::read(&fs::read(path).ok()?).ok()? {
        Value::Object(document) => Some(document),
        _ => None,
    }
}

/// The name of the folder of a run.
pub(super) fn folder_of(run_id: &str) -> String {
    let mut name = sha256(run_id.as_bytes()).hex();
    name.truncate(32);
    name
}

/// What names this process in a file.
pub(super) fn this_worker() -> Value {
    let pid = std::process::id();
    serde_json::json!({"pid": pid, "startedMs": process_start(pid.into())})
}

/// Whether the process that a file names still runs. Some systems do not say when one started.
pub(super) fn runs(worker: &Value) -> bool {
    let pid = worker.get("pid").and_then(Value::as_u64);
    let started = worker.get("startedMs").and_then(Value::as_i64).unwrap_or_default();
    pid.is_some_and(|pid| still_runs(pid, started))
}
