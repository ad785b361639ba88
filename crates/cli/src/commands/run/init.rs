//! `accord run init`: a folder becomes a governed repository.

use accord_runs::answers::RunInitAnswer;
use accord_runs::operations::{InitOptions, init};

use super::{RepoArgs, environment, next_lines, take, usage};
use crate::error::CliError;
use crate::exit::Exit;
use crate::render::{clean, counted};
use accord_runs::Runs;

/// Make a folder a governed repository; existing files are not changed
#[derive(Debug, clap::Args)]
pub(super) struct InitArgs {
    /// The name of the project; that of the folder if absent
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,

    /// The id of the project; derived from its name if absent
    #[arg(long, value_name = "ID")]
    project_id: Option<String>,

    /// The goal of the project
    #[arg(long, value_name = "TEXT")]
    goal: Option<String>,

    /// The command of the developer's worker, as in 'claude -p {prompt}'; a person if absent
    #[arg(long, value_name = "COMMAND")]
    agent: Option<String>,

    #[command(flatten)]
    repo: RepoArgs,
}

impl InitArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let agent = self.agent.as_deref().map(shell_words::split).transpose();
        let agent = agent.map_err(|error| usage(format!("--agent cannot be read: {error}")))?;
        let options = InitOptions {
            project_id: self.project_id.clone(),
            name: self.name.clone(),
            goal: self.goal.clone(),
            agent,
        };
        let environment = environment();
        let made = take(init(&self.repo.folder(), &options, &environment))?;
        let answer = RunInitAnswer::new(&made);
        let runs = take(Runs::open(&made.root, environment))?;
        let next = self.repo.next(&runs)?;
        self.repo.say(&answer, |page| {
            page.line(format!(
                "{} is governed now: {} written, {} kept",
                clean(&answer.root),
                counted(answer.written.len() as u64, "file"),
                answer.kept.len()
            ));
            next_lines(page, &next);
        })?;
        Ok(Exit::Yes)
    }
}
