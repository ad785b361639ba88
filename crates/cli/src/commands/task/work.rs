//! `accord task work`: claims tasks for an agent and runs its program, one task after another.
//!
//! The worker asks the host of the tasks for every change, and holds no lock between operations.
//! If the files of the tasks are on another machine, each run has a folder here
//! ([`super::remote`]). The scheduler's executor runs agents in the same way
//! ([`accord_tasks::worker`]).

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

use accord_api::{Call, Json};
use accord_base::Door;
use accord_base::worker::AttemptSockets;
use accord_contract::{Code, Failure, Timestamp};
use accord_host::serve::AttemptSocket;
use accord_process::{Cancel, Sandbox, SandboxRules};
use accord_system::now;
use accord_tasks::worker::{
    AgentCommand, AgentRun, ClaimIntent, RemoteFolder, RemoteRun, RunOperations, WorkEnd,
    WorkSignal, is_away, left_runs, tidy,
};
use accord_tasks_core::briefing::Audience;
use accord_tasks_core::lease::LeaseTimes;
use accord_tasks_core::observed::{CHECKS_OF, described, read_checks};
use accord_tasks_core::operations::{
    Acting as Who, BlockEnd, BriefingAnswer, ClaimAnswer, ClaimNextAnswer, ListAnswer, ListQuery,
    ListTasks, PollRequest, PollTasks, TaskItem,
};
use accord_tasks_core::{Status, TaskId};
use serde_json::json;

use super::acting::AgentArgs;
use super::briefing::{BriefingArgs, briefing_of};
use super::change::FitsArgs;
use super::place::{Place, PlaceArgs, document};
use super::remote::{Remote, note};
use super::remote_hub::RemoteHub;
use super::run_agent::{AgentOutput, AgentProgram};
use super::work_host::WorkHost;
use crate::commands::edge::apply_during;
use crate::commands::launch::use_launcher;
use crate::interrupt::cancel_on_signal;
use crate::render::{self, Page, Times, clean, counted, one_line};
use crate::{CliError, Exit, Result, print_line, print_note};

/// How often a task on which this agent failed is left to others before it is taken again.
const PATIENCE: u32 = 3;

/// The reason of a claim that leaves such a task.
const LEFT_TO_OTHERS: &str = "left_to_others";

/// How long to wait before the tree is asked again for a task.
const PAUSE: Duration = Duration::from_millis(500);

/// How often a waiting worker checks whether it is cancelled.
const STEP: Duration = Duration::from_millis(50);

/// How many tasks are asked for at once.
const MOST: u32 = 500;

/// The most tasks that are named when a worker leaves them.
const LEFT_SHOWN: u32 = 20;

const KEEPS_NOTHING: &str = "workers.keep has no effect in bubblewrap: all that the agent starts \
                             ends with it";

/// Claim tasks for an agent and run its program on them, until Ctrl-C
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct WorkArgs {
    /// The agent: claude, codex, gemini or opencode, or a command, as in 'my-agent {prompt}', which
    /// gets the briefing on standard input without {prompt}
    #[arg(long, value_name = "AGENT")]
    agent: String,

    #[command(flatten)]
    name: AgentArgs,
    #[command(flatten)]
    fits: FitsArgs,

    /// End after one task; exit code 1 if there was none
    #[arg(long, conflicts_with_all = ["max", "drain"])]
    once: bool,

    /// End after this number of tasks
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max: Option<u64>,

    /// End when no ready task fits, none is in progress here, and none is tried again by itself
    #[arg(long)]
    drain: bool,

    /// The longest time for one task, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 3_600)]
    time_limit: u64,

    #[command(flatten)]
    briefing: BriefingArgs,

    /// Show what the agent says, calls, and what fails
    #[arg(short, long)]
    verbose: bool,

    #[command(flatten)]
    place: PlaceArgs,
}

/// What a worker did.
#[derive(Default)]
struct Tally {
    tasks: u64,
    failed: u64,
}

