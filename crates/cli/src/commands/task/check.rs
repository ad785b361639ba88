//! `accord task check`: runs the checks of a task whose agent has ended its run.
//!
//! The agent may have reported over HTTP or MCP, so that Accord did not start it. The checks run
//! here, like those of `accord task work`, and are recorded beside the report.

use std::path::{Path, PathBuf};

use accord_api::Json;
use accord_contract::Code;
use accord_process::{Cancel, SandboxRules};
use accord_tasks::worker::{AgentCommand, AgentRun, WorkSignal};
use accord_tasks_core::Status;
use accord_tasks_core::lease::LeaseTimes;
use accord_tasks_core::observed::{CHECKS_OF, NOT_STARTED, described, read_checks};
use accord_tasks_core::operations::{
    AgentExit, EndRun, EndRunRequest, ShowQuery, ShowTask, TaskObserved,
};

use super::place::PlaceArgs;
use super::work::elsewhere;
use super::work_host::WorkHost;
use crate::commands::launch::use_launcher;
use crate::host::ActorArg;
use crate::interrupt::cancel_on_signal;
use crate::render::{self, clean};
use crate::{CliError, Exit, Result, print_note};

/// Run the checks of a task that an agent has worked on, and record how they ended
#[derive(Debug, clap::Args)]
pub(super) struct CheckArgs {
    /// The task
    id: String,

    /// The folder with the work [default: the one that the agent is known to have worked in, or the
    /// current folder]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    #[command(flatten)]
    actor: ActorArg,
    #[command(flatten)]
    place: PlaceArgs,
}

impl CheckArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let place = self.place.open()?;
        if let Some(url) = &place.url {
            return Err(elsewhere(url, &place.project));
        }
        // Refused to workers, before anything runs.
        let by = self.actor.acting()?;
        let path = place.task(&self.id)?;
        let ask = || place.host.ask::<ShowTask>(path.clone(), ShowQuery { without_body: true });
        let shown = ask()?.answer.0.result;
        let Some(root) = &shown.root else { return Err(elsewhere("another host", &place.project)) };
        let checks = shown.task.metadata.get(CHECKS_OF).and_then(read_checks).unwrap_or_default();
        if checks.is_empty() {
            let help = format!("name one: {}", place.command("edit ID --check COMMAND"));
            return Err(CliError::usage(format!("{} has no checks", shown.task.id)).help(help));
        }
        let run = shown.task.run.as_ref().filter(|_| shown.task.status != Status::InProgress);
        let Some((run, run_id)) = run.and_then(|run| Some((run, run.run_id.as_deref()?))) else {
            let message = format!("no agent has ended its work on {}", shown.task.id);
            return Err(CliError::new(Code::AofInvalidTaskTransition, message)
                .help("checks run after the report of an agent"));
        };
        let folder = self.folder(shown.observed.as_ref())?;
        let mut command = AgentCommand::new(Vec::new());
        command.cwd = Some(folder.clone());
        let (data, settings) = self.place.settings()?;
        command.sandbox = SandboxRules { data: Some(data), ..settings.sandbox_rules() };
        accord_process::supervise();
        use_launcher(&settings.workers);
        let cancel = Cancel::new();
        cancel_on_signal(&cancel)?;
        let host = WorkHost::new(&self.place, &place, &run.agent)?;
        let files = (Path::new(root), place.project.as_str());
        let of = (shown.task.id, run.agent.as_str(), run_id);
        let agent = AgentRun::new(&host, files, of, LeaseTimes::default(), checks)?;
        let checks = agent.check(&command, &cancel, &mut |signal| {
            if let WorkSignal::Check(check) = signal {
                print_note(format!("check {}", clean(&described(check))));
            }
        });
        let known = shown.observed.clone().unwrap_or_else(|| TaskObserved {
            run_id: run_id.to_owned(),
            sandbox: NOT_STARTED.to_owned(),
            checks: Vec::new(),
            work_tree: folder.display().to_string(),
            base: None,
            commits: Vec::new(),
            files: Vec::new(),
            left_out: 0,
            cost: None,
            executed: None,
            elsewhere: None,
            said_by: None,
            checked_here: None,
            changes: None,
        });
        let request = EndRunRequest {
            agent: Some(run.agent.clone()),
            run_id: run_id.to_owned(),
            // The run has ended before, so that this moves nothing.
            exit: AgentExit::Success,
            text: None,
            observed: Some(TaskObserved { checks, ..known }),
            uploads: None,
            changes: None,
        };
        place.change::<EndRun>(path.clone(), Json(request), &by)?;
        place.print(ask()?, render::task)
    }

    /// The folder in which the checks run.
    fn folder(&self, observed: Option<&TaskObserved>) -> Result<PathBuf> {
        let here = observed.filter(|observed| observed.elsewhere != Some(true));
        let known = here.map(|observed| PathBuf::from(&observed.work_tree));
        let folder = self.cwd.clone().or_else(|| known.filter(|folder| folder.is_dir()));
        let folder = folder.unwrap_or_else(|| PathBuf::from("."));
        folder.canonicalize().map_err(|error| {
            CliError::usage(format!("{}: {error}", folder.display())).help("name it with --cwd")
        })
    }
}
