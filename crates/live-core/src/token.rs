//! Tokens: what a browser holds instead of a key.
//!
//! A token is `base64url(claims) + "." + base64url(HMAC-SHA256(first part))` without padding. It
//! names one session and one app, and can be used until it expires.
//!
//! Invariants:
//! - claims are read only after their signature was verified, in constant time;
//! - a token of one kind is not accepted where another kind is needed.

use accord_canon::{Digest, hmac_sha256};
use accord_contract::{Failure, Object, Time, Wire as _, message, rule, wire_enum};
use data_encoding::BASE64URL_NOPAD;
use subtle::ConstantTimeEq as _;

use crate::{AppId, SessionId, refuse};

wire_enum! {
    /// What a token is for.
    pub enum TokenKind("GguiTokenKind", closed) {
        /// To open the channel of a session, or its fallbacks.
        Ws = "ws",
        /// To connect again, as a bearer token.
        Session = "session",
        /// The session of a console.
        ConsoleSession = "console-session",
    }
}

message! {
    // Clauses: GGUI-TOKEN-CLAIMS.
    /// The claims of a token.
    pub struct Claims("GguiTokenClaims", open) {
        /// The session that it is for.
        required session_id: SessionId = "sessionId", "live-session-id";
        /// The app of the session.
        required app_id: AppId = "appId", "app-id";
        /// What it is for.
        required kind: TokenKind = "kind", "token-kind";
        /// When it was made, in seconds.
        required iat: i64 = "iat", "time:unix-seconds";
        /// When it expires, in seconds.
        required exp: i64 = "exp", "time:unix-seconds";
        /// Its id.
        required jti: String = "jti", "token-id";
    }
}

#[derive(Clone)]
pub struct Secret(Vec<u8>);

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Minted {
    pub text: String,
    pub expires_at: Time,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TokenError {
    /// It is not a token of this server, or of another kind.
    Invalid,
    Expired,
    /// Its holder has lost its rights.
    Revoked,
}

impl TokenKind {
    /// How long a token of this kind can be used, in seconds.
    ///
    /// Clauses: GGUI-TOKEN-TTL.
    pub const fn ttl_seconds(self) -> i64 {
        match self {
            Self::Ws => 180,
            Self::Session => 4 * 3600,
            Self::ConsoleSession => 8 * 3600,
        }
    }
}

impl Secret {
    /// A secret of these bytes, which should be 32 random ones.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// Makes a token. `jti` is 12 random bytes.
    pub fn mint(
        &self,
        kind: TokenKind,
        session: &SessionId,
        app: &AppId,
        now: Time,
        jti: [u8; 12],
    ) -> Minted {
        self.mint_with(kind, session, app, now, jti, Object::new())
    }

    /// Makes a token with further claims. What is made from it has them, too.
    pub fn mint_with(
        &self,
        kind: TokenKind,
        session: &SessionId,
        app: &AppId,
        now: Time,
        jti: [u8; 12],
        extra: Object,
    ) -> Minted {
        let iat = now.unix_seconds();
        let claims = Claims {
            session_id: session.clone(),
            app_id: app.clone(),
            kind,
            iat,
            exp: iat + rule!(kind.ttl_seconds(); TokensLiveLong => 3600),
            jti: BASE64URL_NOPAD.encode(&jti),
            extra,
        };
        let first = BASE64URL_NOPAD.encode(claims.encode().to_string().as_bytes());
        let signature = BASE64URL_NOPAD.encode(self.sign(first.as_bytes()).as_bytes());
        let expires_at = Time::from_unix(claims.exp, 0).unwrap_or(Time::MAX);
        Minted { text: format!("{first}.{signature}"), expires_at }
    }

    /// Clauses: GGUI-TOKEN-VERIFY.
    pub fn verify(&self, text: &str, kind: TokenKind, now: Time) -> Result<Claims, TokenError> {
        let claims = self.signed_claims(text, kind).ok_or(TokenError::Invalid)?;
        if rule!(claims.exp <= now.unix_seconds(); ExpiredTokensTaken => false) {
            return Err(TokenError::Expired);
        }
        Ok(claims)
    }

    /// The claims of the token that opens the fallbacks of a session over HTTP. Fails with
    /// `UNAUTHENTICATED` without a token, `BOOTSTRAP_INVALID` for one of another session,
    /// `BOOTSTRAP_EXPIRED`.
    ///
    /// Clauses: GGUI-HTTP-AUTH.
    pub fn authorize(
        &self,
        text: Option<&str>,
        session: &SessionId,
        now: Time,
    ) -> Result<Claims, Failure> {
        let text = text.ok_or_else(|| refuse::unauthenticated("the query has no wsToken"))?;
        let claims = self.verify(text, TokenKind::Ws, now)?;
        // The same answer as for any other token: it says nothing about the other session.
        if claims.session_id != *session {
            return Err(TokenError::Invalid.into());
        }
        Ok(claims)
    }

    /// Makes a new `ws` token from an old one, which may have expired. Fails with
    /// `BOOTSTRAP_INVALID`, or `REFRESH_WINDOW_CLOSED` when the token was made more than twice its
    /// lifetime ago.
    ///
    /// Clauses: GGUI-TOKEN-REFRESH.
    pub fn refresh(&self, text: &str, now: Time, jti: [u8; 12]) -> Result<Minted, Failure> {
        let claims = self.signed_claims(text, TokenKind::Ws).ok_or(TokenError::Invalid)?;
        let last = claims.iat + 2 * TokenKind::Ws.ttl_seconds();
        if rule!(now.unix_seconds() > last; RefreshedForEver => false) {
            return Err(refuse::refresh_window_closed("the token is too old to be refreshed"));
        }
        let Claims { session_id, app_id, extra, .. } = claims;
        Ok(self.mint_with(TokenKind::Ws, &session_id, &app_id, now, jti, extra))
    }

    /// The claims of a `ws` token that this server made. It may have expired, so this admits
    /// nobody.
    pub fn made(&self, text: &str) -> Option<Claims> {
        self.signed_claims(text, TokenKind::Ws)
    }

    fn signed_claims(&self, text: &str, kind: TokenKind) -> Option<Claims> {
        let (first, signature) = text.split_once('.')?;
        let signature = BASE64URL_NOPAD.decode(signature.as_bytes()).ok()?;
        let is_signed = signature.as_slice().ct_eq(self.sign(first.as_bytes()).as_bytes());
        if !rule!(bool::from(is_signed); SignaturesIgnored => true) {
            return None;
        }
        let bytes = BASE64URL_NOPAD.decode(first.as_bytes()).ok()?;
        let claims = Claims::from_document(serde_json::from_slice(&bytes).ok()?).ok()?;
        rule!(claims.kind == kind; AnyKindOfToken => true).then_some(claims)
    }

    fn sign(&self, message: &[u8]) -> Digest {
        hmac_sha256(&self.0, message)
    }
}

impl std::fmt::Debug for Secret {
    /// Shows nothing of the secret.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Secret")
    }
}

impl From<TokenError> for Failure {
    fn from(error: TokenError) -> Self {
        match error {
            TokenError::Invalid => refuse::bootstrap_invalid("the token is not valid"),
            TokenError::Expired => refuse::bootstrap_expired("the token has expired"),
            TokenError::Revoked => {
                refuse::bootstrap_invalid("the key or the login of the token is no longer valid")
            }
        }
    }
}
