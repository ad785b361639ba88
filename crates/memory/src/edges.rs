//! Edges: work trees on other machines that are joined to a project of this host.
//!
//! Invariants:
//! - an entry of an outbox, the rows that it changes and the position after it are committed
//!   together, so that each entry is applied once;
//! - only the key that joined an edge changes it, and no worker does;
//! - order and time of the events are those of this host; the time of the edge is in their data.

use std::collections::BTreeSet;

use accord_api::operations::edge_decisions::EdgeDecision;
use accord_api::operations::edges::{
    Edge, EdgeEntry, EdgeEntryKind, EdgeItem, EdgeJoinRequest, EdgeOutboxRequest, EdgeSource,
    JoinParams, MOST_REQUESTS,
};
use accord_base::{Author, Caller, EdgeId, EventKind, Need, NewEvent, ProjectId, Verb};
use accord_contract::{Code, Failure, Object, Time, Timestamp, Value, Wire as _};
use accord_outbox::{
    EdgeRecord, Intake, check_numbers, digest, evidence, intake, run_after, run_of_state,
};
use accord_store::{EdgeItemRow, EdgeRow, INCARNATION, ReadUnit, Scope, StoreError, WriteUnit};
use accord_system::{durable_step, random};
use data_encoding::HEXLOWER;

use super::edge_decisions::{
    check_evidence, end_all, end_for_item, newest_of_items, open_for_edge, report, with_evidence,
};
use super::edge_kept::{drop_old_results, put_output};
use super::notify::ProjectCommits;
use super::record::record;
use super::{Memory, UnitResult, load};

const JOINED: EventKind = EventKind::declared("edge.joined");
const LEFT: EventKind = EventKind::declared("edge.left");
const REQUESTED: EventKind = EventKind::declared("edge.requested");
const REQUEST_ENDED: EventKind = EventKind::declared("edge.request_ended");
const STATE: EventKind = EventKind::declared("edge.state");
pub(super) const RESULT: EventKind = EventKind::declared("edge.result");
const OUTPUT: EventKind = EventKind::declared("edge.output");
const LOST: EventKind = EventKind::declared("edge.lost");

/// How many events are looked at together.
pub(super) const PAGE: usize = 500;

/// What was applied of a request.
#[derive(Clone, Debug)]
pub struct AppliedOutbox {
    pub incarnation: String,
    pub position: u64,
    /// The digest of the entry at the position.
    pub digest: Option<String>,
    pub applied: u64,
    pub received_at: Timestamp,
    /// What the edge may take or apply.
    pub decisions: Vec<EdgeDecision>,
}

impl Memory {
    /// Joins a work tree to a project, or updates what is known about it; or only checks that.
    pub async fn join_edge(
        &self,
        caller: &Caller,
        (project, edge): (&ProjectId, &EdgeId),
        JoinParams { dry_run }: JoinParams,
        request: EdgeJoinRequest,
    ) -> Result<(Edge, String), Failure> {
        may_change(caller, project)?;
        if request.name.chars().any(char::is_control) {
            let message = "a name has one line, without control characters";
            return Err(Failure::new(Code::WireFieldValue, message).at("/name"));
        }
        let (memory, caller) = (self.clone(), caller.clone());
        let (project, edge, random) = (project.clone(), edge.clone(), random());
        self.write(move |unit| {
            let found = writable(unit, &caller, Verb::Write, &project)?;
            let now = Timestamp::emit(memory.now_in(unit, &found)?);
            let known = unit.edge(&found, edge.as_str())?;
            let position = known.as_ref().map_or(0, |row| row.position);
            let stored = known.as_ref().map(record_of).transpose()?;
            let is_new = stored.as_ref().is_none_or(|stored| stored.left_at.is_some());
            let stored = match stored {
                Some(stored) => {
                    stored.check_actor(&caller)?;
                    stored.joined_again(&request, &caller, now.clone())
                }
                None => EdgeRecord::joined(&request, &caller, now.clone()),
            };
            if !dry_run {
                put(unit, &found, &edge, position, &stored)?;
            }
            if is_new && !dry_run {
                let mut data = about(&edge);
                data.insert("name".into(), stored.name.as_str().into());
                data.insert("edge_source".into(), stored.source.as_str().into());
                data.insert("send".into(), stored.send.as_str().into());
                record(unit, &NewEvent::new(JOINED, &found, data, now.time()))?;
            }
            let requests = requests(unit, &found, &edge)?;
            let incarnation = incarnation(unit, random)?;
            Ok((stored.shown(edge.clone(), position, requests), incarnation))
        })
        .await
    }

