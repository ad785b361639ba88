//! The summary of an import.

use accord_base::ProjectId;
use accord_contract::codes::Failure;
use accord_contract::message;
use accord_contract::wire::Object;

use super::apply::Applied;
use super::read::Kind;

/// How many refused lines are listed; all are counted.
const LISTED: usize = 100;

message! {
    /// The summary of an import.
    pub struct ImportSummary("ImportSummary", open) {
        /// The project.
        required project_id: ProjectId = "project_id", "project-id";
        /// The number of lines, without empty ones.
        required lines: u64 = "lines", "count";
        /// New documents.
        required added: ImportCounts = "added", "counts";
        /// Documents that existed in an earlier state and were updated.
        required advanced: ImportCounts = "advanced", "counts";
        /// Documents that existed already.
        required unchanged: ImportCounts = "unchanged", "counts";
        /// How many lines were refused.
        required refused_count: u64 = "refused_count", "count";
        /// The first refused lines, and why.
        required refused: Vec<RefusedLine> = "refused", "refused-lines";
        /// The number of quarantined lines, which are of a later version of the protocol.
        required quarantined_count: u64 = "quarantined_count", "count";
        /// The file in the data folder with the quarantined lines.
        required_or_null quarantine_file: String = "quarantine_file", "path";
    }
}

message! {
    /// The number of documents of each kind.
    pub struct ImportCounts("ImportCounts", open) {
        /// Projects.
        required projects: u64 = "projects", "count";
        /// Sessions.
        required sessions: u64 = "sessions", "count";
        /// Packages.
        required packages: u64 = "packages", "count";
        /// Facts.
        required facts: u64 = "facts", "count";
    }
}

message! {
    /// A refused line.
    pub struct RefusedLine("RefusedLine", open) {
        /// Its number, from 1.
        required line: u64 = "line", "line-number";
        /// Why.
        required code: String = "code", "failure-code";
        /// A description for people.
        required message: String = "message", "text-for-people";
        /// The position in the line.
        optional field: String = "field", "json-pointer";
    }
}

impl ImportSummary {
    pub(super) fn new(project_id: ProjectId) -> Self {
        Self {
            project_id,
            lines: 0,
            added: ImportCounts::none(),
            advanced: ImportCounts::none(),
            unchanged: ImportCounts::none(),
            refused_count: 0,
            refused: Vec::new(),
            quarantined_count: 0,
            quarantine_file: None,
            extra: Object::new(),
        }
    }

    /// How many lines have a result that is durable.
    pub(super) fn written(&self) -> u64 {
        self.added.total() + self.advanced.total() + self.unchanged.total()
    }

    /// Counts the result of a line. A line to be retried is counted after the retry.
    pub(super) fn count(&mut self, line: u64, kind: Kind, outcome: Applied) {
        let counts = match outcome {
            Applied::Added => &mut self.added,
            Applied::Advanced => &mut self.advanced,
            Applied::Unchanged => &mut self.unchanged,
            Applied::Refused(failure) => return self.refuse(line, &failure),
        };
        *match kind {
            Kind::Project => &mut counts.projects,
            Kind::Session => &mut counts.sessions,
            Kind::Package => &mut counts.packages,
            Kind::Fact => &mut counts.facts,
        } += 1;
    }

    pub(super) fn refuse(&mut self, line: u64, failure: &Failure) {
        self.refused_count += 1;
        if self.refused.len() == LISTED {
            return;
        }
        let place = failure.pointer.clone().filter(|place| !place.is_empty());
        self.refused.push(RefusedLine {
            line,
            code: failure.code.as_str().to_owned(),
            message: failure.message.clone(),
            field: place,
            extra: Object::new(),
        });
    }

    /// Sorts the refused lines, because some were retried.
    pub(super) fn sorted(mut self) -> Self {
        self.refused.sort_by_key(|refused| refused.line);
        self
    }
}

impl ImportCounts {
    fn none() -> Self {
        Self { projects: 0, sessions: 0, packages: 0, facts: 0, extra: Object::new() }
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.projects + self.sessions + self.packages + self.facts
    }
}
