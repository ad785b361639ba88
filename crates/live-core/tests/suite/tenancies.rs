//! To which app a subscriber belongs.

use accord_contract::Code;
use accord_live_core::AppId;
use accord_live_core::tenancy::{Identity, check, resolve};

use crate::support::{app, session_id};

fn key(apps: &[&str]) -> Identity {
    Identity::Key(Some(apps.iter().map(|name| app(name)).collect()))
}

fn token(name: &str) -> Identity {
    Identity::Token { session_id: session_id("s"), app_id: app(name) }
}

#[test]
fn the_first_known_app_decides() {
    let default = app("conformance");
    for (asked, claimed, identity, expected) in [
        (Some("a"), None, Identity::Open, Ok("a")),
        (Some("a"), None, Identity::Key(None), Ok("a")),
        (Some("a"), None, key(&["a", "b"]), Ok("a")),
        (Some("c"), None, key(&["a", "b"]), Err(())),
        (None, Some("t"), Identity::Pending, Ok("t")),
        (None, Some("t"), Identity::Open, Ok("t")),
        (None, Some("t"), key(&["a"]), Err(())),
        (None, None, token("t"), Ok("t")),
        (Some("t"), None, token("t"), Ok("t")),
        (Some("a"), None, token("t"), Err(())),
        (None, None, key(&["a"]), Ok("a")),
        (None, None, key(&["a", "b"]), Err(())),
        (None, None, key(&[]), Err(())),
        // A key for everything names no app. The default is for hosts without keys.
        (None, None, Identity::Key(None), Err(())),
        (None, None, Identity::Open, Ok("conformance")),
    ] {
        let (asked, claimed) = (asked.map(app), claimed.map(app));
        let found = resolve(asked.as_ref(), claimed.as_ref(), &identity, Some(&default));
        let found = found.map_err(|failure| assert_eq!(failure.code, Code::GguiAppMismatch));
        assert_eq!(found, expected.map(app), "{asked:?} {claimed:?} {identity:?}");
    }
}

#[test]
fn without_a_default_there_is_no_app() {
    let none: Option<&AppId> = None;
    assert!(resolve(None, None, &Identity::Open, none).is_err());
}

#[test]
fn a_mismatch_does_not_name_the_app_of_the_session() {
    assert!(check(&app("a"), &app("a")).is_ok());
    let failure = check(&app("hidden"), &app("b")).unwrap_err();
    assert_eq!(failure.code, Code::GguiAppMismatch);
    assert!(!format!("{failure:?}").contains("hidden"));
}
