//! Whether a worker started the process that asks: the command that is running now, or the client
//! at the other end of a connection. A worker has the rights of the person who started it, so it
//! could take decisions that belong to a person.
//!
//! [`MARKS`] has the marks of every protocol, because a worker of one must not decide in another.
//!
//! This is no sandbox. A worker that clears its environment, leaves its process group and outlives
//! all its parents cannot be distinguished from a person's own script.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use accord_contract::{Code, Failure};

use crate::{ActorId, KnownBy, Presence, ProjectId};

/// The files of a governed repository that judge a worker, whichever protocol it works for.
pub const RUN_FILES: [&str; 3] = ["agentxchain.json", "agentxchain-multi.json", ".agentxchain"];
/// The files of a tree of tasks that judge a worker. The first one marks the tree.
pub const TASK_FILES: [&str; 5] = ["project.yaml", "tasks", "state", "runs", "events"];

/// An environment variable that Accord sets for the programs that it starts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Mark {
    pub variable: &'static str,
    /// What a program with it is.
    kind: &'static str,
    /// The member of a refusal that has the value; none where the value is no name.
    member: Option<&'static str>,
    /// How such a program asks a person instead.
    instead: &'static str,
}

/// The marks of all programs that Accord starts for others.
pub const MARKS: [Mark; 4] = [
    Mark::new("AGENTXCHAIN_TURN_ID", "the worker of", Some("turn_id"), OF_RUNS),
    Mark::new("AGENTXCHAIN_HOOK_NAME", "the hook", Some("hook_name"), OF_RUNS),
    Mark::new("AGENTXCHAIN_GATE_TYPE", "a command of a gate", None, OF_RUNS),
    Mark::new("ACCORD_TASK_ID", "the worker of", Some("task_id"), OF_TASKS),
];

impl Mark {
    const fn new(
        variable: &'static str,
        kind: &'static str,
        member: Option<&'static str>,
        instead: &'static str,
    ) -> Self {
        Self { variable, kind, member, instead }
    }
}

/// How the worker of a governed run asks.
const OF_RUNS: &str = "a person must run it, in a shell that no worker started; a worker asks for \
                       it in its result (phase_transition_request, run_completion_request, or \
                       status needs_human with a reason)";

/// How the worker of a task asks.
const OF_TASKS: &str = "a person must run it, in a shell that no worker started; a worker asks \
                        for it in its report (outcome needs_review or blocked, with notes)";

/// How a worker asks of which only its supervisor is known.
const OF_BOTH: &str = "a person must run it, in a shell that no worker started; a worker asks for \
                       it in its report or result";

/// The variables with secrets of Accord's. A worker gets none of them: the socket of its attempt
/// is its credential.
pub const SECRETS: [&str; 3] = ["ACCORD_KEY", "ACCORD_SECOND_KEY", "ACCORD_CONFORMANCE_TOKEN"];

/// The variable that names the socket of an attempt.
pub const SOCKET_VARIABLE: &str = "ACCORD_SOCKET";

/// One attempt of a worker: the agent that works, in which project, and on what.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Attempt {
    pub project: ProjectId,
    pub agent: ActorId,
    /// What it works on, for example a task.
    pub work: String,
    /// Which attempt at it this is; `None` if nobody counts them.
    pub id: Option<String>,
}

/// A socket that is served for one attempt, until this value is dropped. It is the worker's
/// credential: what comes through it is the worker's.
pub trait AttemptSocket: Send {
    fn path(&self) -> &Path;
}

type Open = dyn Fn(&Attempt) -> Result<Box<dyn AttemptSocket>, Failure> + Send + Sync;

/// Opens the sockets of attempts.
#[derive(Clone)]
pub struct AttemptSockets(Arc<Open>);

impl AttemptSockets {
    pub fn new<S: AttemptSocket + 'static>(
        open: impl Fn(&Attempt) -> Result<S, Failure> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(move |attempt| Ok(Box::new(open(attempt)?))))
    }

    pub fn open(&self, attempt: &Attempt) -> Result<Box<dyn AttemptSocket>, Failure> {
        (self.0)(attempt)
    }
}

impl fmt::Debug for AttemptSockets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("AttemptSockets")
    }
}

/// The process that calls an operation, as the system describes it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Ancestry {
    /// The process itself, its parents, and the leaders of its group and session with theirs.
    pub processes: Vec<Ancestor>,
    pub has_terminal: bool,
    /// The user of the operating system, if it is known.
    pub os_user: Option<String>,
}

/// A process that a caller descends from, or whose group or session it is in.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Ancestor {
    pub pid: u64,
    /// Those of the variables of [`MARKS`] that are in its environment, if the system shows it.
    pub marks: Vec<(String, String)>,
    /// Whether it starts workers: what it started is one, whatever is in its environment.
    pub is_supervisor: bool,
}

