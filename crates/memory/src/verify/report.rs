//! The report of a verification.

use accord_base::ProjectId;
use accord_contract::codes::{Code, Failure};
use accord_contract::wire::Object;
use accord_contract::{message, wire_enum};
use accord_store::Table;

/// How many problems a report lists; all are counted.
const LISTED: usize = 1_000;

wire_enum! {
    /// The kinds of checked objects.
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
        /// A question, or what a package asks, answers and supersedes.
        Question = "question",
        /// The search index.
        Search = "search",
        /// The counts of a project.
        Counter = "counter",
    }
}

message! {
    /// A problem.
    pub struct Problem("VerifyProblem", open) {
        /// The kind of object.
        required suspect: Suspect = "suspect", "kind";
        /// Its project; null for a blob without a project.
        required_or_null project_id: ProjectId = "project_id", "project-id";
        /// The id of the object.
        required id: String = "id", "id";
        /// The error code.
        required code: String = "code", "failure-code";
        /// A description for people.
        required message: String = "message", "text-for-people";
    }
}

message! {
    /// The report of a verification.
    pub struct VerifyReport("VerifyReport", open) {
        /// The number of checked projects.
        required projects: u64 = "projects", "count";
        /// The number of checked sessions.
        required sessions: u64 = "sessions", "count";
        /// The number of checked packages.
        required packages: u64 = "packages", "count";
        /// The number of checked facts.
        required facts: u64 = "facts", "count";
        /// The number of checked events.
        required events: u64 = "events", "count";
        /// The number of checked blobs.
        required blobs: u64 = "blobs", "count";
        /// The number of packages that this run quarantined.
        required quarantined: u64 = "quarantined", "count";
        /// The number of packages that this run released from quarantine.
        required released: u64 = "released", "count";
        /// The number of problems.
        required problem_count: u64 = "problem_count", "count";
        /// The first problems.
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
            Table::Question | Table::Link => Self::Question,
            Table::Search | Table::Embedding => Self::Search,
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

    /// The number of checked rows and files.
    pub fn looked_at(&self) -> u64 {
        self.projects + self.sessions + self.packages + self.facts + self.events + self.blobs
    }

    /// Whether there are no problems.
    pub fn is_sound(&self) -> bool {
        self.problem_count == 0
    }
}

/// The failure for damaged data.
pub(super) fn wrong(message: impl Into<String>) -> Failure {
    Failure::new(Code::AgenticIntegrityError, message)
}
