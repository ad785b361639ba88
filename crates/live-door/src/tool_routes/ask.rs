//! What every tool reads from its request: who asks, and about which app.

use accord_api::parameter::ParamSet as _;
use accord_base::{Actor, ActorId, ActorKey, ActorType, Author, Caller, Need, ProjectId};
use accord_contract::{Code, Failure};
use accord_live_core::tenancy::{self, Identity};
use accord_live_core::{AppId, HandshakeId, SessionId, operations::tools::ConsumeQuery, refuse};

use crate::{Context, Exchange, LiveDoor, covered_apps};
use accord_serving::Correlation;

/// The most projects that a refusal names.
const MOST_NAMED: u32 = 20;

/// Who calls a tool, and what the call names beside its arguments.
#[derive(Clone)]
pub(super) struct Asked {
    pub(super) host: LiveDoor,
    pub(super) caller: Caller,
    pub(super) correlation: Correlation,
    /// Only `ggui_consume` declares it.
    pub(super) goes_on: bool,
    pub(super) confirm: bool,
    pub(super) actor: Option<ActorKey>,
    project: Option<ProjectId>,
}

impl Asked {
    pub(super) fn read(exchange: &Exchange) -> Result<Self, Failure> {
        let Context { host, caller, correlation } = exchange.context.clone();
        let asked = ConsumeQuery::read(&exchange.query.params()?)?;
        let actor = acting(&caller, asked.actor.as_deref())?;
        let ConsumeQuery { project, goes_on, confirm, .. } = asked;
        Ok(Self { actor, project, goes_on, confirm, host, caller, correlation })
    }

    /// Who asks a person: the actor of the call, else the label of its key as the name of an agent.
    pub(super) async fn asked_by(&self) -> Result<Option<ActorKey>, Failure> {
        asked_by(&self.host, &self.caller, self.actor.clone()).await
    }

    /// The app of a call about no session yet.
    pub(super) async fn app(&self) -> Result<AppId, Failure> {
        let named = self.project.as_ref().map(app_of).transpose()?;
        let identity = match self.caller.key_id() {
            Some(_) => Identity::Key(covered_apps(&self.caller)),
            None => Identity::Open,
        };
        let default = self.host.live().options().default_app.clone();
        match tenancy::resolve(named.as_ref(), None, &identity, default.as_ref()) {
            Err(_) if named.is_none() => Err(self.names_no_project().await),
            resolved => resolved,
        }
    }

    /// The refusal of a call that names no project, with those that it can name.
    async fn names_no_project(&self) -> Failure {
        let known: Vec<String> = match self.caller.access().projects() {
            Some(covered) => covered.iter().map(|project| project.as_str().to_owned()).collect(),
            None => self.host.surroundings().projects(&self.caller, MOST_NAMED).await,
        };
        let what_to_do = match known.is_empty() {
            true => "pass project_id; a project that does not exist is created".to_owned(),
            false => format!("pass project_id, one of: {}", known.join(", ")),
        };
        refuse::app_mismatch("the call names no project").suggesting(what_to_do)
    }

    /// The app of a call about a session. A session that the caller cannot see is the same as none.
    pub(super) async fn app_of(&self, session: &SessionId) -> Result<AppId, Failure> {
        let found = self.host.live().app_of(session).await?;
        let missing = || refuse::tool_session_not_found("there is no such session");
        self.visible(found).ok_or_else(missing)
    }

    /// The app of a call that confirms answers of a session, which may have ended if it is named.
    pub(super) async fn app_to_confirm(&self, session: &SessionId) -> Result<AppId, Failure> {
        match &self.project {
            Some(project) => app_of(project),
            None => self.app_of(session).await,
        }
    }

    /// The app of a call about a handshake. One that the caller cannot see is the same as none.
    pub(super) async fn app_of_handshake(&self, id: &HandshakeId) -> Result<AppId, Failure> {
        let found = self.host.live().app_of_handshake(id).await?;
        let missing =
            || refuse::handshake_not_found("there is no such handshake; call ggui_handshake again");
        self.visible(found).ok_or_else(missing)
    }

    /// An app, if the key covers it and the call does not name another one.
    pub(super) fn visible(&self, app: Option<AppId>) -> Option<AppId> {
        let app = app?;
        let project = ProjectId::new(app.as_str()).ok()?;
        let is_named = self.project.as_ref().is_none_or(|named| *named == project);
        (is_named && self.caller.access().covers(&project)).then_some(app)
    }
}

/// The actor of a call: the one that it names, else that of its key.
pub(crate) fn acting(caller: &Caller, named: Option<&str>) -> Result<Option<ActorKey>, Failure> {
    let author = Author::claimed(named.map(actor).transpose()?, "/actor");
    Ok(caller.attribute(Need::Write, author)?.actor.map(|actor| actor.key()))
}

/// Who asks a person: an actor, else the label of the key of a call as the name of an agent.
pub(crate) async fn asked_by(
    host: &LiveDoor,
    caller: &Caller,
    actor: Option<ActorKey>,
) -> Result<Option<ActorKey>, Failure> {
    let label = match (&actor, caller.key_id()) {
        (None, Some(key_id)) => host.keys().label(key_id).await?,
        _ => None,
    };
    let labelled = label.and_then(|label| ActorId::new(label.trim()).ok());
    let labelled = labelled.map(|id| ActorKey { id, kind: ActorType::Agent });
    Ok(actor.or(labelled.filter(|labelled| labelled.check_distinct().is_ok())))
}

/// The app of a project: they have the same id.
fn app_of(project: &ProjectId) -> Result<AppId, Failure> {
    AppId::new(project.as_str()).map_err(|error| refuse::app_mismatch(error.to_string()))
}

/// An actor by its name, or by its type and name.
fn actor(text: &str) -> Result<Actor, Failure> {
    let wrong = |why: String| Failure::new(Code::AgenticInvalidSchema, why).at("/actor");
    let kind = text.split_once(':').and_then(|(kind, _)| ActorType::parse(kind));
    let key = match kind {
        Some(_) => ActorKey::parse(text).map_err(wrong)?,
        None => {
            let id = ActorId::new(text.trim()).map_err(|error| wrong(error.to_string()))?;
            ActorKey { id, kind: ActorType::Agent }
        }
    };
    Ok(Actor::new(key.id, key.kind))
}
