//! To which app a subscriber belongs.
//!
//! An app is a project under its name on the channel. The first of these that is known decides:
//! the app of the request, the app of the token, the only project of the key, the default project
//! of a host without keys. A subscriber of no app is refused.
//!
//! Invariant: a session never has an app that its subscriber has no access to.

use std::collections::BTreeSet;

use accord_contract::{Failure, rule};

use crate::{AppId, SessionId, refuse};

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Identity {
    /// A client with a token in the URL. It must send the token with `subscribe` too.
    Pending,
    Token {
        session_id: SessionId,
        app_id: AppId,
    },
    /// The holder of a key, with the apps that it covers; `None` for all of them.
    Key(Option<BTreeSet<AppId>>),
    /// A client of a host without keys.
    Open,
}

/// The app of a subscriber. Fails with `APP_MISMATCH` when no app is known, or the identity does
/// not cover it.
///
/// Clauses: GGUI-TENANCY-RESOLUTION.
pub fn resolve(
    asked: Option<&AppId>,
    token: Option<&AppId>,
    identity: &Identity,
    default: Option<&AppId>,
) -> Result<AppId, Failure> {
    let own = match identity {
        Identity::Pending => None,
        Identity::Token { app_id, .. } => Some(app_id),
        Identity::Key(Some(apps)) if apps.len() == 1 => apps.first(),
        Identity::Key(_) => None,
        Identity::Open => default,
    };
    let Some(app) = rule!(asked.or(token).or(own); OwnAppFirst => own.or(asked).or(token)) else {
        let message = "the request names no app, and the key covers none or several; send appId";
        return Err(refuse::app_mismatch(message));
    };
    let is_covered = match identity {
        // A pending identity has the rights of its token, whose app was compared before.
        Identity::Pending | Identity::Open | Identity::Key(None) => true,
        Identity::Token { app_id, .. } => app_id == app,
        Identity::Key(Some(apps)) => apps.contains(app),
    };
    if is_covered { Ok(app.clone()) } else { Err(other_app()) }
}

/// Checks that a session belongs to an app. Fails with `APP_MISMATCH`. It does not name the app of
/// the session.
///
/// Clauses: GGUI-TENANCY-APP-MISMATCH.
pub fn check(session: &AppId, resolved: &AppId) -> Result<(), Failure> {
    if rule!(session == resolved; AnyApp => true) { Ok(()) } else { Err(other_app()) }
}

fn other_app() -> Failure {
    refuse::app_mismatch("the session belongs to another app")
}
