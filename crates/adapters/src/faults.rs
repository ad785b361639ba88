//! Seeded faults: implementations with one error each.
//!
//! The kit must notice errors. Each fault breaks one clause and leaves everything else to Accord's
//! own code. The kit's self-test runs a protocol's corpus against each fault and expects a case of
//! that clause to fail.
//!
//! A fault of AgentXchain or AOF is inside the core, at the rule itself
//! ([`accord_runs_core::faults`], [`accord_tasks_core::faults`]). A fault of ALX wraps the honest
//! adapter and changes its calls or its answers. Callers need not know the difference.

use std::collections::BTreeSet;
use std::sync::Arc;

use accord_contract::fixture::Vocabulary;
use accord_runs_core::faults as engine;
use accord_tasks_core::faults as tasks;
use serde_json::Value;

use crate::{Adapter, BadCall, Call, Reply, alx};

/// The implementation that a fault wraps.
pub type Honest<'a> = &'a dyn Fn(&Call) -> Result<Reply, BadCall>;

/// A seeded fault.
#[derive(Clone, Copy)]
pub struct Fault {
    /// The name.
    pub name: &'static str,
    /// The clause that it breaks.
    pub clause: &'static str,
    pub(crate) seam: Seam,
}

/// Where a fault takes effect.
#[derive(Clone, Copy)]
pub(crate) enum Seam {
    /// Around the honest implementation.
    Wrapper(fn(&Call, Honest<'_>) -> Result<Reply, BadCall>),
    /// At a rule of the engine.
    Engine(engine::Fault),
    /// At a rule about tasks.
    Tasks(tasks::Fault),
}

/// An implementation with one fault.
#[derive(Clone)]
pub struct Faulty {
    honest: Arc<dyn Adapter>,
    fault: Fault,
}

impl Faulty {
    /// Adds a fault to an implementation.
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

    fn vocabulary(&self) -> Vocabulary {
        self.honest.vocabulary()
    }

    fn perform(&self, call: &Call) -> Result<Reply, BadCall> {
        match self.fault.seam {
            Seam::Wrapper(perform) => perform(call, &|call| self.honest.perform(call)),
            // Active on this thread only, so that cases can run in parallel with and without
            // faults.
            Seam::Engine(fault) => fault.during(|| self.honest.perform(call)),
            Seam::Tasks(fault) => fault.during(|| self.honest.perform(call)),
        }
    }

    fn step(&self, request: &Value) -> Option<Value> {
        match self.fault.seam {
            Seam::Tasks(fault) => fault.during(|| self.honest.step(request)),
            _ => self.honest.step(request),
        }
    }
}

/// The faults of a protocol.
pub fn faults_of(protocol: &str) -> Vec<Fault> {
    match protocol {
        "agentxchain" => engine::Fault::ALL.iter().copied().map(inside).collect(),
        "alx" => alx::FAULTS.to_vec(),
        "aof" => tasks::Fault::ALL.iter().copied().map(about_tasks).collect(),
        _ => Vec::new(),
    }
}

/// Runs `work` and returns the names of the engine's faults whose places it reached. Other faults
/// of the engine cannot change its result.
pub fn reached<T>(work: impl FnOnce() -> T) -> (T, BTreeSet<&'static str>) {
    let (done, reached) = engine::reached(work);
    (done, reached.into_iter().map(engine::Fault::name).collect())
}

fn inside(fault: engine::Fault) -> Fault {
    Fault { name: fault.name(), clause: fault.clause(), seam: Seam::Engine(fault) }
}

fn about_tasks(fault: tasks::Fault) -> Fault {
    Fault { name: fault.name(), clause: fault.clause(), seam: Seam::Tasks(fault) }
}

/// The call with one argument replaced.
pub(crate) fn with_arg(call: &Call, name: &str, value: impl Into<Value>) -> Call {
    let mut changed = call.clone();
    changed.args.insert(name.to_owned(), value.into());
    changed
}

/// Declares a table of wrapping faults: the name, the broken clause and the wrapper.
macro_rules! faults {
    ($($name:literal breaks $clause:literal: $perform:path;)+) => {
        /// Every fault.
        pub static FAULTS: &[$crate::faults::Fault] = &[$($crate::faults::Fault {
            name: $name,
            clause: $clause,
            seam: $crate::faults::Seam::Wrapper($perform),
        }),+];
    };
}
pub(crate) use faults;
