//! Proposals: changes of files that a turn proposes, and that a person applies or drops.
//!
//! An acceptance writes the proposed files to a folder of their own, in the form of the reference
//! runner. The turn's line in the history has the digest of each of them, because an agent can
//! change the folder later and the history is protected.
//!
//! Invariants:
//! - a proposal is applied only with the content that was accepted;
//! - a file that changed since the acceptance is never overwritten;
//! - no file of the run, of version control or of the configuration is written.

mod decide;

use accord_canon::sha256;
use accord_contract::text::pretty;
use accord_contract::{Object, Time, Value, wire_enum};

pub use decide::{Applied, FileNow, FileState, applied, dropped, file_state};

use crate::doc::{self, Member, Text};
use crate::paths::{PROPOSAL_OVERVIEW, PROPOSAL_SNAPSHOT};
use crate::{HOME, RepoPath, Turn, TurnId, TurnResult, Write, build};

wire_enum! {
    pub enum ProposalAction("ProposalAction", closed) {
        Create = "create",
        Modify = "modify",
        Delete = "delete",
    }
}

pub const ABSENT: &str = "absent";

pub const NOT_FILE: &str = "not_a_file";

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Proposal {
    pub turn: TurnId,
    pub role: Option<String>,
    /// What the turn did, if the record says so.
    pub summary: Option<String>,
    pub files: Vec<ProposedFile>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProposedFile {
    pub path: String,
    pub action: ProposalAction,
    /// The digest of the file when the proposal was accepted, or [`ABSENT`]; `None` if unknown.
    pub source: Option<String>,
    /// The digest of the accepted content; `None` if unknown, or for a deletion.
    pub content: Option<String>,
}

pub fn proposals_folder() -> String {
    format!("{HOME}/proposed")
}

pub fn proposal_folder(turn: &TurnId) -> String {
    format!("{}/{turn}", proposals_folder())
}

/// The files of a proposal's folder that show that it was decided on, with the decision.
pub const DECIDED: [(&str, &str); 2] =
    [(crate::paths::PROPOSAL_APPLIED, "applied"), (crate::paths::PROPOSAL_REJECTED, "dropped")];

pub fn snapshot_path(turn: &TurnId) -> String {
    format!("{}/{PROPOSAL_SNAPSHOT}", proposal_folder(turn))
}

pub fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", sha256(bytes).hex())
}

impl Proposal {
    pub fn of_history(line: &Object) -> Option<Self> {
        let files = doc::ProposalRecord::FILES.get(doc::History::PROPOSAL.get(line)?);
        Some(Self {
            turn: TurnId::parse(doc::History::TURN_ID.get(line)?)?,
            role: doc::History::ROLE.get(line).map(str::to_owned),
            summary: doc::History::SUMMARY.get(line).map(str::to_owned),
            files: read_files(files),
        })
    }

    /// The proposal in its own folder, for one that another runner accepted.
    pub fn of_snapshot(turn: &TurnId, snapshot: &Object) -> Self {
        Self {
            turn: turn.clone(),
            role: doc::ProposalRecord::ROLE.get(snapshot).map(str::to_owned),
            summary: None,
            files: read_files(doc::ProposalRecord::FILES.get(snapshot)),
        }
    }

    /// The changes, as evidence of a decision.
    pub(crate) fn request(&self) -> Value {
        let file = |file: &ProposedFile| {
            Value::Object(build([
                doc::Proposed::PATH.to(file.path.as_str()),
                doc::Proposed::ACTION.to(file.action.as_str()),
            ]))
        };
        self.files.iter().map(file).collect()
    }
}

