//! Seeded faults: implementations that are wrong in one thing each.
//!
//! The kit is only worth something if it notices. Each fault breaks one clause and leaves everything else to
//! Accord's own code; the kit's self-test runs a protocol's corpus against each and asks that a case of that
//! clause fails.
//!
//! A fault of AgentXchain lies inside the engine, at the rule itself
//! ([`accord_runs_core::faults`]). A fault of ALX stands in front of the honest code, and changes what it is asked or what
//! it answers. Whoever uses one need not know which it is.

use std::collections::BTreeSet;
use std::sync::Arc;

use accord_runs_core::faults as engine;
use serde_json::Value;

use crate::{Adapter, BadCall, Call, Reply, alx};

/// The honest implementation behind a fault.
pub type Honest<'a> = &'a dyn Fn(&Call) -> Result<Reply, BadCall>;

/// One way to be wrong.
#[derive(Clone, Copy)]
pub struct Fault {
    /// Its name.
    pub name: &'static str,
    /// The clause that it breaks.
    pub clause: &'static str,
    pub(crate) place: Place,
}

/// Where a fault lies.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// In front of the honest implementation.
    Edge(fn(&Call, Honest<'_>) -> Result<Reply, BadCall>),
    /// At a rule inside it.
    Engine(engine::Fault),
}

/// An implementation with one fault.
#[derive(Clone)]
pub struct Faulty {
    honest: Arc<dyn Adapter>,
    fault: Fault,
}

impl Faulty {
    /// The same implementation, with a fault.
    pub fn new(honest: Arc<dyn Adapter>, fault: Fault) -> Self {
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
        match self.fault.place {
            Place::Edge(perform) => perform(call, &|call| self.honest.perform(call)),
            Place::Engine(fault) => fault.during(|| self.honest.perform(call)),
        }
    }
}

/// The faults that there are for a protocol.
pub fn faults_of(protocol: &str) -> Vec<Fault> {
    match protocol {
        "agentxchain" => engine::Fault::ALL.iter().copied().map(inside).collect(),
        "alx" => alx::FAULTS.to_vec(),
        _ => Vec::new(),
    }
}

/// Does some work, and names the faults inside the engine whose place it came by. Any other of them would have
/// changed nothing about it.
pub fn reached<T>(work: impl FnOnce() -> T) -> (T, BTreeSet<&'static str>) {
    let (done, places) = engine::reached(work);
    (done, places.into_iter().map(engine::Fault::name).collect())
}

fn inside(fault: engine::Fault) -> Fault {
    Fault {
        name: fault.name(),
        clause: fault.clause(),
        place: Place::Engine(fault),
    }
}

/// The same call with one argument changed.
pub(crate) fn with_arg(call: &Call, name: &str, value: impl Into<Value>) -> Call {
    let mut changed = call.clone();
    changed.args.insert(name.to_owned(), value.into());
    changed
}

/// Declares a table of faults in front of a protocol's implementation: a name, the clause that it breaks, the function that does.
macro_rules! faults {
    ($($name:literal breaks $clause:literal: $perform:path;)+) => {
        /// Every fault.
        pub static FAULTS: &[$crate::faults::Fault] = &[$($crate::faults::Fault {
            name: $name,
            clause: $clause,
            place: $crate::faults::Place::Edge($perform),
        }),+];
    };
}
pub(crate) use faults;