/// A worker that runs now, by its process.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RunningWorker {
    /// What it works on, for example a turn.
    pub work: String,
    /// The member of a refusal that names the work.
    pub member: &'static str,
    pub pid: u64,
}

impl Ancestry {
    /// The value of a mark, at the nearest process that has it.
    pub fn mark(&self, variable: &str) -> Option<&str> {
        let all = self.processes.iter().flat_map(|process| &process.marks);
        let mut found = all.filter(|(name, value)| name == variable && !value.is_empty());
        found.next().map(|(_, value)| value.as_str())
    }
}

/// The sandbox of an agent as it is shown beside a decision, from what was recorded: its name, or
/// `off` and the reason.
pub fn sandbox_line(recorded: &str) -> String {
    match recorded.strip_prefix("off") {
        Some(why) => format!("none{why}: the agent had the rights of your user"),
        None => recorded.to_owned(),
    }
}

/// The variables of [`MARKS`].
pub fn variables() -> [&'static str; MARKS.len()] {
    MARKS.map(|mark| mark.variable)
}

/// A program of Accord's that started a caller.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SeenWorker {
    who: String,
    /// The process at which it was seen; `None` for the socket of its attempt.
    pid: Option<u64>,
    /// The member of a refusal that names its work.
    work: Option<(&'static str, String)>,
    instead: &'static str,
}

impl From<&Attempt> for SeenWorker {
    fn from(attempt: &Attempt) -> Self {
        let who = format!("the worker of {}", attempt.work);
        Self { who, pid: None, work: None, instead: OF_BOTH }
    }
}

impl SeenWorker {
    /// The refusal of what only a person may do.
    pub fn refusal(&self) -> Failure {
        let Self { who, pid, work, instead } = self;
        let mut refused = match pid {
            Some(pid) => {
                let message =
                    format!("{who} started the process that asks (seen at process {pid})");
                Failure::new(Code::NotForWorkers, message).with("pid", *pid)
            }
            None => {
                let message = format!("the request came through the socket of {who}");
                Failure::new(Code::NotForWorkers, message)
            }
        };
        if let Some((member, work)) = work {
            refused = refused.with(member, work.as_str());
        }
        refused.suggesting(*instead)
    }
}

/// The program of Accord's that started a caller, if one did. `workers` run now.
pub fn find_worker(caller: &Ancestry, workers: &[RunningWorker]) -> Option<SeenWorker> {
    caller.processes.iter().find_map(|process| {
        let pid = process.pid;
        if let Some(worker) = workers.iter().find(|worker| worker.pid == pid) {
            let who = format!("the worker of {}", worker.work);
            let work = Some((worker.member, worker.work.clone()));
            return Some(SeenWorker { who, pid: Some(pid), work, instead: OF_RUNS });
        }
        if process.is_supervisor {
            let who = "a worker".to_owned();
            return Some(SeenWorker { who, pid: Some(pid), work: None, instead: OF_BOTH });
        }
        MARKS.iter().find_map(|mark| {
            let found = process.marks.iter().find(|(name, _)| name == mark.variable);
            let (_, value) = found.filter(|(_, value)| !value.is_empty())?;
            let (who, work) = match mark.member {
                Some(member) => (format!("{} {value}", mark.kind), Some((member, value.clone()))),
                None => (mark.kind.to_owned(), None),
            };
            Some(SeenWorker { who, pid: Some(pid), work, instead: mark.instead })
        })
    })
}

/// A process of a worker that still runs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StillRunning {
    /// What its worker works on, for example a turn.
    pub work: String,
    pub pid: u64,
    /// When it started, in ticks since the boot.
    pub start: u64,
}

/// Checks that no process of a worker can change what is decided. With `despite`, a person at a
/// terminal or on a page decides all the same, and the presence names the processes. Fails with
/// `worker_still_runs`.
pub fn check_ended(
    running: &[StillRunning],
    despite: bool,
    presence: &mut Presence,
) -> Result<(), Failure> {
    let Some(first) = running.first() else { return Ok(()) };
    let is_there = matches!(presence.known_by, Some(KnownBy::Terminal | KnownBy::Login));
    if despite && is_there {
        let named = |it: &StillRunning| format!("{} of {} (start {})", it.pid, it.work, it.start);
        let named: Vec<String> = running.iter().take(NAMED).map(named).collect();
        presence.left_running = Some(named.join(", "));
        return Ok(());
    }
    let pids: Vec<u64> = running.iter().map(|process| process.pid).collect();
    let shown: Vec<String> = pids.iter().take(NAMED).map(u64::to_string).collect();
    let message = format!(
        "the worker of {} has processes that still run, and that could change what is decided: {}",
        first.work,
        shown.join(", ")
    );
    let suggestion = match despite {
        true => "only a person at a terminal or on a page can decide in spite of them",
        false => {
            "wait until they have ended, or end them with kill; a person at a terminal can decide \
             in spite of them with --despite-leftovers, and the record will name them"
        }
    };
    Err(Failure::new(Code::WorkerStillRuns, message).with("pids", pids).suggesting(suggestion))
}

