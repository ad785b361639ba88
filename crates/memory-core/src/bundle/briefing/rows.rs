//! The input of a briefing.

use accord_contract::{Time, Timestamp};

use super::part::Outline;
use super::shorten::{one_line, shorten};
use crate::package::PackageFields;
use crate::query::BriefingQuery;
use crate::{Fact, PackageId, Project, Session, ShortIds};

/// The input of a briefing.
#[derive(Clone, Debug)]
pub struct BriefingRows<'a> {
    pub project: &'a Project,
    /// Packages of which a reviewer wants changes, and those to which one added a note.
    pub asked: Counted<BriefingPackage<'a>>,
    /// Packages of any age that are more than a note, and that no other supersedes.
    pub standing: Counted<BriefingPackage<'a>>,
    /// The latest packages that hand work over, newest first. They may also be in other lists.
    pub handoffs: Vec<BriefingPackage<'a>>,
    pub reviews: Counted<BriefingPackage<'a>>,
    pub questions: Counted<BriefingQuestion<'a>>,
    /// The latest facts, newest first.
    pub facts: Counted<BriefingFact<'a>>,
    /// The sessions that have not ended and were active within [`ACTIVE_HOURS`].
    pub sessions: Counted<&'a Session>,
    /// How many other sessions have not ended.
    pub idle_sessions: u64,
    /// The other packages, newest first, and packages about the focus.
    pub work: Counted<BriefingPackage<'a>>,
    /// Packages that others of these lists extend or correct, and that are in none of them.
    pub parents: Vec<BriefingPackage<'a>>,
    /// The automatic deposits of low significance.
    pub automatic: Option<Automatic>,
    /// The ids of damaged rows, which are left out.
    pub damaged: &'a [String],
    /// The packages about the focus, best first.
    pub about: &'a [PackageId],
    /// How ids of packages are written in Markdown.
    pub short_ids: &'a ShortIds,
}

/// The first rows of a list, and how many it has.
#[derive(Clone, Debug)]
pub struct Counted<T> {
    pub rows: Vec<T>,
    /// The number of rows, including those that were not loaded.
    pub total: u64,
}

#[derive(Clone, Debug)]
pub struct BriefingPackage<'a> {
    pub fields: &'a PackageFields,
    pub superseded_by: Option<PackageId>,
    /// The note of its latest revision.
    pub note: Option<&'a ReviewNote>,
    pub outline: &'a Outline,
}

/// The words of a reviewer about a package.
#[derive(Clone, Debug)]
pub struct ReviewNote {
    /// Who wrote it, such as `human:lead`, if known.
    pub by: Option<String>,
    pub text: String,
}

#[derive(Clone, Debug)]
pub struct BriefingQuestion<'a> {
    pub text: &'a str,
    /// The newest package that asks it.
    pub package_id: &'a PackageId,
}

#[derive(Clone, Copy, Debug)]
pub struct BriefingFact<'a> {
    pub fact: &'a Fact,
    /// How often its value was recorded, itself included.
    pub versions: u64,
}

/// Automatic deposits, folded.
#[derive(Clone, Debug)]
pub struct Automatic {
    pub total: u64,
    pub newest: PackageId,
    pub newest_at: Timestamp,
}

/// What a briefing has besides its sections.
pub(super) struct Frame<'a> {
    pub(super) project: &'a Project,
    pub(super) short_id: String,
    pub(super) name: String,
    pub(super) description: String,
    /// Whether there is nothing to show but sessions.
    pub(super) is_empty: bool,
    pub(super) now: Time,
    pub(super) query: &'a BriefingQuery,
    pub(super) idle_sessions: u64,
    pub(super) automatic: Option<&'a Automatic>,
    pub(super) damaged: &'a [String],
    pub(super) short_ids: &'a ShortIds,
}

/// How long after its start, or after its last package, a session counts as active. Many clients
/// never end their sessions.
pub const ACTIVE_HOURS: u32 = 24;
/// The longest project id or name in a briefing, in characters.
const LONGEST_NAME: usize = 60;

impl<T> Counted<T> {
    /// Rows, and how many there are. Never fewer than were loaded.
    pub fn new(rows: Vec<T>, total: u64) -> Self {
        let total = total.max(rows.len() as u64);
        Self { rows, total }
    }

    /// How many were not loaded.
    pub(super) fn unloaded(&self) -> u64 {
        self.total - self.rows.len() as u64
    }
}

impl BriefingRows<'_> {
    fn is_empty(&self) -> bool {
        let asked = self.asked.total + self.reviews.total;
        let packages = self.standing.total + asked + self.work.total;
        packages + self.questions.total + self.facts.total == 0
            && self.handoffs.is_empty()
            && self.automatic.is_none()
    }

    pub(super) fn frame<'f>(&'f self, query: &'f BriefingQuery, now: Time) -> Frame<'f> {
        let words = (query.max_tokens as usize / 10).min(400);
        Frame {
            project: self.project,
            short_id: shorten(&one_line(self.project.project_id.as_str()), LONGEST_NAME),
            name: shorten(&one_line(self.project.name.as_str()), LONGEST_NAME),
            description: shorten(&one_line(&self.project.description), words),
            is_empty: self.is_empty(),
            now,
            query,
            idle_sessions: self.idle_sessions,
            automatic: self.automatic.as_ref(),
            damaged: self.damaged,
            short_ids: self.short_ids,
        }
    }
}
