//! Who opens a socket.

use accord_contract::Code;
use accord_live_core::tenancy::Identity;
use accord_live_core::token::{Secret, TokenKind};
use accord_live_core::upgrade::{Accepts, Credentials, KeyApps, identify};

use crate::support::{app, session_id, time};

fn key(text: &str) -> Option<KeyApps> {
    match text {
        "good" => Some(Some([app("a")].into())),
        "all" => Some(None),
        _ => None,
    }
}

#[test]
fn the_first_credential_decides() {
    let secret = Secret::new(*b"k");
    let mint = |kind| secret.mint(kind, &session_id("s"), &app("a"), time(0), [0; 12]).text;
    let session = mint(TokenKind::Session);
    let (ws, bearer) = (mint(TokenKind::Ws), format!("Bearer {session}"));
    let only_a = || Identity::Key(Some([app("a")].into()));
    let of_session = || Identity::Token { session_id: session_id("s"), app_id: app("a") };
    let none = Credentials::default();
    let header = |text| Credentials { authorization: Some(text), ..none };
    for (credentials, has_secret, expected) in [
        // Not verified before subscribe.
        (
            Credentials { ws_token: Some("x"), authorization: Some("no"), ..none },
            true,
            Some(Identity::Pending),
        ),
        (Credentials { ws_token: Some("x"), ..none }, false, None),
        (header("Bearer good"), true, Some(only_a())),
        (header("bearer  all"), true, Some(Identity::Key(None))),
        (Credentials { token: Some("good"), ..none }, true, Some(only_a())),
        // The header counts before the query.
        (
            Credentials { authorization: Some("Bearer bad"), token: Some("good"), ..none },
            true,
            None,
        ),
        (header("Basic good"), true, None),
        (header("Bearer "), true, None),
        (header("good"), true, None),
        (none, true, None),
        (header(&bearer), true, Some(of_session())),
        (Credentials { token: Some(&session), ..none }, true, Some(of_session())),
        (header(&bearer), false, None),
        // A token for the channel is no key.
        (Credentials { token: Some(&ws), ..none }, true, None),
    ] {
        let accepts = |is_open| Accepts {
            secret: has_secret.then_some(&secret),
            key: &key,
            is_open,
            now: time(0),
        };
        let found = identify(credentials, &accepts(false));
        let found = found.map_err(|failure| assert_eq!(failure.code, Code::GguiUnauthenticated));
        assert_eq!(found.ok(), expected);
        // A host without keys accepts every client, and keeps a session token to its session.
        let narrow = expected.filter(|identity| !matches!(identity, Identity::Key(_)));
        let open = identify(credentials, &accepts(true)).unwrap();
        assert_eq!(open, narrow.unwrap_or(Identity::Open));
    }
}
