//! `accord run`: governed runs in a repository.
//!
//! The commands are doors: `accord-runs` does what they ask for.

mod accept;
mod change;
mod coordinator;
mod init;
mod read;
mod stage;
mod step_loop;

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::PathBuf;

use accord_contract::alx::ErrorEnvelope;
use accord_contract::codes::{Code, Failure};
use accord_contract::wire::{Value, Wire};
use accord_process::Cancel;
use accord_runs::answers::{CommandNames, NextAnswer, error_envelope};
use accord_runs::operations::{Finding, Level, Overview};
use accord_runs::{Environment, LockHolder, Notice, Runs};
use accord_runs_core::TurnId;

use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, talk};
use crate::show::{Page, Style, clean};

/// Govern a repository's work: phases, turns, gates, decisions (AgentXchain v7)
#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    #[command(subcommand)]
    command: RunCommand,
}

#[derive(Debug, clap::Subcommand)]
enum RunCommand {
    Init(init::InitArgs),
    Start(change::StartArgs),
    Status(read::StatusArgs),
    Assign(change::AssignArgs),
    Dispatch(change::DispatchArgs),
    Stage(stage::StageArgs),
    Accept(accept::AcceptArgs),
    Reject(change::RejectArgs),
    Reissue(change::ReissueArgs),
    Checkpoint(change::CheckpointArgs),
    ApproveTransition(change::TransitionArgs),
    ApproveCompletion(change::CompletionArgs),
    Escalate(change::EscalateArgs),
    Resolve(change::ResolveArgs),
    History(read::HistoryArgs),
    Decisions(read::DecisionsArgs),
    Events(read::EventsArgs),
    Doctor(read::DoctorArgs),
    Step(step_loop::StepArgs),
    Loop(step_loop::LoopArgs),
    Coordinator(coordinator::CoordinatorArgs),
}

impl RunArgs {
    pub(crate) fn run(self) -> Result<Exit, CliError> {
        match self.command {
            RunCommand::Init(args) => args.run(),
            RunCommand::Start(args) => args.run(),
            RunCommand::Status(args) => args.run(),
            RunCommand::Assign(args) => args.run(),
            RunCommand::Dispatch(args) => args.run(),
            RunCommand::Stage(args) => args.run(),
            RunCommand::Accept(args) => args.run(),
            RunCommand::Reject(args) => args.run(),
            RunCommand::Reissue(args) => args.run(),
            RunCommand::Checkpoint(args) => args.run(),
            RunCommand::ApproveTransition(args) => args.run(),
            RunCommand::ApproveCompletion(args) => args.run(),
            RunCommand::Escalate(args) => args.run(),
            RunCommand::Resolve(args) => args.run(),
            RunCommand::History(args) => args.run(),
            RunCommand::Decisions(args) => args.run(),
            RunCommand::Events(args) => args.run(),
            RunCommand::Doctor(args) => args.run(),
            RunCommand::Step(args) => args.run(),
            RunCommand::Loop(args) => args.run(),
            RunCommand::Coordinator(args) => args.run(),
        }
    }
}

/// Which repository, and how to answer.
#[derive(Debug, clap::Args)]
pub(super) struct RepoArgs {
    /// The repository; the current folder, or the nearest above it that is governed, when absent
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,

    /// Answer as JSON, also to a refusal
    #[arg(long)]
    json: bool,
}

/// A turn by its id.
#[derive(Debug, clap::Args)]
pub(super) struct TurnArgs {
    /// The turn; the only active one when absent
    #[arg(long, value_name = "ID", value_parser = turn_id)]
    turn: Option<TurnId>,
}

impl RepoArgs {
    fn folder(&self) -> PathBuf {
        self.repo.clone().unwrap_or_else(|| PathBuf::from("."))
    }

    /// How the repository is named in a command to type.
    fn words(&self) -> String {
        match &self.repo {
            None => String::new(),
            Some(repo) => format!(" --repo {}", shell_words::quote(&repo.to_string_lossy())),
        }
    }

