//! What was decided at an edge becomes a package of the hub's memory: decisions of accepted turns,
//! passed gates, tasks that are done.
//!
//! The source is what the hub recorded of the edge, in the order of the project's stream. The id of
//! a package is that of the record at its source, so a repository that is an edge and deposits its
//! packages itself leaves one of each.
//!
//! Invariant: who approved it is what the edge says, so it is in the text. It is in `x-approved_by`
//! only where this hub has the decision in its own record: a person took it here, about this gate
//! or task of this edge.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use accord_api::operations::edge_decisions::{EdgeDecision, EdgeDecisionState, EdgeVerb};
use accord_api::operations::edges::EdgeEntry;
use accord_base::ProjectId;
use accord_base::decision::{DecisionId, DecisionRecord};
use accord_contract::{Failure, Object, Value, Wire as _};
use accord_memory::{EDGES, FlowPackage, FlowSource, TakenOver, UnitResult};
use accord_store::{Advance, EventRow, Listener, ProjectQuery, ReadUnit};
use accord_system::spawn_blocking;
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::runs::{RunFlow, keeps_runs, of_gate, of_turn};
use super::{APPROVED_BY, SOURCE, keeps_tasks, tasks};
use crate::http::Host;

/// How long changes are collected before one look.
const PAUSE: Duration = Duration::from_millis(100);
/// How many events are looked at with one commit.
const PAGE: usize = 256;
/// The kinds of events that are kept.
const RESULT: &str = "edge.result";
const GATE: &str = "run.gate_approved";
/// The outcome of a decision that approves.
const APPROVED: &str = "approved";

/// Notes which projects changed.
#[derive(Default)]
struct Changed {
    projects: Mutex<BTreeSet<ProjectId>>,
    notify: Notify,
}

impl Listener for Changed {
    fn committed(&self, advances: &[Advance]) {
        let changed = advances.iter().map(|advance| advance.project_id.clone());
        self.projects.lock().extend(changed);
        self.notify.notify_one();
    }
}

/// Keeps what edges sent until the host closes.
pub(crate) async fn keep_edges(host: Host) {
    let changed = Arc::new(Changed::default());
    let listener: Arc<dyn Listener> = Arc::clone(&changed) as _;
    host.engine().subscribe(Arc::downgrade(&listener) as Weak<dyn Listener>);
    let closed = host.streams().closed();
    tokio::pin!(closed);
    let all = host.clone();
    // What a host that was killed left behind.
    drop(spawn_blocking(move || all.keep_edges(None)).await);
    loop {
        tokio::select! {
            () = changed.notify.notified() => {}
            _ = &mut closed => return,
        }
        tokio::time::sleep(PAUSE).await;
        let projects = std::mem::take(&mut *changed.projects.lock());
        let keeping = host.clone();
        drop(spawn_blocking(move || keeping.keep_edges(Some(projects))).await);
    }
}

impl Host {
    /// Keeps what edges sent to some projects, or to all.
    fn keep_edges(&self, projects: Option<BTreeSet<ProjectId>>) {
        if !self.has_store() {
            return;
        }
        let keep = || -> Result<(), Failure> {
            let projects = match projects {
                Some(projects) => projects.into_iter().collect(),
                None => self.memory().read_now(every_project)?,
            };
            for project in projects {
                self.keep_edges_of(&project)?;
            }
            Ok(())
        };
        if let Err(failure) = keep() {
            tracing::warn!(code = %failure.code, "results of edges wait: {}", failure.message);
        }
    }

