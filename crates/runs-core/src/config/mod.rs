//! `agentxchain.json`: who works, with what, in which order, and under which rules.
//!
//! Invariants:
//! - the document is kept as it came in, with every member that we do not know, in its order;
//! - the order of the phases is the order of the routing's members;
//! - a [`Config`] that [`Config::read`] gave out has passed every rule of [`problems`].

mod extract;
mod gates;
mod limits;
mod problem;
mod roles;
mod routing;
pub(crate) use validate::is_http_url;
mod validate;
mod vocabulary;
mod workflow;

use accord_contract::wire::{Object, Value};

pub use gates::{Gate, GateAction};
pub use limits::{
    ApprovalAction, ApprovalPolicy, ApprovalRule, Budget, Conditions, OnExceed, Policy,
    PolicyAction, PolicyRule, Rules, TimeoutAction, Timeouts,
};
pub use problem::{ConfigProblem, refusal};
pub use roles::{Role, Runtime, RuntimeType, WriteAuthority};
pub use routing::{MAX_CONCURRENT_TURNS, Route};
pub use validate::{narrow_problems, problems};
pub(crate) use vocabulary::HOOKS;
pub use workflow::{Artifact, Semantics, Template, WorkflowKit};

use crate::hooks::{Hook, HookPhase};
use crate::rule;
use crate::unknown_members::{UnknownMember, unknown_members};
use accord_contract::codes::Failure;

/// The phases of a run whose configuration has no routing.
pub const DEFAULT_PHASES: [&str; 3] = ["planning", "implementation", "qa"];

/// A governed configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    document: Object,
    roles: Vec<Role>,
    runtimes: Vec<Runtime>,
    routing: Vec<Route>,
    gates: Vec<Gate>,
    hooks: Vec<Hook>,
    workflow: WorkflowKit,
    /// Retries and challenges.
    pub rules: Rules,
    /// What turns and the run may cost.
    pub budget: Budget,
    /// Rules about results.
    pub policies: Vec<Policy>,
    /// Which gates need no person.
    pub approval: ApprovalPolicy,
    /// How long turns, phases and the run may take.
    pub timeouts: Timeouts,
}

impl Config {
    /// Reads a configuration that a person wrote.
    ///
    /// # Errors
    /// When the document breaks a rule; the failure lists them all.
    pub fn read(document: Value) -> Result<Self, Failure> {
        let found = problems(&document);
        match document {
            Value::Object(members) if found.is_empty() => {
                let workflow = WorkflowKit::of_project(&members);
                Ok(Self::extract(members, workflow))
            }
            _ => Err(refusal(&found)),
        }
    }

    /// Reads a configuration that is held to fewer rules: [`narrow_problems`]. Without a
    /// `workflow_kit` it has no artifacts of its own.
    ///
    /// Clauses: AX-SM-START-CONFIG, AX-CS-VALID.
    ///
    /// # Errors
    /// When the document breaks one of those rules; the failure lists them all.
    pub fn read_narrow(document: Value) -> Result<Self, Failure> {
        let found = narrow_problems(&document);
        match document {
            Value::Object(members) if rule!(found.is_empty(); AnyConfigStarts => true) => {
                Ok(Self::lenient(members))
            }
            _ => Err(refusal(&found)),
        }
    }

    /// Takes what of a document is sound and passes over the rest, for decisions about a
    /// document that was not validated.
    pub fn lenient(document: Object) -> Self {
        let workflow = WorkflowKit::declared(&document);
        Self::extract(document, workflow)
    }

    /// The document, as it came in.
    pub fn document(&self) -> &Object {
        &self.document
    }

    /// The project's id.
    pub fn project_id(&self) -> &str {
        self.project("id")
    }

    /// The project's name.
    pub fn project_name(&self) -> &str {
        self.project("name")
    }

    /// The phases, in their order.
    pub fn phases(&self) -> Vec<&str> {
        if self.routing.is_empty() {
            return DEFAULT_PHASES.to_vec();
        }
        self.routing
            .iter()
            .map(|route| route.phase.as_str())
            .collect()
    }

    /// The phase that a run begins in.
    pub fn first_phase(&self) -> &str {
        self.phases()[0]
    }

    /// The phase after that one, where there is one.
    pub fn next_phase(&self, phase: &str) -> Option<&str> {
        let phases = self.phases();
        let at = phases.iter().position(|name| *name == phase)?;
        phases.get(at + 1).copied()
    }

    /// Whether the routing has the phase.
    pub fn has_phase(&self, phase: &str) -> bool {
        self.phases().contains(&phase)
    }

    /// Whether the phase is the last one.
    pub fn is_final_phase(&self, phase: &str) -> bool {
        self.phases().last() == Some(&phase)
    }

    /// How a phase is routed, where the configuration says so.
    pub fn route(&self, phase: &str) -> Option<&Route> {
        self.routing.iter().find(|route| route.phase == phase)
    }

    /// The roles, in their order.
    pub fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// A role.
    pub fn role(&self, id: &str) -> Option<&Role> {
        self.roles.iter().find(|role| role.id == id)
    }

    /// A runtime.
    pub fn runtime(&self, id: &str) -> Option<&Runtime> {
        self.runtimes.iter().find(|runtime| runtime.id == id)
    }

    /// The runtimes, in their order.
    pub fn runtimes(&self) -> &[Runtime] {
        &self.runtimes
    }

    /// A gate.
    pub fn gate(&self, id: &str) -> Option<&Gate> {
        self.gates.iter().find(|gate| gate.id == id)
    }

    /// The gate that guards the end of a phase, where one is declared.
    pub fn exit_gate(&self, phase: &str) -> Option<&Gate> {
        self.gate(self.route(phase)?.exit_gate.as_deref()?)
    }

    /// The gates, in their order.
    pub fn gates(&self) -> &[Gate] {
        &self.gates
    }

    /// The hooks of a phase of the work, in their order.
    pub fn hooks(&self, phase: HookPhase) -> Vec<Hook> {
        let hooks = self.hooks.iter().filter(|hook| hook.phase == phase);
        hooks.cloned().collect()
    }

    /// The documents that each phase owes.
    pub fn workflow(&self) -> &WorkflowKit {
        &self.workflow
    }

    /// How many turns of the phase may be active at once.
    pub fn max_concurrent_turns(&self, phase: &str) -> usize {
        self.route(phase)
            .map_or(1, |route| route.max_concurrent_turns)
    }

    /// The members that have no effect here: those that are kept for other runners, and those
    /// that are unknown.
    pub fn unknown_members(&self) -> Vec<UnknownMember> {
        unknown_members(&self.document, &vocabulary::DOCUMENT)
    }

    fn project(&self, name: &str) -> &str {
        crate::members::object(&self.document, "project")
            .and_then(|project| crate::members::text(project, name))
            .unwrap_or_default()
    }
}
