//! Conversion between rows and documents, and what a caller may see of them.
//!
//! A row that contradicts its document is an `integrity_error`. The caller learns which row it is;
//! the log says what is wrong with it.

use std::borrow::Cow;
use std::collections::BTreeSet;

use accord_base::decision::DecisionRecord;
use accord_base::{Access, Actor, ProjectId, Verb};
use accord_contract::{Code, Failure, Object, Time, Timestamp, Value, Wire as _};
use accord_memory_core::bundle::Outline;
use accord_memory_core::lifecycle::Revision;
use accord_memory_core::{
    ContentHash, Fact, Package, PackageId, Project, Session, package, project,
};
use accord_store::{
    DecisionRow, Drafts, FactRow, PackageRow, PackageState, ProjectQuery, ProjectRow, ReadUnit,
    RevisionRow, SessionRow, StoreError, Table,
};
use serde::Deserialize;

use super::UnitResult;

pub(crate) fn known_project(unit: &dyn ReadUnit, id: &ProjectId) -> UnitResult<Option<Project>> {
    let row = unit.project(id)?;
    Ok(row.as_ref().map(project_of).transpose()?)
}

/// Checks that a caller may read in a project, and that the project exists. Fails as [`project`],
/// except that a project with a damaged row counts as existing.
pub(crate) fn readable(unit: &dyn ReadUnit, access: &Access, id: &ProjectId) -> UnitResult<()> {
    access.may(Verb::Read, id)?;
    match unit.project(id) {
        Ok(None) => Err(project::not_found(id).into()),
        Err(error) if error.damaged().is_none() => Err(error.into()),
        Ok(Some(_)) | Err(_) => Ok(()),
    }
}

/// The ids of the damaged rows of a table that a unit has met.
pub(crate) fn unreadable(unit: &dyn ReadUnit, table: Table) -> Vec<String> {
    let damaged = unit.damage().into_iter().filter(|row| row.table == table);
    damaged.map(|row| row.id).collect()
}

/// The row, or `None` when it is damaged.
pub(crate) fn if_sound<T>(found: Result<Option<T>, StoreError>) -> UnitResult<Option<T>> {
    match found {
        Err(error) if error.damaged().is_some() => Ok(None),
        found => Ok(found?),
    }
}

/// Whether the id of a package may be shown. The id of a missing package may be; that of another
/// actor's draft may not; a damaged package may be such a draft.
pub(crate) fn may_be_named(
    found: Result<Option<PackageRow>, StoreError>,
    drafts: Drafts<'_>,
) -> UnitResult<bool> {
    match found {
        Err(error) if error.damaged().is_some() => Ok(false),
        found => Ok(found?.is_none_or(|row| row.is_shown(drafts))),
    }
}

/// Whether a row exists, sound or damaged.
pub(crate) fn is_there<T>(found: Result<Option<T>, StoreError>) -> UnitResult<bool> {
    match found {
        Err(error) if error.damaged().is_some() => Ok(true),
        found => Ok(found?.is_some()),
    }
}

/// Refuses when the unit has met a damaged row of that id in a project that the caller covers.
pub(crate) fn must_be_sound(
    unit: &dyn ReadUnit,
    access: &Access,
    table: Table,
    id: &str,
) -> UnitResult<()> {
    let met = unit.damage().into_iter().find(|row| {
        let covered = (row.project_id.as_ref()).is_some_and(|project| access.covers(project));
        row.table == table && row.id == id && covered
    });
    met.map_or(Ok(()), |row| Err(StoreError::damaged_row(row).into()))
}

/// The project of an id, for a caller that needs a verb in it. Fails with `unauthorized`, whether
/// the project exists or not; with `project_not_found`.
pub(crate) fn project(
    unit: &dyn ReadUnit,
    access: &Access,
    verb: Verb,
    id: &ProjectId,
) -> UnitResult<Project> {
    // Access before existence: otherwise the answers would tell a key which projects exist.
    access.may(verb, id)?;
    let known = known_project(unit, id)?;
    Ok(known.ok_or_else(|| project::not_found(id))?)
}

