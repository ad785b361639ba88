//! One commit: everything that an operation writes, in the order in which it is written.
//!
//! The journal goes to disk first; from then on the commit has happened. Each write can be
//! carried out again: a line or section that is there already is left alone, a file is
//! replaced by the same content, what is to be removed may be gone.

use accord_canon::sha256;
use accord_contract::text::pretty;
use accord_contract::time::Time;
use accord_contract::wire::{Object, Value};
use accord_contract::wire_enum;

use crate::doc::{self, Member, Text};
use crate::members::build;
use crate::run::Change;
use crate::state::State;
use crate::{HOME, Ids, TransactionId, TurnId};

wire_enum! {
    /// An append-only record, one JSON object per line.
    pub enum Record("GovernedRecord", closed) {
        /// Accepted turns.
        History = "history.jsonl",
        /// Decisions.
        Ledger = "decision-ledger.jsonl",
        /// Events.
        Events = "events.jsonl",
        /// Runs that are over or blocked.
        RunHistory = "run-history.jsonl",
        /// What a coordinator did.
        CoordinatorHistory = "multirepo/history.jsonl",
        /// What a coordinator decided.
        CoordinatorLedger = "multirepo/decision-ledger.jsonl",
        /// How a coordinator's barriers moved.
        BarrierLedger = "multirepo/barrier-ledger.jsonl",
    }
}

wire_enum! {
    /// What a commit does.
    pub enum CommitKind("CommitKind", closed) {
        /// It accepts a turn; its journal is one that other runners understand.
        Accept = "accept_turn",
        /// Anything else about a run.
        Change = "change",
        /// It belongs to a coordinator.
        Coordinate = "coordinate",
    }
}

/// The kind of acceptances in journals of earlier versions.
const OLD_ACCEPT: &str = "accept";

/// How a duplicate line is recognized.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Key {
    /// A line with the same value under this name.
    Member(&'static str),
    /// The same line.
    Whole,
}

/// One write.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// A line for a record.
    Append {
        /// The record.
        record: Record,
        /// The line.
        line: Object,
    },
    /// A section for the end of a document, unless it is in it.
    Section {
        /// The document.
        path: String,
        /// The section.
        text: String,
    },
    /// The whole content of a file.
    Replace {
        /// The file.
        path: String,
        /// Its content.
        text: String,
    },
    /// A file, or a folder with all that is in it, that is no longer needed.
    Remove {
        /// It.
        path: String,
    },
}

/// Everything that an operation writes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Commit {
    /// Its id, and the name of its journal.
    pub transaction: TransactionId,
    /// What it does.
    pub kind: CommitKind,
    /// The journal.
    pub journal: Object,
    /// The writes, in order. The state is the last, so that it never refers to a missing record.
    pub writes: Vec<Write>,
}

impl CommitKind {
    /// What the commit of a journal does, of any runner: one without a kind
    /// accepts a turn. `None` when it does something that is not known here.
    pub fn of_journal(journal: &Object) -> Option<Self> {
        match doc::Journal::KIND.raw(journal) {
            None | Some(Value::Null) => Some(Self::Accept),
            Some(Value::String(kind)) if kind == OLD_ACCEPT => Some(Self::Accept),
            Some(kind) => Self::parse(kind.as_str()?),
        }
    }
}

impl Record {
    /// The path of the record.
    pub fn path(self) -> String {
        format!("{HOME}/{self}")
    }

    /// How a duplicate line of the record is recognized.
    pub fn key(self) -> Key {
        match self {
            Self::History => Key::Member(doc::History::TURN_ID.name()),
            Self::Events => Key::Member(doc::Event::EVENT_ID.name()),
            Self::Ledger
            | Self::RunHistory
            | Self::CoordinatorHistory
            | Self::CoordinatorLedger
            | Self::BarrierLedger => Key::Whole,
        }
    }

    /// Whether a line of the record says what another line says.
    pub fn same(self, line: &Object, other: &Object) -> bool {
        match self.key() {
            Key::Member(name) => line.contains_key(name) && line.get(name) == other.get(name),
            Key::Whole => line == other,
        }
    }
}

impl Commit {
    /// The commit of a change that accepts no turn; `before` is the state that it changes.
    pub fn of_change(before: &State, change: &Change, ids: &mut Ids, now: Time) -> Self {
        Self::of_change_with(before, change, Vec::new(), ids, now)
    }

    /// The same commit with `further` writes in front of those of the change.
    pub fn of_change_with(
        before: &State,
        change: &Change,
        further: Vec<Write>,
        ids: &mut Ids,
        now: Time,
    ) -> Self {
        let mut writes = further;
        for line in &change.ledger {
            writes.push(append(Record::Ledger, line));
        }
        for event in &change.events {
            writes.push(append(Record::Events, event.line()));
        }
        writes.push(state_write(&change.state));
        let transaction = ids.transaction();
        let journal = build([
            doc::Journal::TRANSACTION_ID.to(transaction.as_str()),
            doc::Journal::KIND.to(CommitKind::Change.as_str()),
            doc::Journal::STATUS.to("prepared"),
            doc::Journal::RUN_ID.to(change.state.run_id()),
            doc::Journal::PREPARED_AT.to(now),
            doc::Journal::STATE_BEFORE.to(fingerprint(before)),
            doc::Journal::STATE_AFTER.to(fingerprint(&change.state)),
            doc::Journal::ACCORD.to(own_part(&writes)),
        ]);
        Self {
            transaction,
            kind: CommitKind::Change,
            journal,
            writes,
        }
    }

