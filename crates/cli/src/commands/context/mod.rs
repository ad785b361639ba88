//! `accord context`: the packages of a project.

mod answer;
mod archives;
mod bundles;
mod compose;
mod deposit;
mod export;
mod import;
mod pull;
mod questions;
mod relay_backup;
mod source;
mod transition;
mod verify;

use crate::error::CliError;
use crate::exit::Exit;

/// Deposit, read, review and export context packages
#[derive(Debug, clap::Args)]
pub(crate) struct ContextArgs {
    #[command(subcommand)]
    command: ContextCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ContextCommand {
    Deposit(Box<deposit::DepositArgs>),
    Pull(pull::PullArgs),
    Questions(questions::QuestionsArgs),
    Answer(answer::AnswerArgs),
    Orient(bundles::OrientArgs),
    Digest(bundles::DigestArgs),
    Flag(transition::FlagArgs),
    Review(transition::ReviewArgs),
    Resubmit(transition::ResubmitArgs),
    Complete(transition::CompleteArgs),
    Export(export::ExportArgs),
    Import(import::ImportArgs),
    Verify(verify::VerifyArgs),
}

impl ContextArgs {
    pub(crate) fn run(self) -> Result<Exit, CliError> {
        match self.command {
            ContextCommand::Deposit(args) => args.run(),
            ContextCommand::Pull(args) => args.run(),
            ContextCommand::Questions(args) => args.run(),
            ContextCommand::Answer(args) => args.run(),
            ContextCommand::Orient(args) => args.run(),
            ContextCommand::Digest(args) => args.run(),
            ContextCommand::Flag(args) => args.run(),
            ContextCommand::Review(args) => args.run(),
            ContextCommand::Resubmit(args) => args.run(),
            ContextCommand::Complete(args) => args.run(),
            ContextCommand::Export(args) => args.run(),
            ContextCommand::Import(args) => args.run(),
            ContextCommand::Verify(args) => args.run(),
        }
    }
}
