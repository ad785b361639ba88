//! `accord project runs`: the runs of the repositories that are joined to a project of this host.

use std::path::{Path, PathBuf};

use accord_api::parameter::InProject;
use accord_api::{Call, Json, NoBody, NoParams};
use accord_contract::Wire as _;
use accord_runs_core::operations::joined::{
    JoinedRunHistory, LONGEST_WAIT, ListJoinedRuns, MOST_TURNS, OfRun, ReadJoinedRun,
    ReadRunPrompt, RunHistoryQuery, RunPromptQuery, RunStageRequest, RunWaitQuery, StageRunResult,
    WaitForRun,
};

use crate::host::{Candidate, Connection, HostArgs, ProjectArg, choose, print_answer, project_id};
use crate::input::read_file;
use crate::render::{self, clean};
use crate::{CliError, Exit, Result};

/// List the governed runs of the repositories that are joined to a project, as of the last contact
#[derive(Debug, clap::Args)]
pub(super) struct RunsArgs {
    /// Show this run, by its id, that of its edge, or the beginning of one of them
    run: Option<String>,

    /// List the newest accepted turns
    #[arg(long, requires = "run")]
    history: bool,

    /// Only so many of them
    #[arg(long, value_name = "N", requires = "history")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_TURNS)))]
    last: Option<u32>,

    /// Print the prompt of the active turn
    #[arg(long, requires = "run", conflicts_with = "history")]
    prompt: bool,

    /// The turn of the prompt, if several are active
    #[arg(long, value_name = "ID", requires = "prompt")]
    turn: Option<String>,

    /// Wait at most so many seconds until the run changes; exit code 1 if it does not
    #[arg(long, value_name = "SECONDS", requires = "run")]
    #[arg(conflicts_with_all = ["history", "prompt"])]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=i64::from(LONGEST_WAIT)))]
    wait: Option<u32>,

    /// Wait for another version than this one, which --json prints
    #[arg(long, value_name = "VERSION", requires = "wait")]
    since: Option<String>,

    /// Stage the result of the active turn: a file with JSON, whose member `summary` says what was
    /// done; `-` for standard input
    #[arg(long, value_name = "FILE", requires = "run")]
    #[arg(conflicts_with_all = ["history", "prompt", "wait"])]
    stage: Option<PathBuf>,

    #[command(flatten)]
    project: ProjectArg,
    #[command(flatten)]
    host: HostArgs,
}

impl RunsArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let host = self.host.connect()?;
        let project = self.project.required(&self.host.target, &host)?;
        let (json, at) = (self.host.json, InProject { project: project_id(&project)? });
        let Some(given) = &self.run else {
            let listed = host.ask::<ListJoinedRuns>(at, NoParams)?;
            return print_answer(json, &listed, |page, answer| match answer.0.runs.is_empty() {
                true => page.line(clean(&format!("no repository is joined to {project}"))),
                false => render::joined_runs(page, &answer.0.runs),
            });
        };
        let of = OfRun { project: at.project.clone(), run: whole(&host, at, given)? };
        if self.history {
            let query = RunHistoryQuery { last: self.last };
            let found = host.call(&Call::<JoinedRunHistory>::new(of, query, NoBody))?;
            return print_answer(json, &found, |page, answer| {
                render::joined_run_history(page, &answer.0.run, &answer.0.turns);
            });
        }
        if self.prompt {
            let query = RunPromptQuery { turn: self.turn };
            let found = host.call(&Call::<ReadRunPrompt>::new(of, query, NoBody))?;
            return print_answer(json, &found, |page, answer| {
                answer.0.prompt.lines().for_each(|line| page.line(clean(line)));
            });
        }
        if let Some(file) = &self.stage {
            let request = Json(request(file)?);
            let staged = host.call(&Call::<StageRunResult>::new(of, NoParams, request))?;
            let is_good = staged.answer.0.staged.problem.is_none();
            print_answer(json, &staged, |page, answer| {
                let staged = &answer.0.staged;
                page.line(clean(&format!("staged the result of {}", staged.turn_id)));
                let problem = staged.problem.as_ref().map(|it| it.error.message.as_str());
                page.labelled_some_whole("refused", problem);
            })?;
            return Ok(Exit::from_answer(is_good));
        }
        if let Some(seconds) = self.wait {
            let query = RunWaitQuery { since: self.since, wait_seconds: Some(seconds) };
            let found = host.call(&Call::<WaitForRun>::new(of, query, NoBody))?;
            let changed = found.answer.0.changed;
            print_answer(json, &found, |page, answer| {
                page.line(if changed { "the run changed" } else { "nothing changed" });
                render::joined_run(page, &answer.0.run);
            })?;
            return Ok(Exit::from_answer(changed));
        }
        let found = host.ask::<ReadJoinedRun>(of, NoParams)?;
        print_answer(json, &found, |page, answer| render::joined_run(page, &answer.0.run))
    }
}

/// The id of an edge or a run, from its beginning.
fn whole(host: &Connection, at: InProject, given: &str) -> Result<String> {
    let runs = host.ask::<ListJoinedRuns>(at, NoParams)?.answer.0.runs;
    let is_known = |id: &str| runs.iter().any(|run| run.run_id.as_deref() == Some(id));
    if is_known(given) {
        // Several repositories can have it. The host says which ones.
        return Ok(given.to_owned());
    }
    let ids = runs.into_iter().flat_map(|run| {
        let place = run.name;
        let ids = [Some(run.edge_id.to_string()), run.run_id].into_iter().flatten();
        ids.map(move |id| Candidate { id, place: place.clone() })
    });
    choose("run", given, ids.filter(|it| it.id.starts_with(given)).collect(), false)
}

fn request(file: &Path) -> Result<RunStageRequest> {
    let wrong = |why: String| CliError::usage(format!("{}: {why}", file.display()));
    let document =
        accord_canon::read(&read_file(file)?).map_err(|error| wrong(error.to_string()))?;
    RunStageRequest::from_document(document).map_err(|error| wrong(error.to_string()))
}
