//! The record of an answer that decides.

use accord_base::By;
use accord_base::decision::{Decided, DecisionId, DecisionProtocol, DecisionRecord};
use accord_contract::{Timestamp, Value};

use super::Content;
use super::action::ActFacts;
use super::ledger::LedgerRow;
use crate::SessionId;

const KIND: &str = "live.answer";

/// The id of the record of the answer that has a number in the ledger of a session.
pub(crate) fn id(session: &SessionId, number: u64) -> DecisionId {
    DecisionId::of(&[KIND, session.as_str(), &number.to_string()])
}

/// The record of an answer in the ledger. It is `None` unless a known person answers what waits for
/// one: the ask of a session, or a contract that only a person may answer.
///
/// The record keeps what the person was shown and which action they chose, because the session
/// ends. What was entered goes with the session; the record has a digest of it and of what was
/// shown.
pub(super) fn of_answer(facts: &ActFacts<'_>, row: &LedgerRow) -> Option<DecisionRecord> {
    let ActFacts { session, contract, sender, ask, content, at, .. } = *facts;
    let waits = session.head.is_asking || contract.contract().answers.by_person;
    let presence = sender.person.as_ref().ok().filter(|_| waits)?;
    let by = By::new(sender.actor.clone()?, sender.door?).present(presence.clone());
    let number = row.seq.to_string();
    let part = row.event_id.as_deref().unwrap_or(&number);
    let subject = format!("{}/{part}", session.id.as_str());
    let (kind, outcome) = (KIND, "answered");
    let id = id(&session.id, row.seq);
    let decided = Decided { protocol: DecisionProtocol::Live, kind, subject: &subject, outcome };
    let actions = contract.contract().actions.as_ref();
    let label = actions.zip(row.action()).and_then(|(actions, name)| actions.get(name));
    let entered = row.data.get("payload").unwrap_or(&Value::Null);
    Some(DecisionRecord {
        title: ask.map(|ask| ask.intent.clone()),
        shown: content.map(Content::question),
        action: row.action().map(str::to_owned),
        label: label.map(|entry| entry.label.clone()),
        evidence: content.map(|content| format!("sha256:{}", content.answered(entered))),
        asked_at: ask.map(|ask| Timestamp::emit(ask.since)),
        ..DecisionRecord::new(id, decided, &by, at.now)
    })
}