fn read_files(files: &[Value]) -> Vec<ProposedFile> {
    let read = |file: &Value| {
        let text = |member: Member<Text>| member.get(file).map(str::to_owned);
        // A record that does not say whether the file existed does not know its content.
        let source = match doc::ProposalFile::EXISTED.raw(file) {
            Some(Value::Bool(true)) => text(doc::ProposalFile::SHA256),
            Some(Value::Bool(false)) => Some(ABSENT.to_owned()),
            _ => None,
        };
        Some(ProposedFile {
            path: doc::Proposed::PATH.get(file)?.to_owned(),
            action: ProposalAction::parse(doc::Proposed::ACTION.get(file)?)?,
            source,
            content: text(doc::ProposalFile::CONTENT_SHA256),
        })
    };
    files.iter().filter_map(read).collect()
}

/// The files of a result's proposal, with the digests of what they replace. `sources` has the
/// digest of each path at the acceptance.
pub(crate) fn record(
    result: &TurnResult,
    sources: &std::collections::BTreeMap<String, String>,
) -> Vec<Object> {
    let mut files = Vec::new();
    for change in doc::Result::PROPOSED_CHANGES.get(result.document()) {
        // Validation refuses such paths. This is the last check before one names a file.
        let path = doc::Proposed::PATH.get(change).and_then(|path| RepoPath::parse(path).ok());
        let Some(path) = path else { continue };
        let source = sources.get(path.as_str());
        let content = doc::Proposed::CONTENT.get(change);
        let mut file = build([
            doc::Proposed::PATH.to(path.as_str()),
            doc::Proposed::ACTION.to(doc::Proposed::ACTION.get(change).unwrap_or("modify")),
        ]);
        if let Some(source) = source {
            let there = Some(source.as_str()).filter(|source| *source != ABSENT);
            doc::ProposalFile::EXISTED.set(&mut file, there.is_some());
            doc::ProposalFile::SHA256.set(&mut file, there);
        }
        if let Some(content) = content {
            doc::ProposalFile::CONTENT_SHA256.set(&mut file, digest(content.as_bytes()));
        }
        files.push(file);
    }
    files
}

pub(crate) fn writes(result: &TurnResult, turn: &Turn, files: &[Object], now: Time) -> Vec<Write> {
    if files.is_empty() {
        return Vec::new();
    }
    let folder = proposal_folder(turn.id());
    let mut writes = Vec::new();
    for change in doc::Result::PROPOSED_CHANGES.get(result.document()) {
        let path = doc::Proposed::PATH.get(change).and_then(|path| RepoPath::parse(path).ok());
        if let (Some(path), Some(content)) = (path, doc::Proposed::CONTENT.get(change)) {
            let path = format!("{folder}/{path}");
            writes.push(Write::Replace { path, text: content.to_owned() });
        }
    }
    let text = overview(result, turn, files);
    writes.push(Write::Replace { path: format!("{folder}/{PROPOSAL_OVERVIEW}"), text });
    let snapshot = build([
        doc::ProposalRecord::CAPTURED_AT.to(now),
        doc::ProposalRecord::TURN_ID.to(turn.id().as_str()),
        doc::ProposalRecord::ROLE.to(turn.role()),
        doc::ProposalRecord::FILES.to(files.to_vec()),
    ]);
    let path = format!("{folder}/{PROPOSAL_SNAPSHOT}");
    writes.push(Write::Replace { path, text: pretty(&snapshot) });
    writes
}

/// `PROPOSAL.md`. The reference runner reads the role and the list of files from it.
fn overview(result: &TurnResult, turn: &Turn, files: &[Object]) -> String {
    let mut text = format!(
        "# Proposal of {}\n\n**Role:** {}\n**Runtime:** {}\n**Status:** {}\n\n## Summary\n\n{}\n\n\
         ## Files\n\n",
        turn.id(),
        turn.role(),
        turn.runtime_id().unwrap_or("?"),
        result.status(),
        result.summary(),
    );
    for file in files {
        let path = doc::Proposed::PATH.get(file).unwrap_or("?");
        let action = doc::Proposed::ACTION.get(file).unwrap_or("?");
        text.push_str(&format!("- `{path}` — {action}\n"));
    }
    text
}
