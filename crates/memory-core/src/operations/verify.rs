//! Verification of the store.

use accord_api::body::Lines;
use accord_api::{Json, Need, Verbatim, operation};
use accord_contract::{Code, Failure, Object, envelope, message, wire_enum};

use super::ProgressLine;
use crate::ProjectId;

/// How many problems a report lists; all are counted.
const LISTED: usize = 1_000;

message! {
    /// What to verify.
    pub struct VerifyRequest("VerifyRequest", closed) {
        /// Only this project; default: the whole store.
        optional project_id: ProjectId = "project_id", "project-id";
        /// Whether to quarantine damaged packages and release valid ones; default true.
        optional quarantine: bool = "quarantine", "flag";
    }
}

envelope! {
    /// The result of a verification.
    pub struct VerifyEnvelope("VerifyEnvelope") {
        /// What was found.
        required report: VerifyReport = "report", "report";
    }
}

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
        /// The record of a decision.
        Decision = "decision",
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
        /// The number of checked decisions.
        optional decisions: u64 = "decisions", "count";
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

operation! {
    /// Verifies a project or the whole store: hashes, logs, facts, events, blobs, and derived data.
    /// Damaged packages are quarantined. A client that accepts application/x-ndjson gets lines of
    /// the kinds progress and problem, and at the end one of the kind summary or failure.
    pub struct VerifyStore("verify", Post "/accord/v1/verify") of Agentic {
        body Verbatim<VerifyRequest>;
        needs Need::Admin;
        answers 200 "What was found.", Json<VerifyEnvelope>;
        or 200 "To a client that accepts `application/x-ndjson`: progress, line by line.",
            Lines<ProgressLine>;
        refuses [&[Code::NotForWorkers], &[Code::AccessDenied, Code::AgenticProjectNotFound]];
    }
}

impl Problem {
    pub fn new(
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
    pub fn add(&mut self, problem: Problem) {
        self.problem_count += 1;
        if self.problems.len() < LISTED {
            self.problems.push(problem);
        }
    }

    pub fn looked_at(&self) -> u64 {
        let known = self.sessions + self.packages + self.facts + self.events + self.blobs;
        self.projects + known + self.decisions.unwrap_or(0)
    }

    pub fn is_sound(&self) -> bool {
        self.problem_count == 0
    }
}

/// The report of a run that has not begun.
impl Default for VerifyReport {
    fn default() -> Self {
        Self {
            projects: 0,
            sessions: 0,
            packages: 0,
            facts: 0,
            decisions: None,
            events: 0,
            blobs: 0,
            quarantined: 0,
            released: 0,
            problem_count: 0,
            problems: Vec::new(),
            extra: Object::new(),
        }
    }
}
