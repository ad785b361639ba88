//! Sessions: start, end, list, read.

use accord_base::{
    Access, Actor, Author, Caller, Cursor as _, Need, Page, ProjectId, SessionId, Verb, fill_page,
};
use accord_contract::{Code, Failure, Wire as _};
use accord_memory_core::query::{SessionPosition, SessionQuery};
use accord_memory_core::session::{self, SessionEnd, SessionRequest, SessionUpdate};
use accord_memory_core::{PackageId, Session, Writing, event};
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
            let project = load::known_project(unit, &project_id)?;
            let now = memory.now_in(unit, &project_id)?;
            let writing = Writing {
                project_id: &project_id,
                project: project.as_ref(),
                policy: memory.policy(),
                actor: actor.as_ref(),
                now,
            };
            let started = session::start(asked.clone(), &writing, random)?;
            create_project(unit, started.create_project.as_ref(), now)?;
            unit.insert_session(&load::row_of_session(&started.session))?;
            record(unit, &event::session_started(&started.session, now))?;
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
                    record(unit, &event::session_ended(&ended, now))?;
                    *ended
                }
            };
            with_packages(unit, &access, session)
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
            with_packages(unit, &access, load::session_of(&row)?)
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
            let (mut items, mut damaged) = (Vec::new(), Vec::new());
            let next = fill_page::<_, _, UnitError>(
                asked.limit as usize,
                asked.after,
                |after, limit| {
                    let query = accord_store::SessionQuery {
                        callsign: asked.callsign.as_deref(),
                        active: asked.active,
                        active_since: None,
                        after: after.copied(),
                        order: Order::NewestFirst,
                        limit,
                    };
                    Ok(unit.sessions(&project, &query)?)
                },
                |row| row.position(),
                |row| {
                    let Ok(session) = load::session_of(&row) else {
                        damaged.push(row.session_id.as_str().to_owned());
                        return Ok(None);
                    };
                    let session = with_packages(unit, &access, session)?;
                    let text = session.encode().to_string();
                    let bytes = text.len();
                    items.push((text, row.position()));
                    Ok(Some(bytes))
                },
            )?;
            damaged.extend(unreadable(unit, Table::Session));
            let writing = page::Writing {
                max_tokens: asked.max_tokens,
                text: String::as_str,
                head: &["session_id", "callsign"],
                cursor: &|place: &SessionPosition| place.encode(&project),
                named: &damaged,
            };
            let listed = page::Listed { items, next };
            let (items, next_cursor, budgeted) = listed.within(&writing, |after| {
                let query = accord_store::SessionQuery {
                    callsign: asked.callsign.as_deref(),
                    active: asked.active,
                    active_since: None,
                    after: Some(*after),
                    order: Order::NewestFirst,
                    limit: usize::MAX,
                };
                Ok(unit.session_total(&project, &query)?)
            })?;
            Ok(Page { items, next_cursor, damaged, budgeted })
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
    let mut rows = match within {
        Some(project) => {
            access.may(verb, project)?;
            unit.session(project, id)?.into_iter().collect()
        }
        None => {
            access.may_anywhere(verb)?;
            unit.sessions_named(id)?
        }
    };
    rows.retain(|row| access.covers(&row.project_id));
    let projects: Vec<_> = rows.iter().map(|row| row.project_id.clone()).collect();
    match rows.pop() {
        None => {
            load::must_be_sound(unit, access, Table::Session, id.as_str())?;
            Err(session::not_found(id).into())
        }
        Some(row) if projects.len() == 1 => Ok(row),
        Some(_) => {
            let code = Code::AgenticAmbiguousSessionId;
            Err(load::ambiguous(code, "session", id.as_str(), &projects).into())
        }
    }
}

/// The session with the packages that the caller may see.
fn with_packages(
    unit: &dyn ReadUnit,
    access: &Access,
    mut session: Session,
) -> UnitResult<Session> {
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
