//! `history.jsonl`: the turns that were accepted, across runs, and what later decisions need
//! to know about those of the current run.
//!
//! Invariants:
//! - a [`RunIndex`] says the same whether its lines came in at once or one by one;
//! - lines of other runs change nothing in it but the length of the history.

use std::collections::{BTreeMap, BTreeSet};

use accord_contract::wire::{Object, Value};

use crate::ledger::DecisionIds;
use crate::members::{self, count, list, number, text, texts};
use crate::patterns::is_decision_id;
use crate::{RepoPath, RunId};

/// What the records say about one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunIndex {
    run_id: Option<String>,
    lines: u64,
    turns: BTreeSet<String>,
    touched: BTreeMap<String, Touch>,
    by_phase: BTreeMap<String, u64>,
    roles_by_phase: BTreeMap<String, BTreeSet<String>>,
    streak: Option<(String, u64)>,
    built: bool,
    decisions: DecisionIds,
}

/// The last accepted turn that changed a file.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Touch {
    /// The turn.
    pub turn_id: String,
    /// Its role.
    pub role: String,
    /// When it was accepted, by the run's clock.
    pub accepted_sequence: u64,
}

impl RunIndex {
    /// An index of a run of which nothing was read yet.
    pub fn new(run_id: Option<&RunId>) -> Self {
        Self {
            run_id: run_id.map(ToString::to_string),
            ..Self::default()
        }
    }

    /// Takes the next line of the history in.
    pub fn add_history(&mut self, line: &Object) {
        self.lines += 1;
        let run = text(line, "run_id").or(self.run_id.as_deref());
        if self.run_id.is_none() || run != self.run_id.as_deref() {
            return;
        }
        let turn = text(line, "turn_id").unwrap_or_default();
        if !self.turns.insert(turn.to_owned()) {
            return;
        }
        let role = text(line, "role").unwrap_or_default();
        let phase = text(line, "phase").unwrap_or_default();
        *self.by_phase.entry(phase.to_owned()).or_default() += 1;
        self.roles_by_phase
            .entry(phase.to_owned())
            .or_default()
            .insert(role.to_owned());
        let streak = self.streak.take().filter(|(last, _)| last == role);
        self.streak = Some((role.to_owned(), streak.map_or(0, |(_, turns)| turns) + 1));
        // Old lines have no sequence; their place stands for it.
        let accepted_sequence = count(line, "accepted_sequence").unwrap_or(self.lines);
        let files = changed_files(line);
        if phase == "implementation"
            && text(line, "status") == Some("completed")
            && files.iter().any(RepoPath::is_product)
        {
            self.built = true;
        }
        for file in files {
            let touch = Touch {
                turn_id: turn.to_owned(),
                role: role.to_owned(),
                accepted_sequence,
            };
            self.touched.insert(file.as_str().to_owned(), touch);
        }
        for decision in list(line, "decisions") {
            if let Some(id) = decision.get("id").and_then(Value::as_str) {
                self.decisions.add(id);
            }
        }
    }

    /// Takes a line of the ledger in: of this run when it says so, or when its turn is.
    pub fn add_ledger(&mut self, line: &Object) {
        let Some(id) = text(line, "id").filter(|id| is_decision_id(id)) else {
            return;
        };
        let own = match text(line, "run_id") {
            Some(run) => Some(run) == self.run_id.as_deref(),
            None => text(line, "turn_id").is_some_and(|turn| self.turns.contains(turn)),
        };
        if own {
            self.decisions.add(id);
        }
    }

    /// How many lines the history has, of all runs.
    pub fn length(&self) -> u64 {
        self.lines
    }

    /// How many turns of the run were accepted.
    pub fn total_turns(&self) -> u64 {
        self.turns.len() as u64
    }

    /// Whether a turn of the run was accepted.
    pub fn contains(&self, turn_id: &str) -> bool {
        self.turns.contains(turn_id)
    }

    /// How many turns of a phase were accepted.
    pub fn turns_of_phase(&self, phase: &str) -> u64 {
        self.by_phase.get(phase).copied().unwrap_or(0)
    }

    /// How many of the last turns, without another between them, were the role's.
    pub fn streak(&self, role: &str) -> u64 {
        let own = self.streak.as_ref().filter(|(last, _)| last == role);
        own.map_or(0, |(_, turns)| *turns)
    }

    /// Whether a role has had a turn in a phase.
    pub fn participated(&self, phase: &str, role: &str) -> bool {
        self.roles_by_phase
            .get(phase)
            .is_some_and(|roles| roles.contains(role))
    }

    /// Whether the run has something built to show for its implementation.
    pub fn has_built(&self) -> bool {
        self.built
    }

    /// The last turn that changed a file.
    pub fn touch(&self, path: &RepoPath) -> Option<&Touch> {
        self.touched.get(path.as_str())
    }

    /// The ids of the run's decisions.
    pub fn decisions(&self) -> &DecisionIds {
        &self.decisions
    }
}

/// The files that an accepted turn changed: what was observed, else what it declared.
fn changed_files(line: &Object) -> Vec<RepoPath> {
    let observed = members::object(line, "observed_artifact")
        .map(|observed| texts(observed, "files_changed"))
        .filter(|files| !files.is_empty());
    let files = observed.unwrap_or_else(|| texts(line, "files_changed"));
    files
        .iter()
        .filter_map(|file| RepoPath::parse(file).ok())
        .collect()
}

/// What a turn cost, in dollars.
pub(crate) fn cost_usd(result: &Object) -> f64 {
    members::object(result, "cost")
        .and_then(|cost| number(cost, "usd"))
        .unwrap_or(0.0)
}
