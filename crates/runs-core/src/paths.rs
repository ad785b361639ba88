//! Paths that agents name, and the roles of paths in a governed repository.
//!
//! Invariants:
//! - a [`RepoPath`] is inside its repository: it is relative and has no `.`, `..` or empty
//!   component. All spellings of one path give the same `RepoPath`;
//! - what forbids a path of the run itself ignores letter case, because some file systems do. What
//!   permits a path does not: elsewhere, another letter case is another file.
//!
//! This module does not see links. The code that opens a file resolves them inside the root.

use std::fmt;

use accord_canon::shorten_path;
use accord_contract::text::counted;

use crate::rule;

/// A path inside a repository, separated by `/`.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct RepoPath(String);

#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum PathError {
    #[error("the path names no file")]
    Empty,
    #[error("the path is absolute; name it relative to the root of the repository")]
    Absolute,
    #[error("the path leads out of the repository")]
    Outside,
    #[error("the path contains a control character or a backslash")]
    Character,
    #[error("the path ends like a folder; name each file in it")]
    Folder,
    #[error("a name in the path has more than 255 bytes, or the path more than 2048")]
    TooLong,
}

/// The maximum length of a name, and of a path. The latter leaves room for the absolute path of the
/// repository within the limits of operating systems.
const MAX_NAME: usize = 255;
const MAX_PATH: usize = 2048;

/// The folder of a run's own files.
pub const HOME: &str = ".agentxchain";

/// The description of a proposal, next to the proposed files.
pub(crate) const PROPOSAL_OVERVIEW: &str = "PROPOSAL.md";
pub(crate) const PROPOSAL_SNAPSHOT: &str = "SOURCE_SNAPSHOT.json";

/// The decision on a proposal, next to the proposed files.
pub(crate) const PROPOSAL_APPLIED: &str = "APPLIED.json";
pub(crate) const PROPOSAL_REJECTED: &str = "REJECTED.json";

const CONFIGURATIONS: [&str; 2] = ["agentxchain.json", "agentxchain-multi.json"];

/// The files of a run at the root of the repository that agents may write.
const TEXTS: [&str; 2] = ["TALK.md", "HUMAN_TASKS.md"];

const PLANNING: &str = ".planning/";
const REVIEWS: &str = ".agentxchain/reviews/";
const STAGING: &str = ".agentxchain/staging/";

/// The files below [`HOME`] that agents must not write.
const STATE_FILES: [&str; 18] = [
    "state.json",
    "session.json",
    "history.jsonl",
    "decision-ledger.jsonl",
    "repo-decisions.jsonl",
    "lock.json",
    "hook-audit.jsonl",
    "hook-annotations.jsonl",
    "run-history.jsonl",
    "events.jsonl",
    "notification-audit.jsonl",
    "schedule-state.json",
    "schedule-daemon.json",
    "continuous-session.json",
    "human-escalations.jsonl",
    "sla-reminders.json",
    "SESSION_RECOVERY.md",
    "migration-report.md",
];

/// The files and folders below [`HOME`] that are never attributed to an agent.
const OPERATIONAL: [&str; 10] = [
    "dispatch/",
    "dispatch-progress",
    "staging/",
    "intake/",
    "locks/",
    "transactions/",
    "missions/",
    "multirepo/",
    "plugins/",
    "prompts/",
];

/// Operational folders that a result must not claim as its work. The staging folder is allowed:
/// every worker writes there, and some list it.
const RESERVED_FOLDERS: [&str; 6] =
    ["dispatch/", "dispatch-progress", "intake/", "locks/", "transactions/", "multirepo/"];

/// Other folders that a baseline ignores.
const BASELINE_EXEMPT: [&str; 3] = ["reviews/", "reports/", "proposed/"];

/// The first files of a list for a message, and how many more there are.
pub fn name_files(files: &[impl AsRef<str>]) -> String {
    const MOST: usize = 5;
    let named: Vec<_> = files.iter().take(MOST).map(|file| shorten_path(file.as_ref())).collect();
    let named = named.join(", ");
    match files.len().saturating_sub(MOST) {
        0 => named,
        more => format!("{named} and {}", counted(more as u64, "more file")),
    }
}

