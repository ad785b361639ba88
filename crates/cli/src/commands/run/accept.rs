//! `accord run accept`: accepts a staged result into the history.

use accord_runs::answers::RunAcceptAnswer;
use accord_runs::operations::Accept;

use super::{RepoArgs, TurnArgs, next_lines, take};
use crate::error::CliError;
use crate::exit::Exit;
use crate::render::{Page, Style, clean};

/// Accept a turn: validate its staged result, compare it with the changes, add it to the history
#[derive(Debug, clap::Args)]
pub(super) struct AcceptArgs {
    #[command(flatten)]
    turn: TurnArgs,

    /// Accept the result without corrections, or not at all
    #[arg(long)]
    strict: bool,

    /// Treat a result that claims work without any changes as a review
    #[arg(long, conflicts_with = "strict")]
    as_review: bool,

    /// The conflicting files are merged
    #[arg(long)]
    human_merge: bool,

    /// Commit the changes of the turn at once
    #[arg(long)]
    checkpoint: bool,

    #[command(flatten)]
    repo: RepoArgs,
}

impl AcceptArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let runs = self.repo.open_to_act()?;
        let accept = Accept {
            turn: self.turn.find(&runs)?,
            strict: self.strict,
            force_review: self.as_review,
            human_merge: self.human_merge,
            checkpoint: self.checkpoint,
            attempt: None,
        };
        let done = take(runs.accept(&accept))?;
        let next = self.repo.next(&runs)?;
        let document = RunAcceptAnswer::new(&done, next);
        self.repo.say(&document, |page| write(page, &document))?;
        // The turn is accepted, but if the commit failed or a hook tampered after it, the answer is
        // no.
        let sound = done.no_checkpoint.is_none() && done.accepted.after_hooks.is_none();
        Ok(Exit::from_answer(sound))
    }
}

fn write(page: &mut Page, answer: &RunAcceptAnswer) {
    let role = answer.history_entry.get("role").and_then(|role| role.as_str());
    let accepted = page.styled(Style::Good, "accepted");
    page.line(format!("{accepted} {} of {}", clean(&answer.turn_id), clean(role.unwrap_or("?"))));
    for warning in &answer.warnings {
        page.labelled_whole("warning", warning);
    }
    if let Some(failure) = &answer.after_hooks {
        page.labelled_whole("hook", &failure.error.message);
    }
    if let Some(made) = &answer.checkpoint {
        page.labelled("commit", &made.commit);
    }
    if let Some(failure) = &answer.no_checkpoint {
        page.labelled_whole("commit", &format!("none: {}", failure.error.message));
    }
    next_lines(page, &answer.next);
}
