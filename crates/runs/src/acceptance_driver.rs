//! Drives an acceptance: executes each `Want` of the state machine in runs-core, and decides
//! nothing.

use std::path::Path;
use std::slice;
use std::time::Duration;

use accord_contract::{Code, Failure};
use accord_process::{Ending, Invocation, Spec, is_followed};
use accord_runs_core::accept::{Acceptance, Answer, CommitKind, Conclusion, Observation, Want};
use accord_runs_core::guard::guarded_files;
use accord_runs_core::{Baseline, HookPhase, RepoPath, Result, TurnId};

use crate::{Git, Notice, Operation, git, own_path};

const REPLAY_LIMIT: Duration = Duration::from_secs(900);

/// Drives an acceptance to its end. The state of the operation is then the one on disk. A result
/// with a `refusal` is not read.
pub(crate) fn drive_acceptance(
    operation: &mut Operation<'_>,
    mut machine: Acceptance,
    mut refusal: Option<Failure>,
) -> Result<Conclusion> {
    let turn = machine.turn().id().clone();
    let by_hand = operation.is_by_hand(machine.turn());
    let git = operation.git();
    let git = git.as_ref().map(Option::as_ref);
    // Kept for the hooks: the result is guarded while they run, and restored if one removes it.
    let mut staged = None;
    loop {
        let answer = match machine.want().clone() {
            Want::Staging(_) if refusal.is_some() => {
                refusal.take().map_or(Answer::Staging(None), Answer::Unusable)
            }
            Want::Staging(paths) => {
                let found = operation.locked.staged(&paths);
                let found = found.inspect(|found| staged.clone_from(found));
                usable(found.map(Answer::Staging).map_err(Failure::from))?
            }
            Want::Hooks(batch) => {
                let phase = batch.phase;
                let path = staged.as_ref().map(|(path, _)| path);
                let guarded = guarded(operation, &machine, phase, path);
                let (locked, environment) = (&operation.locked, operation.environment);
                let report = crate::hooks::run(batch, locked, environment, &guarded)?;
                // Files that a person must judge now must still exist.
                if let Some((path, bytes)) = staged.as_ref().filter(|_| report.failure().is_some())
                    && operation.locked.staged(slice::from_ref(path))?.is_none()
                {
                    operation.locked.write(&own_path(path)?, bytes)?;
                }
                if phase == HookPhase::AfterAcceptance {
                    crate::hooks::keep_annotations(&report, &turn, locked, operation.now())?;
                }
                Answer::Hooks(report)
            }
            Want::Clean(paths) => {
                // If git fails here, the failure is reported when the changes of the turn are read.
                let cleaned = git.map(|git| clean(operation, git, &paths));
                match cleaned.unwrap_or(Ok(())) {
                    Err(failure) if git::is_refusal(&failure) => Answer::Cleaned,
                    Err(failure) if failure.code == Code::XchainReservedPathViolation => {
                        Answer::Unusable(failure)
                    }
                    cleaned => cleaned.map(|()| Answer::Cleaned)?,
                }
            }
            Want::Observe { baseline, named, proposed, deleted } => {
                let observed = watching(git, baseline.as_ref())
                    .and_then(|git| {
                        git.map(|git| git.observe(baseline.as_ref(), by_hand)).transpose()
                    })
                    .and_then(|seen| complete(operation, seen, &named, &proposed))
                    .and_then(|seen| add_sources(operation, seen, &[proposed, deleted].concat()));
                usable(observed.map(Answer::Observed))?
            }
            Want::Files(paths) => {
                usable(operation.locked.texts(&paths).map(Answer::Files).map_err(Failure::from))?
            }
            Want::Replay(commands) => {
                let ran = commands.iter().map(|command| replay(operation, &turn, command));
                let ran = ran.collect();
                // A command that was killed must not count as a verification that failed.
                operation.environment.check_cancelled()?;
                Answer::Replayed(ran)
            }
            Want::Commit(commit) => {
                let committed = operation.locked.commit(&commit).map(|_| Answer::Committed);
                match committed.map_err(Failure::from) {
                    // The records of a refusal contain no file that the result names.
                    answer if commit.kind == CommitKind::Accept => usable(answer)?,
                    answer => answer?,
                }
            }
            Want::Done(outcome) => {
                operation.state = match &*outcome {
                    Conclusion::Accepted(accepted) => accepted.state.clone(),
                    Conclusion::Refused { state, .. } => (**state).clone(),
                };
                return Ok(*outcome);
            }
        };
        machine.answer(answer, operation.now())?;
    }
}

