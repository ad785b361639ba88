//! Packages, the log of their revisions, and what is counted and asked in them.
//!
//! Packages of a project have one order: by the instant of `created_at`, then by the number that
//! the store gave them. Neither ever changes, so a [`PackagePosition`] names the same place for
//! ever, whatever is added, moved or quarantined meanwhile.
//!
//! A package is in one of three rooms: it is open to every reader of the project; it is a
//! draft; or it is quarantined, and then no list, count, search or question shows it unless
//! it is asked for.

use accord_base::{ActorKey, ProjectId, SessionId};
use accord_contract::time::{Time, Timestamp};
use accord_memory_core::package::{PackageType, ReviewType, SearchTexts, Significance, Status};
use accord_memory_core::query::PackagePosition;
use accord_memory_core::{ContentHash, PackageId};

use crate::terms::for_index;
use crate::{Result, StoreError};

/// A package as it is kept.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PackageRow {
    /// The project that owns it.
    pub project_id: ProjectId,
    /// Its id, unique in the project.
    pub package_id: PackageId,
    /// Its number in the store, which grows with every deposit; the store gives it.
    pub seq: u64,
    /// When it says that it was made.
    pub created_at: Timestamp,
    /// Who made it.
    pub actor: ActorKey,
    /// In which session.
    pub session_id: Option<SessionId>,
    /// What kind of package it is.
    pub package_type: PackageType,
    /// How much it matters.
    pub significance: Significance,
    /// When it was deposited here.
    pub deposited_at: Timestamp,
    /// The hash with which it was deposited.
    pub deposited_hash: ContentHash,
    /// Why it is not shown, where something is wrong with it.
    pub quarantine: Option<Quarantine>,
    /// What of it moves.
    pub state: PackageState,
}

/// What of a package moves after its deposit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PackageState {
    /// The number of its latest revision.
    pub revision: u64,
    /// Where it stands.
    pub status: Status,
    /// Who reviews it.
    pub review_type: ReviewType,
    /// The hash of the text.
    pub content_hash: ContentHash,
    /// The package, exactly as it is served.
    pub text: String,
}

/// Why and since when a package is not shown.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Quarantine {
    /// Since when.
    pub at: Timestamp,
    /// Why, for the operator.
    pub reason: String,
}

/// What can be found of a package besides the package itself: made before the transaction begins,
/// because nothing in it depends on what is stored. It never changes.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PackageIndex {
    terms: [String; PARTS],
    open_questions: Vec<String>,
}

/// The parts of a package that weigh differently: title, decisions, questions, handoff note, and
/// everything else.
pub const PARTS: usize = 5;

/// The most packages that are named for a question.
pub const MAX_SOURCES: usize = 10;

/// One state that a package was in.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RevisionRow {
    /// Its place in the log of its package, from 1.
    pub seq: u64,
    /// The revision as a JSON document.
    pub text: String,
}

/// Which way a list runs.
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
    /// Everybody's.
    #[default]
    All,
    /// Those of one actor.
    Of(&'a ActorKey),
    /// Nobody's.
    None,
}

/// Whether quarantined packages are shown.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Quarantined {
    /// They are left out.
    #[default]
    No,
    /// They are among the others.
    Also,
    /// They alone are shown.
    Only,
}

/// Which packages of a project, and how many.
#[derive(Clone, Copy, Debug, Default)]
pub struct PackageQuery<'a> {
    /// Only those that stand there.
    pub status: Option<Status>,
    /// Only those of a session.
    pub session: Option<&'a SessionId>,
    /// Whose drafts.
    pub drafts: Drafts<'a>,
    /// Whether quarantined ones are among them.
    pub quarantined: Quarantined,
    /// Only those made at that instant or later.
    pub since: Option<Time>,
    /// Only those behind that place, in the order of the list.
    pub after: Option<PackagePosition>,
    /// Which way the list runs.
    pub order: Order,
    /// At most so many.
    pub limit: usize,
}

/// How many packages are alike.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Tally {
    /// What kind of package they are.
    pub package_type: PackageType,
    /// Who made them.
    pub actor: ActorKey,
    /// Where they stand.
    pub status: Status,
    /// How many there are.
    pub packages: u64,
}

/// Which open questions of a project, and how many.
#[derive(Clone, Copy, Debug, Default)]
pub struct QuestionQuery<'a> {
    /// Only those of packages made at that instant or later.
    pub since: Option<Time>,
    /// Whose drafts ask, too.
    pub drafts: Drafts<'a>,
    /// At most so many questions.
    pub limit: usize,
    /// At most so many packages that ask each, and no more than [`MAX_SOURCES`].
    pub sources: usize,
}

/// A question that packages leave open.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct QuestionRow {
    /// The question.
    pub text: String,
    /// The packages that ask it, newest first.
    pub sources: Vec<PackageId>,
}

/// Reads packages.
pub trait Packages {
    /// The package of an id in a project, quarantined or not.
    fn package(&self, project: &ProjectId, package: &PackageId) -> Result<Option<PackageRow>>;

    /// The packages of an id in all projects, in the order of the projects' ids.
    fn packages_named(&self, package: &PackageId) -> Result<Vec<PackageRow>>;

