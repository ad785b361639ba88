//! `GET /v1/projects/{project_id}/orient`: an orientation.

use accord_api::parameter::wrong;
use accord_contract::{Failure, wire_enum};

use super::{Focus, MAX_PULL, MAX_TOKENS, Number};
use crate::operations::{BriefingParams, OrientParams};

/// The default length of the window, in days.
/// Clauses: AGENTIC-R-100.
pub const DEFAULT_WINDOW_DAYS: u32 = 14;

pub const MAX_WINDOW_DAYS: u32 = 3_660;
/// The default number of packages.
/// Clauses: AGENTIC-A-29.
pub const DEFAULT_RECENT: u32 = 20;
/// The smallest budget of a bundle. The frame with the longest ordinary project name fits into it.
pub const MIN_TOKENS: u32 = 2_000;

pub const MIN_BRIEFING_TOKENS: u32 = 300;
pub const DEFAULT_BRIEFING_TOKENS: u32 = 2_000;
const MIN_PAGE_TOKENS: u32 = 100;

/// How many days to look back.
/// Clauses: AGENTIC-R-105.
pub const WINDOW_DAYS: Number =
    Number::new("window_days", 1, MAX_WINDOW_DAYS).or(DEFAULT_WINDOW_DAYS);

/// The maximum number of packages of a bundle. A briefing has none.
pub const RECENT: Number = Number::new("limit", 1, MAX_PULL);
/// The token budget of an orientation of any format.
pub const TOKENS: Number = Number::new("max_tokens", MIN_BRIEFING_TOKENS, MAX_TOKENS);
/// The token budget of a page of a list.
pub const PAGE_TOKENS: Number = Number::new("max_tokens", MIN_PAGE_TOKENS, MAX_TOKENS);

wire_enum! {
    /// The formats of an orientation.
    pub enum OrientFormat("OrientFormat", closed) {
        /// The bundle of the protocol.
        Bundle = "bundle",
        /// A briefing in Markdown.
        Briefing = "briefing",
        /// A briefing as a JSON document.
        BriefingJson = "briefing-json",
    }
}

/// What an orientation answers with.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Orientation {
    Bundle(OrientQuery),
    Briefing(BriefingQuery),
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BriefingQuery {
    pub form: BriefingForm,
    /// How many days recent work goes back.
    pub window_days: u32,
    pub max_tokens: u32,
    /// What to show first.
    pub focus: Option<Focus>,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum BriefingForm {
    /// Text for models and people.
    #[default]
    Markdown,
    Json,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct OrientQuery {
    pub window_days: u32,
    pub limit: u32,
    pub max_tokens: Option<u32>,
}

impl Orientation {
    /// What the parameters ask for. Without `format`, it is the bundle of the protocol.
    pub fn of(asked: OrientParams) -> Result<Self, Failure> {
        let form = match asked.format {
            None | Some(OrientFormat::Bundle) => return OrientQuery::of(asked).map(Self::Bundle),
            Some(OrientFormat::Briefing) => BriefingForm::Markdown,
            Some(OrientFormat::BriefingJson) => BriefingForm::Json,
        };
        if asked.limit.is_some() {
            let problem = "is for the bundle; a briefing is limited by max_tokens";
            return Err(wrong("limit", problem));
        }
        let OrientParams { window_days, focus, max_tokens, .. } = asked;
        BriefingQuery::in_form(form, window_days, focus, max_tokens).map(Self::Briefing)
    }
}

impl BriefingQuery {
    /// The briefing in Markdown that the parameters ask for.
    pub fn of(asked: BriefingParams) -> Result<Self, Failure> {
        let BriefingParams { window_days, focus, max_tokens } = asked;
        Self::in_form(BriefingForm::Markdown, window_days, focus, max_tokens)
    }

    fn in_form(
        form: BriefingForm,
        window_days: Option<u32>,
        focus: Option<String>,
        max_tokens: Option<u32>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            form,
            window_days: window_days.unwrap_or(DEFAULT_WINDOW_DAYS),
            max_tokens: max_tokens.unwrap_or(DEFAULT_BRIEFING_TOKENS),
            focus: Focus::of(focus)?,
        })
    }
}

impl OrientQuery {
    fn of(asked: OrientParams) -> Result<Self, Failure> {
        if asked.focus.is_some() {
            return Err(wrong("focus", "is for a briefing; add format=briefing"));
        }
        if asked.max_tokens.is_some_and(|most| most < MIN_TOKENS) {
            let range = format!("must be a whole number from {MIN_TOKENS} to {MAX_TOKENS}");
            let smaller = format!("format=briefing takes {MIN_BRIEFING_TOKENS} or more");
            return Err(wrong("max_tokens", &range).suggesting(smaller));
        }
        Ok(Self {
            window_days: asked.window_days.unwrap_or(DEFAULT_WINDOW_DAYS),
            limit: asked.limit.unwrap_or(DEFAULT_RECENT),
            max_tokens: asked.max_tokens,
        })
    }
}

impl Default for OrientQuery {
    fn default() -> Self {
        Self { window_days: DEFAULT_WINDOW_DAYS, limit: DEFAULT_RECENT, max_tokens: None }
    }
}