    /// The incarnation of the store, if an edge ever asked for it.
    pub async fn incarnation(&self) -> Result<Option<String>, Failure> {
        self.read(|unit| Ok(unit.setting(Scope::Store, INCARNATION)?)).await
    }

    /// The commits to a project from now on. It is for the project's readers.
    pub fn project_commits(&self, project: &ProjectId) -> ProjectCommits {
        self.inner.notifier.commits(project)
    }

    /// The edges of a project.
    pub async fn edges(&self, caller: &Caller, project: &ProjectId) -> Result<Vec<Edge>, Failure> {
        let (access, project) = (caller.access().clone(), project.clone());
        self.read(move |unit| {
            load::readable(unit, &access, &project)?;
            let mut edges = Vec::new();
            for row in unit.edges(&project)? {
                edges.push(shown(unit, &row)?);
            }
            Ok(edges)
        })
        .await
    }

    /// An edge, its requests that wait, and its newest results.
    pub async fn edge(
        &self,
        caller: &Caller,
        of: (&ProjectId, &EdgeId),
    ) -> Result<(Edge, Vec<EdgeItem>), Failure> {
        let (edge, mut items) = self.edge_with_documents(caller, of).await?;
        for item in &mut items {
            (item.document, item.evidence, item.verbs) = (None, None, None);
        }
        Ok((edge, items))
    }

    /// The same, with the documents of the requests and results as the edge sent them.
    pub async fn edge_with_documents(
        &self,
        caller: &Caller,
        (project, edge): (&ProjectId, &EdgeId),
    ) -> Result<(Edge, Vec<EdgeItem>), Failure> {
        let (access, project, edge) = (caller.access().clone(), project.clone(), edge.clone());
        let now = self.now();
        self.read(move |unit| {
            load::readable(unit, &access, &project)?;
            let row = unit.edge(&project, edge.as_str())?.ok_or_else(|| not_found(&edge))?;
            let mut items = Vec::new();
            for row in unit.edge_items(&project, edge.as_str())? {
                items.push(item_of(&row)?);
            }
            items.sort_by(|one, other| {
                let key = |item: &EdgeItem| (item.kind.as_str(), item.received_at.time());
                key(one).cmp(&key(other))
            });
            newest_of_items(unit, &project, &edge, &mut items, now)?;
            Ok((shown(unit, &row)?, items))
        })
        .await
    }

    /// Something that an edge sent, with its document.
    pub async fn edge_item(
        &self,
        caller: &Caller,
        (project, edge): (&ProjectId, &EdgeId),
        item: &str,
    ) -> Result<EdgeItem, Failure> {
        let (access, project, edge) = (caller.access().clone(), project.clone(), edge.clone());
        let (item, now) = (item.to_owned(), self.now());
        self.read(move |unit| {
            load::readable(unit, &access, &project)?;
            let row = unit.edge_item(&project, edge.as_str(), &item)?;
            let mut item = item_of(&row.ok_or_else(|| nothing(&edge, &item))?)?;
            newest_of_items(unit, &project, &edge, std::slice::from_mut(&mut item), now)?;
            Ok(item)
        })
        .await
    }

