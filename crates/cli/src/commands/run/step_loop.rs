//! `accord run step` and `accord run loop`: turns that their workers do.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use accord_api::LocalDeclaration;
use accord_base::Door;
use accord_contract::{Code, Failure};
use accord_edge::SourceKind;
use accord_process::Cancel;
use accord_runs::answers::{DriveEnd, drive_answer};
use accord_runs::operations::{LoopOptions, LoopResult, LoopStop, Step};
use accord_runs::{CycleOptions, Environment, Notice, Runs};
use accord_runs_core::TurnId;
use accord_runs_core::operations::answers::RunStop;
use accord_runs_core::operations::{LocalOperation as _, LoopAndApprove, LoopRun};
use parking_lot::Mutex;

use super::keep::keep_in;
use super::person::{human, person};
use super::sockets::with_sockets;
use super::{RepoArgs, TurnArgs, next_lines, silent_environment, take};
use crate::arguments::duration;
use crate::commands::edge::{apply_here, stop_during};
use crate::commands::progress::Progress;
use crate::commands::worker_output::WorkerOutput;
use crate::host::Actor;
use crate::interrupt::cancel_on_signal;
use crate::render::{Style, clean, counted};
use crate::{Exit, Result, print_note};

/// How often the run is looked at while a person is needed.
const LOOK: Duration = Duration::from_millis(300);
/// How often the hub is asked for decisions.
const ASK: Duration = Duration::from_secs(2);

/// Run the next turn: assign, dispatch, run its worker, accept or try again
#[derive(Debug, clap::Args)]
pub(super) struct StepArgs {
    /// The role of a new turn; the one that is due if absent
    #[arg(long, value_name = "ROLE", conflicts_with = "turn")]
    role: Option<String>,

    /// Continue this active turn, by its id or the beginning of it
    #[arg(long, value_name = "ID", value_parser = super::turn_id)]
    turn: Option<TurnId>,

    #[command(flatten)]
    cycle: MannerArgs,
    #[command(flatten)]
    repo: RepoArgs,
}

/// Run turn after turn, until the run is completed or a person is needed
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 the run is completed, a person is next or the maximum \
number of turns was reached; 1 the run is blocked; 2 something failed.\nWith --wait, a gate or a \
block does not end the loop.")]
pub(super) struct LoopArgs {
    /// The maximum number of turns, including those that are active at the start;
    /// `run_loop.max_turns` in agentxchain.json if absent, else 50
    #[arg(long, value_name = "N")]
    max_turns: Option<usize>,

    /// Stay where a person is needed, until somebody decided here or on the hub, and go on
    #[arg(long)]
    wait: bool,

    /// Approve gates that need a person, in the name of the one who starts the loop
    #[arg(long)]
    auto_approve: bool,

    /// Who approves, for example human:lead [default: ACCORD_ACTOR, or at a terminal the user of
    /// the operating system]
    #[arg(long, value_name = "human:NAME", value_parser = human, requires = "auto_approve")]
    actor: Option<Actor>,

    /// A note for the records of the approvals
    #[arg(long, value_name = "TEXT", value_parser = super::words, requires = "auto_approve")]
    note: Option<String>,

    #[command(flatten)]
    cycle: MannerArgs,
    #[command(flatten)]
    repo: RepoArgs,
}

#[derive(Debug, clap::Args)]
struct MannerArgs {
    /// Accept results without corrections, or not at all
    #[arg(long)]
    strict: bool,

    /// Do not commit the changes of accepted turns to git
    #[arg(long)]
    no_checkpoint: bool,

    /// How long a worker may give no sign of life, as in 30m: no output, no CPU time, no changed
    /// file; the limits of agentxchain.json if absent
    #[arg(long, value_name = "TIME", value_parser = duration)]
    silence: Option<Duration>,

    /// Show the output of workers; of a coding agent's events, what it says and calls
    #[arg(short, long)]
    verbose: bool,
}

impl MannerArgs {
    fn cycle(&self) -> CycleOptions {
        CycleOptions { strict: self.strict, checkpoint: !self.no_checkpoint, silence: self.silence }
    }
}