fn guarded(
    operation: &Operation<'_>,
    machine: &Acceptance,
    phase: HookPhase,
    staged: Option<&String>,
) -> Vec<String> {
    let turn = machine.turn().id();
    let bundle = operation.locked.bundle(turn).unwrap_or_default();
    let mut paths = guarded_files(phase, turn, &bundle, staged.map(String::as_str));
    // `protect` fails for a file that cannot be read, and the hooks could not run.
    paths.retain(|path| {
        let read = operation.locked.staged(slice::from_ref(path));
        matches!(read, Ok(Some(_)))
    });
    paths
}

/// The version control that a turn was measured with. If it no longer exists, or the worker left it
/// unusable, the result is refused.
fn watching<'g>(
    git: Result<Option<&'g Git>, &Failure>,
    baseline: Option<&Baseline>,
) -> Result<Option<&'g Git>> {
    let was_there = baseline.is_some_and(|baseline| baseline.head_ref.is_some());
    match git {
        // Without git every change of the turn would pass unseen.
        Ok(None) if was_there => {
            let message = "the repository was under git when the turn was assigned, and is not \
                           now: .git is gone, or core.bare or core.worktree turns git away";
            Err(git::changed(message.to_owned()))
        }
        Ok(git) => Ok(git),
        Err(failure) => Err(failure.clone()),
    }
}

/// The changes, those of them that lead out of the repository, and the reasons why proposed files
/// cannot be written.
fn complete(
    operation: &Operation<'_>,
    seen: Option<Observation>,
    named: &[RepoPath],
    proposed: &[RepoPath],
) -> Result<Observation> {
    let mut seen = seen.unwrap_or_default();
    seen.outside = operation.locked.leading_out(named)?;
    // `obstructed` fails for a path that leads out, for which the result is refused anyway.
    if seen.outside.is_empty() {
        seen.obstructed = operation.locked.obstructed(proposed)?;
    }
    Ok(seen)
}

fn add_sources(
    operation: &Operation<'_>,
    mut seen: Observation,
    files: &[RepoPath],
) -> Result<Observation> {
    // A path that leads out is not read. The result is refused for it.
    if seen.outside.is_empty() {
        for path in files {
            seen.sources.insert(path.to_string(), operation.locked.digest(path)?);
        }
    }
    Ok(seen)
}

/// A check of a result. If it fails because of what the worker left, the result is refused; any
/// other failure is the failure of the operation.
fn usable(answer: Result<Answer>) -> Result<Answer> {
    match answer {
        Err(failure) if git::is_refusal(&failure) => {
            let why = "git cannot be asked as it could when the turn was assigned";
            Ok(Answer::Unusable(git::changed(format!("{why}: {}", failure.message))))
        }
        Err(failure) if is_unusable(&failure) => Ok(Answer::Unusable(failure)),
        other => other,
    }
}

/// Whether a failure is caused by what a worker left, not by the machine.
pub(crate) fn is_unusable(failure: &Failure) -> bool {
    matches!(
        failure.code,
        Code::XchainFileTooLarge
            | Code::XchainNotAFile
            | Code::XchainPathOutsideRepository
            | Code::XchainPathObstructed
            | Code::XchainVersionControlChanged
    )
}

/// Deletes files that git shows as new. Without git no file is deleted.
fn clean(operation: &Operation<'_>, git: Option<&Git>, paths: &[RepoPath]) -> Result<()> {
    let Some(git) = git else { return Ok(()) };
    let new = git.changes()?.untracked;
    // The result names these paths. It must not make this process delete a tracked file.
    let named = paths.iter().filter(|path| new.contains(path.as_str()));
    for path in named {
        // A worker in a sandbox cannot make or delete it, so it may be that of a person.
        if is_followed(Path::new(path.as_str())) {
            let message = format!("agents or editors execute {path}, so it is not deleted");
            let failure = Failure::new(Code::XchainReservedPathViolation, message);
            return Err(failure.suggesting("look at the file, then remove or commit it"));
        }
        operation.locked.remove(path)?;
    }
    Ok(())
}

/// Runs a command of a declared verification again, if a policy of the configuration requires it.
/// Evidence is a shell command line.
fn replay(operation: &Operation<'_>, turn: &TurnId, command: &str) -> Option<i64> {
    operation.environment.notify(&Notice::CommandStarted { command: command.to_owned() });
    let invocation = Invocation::new("/bin/sh", ["-c", command])
        .as_worker(operation.root(), turn.as_str())
        .cwd(operation.root())
        .env("AGENTXCHAIN_TURN_ID", turn.as_str());
    // The worker wrote the command, so it has no more rights than the worker had.
    let invocation = operation.environment.confined(invocation, operation.root()).ok()?;
    let mut spec = Spec::new(invocation).time_limit(REPLAY_LIMIT);
    if let Some(cancel) = operation.environment.cancel_token() {
        spec = spec.cancel(cancel.clone());
    }
    match accord_process::run(&spec).ok()?.ending {
        Ending::Exited(code) => Some(code.into()),
        _ => None,
    }
}
