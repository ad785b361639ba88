//! Packages, their revision logs, their counts and their open questions.
//!
//! Packages of a project have one order: by the instant of `created_at`, then by the store's
//! number. Neither ever changes, so a [`PackagePosition`] stays valid when packages are added,
//! changed or quarantined.
//!
//! A package is visible to every reader of the project, or it is a draft, or it is quarantined. A
//! quarantined package is left out of lists, counts, searches and questions unless a query asks for
//! it.
//!
//! Packages answer questions and supersede packages ([`Links`]), from the moment that they are
//! complete, unless they are quarantined ([`Standing`]). A link may name a package that is stored
//! later: it works from then on. A question is open while a package asks it that no answer covers.

use std::collections::{BTreeMap, BTreeSet};

use accord_base::{ActorKey, ProjectId, SessionId};
use accord_contract::{Time, Timestamp};
use accord_memory_core::bundle::Outline;
use accord_memory_core::deposit::LinkTargets;
use accord_memory_core::lifecycle::Standing;
use accord_memory_core::package::{
    Links, PackageFields, PackageType, ReviewType, SearchTexts, Significance, Status,
};
use accord_memory_core::query::{PackagePosition, QuestionPosition};
use accord_memory_core::{ContentHash, PackageId};

use crate::terms::for_index;
use crate::{Result, StoreError};

/// The row of a package.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PackageRow {
    /// The project that owns it.
    pub project_id: ProjectId,
    /// Its id, unique in the project.
    pub package_id: PackageId,
    /// Its number, which the store assigns and which grows with every deposit.
    pub seq: u64,
    /// Its `created_at`.
    pub created_at: Timestamp,
    /// Its author.
    pub actor: ActorKey,
    /// Its session.
    pub session_id: Option<SessionId>,
    /// Its type.
    pub package_type: PackageType,
    /// Its significance.
    pub significance: Significance,
    /// What a briefing knows of it.
    pub outline: Outline,
    /// When it was deposited here.
    pub deposited_at: Timestamp,
    /// The hash with which it was deposited.
    pub deposited_hash: ContentHash,
    /// Why it is quarantined, if it is: it is damaged, or its work was rejected.
    pub quarantine: Option<Quarantine>,
    /// The part that changes after the deposit.
    pub state: PackageState,
}

/// The part of a package that changes after its deposit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PackageState {
    /// The number of its latest revision.
    pub revision: u64,
    /// Its status.
    pub status: Status,
    /// The kind of reviewer.
    pub review_type: ReviewType,
    /// Whether its latest revision has a note, such as that of a reviewer.
    pub has_note: bool,
    /// The hash of the text.
    pub content_hash: ContentHash,
    /// The package, exactly as it is served.
    pub text: String,
}

/// Why and since when a package is quarantined.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Quarantine {
    /// When it was quarantined.
    pub at: Timestamp,
    /// Why, for the operator.
    pub reason: String,
}

/// How the reason begins if the work was rejected in which the package was made.
const REJECTED: &str = "rejected: ";

impl Quarantine {
    /// A package of work that was rejected. It is sound, and stays readable by its id.
    pub fn rejected(at: Timestamp, work: &str) -> Self {
        Self { at, reason: format!("{REJECTED}{work}") }
    }

    /// Whether the package is sound, and its work was rejected.
    pub fn is_rejected(&self) -> bool {
        self.rejected_work().is_some()
    }

    /// The work that was rejected, if the package is sound.
    pub fn rejected_work(&self) -> Option<&str> {
        self.reason.strip_prefix(REJECTED)
    }
}

/// The search terms, open questions and links of a package, which depend on the package alone and
/// are computed before the transaction begins.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PackageIndex {
    terms: [String; PARTS],
    open_questions: Vec<IndexedQuestion>,
    links: Links,
}

/// An open question of a package.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct IndexedQuestion {
    /// Its index in the package, from 0.
    pub index: u32,
    /// The question, without surrounding white space.
    pub text: String,
}

/// The parts that are indexed one by one: title, decisions, questions, handoff note, and the rest.
pub const PARTS: usize = 5;

/// The most packages that are listed for a question, an answer, and a superseded package.
pub const MAX_SOURCES: usize = 10;

/// One state of a package.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RevisionRow {
    /// Its number in the log of its package, from 1.
    pub seq: u64,
    /// The revision as a JSON document.
    pub text: String,
}

/// The direction of a list.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Order {
    /// From the newest to the oldest.
    #[default]
    NewestFirst,
    /// From the oldest to the newest.
    OldestFirst,
}

/// Whose drafts are shown.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Drafts<'a> {
    /// Those of all actors.
    #[default]
    All,
    /// Those of one actor.
    Of(&'a ActorKey),
    /// None.
    None,
}

/// Whether quarantined packages are shown.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Quarantined {
    /// They are left out.
    #[default]
    No,
    /// They are included.
    Also,
    /// Only they are shown.
    Only,
}

