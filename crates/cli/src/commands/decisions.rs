//! `accord decisions`: who decided what, in every protocol.

use std::path::{Path, PathBuf};

use accord_api::operations::decisions::{
    DecisionParams, ListDecisions, MOST, TakeOverDecisions, TakeOverRequest,
};
use accord_api::parameter::InProject;
use accord_api::{Call, Json, NoParams};
use accord_base::ProjectId;
use accord_base::decision::DecisionProtocol;
use accord_contract::Wire as _;
use accord_contract::text::counted;
use accord_runs::{Environment, Runs};
use serde_json::json;

use crate::host::{Connection, HostArgs, PageArgs, ProjectArg, print_items, project_id};
use crate::render;
use crate::{Exit, Result, print_line};

/// List the decisions of people, the newest first: who, how they are known, about what, and when
#[derive(Debug, clap::Args)]
pub(crate) struct DecisionsArgs {
    #[command(flatten)]
    about: AboutArgs,

    /// Only decisions of this person, such as human:lead
    #[arg(long, value_name = "ACTOR")]
    by: Option<String>,

    /// Only decisions of this kind, such as task.review or live.answer
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,

    /// Take over the decisions of the governed repository in this folder, each of them once
    #[arg(long, value_name = "DIR", conflicts_with_all = ["task", "run", "package", "live"])]
    #[arg(conflicts_with_all = ["by", "kind"])]
    take_over: Option<PathBuf>,

    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    project: ProjectArg,
    #[command(flatten)]
    host: HostArgs,
}

// What the decisions are about: at most one of them.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct AboutArgs {
    /// Only decisions about the task of this id
    #[arg(long, value_name = "ID")]
    task: Option<String>,

    /// Only decisions about the governed run or initiative of this id
    #[arg(long, value_name = "ID")]
    run: Option<String>,

    /// Only decisions about the package of this id
    #[arg(long, value_name = "ID")]
    package: Option<String>,

    /// Only answers to the live session of this id
    #[arg(long, value_name = "ID")]
    live: Option<String>,
}

impl AboutArgs {
    /// The protocol and the subject, if one is named.
    fn get(self) -> (Option<DecisionProtocol>, Option<String>) {
        let all = [
            (DecisionProtocol::Tasks, self.task),
            (DecisionProtocol::Runs, self.run),
            (DecisionProtocol::Memory, self.package),
            (DecisionProtocol::Live, self.live),
        ];
        let named = all.into_iter().find(|(_, subject)| subject.is_some());
        named.map_or((None, None), |(protocol, subject)| (Some(protocol), subject))
    }
}

impl DecisionsArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        let host = match self.take_over {
            Some(_) => self.host.connect()?,
            None => Connection::to_decisions(&self.host.target.target()?)?,
        };
        let project = self.project.required(&self.host.target, &host)?;
        if let Some(folder) = &self.take_over {
            return take_over(&host, project_id(&project)?, folder, self.host.json);
        }
        let (protocol, subject) = self.about.get();
        let PageArgs { limit, cursor } = self.page;
        let (kind, actor) = (self.kind, self.by);
        let is_narrowed = subject.is_some() || kind.is_some() || actor.is_some();
        let asked = DecisionParams { protocol, kind, subject, actor, limit, cursor };
        let path = InProject { project: project_id(&project)? };
        print_items(
            self.host.json,
            &host.ask::<ListDecisions>(path, asked)?,
            |page, list| render::decisions(page, &list.decisions),
            || match is_narrowed {
                true => format!("no matching decision in {project}"),
                false => format!("nobody has decided anything in {project}"),
            },
        )
    }
}

/// Hands the decisions of a governed repository to a project.
fn take_over(host: &Connection, project: ProjectId, folder: &Path, json: bool) -> Result<Exit> {
    let runs = Runs::open(folder, Environment::system())?;
    let source = runs.config()?.project_id().to_owned();
    let (mut taken, mut known) = (Vec::new(), 0);
    for decisions in runs.person_decisions()?.chunks(MOST) {
        let (source, decisions) = (source.clone(), decisions.to_vec());
        let request = Json(TakeOverRequest { source, decisions });
        let path = InProject { project: project.clone() };
        let done = host.call(&Call::<TakeOverDecisions>::new(path, NoParams, request))?.answer.0;
        taken.extend(done.taken);
        known += done.known;
    }
    if json {
        let taken: Vec<_> = taken.iter().map(|id| id.encode()).collect();
        return print_line(json!({"taken": taken, "known": known}).to_string());
    }
    let (new, before) = (counted(taken.len() as u64, "decision"), counted(known, "decision"));
    print_line(format!("{new} of {source} taken over; {project} had {before} of them before"))
}
