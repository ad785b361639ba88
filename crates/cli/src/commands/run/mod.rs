//! `accord run`: governed runs in a repository.
//!
//! The commands only parse arguments and print; `accord-runs` does the work.

mod accept;
mod adopt;
mod change;
mod coordinator;
mod decide;
mod door;
mod init;
mod keep;
mod person;
mod proposal;
mod read;
mod send_back;
mod sockets;
mod stage;
mod step_loop;
mod told;

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use accord_contract::{Failure, Wire};
use accord_process::{Cancel, SandboxRules};
use accord_runs::answers::{CommandNames, next_answer, next_command};
use accord_runs::operations::{Finding, Level, NextStep, Overview, PendingApproval, Waiting};
use accord_runs::operations::{initiative_command, initiative_of};
use accord_runs::{Environment, LockHolder, Notice, Runs};
use accord_runs_core::evidence::EvidenceDigest;
use accord_runs_core::operations::answers::NextAnswer;
use accord_runs_core::state::State;
use accord_runs_core::views::FailureView;
use accord_runs_core::{TurnId, name_files};

use super::words;
use crate::host::{Candidate, DataFolder, choose, settings_of};
use crate::place::note_other_above;
use crate::render::{Page, Style, Times, clean, counted};
use crate::terminal::can_ask;
use crate::{CliError, Exit, Result, print_either, print_note};

pub(super) use self::coordinator::overview_here as initiative_here;
pub(crate) use self::keep::keep_in;

subcommands! {
    /// Govern a repository's work: phases, turns, gates, decisions (AgentXchain v7)
    pub(crate) RunArgs, RunCommand through door {
        Init(init::InitArgs),
        Start(change::StartArgs),
        /// Show the status of the run, what blocks it, and the next commands
        Status(RepoArgs) => read::status,
        Assign(change::AssignArgs),
        Dispatch(change::DispatchArgs),
        Stage(stage::StageArgs),
        Accept(accept::AcceptArgs),
        Reject(change::RejectArgs),
        Reissue(change::ReissueArgs),
        Checkpoint(change::CheckpointArgs),
        /// Approve the pending transition to the next phase
        ApproveTransition(decide::GateArgs) as PendingApproval::Transition,
        /// Approve the pending completion of the run
        ApproveCompletion(decide::GateArgs) as PendingApproval::Completion,
        SendBack(send_back::SendBackArgs),
        Proposal(proposal::ProposalArgs),
        Escalate(change::EscalateArgs),
        Resolve(decide::ResolveArgs),
        Adopt(adopt::AdoptArgs),
        /// List the accepted and the reissued turns
        #[command(after_help = read::LINES)]
        History(read::LinesArgs) => read::LinesArgs::history,
        Decisions(read::DecisionsArgs),
        Events(read::EventsArgs),
        /// Check for everything that blocks a run or may block it later; changes nothing
        Doctor(RepoArgs) => read::doctor,
        Step(step_loop::StepArgs),
        Loop(step_loop::LoopArgs),
        Coordinator(coordinator::CoordinatorArgs),
    }
}

/// The repository, and the output format.
#[derive(Debug, clap::Args)]
pub(super) struct RepoArgs {
    /// The repository; the current folder, or its nearest governed parent, if absent
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,

    /// Print JSON, also for errors
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct TurnArgs {
    /// The turn, by its id or the beginning of it; the only active one if absent
    #[arg(long, value_name = "ID", value_parser = turn_id)]
    turn: Option<TurnId>,
}

impl TurnArgs {
    /// The active turn, from its id or the beginning of it.
    fn find(&self, runs: &Runs) -> Result<Option<TurnId>> {
        let Some(given) = &self.turn else { return Ok(None) };
        let overview = take(runs.status())?;
        let active = overview.turns.iter().map(|view| Candidate {
            id: view.turn.id().to_string(),
            place: view.turn.role().to_owned(),
        });
        Ok(TurnId::parse(&choose_from("turn", given.as_str(), active)?))
    }
}

/// The id that is given, or the only one that begins with it.
fn choose_from(kind: &str, given: &str, known: impl Iterator<Item = Candidate>) -> Result<String> {
    let candidates = known.filter(|candidate| candidate.id.starts_with(given)).collect();
    choose(kind, given, candidates, false)
}

impl RepoArgs {
    fn folder(&self) -> PathBuf {
        self.repo.clone().unwrap_or_else(|| PathBuf::from("."))
    }

    /// The option of `accord run` for the repository.
    fn words(&self) -> String {
        option("--repo", self.repo.as_deref())
    }