/// The package of an id, or of a short id, that the caller may see: in the named project, or in any
/// of the caller's. Fails with `unauthorized`, `package_not_found` or `ambiguous_package_id`.
pub(crate) fn package_row(
    unit: &dyn ReadUnit,
    access: &Access,
    verb: Verb,
    within: Option<&ProjectId>,
    id: &PackageId,
) -> UnitResult<PackageRow> {
    may_in(access, verb, within)?;
    let rows = named(unit, access, within, id)?;
    let code = Code::AgenticAmbiguousPackageId;
    let rows = rows.into_iter().map(|row| (row.project_id.clone(), row)).collect();
    only(unit, access, (Table::Package, id.as_str(), code), rows, || package::not_found(id))
}

/// The packages of an id or a short id that the caller may see. Packages of different ids are
/// refused with `ambiguous_package_id`.
pub(crate) fn named(
    unit: &dyn ReadUnit,
    access: &Access,
    within: Option<&ProjectId>,
    id: &PackageId,
) -> UnitResult<Vec<PackageRow>> {
    let mut rows: Vec<PackageRow> = match within {
        Some(project) => unit.package(project, id)?.into_iter().collect(),
        None => unit.packages_named(id)?,
    };
    rows.retain(|row| row.is_shown(drafts(access)));
    if let Some(beginning) = id.beginning() {
        rows.extend(beginning_with(unit, access, within, (id, &beginning))?);
        refuse_several(access, id, &rows)?;
    }
    Ok(rows)
}

/// The generated packages whose ids begin as a short id says, without that of the id itself.
fn beginning_with(
    unit: &dyn ReadUnit,
    access: &Access,
    within: Option<&ProjectId>,
    (id, beginning): (&PackageId, &str),
) -> UnitResult<Vec<PackageRow>> {
    let mut rows = Vec::new();
    for (project, found) in unit.package_ids(beginning, within, MOST_ALIKE)? {
        if found.is_generated() && found != *id && access.covers(&project) {
            rows.extend(if_sound(unit.package(&project, &found))?);
        }
    }
    rows.retain(|row| row.is_shown(drafts(access)));
    Ok(rows)
}

/// Refuses a short id that stands for several packages. A package whose whole id is that text is
/// one of them: an agent could otherwise give its package the short id of another one.
fn refuse_several(access: &Access, id: &PackageId, rows: &[PackageRow]) -> Result<(), Failure> {
    let covered = rows.iter().filter(|row| access.covers(&row.project_id));
    let ids: BTreeSet<&str> = covered.map(|row| row.package_id.as_str()).collect();
    if ids.len() < 2 {
        return Ok(());
    }
    let message = format!("{:?} is the beginning of {} package ids", id.as_str(), ids.len());
    let candidates: Vec<Value> = ids.into_iter().map(Value::from).collect();
    let failure = Failure::new(Code::AgenticAmbiguousPackageId, message);
    Err(failure.with("candidates", candidates).suggesting("give more of its digits"))
}

/// How many ids that begin alike are looked at.
const MOST_ALIKE: usize = 100;

/// Refuses a caller without a verb in the named project, or in any if none is named.
pub(crate) fn may_in(access: &Access, verb: Verb, id: Option<&ProjectId>) -> Result<(), Failure> {
    id.map_or_else(|| access.may_anywhere(verb), |project| access.may(verb, project))
}

/// The only one of the rows of an id that is in the caller's projects. Fails with `none` if there
/// is no such row, and with a code if there are several.
/// Clauses: AGENTIC-A-04.
pub(crate) fn only<T>(
    unit: &dyn ReadUnit,
    access: &Access,
    (table, id, ambiguous): (Table, &str, Code),
    mut rows: Vec<(ProjectId, T)>,
    none: impl FnOnce() -> Failure,
) -> UnitResult<T> {
    rows.retain(|(project, _)| access.covers(project));
    if rows.len() > 1 {
        let message = format!("{} projects have a {} {id:?}", rows.len(), table.as_str());
        let names: Vec<_> = rows.iter().map(|(project, _)| project.encode()).collect();
        let failure = Failure::new(ambiguous, message).with("projects", names);
        return Err(failure.suggesting("name the project, with ?project_id=").into());
    }
    if rows.is_empty() {
        must_be_sound(unit, access, table, id)?;
    }
    Ok(rows.pop().map(|(_, row)| row).ok_or_else(none)?)
}

