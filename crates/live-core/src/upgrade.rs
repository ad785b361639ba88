//! Who opens a socket: the credentials of the upgrade, in their order.
//!
//! A token in the URL admits a socket without an identity: the client sends the token again with
//! `subscribe`, where it is verified. Any other credential is verified here, before the upgrade.

use std::collections::BTreeSet;

use accord_contract::{Failure, Time, rule};

use crate::token::{Secret, TokenKind};
use crate::{AppId, refuse, tenancy::Identity};

#[derive(Clone, Copy, Default)]
pub struct Credentials<'a> {
    /// `wsToken` of the query.
    pub ws_token: Option<&'a str>,
    /// The header `Authorization`.
    pub authorization: Option<&'a str>,
    /// `token` of the query, which stands for a bearer key.
    pub token: Option<&'a str>,
}

/// The apps that a key covers; `None` for all of them.
pub type KeyApps = Option<BTreeSet<AppId>>;

pub struct Accepts<'a> {
    pub secret: Option<&'a Secret>,
    /// The apps of a bearer key, if it is valid.
    pub key: &'a dyn Fn(&str) -> Option<KeyApps>,
    /// Whether the host has no keys, so that it accepts every client.
    pub is_open: bool,
    pub now: Time,
}

impl<'a> Credentials<'a> {
    /// The bearer credential: that of the header, else that of the query.
    pub fn bearer(&self) -> Option<&'a str> {
        self.authorization.map_or(self.token, bearer)
    }
}

/// The identity of a socket. Fails with `UNAUTHENTICATED`: the upgrade is answered with 401.
///
/// Clauses: GGUI-TRANSPORT-AUTH.
pub fn identify(credentials: Credentials<'_>, accepts: &Accepts<'_>) -> Result<Identity, Failure> {
    if credentials.ws_token.is_some() && accepts.secret.is_some() {
        return Ok(Identity::Pending);
    }
    let bearer = credentials.bearer();
    let session = bearer
        .zip(accepts.secret)
        .and_then(|(text, secret)| secret.verify(text, TokenKind::Session, accepts.now).ok());
    if let Some(claims) = session {
        return Ok(Identity::Token { session_id: claims.session_id, app_id: claims.app_id });
    }
    if accepts.is_open {
        return Ok(Identity::Open);
    }
    let apps = bearer.and_then(|bearer| (accepts.key)(bearer));
    let apps = rule!(apps; KeysUnchecked => Some(None));
    apps.map(Identity::Key).ok_or_else(|| match bearer {
        Some(_) => refuse::unauthenticated("the key is not valid"),
        None => refuse::unauthenticated("a bearer key is missing"),
    })
}

/// The credential of a header of the scheme `Bearer`.
fn bearer(header: &str) -> Option<&str> {
    let (scheme, credential) = header.split_once(' ')?;
    let credential = credential.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !credential.is_empty()).then_some(credential)
}
