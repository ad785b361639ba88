//! `accord run init`: a folder becomes a governed repository.

use accord_runs::Runs;
use accord_runs::agents::Preset;
use accord_runs::answers::init_answer;
use accord_runs::operations::{InitOptions, NewAgent, NewRole, init};

use super::{RepoArgs, environment, next_lines, take};
use crate::render::{clean, counted};
use crate::{CliError, Exit, Result};
/// An agent that plans gets no other hint of what is wanted.
const NO_GOAL: &str = "the project has no goal; give one to the run: accord run start GOAL";

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

    /// The agent that works: claude, codex, gemini or opencode, or a command, as in
    /// 'my-agent {prompt}', which gets the prompt on standard input without {prompt}; a person if
    /// absent
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,

    /// A role whose turns the agent does: pm, dev or qa; repeatable; pm and dev if absent
    #[arg(long, value_name = "ROLE", requires = "agent", value_parser = role)]
    agent_role: Vec<NewRole>,

    /// Commit the files to git, and no others
    #[arg(long)]
    commit: bool,

    #[command(flatten)]
    repo: RepoArgs,
}

impl InitArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let agent = self.agent.as_deref().map(|agent| new_agent(agent, self.agent_role));
        let agent = agent.transpose()?;
        let plans = agent.as_ref().is_some_and(|agent| agent.has(NewRole::Pm));
        let options = InitOptions {
            project_id: self.project_id,
            name: self.name,
            goal: self.goal,
            agent,
            commit: self.commit,
        };
        let environment = environment()?;
        let made = take(init(&self.repo.folder(), &options, &environment))?;
        let answer = init_answer(&made, &self.repo.names());
        let next = self.repo.next(&take(Runs::open(&made.root, environment))?)?;
        self.repo.say(&answer, |page| {
            let (root, written) =
                (clean(&answer.root), counted(answer.written.len() as u64, "file"));
            let kept = answer.kept.len();
            page.line(format!("{root} is governed now: {written} written, {kept} kept"));
            page.labelled_some("commit", answer.commit.as_deref());
            page.labelled_some_whole("commit", answer.commit_command.as_deref());
            if plans && options.goal.is_none() {
                page.line(NO_GOAL);
            }
            page.line(RUN_AGAIN);
            next_lines(page, &next);
        })
    }
}

const RUN_AGAIN: &str = "to have Accord run declared checks again, add the policy \
    require_reproducible_verification to agentxchain.json";

/// An agent by its name, else by the words of its command.
fn new_agent(agent: &str, roles: Vec<NewRole>) -> Result<NewAgent> {
    if let Some(preset) = Preset::named(agent) {
        let runtime = preset.name.to_owned();
        return Ok(NewAgent { runtime, command: preset.command(), roles });
    }
    let command = shell_words::split(agent)
        .map_err(|error| CliError::usage(format!("--agent cannot be read: {error}")))?;
    Ok(NewAgent { runtime: "agent".to_owned(), command, roles })
}

fn role(text: &str) -> Result<NewRole, String> {
    NewRole::parse(text).ok_or_else(|| "a new project has the roles pm, dev and qa".to_owned())
}