pub(crate) fn drafts(access: &Access) -> Drafts<'_> {
    access.drafts_only_of().map_or(Drafts::All, Drafts::Of)
}

/// The project in a row, if it agrees with the row.
pub(crate) fn project_of(row: &ProjectRow) -> Result<Project, Failure> {
    let read = members(&row.text).and_then(Project::read);
    agreeing((Table::Project, row.project_id.as_str()), read, |project| {
        project.project_id == row.project_id
            && project.created_at == row.created_at
            && project.archived_at == row.archived_at
    })
}

/// The fact in a row, if it agrees with the row.
pub(crate) fn fact_of(row: &FactRow) -> Result<Fact, Failure> {
    let read = members(&row.text).and_then(Fact::read);
    agreeing((Table::Fact, row.fact_id.as_str()), read, |fact| {
        fact.project_id == row.project_id
            && fact.fact_id == row.fact_id
            && fact.subject == row.subject
            && fact.predicate == row.predicate
            && fact.value == row.value
            // Times are compared as instants: a document keeps the notation of its author.
            && at_once(Some(&fact.valid_from), Some(&row.valid_from))
            && at_once(fact.valid_to.as_ref(), row.valid_to.as_ref())
            && fact.created_at == row.created_at
    })
}

/// The text of the fact in a row, if it agrees with the row.
pub(crate) fn fact_text(row: &FactRow) -> Result<&str, Failure> {
    /// The members that text and row both have.
    #[derive(Deserialize)]
    struct Said<'t> {
        #[serde(borrow)]
        fact_id: Cow<'t, str>,
        #[serde(borrow)]
        project_id: Cow<'t, str>,
        #[serde(borrow)]
        subject: Cow<'t, str>,
        #[serde(borrow)]
        predicate: Cow<'t, str>,
        #[serde(borrow)]
        value: Cow<'t, str>,
        #[serde(borrow)]
        valid_from: Cow<'t, str>,
        #[serde(borrow)]
        valid_to: Option<Cow<'t, str>>,
    }
    let said = serde_json::from_str(&row.text).map_err(|error| integrity(error.to_string()));
    agreeing((Table::Fact, row.fact_id.as_str()), said, |said: &Said<'_>| {
        said.fact_id == row.fact_id.as_str()
            && said.project_id == row.project_id.as_str()
            && said.subject == row.subject
            && said.predicate == row.predicate
            && said.value == row.value
            && said.valid_from == row.valid_from.as_str()
            && said.valid_to.as_deref() == row.valid_to.as_ref().map(Timestamp::as_str)
    })?;
    Ok(&row.text)
}

/// The session in a row, if it agrees with the row. It has no packages yet.
pub(crate) fn session_of(row: &SessionRow) -> Result<Session, Failure> {
    let read = members(&row.text).and_then(Session::read);
    agreeing((Table::Session, row.session_id.as_str()), read, |session| {
        session.project_id == row.project_id
            && session.session_id == row.session_id
            && (&session.actor_id, session.actor_type) == (&row.actor.id, row.actor.kind)
            && session.callsign == row.callsign
            && session.started_at == row.started_at
            && session.ended_at == row.ended_at
    })
}

/// The decision in a row, if it agrees with the row.
pub(crate) fn decision_of(row: &DecisionRow) -> Result<DecisionRecord, Failure> {
    let read = members(&row.text).and_then(|members| {
        let read = DecisionRecord::from_document(Value::Object(members));
        read.map_err(|error| integrity(error.to_string()))
    });
    agreeing((Table::Decision, row.decision_id.as_str()), read, |record| {
        let own = DecisionRow::new(&row.project_id, record);
        DecisionRow { seq: row.seq, text: row.text.clone(), ..own } == *row
    })
}

pub(crate) fn revision_of(package: &PackageId, row: &RevisionRow) -> Result<Revision, Failure> {
    read_revision(row).map_err(|failure| damaged(Table::Revision, package.as_str(), &failure))
}

pub(crate) fn read_revision(row: &RevisionRow) -> Result<Revision, Failure> {
    let text = serde_json::from_str(&row.text).map_err(|error| integrity(error.to_string()))?;
    Revision::from_document(text).map_err(|error| integrity(error.to_string()))
}

pub(crate) fn integrity(message: impl Into<String>) -> Failure {
    Failure::new(Code::AgenticIntegrityError, message)
}

