//! `accord task`: tasks for agents and people, as AOF/1 keeps them in files.
//!
//! Every command is a client of the routes of a host ([`place`]): of the host that serves the data
//! folder, of a server, or of a host in this process that opens the task trees alone.

mod acting;
mod board;
mod briefing;
mod change;
mod check;
mod comment;
mod create;
mod decide;
mod init;
mod merge;
mod message;
pub(super) mod names;
mod outputs;
mod place;
mod read;
mod remote;
mod remote_hub;
mod run_agent;
mod watch;
mod work;
mod work_host;

subcommands! {
    /// Create tasks, give them to agents, review what they did
    #[command(after_help = EXAMPLES)]
    pub(crate) TaskArgs, TaskCommand {
        Init(init::InitArgs),
        Create(create::CreateArgs),
        List(read::ListArgs),
        Show(read::ShowArgs),
        Outputs(outputs::OutputsArgs),
        Edit(create::EditArgs),
        Comment(comment::CommentArgs),
        Check(check::CheckArgs),
        Claim(change::ClaimArgs),
        Release(change::ReleaseArgs),
        Block(change::BlockArgs),
        /// Make a blocked task ready again
        Unblock(change::ReasonArgs) => change::ReasonArgs::unblock,
        /// Give a task up
        Cancel(change::DecisionArgs) as "cancel",
        /// End a task as done, whatever its status is
        Close(decide::DoneArgs) => decide::DoneArgs::close,
        Approve(decide::ApproveArgs),
        SendBack(decide::SendBackArgs),
        Reopen(decide::ReopenArgs),
        Adopt(decide::AdoptArgs),
        Promote(change::PromoteArgs),
        /// Make a dead letter ready again, with a new retry budget
        Resurrect(change::DecisionArgs) as "resurrect",
        Merge(merge::MergeArgs),
        /// Bring a task back whose file was removed
        Undelete(change::ReasonArgs) => change::ReasonArgs::undelete,
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
}

const EXAMPLES: &str = "\
Examples:
  accord task init --project shop
  accord task create \"Write the parser\" --ready
  accord task work --agent claude
  accord task board

A task is named by its id, the beginning of it, or its last numbers, such as 001. In a worker that
Accord started, the person's verbs are refused. docs/tasks.md is the tutorial.";
