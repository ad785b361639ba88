//! Compares the changes that version control shows with those that the result declares.

use std::collections::{BTreeMap, BTreeSet};

use accord_canon::shorten_path;
use accord_contract::text::counted;
use accord_contract::{Code, Failure};

use super::Inputs;
use crate::history::{RunIndex, Touch};
use crate::{
    Baseline, RepoPath, Result, RuntimeType, Turn, TurnResult, WriteAuthority, array, name_files,
};

/// A hint for changes that a person may have made while the worker ran.
const OF_A_PERSON: &str = "if a person made these changes, commit them, then run `accord run \
                           escalate` and `accord run resolve`";

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Observation {
    /// The current commit; `None` without version control.
    pub head_ref: Option<String>,
    pub dirty: bool,
    /// Every path that differs from the baseline's commit, with a digest of its content. It
    /// includes committed changes and excludes ignored files.
    pub changed: BTreeMap<String, String>,
    pub uncommitted: BTreeSet<String>,
    /// How many commits lie between the baseline and the current one.
    pub commits: usize,
    /// What else was noticed: refs that moved, repositories within the tree.
    pub findings: Vec<String>,
    /// The files named by the result that a link leads out of the repository.
    pub outside: Vec<String>,
    /// The proposed files that cannot be written, each with the path of the obstacle.
    pub obstructed: Vec<(String, String)>,
    /// The digests of the files that a proposal replaces or deletes, as
    /// [`crate::proposal::digest`] gives them, or [`crate::proposal::ABSENT`].
    pub sources: BTreeMap<String, String>,
}

pub(super) struct Checked {
    pub(super) changed: Vec<RepoPath>,
    pub(super) warnings: Vec<String>,
}

impl Observation {
    pub(crate) fn is_git(&self) -> bool {
        self.head_ref.is_some()
    }

    /// The new base of the run: the commit, or the uncommitted workspace.
    pub(crate) fn integration_ref(&self) -> Option<String> {
        let head = self.head_ref.as_ref()?;
        Some(if self.dirty { "workspace:dirty".into() } else { format!("git:{head}") })
    }

    /// The paths that differ between two observations.
    pub(super) fn drift(&self, later: &Self) -> Vec<String> {
        // Both sets of paths count: a file can also have been reverted to the baseline in the
        // meantime.
        let paths: BTreeSet<&String> = self.changed.keys().chain(later.changed.keys()).collect();
        let moved = paths.into_iter().filter(|path| {
            // The runner itself writes the audit log and other records while it accepts.
            let operational = RepoPath::parse(path).is_ok_and(|path| path.is_operational());
            !operational && self.changed.get(*path) != later.changed.get(*path)
        });
        moved.cloned().collect()
    }

    /// The changes that can be a turn's own. A file of another turn that was accepted since the
    /// assignment belongs to that turn, unless its content changed again: `marker` is the marker of
    /// a file at the acceptance of a turn, where one was recorded.
    pub fn own_changes(
        &self,
        turn: &Turn,
        index: &RunIndex,
        marker: impl Fn(&str, &RepoPath) -> Option<String>,
    ) -> Vec<RepoPath> {
        let mut own = self.attributable(turn.baseline().as_ref());
        own.retain(|path| {
            let Some(touch) = accepted_since(path, turn, index) else { return true };
            let accepted = marker(&touch.turn_id, path);
            accepted.is_some_and(|mark| self.changed.get(path.as_str()) != Some(&mark))
        });
        own
    }

    /// The changes that can be attributed to a turn. Files of the run, and files that were already
    /// changed in the same way at assignment, are excluded.
    pub fn attributable(&self, baseline: Option<&Baseline>) -> Vec<RepoPath> {
        let dirty = baseline.iter().flat_map(|baseline| &baseline.dirty);
        let known: BTreeMap<&str, &str> =
            dirty.map(|(path, mark)| (path.as_str(), mark.as_str())).collect();
        self.changed
            .iter()
            // A file that was dirty at assignment counts only when its content changed again since.
            .filter(|(path, mark)| known.get(path.as_str()) != Some(&mark.as_str()))
            .filter_map(|(path, _)| RepoPath::parse(path).ok())
            .filter(|path| !path.is_operational())
            .collect()
    }
}

