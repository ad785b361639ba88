//! `copy.json`: which turns are guarded, and what judges them.
//!
//! The document has configuration and state as texts, and digests of the records, whose copies are
//! files beside it. It is replaced as a whole, so that it always describes one moment.

use std::collections::BTreeMap;

use accord_contract::{Object, Value};
use accord_runs_core::{Commit, Result, TurnId, Write, build};
use accord_trees::lock::{process_start, still_runs};
use accord_trees::{Content, Disk, Root, atomic, read_file};
use serde_json::json;

use super::digest::RecordDigest;
use super::files::{GuardedFile, RECORDS, remove_unless_file};
use crate::repository::{failure, limits};

pub(super) const COPY: &str = "copy.json";

/// The version of the document. Copies of another version are not used.
const VERSION: u64 = 1;

/// What judges the guarded turns.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Snapshot {
    pub(super) config: Vec<u8>,
    /// The bytes of the state.
    pub(super) state: Vec<u8>,
    /// The records, in the order of [`RECORDS`].
    pub(super) records: [RecordDigest; RECORDS.len()],
    /// Markers of the user's settings of git that name programs; `None` without git.
    pub(super) user_git: Option<BTreeMap<String, String>>,
}

/// A turn whose worker runs, or whose result is not judged yet.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct GuardedTurn {
    pub(super) attempt: u64,
    /// The process that waits for the worker; `None` once the worker has ended.
    pub(super) holder: Option<Holder>,
    /// Why its result is refused: the configuration changed while its worker ran.
    pub(super) config_changed: Option<String>,
}

/// A process that waits for a worker.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Holder {
    pub(super) pid: u64,
    started_ms: i64,
}

/// A commit that is about to happen, or has happened and is not copied yet.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct PendingCommit {
    transaction: String,
    /// The journal without the lengths, which are not known before the commit.
    journal: Object,
    pub(super) state: Option<String>,
    /// What is appended to each of [`RECORDS`].
    pub(super) appended: [String; RECORDS.len()],
}

/// The document as it was read.
#[derive(Clone, Debug, Default)]
pub(super) struct Document {
    /// Whether there is one, and it is as Accord writes it.
    pub(super) intact: bool,
    pub(super) turns: BTreeMap<TurnId, GuardedTurn>,
    /// `None` if the copies are incomplete or were changed.
    pub(super) snapshot: Option<Snapshot>,
    pub(super) pending: Option<PendingCommit>,
}

impl Holder {
    pub(super) fn own() -> Self {
        let pid = u64::from(std::process::id());
        Self { pid, started_ms: process_start(pid).unwrap_or(0) }
    }

    /// Whether it is another process than this one, and still runs.
    pub(super) fn is_other(&self) -> bool {
        self.pid != u64::from(std::process::id()) && still_runs(self.pid, self.started_ms)
    }
}

impl PendingCommit {
    pub(super) fn new(commit: &Commit) -> Self {
        let mut state = None;
        let mut appended: [String; RECORDS.len()] = Default::default();
        for write in &commit.writes {
            match write {
                Write::Replace { path, text } if *path == GuardedFile::State.path() => {
                    state = Some(text.clone());
                }
                Write::Append { record, line } => {
                    let path = record.path();
                    if let Some(place) = RECORDS.iter().position(|file| file.path() == path) {
                        appended[place] += &(Value::Object(line.clone()).to_string() + "\n");
                    }
                }
                _ => {}
            }
        }
        let journal = without_lengths(commit.journal.clone());
        Self { transaction: commit.transaction.to_string(), journal, state, appended }
    }

    pub(super) fn has_journal(&self, journal: &Object) -> bool {
        without_lengths(journal.clone()) == self.journal
    }

    fn document(&self) -> Object {
        build([
            ("transaction", self.transaction.as_str().into()),
            ("journal", self.journal.clone().into()),
            ("state", self.state.clone().into()),
            ("appended", self.appended.iter().cloned().map(Value::from).collect()),
        ])
    }

    fn read(value: &Value) -> Option<Self> {
        let appended = value.get("appended")?.as_array()?;
        let text = |at: usize| appended.get(at).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            transaction: value.get("transaction")?.as_str()?.to_owned(),
            journal: value.get("journal")?.as_object()?.clone(),
            state: value.get("state")?.as_str().map(str::to_owned),
            appended: [text(0)?, text(1)?, text(2)?],
        })
    }
}

impl Snapshot {
    pub(super) fn apply(&mut self, pending: &PendingCommit) {
        if let Some(state) = &pending.state {
            self.state = state.clone().into_bytes();
        }
        for (record, lines) in self.records.iter_mut().zip(&pending.appended) {
            if !lines.is_empty() {
                record.extend(lines.as_bytes());
            }
        }
    }
}

