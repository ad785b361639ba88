//! What is recorded and not yet taken over into the memory: rows that a host takes out again.
//!
//! Invariants:
//! - a row is written in the transaction of what it is about, and taken out in that of the package
//!   that follows from it, so that none is lost and none is applied twice;
//! - a row is of the store and not of its project: it is found without a list of projects.

use accord_base::ProjectId;
use accord_base::decision::DecisionId;

use crate::{ReadUnit, Result, Scope, WriteUnit};

/// The settings of the store that are such rows. A decision has an id without a colon.
const WAITING: &str = "flow:";

/// What the memory takes over from the record of a decision.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WaitingFlow {
    /// The project of the memory.
    pub project: ProjectId,
    /// The record.
    pub decision: DecisionId,
    /// What is taken over besides the record, a JSON text.
    pub text: String,
}

/// Adds a row about a decision that is recorded in the same transaction.
pub fn queue_flow(
    unit: &mut dyn WriteUnit,
    project: &ProjectId,
    decision: &DecisionId,
    text: &str,
) -> Result<()> {
    unit.put_setting(Scope::Store, &name(project, decision), Some(text))
}

/// The rows that wait.
pub fn waiting_flows(unit: &dyn ReadUnit) -> Result<Vec<WaitingFlow>> {
    let waiting = unit.settings(Scope::Store)?.into_iter().filter_map(|(name, text)| {
        let (decision, project) = name.strip_prefix(WAITING)?.split_once(':')?;
        let (project, decision) = (project.parse().ok()?, decision.parse().ok()?);
        Some(WaitingFlow { project, decision, text })
    });
    Ok(waiting.collect())
}

/// Takes a row out. Returns whether it waited.
pub fn take_flow(
    unit: &mut dyn WriteUnit,
    project: &ProjectId,
    decision: &DecisionId,
) -> Result<bool> {
    let name = name(project, decision);
    let waited = unit.setting(Scope::Store, &name)?.is_some();
    if waited {
        unit.put_setting(Scope::Store, &name, None)?;
    }
    Ok(waited)
}

fn name(project: &ProjectId, decision: &DecisionId) -> String {
    format!("{WAITING}{}:{}", decision.as_str(), project.as_str())
}
