//! Random units of work, as data: the same one can be run on two stores.

use accord_base::{ProjectId, SessionId};
use accord_canon::Digest;
use accord_contract::Timestamp;
use accord_memory_core::{FactId, PackageId};

use super::Generator;
use super::inbox::InboxStep;
use super::live::LiveStep;
use super::queries::{Query, random_queries};
use crate::{
    BlobRow, DecisionRow, EdgeDecisionRow, EdgeItemRow, EdgeRow, EventEntry, FactKey, FactRow,
    KeyRow, PackageIndex, PackageRow, PackageState, PersonRow, ProjectRow, Quarantine, Result,
    RevisionRow, Scope, SessionRow, Space, Store, StoreError, StoreErrorKind, StoreExt as _,
    WriteUnit,
};

/// The results of the steps of a unit, or the error that ended it.
pub(super) type Said = Result<Vec<String>, StoreErrorKind>;

#[derive(Clone, Debug)]
pub(super) struct Script {
    /// Most steps that would be refused are left out, but not all.
    steps: Vec<(Step, bool)>,
    gives_up: bool,
}

#[derive(Clone, Debug)]
enum Step {
    InsertProject(ProjectRow),
    UpdateProject(ProjectRow),
    RemoveProject(ProjectId, Timestamp),
    InsertPackage(Box<(PackageRow, PackageIndex, Vec<RevisionRow>)>),
    MovePackage(ProjectId, PackageId, Box<PackageState>, Vec<RevisionRow>),
    Quarantine(ProjectId, PackageId, Option<Quarantine>),
    Reindex(ProjectId, PackageId, Box<PackageIndex>),
    InsertFact(Box<FactRow>),
    EndFact(ProjectId, FactId, Timestamp, String),
    InsertSession(Box<SessionRow>),
    EndSession(ProjectId, SessionId, Timestamp, String),
    InsertDecision(Box<DecisionRow>),
    PutEdge(EdgeRow),
    RemoveEdge(ProjectId, String),
    PutEdgeItem(EdgeItemRow),
    RemoveEdgeItem(ProjectId, String, String),
    PutEdgeDecision(EdgeDecisionRow),
    RemoveEdgeDecision(ProjectId, String, String),
    RewriteEvent(ProjectId, u64, String),
    AppendEvent(ProjectId, Box<EventEntry>),
    TrimEvents(ProjectId, u64),
    InsertKey(Box<KeyRow>),
    RevokeKey(String, Timestamp),
    PutPerson(PersonRow),
    RemovePerson(String),
    InsertBlob(BlobRow),
    RemoveBlob(ProjectId, Digest),
    PutSetting(Option<ProjectId>, String, Option<String>),
    PutEmbedding(ProjectId, PackageId, (String, usize), Vec<f32>),
    Live(Box<LiveStep>),
    Inbox(Box<InboxStep>),
    Query(Box<Query>),
}

impl Script {
    pub(super) fn random(generator: &mut Generator) -> Self {
        let count = 1 + generator.random.below(6);
        let steps = (0..count).map(|_| {
            let step = Step::random(generator);
            // Often to a live session of a project that was removed.
            let one_in = if matches!(step, Step::Live(_)) { 3 } else { 16 };
            (step, generator.random.one_in(one_in))
        });
        Self { steps: steps.collect(), gives_up: generator.random.one_in(6) }
    }

    /// Runs the unit. Returns the results of its steps, or the error that ended it.
    pub(super) fn run(&self, store: &dyn Store) -> Said {
        store.write(self.clone().into_job()).map_err(|error| error.kind())
    }

    /// Queues the unit. `done` gets the result of [`Self::run`].
    pub(super) fn enqueue(&self, store: &dyn Store, done: impl FnOnce(Said) + Send + 'static) {
        store.enqueue(self.clone().into_job(), move |outcome| {
            done(outcome.map_err(|error| error.kind()));
        });
    }

    fn into_job(self) -> impl FnMut(&mut dyn WriteUnit) -> Result<Vec<String>> + Send + 'static {
        move |unit| {
            let mut said = Vec::new();
            for (step, rash) in &self.steps {
                if *rash || step.fits(unit)? {
                    said.push(step.take(unit)?);
                }
            }
            if self.gives_up { Err(StoreError::from(StoreErrorKind::Broken)) } else { Ok(said) }
        }
    }
}

