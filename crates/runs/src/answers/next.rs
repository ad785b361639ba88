//! The next step, as a command to type.

use std::borrow::Cow;

use accord_canon::shorten_path;
use accord_contract::Failure;
use accord_runs_core::dispatch;
use accord_runs_core::liveness::{Stalled, span};
use accord_runs_core::operations::answers::NextAnswer;

use crate::operations::{NextStep, STASHED};

/// How commands name the repository.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CommandNames {
    /// The option of `accord run`, with a space before it; empty in the current folder.
    pub repo: String,
    /// The option of `git`, with a space before it; empty in the current folder.
    pub git: String,
}

/// A command with its reason.
pub fn next_command(command: String, why: String) -> NextAnswer {
    NextAnswer { command: Some(command), why, instead: None }
}

/// A step as a command.
pub fn next_answer(step: &NextStep, names: &CommandNames) -> NextAnswer {
    let run = |words: &str| Some(format!("accord run {words}{}", names.repo));
    let is_stashed = |failure: &Failure| {
        failure.details.as_ref().is_some_and(|details| details.contains_key(STASHED))
    };
    let (command, why) = match step {
        NextStep::Examine(failure) if is_stashed(failure) => {
            (Some(format!("git{} stash pop", names.git)), failure.message.clone())
        }
        NextStep::Examine(failure) => (run("doctor"), failure.message.clone()),
        NextStep::Adopt(failure) => (run("adopt"), failure.message.clone()),
        NextStep::Start { restart: false } => (run("start"), "no run has started".to_owned()),
        NextStep::Start { restart: true } => {
            (run("start --restart"), "the run is completed; start the next one".to_owned())
        }
        NextStep::Assign { role, by_hand: true } => {
            (run(&format!("assign {role}")), format!("{role} is next"))
        }
        NextStep::Assign { role, .. } => {
            (run("step"), format!("{role} is next, and its agent does the work"))
        }
        NextStep::Checkpoint => {
            (run("checkpoint"), "changes of accepted turns are not committed yet".to_owned())
        }
        NextStep::Tidy { files } => tidy(files, names),
        NextStep::Dispatch { turn, by_hand: true, .. } => (
            run(&format!("dispatch --turn {turn}")),
            "the turn is assigned but not dispatched".to_owned(),
        ),
        NextStep::Dispatch { turn, stalled: Some(Stalled { setting, limit, raised }), .. } => (
            run(&format!("step --turn {turn} --silence {}", span(*raised))),
            format!(
                "its worker was ended after {} without a sign of life ({setting}); this starts it \
                 again with more time",
                span(*limit)
            ),
        ),
        NextStep::Dispatch { turn, .. } => (
            run(&format!("step --turn {turn}")),
            "no worker has the turn; this starts its agent".to_owned(),
        ),
        NextStep::Overdue { turn } => (
            run(&format!("reissue --turn {turn} --reason overdue")),
            "the deadline of the turn is over; this gives its work to a new turn".to_owned(),
        ),
        NextStep::Unable { turn, why } => (
            run(&format!("reissue --turn {turn} --role ROLE --reason '…'")),
            format!(
                "{}; this gives the work to another role, or fix that and run the step again",
                why.message
            ),
        ),
        NextStep::Work { turn, by_hand: true, names_files, objects, .. } => {
            let folder = dispatch::bundle_folder(turn);
            let mut why = format!("after you have done the work in {folder}/PROMPT.md");
            if *names_files {
                why += "; repeat --file for each file that you changed: other turns are active";
            }
            (run(&staging(turn.as_str(), *names_files, *objects)), why)
        }
        NextStep::Work { staging, .. } => {
            (None, format!("the worker is busy; its result must be staged in {staging}"))
        }
        NextStep::Accept { turn } => {
            (run(&format!("accept --turn {turn}")), "the result is staged".to_owned())
        }
        NextStep::Reissue { turn } => (
            run(&format!("reissue --turn {turn} --reason accepted")),
            "the history already has the turn, but the state does not; this resolves it".to_owned(),
        ),
        NextStep::Mend { turn, why } => (
            run(&format!("accept --turn {turn}")),
            format!("after you have corrected the result ({why}); or reject the turn"),
        ),
        NextStep::Reconcile { turn, merge: true } => (
            run(&format!("accept --turn {turn} --human-merge")),
            "another turn changed most of the same files; merge them first, or reject the turn"
                .to_owned(),
        ),
        NextStep::Reconcile { turn, .. } => (
            run(&format!("reject --turn {turn} --reason conflict")),
            "another turn changed the same files; or merge them, and accept with --human-merge"
                .to_owned(),
        ),
        NextStep::RaiseBudget { missing } => (
            None,
            format!(
                "raise budget.per_run_max_usd in agentxchain.json, and commit it where git is \
                 used: {missing}"
            ),
        ),
        NextStep::ApproveTransition { gate, to } => (
            run("approve-transition"),
            format!("the gate {gate} needs approval; the next phase is {to}"),
        ),
        NextStep::ApproveCompletion { gate } => (
            run("approve-completion"),
            match gate {
                Some(gate) => {
                    format!("the gate {gate} needs approval; the run is completed after it")
                }
                None => "the completion of the run needs approval".to_owned(),
            },
        ),
        NextStep::SendBack { phase } => (
            run("send-back --reason '…'"),
            format!("drops the request and continues in {phase}; the next prompt has the reason"),
        ),
        NextStep::DecideProposal { turn, files } => (
            run(&format!("proposal show {turn}")),
            match files {
                1 => "a proposed file waits; apply the proposal or drop it".to_owned(),
                files => format!("{files} proposed files wait; apply the proposal or drop it"),
            },
        ),
        NextStep::Resolve { action } => (run("resolve"), action.clone()),
    };
    let instead = matches!(step, NextStep::SendBack { .. }).then_some(true);
    NextAnswer { command, why, instead }
}

