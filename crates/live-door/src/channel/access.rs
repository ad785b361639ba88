//! Who asks: the credentials of a request, and the origin of the page that sent it.
//!
//! The header Origin is checked unless a token that this server signed is the only credential: a
//! page that was given a token may be of any origin, and nothing that a browser adds by itself,
//! such as a cookie, is looked at. A token that has expired counts, so that the page learns that it
//! has.

use accord_api::parameter::Opaque;
use accord_base::{Caller, Verb};
use accord_contract::{Code, Failure};
use accord_live_core::operations::channel::{TOKEN, WS_TOKEN};
use accord_live_core::token::{TokenError, TokenKind};
use accord_live_core::upgrade::{Accepts, Credentials, identify};
use accord_live_core::{refuse, tenancy::Identity};
use hyper::{HeaderMap, header::AUTHORIZATION};

use crate::{LiveDoor, TokenHolder, Visitor, covered_apps};
use accord_serving::query::Query;

/// The credentials of a request. They are never written to a log.
pub(super) struct Sent {
    pub(super) ws_token: Option<String>,
    token: Option<String>,
    authorization: Option<String>,
}

pub(super) struct Opener {
    pub(super) identity: Identity,
    /// Whose rights it has, which are checked while it is open; `None` for a client that is known
    /// when it subscribes with its token.
    pub(super) holder: Option<TokenHolder>,
    /// The process at the other end, on a host without keys.
    pub(super) process: Option<Caller>,
}

impl Sent {
    pub(super) fn of(query: &Query, headers: &HeaderMap) -> Result<Self, Failure> {
        let params = query.params()?;
        let text = |parameter: Opaque| params.text(parameter.name()).map(str::to_owned);
        let authorization = headers.get(AUTHORIZATION);
        Ok(Self {
            ws_token: text(WS_TOKEN),
            token: text(TOKEN),
            // One that is no text is a credential that nobody has.
            authorization: authorization.map(|sent| sent.to_str().unwrap_or_default().to_owned()),
        })
    }

    /// Refuses a page of an origin that is not allowed, unless a token is the only credential.
    pub(super) fn check_origin(&self, visitor: &Visitor) -> Result<(), Failure> {
        let is_only = self.authorization.is_none() && self.token.is_none();
        if is_only && self.ws_token.is_some() && self.is_known(visitor) {
            return Ok(());
        }
        visitor.check_origin()
    }

    /// Whether the sender, who was not refused, has shown a credential of this server. A token in
    /// the URL is verified only by `subscribe`, so that anybody can send any text there.
    pub(super) fn is_known(&self, visitor: &Visitor) -> bool {
        self.ws_token.as_deref().is_none_or(|token| {
            let verified = visitor.host.live().verify_token(token, TokenKind::Ws);
            !matches!(verified, Err(TokenError::Invalid))
        })
    }

    /// Who opens a socket with these credentials; else `UNAUTHENTICATED`.
    pub(super) async fn opener(&self, visitor: &Visitor) -> Result<Opener, Failure> {
        let live = visitor.host.live();
        let credentials = Credentials {
            ws_token: self.ws_token.as_deref(),
            authorization: self.authorization.as_deref(),
            token: self.token.as_deref(),
        };
        let open = visitor.without_key().await?;
        let holder = match credentials.bearer() {
            // The holder of a key, who may write.
            Some(bearer) if open.is_none() && self.ws_token.is_none() => {
                match visitor.host.keys().authenticate(bearer).await {
                    Ok(caller) => Some(caller.access().may_anywhere(Verb::Write).map(|()| caller)),
                    Err(why) if matches!(why.code, Code::Unauthorized | Code::AccessDenied) => {
                        Some(Err(why))
                    }
                    Err(failure) => return Err(failure),
                }
            }
            _ => None,
        };
        let apps = holder.as_ref().and_then(|holder| holder.as_ref().ok()).map(covered_apps);
        let identity = {
            let (is_open, now) = (open.is_some(), live.now());
            let accepts = Accepts { secret: live.secret(), key: &|_| apps.clone(), is_open, now };
            identify(credentials, &accepts)
        };
        let identity = identity.map_err(|refused| match &holder {
            // It says what is wrong with the key.
            Some(Err(why)) => refuse::unauthenticated(why.message.as_str()),
            _ => refused,
        })?;
        let holder = match identity {
            Identity::Pending => None,
            // A page that connects again with the token of its last connection.
            Identity::Token { .. } => match credentials.bearer() {
                Some(bearer) => token_holder(&visitor.host, bearer, TokenKind::Session).await?,
                None => None,
            },
            Identity::Open => open.clone().map(TokenHolder::of_caller),
            Identity::Key(_) => holder.and_then(Result::ok).map(TokenHolder::of_caller),
        };
        let examined = |mut holder: TokenHolder| {
            if let Some(process) = &open {
                holder.caller = holder.caller.with_process_of(process);
            }
            holder
        };
        Ok(Opener { identity, holder: holder.map(examined), process: open })
    }
}

/// The holder of a token; none for one that is not valid. The failure is `UNAUTHENTICATED` when the
/// holder has lost its rights.
pub(super) async fn token_holder(
    host: &LiveDoor,
    token: &str,
    kind: TokenKind,
) -> Result<Option<TokenHolder>, Failure> {
    let Ok(claims) = host.live().verify_token(token, kind) else { return Ok(None) };
    let held = TokenHolder::of(host, &claims).await.map_err(|failure| match failure.code {
        Code::GguiBootstrapInvalid => refuse::unauthenticated(failure.message),
        _ => failure,
    })?;
    Ok(Some(held.unwrap_or_else(TokenHolder::nobody)))
}