impl StepArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let turn = TurnArgs { turn: self.turn }.find(&self.repo.open()?)?;
        let step = Step { role: self.role, turn, cycle: self.cycle.cycle() };
        drive_run(&self.repo, self.cycle.verbose, |runs| Ok(runs.step(&step)?.into()))
    }
}

impl LoopArgs {
    pub(super) fn operation(&self) -> LocalDeclaration {
        if self.auto_approve { LoopAndApprove::declared() } else { LoopRun::declared() }
    }

    pub(super) fn run(self) -> Result<Exit> {
        let approve = || person(self.actor, self.note, Door::Loop, "approve every gate");
        let options = LoopOptions {
            cycle: self.cycle.cycle(),
            max_turns: self.max_turns,
            auto_approve: self.auto_approve.then(approve).transpose()?,
        };
        let folder = self.repo.folder();
        drive_run(&self.repo, self.cycle.verbose, |runs| match self.wait {
            false => Ok(runs.run_loop(&options)?.into()),
            true => Ok(loop_and_wait(runs, options, &folder)?.into()),
        })
    }
}

/// Runs turn after turn, also after a person was needed.
fn loop_and_wait(
    runs: &Runs,
    mut options: LoopOptions,
    folder: &Path,
) -> Result<LoopResult, Failure> {
    let (mut accepted, mut warnings) = (0, Vec::new());
    loop {
        let end = runs.run_loop(&options)?;
        accepted += end.accepted;
        warnings.extend(end.warnings);
        let waits = matches!(end.stop, LoopStop::GateHeld(_) | LoopStop::Blocked);
        options.max_turns = options.max_turns.map(|most| most.saturating_sub(end.accepted));
        if !waits || !somebody_decided(runs, folder)? {
            return Ok(LoopResult { stop: end.stop, accepted, warnings });
        }
        keep_in(folder);
    }
}

/// Waits until somebody decided, here or on the hub. Returns `false` after Ctrl-C.
fn somebody_decided(runs: &Runs, folder: &Path) -> Result<bool, Failure> {
    let is_waiting = || Ok::<_, Failure>(runs.state()?.status().waits_for_person());
    print_note("a person is needed; waiting for a decision, here or on the hub");
    let mut asked: Option<Instant> = None;
    while is_waiting()? {
        if runs.environment().cancel_token().is_some_and(Cancel::is_cancelled) {
            return Ok(false);
        }
        if asked.is_none_or(|asked| asked.elapsed() >= ASK) {
            // The hub may be away, and the repository need not be joined.
            drop(apply_here(folder, SourceKind::Runs));
            asked = Some(Instant::now());
        } else {
            std::thread::sleep(LOOK);
        }
    }
    Ok(true)
}

/// Runs turns, prints the progress and the result.
fn drive_run(
    repo: &RepoArgs,
    verbose: bool,
    work: impl FnOnce(&Runs) -> Result<DriveEnd, Failure>,
) -> Result<Exit> {
    let cancel = Cancel::new();
    let received = cancel_on_signal(&cancel)?;
    let bar = Arc::new(Progress::items());
    let environment = environment(verbose, &bar, repo.folder())?.with_cancel(cancel);
    let (environment, _served) = with_sockets(environment);
    let runs = take(Runs::open(&repo.folder(), environment))?;
    // What an earlier command left.
    repo.keep();
    let end = stop_during(&repo.folder(), || work(&runs));
    bar.finish();
    repo.keep();
    let signal = received.load(Ordering::SeqCst);
    let is_cancelled = |failure: &Failure| {
        signal != 0 && matches!(failure.code, Code::XchainWorkerCancelled | Code::XchainGivenUp)
    };
    let end = match end {
        Err(failure) if is_cancelled(&failure) => DriveEnd::new(RunStop::Cancelled),
        other => take(other)?,
    };
    // Read again: the end says why the loop stopped, and the file says where the run is.
    let state = take(runs.state())?;
    let answer = drive_answer(&end, &state, repo.next(&runs)?);
    repo.say(&answer, |page| {
        let accepted = counted(answer.accepted, "turn");
        let on = clean(state.blocked_on().unwrap_or("something"));
        let (ink, words) = match end.stop {
            RunStop::Accepted => (Style::Good, "accepted; the run continues"),
            RunStop::Completed => (Style::Good, "the run is completed"),
            RunStop::Blocked => (Style::Bad, &*format!("the run is blocked on {on}")),
            RunStop::GateHeld => (Style::Title, "a gate needs approval"),
            RunStop::ByHand => (Style::Title, "a turn waits for a person"),
            RunStop::MaxTurns => (Style::Title, "the maximum number of turns was reached"),
            RunStop::Cancelled => (Style::Bad, "cancelled; the turn can be continued"),
            RunStop::NotRunning => (Style::Title, "no run is active"),
        };
        let words = page.styled(ink, words);
        page.line(format!("{words} ({accepted} accepted by this command)"));
        let detail = state.blocked_detail().filter(|_| end.stop == RunStop::Blocked);
        let failure = answer.failure.as_ref().map(|failure| failure.error.message.as_str());
        page.labelled_some_whole("because", failure.or(detail));
        page.labelled_each("warning", &answer.warnings);
        next_lines(page, &answer.next);
    })?;
    Ok(match (end.stop, signal) {
        (_, signal) if signal != 0 => Exit::Signalled(signal),
        (RunStop::Blocked, _) => Exit::No,
        (RunStop::NotRunning | RunStop::Cancelled, _) => Exit::Error,
        _ => Exit::Yes,
    })
}