impl Step {
    fn random(generator: &mut Generator) -> Self {
        let project = generator.project();
        match generator.random.below(61) {
            0..=2 => Self::InsertProject(generator.project_row()),
            3 if generator.random.one_in(4) => Self::RemoveProject(project, generator.time()),
            3 => Self::UpdateProject(generator.project_row()),
            4..=11 => Self::InsertPackage(Box::new(generator.package_row())),
            12..=14 => {
                let (first, last) = generator.random.pick(&[(2, 2), (2, 3), (3, 3)]);
                let state = Box::new(generator.state(last));
                let revisions = (first..=last).map(|seq| generator.revision(seq)).collect();
                Self::MovePackage(project, generator.package(), state, revisions)
            }
            15 | 16 => {
                let release = generator.random.one_in(3);
                let quarantine = (!release).then(|| generator.quarantine());
                Self::Quarantine(project, generator.package(), quarantine)
            }
            17 => Self::Reindex(project, generator.package(), Box::new(generator.index())),
            18..=20 => Self::InsertFact(Box::new(generator.fact_row())),
            21 | 22 => {
                Self::EndFact(project, generator.fact(), generator.time(), generator.words(2))
            }
            23 => Self::InsertSession(Box::new(generator.session_row())),
            24 => {
                Self::EndSession(project, generator.session(), generator.time(), generator.words(2))
            }
            25..=27 => Self::AppendEvent(project, Box::new(generator.event())),
            28 => Self::TrimEvents(project, generator.random.below(40) as u64),
            29 => Self::InsertKey(Box::new(generator.key_row())),
            30 => Self::RevokeKey(generator.name(), generator.time()),
            31 => Self::InsertBlob(BlobRow {
                project_id: project,
                digest: generator.digest(),
                size: generator.random.number() >> 2,
                media_type: None,
                stored_at: generator.time(),
            }),
            32 => {
                if generator.random.one_in(2) {
                    Self::RemoveBlob(project, generator.digest())
                } else {
                    let (own, set) = (generator.random.one_in(2), !generator.random.one_in(3));
                    let value = set.then(|| generator.setting());
                    Self::PutSetting(own.then_some(project), generator.setting_name(), value)
                }
            }
            33..=35 => {
                let space = generator.space();
                let values = generator.values(space.1);
                Self::PutEmbedding(project, generator.package(), space, values)
            }
            47 | 48 => Self::InsertDecision(Box::new(generator.decision_row())),
            50 | 51 => Self::PutEdge(generator.edge_row()),
            52 if generator.random.one_in(3) => Self::RemoveEdge(project, generator.name()),
            52 => Self::RemoveEdgeItem(project, generator.name(), generator.name()),
            53 => Self::PutEdgeItem(generator.edge_item_row()),
            54 if generator.random.one_in(4) => {
                Self::RemoveEdgeDecision(project, generator.name(), generator.name())
            }
            54 => Self::PutEdgeDecision(generator.edge_decision_row()),
            55 => {
                let seq = generator.random.below(40) as u64;
                Self::RewriteEvent(project, seq, generator.words(2))
            }
            56..=58 => Self::Inbox(Box::new(InboxStep::random(generator))),
            59 => Self::PutPerson(generator.person_row()),
            60 => Self::RemovePerson(generator.name()),
            36..=46 => Self::Live(Box::new(LiveStep::random(generator))),
            _ => Self::Query(Box::new(random_queries(generator, 1).remove(0))),
        }
    }

    /// Whether a store accepts the step.
    fn fits(&self, unit: &dyn WriteUnit) -> Result<bool> {
        let there = |project: &ProjectId| Ok(unit.project(project)?.is_some());
        match self {
            Self::InsertProject(row) => Ok(!there(&row.project_id)?),
            Self::UpdateProject(row) => there(&row.project_id),
            Self::RemoveProject(project, _) => there(project),
            Self::InsertPackage(new) => {
                let (row, ..) = &**new;
                let known = unit.package(&row.project_id, &row.package_id)?;
                Ok(there(&row.project_id)? && known.is_none())
            }
            Self::MovePackage(project, package, state, revisions) => {
                let known = unit.package(project, package)?;
                Ok(known.is_some_and(|row| row.check_move(state, revisions).is_ok()))
            }
            Self::Quarantine(project, package, _)
            | Self::Reindex(project, package, _)
            | Self::PutEmbedding(project, package, ..) => {
                Ok(unit.package(project, package)?.is_some())
            }
            Self::InsertFact(row) => {
                let key = FactKey { subject: &row.subject, predicate: &row.predicate };
                let (project, fact) = (&row.project_id, &row.fact_id);
                let rival = row.valid_to.is_none() && unit.current_fact(project, key)?.is_some();
                Ok(there(project)? && !rival && unit.fact(project, fact)?.is_none())
            }
            Self::EndFact(project, fact, ..) => Ok(unit.fact(project, fact)?.is_some()),
            Self::InsertSession(row) => {
                let known = unit.session(&row.project_id, &row.session_id)?;
                Ok(there(&row.project_id)? && known.is_none())
            }
            Self::EndSession(project, session, ..) => Ok(unit.session(project, session)?.is_some()),
            Self::InsertDecision(row) => there(&row.project_id),
            Self::PutEdge(row) => there(&row.project_id),
            Self::PutEdgeItem(row) => there(&row.project_id),
            Self::PutEdgeDecision(row) => there(&row.project_id),
            Self::RewriteEvent(project, seq, _) => {
                let range = unit.event_range(project)?;
                Ok(there(project)? && (range.oldest..=range.newest).contains(seq))
            }
            Self::AppendEvent(project, _) => there(project),
            Self::InsertKey(row) => {
                let same_hash = unit.key_of_hash(&row.secret_hash)?;
                Ok(same_hash.is_none() && unit.key(&row.key_id)?.is_none())
            }
            Self::RevokeKey(key, _) => Ok(unit.key(key)?.is_some()),
            Self::InsertBlob(row) => {
                let known = unit.blob(&row.project_id, &row.digest)?;
                Ok(there(&row.project_id)? && known.is_none())
            }
            Self::PutSetting(Some(project), ..) => there(project),
            Self::Live(step) => step.fits(unit),
            Self::Inbox(step) => step.fits(unit),
            Self::PutSetting(None, ..)
            | Self::PutPerson(_)
            | Self::RemovePerson(_)
            | Self::TrimEvents(..)
            | Self::RemoveEdge(..)
            | Self::RemoveEdgeItem(..)
            | Self::RemoveEdgeDecision(..)
            | Self::RemoveBlob(..)
            | Self::Query(_) => Ok(true),
        }
    }