    /// How git is told which folder is meant.
    fn git_words(&self) -> String {
        let here = self.folder().canonicalize().ok();
        let root = Runs::open(&self.folder(), Environment::system());
        let root = root.map(|runs| runs.repository().root().to_owned()).ok();
        match root.filter(|root| self.repo.is_some() || Some(root) != here.as_ref()) {
            None => String::new(),
            Some(root) => format!(" -C {}", shell_words::quote(&root.to_string_lossy())),
        }
    }

    /// The services for the repository.
    fn open(&self) -> Result<Runs, CliError> {
        let opened = Runs::open(&self.folder(), environment());
        opened.map_err(|failure| self.refuse(&failure))
    }

    /// The services for the repository, whose programs end when the command is told to.
    fn open_to_act(&self) -> Result<Runs, CliError> {
        let word = Cancel::new();
        step_loop::cancel_on_signal(&word)?;
        let opened = Runs::open(&self.folder(), environment().with_cancel(word));
        opened.map_err(|failure| self.refuse(&failure))
    }

    /// A refusal: for programs on standard output, for people on standard error.
    fn refuse(&self, failure: &Failure) -> CliError {
        if self.json
            && let Err(error) = write_refusal(&error_envelope(failure))
        {
            return error;
        }
        error_of(failure)
    }

    /// The same for what the command line itself, or a file that it names, has wrong.
    fn refuse_error(&self, error: CliError) -> CliError {
        if self.json
            && let Err(error) = write_refusal(&usage_envelope(
                error.code().unwrap_or(Code::Usage),
                error.to_string(),
            ))
        {
            return error;
        }
        error
    }

    /// What an operation gives, or its refusal.
    fn take<T>(&self, answer: Result<T, Failure>) -> Result<T, CliError> {
        answer.map_err(|failure| self.refuse(&failure))
    }

    /// Gives an answer: as JSON, or as lines for people.
    fn say(&self, document: &impl Wire, text: impl FnOnce(&mut Page)) -> Result<(), CliError> {
        let mut output = Output::stdout();
        if self.json {
            output.line(document.encode().to_string())?;
        } else {
            let mut page = Page::new();
            text(&mut page);
            output.bytes(page.as_str().as_bytes())?;
        }
        output.finish()
    }

    /// What is to be done next in a repository.
    fn next(&self, runs: &Runs) -> Result<Vec<NextAnswer>, CliError> {
        let overview = self.take(runs.status())?;
        Ok(self.steps(&overview))
    }

    fn steps(&self, overview: &Overview) -> Vec<NextAnswer> {
        let names = self.names();
        let steps = overview.next.iter();
        steps.map(|step| NextAnswer::new(step, &names)).collect()
    }

    /// How commands name the repository.
    fn names(&self) -> CommandNames {
        CommandNames {
            repo: self.words(),
            git: self.git_words(),
        }
    }
}

/// Whether arguments ask `accord run` to answer with documents. They may be wrong in any other
/// respect.
pub(crate) fn wants_documents(args: impl IntoIterator<Item = OsString>) -> bool {
    let mut words = args.into_iter().skip(1).take_while(|word| word != "--");
    words.next().is_some_and(|word| word == "run")
        && words.any(|word| {
            let word = word.to_string_lossy();
            word == "--json" || word.starts_with("--json=")
        })
}

/// Writes the document of a refusal.
///
/// # Errors
/// If standard output takes nothing.
pub(crate) fn write_refusal(refusal: &ErrorEnvelope) -> Result<(), CliError> {
    let mut output = Output::stdout();
    output.line(refusal.encode().to_string())?;
    output.finish()
}

/// The system, with a word to people while something is under way.
fn environment() -> Environment {
    let terminal = std::io::stderr().is_terminal();
    Environment::system().with_listener(move |notice| {
        if let Some(line) = line_of(notice, terminal) {
            talk(line);
        }
    })
}