/// Which packages of a project, and how many.
#[derive(Clone, Copy, Debug, Default)]
pub struct PackageQuery<'a> {
    /// Only those with this status.
    pub status: Option<Status>,
    /// Only those of a session.
    pub session: Option<&'a SessionId>,
    /// Whose drafts.
    pub drafts: Drafts<'a>,
    /// Whether quarantined ones are included.
    pub quarantined: Quarantined,
    /// Only those created at that instant or later.
    pub since: Option<Time>,
    /// Only those after this position in the list.
    pub after: Option<PackagePosition>,
    /// The direction of the list.
    pub order: Order,
    /// The maximum number.
    pub limit: usize,
}

/// A number of packages of the same type, actor and status.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Tally {
    /// Their type.
    pub package_type: PackageType,
    /// Their author.
    pub actor: ActorKey,
    /// Their status.
    pub status: Status,
    /// Their number.
    pub packages: u64,
}

/// Which questions of a project, and how many.
#[derive(Clone, Copy, Debug, Default)]
pub struct QuestionQuery<'a> {
    /// Only those of packages created at that instant or later.
    pub since: Option<Time>,
    /// Whose drafts are included.
    pub drafts: Drafts<'a>,
    /// Whether answered questions are included. Those of drafts are then left out.
    pub answered: bool,
    /// Only those after this position in the list.
    pub after: Option<QuestionPosition>,
    /// The maximum number of questions.
    pub limit: usize,
    /// The maximum number of packages per question, at most [`MAX_SOURCES`].
    pub sources: usize,
}

/// A question.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct QuestionRow {
    /// The question.
    pub text: String,
    /// The packages that ask it, newest first; of an open one, those that no answer covers.
    pub sources: Vec<PackageId>,
    /// Whether it is open.
    pub open: bool,
    /// The packages that answer it, the latest answer first. An open question has some when it was
    /// asked again after it had been answered.
    pub answers: Vec<PackageId>,
    /// Its position in the order of the project's questions.
    pub position: QuestionPosition,
}

/// Which packages of a project matter most, and how many.
#[derive(Clone, Copy, Debug, Default)]
pub struct HighlightQuery {
    /// Only those created at that instant or later.
    pub since: Option<Time>,
    /// Only those of at least this significance.
    pub least: Option<Significance>,
    /// Whether superseded ones are left out.
    pub standing: bool,
    /// The maximum number.
    pub limit: usize,
}

/// Reads packages.
pub trait Packages {
    /// The package of an id in a project, quarantined or not.
    fn package(&self, project: &ProjectId, package: &PackageId) -> Result<Option<PackageRow>>;

    /// The packages of an id in all projects, in the order of the projects' ids.
    fn packages_named(&self, package: &PackageId) -> Result<Vec<PackageRow>>;

    /// The ids of packages that begin with a text, in their order and that of the projects' ids;
    /// with `within`, only those of a project.
    fn package_ids(
        &self,
        prefix: &str,
        within: Option<&ProjectId>,
        limit: usize,
    ) -> Result<Vec<(ProjectId, PackageId)>>;

