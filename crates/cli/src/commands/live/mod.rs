//! `accord live`: what agents ask people in live sessions, from a terminal.
//!
//! Every command is a client of Accord's own routes of live sessions ([`place`]): of the host that
//! serves the data folder, of a server, or of a host in this process that opens the folder.

mod answer;
mod answers;
mod ask;
mod list;
mod open;
mod place;
mod prompt;
mod questions;
mod watch;

pub(crate) use self::ask::{AskArgs, Asked};
pub(crate) use self::place::PlaceArgs;

subcommands! {
    /// Ask a person; list, open, answer and watch live sessions
    #[command(after_help = EXAMPLES)]
    pub(crate) LiveArgs, LiveCommand {
        Ask(AskArgs),
        List(list::ListArgs),
        Open(open::OpenArgs),
        Answer(answer::AnswerArgs),
        Answers(answers::AnswersArgs),
        Watch(watch::WatchArgs),
    }
}

const EXAMPLES: &str = "\
Examples:
  accord live ask 'Deploy 3.0?' --option yes --option no --project shop && ./deploy
  accord live list --project shop
  accord live open live_1a2b --project shop
  accord live answer live_1a2b approve --field version=3 --project shop
  accord live watch live_1a2b --project shop

A session is named by its id, or the beginning of it. docs/live.md is the tutorial.";
