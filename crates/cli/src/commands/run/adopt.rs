//! `accord run adopt`: a person decides about changes that were made while a worker ran.

use std::path::Path;

use accord_api::LocalDeclaration;
use accord_base::Door;
use accord_base::evidence::ExpectedDigest;
use accord_runs::answers::adopt_answer;
use accord_runs::operations::Adopt;
use accord_runs_core::operations::answers::{RunAdoptAnswer, RunKeptChange};
use accord_runs_core::operations::{AdoptChanges, LocalOperation as _, ShowChanges};
use accord_runs_core::person::Person;

use super::person::{human, person};
use super::{RepoArgs, next_lines, quoted_path, take};
use crate::commands::person::DespiteArgs;
use crate::host::Actor;
use crate::render::{Page, clean};
use crate::{Exit, Result};

const CONFIG: &str = "agentxchain.json";
const HOME: &str = ".agentxchain";
/// What differs if the copies themselves are gone.
const COPY: &str = "copy.json";

/// Decide about configuration and records that changed while a worker ran
///
/// While a worker runs, configuration and records are those from before its start. What changed in
/// them was put back and kept. Without --yes this command only shows it.
#[derive(Debug, clap::Args)]
pub(super) struct AdoptArgs {
    /// Put the changes in force; with --undo, leave them undone for good
    #[arg(long)]
    yes: bool,

    /// Put the copies from before the worker back, and forget the changes
    #[arg(long)]
    undo: bool,

    /// Who decides, for example human:lead [default: ACCORD_ACTOR, or at a terminal the user of
    /// the operating system]
    #[arg(long, value_name = "human:NAME", value_parser = human, requires = "yes")]
    actor: Option<Actor>,

    /// Decide only about what this command showed: the digest that it prints, or at least 32 digits
    /// of it
    #[arg(long, value_name = "DIGEST", value_parser = ExpectedDigest::parse, requires = "yes")]
    expect: Option<ExpectedDigest>,

    /// A note for the records
    #[arg(long, value_name = "TEXT", value_parser = crate::commands::words, requires = "yes")]
    note: Option<String>,

    #[command(flatten)]
    despite: DespiteArgs,

    #[command(flatten)]
    repo: RepoArgs,
}

impl AdoptArgs {
    pub(super) fn operation(&self) -> LocalDeclaration {
        if self.yes { AdoptChanges::declared() } else { ShowChanges::declared() }
    }

    pub(super) fn run(self) -> Result<Exit> {
        let runs = self.repo.open_to_act()?;
        let verb = if self.undo { "forget what changed" } else { "put in force what changed" };
        let by = self.yes.then(|| person(self.actor, self.note, Door::Cli, verb)).transpose()?;
        let despite_leftovers = self.despite.despite_leftovers;
        let by = by.map(|person| Person { despite_leftovers, ..person });
        let adoption = take(runs.adopt(&Adopt { by, undo: self.undo, expect: self.expect }))?;
        let answer = adopt_answer(&adoption, self.repo.next(&runs)?);
        let git = self.repo.git_words();
        self.repo.say(&answer, |page| write(page, &answer, self.undo, &git))?;
        Ok(Exit::from_answer(adoption.done || adoption.is_empty()))
    }
}

fn write(page: &mut Page, answer: &RunAdoptAnswer, undo: bool, git: &str) {
    if answer.differing.is_empty() && answer.lost.is_none() && answer.kept.is_empty() {
        page.line("nothing changed while a worker ran");
        next_lines(page, &answer.next);
        return;
    }
    // Without copies, nothing can be undone.
    let has_copies = !answer.differing.iter().any(|path| path == COPY);
    page.line(match (answer.done, undo) {
        (false, _) if !has_copies => "nothing shows what the worker changed: the copies are gone",
        (false, _) => "these changes are not in force",
        (true, false) => "these changes are in force",
        (true, true) => "these changes are undone",
    });
    page.labelled_some_whole("lost", answer.lost.as_deref());
    answer.differing.iter().for_each(|path| page.labelled("differs", path));
    for change in &answer.kept {
        kept_lines(page, change);
        let config = Path::new(&change.folder).join(CONFIG);
        if !answer.done && config.is_file() {
            let config = quoted_path(&config);
            let compare = format!("git{git} diff --no-index -- {CONFIG} {config}");
            page.labelled_whole("compare", &compare);
        }
    }
    if !has_copies && !answer.done {
        page.labelled_whole("compare", &format!("git{git} diff -- {CONFIG} {HOME}"));
    }
    page.labelled_whole("copies", &answer.folder);
    page.labelled_some_whole("evidence", answer.evidence_digest.as_deref());
    if !answer.done {
        let digest = answer.evidence_digest.as_deref().unwrap_or_default();
        let yes = format!("accord run adopt --yes --expect {digest}");
        if has_copies {
            page.labelled_whole("decide", &format!("{yes} puts them in force"));
            let undo = format!("accord run adopt --undo --yes --expect {digest}");
            page.labelled_whole("", &format!("{undo} forgets them"));
        } else {
            page.labelled_whole("decide", &format!("{yes} puts the repository as it is in force"));
        }
    }
    next_lines(page, &answer.next);
}

pub(super) fn kept_lines(page: &mut Page, change: &RunKeptChange) {
    change.files.iter().for_each(|file| page.labelled("put back", file));
    page.labelled_each("because", &change.reasons);
    if change.outdated {
        let why = "the run went on since; changed records are not put in force any more";
        page.labelled_whole("outdated", why);
    }
    page.labelled_whole("kept in", &clean(&change.folder));
}