impl Document {
    /// Reads the document; an empty one if there is none, or something else in its place.
    pub(super) fn load(root: &Root) -> Result<Self> {
        let bytes = match read_file(root, COPY, limits::DOCUMENT * 4) {
            Err(error) if error.is_unreadable() => None,
            read => read.map_err(|error| failure(&error))?,
        };
        let document = bytes.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
        let document = document.filter(|document| document["version"] == VERSION);
        let Some(document) = document else { return Ok(Self::default()) };
        let listed = document["turns"].as_object();
        let turns = listed.into_iter().flatten();
        let turns = turns.filter_map(|(id, value)| Some((TurnId::parse(id)?, turn(value)?)));
        let mut read = Self {
            intact: false,
            turns: turns.collect(),
            snapshot: snapshot(root, &document),
            pending: PendingCommit::read(&document["pending"]),
        };
        read.intact = listed.is_some_and(|listed| listed.len() == read.turns.len())
            && (read.snapshot.is_some() || !read.is_active());
        Ok(read)
    }

    pub(super) fn store(&self, root: &Root) -> Result<()> {
        let turns =
            self.turns.iter().map(|(id, turn)| (id.to_string(), turn_document(turn).into()));
        let turns: Object = turns.collect();
        let mut document = build([("version", VERSION.into()), ("turns", turns.into())]);
        if let Some(snapshot) = &self.snapshot {
            let text = |bytes: &[u8]| Value::from(String::from_utf8_lossy(bytes).into_owned());
            document.insert("config".into(), text(&snapshot.config));
            document.insert("state".into(), text(&snapshot.state));
            let record = |(file, digest): (&GuardedFile, &RecordDigest)| {
                (file.copy_name().to_owned(), digest.document().into())
            };
            let records: Object = RECORDS.iter().zip(&snapshot.records).map(record).collect();
            document.insert("records".into(), records.into());
            document.insert("user_git".into(), json!(snapshot.user_git));
        }
        let pending = self.pending.as_ref().map(PendingCommit::document);
        document.insert("pending".into(), pending.into());
        let text = Value::Object(document).to_string();
        let stored = remove_unless_file(root, COPY)
            .and_then(|()| atomic::write(root, COPY, text.as_bytes()));
        stored.map_err(|error| failure(&error))
    }

    /// Whether a worker of a guarded turn may run: its turn is judged by the copies.
    pub(super) fn is_active(&self) -> bool {
        self.turns.values().any(|turn| turn.holder.is_some())
    }

    /// The turns that other processes wait for, with their processes.
    pub(super) fn held_by_others(&self) -> Vec<(TurnId, u64)> {
        let held = self.turns.iter().filter_map(|(id, turn)| {
            let holder = turn.holder.filter(Holder::is_other)?;
            Some((id.clone(), holder.pid))
        });
        held.collect()
    }
}

fn snapshot(root: &Root, document: &Value) -> Option<Snapshot> {
    let text = |name: &str| document[name].as_str().map(|text| text.as_bytes().to_vec());
    let record = |file: GuardedFile| {
        let copy = root.open(file.copy_name()).ok()?;
        let copy: Option<&dyn Content> = copy.as_deref().map(|copy| copy as _);
        RecordDigest::read(document["records"].get(file.copy_name()), copy)
    };
    let [history, ledger, events] = RECORDS;
    Some(Snapshot {
        config: text("config")?,
        state: text("state")?,
        records: [record(history)?, record(ledger)?, record(events)?],
        user_git: serde_json::from_value(document["user_git"].clone()).ok()?,
    })
}

fn turn(value: &Value) -> Option<GuardedTurn> {
    let holder = |value: &Value| {
        let started_ms = value.get("started_ms")?.as_i64()?;
        Some(Holder { pid: value.get("pid")?.as_u64()?, started_ms })
    };
    Some(GuardedTurn {
        attempt: value.get("attempt")?.as_u64()?,
        holder: holder(&value["holder"]),
        config_changed: value["config_changed"].as_str().map(str::to_owned),
    })
}

fn turn_document(turn: &GuardedTurn) -> Object {
    let holder = turn.holder.map(|holder| {
        build([("pid", holder.pid.into()), ("started_ms", holder.started_ms.into())])
    });
    build([
        ("attempt", turn.attempt.into()),
        ("holder", holder.into()),
        ("config_changed", turn.config_changed.clone().into()),
    ])
}

fn without_lengths(mut journal: Object) -> Object {
    if let Some(Value::Object(own)) = journal.get_mut("accord") {
        own.remove("lengths");
    }
    journal
}