impl WorkArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let program = AgentProgram::parse(&self.agent)?;
        let agent = match (self.name.name(), program.name) {
            (Some(name), _) => name,
            (None, Some(known)) => known.to_owned(),
            (None, None) => self.name.required()?,
        };
        let place = self.place.open()?;
        let mut command = AgentCommand::new(program.argv);
        // A coding agent works on the repository that it was started for.
        command.cwd = std::env::current_dir().ok();
        command.time_limit = Duration::from_secs(self.time_limit);
        let cancel = Cancel::new();
        let remote = place.url.as_ref().map(|url| Remote::of(url, &place)).transpose()?;
        command.sockets = Some(match &remote {
            Some(remote) => remote.sockets(&self.place, &place, &agent, &cancel)?,
            None => {
                let api = self.place.for_workers()?;
                let runtime = place.host.runtime.handle().clone();
                AttemptSockets::new(move |attempt| {
                    AttemptSocket::open(Arc::clone(&api), attempt, &runtime)
                })
            }
        });
        let (data, settings) = self.place.settings()?;
        command.sandbox = SandboxRules { data: Some(data), ..settings.sandbox_rules() };
        accord_process::supervise();
        use_launcher(&settings.workers);
        let signal = cancel_on_signal(&cancel)?;
        let (args, place, keeps) = (&self, &place, !settings.workers.keep.is_empty());
        // Before the folders of runs are looked at: those have ids that are not used again.
        let intent = remote.as_ref().map(|it| ClaimIntent::begin(&it.above, &agent)).transpose()?;
        let shift = WorkerLoop {
            args,
            place,
            command,
            agent,
            cancel,
            signal,
            keeps,
            remote,
            intent: RefCell::new(intent),
            asked: Cell::new(Instant::now()),
            has_reached: Cell::new(false),
        };
        shift.resume()?;
        let tally = match &shift.remote {
            Some(_) => shift.work()?,
            None => apply_during(Path::new("."), || shift.work())?,
        };
        shift.say_end(&tally)?;
        Ok(match shift.signal.load(Ordering::SeqCst) {
            0 if self.once && tally.tasks == 0 => Exit::No,
            0 => Exit::Yes,
            signal => Exit::Signalled(signal),
        })
    }
}

struct WorkerLoop<'a> {
    args: &'a WorkArgs,
    place: &'a Place,
    command: AgentCommand,
    agent: String,
    cancel: Cancel,
    signal: Arc<AtomicI32>,
    /// Whether agents may leave programs running.
    keeps: bool,
    /// Where runs work if the tasks are on another machine.
    remote: Option<Remote>,
    /// The next claim at a host on another machine.
    intent: RefCell<Option<ClaimIntent>>,
    /// When that was asked for.
    asked: Cell<Instant>,
    /// Whether a host on another machine answered.
    has_reached: Cell<bool>,
}

