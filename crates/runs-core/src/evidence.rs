//! The evidence of a decision: everything that a person should have seen, as one digest.
//!
//! The evidence is a list of facts at one moment: the configuration, the commit of version control,
//! the files that the gate reads, the request, the commands of the gate and its hooks, and what the
//! records have about the turns. Its digest
//! is the SHA-256 of the list in canonical JSON (RFC 8785). A person reads the digest in the status
//! and can require that the decision is about the same facts.
//!
//! Invariants:
//! - equal facts have equal digests, whatever the formatting and the order of members;
//! - a digest says nothing about files outside the list.

use accord_canon::{Digest, Profile, canonicalize, sha256};
use accord_contract::{Failure, Object, Value, Wire};

use crate::config::{Config, GateAction};
use crate::hooks::{Hook, HookPhase, Transport};
use crate::operations::answers::RunFacts;
use crate::proposal::{Proposal, proposal_folder};
use crate::state::{Pending, State, Turn};
use crate::{RepoPath, Result, array, build, dispatch, doc, gate};

pub use accord_base::evidence::{EvidenceDigest, ExpectedDigest, LastDecision};

pub const SHOWN_BY: &str =
    "`accord run status` (of an initiative: `accord run coordinator status`)";

/// What the record of a decision calls the stop of a run.
pub const STOP: &str = "run.stop";

/// The version of the list. Another list has another version.
const FORMAT: &str = "accord-evidence/2";

