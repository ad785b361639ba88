//! `GET /v1/projects/{project_id}/orient`: how far back, how many, how much.

use accord_contract::codes::Failure;
use accord_contract::time::Time;

use super::{MAX_PULL, Params};

/// How many days an orientation looks back that does not say.
///
/// Clauses: AGENTIC-R-100.
pub const DEFAULT_WINDOW_DAYS: u32 = 14;

/// The most days that an orientation looks back.
pub const MAX_WINDOW_DAYS: u32 = 3_660;

/// How many packages an orientation gives that does not say.
///
/// Clauses: AGENTIC-A-29.
pub const DEFAULT_RECENT: u32 = 20;

/// The smallest budget; whatever a project is called, its frame fits.
pub const MIN_TOKENS: u32 = 2_000;

/// The largest budget.
pub const MAX_TOKENS: u32 = 1_000_000;

/// Asks for an orientation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct OrientQuery {
    /// How many days to look back.
    pub window_days: u32,
    /// At most so many packages.
    pub limit: u32,
    /// At most so many tokens, where that matters.
    pub max_tokens: Option<u32>,
}

impl OrientQuery {
    /// Reads what an orientation asks for.
    pub fn parse(params: &Params<'_>) -> Result<Self, Failure> {
        let max_tokens = match params.text("max_tokens") {
            None => None,
            Some(_) => Some(params.number("max_tokens", MIN_TOKENS..=MAX_TOKENS, MIN_TOKENS)?),
        };
        Ok(Self {
            window_days: window_days(params)?,
            limit: params.number("limit", 1..=MAX_PULL, DEFAULT_RECENT)?,
            max_tokens,
        })
    }

    /// The first instant of the window.
    pub fn since(&self, now: Time) -> Time {
        now.days_before(self.window_days)
    }
}

impl Default for OrientQuery {
    fn default() -> Self {
        Self {
            window_days: DEFAULT_WINDOW_DAYS,
            limit: DEFAULT_RECENT,
            max_tokens: None,
        }
    }
}

/// Clauses: AGENTIC-R-105.
pub(super) fn window_days(params: &Params<'_>) -> Result<u32, Failure> {
    params.number("window_days", 1..=MAX_WINDOW_DAYS, DEFAULT_WINDOW_DAYS)
}
