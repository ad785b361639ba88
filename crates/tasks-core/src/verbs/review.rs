//! Verbs of a person that end a review, or a task.

use accord_base::evidence::EvidenceDigest;
use accord_contract::Failure;
use serde_json::json;

use super::Subject;
use crate::route::Routed;
use crate::task::{LogEntry, TaskFile, with_entry};
use crate::yaml::Change;
use crate::{Status, evidence};

/// Ends a review: the task is done.
pub fn approve(
    subject: &Subject<'_>,
    note: Option<&str>,
    (digest, expect): (&EvidenceDigest, Option<&str>),
) -> Result<Routed, Failure> {
    subject.by.check_person("approve a task")?;
    if subject.task.status != Status::Review {
        return Err(subject.impossible(Status::Done));
    }
    evidence::check(digest, expect)?;
    let mut routed = subject.walk(&[Status::Done], Some(note.unwrap_or("approved")))?;
    record(&mut routed, subject, "approval", note, digest);
    Ok(routed)
}

/// Ends a task as done, from any status, by the moves that the table allows.
pub fn close(
    subject: &Subject<'_>,
    note: Option<&str>,
    (digest, expect): (&EvidenceDigest, Option<&str>),
) -> Result<Routed, Failure> {
    use Status::{Backlog, Blocked, Cancelled, Deadletter, Done, InProgress, Ready, Review};
    subject.by.check_person("close a task")?;
    subject.check_open()?;
    evidence::check(digest, expect)?;
    let path: &[Status] = match subject.task.status {
        Backlog | Blocked | Deadletter => &[Ready, InProgress, Review, Done],
        Ready => &[InProgress, Review, Done],
        InProgress => &[Review, Done],
        Review | Done | Cancelled => &[Done],
    };
    let mut routed = subject.walk(path, Some(note.unwrap_or("closed")))?;
    // The steps in between last no time: people are notified about the end alone.
    routed.notices.retain(|notice| notice.status == Done);
    routed.changes.push(Change::remove(&["metadata", "blockReason"]));
    record(&mut routed, subject, "approval", note, digest);
    Ok(routed)
}

/// Ends a review: the task is ready again. It passes through progress, where it has a lease; the
/// next agent that claims it reads why it was sent back.
pub fn send_back(
    subject: &Subject<'_>,
    file: &TaskFile,
    reason: &str,
    (digest, expect): (&EvidenceDigest, Option<&str>),
) -> Result<Routed, Failure> {
    subject.by.check_person("send a task back")?;
    if subject.task.status != Status::Review {
        return Err(subject.impossible(Status::Ready));
    }
    evidence::check(digest, expect)?;
    let mut routed = subject.walk(&[Status::InProgress, Status::Ready], Some(reason))?;
    record(&mut routed, subject, "sentBack", Some(reason), digest);
    let notes = format!("Sent back by {}: {reason}", subject.by.name());
    let entry = LogEntry { notes: Some(&notes), ..LogEntry::default() };
    routed.body = with_entry(file.body(), &entry, subject.now);
    Ok(routed)
}

/// Records who decided, when, how and about what: in the metadata, and in the last move's event.
fn record(
    routed: &mut Routed,
    subject: &Subject<'_>,
    name: &str,
    note: Option<&str>,
    digest: &EvidenceDigest,
) {
    let (by, door) = (subject.by.name(), subject.by.door.as_str());
    let mut decision = json!({
        "by": by,
        "door": door,
        "at": subject.now.to_string(),
        "evidence": digest.as_str(),
    });
    let presence = subject.by.presence.recorded();
    if let Some(members) = decision.as_object_mut() {
        members.extend(presence.map(|presence| ("presence".to_owned(), presence.into())));
        members.extend(note.map(|note| ("note".to_owned(), note.into())));
    }
    routed.changes.push(Change::set(&["metadata", name], decision));
    if let Some(event) = routed.events.pop() {
        let event = event.with("door", door).with("evidence", digest.as_str());
        routed.events.push(match presence {
            Some(presence) => event.with("presence", presence),
            None => event,
        });
    }
}