impl RepoPath {
    /// Parses a path, resolving `.` and `..` by name.
    ///
    /// Clauses: AX-TR-INSIDE.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(PathError::Empty);
        }
        let bytes = trimmed.as_bytes();
        // A drive letter or `~` would be a relative name here, but other tools resolve it outside
        // the repository.
        let drive = bytes.len() > 1 && bytes[1] == b':' && bytes[0].is_ascii_alphabetic();
        if trimmed.starts_with(['/', '\\', '~']) || drive {
            return Err(PathError::Absolute);
        }
        if trimmed.chars().any(|c| c.is_control() || c == '\\') {
            return Err(PathError::Character);
        }
        let mut names: Vec<&str> = Vec::new();
        for name in trimmed.split('/') {
            match name {
                "" | "." => {}
                ".." => {
                    let leaves = names.pop().is_none();
                    if rule!(leaves; PathsMayLeave => false) {
                        return Err(PathError::Outside);
                    }
                }
                _ => names.push(name),
            }
        }
        if names.is_empty() {
            return Err(PathError::Empty);
        }
        Ok(Self(names.join("/")))
    }

    /// Parses the path of a file that a result claims or proposes. In addition to
    /// [`RepoPath::parse`], it must be possible as the path of a file. Fails when it is not a path
    /// inside the repository, or ends like a folder, or is too long.
    pub(crate) fn parse_file(text: &str) -> Result<Self, PathError> {
        let path = Self::parse(text)?;
        if matches!(text.trim().rsplit('/').next(), Some("" | "." | "..")) {
            return Err(PathError::Folder);
        }
        if path.0.len() > MAX_PATH || path.0.split('/').any(|name| name.len() > MAX_NAME) {
            return Err(PathError::TooLong);
        }
        Ok(path)
    }

    pub fn is_below(&self, other: &Self) -> bool {
        let rest = self.0.strip_prefix(&other.0);
        rest.is_some_and(|rest| rest.starts_with('/'))
    }

    /// The normalized path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the path belongs to the run or to version control.
    ///
    /// Clauses: AX-TR-RESERVED, AX-TR-RESERVED-RUN.
    pub fn is_reserved(&self) -> bool {
        let lower = self.0.to_ascii_lowercase();
        // A claim of the folder itself would cover every record in it.
        if lower == ".git" || lower.starts_with(".git/") || lower == HOME {
            return true;
        }
        below_home(&lower).is_some_and(|rest| {
            let is_in = |at: &&str| rest.starts_with(*at) || rest == at.trim_end_matches('/');
            rule!(is_state_file(rest); RecordsClaimed => false)
                || rule!(RESERVED_FOLDERS.iter().any(is_in); FoldersClaimed => false)
        })
    }

    /// Whether a change of the path is never attributed to an agent.
    pub fn is_operational(&self) -> bool {
        if TEXTS.contains(&self.0.as_str()) || self.0.starts_with(".git/") {
            return true;
        }
        below_home(&self.0).is_some_and(|rest| {
            STATE_FILES.contains(&rest)
                || OPERATIONAL.iter().any(|folder| rest.starts_with(folder))
                || rest.starts_with("reports/report-")
                || rest.starts_with("reports/export-")
                || rest.starts_with("reports/chain-")
        })
    }

    pub fn is_baseline_exempt(&self) -> bool {
        let is_exempt = |rest: &str| BASELINE_EXEMPT.iter().any(|folder| rest.starts_with(folder));
        self.is_operational() || below_home(&self.0).is_some_and(is_exempt)
    }

    pub fn is_review(&self) -> bool {
        self.0.starts_with(PLANNING) || self.0.starts_with(REVIEWS)
    }

    /// Whether a proposed file at the path would overwrite the description of its proposal.
    pub(crate) fn is_proposal_page(&self) -> bool {
        let pages = [PROPOSAL_OVERVIEW, PROPOSAL_SNAPSHOT, PROPOSAL_APPLIED, PROPOSAL_REJECTED];
        pages.iter().any(|page| self.0.eq_ignore_ascii_case(page))
    }

    /// Whether the path belongs to the run, to version control or to the configuration, so that
    /// no proposal may change it.
    pub(crate) fn is_guarded(&self) -> bool {
        let lower = self.0.to_ascii_lowercase();
        lower.split('/').any(|name| name == ".git")
            || lower == HOME
            || below_home(&lower).is_some()
            || CONFIGURATIONS.contains(&lower.as_str())
            || TEXTS.iter().any(|name| lower == name.to_ascii_lowercase())
    }

    pub(crate) fn is_planning(&self) -> bool {
        self.0.starts_with(PLANNING)
    }

    /// Whether the path is part of the product, and not of planning or reviews.
    pub(crate) fn is_product(&self) -> bool {
        !self.is_review() && !self.0.starts_with(STAGING)
    }

    pub(crate) fn is_test(&self) -> bool {
        let lower = self.0.to_ascii_lowercase();
        let name = lower.rsplit('/').next().unwrap_or(&lower);
        let folder = |folder: &str| {
            lower.starts_with(&format!("{folder}/")) || lower.contains(&format!("/{folder}/"))
        };
        ["test", "tests", "__tests__", "spec"].into_iter().any(folder)
            || name.contains(".test.")
            || name.contains(".spec.")
            || name.starts_with("test_")
            || name.contains("_test.")
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

fn below_home(path: &str) -> Option<&str> {
    path.strip_prefix(HOME)?.strip_prefix('/')
}

fn is_state_file(rest: &str) -> bool {
    STATE_FILES.iter().any(|name| rest.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RepoPath {
        RepoPath::parse(text).unwrap()
    }

    #[test]
    fn every_spelling_is_one_path() {
        for spelling in ["src/a.rs", "./src/a.rs", "src//a.rs", "src/x/../a.rs", " src/./a.rs"] {
            assert_eq!(path(spelling).as_str(), "src/a.rs");
        }
        for (text, error) in [
            ("", PathError::Empty),
            ("./", PathError::Empty),
            ("a/..", PathError::Empty),
            ("..", PathError::Outside),
            ("a/../../b", PathError::Outside),
            ("/etc/passwd", PathError::Absolute),
            ("C:\\x", PathError::Absolute),
            ("~/x", PathError::Absolute),
            ("..\\..\\x", PathError::Character),
            ("a\0b", PathError::Character),
        ] {
            assert_eq!(RepoPath::parse(text), Err(error), "{text:?}");
        }
    }

    #[test]
    fn a_file_has_a_path_that_files_can_have() {
        let (name, longer) = ("n".repeat(255), "n".repeat(256));
        let deep = |length: usize| "d/".repeat(length / 2 - 1) + "ff";
        for (text, error) in [
            ("src/", Some(PathError::Folder)),
            ("src/.", Some(PathError::Folder)),
            ("src/lib/..", Some(PathError::Folder)),
            ("src/a.rs", None),
            (&name, None),
            (&longer, Some(PathError::TooLong)),
            (&deep(2048), None),
            (&deep(2050), Some(PathError::TooLong)),
            ("../a", Some(PathError::Outside)),
        ] {
            assert_eq!(RepoPath::parse_file(text).err(), error, "{text}");
        }
        assert!(path("a/b").is_below(&path("a")));
        assert!(!path("ab").is_below(&path("a")) && !path("a").is_below(&path("a")));
    }

    #[test]
    fn the_runs_own_files_are_known_in_every_spelling() {
        for reserved in [
            ".agentxchain/state.json",
            "./.agentxchain/state.json",
            "src/../.AgentXchain/STATE.json",
            ".agentxchain/events.jsonl",
            ".agentxchain/locks/accept-turn.lock",
            ".agentxchain/dispatch/turns/t/PROMPT.md",
            ".git/hooks/pre-commit",
            ".agentxchain/",
        ] {
            assert!(path(reserved).is_reserved(), "{reserved}");
        }
        for free in [
            "src/state.json",
            ".agentxchain/reviews/r.md",
            ".agentxchain/staging/t/turn-result.json",
            ".gitignore",
        ] {
            assert!(!path(free).is_reserved(), "{free}");
        }
    }

    #[test]
    fn paths_have_their_classes() {
        assert!(path(".agentxchain/staging/x").is_operational());
        assert!(path("TALK.md").is_operational());
        assert!(!path(".agentxchain/proposed/t/a").is_operational());
        assert!(path(".agentxchain/proposed/t/a").is_baseline_exempt());
        for other in ["Talk.md", ".AgentXchain/staging/x", ".agentxchain/Reviews/x", ".GIT/x"] {
            assert!(!path(other).is_baseline_exempt(), "{other}");
        }
        assert!(path("talk.md").is_guarded() && path(".GIT/x").is_guarded());
        assert!(path(".planning/x.md").is_review() && !path(".planning/x.md").is_product());
        assert!(path("src/a.rs").is_product() && path("src/a.test.ts").is_test());
    }
}