/// The step after a result was staged that would be refused. `names_files` says whether its
/// files were named, `objects` whether it needs an objection.
pub fn stage_again(
    turn: &str,
    names_files: bool,
    objects: bool,
    names: &CommandNames,
) -> NextAnswer {
    let command = format!("accord run {}{}", staging(turn, names_files, objects), names.repo);
    let why = "after you have corrected that; it replaces the staged result";
    next_command(command, why.to_owned())
}

/// The command that stages a turn of a person.
fn staging(turn: &str, names_files: bool, objects: bool) -> String {
    let files = if names_files { "--file PATH " } else { "" };
    let objection = if objects { " --objection '…'" } else { "" };
    format!("stage --turn {turn} {files}--summary '…'{objection}")
}

/// Commits or stashes the files that belong to no turn. They are named one by one, because a
/// stash of everything would include the records of the run.
fn tidy(files: &[String], names: &CommandNames) -> (Option<String>, String) {
    const MOST: usize = 5;
    const MAX_BYTES: usize = 500;
    let within = &names.git;
    let (what, belongs) = match files {
        [only] => (format!("{} is", shorten_path(only)), "belongs"),
        files => (format!("{} files are", files.len()), "belong"),
    };
    let (command, names) = match files.len() {
        // A command that is longer than a few lines is of no use.
        0..=MOST if files.iter().map(String::len).sum::<usize>() <= MAX_BYTES => {
            let files = files.iter().map(|file| shell_words::quote(file));
            let names = files.collect::<Vec<Cow<'_, str>>>().join(" ");
            let command = format!("git{within} add -- {names} && git{within} commit");
            (command, names)
        }
        _ => (format!("git{within} status"), "FILE…".to_owned()),
    };
    let why = format!(
        "{what} not committed and {belongs} to no turn: commit, or stash with \
         git{within} stash push -u -- {names}"
    );
    (Some(command), why)
}
