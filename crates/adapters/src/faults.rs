//! Seeded faults: implementations with one error each.
//!
//! The kit must notice errors. Each fault breaks one clause and leaves everything else to Accord's
//! own code. The kit's self-test runs a protocol's corpus against each fault and expects a case of
//! that clause to fail.
//!
//! A fault of AgentXchain or AOF is inside the core, at the rule itself
//! ([`accord_contract::faults`]). A fault of ALX wraps the honest adapter and changes its calls or
//! its answers. Callers need not know the difference.

use std::sync::Arc;

use accord_contract::fixture::Vocabulary;
use serde_json::Value;

use crate::{Adapter, BadCall, Call, Reply};

pub use crate::serve::faults_of;
pub use accord_contract::faults::{Fault, reached};

#[derive(Clone)]
pub struct Faulty {
    honest: Arc<dyn Adapter>,
    fault: Fault,
}

impl Faulty {
    pub fn new(honest: Arc<dyn Adapter>, fault: Fault) -> Self {
        Self { honest, fault }
    }
}

// A fault is active on this thread only, so that cases can run in parallel with and without
// faults.
impl Adapter for Faulty {
    fn protocol(&self) -> &'static str {
        self.honest.protocol()
    }

    fn id_member(&self) -> &'static str {
        self.honest.id_member()
    }

    fn vocabulary(&self) -> Vocabulary {
        self.honest.vocabulary()
    }

    fn has_steps(&self) -> bool {
        self.honest.has_steps()
    }

    fn perform(&self, call: &Call) -> Result<Reply, BadCall> {
        self.fault.during(|| self.honest.perform(call))
    }

    fn step(&self, request: &Value) -> Option<Value> {
        self.fault.during(|| self.honest.step(request))
    }
}
