//! Records of decisions, of all protocols.
//!
//! Invariants:
//! - a record never changes, and only the removal of its project deletes it: it outlasts the
//!   events, sessions and packages that it is about;
//! - a second record of the same id is not stored.

use accord_base::ProjectId;
use accord_base::decision::{DecisionId, DecisionPosition, DecisionProtocol, DecisionRecord};
use accord_contract::{Time, Timestamp, Wire as _};

use crate::{Result, WriteUnit};

/// The row of a decision.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DecisionRow {
    /// The project that owns it.
    pub project_id: ProjectId,
    /// Its id, unique in the project.
    pub decision_id: DecisionId,
    /// Its number, which the store assigns and which grows with every decision.
    pub seq: u64,
    /// The protocol of what was decided.
    pub protocol: DecisionProtocol,
    /// What kind of decision it is.
    pub kind: String,
    /// What was decided.
    pub subject: String,
    /// Who decided.
    pub actor: String,
    /// When it was decided.
    pub decided_at: Timestamp,
    /// The record as a JSON document.
    pub text: String,
}

/// Which decisions of a project, and how many.
#[derive(Clone, Copy, Debug, Default)]
pub struct DecisionQuery<'a> {
    /// Only those of a protocol.
    pub protocol: Option<DecisionProtocol>,
    /// Only those of a kind.
    pub kind: Option<&'a str>,
    /// Only those about this, or about a part of it: the text, or what begins with it and `/`.
    pub subject: Option<&'a str>,
    /// Only those of an actor.
    pub actor: Option<&'a str>,
    /// Only those after this position in the list.
    pub after: Option<DecisionPosition>,
    /// The maximum number.
    pub limit: usize,
}

/// Reads decisions.
pub trait Decisions {
    /// The decision of an id in a project.
    fn decision(&self, project: &ProjectId, id: &DecisionId) -> Result<Option<DecisionRow>>;

    /// A page of decisions, the newest first.
    fn decisions(&self, project: &ProjectId, query: &DecisionQuery<'_>)
    -> Result<Vec<DecisionRow>>;
}

/// Writes decisions.
pub trait DecisionWrites {
    /// Adds a decision. Returns its number; the one in `row` is ignored. Returns `None` when the
    /// project has a decision of that id. It is a conflict when the project does not exist.
    fn insert_decision(&mut self, row: &DecisionRow) -> Result<Option<u64>>;
}

impl DecisionRow {
    /// The row of a record, without a number.
    pub fn new(project: &ProjectId, record: &DecisionRecord) -> Self {
        Self {
            project_id: project.clone(),
            decision_id: record.decision_id.clone(),
            seq: 0,
            protocol: record.protocol,
            kind: record.kind.clone(),
            subject: record.subject.clone(),
            actor: record.actor.clone(),
            decided_at: record.decided_at.clone(),
            text: record.encode().to_string(),
        }
    }

    /// Its position in the order of the project's decisions.
    pub fn position(&self) -> DecisionPosition {
        DecisionPosition { decided_at: self.decided_at.time(), seq: self.seq }
    }
}

impl DecisionQuery<'_> {
    /// Whether a decision is about what is asked for, or about a part of it.
    pub(crate) fn is_about(&self, subject: &str) -> bool {
        self.subject.is_none_or(|asked| {
            let part = subject.strip_prefix(asked);
            part.is_some_and(|part| part.is_empty() || part.starts_with('/'))
        })
    }
}

/// Stores the record of a decision and its event, in the transaction of what was decided. Returns
/// whether it is new: a record of the same id is not stored again.
pub fn record_decision(
    unit: &mut dyn WriteUnit,
    project: &ProjectId,
    record: &DecisionRecord,
    now: Time,
) -> Result<bool> {
    if unit.insert_decision(&DecisionRow::new(project, record))?.is_none() {
        return Ok(false);
    }
    unit.append_event(project, &(&record.event(project, now)).into())?;
    Ok(true)
}