    /// Applies the entries of an outbox that are new.
    pub async fn send_outbox(
        &self,
        caller: &Caller,
        (project, edge): (&ProjectId, &EdgeId),
        request: EdgeOutboxRequest,
    ) -> Result<AppliedOutbox, Failure> {
        may_change(caller, project)?;
        check_numbers(request.entries.iter().map(|entry| entry.seq))?;
        let (memory, caller) = (self.clone(), caller.clone());
        let (project, edge, random) = (project.clone(), edge.clone(), random());
        let mut told = request.entries.iter().rev();
        let told = told.find(|entry| entry.kind == EdgeEntryKind::Decision);
        let told = told.map(|entry| format!("hub.{}", entry.type_name));
        let done = self.write(move |unit| {
            let project = writable(unit, &caller, Verb::Write, &project)?;
            let row = unit.edge(&project, edge.as_str())?.ok_or_else(|| not_found(&edge))?;
            let mut stored = record_of(&row)?;
            stored.check_key(&caller)?;
            if stored.left_at.is_some() {
                return Err(left(&edge).into());
            }
            let now = memory.now_in(unit, &project)?;
            let received_at = Timestamp::emit(now);
            let mut position = row.position;
            let entries = &request.entries;
            let first = entries.first().map_or(0, |entry| entry.seq);
            let decided = intake(position, first, entries.len(), request.lost_through);
            let mut applied = 0;
            if let Intake::Apply { skip, lost } = decided {
                if lost > 0 {
                    lose(unit, &project, &edge, position, lost, now)?;
                    stored.lost = stored.lost.saturating_add(lost);
                }
                let mut open = open_requests(unit, &project, &edge)?;
                for entry in &entries[skip..] {
                    check_open(&mut open, entry)?;
                    apply(unit, &project, (&edge, &stored), entry, now)?;
                    if (stored.source, entry.kind) == (EdgeSource::Runs, EdgeEntryKind::Event) {
                        stored.run = run_after(stored.run.take(), entry);
                    }
                    if entry.kind == EdgeEntryKind::State {
                        stored.run = run_of_state(stored.run.take(), entry);
                    }
                    position = entry.seq;
                    applied += 1;
                }
                if let Some(last) = entries[skip..].last() {
                    stored.last_digest = digest(last);
                }
                drop_old_results(unit, &project, &edge)?;
            }
            stored.last_contact_at = received_at.clone();
            put(unit, &project, &edge, position, &stored)?;
            let incarnation = incarnation(unit, random)?;
            let digest = stored.last_digest;
            let decisions = open_for_edge(unit, &project, &edge, now)?;
            Ok(AppliedOutbox { incarnation, position, digest, applied, received_at, decisions })
        });
        let done = done.await?;
        if let Some(told) = told {
            durable_step(&told);
        }
        Ok(done)
    }

    /// Ends the join of an edge. `erase` removes what it sent, too. Returns the number of events
    /// whose data was removed.
    pub async fn leave_edge(
        &self,
        caller: &Caller,
        (project, edge): (&ProjectId, &EdgeId),
        erase: bool,
    ) -> Result<u64, Failure> {
        may_change(caller, project)?;
        let (memory, caller) = (self.clone(), caller.clone());
        let (project, edge) = (project.clone(), edge.clone());
        self.write(move |unit| {
            let project = writable(unit, &caller, Verb::Write, &project)?;
            let row = unit.edge(&project, edge.as_str())?.ok_or_else(|| not_found(&edge))?;
            let mut stored = record_of(&row)?;
            // An administrator may remove the edge of a machine that is lost.
            let may_any = caller.access().may(Verb::Admin, &project).is_ok();
            if !may_any {
                stored.check_actor(&caller)?;
            }
            let now = memory.now_in(unit, &project)?;
            let mut data = about(&edge);
            data.insert("erased".into(), erase.into());
            let is_new = stored.left_at.is_none();
            let mut erased = 0;
            if erase {
                erased = erase_events(unit, &project, &edge)?;
                unit.remove_edge(&project, edge.as_str())?;
            } else {
                end_requests(unit, &project, &edge)?;
                end_all(unit, &project, &edge, now)?;
                stored.left_at = stored.left_at.or(Some(Timestamp::emit(now)));
                put(unit, &project, &edge, row.position, &stored)?;
            }
            if is_new || erase {
                record(unit, &NewEvent::new(LEFT, &project, data, now))?;
            }
            Ok(erased)
        })
        .await
    }
}

fn may_change(caller: &Caller, project: &ProjectId) -> Result<(), Failure> {
    caller.authorize(Need::Join, project, Author::unnamed()).map(drop)
}

/// The project, which exists and takes writes.
pub(crate) fn writable(
    unit: &dyn ReadUnit,
    caller: &Caller,
    verb: Verb,
    project: &ProjectId,
) -> UnitResult<ProjectId> {
    let found = load::project(unit, caller.access(), verb, project)?;
    found.must_take_writes()?;
    Ok(project.clone())
}

pub(crate) fn not_found(edge: &EdgeId) -> Failure {
    Failure::new(Code::EdgeNotFound, format!("the project has no edge {edge}"))
        .suggesting("list the edges: accord project edges")
}

pub(crate) fn nothing(edge: &EdgeId, item: &str) -> Failure {
    Failure::new(Code::EdgeNotFound, format!("the edge {edge} has no request or result {item:?}"))
        .suggesting("look at what it has: accord project edges EDGE")
}

pub(crate) fn left(edge: &EdgeId) -> Failure {
    Failure::new(Code::EdgeLeft, format!("the edge {edge} has left"))
        .suggesting("join the work tree again: accord join")
}

pub(crate) fn about(edge: &EdgeId) -> Object {
    Object::from_iter([("edge".to_owned(), Value::from(edge.as_str()))])
}

