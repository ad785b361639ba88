//! Whose rights a token has.
//!
//! A token says for whom it was made: the caller who asked for it, and the login of a page. It is
//! accepted as long as these are: until the key is revoked or expires, until the first key of a
//! host is created, until the page is signed out. What is made from a token says the same. One that
//! names nobody is ended by time alone.

use accord_base::{ActorKey, Caller, ProjectId, Verb};
use accord_contract::{Failure, Object};
use accord_live_core::token::{Claims, TokenError};
use accord_live_core::{AppId, upgrade::KeyApps};

use crate::LiveDoor;
use accord_serving::logins::Holder;

#[derive(Clone, Debug)]
pub(crate) struct TokenHolder {
    pub(crate) caller: Caller,
    /// The login, if a page of this server asked for the token.
    pub(crate) login: Option<String>,
    /// In whose name it acts, if not in that of the key.
    pub(crate) actor: Option<ActorKey>,
}

impl TokenHolder {
    /// A caller who acts with its own key.
    pub(crate) fn of_caller(caller: Caller) -> Self {
        Self { caller, login: None, actor: None }
    }

    /// The holder of a token that names nobody. Nothing ends its rights.
    pub(crate) fn nobody() -> Self {
        Self::of_caller(Caller::owner().by_token())
    }

    /// The holder of a token; none for one that names nobody. The failure is `BOOTSTRAP_INVALID`
    /// when the holder has lost its rights.
    pub(crate) async fn of(host: &LiveDoor, claims: &Claims) -> Result<Option<Self>, Failure> {
        let Some(holder) = Holder::of_token(claims) else { return Ok(None) };
        let login = Holder::login_of(claims).map(str::to_owned);
        let actor = match &login {
            Some(login) => {
                let person = host.logins().opened(login, host.live().now()).await?;
                person.ok_or(TokenError::Revoked)?.actor
            }
            None => None,
        };
        let caller = holder.caller(host.keys()).await?.ok_or(TokenError::Revoked)?;
        let caller = if login.is_some() { caller.signed_in() } else { caller.by_token() };
        Ok(Some(Self { caller, login, actor }))
    }
}

/// The apps that the key of a caller covers; `None` for all.
pub(crate) fn covered_apps(caller: &Caller) -> KeyApps {
    let projects = caller.access().projects()?;
    // Every id of a project is an id of an app.
    Some(projects.iter().filter_map(|project| AppId::new(project.as_str()).ok()).collect())
}

/// The claims of a token that a caller may hold for a session of an app; none if it may not. With a
/// token one can act, so the caller may write, and the project takes writes.
pub(crate) async fn granted(host: &LiveDoor, caller: &Caller, app: &AppId) -> Option<Object> {
    let project = ProjectId::new(app.as_str()).ok()?;
    caller.access().may(Verb::Write, &project).ok()?;
    host.live().check_open(app).await.ok()?;
    Some(Holder::of(caller).claims())
}
