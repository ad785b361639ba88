//! The commands, one module each.

#[macro_use]
mod subcommands;

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
mod decisions;
mod edge;
mod fact;
mod hook;
mod inbox;
mod init;
mod kb;
mod key;
mod launch;
mod live;
mod mcp;
mod notify;
mod people;
mod person;
mod progress;
mod project;
mod run;
mod schema;
mod serve;
mod session;
mod signals;
mod status;
mod store;
mod task;
mod verify;
mod watch;
mod worker_output;

pub(crate) use self::kb::answers::LineError;

use accord_contract::closest::closest;
use clap::Parser as _;

/// The open backbone for teams of humans and AI agents
#[derive(Debug, clap::Parser)]
#[command(name = "accord", version, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

subcommands! {
    below Cli, Command {
        Serve(Box<serve::ServeArgs>),
        Init(Box<init::InitArgs>),
        Task(task::TaskArgs),
        Live(Box<live::LiveArgs>),
        Run(Box<run::RunArgs>),
        Context(context::ContextArgs),
        Fact(fact::FactArgs),
        Project(project::ProjectArgs),
        Session(session::SessionArgs),
        Status(Box<status::StatusArgs>),
        Inbox(Box<inbox::InboxArgs>),
        Notify(notify::NotifyArgs),
        Watch(Box<watch::WatchArgs>),
        Decisions(decisions::DecisionsArgs),
        Join(edge::JoinArgs),
        Leave(edge::LeaveArgs),
        Edge(edge::EdgeArgs),
        Key(key::KeyArgs),
        Person(people::PeopleArgs),
        Mcp(mcp::McpArgs),
        Hook(hook::HookArgs),
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
}

impl Cli {
    /// Runs the command. What it did in a joined folder is sent to the hub afterwards.
    pub(crate) fn run_and_send(self) -> crate::Result<crate::Exit> {
        let is_work = matches!(self.command, Command::Run(_) | Command::Task(_));
        let ran = self.run();
        if is_work {
            edge::send_after();
        }
        ran
    }
}

/// What Accord itself calls, and people do not. It is parsed apart: the start of a worker calls it
/// up to four times, and most of the start of a command is to describe all commands.
#[derive(Debug, clap::Parser)]
#[command(name = "accord")]
pub(crate) struct Internal {
    #[command(subcommand)]
    command: InternalCommand,
}

subcommands! {
    below Internal, InternalCommand {
        Launch(launch::LaunchArgs),
        Restrict(launch::RestrictArgs),
        VerifyMounts(launch::VerifyMountsArgs),
    }
}

impl Internal {
    /// The arguments of this process, if they begin with one of these commands.
    pub(crate) fn parse_own() -> Option<Result<Self, clap::Error>> {
        let first = std::env::args_os().nth(1)?;
        let is_internal = ["launch", "restrict", "verify-mounts"].iter().any(|it| first == *it);
        is_internal.then(Self::try_parse)
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
