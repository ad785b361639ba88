//! The record of a review that a person ended.

use accord_base::By;
use accord_base::decision::{Decided, DecisionId, DecisionProtocol, DecisionRecord};
use accord_contract::Time;

use super::{Change, Move, Revision};
use crate::Package;
use crate::package::Status;

/// The record of a change of `package` by somebody. It is `None` unless a person ends a review: an
/// agent may review, too, and that is no decision of a person. `log` has the revisions so far, and
/// its last is the one that the person decided about.
pub fn decision(
    id: DecisionId,
    package: &Package,
    log: &[Revision],
    asked: &Move,
    by: &By,
    now: Time,
) -> Option<DecisionRecord> {
    let Change::Review(status) = asked.change else { return None };
    let last = log.last().filter(|_| by.is_person())?;
    let outcome = match status {
        Status::Complete => "approved",
        _ => status.as_str(),
    };
    let (kind, subject) = ("package.review", package.package_id().as_str());
    let decided = Decided { protocol: DecisionProtocol::Memory, kind, subject, outcome };
    let waiting = log.iter().rev().take_while(|entry| entry.status == Status::AwaitingReview);
    Some(DecisionRecord {
        title: Some(package.fields().title.as_str().to_owned()),
        evidence: Some(last.content_hash.to_string()),
        note: asked.note.clone(),
        asked_at: waiting.last().map(|entry| entry.at.clone()),
        ..DecisionRecord::new(id, decided, by, now)
    })
}
