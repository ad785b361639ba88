//! Carries an acceptance out: does what the machine wants, and nothing else.

use std::time::Duration;

use accord_contract::codes::{Code, Failure};
use accord_governance::accept::{Acceptance, Answer, Observation, Outcome, Want};
use accord_governance::hooks::HookPhase;
use accord_governance::state::Baseline;
use accord_governance::{RepoPath, TurnId};
use accord_process::{Ending, Invocation, Spec};

use crate::git::Git;
use crate::work::Work;
use crate::world::Notice;

/// How long one command of a declared verification may take when it is run again.
const REPLAY_LIMIT: Duration = Duration::from_secs(900);

/// Carries an acceptance to its end. The state of the work is then the one on disk.
pub(crate) fn drive(work: &mut Work<'_>, mut machine: Acceptance) -> Result<Outcome, Failure> {
    let turn = machine.turn().id().clone();
    let baseline = machine.turn().baseline();
    let git = work.git()?;
    loop {
        let answer = match machine.want().clone() {
            Want::Staging(paths) => usable(
                work.held
                    .staged(&paths)
                    .map(Answer::Staging)
                    .map_err(Failure::from),
            )?,
            Want::Hooks(batch) => {
                let phase = batch.phase;
                let said = crate::hooks::run(batch, &work.held, work.world, &[])?;
                if phase == HookPhase::AfterAcceptance {
                    crate::hooks::keep_annotations(&said, &turn, &work.held, work.now())?;
                }
                Answer::Hooks(said)
            }
            Want::Clean(paths) => {
                clean(work, git.as_ref(), baseline.as_ref(), &paths)?;
                Answer::Cleaned
            }
            Want::Observe(baseline) => {
                let named = machine.named_files();
                usable(observe(work, git.as_ref(), baseline.as_ref(), &named))?
            }
            Want::Files(paths) => usable(
                work.held
                    .texts(&paths)
                    .map(Answer::Files)
                    .map_err(Failure::from),
            )?,
            Want::Replay(commands) => {
                let ran = commands.iter().map(|command| replay(work, &turn, command));
                let ran = ran.collect();
                work.world.check_word()?;
                Answer::Replayed(ran)
            }
            Want::Commit(commit) => {
                work.held.commit(&commit)?;
                Answer::Committed
            }
            Want::Done(outcome) => {
                work.state = match &*outcome {
                    Outcome::Accepted(accepted) => accepted.state.clone(),
                    Outcome::Refused { state, .. } => (**state).clone(),
                };
                return Ok(*outcome);
            }
        };
        machine.answer(answer, work.now())?;
    }
}

/// What changed, and what of it leads out of the repository.
fn observe(
    work: &Work<'_>,
    git: Option<&Git>,
    baseline: Option<&Baseline>,
    named: &[RepoPath],
) -> Result<Answer, Failure> {
    let mut seen = match git {
        Some(git) => git.observe(baseline)?,
        None => Observation::default(),
    };
    seen.outside = work.held.leading_out(named)?;
    Ok(Answer::Observed(seen))
}

/// An answer about a result; that it cannot be looked at is one too, and speaks against the
/// result. What else stands in the way says nothing about it.
fn usable(answer: Result<Answer, Failure>) -> Result<Answer, Failure> {
    match answer {
        Err(failure) if is_unusable(&failure) => Ok(Answer::Unusable(failure)),
        other => other,
    }
}

/// Whether a failure is about what a worker left, not about the machine.
pub(crate) fn is_unusable(failure: &Failure) -> bool {
    matches!(
        failure.code,
        Code::XchainFileTooLarge | Code::XchainNotAFile | Code::XchainPathOutsideRepository
    )
}

/// Deletes what a verification left behind: only what git sees as new, and what was not there
/// when the turn was assigned. Without git nobody can tell, and nothing is deleted.
fn clean(
    work: &Work<'_>,
    git: Option<&Git>,
    baseline: Option<&Baseline>,
    paths: &[RepoPath],
) -> Result<(), Failure> {
    let Some(git) = git else { return Ok(()) };
    let new = git.changes()?.untracked;
    let was_there = |path: &RepoPath| {
        let dirty = baseline.map_or(&[][..], |baseline| &baseline.dirty);
        dirty.iter().any(|(known, _)| known == path.as_str())
    };
    for path in paths {
        if new.contains(path.as_str()) && !was_there(path) && !path.is_reserved() {
            work.held.remove(path)?;
        }
    }
    Ok(())
}

/// Runs a command of a declared verification again. A policy of the configuration asks for it;
/// evidence is a line for a shell, so a shell reads it.
fn replay(work: &Work<'_>, turn: &TurnId, command: &str) -> Option<i64> {
    work.world.tell(&Notice::CommandStarted {
        command: command.to_owned(),
    });
    let invocation = Invocation::new("/bin/sh", ["-c", command])
        .cwd(work.root())
        .env("AGENTXCHAIN_TURN_ID", turn.as_str());
    let mut spec = Spec::new(invocation).time_limit(REPLAY_LIMIT);
    if let Some(cancel) = work.world.cancel_word() {
        spec = spec.cancel(cancel.clone());
    }
    match accord_process::run(&spec).ok()?.ending {
        Ending::Exited(code) => Some(code.into()),
        _ => None,
    }
}
