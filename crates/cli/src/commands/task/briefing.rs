//! The briefing of a claimed task, for `claim` and `work`.

use accord_memory_core::operations::{Orient, OrientParams};
use accord_memory_core::query::{MAX_TOKENS, MIN_BRIEFING_TOKENS, OrientFormat};
use accord_tasks_core::TaskId;
use accord_tasks_core::briefing::{Audience, DEFAULT_TOKENS};
use accord_tasks_core::operations::{BriefingAnswer, BriefingQuery, TaskBriefing};

use super::place::{Place, document};
use crate::Result;
use crate::host::in_project;

/// How long the briefing of an agent is.
#[derive(Debug, clap::Args)]
pub(super) struct BriefingArgs {
    /// The most tokens of the briefing
    #[arg(long, value_name = "N", default_value_t = DEFAULT_TOKENS as u64,
          value_parser = clap::value_parser!(u64).range(500..=1_000_000))]
    briefing_tokens: u64,

    /// The most tokens of the memory's part of the briefing; 0 for none
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = memory_tokens)]
    memory_tokens: u32,
}

impl BriefingArgs {
    pub(super) fn text(
        &self,
        place: &Place,
        briefing: &BriefingAnswer,
        audience: Audience<'_>,
    ) -> String {
        let most = usize::try_from(self.briefing_tokens).unwrap_or(DEFAULT_TOKENS);
        briefing.text(audience, self.memory(place).as_deref(), most)
    }

    /// The memory's briefing. The work does not depend on it.
    fn memory(&self, place: &Place) -> Option<String> {
        if self.memory_tokens == 0 {
            return None;
        }
        let asked = OrientParams {
            format: Some(OrientFormat::Briefing),
            max_tokens: Some(self.memory_tokens),
            ..OrientParams::default()
        };
        let text = place.ask_memory::<Orient>(in_project(&place.project).ok()?, asked)?;
        Some(text).filter(|text| !text.trim().is_empty())
    }
}

/// What an agent needs to know about a task.
pub(super) fn briefing_of(place: &Place, id: TaskId) -> Result<BriefingAnswer> {
    let path = place.task(&id.to_string())?;
    let answered = place.host.ask::<TaskBriefing>(path, BriefingQuery::default())?;
    Ok(document(answered)?.answer.0.result)
}

/// What the memory's briefing accepts, or 0.
fn memory_tokens(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(tokens) if tokens == 0 || (MIN_BRIEFING_TOKENS..=MAX_TOKENS).contains(&tokens) => {
            Ok(tokens)
        }
        _ => Err(format!("must be 0, or from {MIN_BRIEFING_TOKENS} to {MAX_TOKENS}")),
    }
}
