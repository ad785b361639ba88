//! `accord run stage`: stages the result of a turn that a person did.

use std::path::{Path, PathBuf};

use accord_contract::{Object, Wire as _};
use accord_runs::answers::{stage_again, stage_answer};
use accord_runs::operations::ManualResult;
use accord_runs_core::next_step::must_object;
use accord_runs_core::views::changed_files;

use super::{RepoArgs, TurnArgs, next_lines, take, words};
use crate::input::read_file;
use crate::render::{clean, counted};
use crate::{CliError, Exit, Result};

/// Stage the result of a turn that you did yourself
#[derive(Debug, clap::Args)]
pub(super) struct StageArgs {
    #[command(flatten)]
    turn: TurnArgs,

    /// What was done
    #[arg(long, value_name = "TEXT", value_parser = words)]
    summary: String,

    /// A decision; can be repeated
    #[arg(long = "decision", value_name = "TEXT", value_parser = words)]
    decisions: Vec<String>,

    /// An objection; can be repeated
    #[arg(long = "objection", value_name = "TEXT", value_parser = words)]
    objections: Vec<String>,

    /// A changed file; can be repeated; required while other turns are active; if absent, the files
    /// that git reports, without those of turns accepted since the assignment
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<String>,

    /// No file was changed
    #[arg(long, conflicts_with = "files")]
    no_files: bool,

    /// A check that passed; can be repeated
    #[arg(long = "verified", value_name = "COMMAND", value_parser = words)]
    verified: Vec<String>,

    /// The proposed next role
    #[arg(long, value_name = "ROLE")]
    next_role: Option<String>,

    /// The phase is complete: request the next one
    #[arg(long, conflicts_with = "complete")]
    next_phase: bool,

    /// The run is complete: request its completion
    #[arg(long)]
    complete: bool,

    /// What another person must decide first
    #[arg(long, value_name = "REASON", value_parser = words)]
    needs_human: Option<String>,

    /// A file with a JSON object whose members replace those of the result: decisions with ids of
    /// their own, delegations, cost; `-` for standard input
    #[arg(long, value_name = "FILE")]
    with: Option<PathBuf>,

    #[command(flatten)]
    repo: RepoArgs,
}

impl StageArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let runs = self.repo.open()?;
        let result = ManualResult {
            members: self.with.as_deref().map(members).transpose()?.unwrap_or_default(),
            turn: self.turn.find(&runs)?,
            summary: self.summary,
            decisions: self.decisions,
            objections: self.objections,
            files: self.files,
            no_files: self.no_files,
            verified: self.verified,
            next_role: self.next_role,
            next_phase: self.next_phase,
            complete: self.complete,
            needs_human: self.needs_human,
        };
        let staged = take(runs.stage_manual_result(&result))?;
        let next = match &staged.problem {
            None => self.repo.next(&runs)?,
            Some(_) => {
                let turn = &staged.turn;
                let objects = must_object(&take(runs.config())?, turn.role());
                let (id, names_files) = (turn.id().as_str(), !result.files.is_empty());
                vec![stage_again(id, names_files, objects, &self.repo.names())]
            }
        };
        let answer = stage_answer(&staged, next);
        self.repo.say(&answer, |page| {
            let files = changed_files(&staged.result).len() as u64;
            let (turn, files) = (clean(&answer.turn_id), counted(files, "changed file"));
            page.line(format!("staged the result of {turn} with {files}"));
            let problem = answer.problem.as_ref().map(|problem| problem.error.message.as_str());
            page.labelled_some_whole("refused", problem);
            next_lines(page, &answer.next);
        })?;
        // It is staged, but would be refused: the answer is no.
        Ok(Exit::from_answer(staged.problem.is_none()))
    }
}

fn members(path: &Path) -> Result<Object> {
    let path_shown = path.display();
    let document = accord_canon::read(&read_file(path)?)
        .map_err(|error| CliError::usage(format!("{path_shown}: {error}")))?;
    Object::from_document(document)
        .map_err(|_| CliError::usage(format!("{path_shown} is not a JSON object")))
}
