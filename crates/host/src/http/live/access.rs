//! Who asks: the credentials of a request, and the origin of the page that sent it.
//!
//! The header Origin is checked unless a token that this server signed is the only credential: a
//! page that was given a token may be of any origin, and nothing that a browser adds by itself,
//! such as a cookie, is looked at. A token that has expired counts, so that the page learns that it
//! has.

use accord_base::{Caller, Verb};
use accord_contract::codes::{Code, Failure};
use accord_live_core::tenancy::Identity;
use accord_live_core::token::{TokenError, TokenKind};
use accord_live_core::upgrade::{Accepts, Credentials, KeyApps, identify};
use accord_live_core::{AppId, refuse};
use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;

use crate::http::Visitor;
use crate::http::routes::Query;

/// The credentials of a request. They are never written to a log.
pub(super) struct Sent {
    pub(super) ws_token: Option<String>,
    token: Option<String>,
    authorization: Option<String>,
}

/// Who opens a socket.
pub(super) struct Opener {
    pub(super) identity: Identity,
    /// The caller whose key is checked while the socket is open; `None` for the holder of a token.
    pub(super) caller: Option<Caller>,
}

impl Sent {
    /// The credentials in the query and the headers.
    pub(super) fn of(query: &Query, headers: &HeaderMap) -> Result<Self, Failure> {
        let params = query.params()?;
        let text = |name| params.text(name).map(str::to_owned);
        let authorization = headers.get(AUTHORIZATION);
        Ok(Self {
            ws_token: text("wsToken"),
            token: text("token"),
            // One that is no text is a credential that nobody has.
            authorization: authorization.map(|sent| sent.to_str().unwrap_or_default().to_owned()),
        })
    }

    fn credentials(&self) -> Credentials<'_> {
        Credentials {
            ws_token: self.ws_token.as_deref(),
            authorization: self.authorization.as_deref(),
            token: self.token.as_deref(),
        }
    }

    /// Refuses a page of an origin that is not allowed, unless a token is the only credential.
    pub(super) fn check_origin(&self, visitor: &Visitor) -> Result<(), Failure> {
        let is_only = self.authorization.is_none() && self.token.is_none();
        let is_ours = |token: &str| {
            let verified = visitor.host.live().verify_token(token, TokenKind::Ws);
            !matches!(verified, Err(TokenError::Invalid))
        };
        if is_only && self.ws_token.as_deref().is_some_and(is_ours) {
            return Ok(());
        }
        visitor.check_origin()
    }

    /// Who opens a socket with these credentials.
    ///
    /// # Errors
    /// `UNAUTHENTICATED`.
    pub(super) async fn opener(&self, visitor: &Visitor) -> Result<Opener, Failure> {
        let live = visitor.host.live();
        let credentials = self.credentials();
        let open = visitor.without_key().await?;
        let holder = match credentials.bearer() {
            Some(bearer) if open.is_none() && self.ws_token.is_none() => {
                Some(self.holder(visitor, bearer).await?)
            }
            _ => None,
        };
        let apps = holder.as_ref().and_then(|holder| holder.as_ref().ok()).map(apps);
        let accepts = Accepts {
            secret: live.secret(),
            key: &|_| apps.clone(),
            is_open: open.is_some(),
            now: live.now(),
        };
        let identity = identify(credentials, &accepts).map_err(|refused| match &holder {
            // It says what is wrong with the key.
            Some(Err(why)) => refuse::unauthenticated(why.message.as_str()),
            _ => refused,
        })?;
        let caller = match identity {
            Identity::Pending | Identity::Token { .. } => None,
            Identity::Open => open,
            Identity::Key(_) => holder.and_then(Result::ok),
        };
        Ok(Opener { identity, caller })
    }

    /// The holder of a key, who may write.
    async fn holder(
        &self,
        visitor: &Visitor,
        bearer: &str,
    ) -> Result<Result<Caller, Failure>, Failure> {
        let found = visitor.host.keys().authenticate(bearer).await;
        match found {
            Ok(caller) => Ok(caller.access().may_anywhere(Verb::Write).map(|()| caller)),
            Err(refused) if is_about_the_key(refused.code) => Ok(Err(refused)),
            Err(failure) => Err(failure),
        }
    }
}

fn is_about_the_key(code: Code) -> bool {
    matches!(code, Code::Unauthorized | Code::AgenticUnauthorized)
}

/// The apps that a key covers.
fn apps(caller: &Caller) -> KeyApps {
    let projects = caller.access().projects()?;
    // Every id of a project is an id of an app.
    Some(projects.iter().filter_map(|project| AppId::new(project.as_str()).ok()).collect())
}
