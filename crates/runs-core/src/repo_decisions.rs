//! `repo-decisions.jsonl`: decisions that outlive their run.
//!
//! Invariant: a decision is overridden at most once, by one that exists and may do so.

use std::collections::BTreeMap;

use accord_contract::codes::{Code, Failure};
use accord_contract::time::Time;
use accord_contract::wire::{Object, Value};

use crate::config::Config;
use crate::members::{build, text};
use crate::rule;
use crate::state::{State, Turn};

/// What people weigh unless the configuration has a role of that name.
const HUMAN_AUTHORITY: u64 = 100;

/// The decisions of a repository, in the order of their file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RepoDecisions {
    lines: Vec<Object>,
}

impl RepoDecisions {
    /// The lines of the file.
    pub fn new(lines: Vec<Object>) -> Self {
        Self { lines }
    }

    /// Where they lie in a repository.
    pub fn path() -> String {
        format!("{}/repo-decisions.jsonl", crate::HOME)
    }

    /// The lines to write.
    pub fn lines(&self) -> &[Object] {
        &self.lines
    }

    /// The decisions that are in force.
    pub fn active(&self) -> impl Iterator<Item = &Object> {
        self.lines
            .iter()
            .filter(|line| rule!(text(line, "status") == Some("active"); StaleCarried => true))
    }

    /// Ids that stand more than once, each with the runs that gave it, in the order of the file; for a
    /// check-up.
    pub fn repeated(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut runs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for line in &self.lines {
            if let Some(id) = text(line, "id") {
                let run = text(line, "run_id").unwrap_or("an unnamed run");
                runs.entry(id).or_default().push(run);
            }
        }
        runs.retain(|_, runs| runs.len() > 1);
        runs
    }

    fn find(&self, id: &str) -> Option<&Object> {
        // A file may have an id of an earlier run again; the last one counts.
        self.lines
            .iter()
            .rev()
            .find(|line| text(line, "id") == Some(id))
    }

    /// Checks whether a role's decision may override another; warnings come back.
    ///
    /// # Errors
    /// With `override_validation_failed` when the other is not there or not in force, or
    /// weighs more.
    pub fn check_override(
        &self,
        decision: &Object,
        role: &str,
        config: &Config,
    ) -> Result<Option<String>, Failure> {
        let Some(target) = text(decision, "overrides") else {
            return Ok(None);
        };
        let id = text(decision, "id").unwrap_or_default();
        let refuse = |what: String| {
            Failure::new(
                Code::XchainOverrideValidationFailed,
                format!("{id} overrides {target}, {what}"),
            )
            .with("overrides", target)
        };
        let Some(found) = self.find(target) else {
            let refused = refuse("which is no decision of the repository".into());
            return rule!(Err(refused); OverrideOfUnknown => Ok(None));
        };
        if rule!(text(found, "status") != Some("active"); OverriddenAgain => false) {
            return Err(refuse("which is no longer in force".into()));
        }
        let owner = text(found, "role").unwrap_or_default();
        if owner == role {
            return Ok(None);
        }
        if owner != "human" && config.role(owner).is_none() {
            let warning = format!("{id} overrides {target} of the role {owner}, which is gone");
            return Ok(Some(warning));
        }
        match (authority(config, role), authority(config, owner)) {
            (Some(own), Some(theirs)) if rule!(own < theirs; AuthorityIgnored => false) => {
                let what = format!("which belongs to {owner}, whose word weighs more");
                Err(refuse(what))
            }
            _ => Ok(None),
        }
    }

    /// Takes an accepted turn's decisions in; whether anything changed.
    pub fn accept<'a>(
        &mut self,
        decisions: impl IntoIterator<Item = &'a Object>,
        turn: &Turn,
        state: &State,
        now: Time,
    ) -> bool {
        let mut changed = false;
        for decision in decisions {
            let id = text(decision, "id").unwrap_or_default();
            let overrides = text(decision, "overrides");
            if let Some(target) = overrides {
                let last = self
                    .lines
                    .iter_mut()
                    .rev()
                    .find(|line| text(line, "id") == Some(target));
                if let Some(line) = rule!(last; OverriddenInForce => None) {
                    line.insert("status".into(), "overridden".into());
                    line.insert("overridden_by".into(), id.into());
                }
            }
            let lasts = match text(decision, "durability") {
                Some(durability) => rule!(durability == "repo"; NothingPromoted => false),
                None => rule!(false; LastsByDefault => true),
            };
            if !lasts && overrides.is_none() {
                continue;
            }
            let member = |name: &str| decision.get(name).cloned().unwrap_or(Value::Null);
            changed = true;
            self.lines.push(build([
                ("id", id.into()),
                ("run_id", state.member("run_id")),
                ("turn_id", turn.id().as_str().into()),
                ("role", turn.role().into()),
                ("phase", state.phase().into()),
                ("category", member("category")),
                ("statement", member("statement")),
                ("rationale", member("rationale")),
                (
                    "durability",
                    text(decision, "durability").unwrap_or("repo").into(),
                ),
                ("overrides", overrides.into()),
                ("status", "active".into()),
                ("overridden_by", Value::Null),
                ("created_at", now.to_string().into()),
            ]));
        }
        changed
    }
}

fn authority(config: &Config, role: &str) -> Option<u64> {
    let declared = config.role(role).map(|role| role.decision_authority);
    declared.unwrap_or_else(|| (role == "human").then_some(HUMAN_AUTHORITY))
}
