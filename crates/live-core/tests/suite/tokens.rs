//! Tokens.

use accord_contract::Code;
use accord_live_core::token::{Secret, TokenError, TokenKind};
use data_encoding::BASE64URL_NOPAD;
use serde_json::{Value, json};

use crate::support::{START, app, session_id, time};

fn secret() -> Secret {
    Secret::new(*b"0123456789abcdef0123456789abcdef")
}

fn mint(kind: TokenKind) -> String {
    secret().mint(kind, &session_id("s"), &app("a"), time(0), [7; 12]).text
}

#[test]
fn a_token_has_the_form_of_the_protocol() {
    let minted = secret().mint(TokenKind::Ws, &session_id("s"), &app("a"), time(0), [0xfb; 12]);
    let (first, signature) = minted.text.split_once('.').unwrap();
    let claims: Value =
        serde_json::from_slice(&BASE64URL_NOPAD.decode(first.as_bytes()).unwrap()).unwrap();
    let iat = START / 1000;
    assert_eq!(
        claims,
        json!({
            "sessionId": "s", "appId": "a", "kind": "ws", "iat": iat, "exp": iat + 180,
            "jti": "-_v7-_v7-_v7-_v7",
        }),
    );
    assert_eq!(BASE64URL_NOPAD.decode(signature.as_bytes()).unwrap().len(), 32);
    assert_eq!(minted.expires_at, time(180));
}

#[test]
fn a_token_lives_as_long_as_its_kind() {
    for (kind, ttl) in [
        (TokenKind::Ws, 180),
        (TokenKind::Session, 4 * 3600),
        (TokenKind::ConsoleSession, 8 * 3600),
    ] {
        let token = mint(kind);
        // Reusable, also within the same second.
        for after in [0, 0, ttl - 1] {
            let claims = secret().verify(&token, kind, time(after)).unwrap();
            assert_eq!((claims.session_id.as_str(), claims.app_id.as_str()), ("s", "a"));
        }
        assert_eq!(secret().verify(&token, kind, time(ttl)), Err(TokenError::Expired));
    }
}

#[test]
fn another_kind_secret_or_byte_is_invalid() {
    let token = mint(TokenKind::Ws);
    let invalid = Err(TokenError::Invalid);
    assert_eq!(secret().verify(&token, TokenKind::Session, time(0)), invalid);
    assert_eq!(Secret::new(*b"other").verify(&token, TokenKind::Ws, time(0)), invalid);
    for place in 0..token.len() {
        let mut changed = token.clone().into_bytes();
        changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(changed).unwrap();
        assert_eq!(secret().verify(&changed, TokenKind::Ws, time(0)), invalid, "byte {place}");
    }
    for text in ["", ".", "a.b", "x", &token[..token.len() - 1], &format!("{token}=")] {
        assert_eq!(secret().verify(text, TokenKind::Ws, time(0)), invalid, "{text}");
    }
    // An invalid token that has expired is invalid: nothing of it was verified.
    assert_eq!(secret().verify("a.b", TokenKind::Ws, time(9999)), invalid);
}

#[test]
fn a_ws_token_is_refreshed_within_twice_its_life() {
    let token = mint(TokenKind::Ws);
    for after in [0, 179, 180, 360] {
        let fresh = secret().refresh(&token, time(after), [1; 12]).unwrap();
        let claims = secret().verify(&fresh.text, TokenKind::Ws, time(after)).unwrap();
        assert_eq!(claims.session_id.as_str(), "s");
        assert_eq!(fresh.expires_at, time(after + 180));
    }
    let code = |token: &str, after| secret().refresh(token, time(after), [1; 12]).unwrap_err().code;
    assert_eq!(code(&token, 361), Code::GguiRefreshWindowClosed);
    assert_eq!(code("a.b", 0), Code::GguiBootstrapInvalid);
    assert_eq!(code(&mint(TokenKind::Session), 0), Code::GguiBootstrapInvalid);
}

#[test]
fn a_token_opens_the_fallbacks_of_its_session() {
    let token = mint(TokenKind::Ws);
    let open = |text: Option<&str>, session: &str, after| {
        let claims = secret().authorize(text, &session_id(session), time(after));
        claims.map(|_| ()).map_err(|failure| failure.code.http_status())
    };
    assert_eq!(open(Some(&token), "s", 0), Ok(()));
    assert_eq!(open(None, "s", 0), Err(401));
    assert_eq!(open(Some("a.b"), "s", 0), Err(401));
    assert_eq!(open(Some(&token), "other", 0), Err(401));
    assert_eq!(open(Some(&token), "s", 180), Err(410));
}

#[test]
fn a_secret_is_not_shown() {
    assert_eq!(format!("{:?}", secret()), "Secret");
}
