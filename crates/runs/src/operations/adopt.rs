//! A person decides about changes that were made while a worker ran.

use std::path::PathBuf;

use accord_base::evidence::{EvidenceDigest, ExpectedDigest};
use accord_contract::Value;
use accord_runs_core::operations::AdoptChanges;
use accord_runs_core::{Person, Result, TurnId, TurnStatus, build, dispatch};

use super::step::refuse_if_worker_runs;
use crate::Runs;
use crate::guard::{Choice, Found, KeptChange};

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Adopt {
    /// Who decides. Without a person it is only shown what the decision would be about.
    pub by: Option<Person>,
    /// Whether the changes stay undone, instead of being put in force.
    pub undo: bool,
    /// What the person saw.
    pub expect: Option<ExpectedDigest>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Adoption {
    pub done: bool,
    /// Files that differ from the copies; the process that waited for the worker has ended.
    pub differing: Vec<String>,
    /// A run that the copies have and the repository does not.
    pub lost: Option<String>,
    /// Changes that were put back while a worker ran.
    pub kept: Vec<KeptChange>,
    pub folder: PathBuf,
    /// The digest of what the decision is about.
    pub evidence: Option<EvidenceDigest>,
}

impl Adoption {
    pub fn is_empty(&self) -> bool {
        self.differing.is_empty() && self.lost.is_none() && self.kept.is_empty()
    }

    fn new(found: Found, done: bool) -> Self {
        Self {
            done: done && !found.is_empty(),
            differing: found.differing,
            lost: found.lost,
            kept: found.kept,
            folder: found.folder,
            evidence: found.evidence,
        }
    }
}

impl Runs {
    /// What changed while workers ran and is not in force, or the decision of a person about it.
    /// Fails with `not_for_workers` if a worker started the caller; `evidence_changed` if it is not
    /// what the person saw; `worker_busy` while a worker runs; `invalid_config` or `state_invalid`
    /// if what should be put in force is not valid.
    pub fn adopt(&self, adopt: &Adopt) -> Result<Adoption> {
        let Some(guard) = self.repository().guard() else {
            return Ok(Adoption::new(Found::default(), false));
        };
        let Some(person) = &adopt.by else {
            return Ok(Adoption::new(guard.find_with_evidence(self.repository())?, false));
        };
        let person = &self.authorize::<AdoptChanges>(person)?;
        let locked = self.repository().lock(self.environment.lock_timeout())?;
        self.environment.report_recovered(&locked);
        // A worker can outlive the process that waited for it.
        if let Ok(Some(state)) = locked.state() {
            state.turns().try_for_each(refuse_if_worker_runs)?;
        }
        let choice = if adopt.undo { Choice::Undo } else { Choice::Adopt };
        let check = |bytes: &[u8]| self.read_config(bytes).map(drop);
        let found = guard.decide(&locked, choice, (person, adopt.expect.as_ref()), check)?;
        drop(locked);
        if !adopt.undo {
            for (turn, attempt) in &found.turns {
                self.attribute_config(turn, *attempt);
            }
        }
        Ok(Adoption::new(found, true))
    }

    /// The configuration that a person put in force is no change of the turn.
    fn attribute_config(&self, turn: &TurnId, attempt: u64) {
        let noted = || {
            let state = self.state()?;
            let Ok(turn) = state.target_at(turn, attempt) else { return Ok(()) };
            let mut left = self.left_behind(turn);
            if let Some(files) = left.get_mut("uncommitted").and_then(Value::as_object_mut) {
                files.remove("agentxchain.json");
            }
            let about = build([("worker_pid", Value::Null), (dispatch::LEFT_BEHIND, left)]);
            let (turn, status) = (turn.id(), TurnStatus::Stalled);
            self.record_worker_status(turn, attempt, status, about).map(drop)
        };
        self.environment.report(noted());
    }

    /// What a person has to decide about, for the status.
    pub(super) fn undecided(&self) -> Result<Found> {
        let guard = self.repository().guard();
        guard.map_or(Ok(Found::default()), |guard| guard.find(self.repository()))
    }
}
