//! Sessions: start, end, list, read.

use accord_base::{
    Access, Actor, Author, Caller, Cursor as _, Need, Page, ProjectId, SessionId, Verb, fill_page,
};
use accord_contract::{Code, Failure, Wire as _};
use accord_memory_core::query::{SessionPosition, SessionQuery};
use accord_memory_core::session::{self, SessionEnd, SessionRequest, SessionUpdate};
use accord_memory_core::{PackageId, Session, event};
use accord_store::{Drafts, Order, PackageQuery, ReadUnit, SessionRow, Table};
use accord_system::random;

use super::load::unreadable;
use super::record::{create_project, record};
use super::{Memory, UnitError, UnitResult, load, page};

#[derive(Clone, Debug)]
pub struct StartedSession {
    pub session: Session,
    pub new_project: bool,
}

impl Memory {
    pub async fn start_session(
        &self,
        caller: &Caller,
        project: &ProjectId,
        sent: &[u8],
    ) -> Result<StartedSession, Failure> {
        caller.access().may(Verb::Write, project)?;
        let asked = SessionRequest::parse(sent, project)?;
        let author = Author::claimed(asked.actor()?, "/actor_id");
        let actor = caller.attribute(Need::Write, author)?.actor;
        let (memory, project_id, random) = (self.clone(), project.clone(), random());
        self.write(move |unit| {
            let known = load::known_project(unit, &project_id)?;
            let writing = memory.writing(unit, &project_id, known.as_ref(), actor.as_ref())?;
            let now = writing.now;
            let started = session::start(asked.clone(), &writing, random)?;
            create_project(unit, started.create_project.as_ref(), now)?;
            unit.insert_session(&load::row_of_session(&started.session))?;
            record(unit, &event::about_session(event::SESSION_STARTED, &started.session, now))?;
            let new_project = started.create_project.is_some();
            Ok(StartedSession { session: started.session, new_project })
        })
        .await
    }

    /// Ends a session. An ended session does not change.
    pub async fn end_session(
        &self,
        caller: &Caller,
        within: Option<ProjectId>,
        id: SessionId,
        sent: &[u8],
    ) -> Result<Session, Failure> {
        let end = SessionEnd::parse(sent)?;
        let (memory, access) = (self.clone(), caller.access().clone());
        self.write(move |unit| {
            let row = find(unit, &access, Verb::Write, within.as_ref(), &id)?;
            let project = load::project(unit, &access, Verb::Write, &row.project_id)?;
            project.must_take_writes()?;
            let session = load::session_of(&row)?;
            let actor = Actor::new(session.actor_id.clone(), session.actor_type);
            // A key of one actor may end only that actor's sessions, unless it may act as others.
            access.attribute(Some(actor), "/actor_id")?;
            let now = memory.now_in(unit, &row.project_id)?;
            let session = match session.ended(end.at(now)) {
                SessionUpdate::Unchanged => session,
                SessionUpdate::Ended(ended) => {
                    let row = load::row_of_session(&ended);
                    let at = row.ended_at.as_ref().expect("a session that ended");
                    unit.end_session(&row.project_id, &row.session_id, at, &row.text)?;
                    record(unit, &event::about_session(event::SESSION_ENDED, &ended, now))?;
                    *ended
                }
            };
            add_packages(unit, &access, session)
        })
        .await
    }

    /// One session, with the packages that were deposited in it.
    pub async fn session(
        &self,
        caller: &Caller,
        within: Option<ProjectId>,
        id: SessionId,
    ) -> Result<Session, Failure> {
        let access = caller.access().clone();
        self.read(move |unit| {
            let row = find(unit, &access, Verb::Read, within.as_ref(), &id)?;
            add_packages(unit, &access, load::session_of(&row)?)
        })
        .await
    }

    /// The sessions of a project, newest first.
    pub async fn sessions(
        &self,
        caller: &Caller,
        project: &ProjectId,
        asked: SessionQuery,
    ) -> Result<Page, Failure> {
        let (access, project) = (caller.access().clone(), project.clone());
        self.read(move |unit| {
            load::readable(unit, &access, &project)?;
            let query = |after, limit| accord_store::SessionQuery {
                callsign: asked.callsign.as_deref(),
                active: asked.active,
                active_since: None,
                after,
                order: Order::NewestFirst,
                limit,
            };
            let writing = page::Writing {
                max_tokens: asked.max_tokens,
                text: String::as_str,
                head: &["session_id", "callsign"],
                cursor: &|place: &SessionPosition| place.encode(&project),
            };
            writing.page(
                (asked.limit, asked.after),
                |after, limit| Ok(unit.sessions(&project, &query(after.copied(), limit))?),
                SessionRow::position,
                |row| match load::session_of(&row) {
                    Ok(session) => {
                        let session = add_packages(unit, &access, session)?;
                        Ok(Ok(session.encode().to_string()))
                    }
                    Err(_) => Ok(Err(Some(row.session_id.as_str().to_owned()))),
                },
                || unreadable(unit, Table::Session),
                |after| Ok(unit.session_total(&project, &query(Some(*after), usize::MAX))?),
            )
        })
        .await
    }
}

/// The session of an id, for a caller that needs a verb in its project.
fn find(
    unit: &dyn ReadUnit,
    access: &Access,
    verb: Verb,
    within: Option<&ProjectId>,
    id: &SessionId,
) -> UnitResult<SessionRow> {
    load::may_in(access, verb, within)?;
    let rows = match within {
        Some(project) => unit.session(project, id)?.into_iter().collect(),
        None => unit.sessions_named(id)?,
    };
    let rows = rows.into_iter().map(|row| (row.project_id.clone(), row)).collect();
    let kind = (Table::Session, id.as_str(), Code::AgenticAmbiguousSessionId);
    load::only(unit, access, kind, rows, || session::not_found(id))
}

/// The session with the packages that the caller may see.
fn add_packages(unit: &dyn ReadUnit, access: &Access, mut session: Session) -> UnitResult<Session> {
    let (project, id) = (session.project_id.clone(), session.session_id.clone());
    let drafts = load::drafts(access);
    if drafts == Drafts::All {
        let packages = unit.packages_of_session(&project, &id)?;
        return Ok(session.with_packages(packages));
    }
    // Packages from an import may include drafts of others.
    let mut named = Vec::new();
    for package in std::mem::take(&mut session.packages_deposited) {
        if load::may_be_named(unit.package(&project, &package), drafts)? {
            named.push(package);
        }
    }
    session.packages_deposited = named;
    let mut packages: Vec<PackageId> = Vec::new();
    fill_page::<_, _, UnitError>(
        usize::MAX,
        None,
        |after, limit| {
            let query = PackageQuery {
                session: Some(&id),
                drafts,
                after: after.copied(),
                order: Order::OldestFirst,
                limit,
                ..PackageQuery::default()
            };
            Ok(unit.packages(&project, &query)?)
        },
        |row| row.position(),
        |row| {
            packages.push(row.package_id);
            Ok(Some(0))
        },
    )?;
    Ok(session.with_packages(packages))
}