/// The environment, with a listener that prints the progress.
fn environment(verbose: bool, bar: &Arc<Progress>, repo: PathBuf) -> Result<Environment> {
    let bar = Arc::clone(bar);
    let output = Mutex::new(WorkerOutput::default());
    Ok(silent_environment()?.with_listener(move |notice| {
        if let Notice::Output { turn, error, bytes } = notice {
            if verbose {
                print_above(&bar, &output.lock().add(turn.as_str(), *error, bytes));
            }
            bar.advance(1);
            return;
        }
        if let Some(turn) = ended(notice) {
            print_above(&bar, &output.lock().finish(turn.as_str()));
        }
        let is_decided = matches!(
            notice,
            Notice::Accepted { .. } | Notice::Approved { .. } | Notice::Rejected { .. }
        );
        if is_decided {
            // The next turn or attempt reads it.
            bar.above(|| keep_in(&repo));
        }
        if let Notice::Dispatched { role, runtime, .. } = notice {
            bar.about(&format!("{role} works ({runtime})"));
        }
        if let Some(line) = line_of(notice) {
            bar.above(|| print_note(line));
        }
    }))
}

/// The turn whose worker ended, if a notice says so.
fn ended(notice: &Notice) -> Option<&TurnId> {
    match notice {
        Notice::WorkerEnded { turn, .. }
        | Notice::WorkerFailed { turn, .. }
        | Notice::Accepted { turn, .. }
        | Notice::Rejected { turn, .. } => Some(turn),
        _ => None,
    }
}

fn print_above(bar: &Progress, lines: &[String]) {
    if !lines.is_empty() {
        bar.above(|| print_note(lines.join("\n")));
    }
}

fn line_of(notice: &Notice) -> Option<String> {
    Some(match notice {
        Notice::Assigned { turn, role } => format!("{} has {turn}", clean(role)),
        Notice::Dispatched { turn, runtime, attempt, .. } => {
            let again = match attempt {
                0 | 1 => String::new(),
                attempt => format!(", attempt {attempt}"),
            };
            format!("{turn} is with {}{again}", clean(runtime))
        }
        Notice::WorkerEnded { failure, .. } => {
            format!("{}, and was stopped; its result is staged", clean(&failure.message))
        }
        Notice::WorkerFailed { failure, .. } => format!("no result: {}", clean(&failure.message)),
        Notice::Accepted { turn, role, summary } => {
            let first = summary.lines().next().unwrap_or_default();
            format!("accepted {turn} of {}: {}", clean(role), clean(first))
        }
        Notice::Rejected { turn, reason, again } => {
            let next = if *again { "there is another attempt" } else { "no attempt is left" };
            format!("rejected {turn}: {}; {next}", clean(reason))
        }
        Notice::Checkpointed { commit } => format!("committed as {}", clean(commit)),
        Notice::Approved { gate: Some(gate) } => format!("passed the gate {}", clean(gate)),
        Notice::Approved { gate: None } => "passed the gate".to_owned(),
        other => return super::line_of(other, true),
    })
}
