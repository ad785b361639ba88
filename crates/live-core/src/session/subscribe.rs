//! Subscribing a socket to a session: the checks in their order, and the session that begins if
//! there is none.

use accord_contract::{Failure, Time, rule};

use super::{AskChange, Content, ContentChange, Delta, Head, Session, change::At, event};
use crate::frame::{Binding, Role, Subscribe, SubscribeAck};
use crate::tenancy::{self, Identity};
use crate::token::{Claims, Secret, TokenKind};
use crate::version::{self, VersionPolicy};
use crate::{AppId, SessionId, refuse};

#[derive(Clone, Copy, Debug)]
pub struct SubscribeFacts<'a> {
    pub identity: &'a Identity,
    pub version: &'a str,
    /// What happens to a client that does not support it.
    pub policy: VersionPolicy,
    pub secret: Option<&'a Secret>,
    /// The app of a host without keys.
    pub default_app: Option<&'a AppId>,
    pub now: Time,
    /// 12 random bytes, for the id of a token.
    pub random: [u8; 12],
}

/// A subscriber that passed every check that needs no session.
#[derive(Clone, Debug, PartialEq)]
pub struct Subscribed {
    pub binding: Binding,
    /// A token to connect again with, for a subscriber that came with a token.
    pub session_token: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SubscribeRefusal {
    pub failure: Box<Failure>,
    /// Whether the identity of the socket is used up.
    pub spends: bool,
    /// Whether the socket is closed after the answer.
    pub closes: bool,
}

/// Decides whether a socket may subscribe: version, token, app. Fails in this order:
/// `UPGRADE_REQUIRED`, `UNAUTHENTICATED`, `BOOTSTRAP_…`, `APP_MISMATCH`.
///
/// Clauses: GGUI-SUBSCRIBE-ORDER.
pub fn subscribe(
    request: &Subscribe,
    facts: SubscribeFacts<'_>,
) -> Result<Subscribed, SubscribeRefusal> {
    let versions = request.supported_versions.as_deref();
    // Before the identity is looked at, so that it is not used up.
    version::check(versions, facts.version, facts.policy).map_err(|failure| SubscribeRefusal {
        failure: Box::new(failure),
        spends: false,
        closes: rule!(facts.policy == VersionPolicy::Reject; OldClientStays => false),
    })?;
    let refused =
        |failure| SubscribeRefusal { failure: Box::new(failure), spends: true, closes: false };
    let claims = token(request, facts).map_err(refused)?;
    let token_app = claims.as_ref().map(|claims| &claims.app_id);
    let app_id =
        tenancy::resolve(request.app_id.as_ref(), token_app, facts.identity, facts.default_app)
            .map_err(refused)?;
    let session_id = request.session_id.clone();
    let session_token = facts.secret.zip(claims).map(|(secret, claims)| {
        let (kind, now, random) = (TokenKind::Session, facts.now, facts.random);
        secret.mint_with(kind, &session_id, &app_id, now, random, claims.extra).text
    });
    let role = request.role.unwrap_or(Role::User);
    let client_id = request.client_id.clone();
    Ok(Subscribed { binding: Binding { session_id, app_id, role, client_id }, session_token })
}

/// Clauses: GGUI-SUBSCRIBE-TOKEN.
fn token(request: &Subscribe, facts: SubscribeFacts<'_>) -> Result<Option<Claims>, Failure> {
    if let Identity::Token { session_id, .. } = facts.identity
        && *session_id != request.session_id
    {
        return Err(other_session());
    }
    let Some(text) = &request.ws_token else {
        return match facts.identity {
            Identity::Pending if rule!(true; PendingAdmitted => false) => {
                let message = "a socket that was opened with a token sends it with subscribe too";
                Err(refuse::unauthenticated(message))
            }
            _ => Ok(None),
        };
    };
    let Some(secret) = facts.secret else {
        return Err(refuse::bootstrap_not_supported("this server takes no tokens"));
    };
    let claims = secret.verify(text, TokenKind::Ws, facts.now)?;
    let is_other = claims.session_id != request.session_id;
    if rule!(is_other; TokenOfAnySession => false) {
        return Err(other_session());
    }
    if request.app_id.as_ref().is_some_and(|app| *app != claims.app_id) {
        return Err(refuse::bootstrap_app_mismatch("the token is for another app"));
    }
    Ok(Some(claims))
}

fn other_session() -> Failure {
    refuse::bootstrap_session_mismatch("the token is for another session")
}

impl Subscribed {
    /// The session that the subscriber gets: the stored one, or a new one. `None` for a delta that
    /// writes nothing. Fails with `APP_MISMATCH` when the stored session belongs to another app.
    ///
    /// Clauses: GGUI-SUBSCRIBE-PROVISION, GGUI-TENANCY-APP-MISMATCH.
    pub fn session(
        &self,
        stored: Option<&Session>,
        at: At<'_>,
    ) -> Result<(Session, Option<Delta>), Failure> {
        let Some(stored) = stored.filter(|session| session.is_active(at.now)) else {
            let (id, app) = (&self.binding.session_id, &self.binding.app_id);
            let (session, delta) = provision(id, app, stored, at);
            return Ok((session, Some(delta)));
        };
        tenancy::check(&stored.app_id, &self.binding.app_id)?;
        // A subscription is an activity. To spare a write for each of many reconnects, it counts
        // only when the session is in the second half of its life.
        let left = stored.head.expires_at.millis_since(at.now);
        if left.saturating_mul(2) >= u64::try_from(at.ttl_seconds).unwrap_or(0) * 1000 {
            return Ok((stored.clone(), None));
        }
        let mut session = stored.clone();
        session.head.touch(at.now, at.ttl_seconds);
        let delta = Delta { session: Some(session.clone()), ..Delta::default() };
        Ok((session, Some(delta)))
    }

