//! `GET /v1/projects/{project_id}/orient`: an orientation.

use accord_contract::codes::Failure;
use accord_contract::time::Time;

use super::{MAX_PULL, Number, Params};

/// The default length of the window, in days.
///
/// Clauses: AGENTIC-R-100.
pub const DEFAULT_WINDOW_DAYS: u32 = 14;

/// The largest length of the window, in days.
pub const MAX_WINDOW_DAYS: u32 = 3_660;

/// The default number of packages.
///
/// Clauses: AGENTIC-A-29.
pub const DEFAULT_RECENT: u32 = 20;

/// The smallest budget. The frame with the longest project name fits into it.
pub const MIN_TOKENS: u32 = 2_000;

/// The largest budget.
pub const MAX_TOKENS: u32 = 1_000_000;

/// How many days to look back.
///
/// Clauses: AGENTIC-R-105.
pub const WINDOW_DAYS: Number =
    Number::new("window_days", 1, MAX_WINDOW_DAYS).or(DEFAULT_WINDOW_DAYS);

/// The maximum number of packages.
pub const RECENT: Number = Number::new("limit", 1, MAX_PULL).or(DEFAULT_RECENT);

/// The token budget.
pub const TOKENS: Number = Number::new("max_tokens", MIN_TOKENS, MAX_TOKENS);

/// The query for an orientation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct OrientQuery {
    /// How many days to look back.
    pub window_days: u32,
    /// The maximum number of packages.
    pub limit: u32,
    /// The token budget, if any.
    pub max_tokens: Option<u32>,
}

impl OrientQuery {
    /// Reads the parameters.
    pub fn parse(params: &Params<'_>) -> Result<Self, Failure> {
        Ok(Self {
            window_days: WINDOW_DAYS.read_or_default(params)?,
            limit: RECENT.read_or_default(params)?,
            max_tokens: TOKENS.read(params)?,
        })
    }

    /// The first instant of the window.
    pub fn since(&self, now: Time) -> Time {
        now.days_before(self.window_days)
    }
}

impl Default for OrientQuery {
    fn default() -> Self {
        Self { window_days: DEFAULT_WINDOW_DAYS, limit: DEFAULT_RECENT, max_tokens: None }
    }
}