    /// A commit of a coordinator: `before` and `after` tell its states apart.
    pub(crate) fn of_coordinator(
        super_run: &str,
        (before, after): (Option<String>, String),
        writes: Vec<Write>,
        ids: &mut Ids,
        now: Time,
    ) -> Self {
        let transaction = ids.transaction();
        let journal = build([
            doc::Journal::TRANSACTION_ID.to(transaction.as_str()),
            doc::Journal::KIND.to(CommitKind::Coordinate.as_str()),
            doc::Journal::STATUS.to("prepared"),
            doc::Journal::SUPER_RUN_ID.to(super_run),
            doc::Journal::PREPARED_AT.to(now),
            doc::Journal::STATE_BEFORE.to(before),
            doc::Journal::STATE_AFTER.to(after),
            doc::Journal::ACCORD.to(own_part(&writes)),
        ]);
        Self {
            transaction,
            kind: CommitKind::Coordinate,
            journal,
            writes,
        }
    }

    /// The commit that accepts a turn.
    ///
    /// Clauses: AX-HS-APPEND.
    pub(super) fn of_acceptance(
        turn: &TurnId,
        accepted_sequence: u64,
        state: &State,
        writes: Vec<Write>,
        ids: &mut Ids,
        now: Time,
    ) -> Self {
        let lines = |wanted: Record| -> Vec<Value> {
            let lines = writes.iter().filter_map(|write| match write {
                Write::Append { record, line } if *record == wanted => {
                    Some(Value::Object(line.clone()))
                }
                _ => None,
            });
            lines.collect()
        };
        let transaction = ids.transaction();
        let history = lines(Record::History).pop().unwrap_or(Value::Null);
        let journal = build([
            doc::Journal::TRANSACTION_ID.to(transaction.as_str()),
            doc::Journal::KIND.to(CommitKind::Accept.as_str()),
            doc::Journal::STATUS.to("prepared"),
            doc::Journal::RUN_ID.to(state.run_id()),
            doc::Journal::TURN_ID.to(turn.as_str()),
            doc::Journal::PREPARED_AT.to(now),
            doc::Journal::ACCEPTED_SEQUENCE.to(accepted_sequence),
            doc::Journal::HISTORY_ENTRY.to(history),
            doc::Journal::LEDGER_ENTRIES.to(lines(Record::Ledger)),
            doc::Journal::NEXT_STATE.to(state.document()),
            doc::Journal::ACCORD.to(own_part(&writes)),
        ]);
        Self {
            transaction,
            kind: CommitKind::Accept,
            journal,
            writes,
        }
    }
}

impl Write {
    /// The write as a journal has it.
    fn document(&self) -> Object {
        match self {
            Self::Append { record, line } => build([
                doc::JournalWrite::APPEND.to(record.as_str()),
                doc::JournalWrite::LINE.to(line.clone()),
            ]),
            Self::Section { path, text } => build([
                doc::JournalWrite::SECTION.to(path.as_str()),
                doc::JournalWrite::TEXT.to(text.as_str()),
            ]),
            Self::Replace { path, text } => build([
                doc::JournalWrite::REPLACE.to(path.as_str()),
                doc::JournalWrite::TEXT.to(text.as_str()),
            ]),
            Self::Remove { path } => build([doc::JournalWrite::REMOVE.to(path.as_str())]),
        }
    }

    /// Reads a write out of a journal.
    pub(super) fn read(document: &Object) -> Option<Self> {
        let content = || doc::JournalWrite::TEXT.get(document).map(str::to_owned);
        let path = |member: Member<Text>| {
            // A journal of any runner writes nothing outside the repository.
            crate::RepoPath::parse(member.get(document)?)
                .ok()
                .map(|path| path.to_string())
        };
        if let Some(record) = doc::JournalWrite::APPEND.get(document) {
            return Some(Self::Append {
                record: Record::parse(record)?,
                line: doc::JournalWrite::LINE.raw(document)?.as_object()?.clone(),
            });
        }
        if let Some(path) = path(doc::JournalWrite::SECTION) {
            return Some(Self::Section {
                path,
                text: content()?,
            });
        }
        if let Some(path) = path(doc::JournalWrite::REPLACE) {
            return Some(Self::Replace {
                path,
                text: content()?,
            });
        }
        Some(Self::Remove {
            path: path(doc::JournalWrite::REMOVE)?,
        })
    }
}

/// A digest of a state that does not depend on its spelling.
pub(super) fn fingerprint(state: &State) -> String {
    digest(state.document())
}

/// A digest of a document.
pub(crate) fn digest(document: Object) -> String {
    sha256(Value::Object(document).to_string().as_bytes()).hex()
}

pub(crate) fn append(record: Record, line: &Object) -> Write {
    Write::Append {
        record,
        line: line.clone(),
    }
}

/// The path of the state.
pub(super) fn state_path() -> String {
    format!("{HOME}/state.json")
}

pub(super) fn state_write(state: &State) -> Write {
    Write::Replace {
        path: state_path(),
        text: pretty(&state.document()),
    }
}

fn own_part(writes: &[Write]) -> Object {
    let writes: Vec<Value> = writes.iter().map(|write| write.document().into()).collect();
    build([doc::OwnJournal::WRITES.to(writes)])
}
