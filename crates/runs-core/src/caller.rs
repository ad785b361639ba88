//! Whether a worker, a hook or a command of a gate started the command that is running now.
//!
//! Some decisions belong to a person: an approval, a resolution, a merge. A worker has the rights
//! of the person who started it, so it could type the same command. The host describes the calling
//! process, and this module refuses one that a worker started.
//!
//! This is no sandbox. A worker that clears its environment, leaves its process group and outlives
//! all its parents cannot be distinguished from a person's own script.

use accord_contract::codes::{Code, Failure};

use crate::TurnId;

/// The variable that names the turn of a worker.
const TURN: &str = "AGENTXCHAIN_TURN_ID";
/// The variable that names a hook.
const HOOK: &str = "AGENTXCHAIN_HOOK_NAME";
/// The variable that is set for the commands of a gate.
const GATE: &str = "AGENTXCHAIN_GATE_TYPE";

/// The variables that a host reads from the environment of each process. Runtimes, hooks and gates
/// set them for the programs that they start.
pub const MARKS: [&str; 3] = [TURN, HOOK, GATE];

/// The process that calls an operation, as the system describes it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Caller {
    /// The process itself, its parents, and the leaders of its group and session with their
    /// parents.
    pub processes: Vec<CallerProcess>,
}

/// A process that a caller descends from, or whose group or session it is in.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CallerProcess {
    /// Its number.
    pub pid: u64,
    /// Those of [`MARKS`] that are in its environment, if the system shows it.
    pub marks: Vec<(String, String)>,
}

/// Refuses a caller that a worker, a hook or a command of a gate started. `workers` are the
/// processes that work on active turns now.
///
/// # Errors
/// Fails with `not_for_workers`.
pub fn refuse_worker(caller: &Caller, workers: &[(TurnId, u64)]) -> Result<(), Failure> {
    for process in &caller.processes {
        if let Some((turn, _)) = workers.iter().find(|(_, pid)| *pid == process.pid) {
            return Err(refusal(&format!("the worker of {turn}"), process.pid)
                .with("turn_id", turn.as_str()));
        }
        let mark = |name: &str| {
            let found = process.marks.iter().find(|(mark, _)| mark == name);
            found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
        };
        if let Some(turn) = mark(TURN) {
            return Err(
                refusal(&format!("the worker of {turn}"), process.pid).with("turn_id", turn)
            );
        }
        if let Some(hook) = mark(HOOK) {
            return Err(refusal(&format!("the hook {hook}"), process.pid).with("hook_name", hook));
        }
        if mark(GATE).is_some() {
            return Err(refusal("a command of a gate", process.pid));
        }
    }
    Ok(())
}

fn refusal(who: &str, pid: u64) -> Failure {
    let message = format!("{who} started this command (seen at process {pid})");
    Failure::new(Code::XchainNotForWorkers, message).with("pid", pid).suggesting(
        "a person must run it, in a shell that no worker started; a worker asks for it in its \
         result (phase_transition_request, run_completion_request, or status needs_human with a \
         reason)",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: u64, marks: &[(&str, &str)]) -> CallerProcess {
        let marks = marks.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        CallerProcess { pid, marks: marks.collect() }
    }

    fn turn() -> TurnId {
        TurnId::parse("turn_1").expect("an id")
    }

    #[test]
    fn a_caller_that_no_worker_started_may_decide() {
        let caller = Caller { processes: vec![process(7, &[]), process(1, &[])] };
        refuse_worker(&caller, &[(turn(), 8)]).expect("a person");
        refuse_worker(&Caller::default(), &[(turn(), 8)]).expect("unknown");
        // Set to nothing is the way to remove a variable where it cannot be unset.
        let caller = Caller { processes: vec![process(7, &[(TURN, "")])] };
        refuse_worker(&caller, &[]).expect("no mark");
    }

    #[test]
    fn a_mark_at_any_parent_is_enough() {
        for (mark, value, who) in [
            (TURN, "turn_2", "the worker of turn_2"),
            (HOOK, "check", "the hook check"),
            (GATE, "phase_transition", "a command of a gate"),
        ] {
            let parents = vec![process(7, &[]), process(6, &[(mark, value)]), process(1, &[])];
            let refused = refuse_worker(&Caller { processes: parents }, &[]).unwrap_err();
            assert_eq!(refused.code, Code::XchainNotForWorkers);
            assert!(refused.message.starts_with(who), "{}", refused.message);
            assert!(refused.message.contains("process 6"), "{}", refused.message);
            assert!(refused.suggestion.is_some());
        }
    }

    #[test]
    fn the_process_of_a_worker_needs_no_mark() {
        let caller = Caller { processes: vec![process(7, &[]), process(6, &[])] };
        let refused = refuse_worker(&caller, &[(turn(), 6)]).unwrap_err();
        assert_eq!(refused.code, Code::XchainNotForWorkers);
        let details = refused.details.expect("details");
        assert_eq!((&details["turn_id"], &details["pid"]), (&"turn_1".into(), &6.into()));
    }
}