pub(crate) fn row_of_project(project: &Project) -> ProjectRow {
    ProjectRow {
        project_id: project.project_id.clone(),
        created_at: project.created_at.clone(),
        archived_at: project.archived_at.clone(),
        // Written when the project is created; an update does not change it.
        conformance: project.is_for_conformance(),
        text: project.encode().to_string(),
    }
}

pub(crate) fn row_of_fact(fact: &Fact) -> FactRow {
    FactRow {
        project_id: fact.project_id.clone(),
        fact_id: fact.fact_id.clone(),
        seq: 0,
        subject: fact.subject.clone(),
        predicate: fact.predicate.clone(),
        value: fact.value.clone(),
        valid_from: fact.valid_from.clone(),
        valid_to: fact.valid_to.clone(),
        created_at: fact.created_at.clone(),
        text: fact.encode().to_string(),
    }
}

pub(crate) fn row_of_session(session: &Session) -> SessionRow {
    SessionRow {
        project_id: session.project_id.clone(),
        session_id: session.session_id.clone(),
        seq: 0,
        actor: Actor::new(session.actor_id.clone(), session.actor_type).key(),
        callsign: session.callsign.clone(),
        started_at: session.started_at.clone(),
        ended_at: session.ended_at.clone(),
        text: session.encode().to_string(),
    }
}

/// The row of a package whose log begins with a deposit of that hash and ends with `revision`,
/// which may have a note.
pub(crate) fn row_of_package(
    package: &Package,
    deposited_hash: ContentHash,
    (revision, has_note): (u64, bool),
    deposited_at: Time,
) -> PackageRow {
    let fields = package.fields();
    PackageRow {
        project_id: fields.project_id.clone(),
        package_id: fields.package_id.clone(),
        seq: 0,
        created_at: fields.created_at.clone(),
        actor: fields.created_by.key(),
        session_id: fields.created_by.session().cloned(),
        package_type: fields.package_type.clone(),
        significance: fields.significance(),
        outline: Outline::of(fields),
        deposited_at: Timestamp::emit(deposited_at),
        deposited_hash,
        quarantine: None,
        state: state_of(package, revision, has_note),
    }
}

/// The state of a package whose log ends with `revision`.
pub(crate) fn state_of(package: &Package, revision: u64, has_note: bool) -> PackageState {
    PackageState {
        revision,
        status: package.status(),
        review_type: package.review_type(),
        has_note,
        content_hash: *package.content_hash(),
        text: package.text().to_owned(),
    }
}

pub(crate) fn row_of_revision(revision: &Revision) -> RevisionRow {
    RevisionRow { seq: revision.seq, text: revision.encode().to_string() }
}

fn at_once(one: Option<&Timestamp>, other: Option<&Timestamp>) -> bool {
    one.map(Timestamp::time) == other.map(Timestamp::time)
}

/// What was read from a row, if it agrees with the row.
fn agreeing<T>(
    (table, id): (Table, &str),
    read: Result<T, Failure>,
    agrees: impl FnOnce(&T) -> bool,
) -> Result<T, Failure> {
    let contradicted = || integrity("the row contradicts its document");
    let same = read.and_then(|read| if agrees(&read) { Ok(read) } else { Err(contradicted()) });
    same.map_err(|failure| damaged(table, id, &failure))
}

fn members(text: &str) -> Result<Object, Failure> {
    serde_json::from_str(text).map_err(|error| integrity(error.to_string()))
}

fn damaged(table: Table, id: &str, failure: &Failure) -> Failure {
    let what = table.as_str();
    tracing::error!(id, "a stored {what} is damaged: {}", failure.message);
    integrity(format!("the stored {what} {id:?} is damaged"))
}

/// How many projects are read at once.
const PROJECTS: usize = 500;

/// The ids of all projects in their order, archived ones included.
pub(crate) fn all_projects(unit: &dyn ReadUnit) -> UnitResult<Vec<ProjectId>> {
    let mut found: Vec<ProjectId> = Vec::new();
    loop {
        let page =
            unit.projects(&ProjectQuery { archived: true, after: found.last(), limit: PROJECTS })?;
        if page.is_empty() {
            return Ok(found);
        }
        found.extend(page.into_iter().map(|row| row.project_id));
    }
}