    /// A page of packages. What it costs depends on its length, not on how many there are.
    fn packages(&self, project: &ProjectId, query: &PackageQuery<'_>) -> Result<Vec<PackageRow>>;

    /// The ids of the packages that were made in a session and are not quarantined, oldest first.
    fn packages_of_session(
        &self,
        project: &ProjectId,
        session: &SessionId,
    ) -> Result<Vec<PackageId>>;

    /// The log of a package, oldest first; empty where there is no such package.
    fn revisions(&self, project: &ProjectId, package: &PackageId) -> Result<Vec<RevisionRow>>;

    /// How many packages there are, drafts among them, by type, actor and status, in that order;
    /// with `since`, only those made at that instant or later.
    fn tallies(&self, project: &ProjectId, since: Option<Time>) -> Result<Vec<Tally>>;

    /// How many packages stand at a status.
    fn package_count(&self, project: &ProjectId, status: Status) -> Result<u64>;

    /// The packages that matter most among those made at `since` or later, and of equal ones the
    /// newest first; no drafts.
    fn highlights(
        &self,
        project: &ProjectId,
        since: Option<Time>,
        limit: usize,
    ) -> Result<Vec<PackageRow>>;

    /// The open questions, each once. Those that the newest package asks come first, and those of
    /// one package in its own order. What it costs depends on how many are given, not on how many
    /// packages ask.
    fn open_questions(
        &self,
        project: &ProjectId,
        query: &QuestionQuery<'_>,
    ) -> Result<Vec<QuestionRow>>;

    /// How many open questions there are in packages that are no drafts.
    fn open_question_count(&self, project: &ProjectId, since: Option<Time>) -> Result<u64>;
}

/// Writes packages.
pub trait PackageWrites {
    /// Adds a package with the first entries of its log, and gives the number that it got; the one
    /// in `row` counts for nothing.
    ///
    /// # Errors
    /// With a conflict when there is one of that id in the project, or no such project.
    fn insert_package(
        &mut self,
        row: &PackageRow,
        index: &PackageIndex,
        log: &[RevisionRow],
    ) -> Result<u64>;

    /// Moves a package: what moves is replaced, and the revisions that led there are added to the
    /// log.
    ///
    /// # Errors
    /// With a conflict when there is no such package, or the revisions do not count from its latest
    /// to that of the state.
    fn move_package(
        &mut self,
        project: &ProjectId,
        package: &PackageId,
        state: &PackageState,
        revisions: &[RevisionRow],
    ) -> Result<()>;

    /// Quarantines a package, or lets it out again.
    ///
    /// # Errors
    /// With a conflict when there is no such package.
    fn quarantine_package(
        &mut self,
        project: &ProjectId,
        package: &PackageId,
        quarantine: Option<&Quarantine>,
    ) -> Result<()>;

    /// Replaces what can be found of a package: the index is made again from the record.
    ///
    /// # Errors
    /// With a conflict when there is no such package.
    fn reindex_package(
        &mut self,
        project: &ProjectId,
        package: &PackageId,
        index: &PackageIndex,
    ) -> Result<()>;
}

impl PackageRow {
    /// Refuses a log that does not count from 1 to the package's latest revision.
    ///
    /// # Errors
    /// With a conflict.
    pub fn check_log(&self, log: &[RevisionRow]) -> Result<()> {
        counts(log, 0, self.state.revision)
    }

    /// Refuses revisions that do not count from the package's latest to that of `state`.
    ///
    /// # Errors
    /// With a conflict.
    pub fn check_move(&self, state: &PackageState, revisions: &[RevisionRow]) -> Result<()> {
        counts(revisions, self.state.revision, state.revision)
    }

    /// Its place in the order of the project's packages.
    pub fn position(&self) -> PackagePosition {
        PackagePosition {
            created_at: self.created_at.time(),
            seq: self.seq,
        }
    }

    /// Whether a reader to whom these drafts are shown sees it.
    pub fn is_shown(&self, drafts: Drafts<'_>) -> bool {
        self.state.status != Status::Draft || drafts.include(&self.actor)
    }
}

impl Drafts<'_> {
    /// Whether the drafts of an actor are among them.
    pub fn include(&self, actor: &ActorKey) -> bool {
        match self {
            Self::All => true,
            Self::Of(shown) => *shown == actor,
            Self::None => false,
        }
    }
}

impl PackageIndex {
    /// What can be found of a package that has these texts and questions.
    pub fn new(texts: &SearchTexts, open_questions: &[String]) -> Self {
        let parts = [
            &texts.title,
            &texts.decisions,
            &texts.questions,
            &texts.handoff,
            &texts.body,
        ];
        Self::of_parts(parts.map(String::as_str), open_questions)
    }

    /// What can be found of a package that has these parts and questions. Space around a question
    /// makes no difference.
    pub fn of_parts(parts: [&str; PARTS], open_questions: &[String]) -> Self {
        let terms = parts.map(|part| {
            let mut terms = String::with_capacity(part.len() + part.len() / 4);
            for_index(part, |term| {
                terms.push_str(term);
                terms.push(' ');
            });
            terms
        });
        let questions = open_questions
            .iter()
            .map(|question| question.trim().to_owned());
        Self {
            terms,
            open_questions: questions.filter(|question| !question.is_empty()).collect(),
        }
    }

    /// The terms of each part, in order and as often as they stand there, with a space behind each.
    pub fn terms(&self) -> &[String; PARTS] {
        &self.terms
    }

    /// The questions that it leaves open, in its own order.
    pub fn open_questions(&self) -> &[String] {
        &self.open_questions
    }
}

fn counts(log: &[RevisionRow], from: u64, to: u64) -> Result<()> {
    let counts = log.iter().map(|entry| entry.seq).eq(from + 1..=to);
    if counts && !log.is_empty() {
        return Ok(());
    }
    Err(StoreError::conflict("log", "does not count"))
}
