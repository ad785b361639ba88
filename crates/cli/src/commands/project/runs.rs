//! `accord project runs`: the runs of the repositories that are joined to a project of this host.

use std::path::{Path, PathBuf};

use accord_api::operations::edge_decisions::EdgeVerb;
use accord_api::operations::edges::OfEdge;
use accord_api::parameter::InProject;
use accord_api::{Call, Json, NoBody, NoParams};
use accord_contract::{Code, Failure, Wire as _};
use accord_runs_core::operations::joined::{
    JoinedRunHistory, LONGEST_WAIT, ListJoinedRuns, MOST_TURNS, OfRun, ReadJoinedRun,
    ReadRunOutput, ReadRunPrompt, RunHistoryQuery, RunOutputQuery, RunPromptQuery, RunStageRequest,
    RunWaitQuery, StageRunResult, WaitForRun,
};

use super::edge_decision;
use crate::commands::person::PersonArgs;
use crate::host::{Candidate, Connection, HostArgs, ProjectArg, choose, print_answer, project_id};
use crate::input::read_file;
use crate::render::{self, clean};
use crate::{CliError, Exit, Result, print_line};

/// List the governed runs of the repositories that are joined to a project, as of the last contact
#[derive(Debug, clap::Args)]
pub(super) struct RunsArgs {
    /// Show this run, by its id, that of its edge, or the beginning of one of them
    run: Option<String>,

    /// List the newest accepted turns
    #[arg(long, requires = "run")]
    history: bool,

    /// Show at most this many turns
    #[arg(long, value_name = "N", requires = "history")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_TURNS)))]
    last: Option<u32>,

    /// Print the prompt of the active turn
    #[arg(long, requires = "run", conflicts_with = "history")]
    prompt: bool,

    /// The turn of the prompt or the output, if several are active
    #[arg(long, value_name = "ID", requires = "run")]
    turn: Option<String>,

    /// Print what the agent of the active turn printed, as far as it was sent (--send output)
    #[arg(long, requires = "run", conflicts_with_all = ["history", "prompt", "wait"])]
    output: bool,

    /// Go on printing until the turn ends
    #[arg(long, requires = "output", conflicts_with = "json")]
    follow: bool,

    /// Wait at most so many seconds until the run changes; exit code 1 if it does not
    #[arg(long, value_name = "SECONDS", requires = "run")]
    #[arg(conflicts_with_all = ["history", "prompt"])]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=i64::from(LONGEST_WAIT)))]
    wait: Option<u32>,

    /// Return when the version differs from this one, which --json prints
    #[arg(long, value_name = "VERSION", requires = "wait")]
    since: Option<String>,

    /// Stage the result of the active turn: a file with JSON, whose member `summary` says what was
    /// done; `-` for standard input
    #[arg(long, value_name = "FILE", requires = "run")]
    #[arg(conflicts_with_all = ["history", "prompt", "wait"])]
    stage: Option<PathBuf>,

    /// Stop the run: its workers are ended, and it waits for a person; --note says why. The edge
    /// applies it at its next contact, if the run is still as shown
    #[arg(long, requires = "run", requires = "note")]
    #[arg(conflicts_with_all = ["history", "prompt", "wait", "stage"])]
    stop: bool,

    #[command(flatten)]
    person: PersonArgs,
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
        if self.output {
            return output(&host, json, &of, self.turn, self.follow);
        }
        if self.stop {
            return control(&host, json, of, EdgeVerb::Stop, self.person);
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

/// Prints what an agent printed, and what it prints.
fn output(
    host: &Connection,
    json: bool,
    of: &OfRun,
    mut turn: Option<String>,
    follow: bool,
) -> Result<Exit> {
    let mut from = 0;
    loop {
        let query = RunOutputQuery { turn: turn.clone(), from: Some(from) };
        let found = host.call(&Call::<ReadRunOutput>::new(of.clone(), query, NoBody))?;
        let answer = &found.answer.0;
        if !follow {
            return print_answer(json, &found, |page, answer| {
                answer.0.output.lines().for_each(|line| page.line(clean(line)));
            });
        }
        for line in answer.output.lines() {
            print_line(clean(line))?;
        }
        from = u32::try_from(answer.next).unwrap_or(u32::MAX);
        // The output of the next turn is another one.
        turn = turn.or_else(|| answer.turn_id.clone());
        let is_over = !answer.active && (turn.is_some() || answer.run.turns.is_empty());
        if is_over && answer.output.is_empty() {
            return Ok(Exit::Yes);
        }
        if !is_over {
            let since = Some(answer.run.version.clone());
            let query = RunWaitQuery { since, wait_seconds: Some(LONGEST_WAIT) };
            host.call(&Call::<WaitForRun>::new(of.clone(), query, NoBody))?;
        }
    }
}

/// Decides about a run itself, which is shown first.
fn control(
    host: &Connection,
    json: bool,
    of: OfRun,
    verb: EdgeVerb,
    person: PersonArgs,
) -> Result<Exit> {
    let project = of.project.clone();
    let run = host.ask::<ReadJoinedRun>(of, NoParams)?.answer.0.run;
    let control = run.control.filter(|control| control.verbs.contains(&verb)).ok_or_else(|| {
        let status = run.status.as_deref().unwrap_or("unknown");
        let message = format!(
            "the run cannot be decided here: its status is {status}, and the join allows what \
             `accord project edges {}` shows as `decides`",
            run.edge_id
        );
        Failure::new(Code::EdgeNotDecidable, message)
            .suggesting(format!("in that repository: accord join … --decide run.{verb}"))
    })?;
    let at = OfEdge { project, edge: run.edge_id };
    edge_decision::decide(host, json, at, (control.item, verb), person)
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
