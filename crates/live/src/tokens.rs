//! Tokens for pages.

use accord_contract::wire::Object;
use accord_live_core::token::{Claims, Minted, TokenError, TokenKind};
use accord_live_core::tools::{Outcome, RefreshTokenRequest};
use accord_live_core::{AppId, SessionId, refuse};

use super::Live;

impl Live {
    /// Makes a token, if the server has a secret.
    pub fn mint_token(&self, kind: TokenKind, session: &SessionId, app: &AppId) -> Option<Minted> {
        let secret = self.options().secret.as_ref()?;
        Some(secret.mint(kind, session, app, self.now(), accord_system::random()))
    }

    /// The claims of a token of a kind.
    ///
    /// # Errors
    /// When it is not valid, or has expired. Without a secret no token is valid.
    pub fn verify_token(&self, text: &str, kind: TokenKind) -> Result<Claims, TokenError> {
        let secret = self.options().secret.as_ref().ok_or(TokenError::Invalid)?;
        secret.verify(text, kind, self.now())
    }

    /// Makes a new token for the channel from an old one.
    pub fn refresh_token(&self, request: &RefreshTokenRequest) -> Outcome {
        let Some(secret) = &self.options().secret else {
            let failure = refuse::bootstrap_not_supported("this server issues no tokens");
            return Outcome::Refused(Box::new(failure));
        };
        let minted = secret.refresh(&request.envelope, self.now(), accord_system::random());
        Outcome::of(minted.map(|minted| {
            let mut members = Object::new();
            members.insert("wsToken".into(), minted.text.into());
            members.insert("expiresAt".into(), minted.expires_at.unix_millis().into());
            members
        }))
    }
}
