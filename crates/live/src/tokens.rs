//! Tokens for pages.

use accord_contract::{Failure, Object};
use accord_live_core::token::{Claims, Minted, Secret, TokenError, TokenKind};
use accord_live_core::tools::{Outcome, RefreshTokenRequest};
use accord_live_core::{AppId, SessionId, refuse};
use accord_store::{ReadUnit, Scope};

use super::{Live, unit::UnitResult};

/// The store setting with the secret, a random text.
const SECRET: &str = "live.secret";

impl Live {
    pub fn secret(&self) -> Option<&Secret> {
        self.inner.secret.get()
    }

    /// Takes the secret of the store, which all hosts of the store share. It is made if there is
    /// none, so that tokens outlive a restart.
    pub async fn open_secret(&self) -> Result<(), Failure> {
        if self.secret().is_some() {
            return Ok(());
        }
        let stored = self.read(stored_secret).await;
        let secret = match stored? {
            Some(secret) => secret,
            None => {
                let made = accord_system::random_hex::<32>();
                let kept = self.write(move |job| {
                    if let Some(other) = stored_secret(job.unit)? {
                        return Ok(other);
                    }
                    job.unit.put_setting(Scope::Store, SECRET, Some(&made))?;
                    Ok(Secret::new(made.as_bytes()))
                });
                kept.await?
            }
        };
        self.inner.secret.get_or_init(|| secret);
        Ok(())
    }

    /// Makes a token with further claims, if the server has a secret.
    pub fn mint_token_with(
        &self,
        kind: TokenKind,
        session: &SessionId,
        app: &AppId,
        extra: Object,
    ) -> Option<Minted> {
        let random = accord_system::random();
        Some(self.secret()?.mint_with(kind, session, app, self.now(), random, extra))
    }

    /// The claims of a token of a kind. Fails when it is not valid, or has expired. Without a
    /// secret no token is valid.
    pub fn verify_token(&self, text: &str, kind: TokenKind) -> Result<Claims, TokenError> {
        let secret = self.secret().ok_or(TokenError::Invalid)?;
        secret.verify(text, kind, self.now())
    }

    /// The claims of a token for the channel that this server made. It may have expired, so this
    /// admits nobody.
    pub fn made_token(&self, text: &str) -> Option<Claims> {
        self.secret()?.made(text)
    }

    /// Makes a new token for the channel from an old one, unless the holder of the old one has
    /// lost its rights. Fails with `project_archived`. A refusal of the protocol is an outcome.
    pub async fn refresh_token(
        &self,
        request: &RefreshTokenRequest,
        is_revoked: bool,
    ) -> Result<Outcome, Failure> {
        let old = request.envelope.as_str();
        if let Some(claims) = self.made_token(old) {
            self.check_open(&claims.app_id).await?;
        }
        Ok(Outcome::of(self.refreshed(old, is_revoked).map(|minted| {
            let mut members = Object::new();
            members.insert("envelope".into(), minted.text.into());
            members.insert("expiresAt".into(), minted.expires_at.to_string().into());
            members
        })))
    }

    fn refreshed(&self, old: &str, is_revoked: bool) -> Result<Minted, Failure> {
        let Some(secret) = self.secret() else {
            return Err(refuse::bootstrap_not_supported("this server issues no tokens"));
        };
        let minted = secret.refresh(old, self.now(), accord_system::random())?;
        if is_revoked {
            return Err(TokenError::Revoked.into());
        }
        Ok(minted)
    }
}

fn stored_secret(unit: &dyn ReadUnit) -> UnitResult<Option<Secret>> {
    let text = unit.setting(Scope::Store, SECRET)?;
    Ok(text.map(|text| Secret::new(text.into_bytes())))
}
