//! Gates: whether a phase or the run may end.
//!
//! [`needed_files`] lists the files to read. [`evaluate_phase_exit`] and [`evaluate_completion`]
//! decide, given their content, and change nothing.

mod predicates;
mod sections;
mod semantics;
mod types;

use std::collections::BTreeMap;

pub(crate) use predicates::requirement;
pub use predicates::{Failures, needed_files};
pub(crate) use sections::has_content as section_has_content;
pub use semantics::evaluate as evaluate_semantics;
pub use types::{GateStatus, GateType};

use crate::{Config, RunIndex, rule};

#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    pub config: &'a Config,
    pub phase: &'a str,
    pub verification: Option<&'a str>,
    /// The texts of [`needed_files`]. Missing files are omitted.
    pub files: &'a BTreeMap<String, String>,
    pub index: &'a RunIndex,
    /// The role that makes the request. It counts as having had a turn.
    pub asking_role: Option<&'a str>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PhaseExit {
    NoRequest,
    UnknownPhase(String),
    Failed { gate: Option<String>, failures: Failures },
    Awaiting { gate: String, to: String },
    Advance { gate: Option<String>, to: String },
}

/// `NotFinal` has the reason why the phase is not the last one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Completion {
    NoRequest,
    NotFinal(String),
    Failed { gate: String, failures: Failures },
    Awaiting { gate: String },
    Complete { gate: Option<String> },
}

/// Decides about a request to leave the phase.
///
/// Clauses: AX-GATE-ADVANCE, AX-GATE-UNKNOWN-PHASE, AX-GATE-NEXT-PHASE, AX-GATE-HUMAN.
pub fn evaluate_phase_exit(request: Option<&str>, view: &View<'_>) -> PhaseExit {
    let Some(request) = request else { return PhaseExit::NoRequest };
    let (config, phase) = (view.config, view.phase);
    // The protocol reports an unknown phase before a wrong order, with a result of its own.
    if !config.has_phase(request) {
        return PhaseExit::UnknownPhase(request.to_owned());
    }
    let gate = config.exit_gate(phase);
    let wrong_way = match config.next_phase(phase) {
        Some(next) if rule!(next == request; PhaseSkipped => true) => None,
        Some(next) => Some(format!("the phase after {phase} is {next}, not {request}")),
        None => Some(format!("{phase} is the last phase")),
    };
    if let Some(reason) = wrong_way {
        let gate = gate.map(|gate| gate.id.clone());
        return PhaseExit::Failed { gate, failures: Failures::other(reason) };
    }
    let to = request.to_owned();
    // The protocol passes a phase whose gate is not declared.
    let Some(gate) = gate else { return PhaseExit::Advance { gate: None, to } };
    let failures = predicates::failures(gate, view);
    let id = gate.id.clone();
    if !failures.is_empty() {
        return PhaseExit::Failed { gate: Some(id), failures };
    }
    if rule!(gate.requires_human_approval; HumanNotAsked => false) {
        return PhaseExit::Awaiting { gate: id, to };
    }
    PhaseExit::Advance { gate: Some(id), to }
}

/// Decides about a request to complete the run.
///
/// Clauses: AX-GATE-COMPLETE, AX-GATE-FINAL-PHASE, AX-GATE-HUMAN.
pub fn evaluate_completion(requested: bool, view: &View<'_>) -> Completion {
    if !requested {
        return Completion::NoRequest;
    }
    let phases = view.config.phases();
    let last = phases.last().copied().unwrap_or_default();
    if rule!(view.phase != last; EndsInAnyPhase => false) {
        return Completion::NotFinal(format!(
            "Run completion requested but current phase \"{}\" is not the final phase \"{last}\"",
            view.phase
        ));
    }
    let Some(gate) = view.config.exit_gate(view.phase) else {
        return Completion::Complete { gate: None };
    };
    let failures = predicates::failures(gate, view);
    let id = gate.id.clone();
    if !failures.is_empty() {
        return Completion::Failed { gate: id, failures };
    }
    if rule!(gate.requires_human_approval; EndsWithoutHuman => false) {
        return Completion::Awaiting { gate: id };
    }
    Completion::Complete { gate: Some(id) }
}
