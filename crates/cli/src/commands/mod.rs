//! The commands, one module each.

mod adapter;
mod answers;
mod canon;
mod check;
mod codes;
mod compat;
mod completions;
mod config;
mod conformance;
mod context;
mod contract;
mod fact;
mod kb;
mod key;
mod mcp;
mod person;
mod progress;
mod project;
mod run;
mod schema;
mod serve;
mod session;
mod signals;
mod store;
mod task;
mod verify;
mod worker_output;

pub(crate) use self::kb::answers::LineError;

use accord_contract::closest::closest;

use crate::error::CliError;
use crate::exit::Exit;

/// The open backbone for teams of humans and AI agents
#[derive(Debug, clap::Parser)]
#[command(name = "accord", version, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Serve(Box<serve::ServeArgs>),
    Task(task::TaskArgs),
    Run(Box<run::RunArgs>),
    Context(context::ContextArgs),
    Fact(fact::FactArgs),
    Project(project::ProjectArgs),
    Session(session::SessionArgs),
    Key(key::KeyArgs),
    Mcp(mcp::McpArgs),
    Store(store::StoreArgs),
    Config(Box<config::ConfigArgs>),
    Check(Box<check::CheckArgs>),
    Conformance(conformance::ConformanceArgs),
    Verify(verify::VerifyArgs),
    Kb(kb::KbArgs),
    Canon(canon::CanonArgs),
    Compat(compat::CompatArgs),
    Contract(contract::ContractArgs),
    Codes(codes::CodesArgs),
    Schema(schema::SchemaArgs),
    Adapter(adapter::AdapterArgs),
    Completions(completions::CompletionsArgs),
}

impl Cli {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<Exit, CliError> {
        match self.command {
            Command::Serve(args) => args.run(),
            Command::Task(args) => args.run(),
            Command::Run(args) => args.run(),
            Command::Context(args) => args.run(),
            Command::Fact(args) => args.run(),
            Command::Project(args) => args.run(),
            Command::Session(args) => args.run(),
            Command::Key(args) => args.run(),
            Command::Mcp(args) => args.run(),
            Command::Store(args) => args.run(),
            Command::Config(args) => args.run(),
            Command::Check(args) => args.run(),
            Command::Conformance(args) => args.run(),
            Command::Verify(args) => args.run(),
            Command::Kb(args) => args.run(),
            Command::Canon(args) => args.run(),
            Command::Compat(args) => args.run(),
            Command::Contract(args) => args.run(),
            Command::Codes(args) => args.run(),
            Command::Schema(args) => args.run(),
            Command::Adapter(args) => args.run(),
            Command::Completions(args) => args.run(),
        }
    }
}

/// The known names that an unknown one may stand for, as a question.
fn suggestion<'a>(unknown: &str, known: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
    const MOST: usize = 5;
    let part = unknown.to_lowercase();
    // One or two letters are contained in nearly every name.
    let is_part = |name: &&str| part.len() > 2 && name.to_lowercase().contains(&part);
    let mut names: Vec<&str> = known.clone().filter(is_part).take(MOST).collect();
    if names.is_empty() {
        names.extend(closest(unknown, known));
    }
    let (last, others) = names.split_last()?;
    Some(match others {
        [] => format!("did you mean {last}?"),
        others => format!("did you mean {} or {last}?", others.join(", ")),
    })
}

/// A text that must not be empty.
fn words(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("it is empty".to_owned()),
        _ => Ok(text.to_owned()),
    }
}

const EXIT_CODES: &str = "Exit codes: 0 success, or the answer is yes; 1 the answer is no; \
2 error (wrong usage, refused input, a failed run).";