    /// A page of packages. The cost depends on its length, not on the number of packages.
    fn packages(&self, project: &ProjectId, query: &PackageQuery<'_>) -> Result<Vec<PackageRow>>;

    /// The ids of the packages of a session that are not quarantined, oldest first.
    fn packages_of_session(&self, of: &ProjectId, session: &SessionId) -> Result<Vec<PackageId>>;

    /// The log of a package, oldest first; empty if the package does not exist.
    fn revisions(&self, project: &ProjectId, package: &PackageId) -> Result<Vec<RevisionRow>>;

    /// Counts packages, drafts included, by type, actor and status, in that order; with `since`,
    /// only those created at that instant or later.
    fn tallies(&self, project: &ProjectId, since: Option<Time>) -> Result<Vec<Tally>>;

    /// The number of packages with a status.
    fn package_count(&self, project: &ProjectId, status: Status) -> Result<u64>;

    /// The most significant packages, without drafts. Of equal ones, the newest is first.
    fn highlights(&self, project: &ProjectId, query: &HighlightQuery) -> Result<Vec<PackageRow>>;

    /// The questions, each once. Those of the newest package come first, in the order of that
    /// package. The cost depends on the number of results, not on the number of packages.
    fn questions(&self, of: &ProjectId, query: &QuestionQuery<'_>) -> Result<Vec<QuestionRow>>;

    /// Those packages that are superseded, each with at most [`MAX_SOURCES`] newest that do it.
    fn superseded(
        &self,
        project: &ProjectId,
        packages: &mut dyn Iterator<Item = &PackageId>,
    ) -> Result<BTreeMap<PackageId, Vec<PackageId>>>;

    /// What links lead to, for a reader of these drafts. Nothing is said about other drafts.
    fn link_targets(&self, of: &ProjectId, links: &Links, with: Drafts<'_>) -> Result<LinkTargets>;

    /// The number of open questions, without those of drafts.
    fn open_question_count(&self, project: &ProjectId, since: Option<Time>) -> Result<u64>;
}

/// Writes packages. What must exist and does not, or must be new and is not, is a conflict.
pub trait PackageWrites {
    /// Adds a package of a new id with the first entries of its log. Returns the number that the
    /// store assigned; the one in `row` is ignored.
    fn insert_package(
        &mut self,
        row: &PackageRow,
        index: &PackageIndex,
        log: &[RevisionRow],
    ) -> Result<u64>;

    /// Replaces the state of a package, and appends the revisions that led to it, whose numbers
    /// continue its log up to that of the state.
    fn move_package(
        &mut self,
        project: &ProjectId,
        package: &PackageId,
        state: &PackageState,
        revisions: &[RevisionRow],
    ) -> Result<()>;

    /// Quarantines or releases a package.
    fn quarantine_package(
        &mut self,
        project: &ProjectId,
        package: &PackageId,
        quarantine: Option<&Quarantine>,
    ) -> Result<()>;

    /// Replaces the search terms, questions and links of a package, which must exist.
    fn reindex_package(
        &mut self,
        project: &ProjectId,
        package: &PackageId,
        index: &PackageIndex,
    ) -> Result<()>;

    /// Rewrites the columns of the package of a number, except its project and its text, and adds
    /// its derived data, of which there must be none ([`Repair`](crate::Repair)). Returns `false`
    /// when another package has the same id.
    fn put_package(&mut self, number: i64, row: &PackageRow, index: &PackageIndex) -> Result<bool>;

    /// Quarantines the package of a number, which need not be readable and has no derived data.
    fn set_aside(&mut self, number: i64, quarantine: &Quarantine) -> Result<()>;
}

impl PackageRow {
    /// From when it asks, answers and supersedes, with the texts of its log.
    pub fn standing<'t>(&self, log: impl IntoIterator<Item = &'t str>) -> Standing {
        Standing::of(self.created_at.time(), self.actor.kind, self.state.status, log)
    }

    /// Checks that the log has the numbers from 1 to the package's latest revision.
    pub fn check_log(&self, log: &[RevisionRow]) -> Result<()> {
        counts(log, 0, self.state.revision)
    }

    /// Checks that the revisions continue the log up to that of `state`.
    pub fn check_move(&self, state: &PackageState, revisions: &[RevisionRow]) -> Result<()> {
        counts(revisions, self.state.revision, state.revision)
    }

    /// Its position in the order of the project's packages.
    pub fn position(&self) -> PackagePosition {
        PackagePosition { created_at: self.created_at.time(), seq: self.seq }
    }

    /// Whether it is visible to a reader of these drafts.
    pub fn is_shown(&self, drafts: Drafts<'_>) -> bool {
        self.state.status != Status::Draft || drafts.include(&self.actor)
    }
}

impl Drafts<'_> {
    /// Whether the drafts of an actor are included.
    pub fn include(&self, actor: &ActorKey) -> bool {
        match self {
            Self::All => true,
            Self::Of(shown) => *shown == actor,
            Self::None => false,
        }
    }
}

impl PackageIndex {
    /// The index of a package.
    pub fn of(fields: &PackageFields) -> Self {
        let SearchTexts { title, decisions, questions, handoff, body, .. } = fields.searchable();
        let parts = [&title, &decisions, &questions, &handoff, &body];
        let parts = parts.map(String::as_str);
        Self::of_parts(parts, fields.open_questions()).linked(Links::of(fields))
    }

    /// The index of a package with these parts and questions, without white space around them.
    pub fn of_parts(parts: [&str; PARTS], open_questions: &[String]) -> Self {
        let terms = parts.map(|part| {
            let mut terms = String::with_capacity(part.len() + part.len() / 4);
            for_index(part, |term| {
                terms.push_str(term);
                terms.push(' ');
            });
            terms
        });
        let questions = (0..)
            .zip(open_questions)
            .map(|(index, question)| IndexedQuestion { index, text: question.trim().to_owned() });
        let open_questions = questions.filter(|question| !question.text.is_empty()).collect();
        Self { terms, open_questions, links: Links::default() }
    }

    /// The same index with these links.
    #[must_use]
    pub fn linked(self, links: Links) -> Self {
        Self { links, ..self }
    }

    /// The terms of each part, in order and with repetitions, each followed by a space.
    pub fn terms(&self) -> &[String; PARTS] {
        &self.terms
    }

    /// Its open questions, in its own order.
    pub fn open_questions(&self) -> &[IndexedQuestion] {
        &self.open_questions
    }

    /// Its open questions, each once, with the index of the first time.
    pub fn distinct_questions(&self) -> impl Iterator<Item = &IndexedQuestion> {
        let mut seen = BTreeSet::new();
        self.open_questions.iter().filter(move |question| seen.insert(question.text.as_str()))
    }

    /// What it answers and supersedes.
    pub fn links(&self) -> &Links {
        &self.links
    }
}

fn counts(log: &[RevisionRow], from: u64, to: u64) -> Result<()> {
    let counts = log.iter().map(|entry| entry.seq).eq(from + 1..=to);
    // An empty log continues any log, but every state needs an entry.
    if counts && !log.is_empty() {
        return Ok(());
    }
    Err(StoreError::conflict("log", "does not count"))
}