#[derive(Clone, Debug, PartialEq)]
pub enum Subject<'a> {
    Transition,
    Completion,
    Block,
    /// The merge of a turn's files with those of other turns.
    Merge(&'a Turn),
    Proposal(&'a Proposal),
    /// The run itself: where it is, and who works on it.
    Run,
}

/// The facts that only the host knows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// The commit of version control; `None` without one.
    pub head: Option<String>,
    /// The digests of [`Subject::files`], by path.
    pub files: Vec<(String, FileDigest)>,
    /// What the records have about the turns; `None` if they cannot be read.
    pub observed: Option<RunFacts>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum FileDigest {
    /// The SHA-256 of its bytes.
    Sha256(String),
    Absent,
    /// It is too large, or not a file.
    Unreadable,
}

impl<'a> Subject<'a> {
    /// What a run waits for: a gate, or the resolution of a block.
    pub fn of(state: &State) -> Option<Self> {
        if !state.status().waits_for_person() {
            return None;
        }
        Some(match state.pending() {
            Some(Pending::Transition(_)) => Self::Transition,
            Some(Pending::Completion(_)) => Self::Completion,
            None => Self::Block,
        })
    }

    /// What the record of a decision calls it: the kind, and the subject.
    pub fn named(&self, state: &State, outcome: &str) -> (&'static str, String) {
        let run = state.run_id().map(ToString::to_string).unwrap_or_default();
        let gate = || state.pending().and_then(|it| Some(it.gate()?.to_owned()));
        match self {
            Self::Transition | Self::Completion => {
                let kind = if outcome == "sent_back" { "run.send_back" } else { "run.gate" };
                let gate = gate().unwrap_or_else(|| "completion".to_owned());
                (kind, format!("{run}/{gate}"))
            }
            Self::Block => {
                ("run.resolve", format!("{run}/{}", state.blocked_on().unwrap_or("paused")))
            }
            Self::Merge(turn) => ("run.merge", format!("{run}/{}", turn.id())),
            Self::Proposal(proposal) => ("run.proposal", format!("{run}/{}", proposal.turn)),
            Self::Run => (STOP, run),
        }
    }

    pub fn files(&self, state: &State, config: &Config) -> Vec<RepoPath> {
        match self {
            Self::Transition | Self::Completion => gate::needed_files(config, state.phase()),
            Self::Block | Self::Run => Vec::new(),
            Self::Merge(turn) => {
                let files = |found| doc::Conflict::CONFLICTING_FILES.get(found);
                let files = turn.conflict().map(files).unwrap_or_default();
                let names = files.into_iter().chain([dispatch::staging_path(turn.id())]);
                names.filter_map(|name| RepoPath::parse(&name).ok()).collect()
            }
            // Those in the working tree, and those in the folder of the proposal.
            Self::Proposal(proposal) => {
                let folder = proposal_folder(&proposal.turn);
                let files = proposal.files.iter().map(|file| file.path.as_str());
                let files = files.filter_map(|path| RepoPath::parse(path).ok());
                let both = |path: RepoPath| {
                    let proposed = RepoPath::parse(&format!("{folder}/{path}")).ok();
                    [Some(path), proposed].into_iter().flatten()
                };
                files.flat_map(both).collect()
            }
        }
    }

    /// The digest of the evidence. Fails with the code of the canonical form when a document has
    /// none.
    pub fn digest(&self, state: &State, config: &Config, facts: &Facts) -> Result<EvidenceDigest> {
        if *self == Self::Run {
            // Files and commits change all the time while a run goes on.
            return digest_of(&build([
                ("format", FORMAT.into()),
                ("run_id", state.run_id().map(ToString::to_string).into()),
                ("phase", state.phase().into()),
                ("request", self.request(state)),
            ]));
        }
        let pending = state.pending().filter(|_| self.is_gate());
        let gate = pending.and_then(|pending| config.gate(pending.gate()?));
        let actions = gate.map_or(&[][..], |gate| &gate.actions);
        let hooks = if self.is_gate() { config.hooks(HookPhase::BeforeGate) } else { Vec::new() };
        digest_of(&build([
            ("format", FORMAT.into()),
            ("configuration", canonical_digest(config.document())?.into()),
            ("head", facts.head.as_deref().into()),
            ("run_id", state.run_id().map(ToString::to_string).into()),
            ("phase", state.phase().into()),
            ("request", self.request(state)),
            ("files", facts.files.iter().map(file).collect()),
            ("gate_actions", actions.iter().map(action).collect()),
            ("hooks", hooks.iter().map(hook).collect()),
            ("facts", facts.observed.as_ref().map(Wire::encode).into()),
        ]))
    }

    fn is_gate(&self) -> bool {
        matches!(self, Self::Transition | Self::Completion)
    }

    /// What is asked of the person, as the state has it.
    fn request(&self, state: &State) -> Value {
        let members = match self {
            Self::Transition => return state.value(doc::State::PENDING_PHASE_TRANSITION),
            Self::Completion => return state.value(doc::State::PENDING_RUN_COMPLETION),
            Self::Block => build([
                doc::State::BLOCKED_ON.of(state.members()),
                doc::State::BLOCKED_REASON.of(state.members()),
            ]),
            Self::Merge(turn) => build([
                doc::Turn::TURN_ID.to(turn.id().as_str()),
                doc::Turn::ATTEMPT.to(turn.attempt()),
                doc::Turn::CONFLICT_STATE.to(turn.value(doc::Turn::CONFLICT_STATE).cloned()),
            ]),
            Self::Proposal(proposal) => build([
                doc::Turn::TURN_ID.to(proposal.turn.as_str()),
                ("proposed_changes", proposal.request()),
            ]),
            Self::Run => build([
                ("status", state.status().as_str().into()),
                ("turns", state.turns().map(|turn| Value::from(turn.id().as_str())).collect()),
            ]),
        };
        members.into()
    }
}

/// A repository of an initiative, as evidence.
#[derive(Clone, Debug)]
pub struct RepoEvidence {
    pub id: String,
    pub head: Option<String>,
    /// The document of the state, if it can be read.
    pub state: Option<Object>,
    /// What the records have about its turns, if they can be read.
    pub facts: Option<RunFacts>,
}

/// The digest of the evidence of an initiative's gate, with its repositories in order. Fails like
/// [`Subject::digest`].
pub fn initiative_digest(
    config: &Object,
    pending: &Object,
    hooks: &[Hook],
    repos: &[RepoEvidence],
) -> Result<EvidenceDigest> {
    let mut standing = Vec::new();
    for RepoEvidence { id, head, state, facts } in repos {
        let state = state.as_ref().map(canonical_digest).transpose()?;
        standing.push(Value::Object(build([
            ("id", id.as_str().into()),
            ("head", head.as_deref().into()),
            ("state", state.into()),
            ("facts", facts.as_ref().map(Wire::encode).into()),
        ])));
    }
    digest_of(&build([
        ("format", FORMAT.into()),
        ("configuration", canonical_digest(config)?.into()),
        ("request", pending.clone().into()),
        ("repos", standing.into()),
        ("hooks", hooks.iter().map(hook).collect()),
    ]))
}

fn digest_of(list: &Object) -> Result<EvidenceDigest> {
    sha256_of(list).map(EvidenceDigest::from)
}

fn canonical_digest(document: &Object) -> Result<String> {
    sha256_of(document).map(|digest| digest.hex())
}

fn sha256_of(document: &Object) -> Result<Digest> {
    let text = Value::Object(document.clone()).to_string();
    let canonical = canonicalize(Profile::Jcs, text.as_bytes()).map_err(Failure::from)?;
    Ok(sha256(&canonical))
}

fn file((path, digest): &(String, FileDigest)) -> Value {
    let digest: Value = match digest {
        FileDigest::Sha256(digest) => digest.as_str().into(),
        FileDigest::Absent => Value::Null,
        FileDigest::Unreadable => "unreadable".into(),
    };
    build([("path", path.as_str().into()), ("sha256", digest)]).into()
}

fn action(action: &GateAction) -> Value {
    build([
        ("run", action.run.as_str().into()),
        ("label", action.label.as_deref().into()),
        ("timeout_ms", action.timeout_ms.into()),
    ])
    .into()
}

fn hook(hook: &Hook) -> Value {
    let pairs = |pairs: &[(String, String)]| -> Object {
        pairs.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect()
    };
    let (command, url, headers) = match &hook.transport {
        Transport::Process { command } => (array(command), Value::Null, Object::new()),
        Transport::Http { url, headers } => (Value::Null, url.as_str().into(), pairs(headers)),
    };
    build([
        ("name", hook.name.as_str().into()),
        ("type", hook.transport.as_str().into()),
        ("mode", hook.mode.as_str().into()),
        ("timeout_ms", hook.timeout_ms.into()),
        ("command", command),
        ("url", url),
        ("headers", headers.into()),
        ("env", pairs(&hook.env).into()),
    ])
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_formatting_of_members_do_not_matter() {
        let object = |text: &str| -> Object { serde_json::from_str(text).expect("JSON") };
        let (one, other) = (r#"{"a": 1, "b": [2.0]}"#, r#"{"b":[2],"a":1}"#);
        let [one, other] = [one, other].map(|text| canonical_digest(&object(text)).expect("JSON"));
        assert_eq!(one, other);
        // Made with another program: printf '{"a":1,"b":[2]}' | sha256sum
        assert_eq!(one, "0855bfc20eb6cfaa4be7d6b510c63dd22997718bddadcb1a4915cec3a16145b9");
    }
}
