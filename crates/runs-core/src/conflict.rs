//! Conflicts: two turns that changed the same files concurrently.

use accord_contract::{Object, Time};

use crate::{Config, RepoPath, RunIndex, Turn, build, doc};

/// The number of conflicts of one turn that blocks the run.
pub(crate) const CONFLICT_LIMIT: u64 = 3;

/// The suggestion when two turns overlap so much that a retry would undo the other's work.
pub const HUMAN_MERGE: &str = "human_merge";

/// Files that were changed by another turn after this one was assigned.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    pub files: Vec<String>,
    pub turns: Vec<String>,
    /// The fraction of the turn's files that is in conflict.
    pub overlap_ratio: f64,
    /// The number of conflicts of the turn, including this one.
    pub count: u64,
}

/// The overlap of a turn with turns that were accepted since its assignment.
#[derive(Clone, Debug, PartialEq)]
pub struct Overlap {
    pub conflict: Option<Conflict>,
    /// Files that the same role continued to edit. They are not in conflict.
    pub forward_revisions: Vec<String>,
}

/// Detects files of the turn that others changed after its assignment.
pub(crate) fn detect(
    turn: &Turn,
    phase: &str,
    changed: &[RepoPath],
    index: &RunIndex,
    config: &Config,
) -> Overlap {
    let mut files = Vec::new();
    let mut turns: Vec<String> = Vec::new();
    let mut forward_revisions = Vec::new();
    for path in changed {
        let Some(touch) = index.touch(path) else { continue };
        // Changes up to the assignment were visible to the worker.
        if touch.accepted_sequence <= turn.assigned_sequence() {
            continue;
        }
        if touch.role == turn.role() && may_revise(path, phase, turn.role(), config) {
            forward_revisions.push(path.to_string());
            continue;
        }
        files.push(path.to_string());
        if !turns.contains(&touch.turn_id) {
            turns.push(touch.turn_id.clone());
        }
    }
    let conflict = (!files.is_empty()).then(|| Conflict {
        overlap_ratio: files.len() as f64 / changed.len().max(1) as f64,
        count: turn.conflicts() + 1,
        files,
        turns,
    });
    Overlap { conflict, forward_revisions }
}

/// Whether a role may revise its own planning document: a document of a phase in which it is the
/// entry role, or one that only it owns.
fn may_revise(path: &RepoPath, phase: &str, role: &str, config: &Config) -> bool {
    let entry = config.route("planning").or_else(|| config.route(phase));
    let begins = entry.and_then(|route| route.entry_role.as_deref()) == Some(role);
    (path.is_planning() && begins) || config.workflow().owner(path.as_str()) == Some(role)
}

impl Conflict {
    /// The suggested resolution. A small overlap is cheap to redo.
    pub fn suggestion(&self) -> &'static str {
        if self.overlap_ratio < 0.5 { "reject_and_reassign" } else { HUMAN_MERGE }
    }

    /// Whether the conflict blocks the run.
    pub(crate) fn is_loop(&self) -> bool {
        self.count >= CONFLICT_LIMIT
    }

    pub fn document(&self, now: Time) -> Object {
        build([
            doc::Conflict::DETECTED_AT.to(now),
            doc::Conflict::DETECTION_COUNT.to(self.count),
            doc::Conflict::CONFLICTING_FILES.to(&self.files),
            doc::Conflict::ACCEPTED_SINCE_TURN_IDS.to(&self.turns),
            doc::Conflict::OVERLAP_RATIO.to(self.overlap_ratio),
            doc::Conflict::SUGGESTED_RESOLUTION.to(self.suggestion()),
        ])
    }
}
