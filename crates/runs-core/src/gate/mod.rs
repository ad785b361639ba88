//! Gates: whether a phase, or the run, may end.
//!
//! [`needed_files`] names what must be read; [`evaluate_phase_exit`] and
//! [`evaluate_completion`] decide, given what was read. They change nothing.

mod predicates;
mod sections;
mod semantics;

use std::collections::BTreeMap;

pub(crate) use predicates::requirement;
pub use predicates::{Failures, needed_files};
pub(crate) use sections::has_content as section_has_content;
pub use semantics::evaluate as evaluate_semantics;

use crate::config::Config;
use crate::history::RunIndex;
use crate::rule;

/// What gates look at.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The rules.
    pub config: &'a Config,
    /// The phase that the run is in.
    pub phase: &'a str,
    /// What the asking result says about its verification.
    pub verification: Option<&'a str>,
    /// The files of [`needed_files`], as texts; those that are missing are not in it.
    pub files: &'a BTreeMap<String, String>,
    /// Who has had a turn.
    pub index: &'a RunIndex,
    /// The role whose turn asks, which counts as having had one.
    pub asking_role: Option<&'a str>,
}

/// Whether a phase may end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PhaseExit {
    /// There is no request.
    NoRequest,
    /// There is no such phase.
    UnknownPhase(String),
    /// Something does not hold.
    Failed {
        /// The gate, where there is one.
        gate: Option<String>,
        /// What does not hold.
        failures: Failures,
    },
    /// A person must approve.
    Awaiting {
        /// The gate.
        gate: String,
        /// The phase to go to.
        to: String,
    },
    /// It may.
    Advance {
        /// The gate, where there is one.
        gate: Option<String>,
        /// The phase to go to.
        to: String,
    },
}

/// Whether the run may end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Completion {
    /// There is no request.
    NoRequest,
    /// There are phases to come; the reason.
    NotFinal(String),
    /// Something does not hold.
    Failed {
        /// The gate.
        gate: String,
        /// What does not hold.
        failures: Failures,
    },
    /// A person must approve.
    Awaiting {
        /// The gate.
        gate: String,
    },
    /// It may.
    Complete {
        /// The gate, where there is one.
        gate: Option<String>,
    },
}

/// Decides whether the phase may end, as asked.
///
/// Clauses: AX-GATE-ADVANCE, AX-GATE-UNKNOWN-PHASE, AX-GATE-NEXT-PHASE, AX-GATE-HUMAN.
pub fn evaluate_phase_exit(request: Option<&str>, view: &View<'_>) -> PhaseExit {
    let Some(request) = request else {
        return PhaseExit::NoRequest;
    };
    let (config, phase) = (view.config, view.phase);
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
        return PhaseExit::Failed {
            gate: gate.map(|gate| gate.id.clone()),
            failures: Failures::other(reason),
        };
    }
    let to = request.to_owned();
    let Some(gate) = gate else {
        return PhaseExit::Advance { gate: None, to };
    };
    let failures = predicates::failures(gate, view);
    let id = gate.id.clone();
    if !failures.is_empty() {
        return PhaseExit::Failed {
            gate: Some(id),
            failures,
        };
    }
    if rule!(gate.requires_human_approval; HumanNotAsked => false) {
        return PhaseExit::Awaiting { gate: id, to };
    }
    PhaseExit::Advance { gate: Some(id), to }
}

/// Decides whether the run may end, as asked.
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
