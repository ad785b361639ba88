//! `accord run accept`: accepts a staged result into the history.

use accord_api::LocalDeclaration;
use accord_runs::answers::accept_answer;
use accord_runs::operations::Accept;
use accord_runs_core::TurnId;
use accord_runs_core::evidence::Subject;
use accord_runs_core::operations::answers::RunAcceptAnswer;
use accord_runs_core::operations::{AcceptMerge, AcceptTurn, LocalOperation as _};
use accord_runs_core::person::Consent;
use accord_runs_core::views::HistoryView;

use super::decide::fact_lines;
use super::person::PersonArgs;
use super::{RepoArgs, TurnArgs, next_lines, take};
use crate::render::{Page, Style, clean};
use crate::{CliError, Exit, Result};

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

    /// A person merged the conflicting files; this asks first, or needs --yes
    #[arg(long)]
    human_merge: bool,

    #[command(flatten)]
    person: PersonArgs,

    /// Commit the changes of the turn at once
    #[arg(long)]
    checkpoint: bool,

    #[command(flatten)]
    repo: RepoArgs,
}

impl AcceptArgs {
    pub(super) fn operation(&self) -> LocalDeclaration {
        if self.human_merge { AcceptMerge::declared() } else { AcceptTurn::declared() }
    }

    pub(super) fn run(self) -> Result<Exit> {
        let human_merge = self.human_merge;
        if !human_merge && self.person.is_given() {
            return Err(CliError::usage("--yes, --actor, --note and --expect need --human-merge"));
        }
        let turn = self.turn.find(&self.repo.open()?)?;
        let merged = human_merge.then(|| consent(&self.repo, self.person, turn.as_ref()));
        let accept = Accept {
            turn,
            strict: self.strict,
            force_review: self.as_review,
            human_merge: merged.transpose()?,
            checkpoint: self.checkpoint,
            attempt: None,
        };
        let runs = self.repo.open_to_act()?;
        let done = take(runs.accept(&accept))?;
        self.repo.keep();
        let document = accept_answer(&done, self.repo.next(&runs)?);
        self.repo.say(&document, |page| write(page, &document))?;
        // The turn is accepted, but if the commit failed or a hook tampered after it, the answer is
        // no.
        let sound = done.no_checkpoint.is_none() && done.accepted.after_hooks.is_none();
        Ok(Exit::from_answer(sound))
    }
}

/// Asks the person whether the files are merged.
fn consent(repo: &RepoArgs, person: PersonArgs, turn: Option<&TurnId>) -> Result<Consent> {
    let runs = repo.open()?;
    take(runs.refuse_worker())?;
    let state = take(runs.state())?;
    let turn = take(state.target(turn))?;
    let subject = Subject::Merge(turn);
    let evidence = take(runs.evidence(&subject))?;
    let facts = runs.facts(&subject);
    person.consent("accept the turn with its files merged", &evidence, |page| {
        page.line(format!("{} of {}", turn.id(), clean(turn.role())));
        let conflict = turn.conflict_view();
        page.labelled_whole("files", &conflict.files.join(", "));
        page.labelled_whole("also of", &conflict.accepted_since.join(", "));
        fact_lines(page, &facts);
    })
}

fn write(page: &mut Page, answer: &RunAcceptAnswer) {
    let role = HistoryView::of(&answer.history_entry).role;
    let role = clean(role.as_deref().unwrap_or("?"));
    let accepted = page.styled(Style::Good, "accepted");
    page.line(format!("{accepted} {} of {role}", clean(&answer.turn_id)));
    page.labelled_each("warning", &answer.warnings);
    let hook = answer.after_hooks.as_ref();
    page.labelled_some_whole("hook", hook.map(|failure| failure.error.message.as_str()));
    page.labelled_some("commit", answer.checkpoint.as_ref().map(|made| made.commit.as_str()));
    if let Some(failure) = &answer.no_checkpoint {
        page.labelled_whole("commit", &format!("none: {}", failure.error.message));
    }
    next_lines(page, &answer.next);
}
