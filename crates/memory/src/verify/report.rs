//! What a look through a store found.

use accord_base::ProjectId;
use accord_contract::codes::{Code, Failure};
use accord_contract::wire::Object;
use accord_contract::{message, wire_enum};
use accord_store::Table;

/// How many problems a report lists; all are counted.
const LISTED: usize = 1_000;

wire_enum! {
    /// What something is wrong with.
    pub enum Suspect("VerifySuspect", closed) {
        /// A project.
        Project = "project",
        /// A session.
        Session = "session",
        /// A package, or its log.
        Package = "package",
        /// A fact.
        Fact = "fact",
        /// The facts of one subject and predicate.
        Chain = "chain",
        /// An event, or the numbers of events.
        Event = "event",
        /// A blob, or the row that says who has it.
        Blob = "blob",
        /// Counts of packages or questions.
        Tally = "tally",
        /// An open question, or the questions of a package.
        Question = "question",
        /// What packages are found by.
        Search = "search",
        /// What is counted for a project.
        Counter = "counter",
    }
}

message! {
    /// Something that is wrong.
    pub struct Problem("VerifyProblem", open) {
        /// What it is wrong with.
        required suspect: Suspect = "suspect", "kind";
        /// The project that it belongs to; null for a blob that belongs to none.
        required_or_null project_id: ProjectId = "project_id", "project-id";
        /// The id of what it is wrong with.
        required id: String = "id", "id";
        /// Which failure it is.
        required code: String = "code", "failure-code";
        /// What is wrong, for people.
        required message: String = "message", "text-for-people";
    }
}

message! {
    /// What a look through a store found.
    pub struct VerifyReport("VerifyReport", open) {
        /// How many projects were looked at.
        required projects: u64 = "projects", "count";
        /// How many sessions.
        required sessions: u64 = "sessions", "count";
        /// How many packages.
        required packages: u64 = "packages", "count";
        /// How many facts.
        required facts: u64 = "facts", "count";
        /// How many events.
        required events: u64 = "events", "count";
        /// How many blobs.
        required blobs: u64 = "blobs", "count";
        /// How many packages were quarantined by this.
        required quarantined: u64 = "quarantined", "count";
        /// How many packages were quarantined before, are sound, and are shown again.
        required released: u64 = "released", "count";
        /// How many problems there are.
        required problem_count: u64 = "problem_count", "count";
        /// The first of them.
        required problems: Vec<Problem> = "problems", "problems";
    }
}

impl Suspect {
    pub(super) fn of(table: Table) -> Self {
        match table {
            Table::Project => Self::Project,
            Table::Fact => Self::Fact,
            Table::Session => Self::Session,
            Table::Event => Self::Event,
            Table::Blob => Self::Blob,
            Table::Tally => Self::Tally,
            Table::Question => Self::Question,
            Table::Search => Self::Search,
            Table::Counter => Self::Counter,
            _ => Self::Package,
        }
    }
}

impl Problem {
    pub(super) fn new(
        suspect: Suspect,
        project: Option<&ProjectId>,
        id: impl Into<String>,
        failure: &Failure,
    ) -> Self {
        Self {
            suspect,
            project_id: project.cloned(),
            id: id.into(),
            code: failure.code.as_str().to_owned(),
            message: failure.message.clone(),
            extra: Object::new(),
        }
    }
}

impl VerifyReport {
    pub(super) fn new() -> Self {
        Self {
            projects: 0,
            sessions: 0,
            packages: 0,
            facts: 0,
            events: 0,
            blobs: 0,
            quarantined: 0,
            released: 0,
            problem_count: 0,
            problems: Vec::new(),
            extra: Object::new(),
        }
    }

    pub(super) fn add(&mut self, problem: Problem) {
        self.problem_count += 1;
        if self.problems.len() < LISTED {
            self.problems.push(problem);
        }
    }

    /// How many rows and files were looked at.
    pub fn looked_at(&self) -> u64 {
        self.projects + self.sessions + self.packages + self.facts + self.events + self.blobs
    }

    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.problem_count == 0
    }
}

/// Something that should not be.
pub(super) fn wrong(message: impl Into<String>) -> Failure {
    Failure::new(Code::AgenticIntegrityError, message)
}
