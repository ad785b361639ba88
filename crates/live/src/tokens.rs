//! Tokens for pages.

use accord_contract::codes::Failure;
use accord_contract::wire::Object;
use accord_live_core::token::{Claims, Minted, Secret, TokenError, TokenKind};
use accord_live_core::tools::{Outcome, RefreshTokenRequest};
use accord_live_core::{AppId, SessionId, refuse};
use accord_store::{ReadUnit, Scope};

use super::Live;
use super::unit::{UnitError, UnitResult};

/// The store setting with the secret, a random text.
const SECRET: &str = "live.secret";

impl Live {
    /// The key of tokens, if there is one.
    pub fn secret(&self) -> Option<&Secret> {
        self.inner.secret.get()
    }

    /// Takes the secret of the store, which all hosts of the store share. It is made if there is
    /// none, so that tokens outlive a restart.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn open_secret(&self) -> Result<(), Failure> {
        if self.secret().is_some() {
            return Ok(());
        }
        let stored = self.read(stored_secret).await;
        let secret = match stored.map_err(UnitError::into_failure)? {
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
                kept.await.map_err(UnitError::into_failure)?
            }
        };
        self.inner.secret.get_or_init(|| secret);
        Ok(())
    }

    /// Makes a token, if the server has a secret.
    pub fn mint_token(&self, kind: TokenKind, session: &SessionId, app: &AppId) -> Option<Minted> {
        let secret = self.secret()?;
        Some(secret.mint(kind, session, app, self.now(), accord_system::random()))
    }

    /// The claims of a token of a kind.
    ///
    /// # Errors
    /// When it is not valid, or has expired. Without a secret no token is valid.
    pub fn verify_token(&self, text: &str, kind: TokenKind) -> Result<Claims, TokenError> {
        let secret = self.secret().ok_or(TokenError::Invalid)?;
        secret.verify(text, kind, self.now())
    }

    /// Makes a new token for the channel from an old one.
    pub fn refresh_token(&self, request: &RefreshTokenRequest) -> Outcome {
        let Some(secret) = self.secret() else {
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

fn stored_secret(unit: &dyn ReadUnit) -> UnitResult<Option<Secret>> {
    let text = unit.setting(Scope::Store, SECRET)?;
    Ok(text.map(|text| Secret::new(text.into_bytes())))
}
