//! `accord project edges`: the work trees that are joined to a project of this host.

use accord_api::operations::edge_decisions::EdgeVerb;
use accord_api::operations::edges::{
    LeaveEdge, LeaveParams, ListEdges, OfEdge, OfEdgeItem, ReadEdge, ReadEdgeItem,
};
use accord_api::parameter::InProject;
use accord_api::{Call, NoBody, NoParams};
use accord_contract::Wire as _;
use accord_contract::text::counted;

use super::edge_decision;
use crate::commands::person::PersonArgs;
use crate::host::{
    Candidate, Connection, HostArgs, ProjectArg, choose, id_of, print_answer, project_id,
};
use crate::render::{self, clean};
use crate::{Exit, Result};

/// List the work trees that are joined to a project: what waits there, and the last contact
#[derive(Debug, clap::Args)]
pub(super) struct EdgesArgs {
    /// Show this edge, by its id or the beginning of it, with its requests and results
    edge: Option<String>,

    /// Show this request or result of the edge, by its id or the beginning of it, as the edge sent
    /// it
    #[arg(requires = "edge", conflicts_with = "remove")]
    item: Option<String>,

    /// Remove the edge and what it sent, for example because its machine is lost
    #[arg(long, requires = "edge")]
    remove: bool,

    /// Decide about this request, at the evidence that is shown: approve, send-back, resolve,
    /// resurrect, cancel or stop. The edge applies it at its next contact
    #[arg(long, value_name = "VERB", value_parser = edge_decision::verb)]
    #[arg(requires = "item", conflicts_with = "remove")]
    decide: Option<EdgeVerb>,

    /// Take back this decision, by its id or the beginning of it
    #[arg(long, value_name = "DECISION", requires = "edge")]
    #[arg(conflicts_with_all = ["item", "remove"])]
    withdraw: Option<String>,

    #[command(flatten)]
    person: PersonArgs,
    #[command(flatten)]
    project: ProjectArg,
    #[command(flatten)]
    host: HostArgs,
}

/// The id of an edge, from its beginning.
fn whole_edge(host: &Connection, project: &str, given: &str) -> Result<String> {
    let at = InProject { project: project_id(project)? };
    let edges = host.ask::<ListEdges>(at, NoParams)?.answer.0.edges;
    let ids = edges.into_iter().map(|edge| edge.edge_id.to_string());
    choose("edge", given, candidates(ids, given), false)
}

/// The id of a request or result, from its beginning.
fn whole_item(host: &Connection, of: &OfEdge, given: &str) -> Result<String> {
    let items = host.ask::<ReadEdge>(of.clone(), NoParams)?.answer.0.items;
    let ids = items.into_iter().map(|item| item.id);
    choose("item", given, candidates(ids, given), false)
}

fn candidates(ids: impl Iterator<Item = String>, given: &str) -> Vec<Candidate> {
    let found = ids.filter(|id| id.starts_with(given));
    found.map(|id| Candidate { id, place: String::new() }).collect()
}

impl EdgesArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let host = self.host.connect()?;
        let project = self.project.required(&self.host.target, &host)?;
        let json = self.host.json;
        let Some(edge) = &self.edge else {
            let listed =
                host.ask::<ListEdges>(InProject { project: project_id(&project)? }, NoParams)?;
            return print_answer(json, &listed, |page, answer| match answer.0.edges.is_empty() {
                true => page.line(clean(&format!("no work tree is joined to {project}"))),
                false => render::edges(page, &answer.0.edges),
            });
        };
        let edge = &whole_edge(&host, &project, edge)?;
        let of = OfEdge { project: project_id(&project)?, edge: id_of("edge_id", edge)? };
        if self.remove {
            let query = LeaveParams { erase: true };
            let removed = host.call(&Call::<LeaveEdge>::new(of, query, NoBody))?;
            return print_answer(json, &removed, |page, answer| {
                let events = counted(answer.0.events, "event");
                page.line(clean(&format!("removed {edge}, and the data of {events}")));
            });
        }
        if let Some(given) = &self.withdraw {
            return edge_decision::withdraw(&host, json, of, given, &self.person);
        }
        if let Some(item) = self.item {
            let item = whole_item(&host, &of, &item)?;
            if let Some(verb) = self.decide {
                return edge_decision::decide(&host, json, of, (item, verb), self.person);
            }
            let of = OfEdgeItem { project: of.project, edge: of.edge, item };
            let found = host.ask::<ReadEdgeItem>(of, NoParams)?;
            return print_answer(json, &found, |page, answer| {
                let item = &answer.0.item;
                for line in format!("{:#}", item.encode()).lines() {
                    page.line(clean(line));
                }
                for verb in item.verbs.iter().flatten().filter(|_| item.decision.is_none()) {
                    let verb = verb.as_str().replace('_', "-");
                    page.labelled("decide", &format!("--decide {verb}"));
                }
            });
        }
        let found = host.ask::<ReadEdge>(of, NoParams)?;
        print_answer(json, &found, |page, answer| {
            render::edge(page, &answer.0.edge, &answer.0.items);
        })
    }
}
