//! Two turns that changed the same files at the same time.

use accord_contract::time::Time;
use accord_contract::wire::Object;

use crate::RepoPath;
use crate::config::Config;
use crate::doc;
use crate::history::RunIndex;
use crate::members::build;
use crate::state::Turn;

/// After how many conflicts of one turn the run stops.
pub const CONFLICT_LIMIT: u64 = 3;

/// What is suggested where two turns overlap so much that doing one again would undo the other.
pub const HUMAN_MERGE: &str = "human_merge";

/// Files that were changed by another turn after this one was assigned.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Conflict {
    /// The files.
    pub files: Vec<String>,
    /// The turns that changed them.
    pub turns: Vec<String>,
    /// How much of the turn's work that is.
    pub overlap_ratio: f64,
    /// How often the turn has been in conflict, this time included.
    pub count: u64,
}

/// What looking for conflicts found.
#[derive(Clone, Debug, PartialEq)]
pub struct Overlap {
    /// What is in conflict.
    pub conflict: Option<Conflict>,
    /// Files that the same role simply carried on with.
    pub forward_revisions: Vec<String>,
}

/// Looks for files of the turn that others changed after it was assigned.
pub fn detect(
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
        let Some(touch) = index.touch(path) else {
            continue;
        };
        if touch.accepted_sequence <= turn.assigned_sequence() {
            continue;
        }
        if touch.role == turn.role() && carries_on(path, phase, turn.role(), config) {
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
    Overlap {
        conflict,
        forward_revisions,
    }
}

/// A role carries on with its own planning document: one of the phase that it begins, or one
/// that it alone owns.
fn carries_on(path: &RepoPath, phase: &str, role: &str, config: &Config) -> bool {
    let entry = config.route("planning").or_else(|| config.route(phase));
    let begins = entry.and_then(|route| route.entry_role.as_deref()) == Some(role);
    (path.is_planning() && begins) || config.workflow().owner(path.as_str()) == Some(role)
}

impl Conflict {
    /// What is suggested: little overlap is quickly done again.
    pub fn suggestion(&self) -> &'static str {
        if self.overlap_ratio < 0.5 {
            "reject_and_reassign"
        } else {
            HUMAN_MERGE
        }
    }

    /// Whether the run stops.
    pub fn is_loop(&self) -> bool {
        self.count >= CONFLICT_LIMIT
    }

    /// The conflict as the turn and the ledger have it.
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
