//! Seeded faults: implementations with one error each. The kit's self-test runs a protocol's corpus
//! against each, and expects a case of the broken clause to fail.
//!
//! A fault of ALX wraps the honest adapter. The others are inside the core, at the rule itself
//! ([`accord_contract::faults`]).

use std::sync::Arc;

use accord_contract::fixture::Vocabulary;
use serde_json::Value;

use crate::{Adapter, Answered, Call};

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

// A fault is active on this thread only, so that cases can run in parallel.
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

    fn perform(&self, call: &Call) -> Answered {
        self.fault.during(|| self.honest.perform(call))
    }

    fn step(&self, request: &Value) -> Option<Value> {
        self.fault.during(|| self.honest.step(request))
    }
}
