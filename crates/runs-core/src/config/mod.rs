//! `agentxchain.json`: roles, runtimes, phases, gates and rules.
//!
//! Invariants:
//! - the document is kept as it was read, with unknown members, in order;
//! - the order of the phases is the order of the members of `routing`;
//! - a [`Config`] that [`Config::read`] returned satisfies every rule of [`problems`].

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

use accord_contract::{Object, Value};

pub use gates::{Gate, GateAction};
pub use limits::{
    ApprovalAction, ApprovalPolicy, ApprovalRule, Budget, Conditions, OnExceed, Policy,
    PolicyAction, PolicyRule, Rules, TimeoutAction, Timeouts,
};
pub use problem::{ConfigProblem, refusal};
pub use roles::{Role, Runtime, RuntimeType, WriteAuthority};
pub(crate) use routing::MAX_CONCURRENT_TURNS;
pub use routing::Route;
pub use validate::{narrow_problems, problems};
pub(crate) use vocabulary::HOOKS;
pub use workflow::{Artifact, Semantics, Template, WorkflowKit};

use crate::hooks::{Hook, HookPhase};
use crate::mistyped_members::{MistypedMember, mistyped_members};
use crate::unknown_members::{UnknownMember, unknown_members};
use crate::{Result, rule};

/// The default phases of a configuration without routing.
pub(crate) const DEFAULT_PHASES: [&str; 3] = ["planning", "implementation", "qa"];

#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    document: Object,
    roles: Vec<Role>,
    runtimes: Vec<Runtime>,
    routing: Vec<Route>,
    gates: Vec<Gate>,
    hooks: Vec<Hook>,
    workflow: WorkflowKit,
    pub rules: Rules,
    pub budget: Budget,
    pub policies: Vec<Policy>,
    pub approval: ApprovalPolicy,
    pub timeouts: Timeouts,
}

impl Config {
    /// Reads a configuration that a person wrote. The failure lists all problems.
    pub fn read(document: Value) -> Result<Self> {
        let found = problems(&document);
        let Value::Object(members) = document else { return Err(refusal(&found)) };
        if !found.is_empty() {
            return Err(refusal(&found));
        }
        let workflow = WorkflowKit::of_project(&members);
        Ok(Self::extract(members, workflow))
    }

    /// Reads a configuration by the fewer rules of [`narrow_problems`]. Without a `workflow_kit` it
    /// has no artifacts. The failure lists all problems.
    ///
    /// Clauses: AX-SM-START-CONFIG, AX-CS-VALID.
    pub fn read_narrow(document: Value) -> Result<Self> {
        let found = narrow_problems(&document);
        match document {
            Value::Object(members) if rule!(found.is_empty(); AnyConfigStarts => true) => {
                Ok(Self::lenient(members))
            }
            _ => Err(refusal(&found)),
        }
    }

    /// Reads the valid parts of a document that was not validated and skips the rest.
    pub fn lenient(document: Object) -> Self {
        let workflow = WorkflowKit::declared(&document);
        Self::extract(document, workflow)
    }

    /// The document as it was read.
    pub fn document(&self) -> &Object {
        &self.document
    }

    pub fn project_id(&self) -> &str {
        self.project("id")
    }

    pub fn project_name(&self) -> &str {
        self.project("name")
    }

    pub fn phases(&self) -> Vec<&str> {
        // An empty routing counts as none, so there is always a first phase.
        if self.routing.is_empty() {
            return DEFAULT_PHASES.to_vec();
        }
        self.routing.iter().map(|route| route.phase.as_str()).collect()
    }

    pub(crate) fn first_phase(&self) -> &str {
        // Both branches of `phases` return at least one phase.
        self.phases()[0]
    }

    /// The phase after `phase`.
    pub fn next_phase(&self, phase: &str) -> Option<&str> {
        let phases = self.phases();
        let at = phases.iter().position(|name| *name == phase)?;
        phases.get(at + 1).copied()
    }

    pub(crate) fn has_phase(&self, phase: &str) -> bool {
        self.phases().contains(&phase)
    }

    pub fn route(&self, phase: &str) -> Option<&Route> {
        self.routing.iter().find(|route| route.phase == phase)
    }

    pub fn roles(&self) -> &[Role] {
        &self.roles
    }

    pub fn role(&self, id: &str) -> Option<&Role> {
        self.roles.iter().find(|role| role.id == id)
    }

    pub fn runtime(&self, id: &str) -> Option<&Runtime> {
        self.runtimes.iter().find(|runtime| runtime.id == id)
    }

    pub fn runtimes(&self) -> &[Runtime] {
        &self.runtimes
    }

    pub fn gate(&self, id: &str) -> Option<&Gate> {
        self.gates.iter().find(|gate| gate.id == id)
    }

    pub fn exit_gate(&self, phase: &str) -> Option<&Gate> {
        self.gate(self.route(phase)?.exit_gate.as_deref()?)
    }

    pub fn gates(&self) -> &[Gate] {
        &self.gates
    }

    pub fn hooks(&self, phase: HookPhase) -> Vec<Hook> {
        let hooks = self.hooks.iter().filter(|hook| hook.phase == phase);
        hooks.cloned().collect()
    }

    pub fn workflow(&self) -> &WorkflowKit {
        &self.workflow
    }

    pub fn max_concurrent_turns(&self, phase: &str) -> usize {
        self.route(phase).map_or(1, |route| route.max_concurrent_turns)
    }

    /// The members without effect: those that only other runners use, and unknown ones.
    pub fn unknown_members(&self) -> Vec<UnknownMember> {
        unknown_members(&self.document, &vocabulary::DOCUMENT)
    }

    /// The members that have another type than the declared one, and so read as absent.
    pub fn mistyped_members(&self) -> Vec<MistypedMember> {
        mistyped_members(&self.document, &vocabulary::DOCUMENT)
    }

    fn project(&self, name: &str) -> &str {
        crate::members::object(&self.document, "project")
            .and_then(|project| crate::members::text(project, name))
            .unwrap_or_default()
    }
}