pub(super) fn check(
    result: &TurnResult,
    turn: &Turn,
    inputs: &Inputs,
    seen: &Observation,
) -> Result<Checked> {
    if !seen.outside.is_empty() {
        let message = format!("a link leads out of the repository: {}", name_files(&seen.outside));
        let failure = Failure::new(Code::XchainPathOutsideRepository, message);
        return Err(failure.with("files", array(&seen.outside)));
    }
    // Applying the proposal removes the files that it deletes.
    let deleted = result.proposed_deletions();
    let stays = |by: &str| !deleted.iter().any(|path| path.as_str() == by);
    if let Some((path, by)) = seen.obstructed.iter().find(|(_, by)| stays(by)) {
        let (path_name, by) = (shorten_path(path), shorten_path(by));
        let message = format!(
            "the result proposes the file {path_name}, but {by} is in the way; propose to delete \
             it too, or use another path"
        );
        let failure = Failure::new(Code::XchainArtifactError, message);
        return Err(failure.with("files", array(std::slice::from_ref(path))));
    }
    let declared = result.files_changed();
    let mut warnings = seen.findings.clone();
    if !seen.is_git() {
        if !declared.is_empty() {
            warnings.push("without version control the declared files cannot be checked".into());
        }
        return Ok(Checked { changed: declared, warnings });
    }
    let role = inputs.config.role(turn.role());
    let runtime = turn.runtime_id().and_then(|id| inputs.config.runtime(id));
    // A remote worker has no access to the working tree. It declares proposals, and observed
    // changes are not its own.
    let from_afar = runtime.is_some_and(|runtime| RuntimeType::only_proposes(runtime.kind));
    let observed = seen.attributable(turn.baseline().as_ref());
    // A file that another turn changed and that was accepted meanwhile belongs to that turn.
    let others = |path: &RepoPath| accepted_since(path, turn, &inputs.index).is_some();
    let produced = [result.produced_artifacts(), result.ignored_outputs()].concat();
    let is_named = |path: &RepoPath| declared.contains(path) || produced.contains(path);
    let mut undeclared: Vec<&RepoPath> =
        observed.iter().filter(|path| !is_named(path) && !others(path)).collect();
    let unseen: Vec<&RepoPath> = declared.iter().filter(|path| !observed.contains(path)).collect();
    // The changes of the others are in the same working tree, so an undeclared one may be theirs.
    let shared = inputs.state.turns().len() > 1;
    match role.map(|role| role.authority) {
        Some(WriteAuthority::ReviewOnly) => {
            undeclared.retain(|path| !path.is_review());
            undeclared_uncommitted(seen, &undeclared, shared)?;
            review_only(&undeclared, &unseen, shared, &mut warnings)?;
        }
        _ if from_afar => {}
        _ => {
            undeclared.retain(|path| !path.is_baseline_exempt());
            undeclared_uncommitted(seen, &undeclared, shared)?;
            written(&undeclared, shared, &mut warnings)?;
            if !unseen.is_empty() {
                warnings.push(format!("declared and not seen to change: {}", join(&unseen)));
            }
            empty_workspace(result, &observed, &declared)?;
        }
    }
    // The proposed files do not exist yet, so none of them can be observed.
    let changed =
        if from_afar { declared } else { observed.into_iter().filter(is_named).collect() };
    Ok(Checked { changed, warnings })
}

/// The last turn that changed a file, if it was accepted since the assignment of a turn.
fn accepted_since<'a>(path: &RepoPath, turn: &Turn, index: &'a RunIndex) -> Option<&'a Touch> {
    index.touch(path).filter(|touch| touch.accepted_sequence > turn.assigned_sequence())
}

/// Refuses uncommitted changes that the result does not declare. The worker or its checks made
/// them; which of the two is not observed, so neither is named as the cause.
fn undeclared_uncommitted(seen: &Observation, files: &[&RepoPath], shared: bool) -> Result<()> {
    let uncommitted = |path: &&RepoPath| seen.uncommitted.contains(path.as_str());
    let left: Vec<&RepoPath> = files.iter().copied().filter(uncommitted).collect();
    // Changes cannot be attributed while several turns are active.
    if left.is_empty() || shared {
        return Ok(());
    }
    let message = "not committed and not declared by the result";
    Err(mismatch(Code::XchainArtifactDirtyTreeMismatch, message, &left))
}

fn review_only(
    product: &[&RepoPath],
    unseen: &[&RepoPath],
    shared: bool,
    warnings: &mut Vec<String>,
) -> Result<()> {
    if !product.is_empty() && !shared {
        let message = "changed by a review-only role, which may change only reviews";
        return Err(mismatch(Code::XchainArtifactMismatch, message, product));
    }
    if !product.is_empty() {
        warnings.push(format!("changed while several turns were active: {}", join(product)));
    }
    let phantom: Vec<&RepoPath> =
        unseen.iter().copied().filter(|path| !path.is_baseline_exempt()).collect();
    if !phantom.is_empty() {
        let message = "declared by a review and not changed";
        return Err(mismatch(Code::XchainArtifactMismatch, message, &phantom));
    }
    Ok(())
}

fn written(undeclared: &[&RepoPath], shared: bool, warnings: &mut Vec<String>) -> Result<()> {
    if undeclared.is_empty() {
        return Ok(());
    }
    if shared {
        warnings.push(format!("changed and not declared by any result yet: {}", join(undeclared)));
        return Ok(());
    }
    let message = "changed and not declared by the result";
    Err(mismatch(Code::XchainArtifactMismatch, message, undeclared))
}

fn empty_workspace(result: &TurnResult, seen: &[RepoPath], declared: &[RepoPath]) -> Result<()> {
    let claims = result.artifact_type() == Some("workspace");
    let produced = result.produced_artifacts();
    if claims && !seen.iter().any(|path| declared.contains(path) || produced.contains(path)) {
        let message = "the result claims changes in the workspace, but no named file changed";
        return Err(Failure::new(Code::XchainEmptyWorkspaceArtifact, message));
    }
    Ok(())
}

fn mismatch(code: Code, message: &str, files: &[&RepoPath]) -> Failure {
    let names: Vec<&str> = files.iter().map(|path| path.as_str()).collect();
    let count = counted(names.len() as u64, "file");
    let message = format!("{count} {message}: {}", name_files(&names));
    let failure = Failure::new(code, message).with("files", array(&names));
    failure.suggesting(format!("{}; {OF_A_PERSON}", code.meaning().trim_end_matches('.')))
}

fn join(files: &[&RepoPath]) -> String {
    let names: Vec<&str> = files.iter().map(|path| path.as_str()).collect();
    name_files(&names)
}