impl WorkerLoop<'_> {
    fn work(&self) -> Result<Tally> {
        let mut tally = Tally::default();
        let (mut is_waiting, mut unmerged) = (false, None);
        // A task on which this agent failed is left to others, if one of them comes soon.
        let mut patience = PATIENCE;
        let most = if self.args.once { 1 } else { self.args.max.unwrap_or(u64::MAX) };
        while !self.cancel.is_cancelled() && tally.tasks < most {
            // Without a running host nothing else promotes tasks or recovers those of dead workers.
            let door = Who { actor: None, door: Some(Door::Cli) };
            let poll = Json(PollRequest::default());
            let poll = Call::<PollTasks>::new(self.place.tasks()?, door, poll);
            let Some(polled) = self.reach(|| self.place.host.call(&poll))? else { break };
            let polled = polled.answer.0.result;
            if polled.unmerged != unmerged {
                render::unmerged(polled.unmerged.as_deref()).iter().for_each(print_note);
                unmerged = polled.unmerged;
            }
            let Some(next) = self.claim_next(patience > 0)? else { break };
            match &next.claimed {
                None if patience > 0 && next.reason.as_deref() == Some(LEFT_TO_OTHERS) => {
                    patience -= 1;
                    self.pause();
                }
                None if self.args.once => {
                    self.say_why_not(&next)?;
                    break;
                }
                None if self.args.drain && self.is_drained(&next)? => {
                    self.say_why_not(&next)?;
                    self.say_left()?;
                    break;
                }
                None => {
                    if !is_waiting {
                        self.say_why_not(&next)?;
                        print_note(format!("{} waits for a task", self.agent));
                    }
                    is_waiting = true;
                    self.pause();
                }
                Some(claim) => {
                    is_waiting = false;
                    patience = PATIENCE;
                    tally.tasks += 1;
                    tally.failed += u64::from(!self.one(claim)?);
                }
            }
        }
        Ok(tally)
    }

    /// Asks the host. One on another machine that was reached once is waited for; `None` if the
    /// work is cancelled meanwhile.
    fn reach<T>(&self, ask: impl Fn() -> Result<T>) -> Result<Option<T>> {
        let mut is_noted = false;
        loop {
            match ask() {
                Err(error) if self.has_reached.get() && error.code().is_some_and(is_away) => {
                    if self.cancel.is_cancelled() {
                        return Ok(None);
                    }
                    if !std::mem::replace(&mut is_noted, true) {
                        print_note(format!("trying again: {}", clean(&error.to_string())));
                    }
                    self.pause();
                }
                answer => {
                    self.has_reached.set(self.remote.is_some());
                    return answer.map(Some);
                }
            }
        }
    }

    /// Claims the next task that fits. One whose answer is lost is asked for again with the same
    /// id, and is the same claim.
    fn claim_next(&self, leaves_failed: bool) -> Result<Option<ClaimNextAnswer>> {
        if let (Some(remote), intent @ None) = (&self.remote, &mut *self.intent.borrow_mut()) {
            *intent = Some(ClaimIntent::begin(&remote.above, &self.agent)?);
        }
        let intent = self.intent.borrow();
        let run_id = intent.as_ref().map(ClaimIntent::run_id);
        let doubt = |is_in_doubt| intent.iter().for_each(|intent| intent.doubt(is_in_doubt));
        let next = self.reach(|| {
            doubt(true);
            self.asked.set(Instant::now());
            let next = self.args.fits.claim_next(self.place, &self.agent, run_id, leaves_failed);
            let is_answered = match &next {
                Ok(next) => next.answer.0.result.claimed.is_none(),
                Err(error) => !error.code().is_some_and(is_away),
            };
            doubt(!is_answered);
            next
        })?;
        Ok(next.map(|next| next.answer.0.result))
    }

    /// Says why there is no task: what the ready ones ask for, else where the others are.
    fn say_why_not(&self, next: &ClaimNextAnswer) -> Result<()> {
        let mut page = Page::for_stderr();
        render::nothing_claimed(&mut page, next);
        if next.ready == 0 {
            let open = [Status::InProgress, Status::Review, Status::Blocked, Status::Backlog];
            let counts = self.counts()?;
            let open = open.into_iter().filter_map(|status| {
                let count = counts.get(status.as_str()).copied().filter(|count| *count > 0)?;
                Some(format!("{count} {status}"))
            });
            let open: Vec<String> = open.collect();
            if !open.is_empty() {
                page.line(format!("open: {}", open.join(", ")));
            }
        }
        page.as_str().lines().for_each(print_note);
        Ok(())
    }

    /// Ends the runs on tasks of another machine whose workers were killed.
    fn resume(&self) -> Result<()> {
        let Some(remote) = &self.remote else { return Ok(()) };
        for left in left_runs(&remote.above) {
            let id = left.task;
            let (target, project) = (&self.args.place.host.target, &self.place.project);
            let hub = RemoteHub::open(target, project, &left.agent)?;
            print_note(format!("{id} is ended: the worker of {} was killed", clean(&left.agent)));
            let cancel = self.cancel.clone();
            let run = RemoteRun::new(&hub, &left.folder, Duration::ZERO, cancel, &note);
            match run.conclude(&left) {
                Ok(end) => {
                    self.say(id, &end);
                    close(left.folder, &end)?;
                }
                Err(failure) if is_away(failure.code) => return Err(self.unsent(failure)),
                // It may be the run of an agent whose key this is not.
                Err(failure) => {
                    print_note(format!("{id} cannot be ended now: {}", clean(&failure.message)));
                }
            }
        }
        if let Some(all) = remote.above.parent() {
            tidy(all);
        }
        Ok(())
    }

    /// What to do about the end of a run that the host was not told.
    fn unsent(&self, failure: Failure) -> CliError {
        let error = CliError::from(failure);
        if self.remote.is_none() {
            return error;
        }
        error.help("what the agent left is kept: the same command, started again, sends it")
    }

    /// Runs the agent on one task. Whether it reported.
    fn one(&self, claim: &ClaimAnswer) -> Result<bool> {
        match &self.remote {
            Some(remote) => self.one_remote(remote, claim),
            None => self.one_here(claim),
        }
    }

    /// The same on a task whose files are on another machine.
    fn one_remote(&self, remote: &Remote, claim: &ClaimAnswer) -> Result<bool> {
        let (id, run_id) = (claim.task.id, claim.run_id.as_str());
        let target = &self.args.place.host.target;
        let alive = times(claim);
        let alive = u64::try_from(alive.heartbeat_seconds.min(alive.lease_seconds)).unwrap_or(0);
        let alive = Duration::from_secs(alive);
        let hub = RemoteHub::open(target, &self.place.project, &self.agent)?.within(alive / 3);
        let folder = RemoteFolder::make(&remote.above, id, &self.agent, run_id)?;
        // From here on the folder says which run it is.
        if let Some(intent) = self.intent.borrow_mut().take() {
            intent.doubt(false);
        }
        *remote.current.lock() = Some(folder.clone());
        let run = RemoteRun::new(&hub, &folder, alive, self.cancel.clone(), &note)
            .held_since(self.asked.get());
        let briefing = match run.fetch(|| hub.briefing(id)) {
            Ok(briefing) => briefing,
            Err(failure) => {
                // The task goes to another worker.
                let end = run.give_back()?;
                self.say(id, &end);
                close(folder, &end)?;
                return Err(failure.into());
            }
        };
        let end = self.run(claim, &briefing, &run);
        remote.current.lock().take();
        let end = end.map_err(|error| match error.code() {
            Some(code) if is_away(code) => self.unsent(error.into()),
            _ => error,
        });
        let Some(end) = end? else { return folder.remove().map(|()| false).map_err(Into::into) };
        let is_well = self.say(id, &end);
        close(folder, &end)?;
        Ok(is_well)
    }

    fn one_here(&self, claim: &ClaimAnswer) -> Result<bool> {
        let id = claim.task.id;
        // It says where the files of the task are, too.
        let briefing = briefing_of(self.place, id)?;
        let folder = Path::new(&briefing.directory);
        if !folder.is_dir() {
            return Err(elsewhere(&briefing.directory, &self.place.project));
        }
        let host = WorkHost::new(&self.args.place, self.place, &self.agent)?;
        let end = self.run(claim, &briefing, &host)?;
        Ok(end.is_some_and(|end| self.say(id, &end)))
    }

    /// Runs the agent on a task whose folder is on this machine; `None` if the run lost it before.
    fn run(
        &self,
        claim: &ClaimAnswer,
        briefing: &BriefingAnswer,
        operations: &dyn RunOperations,
    ) -> Result<Option<WorkEnd>> {
        let (id, run_id) = (claim.task.id, claim.run_id.as_str());
        let title = one_line(&claim.task.title, usize::MAX);
        print_note(format!("{id} is with {}: {title}", self.agent));
        let lease = briefing.task.lease.as_ref();
        if lease.and_then(|lease| lease.run_id.as_deref()) != Some(run_id) {
            print_note(format!("{id} was taken from this run before it began"));
            return Ok(None);
        }
        let place = (Path::new(&briefing.root), self.place.project.as_str());
        // As they were when the task was claimed. What cannot be read is a finding of the review.
        let checks = claim.task.metadata.get(CHECKS_OF).and_then(read_checks).unwrap_or_default();
        let run =
            AgentRun::new(operations, place, (id, &self.agent, run_id), times(claim), checks)?;
        let run = match self.remote {
            Some(_) => run.describing(&accord_edge::described),
            // The host of the tasks has the repository.
            None => run,
        };
        let text = self.args.briefing.text(self.place, briefing, Audience::Worker);
        let mut output =
            AgentOutput::new(Path::new(&briefing.directory), run_id, self.args.verbose);
        let mut show = |signal: WorkSignal<'_>| match signal {
            WorkSignal::Output { error, bytes } => output.add(error, bytes),
            WorkSignal::Message(Some(failure)) => {
                print_note(format!("a message was refused: {}", clean(&failure.message)));
            }
            WorkSignal::Started(_, Sandbox::Off(why)) => {
                print_note(format!("{id} is done without a sandbox: {}", clean(why)));
            }
            WorkSignal::Check(check) => print_note(format!("check {}", clean(&described(check)))),
            WorkSignal::Started(_, sandbox) => {
                print_note(format!("the sandbox is {sandbox}"));
                if self.keeps && *sandbox == Sandbox::Bubblewrap {
                    print_note(KEEPS_NOTHING);
                }
            }
            _ => {}
        };
        let end = run.work(&self.command, &text, &self.cancel, &mut show)?;
        output.finish();
        Ok(Some(end))
    }

    /// Says how the work on a task ended. Whether the agent reported.
    fn say(&self, id: TaskId, end: &WorkEnd) -> bool {
        let (how, status) = match end {
            WorkEnd::Reported(status) => {
                (format!("is {status}: the agent ended its work"), Some(*status))
            }
            WorkEnd::Failed { error, status, retry_at } => {
                let first = error.lines().next().unwrap_or_default();
                let again = retry_at.map_or(String::new(), |at| {
                    let at = Times::default().show_text(&at.to_string());
                    format!("; it is tried again at {at}")
                });
                (format!("is {status}: {}{again}", clean(first)), Some(*status))
            }
            WorkEnd::Released => ("was given back".to_owned(), None),
            WorkEnd::Lost(Some(status @ (Status::Cancelled | Status::Done | Status::Blocked))) => {
                (format!("was moved to {status} by somebody else; the agent was ended"), None)
            }
            _ => ("was taken from this run; the agent was ended".to_owned(), None),
        };
        print_note(format!("{id} {how}"));
        let next = match status {
            Some(Status::Review) => Some(format!("approve {id}")),
            Some(Status::Blocked) => Some(format!("show {id}")),
            Some(Status::Deadletter) => Some(format!("resurrect {id}")),
            _ => None,
        };
        if let Some(words) = next {
            print_note(format!("next  {}", self.place.command(&words)));
        }
        // Where a person took the task away, the agent did not fail.
        !matches!(end, WorkEnd::Failed { .. } | WorkEnd::Reclaimed(_))
    }

    /// Whether nothing comes to this agent any more without a person or another worker.
    fn is_drained(&self, next: &ClaimNextAnswer) -> Result<bool> {
        // It gets that task after a while.
        if next.reason.as_deref() == Some(LEFT_TO_OTHERS) {
            return Ok(false);
        }
        let mut query = ListQuery {
            status: Some(vec![Status::InProgress, Status::Blocked]),
            limit: Some(MOST),
            ..ListQuery::default()
        };
        loop {
            let list = self.list(query.clone())?;
            if list.tasks.iter().any(goes_on) {
                return Ok(false);
            }
            match list.next_cursor {
                Some(cursor) => query.cursor = Some(cursor),
                None => return Ok(true),
            }
        }
    }

    /// Says which ready tasks are left, and for whom.
    fn say_left(&self) -> Result<()> {
        let query = ListQuery {
            status: Some(vec![Status::Ready]),
            limit: Some(LEFT_SHOWN),
            ..ListQuery::default()
        };
        let mut page = Page::for_stderr();
        render::left_tasks(&mut page, &self.list(query)?);
        page.as_str().lines().for_each(print_note);
        Ok(())
    }

    fn list(&self, query: ListQuery) -> Result<ListAnswer> {
        let tasks = self.place.tasks()?;
        let ask = || document(self.place.host.ask::<ListTasks>(tasks.clone(), query.clone())?);
        match self.reach(ask)? {
            Some(list) => Ok(list.answer.0.result),
            None => Err(CliError::new(Code::HostUnreachable, "the work was cancelled meanwhile")),
        }
    }

    fn counts(&self) -> Result<BTreeMap<String, u64>> {
        let query = ListQuery { limit: Some(1), ..ListQuery::default() };
        Ok(self.list(query)?.counts)
    }

    fn pause(&self) {
        let mut left = PAUSE;
        while !self.cancel.is_cancelled() && !left.is_zero() {
            std::thread::sleep(STEP.min(left));
            left = left.saturating_sub(STEP);
        }
    }

    fn say_end(&self, tally: &Tally) -> Result<()> {
        if self.place.json {
            let line = json!({"agent": self.agent, "tasks": tally.tasks, "failed": tally.failed});
            return print_line(line.to_string()).map(drop);
        }
        let failed = match tally.failed {
            0 => String::new(),
            failed => format!(", {failed} without a report"),
        };
        print_note(format!("{} worked on {}{failed}", self.agent, counted(tally.tasks, "task")));
        Ok(())
    }
}

