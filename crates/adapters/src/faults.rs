//! Seeded faults: implementations that are wrong in one thing each.
//!
//! The kit is only worth something if it notices. Each fault breaks one clause and leaves everything else to
//! Accord's own code; the kit's self-test runs a protocol's corpus against each and asks that a case of that
//! clause fails. Nothing in the honest path knows of them: a fault stands in front of it, and changes what it is asked or
//! what it answers.

use std::sync::Arc;

use serde_json::Value;

use crate::{Adapter, BadCall, Call, Reply, agentxchain, alx};

/// The honest implementation behind a fault.
pub type Honest<'a> = &'a dyn Fn(&Call) -> Result<Reply, BadCall>;

/// One way to be wrong.
#[derive(Clone, Copy)]
pub struct Fault {
    /// Its name.
    pub name: &'static str,
    /// The clause that it breaks.
    pub clause: &'static str,
    pub(crate) perform: fn(&Call, Honest<'_>) -> Result<Reply, BadCall>,
}

/// An implementation with one fault.
#[derive(Clone)]
pub struct Faulty {
    honest: Arc<dyn Adapter>,
    fault: &'static Fault,
}

impl Faulty {
    /// The same implementation, with a fault in front of it.
    pub fn new(honest: Arc<dyn Adapter>, fault: &'static Fault) -> Self {
        Self { honest, fault }
    }
}

impl Adapter for Faulty {
    fn protocol(&self) -> &'static str {
        self.honest.protocol()
    }

    fn id_member(&self) -> &'static str {
        self.honest.id_member()
    }

    fn perform(&self, call: &Call) -> Result<Reply, BadCall> {
        (self.fault.perform)(call, &|call| self.honest.perform(call))
    }
}

/// The faults that there are for a protocol.
pub fn faults_of(protocol: &str) -> &'static [Fault] {
    match protocol {
        "agentxchain" => agentxchain::FAULTS,
        "alx" => alx::FAULTS,
        _ => &[],
    }
}

/// The same call with one argument changed.
pub(crate) fn with_arg(call: &Call, name: &str, value: impl Into<Value>) -> Call {
    let mut changed = call.clone();
    changed.args.insert(name.to_owned(), value.into());
    changed
}

/// Declares a protocol's table: a name, the clause that it breaks, the function that does.
macro_rules! faults {
    ($($name:literal breaks $clause:literal: $perform:path;)+) => {
        /// Every fault.
        pub static FAULTS: &[$crate::faults::Fault] = &[$($crate::faults::Fault {
            name: $name,
            clause: $clause,
            perform: $perform,
        }),+];
    };
}
pub(crate) use faults;