/// What people are told of a notice; of hooks and commands only where they can watch.
fn line_of(notice: &Notice, terminal: bool) -> Option<String> {
    match notice {
        Notice::Recovered { journal, dropped } => Some(match dropped {
            false => format!(
                "finished what an earlier process left half done ({})",
                clean(journal)
            ),
            true => format!(
                "dropped {}, which others had gone on without",
                clean(journal)
            ),
        }),
        Notice::HookStarted { phase, name } if terminal => {
            Some(format!("{phase} hook {}", clean(name)))
        }
        Notice::CommandStarted { command } if terminal => Some(format!("$ {}", clean(command))),
        Notice::ChangesExcluded { files } => Some(format!(
            "not held against the turn, since nobody worked on it when they changed: {}",
            clean(&files.join(", "))
        )),
        Notice::NotDone(failure) => Some(format!("not done: {}", clean(&failure.message))),
        _ => None,
    }
}

/// A refusal as people read it, with everything that was found.
fn error_of(failure: &Failure) -> CliError {
    let error = CliError::from(failure.clone());
    let detail = |name: &str| failure.details.as_ref()?.get(name);
    let errors = detail("errors").and_then(Value::as_array);
    let errors = errors.into_iter().flatten().filter_map(Value::as_str);
    let mut found: Vec<String> = errors
        .filter(|found| !failure.message.ends_with(*found))
        .map(|found| format!("- {}", clean(found)))
        .collect();
    // A worker's own last words explain its failure best.
    let said = ["stderr", "body"].into_iter().filter_map(detail);
    let said = said.filter_map(Value::as_str).flat_map(str::lines);
    found.extend(said.map(|line| format!("> {}", clean(line))));
    if found.is_empty() {
        return error;
    }
    let help = failure.suggestion.as_deref();
    let help = help.unwrap_or(failure.code.meaning());
    error.help(format!("{}\n{help}", found.join("\n")))
}

fn turn_id(text: &str) -> Result<TurnId, String> {
    TurnId::parse(text).ok_or_else(|| "an id has letters, digits, _ and -".to_owned())
}

/// A text that must say something.
fn words(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("it is empty; say it in words".to_owned()),
        _ => Ok(text.to_owned()),
    }
}

/// Lines about who works on a repository or workspace, and what waits there to be finished.
fn busy_lines(page: &mut Page, holder: Option<&LockHolder>, journals: &[String]) {
    if let Some(holder) = holder.filter(|holder| holder.alive) {
        let who = format!("process {} works on it", holder.lock.owner_pid);
        page.labelled("busy", &who);
    }
    for journal in journals {
        let what = format!("{journal} waits for the next command that writes");
        page.labelled("journal", &what);
    }
}

/// Lines about what a check-up found.
fn finding_lines(page: &mut Page, findings: &[Finding]) {
    for finding in findings {
        let ink = match finding.level {
            Level::Error => Style::Bad,
            Level::Warning => Style::Waiting,
            Level::Note => Style::Faint,
        };
        let level = page.styled(ink, finding.level.as_str());
        page.line(format!(
            "{level}  {}: {}",
            clean(&finding.subject),
            clean(&finding.message)
        ));
        page.labelled_whole("", &finding.advice);
    }
}

/// Lines about what is to be done next.
fn next_lines(page: &mut Page, steps: &[NextAnswer]) {
    for (at, step) in steps.iter().enumerate() {
        let label = page.styled(Style::Title, if at == 0 { "next" } else { "then" });
        page.line(format!("{label}  {}", next_line(step)));
    }
}

/// A next step on one line.
fn next_line(step: &NextAnswer) -> String {
    match &step.command {
        Some(command) => format!("{}   ({})", clean(command), clean(&step.why)),
        None => clean(&step.why),
    }
}

/// The document of an error in the command line, or in a file that it names.
pub(crate) fn usage_envelope(code: Code, message: String) -> ErrorEnvelope {
    error_envelope(&Failure::new(code, message))
}

/// A failure of the command line itself.
fn usage(message: impl Into<String>) -> CliError {
    CliError::new(Code::Usage, message)
}