    /// Clauses: GGUI-SUBSCRIBE-ACK.
    pub fn ack(
        &self,
        session: &Session,
        content: &Content,
        is_truncated: bool,
        version: &str,
        now: Time,
    ) -> SubscribeAck {
        SubscribeAck {
            sequence: session.head.ledger,
            at: now,
            session: session.snapshot(content, now),
            stream_seq: session.head.stream,
            server_version: version.to_owned(),
            replay_truncated: is_truncated,
            session_token: self.session_token.clone(),
        }
    }
}

/// A session without a UI. `earlier` is an expired session of the same id. If that belongs to
/// another app, its end is recorded before, with [`expire`].
///
/// Clauses: GGUI-SUBSCRIBE-PROVISION, GGUI-SEQ-NEVER-RESTARTS.
pub(super) fn provision(
    id: &SessionId,
    app: &AppId,
    earlier: Option<&Session>,
    at: At<'_>,
) -> (Session, Delta) {
    let head = match earlier {
        Some(earlier) => rule!(
            earlier.head.reborn(at.now, at.ttl_seconds);
            CountersRestart => Head::new(at.now, at.ttl_seconds)
        ),
        None => Head::new(at.now, at.ttl_seconds),
    };
    let session = Session { id: id.clone(), app_id: app.clone(), head };
    let mut delta = Delta { session: Some(session.clone()), ..Delta::default() };
    if let Some(earlier) = earlier {
        if !earlier.head.is_ended && earlier.app_id == *app {
            delta.events.push(event::expired(earlier, at.project, at.now));
        }
        delta.content.push(ContentChange::Clear);
    }
    delta.content.push(ContentChange::Ui(Content::provisioned().ui));
    delta.events.push(event::started(&session, at.project, at.now));
    (session, delta)
}

/// Records the end of a session that has expired, once. `None` if there is nothing to record.
///
/// Clauses: GGUI-SESSION-TTL, GGUI-ASK-PENDING.
pub fn expire(session: &Session, at: At<'_>) -> Option<Delta> {
    if session.is_active(at.now) || session.head.is_ended {
        return None;
    }
    let mut ended = session.clone();
    let was_asking = std::mem::take(&mut ended.head.is_asking);
    ended.head.is_ended = true;
    let events = vec![event::expired(&ended, at.project, at.now)];
    let ask = was_asking.then_some(AskChange::End);
    Some(Delta { session: Some(ended), ask, events, ..Delta::default() })
}
