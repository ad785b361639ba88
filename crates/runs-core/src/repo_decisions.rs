//! `repo-decisions.jsonl`: decisions that stay in force after their run.
//!
//! Invariant: a decision is overridden at most once, by an existing decision that may do so.

use std::collections::BTreeMap;

use accord_contract::{Code, Failure, Object, Time, Value};

use crate::{Config, Result, State, Turn, build, doc, rule};

/// The authority of `human`, unless the configuration declares such a role.
const HUMAN_AUTHORITY: u64 = 100;

/// The decisions of a repository, in file order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RepoDecisions {
    lines: Vec<Object>,
}

impl RepoDecisions {
    pub fn new(lines: Vec<Object>) -> Self {
        Self { lines }
    }

    pub fn path() -> String {
        format!("{}/repo-decisions.jsonl", crate::HOME)
    }

    pub fn lines(&self) -> &[Object] {
        &self.lines
    }

    /// The decisions that are in force.
    ///
    /// Clauses: AX-DC-CARRY.
    pub fn active(&self) -> impl Iterator<Item = &Object> {
        self.lines.iter().filter(|line| {
            let status = doc::RepoDecision::STATUS.get(line);
            rule!(status == Some("active"); StaleCarried => true)
        })
    }

    /// The ids that occur more than once, each with their runs in file order, for diagnostics.
    pub fn repeated(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut runs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for line in &self.lines {
            if let Some(id) = doc::RepoDecision::ID.get(line) {
                let run = doc::RepoDecision::RUN_ID.get(line).unwrap_or("an unnamed run");
                runs.entry(id).or_default().push(run);
            }
        }
        runs.retain(|_, runs| runs.len() > 1);
        runs
    }

    fn find(&self, id: &str) -> Option<&Object> {
        // A later run may have used the same id again; the last line counts.
        self.lines.iter().rev().find(|line| doc::RepoDecision::ID.get(line) == Some(id))
    }

    /// Checks whether a role's decision may override another. Returns a warning, if any. Fails with
    /// `override_validation_failed` when the other decision does not exist, is not in force, or has
    /// more authority.
    ///
    /// Clauses: AX-DC-OVERRIDE-ACCEPT, AX-DC-AUTHORITY.
    pub(crate) fn check_override(
        &self,
        decision: &Object,
        role: &str,
        config: &Config,
    ) -> Result<Option<String>> {
        let Some(target) = doc::Decision::OVERRIDES.get(decision) else { return Ok(None) };
        let id = doc::Decision::ID.get(decision).unwrap_or_default();
        let refuse = |what: String| {
            let message = format!("{id} overrides {target}, {what}");
            Failure::new(Code::XchainOverrideValidationFailed, message).with("overrides", target)
        };
        let Some(found) = self.find(target) else {
            let refused = refuse("which is not a decision of the repository".into());
            return rule!(Err(refused); OverrideOfUnknown => Ok(None));
        };
        if rule!(doc::RepoDecision::STATUS.get(found) != Some("active"); OverriddenAgain => false) {
            return Err(refuse("which is no longer in force".into()));
        }
        let owner = doc::RepoDecision::ROLE.get(found).unwrap_or_default();
        if owner == role {
            return Ok(None);
        }
        if owner != "human" && config.role(owner).is_none() {
            let gone = "which no longer exists";
            return Ok(Some(format!("{id} overrides {target} of the role {owner}, {gone}")));
        }
        // A role without a declared authority neither outranks others nor is outranked.
        match (authority(config, role), authority(config, owner)) {
            (Some(own), Some(theirs)) if rule!(own < theirs; AuthorityIgnored => false) => {
                Err(refuse(format!("which belongs to {owner}, which has more authority")))
            }
            _ => Ok(None),
        }
    }

    /// Adds the decisions of an accepted turn. Returns whether anything changed.
    ///
    /// Clauses: AX-DC-PROMOTE, AX-DC-DEFAULT, AX-DC-OVERRIDDEN.
    pub fn accept<'a>(
        &mut self,
        decisions: impl IntoIterator<Item = &'a Object>,
        turn: &Turn,
        state: &State,
        now: Time,
    ) -> bool {
        let mut changed = false;
        for decision in decisions {
            let id = doc::Decision::ID.get(decision).unwrap_or_default();
            let overrides = doc::Decision::OVERRIDES.get(decision);
            if let Some(target) = overrides {
                // This must be the line that `find` checked.
                let mut lines = self.lines.iter_mut().rev();
                let last = lines.find(|line| doc::RepoDecision::ID.get(line) == Some(target));
                if let Some(line) = rule!(last; OverriddenInForce => None) {
                    doc::RepoDecision::STATUS.set(line, "overridden");
                    doc::RepoDecision::OVERRIDDEN_BY.set(line, id);
                }
            }
            let durability = doc::Decision::DURABILITY.get(decision);
            let lasts = match durability {
                Some(durability) => rule!(durability == "repo"; NothingPromoted => false),
                None => rule!(false; LastsByDefault => true),
            };
            // A decision that overrides one of the repository outlives the run in its place.
            if !lasts && overrides.is_none() {
                continue;
            }
            changed = true;
            self.lines.push(build([
                doc::RepoDecision::ID.to(id),
                doc::RepoDecision::RUN_ID.to(state.run_id()),
                doc::RepoDecision::TURN_ID.to(turn.id().as_str()),
                doc::RepoDecision::ROLE.to(turn.role()),
                doc::RepoDecision::PHASE.to(state.phase()),
                doc::RepoDecision::CATEGORY.to(doc::Decision::CATEGORY.copy(decision)),
                doc::RepoDecision::STATEMENT.to(doc::Decision::STATEMENT.copy(decision)),
                doc::RepoDecision::RATIONALE.to(doc::Decision::RATIONALE.copy(decision)),
                doc::RepoDecision::DURABILITY.to(durability.unwrap_or("repo")),
                doc::RepoDecision::OVERRIDES.to(overrides),
                doc::RepoDecision::STATUS.to("active"),
                doc::RepoDecision::OVERRIDDEN_BY.to(Value::Null),
                doc::RepoDecision::CREATED_AT.to(now),
            ]));
        }
        changed
    }
}

fn authority(config: &Config, role: &str) -> Option<u64> {
    let declared = config.role(role).map(|role| role.decision_authority);
    declared.unwrap_or_else(|| (role == "human").then_some(HUMAN_AUTHORITY))
}
