//! A commit: every write of one operation, in order.
//!
//! The journal is written first. Once it is on disk, the commit counts as done and is replayed
//! after a crash. Every write is idempotent: an existing line or section is not written again, a
//! file is replaced by the same content, and a file to remove may be missing.

use accord_canon::sha256;
use accord_contract::text::pretty;
use accord_contract::{Object, Time, Value, wire_enum};

use crate::doc::{self, Member, Text};
use crate::{Change, HOME, Ids, State, TransactionId, TurnId, build};

wire_enum! {
    /// An append-only record with one JSON object per line.
    pub enum Record("GovernedRecord", closed) {
        History = "history.jsonl",
        Ledger = "decision-ledger.jsonl",
        Events = "events.jsonl",
        RunHistory = "run-history.jsonl",
        CoordinatorHistory = "multirepo/history.jsonl",
        CoordinatorLedger = "multirepo/decision-ledger.jsonl",
        BarrierLedger = "multirepo/barrier-ledger.jsonl",
    }

    pub enum CommitKind("CommitKind", closed) {
        /// Accepts a turn. Other runners can read the journal.
        Accept = "accept_turn",
        Change = "change",
        Coordinate = "coordinate",
    }
}

/// The kind that journals of earlier versions use for acceptances.
const OLD_ACCEPT: &str = "accept";

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Key {
    /// Lines with the same value of this member are duplicates.
    Member(&'static str),
    /// Only identical lines are duplicates.
    Whole,
}

/// A section is appended to a document that does not contain it yet.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    Append { record: Record, line: Object },
    Section { path: String, text: String },
    Replace { path: String, text: String },
    Remove { path: String },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Commit {
    /// The id of the commit. The journal is named after it.
    pub transaction: TransactionId,
    pub kind: CommitKind,
    pub journal: Object,
    /// The writes, in order. The state is last, so that it never refers to a missing record.
    pub writes: Vec<Write>,
}

impl CommitKind {
    /// The operation of a journal of any runner. A journal without a kind accepts a turn. `None`
    /// when the kind is unknown.
    pub fn of_journal(journal: &Object) -> Option<Self> {
        match doc::Journal::KIND.raw(journal) {
            None | Some(Value::Null) => Some(Self::Accept),
            Some(Value::String(kind)) if kind == OLD_ACCEPT => Some(Self::Accept),
            Some(kind) => Self::parse(kind.as_str()?),
        }
    }
}

impl Record {
    pub fn path(self) -> String {
        format!("{HOME}/{self}")
    }

    pub fn key(self) -> Key {
        match self {
            Self::History => Key::Member(doc::History::TURN_ID.name()),
            Self::Events => Key::Member(doc::Event::EVENT_ID.name()),
            // Ids of decisions repeat in later runs, and lines about the run itself have no id.
            _ => Key::Whole,
        }
    }

    pub fn same(self, line: &Object, other: &Object) -> bool {
        match self.key() {
            // Two lines that both lack the member are not duplicates.
            Key::Member(name) => line.contains_key(name) && line.get(name) == other.get(name),
            Key::Whole => line == other,
        }
    }
}

impl Commit {
    /// The commit of a change that accepts no turn. `before` is the state before the change.
    pub fn of_change(before: &State, change: &Change, ids: &mut Ids, now: Time) -> Self {
        Self::of_change_with(before, change, Vec::new(), ids, now)
    }

    /// Like [`Commit::of_change`], with `further` writes before those of the change.
    pub fn of_change_with(
        before: &State,
        change: &Change,
        further: Vec<Write>,
        ids: &mut Ids,
        now: Time,
    ) -> Self {
        let mut writes = further;
        writes.extend(change.ledger.iter().map(|line| append(Record::Ledger, line)));
        writes.extend(change.events.iter().map(|event| append(Record::Events, event.line())));
        writes.push(state_write(&change.state));
        let transaction = ids.transaction();
        let journal = build([
            doc::Journal::TRANSACTION_ID.to(transaction.as_str()),
            doc::Journal::KIND.to(CommitKind::Change.as_str()),
            doc::Journal::STATUS.to("prepared"),
            doc::Journal::RUN_ID.to(change.state.run_id()),
            doc::Journal::PREPARED_AT.to(now),
            // A change has no turn or sequence that recovery could look up in the state. The
            // digests tell whether it was applied.
            doc::Journal::STATE_BEFORE.to(fingerprint(before)),
            doc::Journal::STATE_AFTER.to(fingerprint(&change.state)),
            doc::Journal::ACCORD.to(own_part(&writes)),
        ]);
        Self { transaction, kind: CommitKind::Change, journal, writes }
    }

    /// A commit of a coordinator, with its states before and after.
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
        Self { transaction, kind: CommitKind::Coordinate, journal, writes }
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
        // The members from `history_entry` to `next_state` repeat the writes in the form of the
        // reference runner, so that it can recover this journal as well.
        let lines = |wanted: Record| -> Vec<Value> {
            let lines = writes.iter().filter_map(|write| match write {
                Write::Append { record, line } if *record == wanted => Some(line.clone().into()),
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
        Self { transaction, kind: CommitKind::Accept, journal, writes }
    }
}

impl Write {
    fn document(&self) -> Object {
        let file = |kind: Member<Text>, path: &String, text: &String| {
            build([kind.to(path.as_str()), doc::JournalWrite::TEXT.to(text.as_str())])
        };
        match self {
            Self::Append { record, line } => build([
                doc::JournalWrite::APPEND.to(record.as_str()),
                doc::JournalWrite::LINE.to(line.clone()),
            ]),
            Self::Section { path, text } => file(doc::JournalWrite::SECTION, path, text),
            Self::Replace { path, text } => file(doc::JournalWrite::REPLACE, path, text),
            Self::Remove { path } => build([doc::JournalWrite::REMOVE.to(path.as_str())]),
        }
    }

    pub(super) fn read(document: &Object) -> Option<Self> {
        let content = || doc::JournalWrite::TEXT.get(document).map(str::to_owned);
        let path = |member: Member<Text>| {
            // A journal may come from another runner. It must not write outside the repository.
            crate::RepoPath::parse(member.get(document)?).ok().map(|path| path.to_string())
        };
        if let Some(record) = doc::JournalWrite::APPEND.get(document) {
            return Some(Self::Append {
                record: Record::parse(record)?,
                line: doc::JournalWrite::LINE.raw(document)?.as_object()?.clone(),
            });
        }
        if let Some(path) = path(doc::JournalWrite::SECTION) {
            return Some(Self::Section { path, text: content()? });
        }
        if let Some(path) = path(doc::JournalWrite::REPLACE) {
            return Some(Self::Replace { path, text: content()? });
        }
        Some(Self::Remove { path: path(doc::JournalWrite::REMOVE)? })
    }
}

/// A digest of a state that does not depend on its formatting.
pub(super) fn fingerprint(state: &State) -> String {
    digest(state.document())
}

pub(crate) fn digest(document: Object) -> String {
    sha256(Value::Object(document).to_string().as_bytes()).hex()
}

pub(crate) fn append(record: Record, line: &Object) -> Write {
    Write::Append { record, line: line.clone() }
}

pub(super) fn state_path() -> String {
    format!("{HOME}/state.json")
}

pub(super) fn state_write(state: &State) -> Write {
    Write::Replace { path: state_path(), text: pretty(&state.document()) }
}

fn own_part(writes: &[Write]) -> Object {
    let writes: Vec<Value> = writes.iter().map(|write| write.document().into()).collect();
    build([doc::OwnJournal::WRITES.to(writes)])
}
