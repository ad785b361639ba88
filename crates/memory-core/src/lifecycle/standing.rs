//! From when a package asks, and from when it answers and supersedes: read from its log.
//!
//! Two clocks are compared, that of the author (`created_at`) and that of the server (the log),
//! because either may be wrong. A question counts as asked at the earlier of the two, an answer as
//! given at the later. So a question is only open again when it was asked after its answer by both
//! clocks. Both are part of an export, so the order of an import does not matter.

use std::borrow::Cow;

use accord_contract::{Time, Timestamp};
use serde::Deserialize;

use crate::package::Status;
use crate::{ActorType, PackageId};

/// From when a package asks, answers and supersedes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Standing {
    pub asked_at: Time,
    /// Up to when it answers questions; `None` while it is not complete. Only a complete package
    /// answers or supersedes.
    pub answers_until: Option<Time>,
    /// Whether it may supersede the package of a person: a person wrote it, or the review of a
    /// person completed it.
    pub outranks_people: bool,
}

/// The members of a log entry that matter here. A damaged entry counts as absent, because a
/// verification reports it.
#[derive(Deserialize)]
struct Entry<'t> {
    #[serde(borrow)]
    status: Cow<'t, str>,
    #[serde(borrow)]
    at: Cow<'t, str>,
    #[serde(borrow)]
    actor: Option<EntryActor<'t>>,
}

#[derive(Deserialize)]
struct EntryActor<'t> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'t, str>,
}

/// A package that may supersede another, or be superseded.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    pub package_id: &'a PackageId,
    pub created_at: Time,
    pub author: ActorType,
    /// Its standing; `None` while it is quarantined.
    pub standing: Option<Standing>,
}

impl Side<'_> {
    /// Whether this package, which names `target` in `x-supersedes`, supersedes it. `mutual` says
    /// whether `target` names this package as well.
    ///
    /// It does when it is complete. The package of a person is only superseded by a person, or
    /// after the review of one. Of two packages that name each other, the later one supersedes.
    pub fn supersedes(&self, target: &Self, mutual: bool) -> bool {
        let order = |side: &Self| (side.created_at, side.package_id.as_str().to_owned());
        let is_earlier = order(self) < order(target);
        self.may_supersede(target) && !(mutual && is_earlier && target.may_supersede(self))
    }

    fn may_supersede(&self, target: &Self) -> bool {
        self.standing.is_some_and(|standing| {
            standing.answers_until.is_some()
                && (standing.outranks_people || target.author != ActorType::Human)
        })
    }
}

impl Standing {
    /// The standing of a package with this author and status, and the texts of its log.
    pub fn of<'t>(
        created_at: Time,
        author: ActorType,
        status: Status,
        log: impl IntoIterator<Item = &'t str>,
    ) -> Self {
        let mut asked_at = created_at;
        let mut completed_at = created_at;
        let mut reviewed_by_person = false;
        let mut before: Option<Entry<'t>> = None;
        for text in log {
            let Ok(entry) = serde_json::from_str::<Entry<'t>>(text) else { continue };
            if let Ok(at) = Timestamp::parse(&entry.at) {
                if before.is_none() {
                    asked_at = asked_at.min(at.time());
                }
                completed_at = completed_at.max(at.time());
            }
            let was_in_review =
                before.is_some_and(|before| before.status == Status::AwaitingReview.as_str());
            reviewed_by_person = was_in_review
                && entry.status == Status::Complete.as_str()
                && (entry.actor.as_ref())
                    .is_some_and(|actor| actor.kind == ActorType::Human.as_str());
            before = Some(entry);
        }
        Self {
            asked_at,
            // Nothing leaves `complete`, so the last entry completed it.
            answers_until: (status == Status::Complete).then_some(completed_at),
            outranks_people: author == ActorType::Human || reviewed_by_person,
        }
    }
}
