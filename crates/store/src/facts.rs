//! Facts and their chains. A chain is the facts of one subject and predicate. A chain is ordered by
//! the start of its facts, then by their numbers. An engine refuses a second fact without an end in
//! a chain. All other rules about chains are enforced by the services.

use accord_base::ProjectId;
use accord_contract::{Time, Timestamp};
use accord_memory_core::FactId;
use accord_memory_core::query::FactPosition;

use crate::Result;

/// The row of a fact.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FactRow {
    /// The project that owns it.
    pub project_id: ProjectId,
    /// Its id, unique in the project.
    pub fact_id: FactId,
    /// Its number, which the store assigns and which grows with every fact.
    pub seq: u64,
    /// What it is about.
    pub subject: String,
    /// Which property of it.
    pub predicate: String,
    /// The value.
    pub value: String,
    /// The start of its validity.
    pub valid_from: Timestamp,
    /// The end of its validity.
    pub valid_to: Option<Timestamp>,
    /// When it was recorded.
    pub created_at: Timestamp,
    /// The fact as a JSON document.
    pub text: String,
}

/// What a chain is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FactKey<'a> {
    /// The subject.
    pub subject: &'a str,
    /// The predicate.
    pub predicate: &'a str,
}

/// The neighbours of an instant in a chain, without facts that never held.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Neighbours {
    /// The last that begins at the instant or earlier.
    pub before: Option<FactRow>,
    /// The first that begins later.
    pub after: Option<FactRow>,
}

/// Which facts of a chain.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum When {
    /// The one without an end.
    #[default]
    Current,
    /// The one that holds at an instant.
    At(Time),
    /// All of them.
    Ever,
}

/// Which facts of a project, and how many.
#[derive(Clone, Copy, Debug, Default)]
pub struct FactQuery<'a> {
    /// Only those about a subject.
    pub subject: Option<&'a str>,
    /// Only those of a property.
    pub predicate: Option<&'a str>,
    /// Which of each chain.
    pub when: When,
    /// Only those after this position.
    pub after: Option<&'a FactPosition>,
    /// The maximum number.
    pub limit: usize,
}

impl<'a> FactQuery<'a> {
    /// A page of all facts, after a position.
    pub fn every(after: Option<&'a FactPosition>, limit: usize) -> Self {
        Self { when: When::Ever, after, limit, ..Self::default() }
    }
}

/// Reads facts.
pub trait Facts {
    /// The fact of an id in a project.
    fn fact(&self, project: &ProjectId, fact: &FactId) -> Result<Option<FactRow>>;

    /// The facts of an id in all projects, in the order of the projects' ids.
    fn facts_named(&self, fact: &FactId) -> Result<Vec<FactRow>>;

    /// The fact of a chain that has no end.
    fn current_fact(&self, project: &ProjectId, key: FactKey<'_>) -> Result<Option<FactRow>>;

    /// The neighbours of a time in a chain. The cost does not depend on the length of the chain.
    fn fact_neighbours(&self, of: &ProjectId, key: FactKey<'_>, at: Time) -> Result<Neighbours>;

    /// A page of facts, by subject, by predicate, then in the order of the chain.
    fn facts(&self, project: &ProjectId, query: &FactQuery<'_>) -> Result<Vec<FactRow>>;

    /// The number of facts of a chain, or `most` if it has more.
    fn fact_versions(&self, of: &ProjectId, key: FactKey<'_>, most: u64) -> Result<u64>;

    /// At most `limit` facts without an end, the latest start first.
    fn newest_facts(&self, project: &ProjectId, limit: usize) -> Result<Vec<FactRow>>;
}

/// Writes facts.
pub trait FactWrites {
    /// Adds a fact. Returns its number; the one in `row` is ignored. It is a conflict when the
    /// project has a fact of that id or does not exist, or another fact of the chain has no end.
    fn insert_fact(&mut self, row: &FactRow) -> Result<u64>;

    /// Sets the end and the document of a fact. It is a conflict when the fact does not exist.
    fn end_fact(&mut self, of: &ProjectId, id: &FactId, to: &Timestamp, text: &str) -> Result<()>;
}

impl FactRow {
    /// Its position in the order of the project's facts.
    pub fn position(&self) -> FactPosition {
        FactPosition {
            subject: self.subject.clone(),
            predicate: self.predicate.clone(),
            valid_from: self.valid_from.time(),
            seq: self.seq,
        }
    }

    /// Whether it holds at an instant.
    pub fn holds_at(&self, instant: Time) -> bool {
        let is_over = self.valid_to.as_ref().is_some_and(|to| to.time() <= instant);
        self.valid_from.time() <= instant && !is_over
    }

    /// Whether it holds at no instant.
    pub fn never_held(&self) -> bool {
        let from = self.valid_from.time();
        self.valid_to.as_ref().is_some_and(|to| to.time() <= from)
    }
}