    /// The option of git for the repository.
    fn git_words(&self) -> String {
        let here = self.folder().canonicalize().ok();
        let root = Runs::open(&self.folder(), Environment::system());
        let root = root.map(|runs| runs.repository().root().to_owned()).ok();
        let root = root.filter(|root| self.repo.is_some() || Some(root) != here.as_ref());
        option("-C", root.as_deref())
    }

    fn open(&self) -> Result<Runs> {
        take(Runs::open(&self.folder(), environment()?)).inspect(|runs| self.note_other(runs))
    }

    /// Names a governed repository above the one that was found.
    fn note_other(&self, runs: &Runs) {
        if self.repo.is_none() {
            let is_one = |folder: &Path| folder.join("agentxchain.json").is_file();
            note_other_above(runs.repository().root(), "the governed repository", is_one);
        }
    }

    /// The services for the repository, with a token that stops their programs.
    fn open_to_act(&self) -> Result<Runs> {
        let word = Cancel::new();
        crate::interrupt::cancel_on_signal(&word)?;
        let runs = take(Runs::open(&self.folder(), environment()?.with_cancel(word)));
        runs.inspect(|runs| self.note_other(runs))
    }

    /// Prints an answer, as JSON or as text.
    fn say(&self, document: &impl Wire, text: impl FnOnce(&mut Page)) -> Result<Exit> {
        print_either(self.json.then(|| document.encode().to_string()), text)
    }

    fn next(&self, runs: &Runs) -> Result<Vec<NextAnswer>> {
        Ok(self.steps(&take(runs.status())?))
    }

    fn steps(&self, overview: &Overview) -> Vec<NextAnswer> {
        let names = self.names();
        let initiative = initiative_step(overview);
        let step = |step: &NextStep| match (step, &initiative) {
            (NextStep::Assign { .. }, Some(step)) => step.clone(),
            _ => next_answer(step, &names),
        };
        overview.next.iter().map(step).collect()
    }

