//! The address of a session as a resource.

use std::fmt;

use accord_contract::rule;
use accord_contract::text::{percent_decoded, percent_encoded};

use crate::SessionId;

/// The address of a session, and of one of its epochs.
///
/// Clauses: GGUI-RESOURCE-LOCATOR.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Locator {
    pub session_id: SessionId,
    pub blueprint_key: Option<String>,
    /// The epoch; `None` for the present one.
    pub epoch: Option<u64>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LocatorError;

const PREFIX: &str = "ui://ggui/render/";

/// The address of the document that shows any session: the host tells it which.
pub const SHELL: &str = "ui://ggui/render";

impl Locator {
    pub fn new(session_id: SessionId) -> Self {
        Self { session_id, blueprint_key: None, epoch: None }
    }

    pub fn parse(text: &str) -> Result<Self, LocatorError> {
        let rest = text.strip_prefix(PREFIX).ok_or(LocatorError)?;
        let (path, epoch) = match rest.split_once('#') {
            Some((path, epoch)) => (path, Some(parse_epoch(epoch)?)),
            None => (rest, None),
        };
        let (session, key) = match path.split_once('/') {
            Some((session, key)) => (session, Some(key)),
            None => (path, None),
        };
        let decoded = |text| percent_decoded(text).ok_or(LocatorError);
        let session_id = SessionId::new(decoded(session)?).map_err(|_| LocatorError)?;
        let blueprint_key = key.map(decoded).transpose()?;
        let is_empty = |key: &str| rule!(key.is_empty(); EmptyLocators => false);
        if blueprint_key.as_ref().is_some_and(|key| is_empty(key) || key.contains('/')) {
            return Err(LocatorError);
        }
        Ok(Self { session_id, blueprint_key, epoch })
    }
}

impl fmt::Display for Locator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", percent_encoded(self.session_id.as_str()))?;
        if let Some(key) = &self.blueprint_key {
            write!(f, "/{}", percent_encoded(key))?;
        }
        if let Some(epoch) = self.epoch {
            write!(f, "#{epoch}")?;
        }
        Ok(())
    }
}

/// An epoch: a decimal number without leading zeros.
fn parse_epoch(text: &str) -> Result<u64, LocatorError> {
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_decimal || (text.len() > 1 && text.starts_with('0')) {
        return Err(LocatorError);
    }
    text.parse().map_err(|_| LocatorError)
}
