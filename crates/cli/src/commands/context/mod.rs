//! `accord context`: the packages of a project.

mod answer;
mod archives;
mod ask;
mod bundles;
mod compose;
mod deposit;
mod export;
mod import;
mod other_tools;
mod pull;
mod questions;
mod relay_backup;
mod source;
mod transition;
mod verify;

subcommands! {
    /// Deposit, read, review and export context packages
    pub(crate) ContextArgs, ContextCommand {
        Deposit(Box<deposit::DepositArgs>),
        Pull(pull::PullArgs),
        Questions(questions::QuestionsArgs),
        Answer(answer::AnswerArgs),
        Ask(ask::ContextAskArgs),
        Orient(bundles::OrientArgs),
        Digest(bundles::DigestArgs),
        Flag(transition::FlagArgs),
        Review(transition::ReviewArgs),
        /// Request another review, after a requested revision
        Resubmit(transition::PackageArgs) as "resubmit",
        /// Complete a package; it can no longer change
        Complete(transition::PackageArgs) as "complete",
        Export(export::ExportArgs),
        Import(import::ImportArgs),
        Verify(verify::VerifyArgs),
    }
}
