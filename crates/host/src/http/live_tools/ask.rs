//! What every tool reads from its request: who asks, and about which app.

use accord_base::{Actor, ActorId, ActorKey, ActorType, Caller, MAX_ID_CHARS, ProjectId};
use accord_contract::codes::{Code, Failure};
use accord_contract::wire::TextForm;
use accord_live_core::tenancy::{self, Identity};
use accord_live_core::{AppId, HandshakeId, SessionId, refuse};
use accord_memory_core::query::Text;

use crate::http::routes::Query;
use crate::http::{Context, Host};

/// Who asks.
pub(super) const ACTOR: Text =
    Text::new("actor", TextForm::ANY.chars(1, MAX_ID_CHARS).without_nul().example("agent:builder"));

/// What the actor of a tool means.
pub(super) const ABOUT_ACTOR: &str = "Who asks the person: `agent:NAME`, `human:NAME`, \
    `script:NAME`, or the plain name of an agent. Default: the actor of the key.";

/// Who calls a tool, and what the call names beside its arguments.
#[derive(Clone)]
pub(super) struct Asked {
    pub(super) host: Host,
    pub(super) caller: Caller,
    /// Who asks, if that is known.
    pub(super) actor: Option<ActorKey>,
    project: Option<ProjectId>,
}

impl Asked {
    /// Reads the parameters of a request.
    pub(super) fn read(context: &Context, query: &Query) -> Result<Self, Failure> {
        let Context { host, caller, .. } = context.clone();
        let params = query.params()?;
        let named = ACTOR.read(&params)?.map(actor).transpose()?;
        let actor = caller.attribute(named, "/actor")?.map(|actor| actor.key());
        Ok(Self { actor, project: query.project()?, host, caller })
    }

    /// The app of a call about no session yet.
    pub(super) fn app(&self) -> Result<AppId, Failure> {
        let named = self.project.as_ref().map(app_of).transpose()?;
        let identity = self.identity();
        let default = self.host.live().options().default_app.clone();
        tenancy::resolve(named.as_ref(), None, &identity, default.as_ref()).map_err(|failure| {
            match named {
                Some(_) => failure,
                None => failure.suggesting("name the project in the query: ?project_id=NAME"),
            }
        })
    }

    /// The app of a call about a session. A session that the caller cannot see is the same as none.
    pub(super) async fn app_of(&self, session: &SessionId) -> Result<AppId, Failure> {
        let found = self.host.live().app_of(session).await?;
        let missing = || refuse::tool_session_not_found("there is no such session");
        self.visible(found).ok_or_else(missing)
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

    fn identity(&self) -> Identity {
        match (self.caller.key_id(), self.caller.access().projects()) {
            (Some(_), projects) => {
                let apps = |projects: &std::collections::BTreeSet<ProjectId>| {
                    projects
                        .iter()
                        .filter_map(|project| AppId::new(project.as_str()).ok())
                        .collect()
                };
                Identity::Key(projects.map(apps))
            }
            (None, _) => Identity::Open,
        }
    }
}

/// The app of a project: they have the same id.
fn app_of(project: &ProjectId) -> Result<AppId, Failure> {
    AppId::new(project.as_str()).map_err(|error| refuse::app_mismatch(error.to_string()))
}

/// An actor by its name, or by its type and name.
fn actor(text: &str) -> Result<Actor, Failure> {
    let wrong = |why: String| Failure::new(Code::AgenticInvalidSchema, why).at("/actor");
    let is_typed = text.split_once(':').is_some_and(|(kind, _)| ActorType::parse(kind).is_some());
    let key = match is_typed {
        true => ActorKey::parse(text).map_err(wrong)?,
        false => {
            let id = ActorId::new(text.trim()).map_err(|error| wrong(error.to_string()))?;
            ActorKey { id, kind: ActorType::Agent }
        }
    };
    Ok(Actor::new(key.id, key.kind))
}