    fn keep_edges_of(&self, project: &ProjectId) -> Result<(), Failure> {
        let source = FlowSource { project: project.clone(), id: EDGES.to_owned() };
        loop {
            let known = self.memory().flowed(&source)?.number;
            let read = |unit: &dyn ReadUnit| sent_after(unit, project, known);
            let Some((sent, last, is_full)) = self.memory().read_now(read)? else { return Ok(()) };
            let packages: Vec<FlowPackage> = sent
                .iter()
                .filter_map(|sent| sent.package(self, project))
                .filter_map(|document| {
                    FlowPackage::new(&document)
                        .inspect_err(|failure| {
                            tracing::error!(code = %failure.code, "no package: {failure}");
                        })
                        .ok()
                })
                .collect();
            // A few events that say nothing are looked at again, which costs less than a write.
            if is_full || !packages.is_empty() {
                let upto = TakenOver { number: last, place: String::new() };
                self.memory().flow(&source, packages, Vec::new(), upto)?;
            }
            if !is_full {
                return Ok(());
            }
        }
    }
}

/// Something that an edge did.
struct Sent {
    edge: String,
    kind: String,
    /// The data of the event.
    data: Object,
    /// What the edge sent about it, if the hub still has it.
    body: Option<Object>,
    /// The decision of this hub that it carries out.
    decided: Option<DecidedHere>,
}

/// A decision that a person took on this hub, as its record has it.
struct DecidedHere {
    id: String,
    actor: String,
}

/// What edges did after an event, the number of the last event that was looked at, and whether
/// there may be more. `None` if the project has no edges, or nothing new.
type SentPage = Option<(Vec<Sent>, u64, bool)>;

fn sent_after(unit: &dyn ReadUnit, project: &ProjectId, after: u64) -> UnitResult<SentPage> {
    if unit.edges(project)?.is_empty() {
        return Ok(None);
    }
    let rows = unit.events(project, after, PAGE)?;
    let Some(last) = rows.last().map(|row| row.seq) else { return Ok(None) };
    let is_full = rows.len() == PAGE;
    let mut found = Vec::new();
    for row in rows {
        found.extend(sent(unit, project, row)?);
    }
    Ok(Some((found, last, is_full)))
}

fn sent(unit: &dyn ReadUnit, project: &ProjectId, row: EventRow) -> UnitResult<Option<Sent>> {
    let Ok(Value::Object(data)) = serde_json::from_str(&row.entry.text) else { return Ok(None) };
    let text = |name: &str| data.get(name).and_then(Value::as_str).map(str::to_owned);
    let (Some(edge), Some(id)) = (text("edge"), text("id")) else { return Ok(None) };
    let kind = row.entry.kind;
    let mut body = None;
    if kind == RESULT {
        let Some(item) = unit.edge_item(project, &edge, &id)? else { return Ok(None) };
        let document = serde_json::from_str(&item.text).ok();
        let entry = document.and_then(|document| EdgeEntry::from_document(document).ok());
        body = entry.map(|entry| entry.body);
    }
    let decided = decided_here(unit, project, &edge, &data)?;
    Ok(Some(Sent { edge, kind, data, body, decided }))
}

/// The decision of this hub that an event of an edge names, if it is about the gate or the task of
/// that event. The rest of what the event says about it does not count.
fn decided_here(
    unit: &dyn ReadUnit,
    project: &ProjectId,
    edge: &str,
    data: &Object,
) -> UnitResult<Option<DecidedHere>> {
    let Some((id, items)) = named_decision(data) else { return Ok(None) };
    let is_about = |item: &str| items.iter().any(|begin| item.starts_with(begin));
    let rows = unit.edge_decisions(project, edge)?;
    if let Some(row) = rows.iter().find(|row| row.decision_id == id.as_str()) {
        use EdgeDecisionState::{Applied, Taken, Waiting};
        let document = serde_json::from_str(&row.text).ok();
        let taken = document.and_then(|document| EdgeDecision::from_document(document).ok());
        let taken = taken.filter(|taken| {
            let is_held = matches!(taken.state, Waiting | Taken | Applied);
            is_held && taken.verb == EdgeVerb::Approve && is_about(&taken.item)
        });
        return Ok(taken.map(|taken| DecidedHere { id: id.to_string(), actor: taken.actor }));
    }
    // The decision is forgotten, and its record stays.
    let Some(row) = unit.decision(project, &id)? else { return Ok(None) };
    let document = serde_json::from_str(&row.text).ok();
    let record = document.and_then(|document| DecisionRecord::from_document(document).ok());
    let own = record.filter(|record| {
        let item = record.subject.strip_prefix(edge).and_then(|rest| rest.strip_prefix('/'));
        // What an edge told this hub about a decision is its word.
        let is_own = record.taken_over_from.is_none() && record.outcome == APPROVED;
        is_own && item.is_some_and(is_about)
    });
    Ok(own.map(|own| DecidedHere { id: id.to_string(), actor: own.actor }))
}