/// The most processes that a message or a record names.
const NAMED: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_still_runs_stops_a_decision_unless_a_person_is_there() {
        let left = [StillRunning { work: "turn_1".to_owned(), pid: 7, start: 99 }];
        let mut at_terminal = Presence::from(KnownBy::Terminal);
        assert_eq!(check_ended(&[], false, &mut at_terminal), Ok(()));
        let refused = check_ended(&left, false, &mut at_terminal).expect_err("it runs");
        assert_eq!(refused.code, Code::WorkerStillRuns);
        assert_eq!(refused.details.expect("details")["pids"], serde_json::json!([7]));
        for known_by in [KnownBy::Key, KnownBy::Nothing] {
            check_ended(&left, true, &mut known_by.into()).expect_err("nobody is there");
        }
        assert_eq!(at_terminal.left_running, None);
        for known_by in [KnownBy::Terminal, KnownBy::Login] {
            let mut presence = known_by.into();
            assert_eq!(check_ended(&left, true, &mut presence), Ok(()));
            assert_eq!(presence.left_running.as_deref(), Some("7 of turn_1 (start 99)"));
        }
    }

    fn process(pid: u64, marks: &[(&str, &str)]) -> Ancestor {
        let marks = marks.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Ancestor { pid, marks: marks.collect(), is_supervisor: false }
    }

    fn ancestry(processes: Vec<Ancestor>) -> Ancestry {
        Ancestry { processes, has_terminal: false, os_user: None }
    }

    fn worker(pid: u64) -> RunningWorker {
        RunningWorker { work: "turn_1".to_owned(), member: "turn_id", pid }
    }

    #[test]
    fn a_caller_that_no_worker_started_may_decide() {
        let caller = ancestry(vec![process(7, &[]), process(1, &[])]);
        assert_eq!(find_worker(&caller, &[worker(8)]), None);
        // Set to nothing is the way to remove a variable where it cannot be unset.
        let caller = ancestry(vec![process(7, &[("ACCORD_TASK_ID", "")])]);
        assert_eq!(find_worker(&caller, &[]), None);
    }

    #[test]
    fn a_mark_at_any_parent_is_enough() {
        for (mark, value, who, ask) in [
            ("AGENTXCHAIN_TURN_ID", "turn_2", "the worker of turn_2", "needs_human"),
            ("AGENTXCHAIN_HOOK_NAME", "check", "the hook check", "needs_human"),
            ("AGENTXCHAIN_GATE_TYPE", "phase_transition", "a command of a gate", "needs_human"),
            (
                "ACCORD_TASK_ID",
                "TASK-2026-02-09-001",
                "the worker of TASK-2026-02-09-001",
                "needs_review",
            ),
        ] {
            let parents = vec![process(7, &[]), process(6, &[(mark, value)]), process(1, &[])];
            let caller = ancestry(parents);
            let refused = find_worker(&caller, &[]).expect("a worker").refusal();
            assert_eq!(refused.code, Code::NotForWorkers);
            assert!(refused.message.starts_with(who), "{}", refused.message);
            assert!(refused.message.contains("process 6"), "{}", refused.message);
            assert!(refused.suggestion.expect("what to do").contains(ask), "{mark}");
        }
    }

    #[test]
    fn what_a_supervisor_started_needs_no_mark() {
        let supervisor = Ancestor { is_supervisor: true, ..process(6, &[]) };
        let caller = ancestry(vec![process(7, &[]), supervisor]);
        let refused = find_worker(&caller, &[]).expect("a worker").refusal();
        assert_eq!(refused.code, Code::NotForWorkers);
        assert!(refused.message.contains("process 6"), "{}", refused.message);
    }

    #[test]
    fn the_nearest_process_with_a_mark_counts() {
        let marks = |value| process(6, &[("ACCORD_TASK_ID", ""), ("AGENTXCHAIN_TURN_ID", value)]);
        let caller = ancestry(vec![process(7, &[]), marks("near"), marks("far")]);
        assert_eq!(caller.mark("AGENTXCHAIN_TURN_ID"), Some("near"));
        assert_eq!(caller.mark("ACCORD_TASK_ID"), None);
    }

    #[test]
    fn the_process_of_a_worker_needs_no_mark() {
        let caller = ancestry(vec![process(7, &[]), process(6, &[])]);
        let refused = find_worker(&caller, &[worker(6)]).expect("a worker").refusal();
        assert_eq!(refused.code, Code::NotForWorkers);
        let details = refused.details.expect("details");
        assert_eq!((&details["turn_id"], &details["pid"]), (&"turn_1".into(), &6.into()));
    }
}
