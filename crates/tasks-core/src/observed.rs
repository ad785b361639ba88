//! Checks of a task, and what a person reads about the last run beside the words of its agent.
//!
//! `metadata.checks` has the argument lists, `metadata.observed` what Accord saw. Both are held
//! against edits of the task file ([`referee`](crate::referee)).

use accord_base::client_output::ClientCost;
use accord_base::worker;
use accord_contract::{Code, Failure, Value, Wire as _};

use crate::operations::{CHECKS, TaskCheck, TaskCost, TaskObserved};
use crate::run::Run;
use crate::task::Task;

/// The member of the metadata with the argument lists of the checks.
pub const CHECKS_OF: &str = "checks";
/// The member of the metadata with what Accord observed.
pub const OBSERVED: &str = "observed";

/// The most arguments of a check, and the longest argument.
const ARGUMENTS: usize = 64;
const ARGUMENT_BYTES: usize = 4_096;

/// The checks of a task. `None` if its file has something else in their place.
pub fn checks(task: &Task) -> Option<Vec<Vec<String>>> {
    let Some(value) = task.metadata(CHECKS_OF).filter(|value| !value.is_null()) else {
        return Some(Vec::new());
    };
    read_checks(value)
}

/// Reads argument lists. `None` if they are not such lists, or beyond the limits.
pub fn read_checks(value: &Value) -> Option<Vec<Vec<String>>> {
    let text = |word: &Value| Some(word.as_str()?.to_owned());
    let list = |check: &Value| check.as_array()?.iter().map(text).collect::<Option<Vec<_>>>();
    let lists: Vec<Vec<String>> = value.as_array()?.iter().map(list).collect::<Option<_>>()?;
    check_lists(&lists).is_ok().then_some(lists)
}

/// Checks the argument lists of a request.
pub fn check_lists(lists: &[Vec<String>]) -> Result<(), Failure> {
    let is_word = |word: &String| word.len() <= ARGUMENT_BYTES && !word.contains('\0');
    let is_list = |list: &Vec<String>| {
        list.first().is_some_and(|program| !program.is_empty())
            && list.len() <= ARGUMENTS
            && list.iter().all(is_word)
    };
    if lists.len() <= CHECKS && lists.iter().all(is_list) {
        return Ok(());
    }
    let message = format!(
        "checks are at most {CHECKS} lists, each with a program and at most {ARGUMENTS} words of \
         {ARGUMENT_BYTES} bytes"
    );
    Err(Failure::new(Code::WireFieldValue, message).at("/checks"))
}

/// What Accord observed about the last run of a task. That of an earlier run does not count.
pub fn observed(task: &Task, run: Option<&Run>) -> Option<TaskObserved> {
    let observed = TaskObserved::from_document(task.metadata(OBSERVED)?.clone()).ok()?;
    let is_last = run.is_some_and(|run| run.run_id.as_ref() == Some(&observed.run_id));
    is_last.then_some(observed)
}

/// What all runs of a task cost with this one, whose client says this. A run that is recorded again
/// counts once.
pub fn total_cost(task: &Task, run_id: &str, cost: Option<TaskCost>) -> Option<TaskCost> {
    let before = task.metadata(OBSERVED).cloned();
    let before = before.and_then(|document| TaskObserved::from_document(document).ok());
    let is_again = before.as_ref().is_some_and(|before| before.run_id == run_id);
    match before.and_then(|before| before.cost) {
        Some(before) if is_again => Some(before),
        Some(before) => {
            let more = cost.as_ref().map(ClientCost::from).unwrap_or_default();
            Some(ClientCost::from(&before).plus(more).into())
        }
        None => cost,
    }
}

/// What a task cost, and who says so.
pub fn cost_line(observed: &TaskObserved) -> String {
    match &observed.cost {
        Some(cost) => ClientCost::from(cost).to_string(),
        None => "not known: the output of the agent does not say it".to_owned(),
    }
}

/// What a person should look at before a decision: checks that failed or were not run, and files
/// that the report declares and that do not exist.
pub fn findings(task: &Task, observed: Option<&TaskObserved>, missing: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    match (checks(task), observed) {
        (None, _) => found.push("metadata.checks has no lists of arguments: none was run".into()),
        (Some(checks), None) if !checks.is_empty() => {
            let count = counted(checks.len());
            let why = "the agent has not ended, or Accord did not start it";
            found.push(format!("{count} not run: {why} (`accord task check` runs them)"));
        }
        (Some(checks), Some(observed)) if checks.len() > observed.checks.len() => {
            let count = counted(checks.len() - observed.checks.len());
            found.push(format!("{count} not run: the agent ended without a report"));
        }
        _ => {}
    }
    let failed = observed.iter().flat_map(|observed| &observed.checks);
    let failed = failed.filter(|check| check.exit_code != Some(0));
    found.extend(failed.map(|check| format!("check failed: {}", described(check))));
    found.extend(missing.iter().map(|path| format!("declared file does not exist: {path}")));
    let executed = observed.and_then(|observed| observed.executed.as_ref());
    found.extend(executed.map(|paths| {
        let what = "git, agents or editors execute or follow it";
        format!("changed while the agent ran: {} ({what})", paths.join(", "))
    }));
    found
}

fn counted(checks: usize) -> String {
    if checks == 1 { "1 check".to_owned() } else { format!("{checks} checks") }
}

/// A check on one line: the command and how it ended.
pub fn described(check: &TaskCheck) -> String {
    let command = shell_words::join(&check.argv);
    match (check.exit_code, &check.problem) {
        (Some(code), _) => format!("{command} (exit code {code})"),
        (None, Some(problem)) => format!("{command} ({problem})"),
        (None, None) => format!("{command} (did not end by itself)"),
    }
}

/// Who says what was seen on another machine, in place of this host.
pub fn said_line(observed: &TaskObserved) -> Option<String> {
    let said_by = observed.said_by.as_ref()?;
    let but = if observed.checked_here == Some(true) { " (the checks ran here)" } else { "" };
    Some(format!("the machine of {said_by}, and not seen by this host{but}"))
}

/// The sandbox of an agent, as the record of a decision has it.
pub fn sandbox_of(observed: &TaskObserved) -> String {
    observed.sandbox.clone() + &says(observed)
}

fn says(observed: &TaskObserved) -> String {
    let by = observed.said_by.as_ref();
    by.map(|by| format!(", says the machine of {by}")).unwrap_or_default()
}

/// What stands for the sandbox of an agent that Accord did not start.
pub const NOT_STARTED: &str = "not known: Accord did not start the agent";

/// The sandbox of an agent, as it is shown beside a decision.
pub fn sandbox_line(observed: Option<&TaskObserved>) -> String {
    match observed {
        None => NOT_STARTED.to_owned(),
        Some(observed) => worker::sandbox_line(&observed.sandbox) + &says(observed),
    }
}
