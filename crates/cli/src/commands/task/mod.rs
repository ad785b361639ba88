//! `accord task`: tasks for agents and people, as AOF/1 keeps them in files.
//!
//! Every command is a client of the routes of a host ([`place`]): of the host that serves the data
//! folder, of a server, or of a host in this process that opens the task trees alone.

mod acting;
mod board;
mod briefing;
mod change;
mod create;
mod decide;
mod init;
mod message;
mod place;
mod read;
mod run_agent;
mod watch;
mod work;

use crate::error::CliError;
use crate::exit::Exit;

/// Create tasks, give them to agents, review what they did
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TaskArgs {
    #[command(subcommand)]
    command: TaskCommand,
}

#[derive(Debug, clap::Subcommand)]
enum TaskCommand {
    Init(init::InitArgs),
    Create(create::CreateArgs),
    List(read::ListArgs),
    Show(read::ShowArgs),
    Edit(create::EditArgs),
    Claim(change::ClaimArgs),
    Release(change::ReleaseArgs),
    Block(change::BlockArgs),
    Unblock(change::UnblockArgs),
    Cancel(change::CancelArgs),
    Close(decide::CloseArgs),
    Approve(decide::ApproveArgs),
    SendBack(decide::SendBackArgs),
    Adopt(decide::AdoptArgs),
    Promote(change::PromoteArgs),
    Resurrect(change::ResurrectArgs),
    Dep(change::DepArgs),
    Board(board::BoardArgs),
    Watch(watch::WatchArgs),
    Lint(read::LintArgs),
    Message(message::MessageArgs),
    Heartbeat(change::HeartbeatArgs),
    SessionEnd(change::SessionEndArgs),
    Poll(change::PollArgs),
    Work(Box<work::WorkArgs>),
}

impl TaskArgs {
    pub(crate) fn run(self) -> Result<Exit, CliError> {
        match self.command {
            TaskCommand::Init(args) => args.run(),
            TaskCommand::Create(args) => args.run(),
            TaskCommand::List(args) => args.run(),
            TaskCommand::Show(args) => args.run(),
            TaskCommand::Edit(args) => args.run(),
            TaskCommand::Claim(args) => args.run(),
            TaskCommand::Release(args) => args.run(),
            TaskCommand::Block(args) => args.run(),
            TaskCommand::Unblock(args) => args.run(),
            TaskCommand::Cancel(args) => args.run(),
            TaskCommand::Close(args) => args.run(),
            TaskCommand::Approve(args) => args.run(),
            TaskCommand::SendBack(args) => args.run(),
            TaskCommand::Adopt(args) => args.run(),
            TaskCommand::Promote(args) => args.run(),
            TaskCommand::Resurrect(args) => args.run(),
            TaskCommand::Dep(args) => args.run(),
            TaskCommand::Board(args) => args.run(),
            TaskCommand::Watch(args) => args.run(),
            TaskCommand::Lint(args) => args.run(),
            TaskCommand::Message(args) => args.run(),
            TaskCommand::Heartbeat(args) => args.run(),
            TaskCommand::SessionEnd(args) => args.run(),
            TaskCommand::Poll(args) => args.run(),
            TaskCommand::Work(args) => args.run(),
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  accord task init --project shop
  accord task create \"Write the parser\" --project shop --ready
  accord task work --project shop --as dev --agent claude
  accord task board --project shop

A task is named by its id, the beginning of it, or its last numbers, such as 001. In a worker that
Accord started, the person's verbs are refused. docs/tasks.md is the tutorial.";