/// The id of the decision that an event of an edge names, and how the ids of the requests begin
/// that it can be about.
fn named_decision(data: &Object) -> Option<(DecisionId, Vec<String>)> {
    let payload = data.get("payload")?;
    let text = |document: &Value, name: &str| document.get(name)?.as_str().map(str::to_owned);
    let (id, items) = match (data.get("taskId").and_then(Value::as_str), payload.get("decision")) {
        (Some(task), Some(decision)) => {
            (text(decision, "decision_id")?, vec![format!("{task}/review/")])
        }
        _ => {
            let run = data.get("run_id")?.as_str()?;
            let gate = text(payload, "gate_id").unwrap_or_else(|| "completion".to_owned());
            let item = |kind: &str| format!("{run}/{kind}/{gate}/");
            (text(payload, "decision_id")?, ["gate", "completion"].map(item).to_vec())
        }
    };
    Some((DecisionId::new(id).ok()?, items))
}

impl Sent {
    /// The package that follows from it.
    fn package(&self, host: &Host, project: &ProjectId) -> Option<Value> {
        let settings = host.settings();
        let name = project.as_str();
        let mut package = match (self.kind.as_str(), &self.body) {
            (RESULT, Some(body)) if keeps_runs(settings, name) => document(of_turn(name, body)?)?,
            (GATE, _) if keeps_runs(settings, name) => document(of_gate(name, &self.line())?)?,
            (kind, None) if kind.starts_with("task.") && keeps_tasks(settings, name) => {
                let line = self.line();
                let decision = line.get("payload").and_then(|payload| payload.get("decision"));
                let decision =
                    decision.and_then(|it| DecisionRecord::from_document(it.clone()).ok());
                let number = self.data.get("sequence").and_then(Value::as_u64).unwrap_or(0);
                tasks::of_done(project, (&self.edge, number), &line, decision.as_ref())?
            }
            _ => return None,
        };
        let members = package.as_object_mut()?;
        members.shift_remove(APPROVED_BY);
        if let Some(decided) = &self.decided {
            members.insert(APPROVED_BY.into(), decided.actor.as_str().into());
        }
        if let Some(source) = members.get_mut(SOURCE).and_then(Value::as_object_mut) {
            source.insert("edge".into(), self.edge.as_str().into());
            if let Some(decided) = &self.decided {
                source.insert("decision_id".into(), decided.id.as_str().into());
            }
        }
        Some(package)
    }

    /// The event, as its source has it.
    fn line(&self) -> Object {
        let mut line = self.data.clone();
        if let Some(id) = line.get("id").cloned() {
            line.insert("event_id".into(), id);
        }
        line
    }
}

fn document(flow: RunFlow) -> Option<Value> {
    serde_json::from_str(&flow.text).ok()
}

fn every_project(unit: &dyn ReadUnit) -> UnitResult<Vec<ProjectId>> {
    let (mut all, mut after) = (Vec::<ProjectId>::new(), None);
    loop {
        let query = ProjectQuery { archived: false, after: after.as_ref(), limit: PAGE };
        let page = unit.projects(&query)?;
        let is_last = page.len() < PAGE;
        all.extend(page.into_iter().map(|row| row.project_id));
        if is_last {
            return Ok(all);
        }
        after = all.last().cloned();
    }
}
