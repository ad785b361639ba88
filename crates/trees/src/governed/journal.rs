//! Journals: what makes a commit one.
//!
//! A journal that is there says that its commit happened. It is written and made to last before
//! anything else is touched, and removed when everything is in place. Beside what other runners
//! read, ours says how long each file was that the commit adds to, so that whoever finishes it
//! looks at what came behind that and nothing else.

use std::collections::BTreeMap;

use accord_contract::wire::{Object, Value};
use accord_runs_core::TransactionId;
use accord_runs_core::accept::{Commit, CommitKind, Recovery, Write, recover};
use accord_runs_core::config::Config;
use accord_runs_core::coordinator;
use accord_runs_core::state::State;

use super::{Repository, files, obstacle};
use crate::disk::{self, Disk, parent};
use crate::{Kind, Result, TreeError, atomic, limits, record};

/// A journal that was left, or is being carried out now.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Waiting {
    /// Where it lies.
    pub path: String,
    /// What its commit does, as far as its folder tells.
    pub kind: CommitKind,
    /// Its commit.
    pub transaction: TransactionId,
}

/// How long files were before a commit.
pub(super) type Lengths = BTreeMap<String, u64>;

/// The member of our part of a journal that has the lengths.
const LENGTHS: &str = "lengths";

/// Makes sure that everything that a commit writes can be written, and gives the lengths of what
/// it adds to. Records are tidied on the way, so that lines begin where they end.
pub(super) fn survey(disk: &dyn Disk, writes: &[Write]) -> Result<Lengths> {
    obstacle::check(disk, writes)?;
    let mut lengths = Lengths::new();
    for write in writes {
        match write {
            Write::Append { record, .. } => {
                let path = record.path();
                let length = record::tidy(disk, &path)?;
                lengths.insert(path, length);
            }
            Write::Section { path, .. } => {
                let content = disk.open(path)?;
                let length = content.map_or(Ok(0), |content| content.length())?;
                lengths.insert(path.clone(), length);
            }
            Write::Replace { .. } => {}
            Write::Remove { path } => {
                disk.stat(path)?;
            }
        }
    }
    Ok(lengths)
}

/// Writes a commit's journal, for good: with this it has happened.
///
/// # Errors
/// When it could not be written, and is not there; or, as `Unfinished`, when it may be.
pub(super) fn write(disk: &dyn Disk, commit: &Commit, lengths: &Lengths) -> Result<String> {
    let path = format!(
        "{}/{}.json",
        files::journals(commit.kind),
        commit.transaction
    );
    let mut journal = commit.journal.clone();
    if let Some(Value::Object(own)) = journal.get_mut("accord") {
        let lengths: Object = lengths
            .iter()
            .map(|(path, length)| (path.clone(), (*length).into()))
            .collect();
        own.insert(LENGTHS.into(), lengths.into());
    }
    let written = atomic::write(disk, &path, pretty(&journal).as_bytes());
    let Err(error) = written else {
        return Ok(path);
    };
    let gone = match disk.stat(&path) {
        Ok(None) => true,
        _ => remove(disk, &path).is_ok(),
    };
    if gone {
        return Err(error);
    }
    Err(TreeError::Unfinished {
        journal: path,
        source: Box::new(error),
    })
}

/// Removes a journal, for good.
pub(super) fn remove(disk: &dyn Disk, path: &str) -> Result<()> {
    if disk.remove_file(path)? {
        disk.sync_folder(parent(path))?;
    }
    Ok(())
}

/// The journals that are there.
pub(super) fn waiting(disk: &dyn Disk) -> Result<Vec<Waiting>> {
    let mut found = Vec::new();
    for kind in [CommitKind::Accept, CommitKind::Change] {
        let folder = files::journals(kind);
        for entry in disk.list(&folder)?.unwrap_or_default() {
            let name = entry.name.strip_suffix(".json");
            let transaction = name.and_then(TransactionId::parse);
            if atomic::is_temporary(&entry.name) || entry.kind == Kind::Folder {
                continue;
            }
            if let Some(transaction) = transaction {
                found.push(Waiting {
                    path: format!("{folder}/{}", entry.name),
                    kind,
                    transaction,
                });
            }
        }
    }
    Ok(found)
}

/// Reads a journal; `None` where it is gone by now.
///
/// # Errors
/// With `record_invalid` when it is none.
pub(super) fn read(disk: &dyn Disk, path: &str) -> Result<Option<Object>> {
    let Some(bytes) = disk::read(disk, path, limits::DOCUMENT)? else {
        return Ok(None);
    };
    match accord_canon::read(&bytes) {
        Ok(Value::Object(journal)) => Ok(Some(journal)),
        Ok(_) => Err(damaged(path, "the journal is no JSON object".into())),
        Err(error) => Err(damaged(path, format!("the journal is no JSON: {error}"))),
    }
}

/// What is left to do for a journal, given the states on disk. Whoever finishes a commit and
/// whoever only looks at it read it here.
///
/// # Errors
/// As `Damaged`, with the journal's path, when it cannot be finished; or when a state cannot be
/// read.
pub(super) fn recovery(
    repository: &Repository,
    path: &str,
    journal: &Object,
) -> Result<(CommitKind, Recovery)> {
    let kind = CommitKind::of_journal(journal);
    let kind = kind.ok_or_else(|| damaged(path, "the journal's kind is not known".into()))?;
    let recovery = match kind {
        CommitKind::Coordinate => {
            coordinator::recover(journal, repository.coordinator_state()?.as_ref())
        }
        CommitKind::Accept | CommitKind::Change => recover(journal, &state_or_idle(repository)?),
    };
    let recovery = recovery.map_err(|failure| damaged(path, failure.message))?;
    Ok((kind, recovery))
}

/// The state; the first commit of a repository writes its first state.
fn state_or_idle(repository: &Repository) -> Result<State> {
    if let Some(state) = repository.state()? {
        return Ok(state);
    }
    let config = repository.config()?;
    let config = config.as_object().cloned().unwrap_or_default();
    Ok(State::idle(&Config::lenient(config)))
}

/// The lengths that a journal has; none in that of another runner.
pub(super) fn lengths(journal: &Object) -> Lengths {
    let lengths = journal.get("accord").and_then(|own| own.get(LENGTHS));
    let lengths = lengths.and_then(Value::as_object).into_iter().flatten();
    lengths
        .filter_map(|(path, length)| Some((path.clone(), length.as_u64()?)))
        .collect()
}

pub(super) fn damaged(path: &str, why: String) -> TreeError {
    TreeError::Damaged {
        path: path.to_owned(),
        line: None,
        why,
    }
}

/// A document as files have it.
pub(super) fn pretty(document: &Object) -> String {
    let text = serde_json::to_string_pretty(document).expect("an object of JSON values has a text");
    text + "\n"
}