/// Whether a task can become ready, or make others ready, without a person.
fn goes_on(task: &TaskItem) -> bool {
    match task.status {
        Status::InProgress => {
            let is_elsewhere = task.lease.as_ref().is_some_and(|it| it.elsewhere == Some(true));
            task.unadopted.is_none() && !is_elsewhere
        }
        _ => task.block_ends == Some(BlockEnd::Retry),
    }
}

/// How long the lease and the heartbeat of a claim last. A host of an earlier version says only
/// until when, by its own clock.
fn times(claim: &ClaimAnswer) -> LeaseTimes {
    let seconds = |left: Option<u64>, until: &Timestamp| {
        let left = left.and_then(|left| i64::try_from(left).ok());
        left.unwrap_or_else(|| until.time().unix_seconds() - now().unix_seconds()).max(1)
    };
    LeaseTimes {
        lease_seconds: seconds(claim.lease_seconds, &claim.lease_until),
        heartbeat_seconds: seconds(claim.alive_seconds, &claim.alive_until),
    }
}

/// Removes the folder of a run that is over. Where its files are not in the tree, a person may
/// want them.
fn close(folder: RemoteFolder, end: &WorkEnd) -> Result<()> {
    if matches!(end, WorkEnd::Reported(_) | WorkEnd::Released) {
        return Ok(folder.remove()?);
    }
    let kept = folder.keep()?;
    print_note(format!("what the agent left is in {}", clean(&kept.display().to_string())));
    Ok(())
}

/// The tasks are on another machine.
pub(super) fn elsewhere(place: &str, project: &str) -> CliError {
    let message = format!("the files of the tasks of {project} are at {}, not here", clean(place));
    CliError::new(Code::AofTaskTreeElsewhere, message)
        .help("run the command on that machine, with --data and the data folder of the host")
}

const EXAMPLES: &str = "\
Examples:
  accord task work --agent claude --project shop
  accord task work --agent 'sh agent.sh' --as dev --role builder --max 5
  accord task work --agent codex --drain
  accord task work --agent claude --url https://tasks.example.org --project shop

The agent is started in the current folder. It gets a briefing, and in its environment
ACCORD_TASK_ID, ACCORD_TASK_DIR, ACCORD_TASK_RUN_ID, ACCORD_TASK_AGENT, ACCORD_PROJECT,
ACCORD_ACTOR and ACCORD_SOCKET, through which its commands reach Accord. It reports by a message
(MCP, `accord task message`, a line `AOF/1 {...}`) or in outputs/report.json. Without a report,
exit code 0 leads to a review; anything else counts as a failed attempt. Ctrl-C ends the agent
and gives the task back.";
