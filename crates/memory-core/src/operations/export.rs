//! Export and import of a project, and the lines of long work.

use accord_api::body::Lines;
use accord_api::{Decision, Json, Need, operation};
use accord_base::credential::{self, CredentialPlace};
use accord_contract::{Code, Failure, Object, message};

use super::{InProject, at_project};
use crate::ProjectId;

/// How many refused lines are listed; all are counted.
const LISTED: usize = 100;

message! {
    /// A line of an export.
    pub struct ExportedLine("ExportedLine", open) {
        /// The kind of document.
        required kind: String = "kind", "document-kind";
    }

    /// A line of an answer that reports progress. The kind progress says how far the work is, the
    /// kind failure why it ended, and the kind summary has the members of the result.
    pub struct ProgressLine("ProgressLine", open) {
        /// The kind of line.
        required kind: String = "kind", "line-kind";
        /// How much is done.
        optional done: u64 = "done", "count";
        /// How much there is to do.
        optional total: u64 = "total", "count";
        /// The failure code.
        optional code: String = "code", "failure-code";
        /// The failure, for people.
        optional message: String = "message", "text-for-people";
    }

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
        /// How many lines are imported with a warning; absent if none is.
        optional warned_count: u64 = "warned_count", "count";
        /// The first of them, and why.
        optional warnings: Vec<LineWarning> = "warnings", "line-warnings";
    }

    /// A warning about an imported line.
    pub struct LineWarning("LineWarning", open) {
        /// Its number, from 1.
        required line: u64 = "line", "line-number";
        /// A code for programs.
        required code: String = "code", "warning-code";
        /// A description for people.
        required message: String = "message", "text-for-people";
        /// The member that it concerns, as a JSON Pointer.
        required field: String = "field", "json-pointer";
    }

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

operation! {
    /// Exports a project, one document per line: the project, its sessions, packages with their
    /// logs, and facts, as they are at one moment. A key that administers the project gets
    /// everything, other keys get what they may see. A damaged row is left out; the header
    /// X-Integrity-Warnings counts them.
    pub struct ExportProject("export", Get at_project!("/export")) of Agentic {
        path InProject;
        needs Need::Read;
        answers 200 "The lines.", Lines<ExportedLine>;
        refuses [&[Code::AgenticProjectNotFound, Code::StoreFull]];
    }

    /// Imports an export of this or another server, one document per line, in any order: lines of
    /// an export, or the protocol's bare documents. Existing documents are kept; a refused line
    /// does not affect the others, and is listed in the answer.
    pub struct ImportProject("import", Post at_project!("/import")) of Agentic {
        path InProject;
        body Lines<ExportedLine>;
        needs Need::Decide(Decision::Grant);
        answers 200 "The result of the import.", Json<ImportSummary>;
        or 200 "To a client that accepts `application/x-ndjson`: progress, line by line.",
            Lines<ProgressLine>;
        refuses [&[Code::HttpMediaType, Code::AgenticProjectNotFound, Code::StoreFull,
            Code::NotForWorkers]];
    }
}

impl ImportSummary {
    /// The summary of an import that has not begun.
    pub fn new(project_id: ProjectId) -> Self {
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
            warned_count: None,
            warnings: None,
            extra: Object::new(),
        }
    }

    /// How many lines have a result that is durable.
    pub fn written(&self) -> u64 {
        self.added.total() + self.advanced.total() + self.unchanged.total()
    }

    pub fn refuse(&mut self, line: u64, failure: &Failure) {
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

    /// Notes a line that is imported although it contains credentials.
    pub fn warn(&mut self, line: u64, credentials: &[CredentialPlace]) {
        let Some(first) = credentials.first() else { return };
        *self.warned_count.get_or_insert_default() += 1;
        let warnings = self.warnings.get_or_insert_default();
        if warnings.len() < LISTED {
            warnings.push(LineWarning {
                line,
                code: credential::CODE.to_owned(),
                message: format!("{}; revoke it", first.in_words()),
                field: first.pointer.clone(),
                extra: Object::new(),
            });
        }
    }

    /// Sorts the refused lines, because some were retried.
    pub fn sorted(mut self) -> Self {
        if let Some(warnings) = &mut self.warnings {
            warnings.sort_by_key(|warned| warned.line);
        }
        self.refused.sort_by_key(|refused| refused.line);
        self
    }
}

impl ImportCounts {
    fn none() -> Self {
        Self { projects: 0, sessions: 0, packages: 0, facts: 0, extra: Object::new() }
    }

    pub fn total(&self) -> u64 {
        self.projects + self.sessions + self.packages + self.facts
    }
}
