//! Who opens a socket, with which token, and in which app.

use accord_contract::{Value, Wire as _};
use accord_live_core::frame::Subscribe;
use accord_live_core::session::{SubscribeFacts, SubscribeRefusal, subscribe};
use accord_live_core::tenancy::{self, Identity};
use accord_live_core::token::{Secret, TokenKind};
use accord_live_core::upgrade::{Accepts, Credentials, identify};
use accord_live_core::version::PROTOCOL_VERSION;
use data_encoding::BASE64URL_NOPAD;
use serde_json::json;

use super::frames::version_policy;
use super::parts::{APP, app, now, session_id};
use crate::{BadCall, Call, Outcome};

/// The key that a server of a case knows.
const KEY: &str = "right";

pub(super) fn token_verify(call: &Call) -> Outcome {
    let (kind, secret) = (kind(call)?, Secret::new(call.text("secret")?));
    let claims = secret.verify(call.text("token")?, kind, now(call)?)?;
    Ok(json!({"accepted": true, "claims": claims.encode()}))
}

pub(super) fn token_mint(call: &Call) -> Outcome {
    let (secret, now, kind) = (Secret::new("conformance"), now(call)?, kind(call)?);
    let token = secret.mint(kind, &session_id()?, &app(APP)?, now, [7; 12]);
    let first = token.text.split('.').next().unwrap_or_default();
    let claims = BASE64URL_NOPAD.decode(first.as_bytes()).ok();
    let claims = claims.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    Ok(json!({
        "claims": claims,
        "lifetime": token.expires_at.unix_seconds() - now.unix_seconds(),
        "signed": secret.verify(&token.text, kind, now).is_ok(),
    }))
}

pub(super) fn token_refresh(call: &Call) -> Outcome {
    let secret = Secret::new(call.text("secret")?);
    secret.refresh(call.text("token")?, now(call)?, [7; 12])?;
    Ok(json!({"accepted": true}))
}

fn kind(call: &Call) -> Result<TokenKind, BadCall> {
    TokenKind::parse(call.text("kind")?).ok_or_else(|| BadCall::kind("kind", "a kind of tokens"))
}

pub(super) fn identify_socket(call: &Call) -> Outcome {
    let credentials = Credentials {
        ws_token: call.optional_text("wsToken")?,
        authorization: call.optional_text("authorization")?,
        token: call.optional_text("token")?,
    };
    let secret = Secret::new(call.optional_text("secret")?.unwrap_or("conformance"));
    let shop = app(APP)?;
    let apps = |key: &str| (key == KEY).then(|| Some([shop.clone()].into()));
    let accepts = Accepts {
        secret: Some(&secret),
        key: &apps,
        is_open: call.flag("open", false)?,
        now: now(call)?,
    };
    Ok(match identify(credentials, &accepts) {
        Ok(Identity::Pending) => json!({"identity": "pending"}),
        Ok(Identity::Token { app_id: app, .. }) => {
            json!({"identity": "token", "app": app.as_str()})
        }
        Ok(Identity::Key(_)) => json!({"identity": "key"}),
        Ok(Identity::Open) => json!({"identity": "open"}),
        Err(failure) => json!({"code": failure.code.as_str()}),
    })
}

/// The app of a subscriber, and whether a session belongs to it.
pub(super) fn app_of(call: &Call) -> Outcome {
    let named = |name: &str| call.optional_text(name)?.map(app).transpose();
    let (asked, token, default) = (named("asked")?, named("token")?, named("default")?);
    let identity = identity(call)?;
    let resolved = tenancy::resolve(asked.as_ref(), token.as_ref(), &identity, default.as_ref());
    let session = named("session")?;
    let checked = resolved.and_then(|app| {
        session.as_ref().map_or(Ok(()), |session| tenancy::check(session, &app))?;
        Ok(app)
    });
    Ok(match checked {
        Ok(app) => json!({"app": app.as_str()}),
        Err(failure) => json!({"code": failure.code.as_str()}),
    })
}

fn identity(call: &Call) -> Result<Identity, BadCall> {
    Ok(match call.text("identity")? {
        "pending" => Identity::Pending,
        "open" => Identity::Open,
        "all" => Identity::Key(None),
        "key" => Identity::Key(Some([app(APP)?].into())),
        "keys" => Identity::Key(Some([app(APP)?, app("atlas")?].into())),
        "token" => Identity::Token { session_id: session_id()?, app_id: app(APP)? },
        _ => return Err(BadCall::kind("identity", "pending, token, key, keys, all or open")),
    })
}

pub(super) fn subscription(call: &Call) -> Outcome {
    let request =
        Subscribe::from_document(call.value("request")?.clone()).map_err(BadCall::from_error)?;
    let identity = identity(call)?;
    let secret = call.optional_text("secret")?.map(Secret::new);
    let default = call.optional_text("default")?.map(app).transpose()?;
    let facts = SubscribeFacts {
        identity: &identity,
        version: call.optional_text("serverVersion")?.unwrap_or(PROTOCOL_VERSION),
        policy: version_policy(call)?,
        secret: secret.as_ref(),
        default_app: default.as_ref(),
        now: now(call)?,
        random: [7; 12],
    };
    Ok(match subscribe(&request, facts) {
        Ok(subscribed) => json!({
            "accepted": true,
            "app": subscribed.binding.app_id.as_str(),
            "sessionToken": subscribed.session_token.is_some(),
        }),
        Err(SubscribeRefusal { failure, closes, .. }) => {
            json!({"accepted": false, "code": failure.code.as_str(), "closes": closes})
        }
    })
}