    fn take(&self, unit: &mut dyn WriteUnit) -> Result<String> {
        let mut said = String::new();
        match self {
            Self::InsertProject(row) => unit.insert_project(row)?,
            Self::UpdateProject(row) => unit.update_project(row)?,
            Self::RemoveProject(id, at) => said = unit.remove_project(id, at)?.to_string(),
            Self::InsertPackage(new) => {
                let (row, index, log) = &**new;
                let seq = unit.insert_package(row, index, log)?;
                let found = unit.package(&row.project_id, &row.package_id)?;
                assert_eq!(found.map(|row| row.seq), Some(seq));
            }
            Self::MovePackage(project, package, state, revisions) => {
                unit.move_package(project, package, state, revisions)?;
            }
            Self::Quarantine(project, package, quarantine) => {
                unit.quarantine_package(project, package, quarantine.as_ref())?;
            }
            Self::Reindex(project, package, index) => {
                unit.reindex_package(project, package, index)?;
            }
            Self::InsertFact(row) => {
                let seq = unit.insert_fact(row)?;
                let found = unit.fact(&row.project_id, &row.fact_id)?;
                assert_eq!(found.map(|row| row.seq), Some(seq));
            }
            Self::EndFact(project, fact, valid_to, text) => {
                unit.end_fact(project, fact, valid_to, text)?;
            }
            Self::InsertSession(row) => {
                let seq = unit.insert_session(row)?;
                let found = unit.session(&row.project_id, &row.session_id)?;
                assert_eq!(found.map(|row| row.seq), Some(seq));
            }
            Self::EndSession(project, session, at, text) => {
                unit.end_session(project, session, at, text)?;
            }
            Self::InsertDecision(row) => {
                let seq = unit.insert_decision(row)?;
                let found = unit.decision(&row.project_id, &row.decision_id)?;
                assert!(seq.is_none_or(|seq| found.is_some_and(|row| row.seq == seq)));
                said = seq.is_some().to_string();
            }
            Self::PutEdge(row) => {
                unit.put_edge(row)?;
                assert_eq!(unit.edge(&row.project_id, &row.edge_id)?.as_ref(), Some(row));
            }
            Self::RemoveEdge(id, edge) => said = unit.remove_edge(id, edge)?.to_string(),
            Self::PutEdgeItem(row) => unit.put_edge_item(row)?,
            Self::RemoveEdgeItem(id, edge, item) => {
                said = unit.remove_edge_item(id, edge, item)?.to_string();
            }
            Self::PutEdgeDecision(row) => unit.put_edge_decision(row)?,
            Self::RemoveEdgeDecision(id, edge, decision) => {
                said = unit.remove_edge_decision(id, edge, decision)?.to_string();
            }
            Self::RewriteEvent(id, seq, text) => unit.rewrite_event(id, *seq, text)?,
            Self::AppendEvent(id, entry) => said = unit.append_event(id, entry)?.to_string(),
            Self::TrimEvents(id, through) => said = unit.trim_events(id, *through)?.to_string(),
            Self::InsertKey(row) => unit.insert_key(row)?,
            Self::RevokeKey(key, at) => unit.revoke_key(key, at)?,
            Self::PutPerson(row) => unit.put_person(row)?,
            Self::RemovePerson(name) => said = unit.remove_person(name)?.to_string(),
            Self::InsertBlob(row) => unit.insert_blob(row)?,
            Self::RemoveBlob(id, digest) => said = unit.remove_blob(id, digest)?.to_string(),
            Self::PutSetting(project, name, value) => {
                let scope = project.as_ref().map_or(Scope::Store, Scope::Project);
                unit.put_setting(scope, name, value.as_deref())?;
            }
            Self::PutEmbedding(project, package, (model, dimension), values) => {
                let space = Space { model, dimension: *dimension };
                let seq = unit.put_embedding(project, package, space, values)?;
                let found = unit.embedding(project, package, space)?;
                assert_eq!(found.map(|row| row.seq), Some(seq));
            }
            Self::Live(step) => said = step.take(unit)?,
            Self::Inbox(step) => said = step.take(unit)?,
            Self::Query(query) => said = query.at(unit)?.join("\n"),
        }
        Ok(said)
    }
}