pub(crate) fn record_of(row: &EdgeRow) -> UnitResult<EdgeRecord> {
    let document = serde_json::from_str(&row.text).ok();
    let stored = document.and_then(|document| EdgeRecord::from_document(document).ok());
    let damaged = || load::integrity(format!("the edge {} is damaged", row.edge_id));
    Ok(stored.ok_or_else(damaged)?)
}

fn put(
    unit: &mut dyn WriteUnit,
    project: &ProjectId,
    edge: &EdgeId,
    position: u64,
    stored: &EdgeRecord,
) -> Result<(), StoreError> {
    let text = stored.encode().to_string();
    let (project_id, edge_id) = (project.clone(), edge.as_str().to_owned());
    unit.put_edge(&EdgeRow { project_id, edge_id, position, text })
}

fn shown(unit: &dyn ReadUnit, row: &EdgeRow) -> UnitResult<Edge> {
    let damaged = || load::integrity(format!("the edge {} is damaged", row.edge_id));
    let edge = EdgeId::new(row.edge_id.as_str()).map_err(|_| damaged())?;
    let requests = requests(unit, &row.project_id, &edge)?;
    Ok(record_of(row)?.shown(edge, row.position, requests))
}

fn requests(unit: &dyn ReadUnit, project: &ProjectId, edge: &EdgeId) -> UnitResult<u64> {
    Ok(open_requests(unit, project, edge)?.len() as u64)
}

/// The ids of the requests that wait.
fn open_requests(
    unit: &dyn ReadUnit,
    project: &ProjectId,
    edge: &EdgeId,
) -> UnitResult<BTreeSet<String>> {
    let items = unit.edge_items(project, edge.as_str())?.into_iter();
    let requests = items.filter(|item| item.kind == EdgeEntryKind::Request.as_str());
    Ok(requests.map(|item| item.item_id).collect())
}

/// Refuses more requests that wait than an edge sends.
fn check_open(open: &mut BTreeSet<String>, entry: &EdgeEntry) -> Result<(), Failure> {
    match entry.kind {
        EdgeEntryKind::Request => drop(open.insert(entry.id.clone())),
        EdgeEntryKind::RequestEnded => drop(open.remove(&entry.id)),
        EdgeEntryKind::Event
        | EdgeEntryKind::Result
        | EdgeEntryKind::Decision
        | EdgeEntryKind::State
        | EdgeEntryKind::Output => {}
    }
    if open.len() <= MOST_REQUESTS {
        return Ok(());
    }
    let message = format!("at most {MOST_REQUESTS} requests of an edge wait at a time");
    Err(Failure::new(Code::WireFieldValue, message).at("/entries").with("seq", entry.seq))
}

/// The item in a row. Its text is the entry as the edge sent it.
pub(crate) fn item_of(row: &EdgeItemRow) -> Result<EdgeItem, Failure> {
    let document = serde_json::from_str(&row.text).ok();
    let entry = document.and_then(|document| EdgeEntry::from_document(document).ok());
    let damaged = || load::integrity(format!("the item {:?} is damaged", row.item_id));
    let EdgeEntry { kind, id, type_name, at, body, .. } = entry.ok_or_else(damaged)?;
    let (received_at, document) = (row.received_at.clone(), Some(body));
    let (evidence, verbs, decision, extra) = (None, None, None, Object::new());
    Ok(with_evidence(EdgeItem {
        id,
        kind,
        type_name,
        at,
        received_at,
        document,
        evidence,
        verbs,
        decision,
        extra,
    }))
}

/// The incarnation of the store, which is made when it is first asked for.
pub(crate) fn incarnation(unit: &mut dyn WriteUnit, random: [u8; 16]) -> UnitResult<String> {
    if let Some(known) = unit.setting(Scope::Store, INCARNATION)? {
        return Ok(known);
    }
    let new = format!("inc_{}", HEXLOWER.encode(&random));
    unit.put_setting(Scope::Store, INCARNATION, Some(&new))?;
    Ok(new)
}

