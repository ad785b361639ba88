//! A case that is judged by the folder that an implementation leaves behind: files before, steps
//! with a clock, and what the folder must have afterwards.
//!
//! Texts of a case may name variables as `${name}`: the places that the implementation chooses,
//! and values that an earlier step captured.

use std::collections::BTreeMap;

use accord_contract::{Object, Value, message};

use super::document::case_document;

case_document! {
    /// One case of a conformance corpus that is judged by a folder.
    pub struct FolderCase("FolderCase") of Folder {
        /// The settings that the implementation runs with. One that it does not have makes the
        /// case not implemented.
        optional settings: Object = "settings", "settings";
        /// The time at the beginning.
        required clock: String = "clock", "time:rfc-3339";
        /// The files before the first step, by path: a text, a list of lines, or a JSON document.
        required files: BTreeMap<String, Value> = "files", "files";
        /// The steps, in order. The first that does not meet its expectation ends the case.
        required steps: Vec<FolderStep> = "steps", "folder-steps";
    }
    write |case, folder| {
        settings: Some(folder.settings.clone()).filter(|settings| !settings.is_empty()),
        clock: folder.clock.clone(),
        files: folder.files.clone(),
        steps: folder.steps.clone(),
    }
    read |document| {
        Folder {
            settings: document.settings.unwrap_or_default(),
            clock: document.clock,
            files: document.files,
            steps: document.steps,
        },
        oracle: None
    }
}

message! {
    /// One step: what happens, and what the folder must have afterwards.
    pub struct FolderStep("FolderStep", closed) {
        /// What the step is for.
        optional about: String = "about", "text-for-people";
        /// The time from this step on.
        optional clock: String = "clock", "time:rfc-3339";
        /// Files that another program writes before the action, in the form of the case's files;
        /// null removes a file.
        optional write: BTreeMap<String, Value> = "write", "files";
        /// The action, out of the protocol's operations.
        optional action: String = "do", "operation-name";
        /// Its arguments.
        optional args: Object = "args", "operation-arguments";
        /// How often the action is repeated; `${n}` counts from 1.
        optional repeat: u64 = "repeat", "count";
        /// Whether the process is killed after the action. It is started again on the same folder.
        optional kill: bool = "kill", "flag";
        /// The process is killed this long after the request was sent, whether or not the action
        /// is complete.
        optional kill_after_ms: u64 = "kill_after_ms", "unit:millisecond";
        /// The expected answer. A member that the implementation does not report is not compared.
        optional answer: Object = "answer", "expectation";
        /// What the folder must have.
        optional check: Vec<FolderCheck> = "check", "folder-checks";
        /// Lists of checks, one of which must hold as a whole.
        optional either: Vec<CheckList> = "either", "folder-checks";
        /// Variables: a JSON pointer into the answer, or a path, `#` and a JSON pointer into that
        /// file.
        optional capture: BTreeMap<String, String> = "capture", "captures";
    }

    /// Checks that must hold together.
    pub struct CheckList("CheckList", closed) {
        /// The checks.
        required check: Vec<FolderCheck> = "check", "folder-checks";
    }

    /// What must be true of files. In a path, `*` is any text within one name.
    pub struct FolderCheck("FolderCheck", closed) {
        /// The path, or a pattern. With a pattern, exactly one file must match, unless the check
        /// is about lines.
        required path: String = "path", "path-pattern";
        /// Whether no such file may exist.
        optional absent: bool = "absent", "flag";
        /// A pattern that no other file may match.
        optional only: String = "only", "path-pattern";
        /// Whether the file must be as it was before the step.
        optional unchanged: bool = "unchanged", "flag";
        /// The file as a JSON document.
        optional json: Value = "json", "expectation";
        /// The front matter of the file, which is YAML between two lines `---`.
        optional front: Object = "front", "expectation";
        /// The whole text, except for white space at its end.
        optional text: String = "text", "text";
        /// Texts that occur.
        optional has: Vec<String> = "has", "texts";
        /// Texts that do not occur.
        optional lacks: Vec<String> = "lacks", "texts";
        /// How often texts occur.
        optional times: Vec<TextCount> = "times", "text-counts";
        /// The lines of the files, each of which is a JSON document. Others are skipped.
        optional lines: LineCheck = "lines", "line-checks";
    }

    /// How often a text occurs.
    pub struct TextCount("TextCount", closed) {
        /// The text.
        required text: String = "text", "text";
        /// How often.
        required times: u64 = "times", "count";
    }

    /// What must be true of lines, in the order of the names of their files.
    pub struct LineCheck("LineCheck", closed) {
        /// Lines that must occur in this order. Others may be between them.
        optional order: Vec<Value> = "order", "expectations";
        /// Lines that must occur, in any order.
        optional some: Vec<Value> = "some", "expectations";
        /// Lines that must not occur.
        optional none: Vec<Value> = "none", "expectations";
        /// How often lines occur.
        optional times: Vec<LineCount> = "times", "line-counts";
    }

    /// How often a line occurs.
    pub struct LineCount("LineCount", closed) {
        /// The line.
        required line: Value = "line", "expectation";
        /// How often.
        required times: u64 = "times", "count";
    }
}

/// The work in a folder.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Folder {
    /// The settings that the implementation runs with.
    pub settings: Object,
    /// The time at the beginning.
    pub clock: String,
    /// The files before the first step.
    pub files: BTreeMap<String, Value>,
    /// The steps, in order.
    pub steps: Vec<FolderStep>,
}

impl FolderStep {
    /// Every check of the step.
    pub fn checks(&self) -> impl Iterator<Item = &FolderCheck> {
        let either = self.either.iter().flatten().flat_map(|list| &list.check);
        self.check.iter().flatten().chain(either)
    }
}

impl FolderCheck {
    /// Whether the check is about the content of one file.
    pub fn has_content(&self) -> bool {
        self.json.is_some()
            || self.front.is_some()
            || self.text.is_some()
            || self.has.is_some()
            || self.lacks.is_some()
            || self.times.is_some()
    }
}