    fn names(&self) -> CommandNames {
        CommandNames { repo: self.words(), git: self.git_words() }
    }
}

/// The run in the current folder and its next steps, for what shows all parts of a folder. `None`
/// where there is no governed repository, or it cannot be read.
pub(super) fn overview_here() -> Option<(Overview, Vec<NextAnswer>)> {
    let repo = RepoArgs { repo: None, json: false };
    let runs = Runs::open(&repo.folder(), environment().ok()?).ok()?;
    let overview = runs.status().ok()?;
    let steps = repo.steps(&overview);
    Some((overview, steps))
}

/// The state of a run, in a sentence.
pub(super) fn state_line(overview: &Overview) -> String {
    let state = match &overview.state {
        Ok(state) => state,
        Err(failure) => return failure.message.clone(),
    };
    let turns = counted(overview.accepted_turns, "accepted turn");
    match state.run_id() {
        None => "no run yet".to_owned(),
        Some(run) => format!("{run} is {} in {}, {turns}", state.status(), state.phase()),
    }
}

/// An option with a path, after a blank; nothing without a path.
fn option(name: &str, path: Option<&Path>) -> String {
    path.map(|path| format!(" {name} {}", quoted_path(path))).unwrap_or_default()
}

fn quoted_path(path: &Path) -> String {
    shell_words::quote(&path.to_string_lossy()).into_owned()
}

/// What assigns the next turn of a run that a coordinator started: an assignment in the repository
/// itself would not follow the plan of the initiative.
fn initiative_step(overview: &Overview) -> Option<NextAnswer> {
    let workspace = initiative_of(&overview.root, overview.state.as_ref().ok()?)?;
    let why = "the run belongs to an initiative, which decides whose turn is next";
    Some(next_command(initiative_command(&workspace), why.to_owned()))
}

/// The value of an operation, or its failure.
fn take<T>(answer: Result<T, Failure>) -> Result<T> {
    answer.map_err(|failure| error_of(&failure))
}

/// The environment, with a listener that prints notices.
fn environment() -> Result<Environment> {
    let terminal = std::io::stderr().is_terminal();
    Ok(silent_environment()?.with_listener(move |notice| {
        if let Some(line) = line_of(notice, terminal) {
            print_note(line);
        }
    }))
}

/// The environment of a command that decides under the operator's rules.
pub(crate) fn silent_environment() -> Result<Environment> {
    // Workers, hooks and commands of gates are recognised by it.
    accord_process::supervise();
    let data = DataFolder::of(None)?.path;
    let settings = settings_of(&data)?;
    super::launch::use_launcher(&settings.workers);
    let workers = SandboxRules { data: Some(data), ..settings.sandbox_rules() };
    let environment = Environment::system().saying_terminal(can_ask()).with_workers(workers);
    let environment = environment.with_memory(keep::briefing);
    Ok(environment.under(settings.decision_rules()))
}

/// The text of a notice; hooks and commands only on a terminal.
fn line_of(notice: &Notice, terminal: bool) -> Option<String> {
    match notice {
        Notice::Recovered { journal, dropped: true } => {
            let journal = clean(journal);
            Some(format!("dropped the journal {journal}: another runner continued without it"))
        }
        Notice::Recovered { journal, .. } => {
            Some(format!("finished the commit of an earlier process ({})", clean(journal)))
        }
        Notice::HookStarted { phase, name } if terminal => {
            Some(format!("{phase} hook {}", clean(name)))
        }
        Notice::CommandStarted { command } if terminal => Some(format!("$ {}", clean(command))),
        Notice::ChangesExcluded { files } => Some(format!(
            "not counted as changes of the turn, because no worker had it: {}",
            clean(&name_files(files))
        )),
        Notice::PutBack { files, kept } => Some(format!(
            "changed while a worker ran, and put back: {}; the changed files are kept in {}",
            clean(&files.join(", ")),
            clean(kept)
        )),
        Notice::NotDone(failure) => Some(format!("not done: {}", clean(&failure.message))),
        _ => None,
    }
}

/// The text of a failure, with all its findings.
fn error_of(failure: &Failure) -> CliError {
    let error = CliError::from(failure.clone());
    let FailureView { errors, output, .. } = FailureView::of(failure);
    // With a single finding, the message ends with it.
    let errors = errors.iter().filter(|found| !failure.message.ends_with(found.as_str()));
    let errors = errors.map(|found| format!("- {}", clean(found)));
    // The end of a worker's output explains its failure best.
    let said = output.iter().flat_map(|text| text.lines());
    let found: Vec<_> = errors.chain(said.map(|line| format!("> {}", clean(line)))).collect();
    if found.is_empty() {
        return error;
    }
    let help = failure.suggestion.as_deref().unwrap_or(failure.code.meaning());
    error.long_help(format!("{}\n{help}", found.join("\n")))
}

fn turn_id(text: &str) -> Result<TurnId, String> {
    TurnId::parse(text).ok_or_else(|| "an id has letters, digits, _ and -".to_owned())
}

/// Prints the process that has the lock, and the pending journals.
fn busy_lines(page: &mut Page, holder: Option<&LockHolder>, journals: &[String]) {
    if let Some(holder) = holder.filter(|holder| holder.alive) {
        page.labelled("busy", &format!("process {} works on it", holder.lock.owner_pid));
    }
    for journal in journals {
        let what = format!("{journal} is pending; the next command that writes finishes it");
        page.labelled("journal", &what);
    }
}

/// Prints what blocks a run.
fn blocked_lines(page: &mut Page, state: &State) {
    page.labelled_some("waits on", state.blocked_on());
    page.labelled_some_whole("because", state.blocked_detail());
}

/// Prints since when a person is needed, and the evidence that the person decides about.
fn waiting_lines(page: &mut Page, waiting: &Waiting) {
    let since = waiting.since.map(|since| moment(&since.to_string()));
    page.labelled_some("since", since.as_deref());
    for sandbox in waiting.facts.iter().flat_map(|facts| &facts.sandbox) {
        page.labelled_whole("sandbox", sandbox);
    }
    evidence_line(page, &waiting.evidence);
}

/// A time on its own, to the minute.
fn moment(time: &str) -> String {
    Times::default().show_text(time)
}

fn evidence_line(page: &mut Page, evidence: &Result<EvidenceDigest, Failure>) {
    match evidence {
        Ok(digest) => page.labelled("evidence", digest.as_str()),
        Err(failure) => page.labelled_whole("evidence", &format!("none: {}", failure.message)),
    }
}

fn finding_lines(page: &mut Page, findings: &[Finding]) {
    for finding in findings {
        let ink = match finding.level {
            Level::Error => Style::Bad,
            Level::Warning => Style::Waiting,
            Level::Note => Style::Faint,
        };
        let level = page.styled(ink, finding.level.as_str());
        page.line(format!("{level}  {}: {}", clean(&finding.subject), clean(&finding.message)));
        page.labelled_whole("", &finding.advice);
    }
}

fn next_lines(page: &mut Page, steps: &[NextAnswer]) {
    for (at, step) in steps.iter().enumerate() {
        let label = match (at, step.instead) {
            (0, _) => "next",
            (_, Some(true)) => "or",
            _ => "then",
        };
        let label = page.styled(Style::Title, &format!("{label:<4}"));
        page.line(format!("{label}  {}", next_line(step)));
    }
}

fn next_line(step: &NextAnswer) -> String {
    match &step.command {
        Some(command) => format!("{}   ({})", clean(command), clean(&step.why)),
        None => clean(&step.why),
    }
}