fn apply(
    unit: &mut dyn WriteUnit,
    project: &ProjectId,
    (edge, stored): (&EdgeId, &EdgeRecord),
    entry: &EdgeEntry,
    now: Time,
) -> UnitResult<()> {
    let mut data = about(edge);
    data.insert("sequence".into(), entry.seq.into());
    data.insert("id".into(), entry.id.as_str().into());
    data.insert("type".into(), entry.type_name.as_str().into());
    data.insert("timestamp".into(), entry.at.as_str().into());
    let kind = match entry.kind {
        EdgeEntryKind::Event => {
            for (name, value) in &entry.body {
                if !data.contains_key(name) {
                    data.insert(name.clone(), value.clone());
                }
            }
            let namespace = match stored.source {
                EdgeSource::Runs => "run.",
                EdgeSource::Tasks => "task.",
            };
            EventKind::within(namespace, &entry.type_name)
        }
        EdgeEntryKind::Decision => {
            return report(unit, project, (edge, stored), entry, now);
        }
        EdgeEntryKind::Request | EdgeEntryKind::Result | EdgeEntryKind::State => {
            check_evidence(entry)?;
            let digest = evidence::digest(&entry.body);
            let is_request = entry.kind == EdgeEntryKind::Request;
            if let Some(digest) = digest.filter(|_| entry.kind != EdgeEntryKind::Result) {
                end_for_item(unit, project, edge, (&entry.id, Some(&digest)), now)?;
            }
            // A request whose evidence changed waits since it came first.
            let known = unit.edge_item(project, edge.as_str(), &entry.id)?;
            let known = known.filter(|_| is_request);
            let received_at = known.map_or_else(|| Timestamp::emit(now), |row| row.received_at);
            unit.put_edge_item(&EdgeItemRow {
                project_id: project.clone(),
                edge_id: edge.as_str().to_owned(),
                item_id: entry.id.clone(),
                kind: entry.kind.as_str().to_owned(),
                received_at,
                text: entry.encode().to_string(),
            })?;
            for name in ["version", "changed", "title", "run_id", "phase", "status"] {
                if let Some(value) = entry.body.get(name) {
                    data.insert(name.into(), value.clone());
                }
            }
            match entry.kind {
                EdgeEntryKind::Request => REQUESTED,
                EdgeEntryKind::State => STATE,
                _ => RESULT,
            }
        }
        EdgeEntryKind::Output => {
            put_output(unit, project, edge, entry, now)?;
            if let Some(turn) = entry.body.get("turn_id") {
                data.insert("turn_id".into(), turn.clone());
            }
            OUTPUT
        }
        EdgeEntryKind::RequestEnded => {
            let was = unit.edge_item(project, edge.as_str(), &entry.id)?;
            unit.remove_edge_item(project, edge.as_str(), &entry.id)?;
            end_for_item(unit, project, edge, (&entry.id, None), now)?;
            if was.is_some_and(|row| row.kind == EdgeEntryKind::State.as_str()) {
                // The state of the next run says so.
                return Ok(());
            }
            REQUEST_ENDED
        }
    };
    record(unit, &NewEvent::new(kind, project, data, now))?;
    Ok(())
}

/// Names a gap. The requests before it may have ended in it: those that still wait come again.
fn lose(
    unit: &mut dyn WriteUnit,
    project: &ProjectId,
    edge: &EdgeId,
    position: u64,
    lost: u64,
    now: Time,
) -> UnitResult<()> {
    end_requests(unit, project, edge)?;
    let mut data = about(edge);
    data.insert("after".into(), position.into());
    data.insert("through".into(), (position + lost).into());
    record(unit, &NewEvent::new(LOST, project, data, now))?;
    Ok(())
}

fn end_requests(unit: &mut dyn WriteUnit, project: &ProjectId, edge: &EdgeId) -> UnitResult<()> {
    let open = [EdgeEntryKind::Request.as_str(), EdgeEntryKind::State.as_str()];
    for item in unit.edge_items(project, edge.as_str())? {
        if open.contains(&item.kind.as_str()) {
            unit.remove_edge_item(project, edge.as_str(), &item.item_id)?;
        }
    }
    Ok(())
}

/// Removes the data of the events of an edge. Their numbers stay. Returns their number.
fn erase_events(unit: &mut dyn WriteUnit, project: &ProjectId, edge: &EdgeId) -> UnitResult<u64> {
    let (mut after, mut erased) = (0, 0);
    loop {
        let events = unit.events(project, after, PAGE)?;
        let Some(last) = events.last() else { return Ok(erased) };
        after = last.seq;
        for event in events {
            let data: Option<Value> = serde_json::from_str(&event.entry.text).ok();
            let named = data.as_ref().and_then(|data| data.get("edge")?.as_str());
            if named == Some(edge.as_str())
                && data.is_some_and(|data| data.get("sequence").is_some())
            {
                let mut left = about(edge);
                left.insert("erased".into(), true.into());
                unit.rewrite_event(project, event.seq, &Value::Object(left).to_string())?;
                erased += 1;
            }
        }
    }
}
