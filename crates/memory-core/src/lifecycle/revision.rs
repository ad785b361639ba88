//! The revision log: all states of a package.

use accord_contract::{Code, Failure, Object, Time, Timestamp, message};

use super::Move;
use crate::package::{ReviewType, Status};
use crate::{Actor, ContentHash, Package, refuse};

message! {
    /// One state of a package.
    pub struct Revision("Revision", open) {
        /// Its number in the log of its package, from 1.
        required seq: u64 = "seq", "sequence";
        /// The status.
        required status: Status = "status", "package-status";
        /// The kind of reviewer.
        required review_type: ReviewType = "review_type", "review-type";
        /// The hash of the package in this state.
        required content_hash: ContentHash = "content_hash", "content-hash";
        /// Who made the change, if known.
        required_or_null actor: Actor = "actor", "actor";
        /// Their note.
        required_or_null note: String = "note", "text-for-people";
        /// When.
        required at: Timestamp = "at", "time:rfc-3339-utc";
    }
}

impl Revision {
    /// The first entry: the state in which a package was deposited.
    pub fn deposited(package: &Package, actor: Option<Actor>, at: Time) -> Self {
        Self::entry(1, package, actor, at)
    }

    /// The first entry for a package without a log: a deposit by its author at `created_at`.
    pub fn imported(package: &Package) -> Self {
        let fields = package.fields();
        let (author, at) = (fields.created_by.clone(), fields.created_at.clone());
        // A time in an export keeps its notation, so that the next export has the same text.
        Self { at: at.clone(), ..Self::entry(1, package, Some(author), at.time()) }
    }

    pub(super) fn followed_by(&self, package: &Package, asked: &Move, at: Time) -> Self {
        let entry = Self::entry(self.seq + 1, package, asked.actor.clone(), at);
        Self { note: asked.note.clone(), ..entry }
    }

    fn entry(seq: u64, package: &Package, actor: Option<Actor>, at: Time) -> Self {
        Self {
            seq,
            status: package.status(),
            review_type: package.review_type(),
            content_hash: *package.content_hash(),
            actor,
            note: None,
            at: Timestamp::emit(at),
            extra: Object::new(),
        }
    }
}

/// Refuses a log that does not match `package`: its numbers have a gap, it has a transition that is
/// not allowed, or a hash that is not that of the package in that state. Fails with `hash_mismatch`
/// or `invalid_schema`, at the entry.
pub fn check_revisions(package: &Package, log: &[Revision]) -> Result<(), Failure> {
    for (index, entry) in log.iter().enumerate() {
        let pointer = format!("/{index}");
        if entry.seq != index as u64 + 1 {
            let message = format!("entry {} of the revisions has the seq {}", index + 1, entry.seq);
            return Err(refuse::schema(format!("{pointer}/seq"), message));
        }
        let before = index.checked_sub(1).map(|index| log[index].status);
        let allowed = before.is_none_or(|before| {
            // A flag or a note does not change the status.
            before.may_become(entry.status)
                || (before == entry.status && before == Status::AwaitingReview)
        });
        if !allowed {
            let message = format!("no package goes to {} from there", entry.status);
            return Err(refuse::schema(format!("{pointer}/status"), message));
        }
        // Only two members ever change, so every earlier text can be rebuilt and its hash compared.
        let state = package.in_state(entry.status, entry.review_type);
        if *state.content_hash() != entry.content_hash {
            let message = format!("in that state the content hash is {}", state.content_hash());
            let failure = Failure::new(Code::AgenticHashMismatch, message);
            return Err(failure.at(format!("{pointer}/content_hash")));
        }
    }
    let last = log.last().map(|entry| entry.content_hash);
    if last == Some(*package.content_hash()) {
        return Ok(());
    }
    let message = "the last revision is not the package as it is";
    Err(Failure::new(Code::AgenticHashMismatch, message).at(""))
}
