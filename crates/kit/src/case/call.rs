//! A case that asks an adapter for an operation.

use accord_contract::wire::{Object, message};

use super::{Case, FixtureMarks, Strength, Task};

message! {
    /// What an adapter is to do.
    pub struct CaseInput("CaseInput", closed) {
        /// The operation, out of the protocol's list.
        required operation: String = "operation", "operation-name";
        /// Its arguments.
        required args: Object = "args", "operation-arguments";
    }
}

message! {
    /// One case of a conformance corpus.
    pub struct CallCase("Case", closed) {
        /// The path of the file below the corpus, without its ending.
        required id: String = "id", "case-id";
        /// The protocol whose promise this is.
        required protocol: String = "protocol", "protocol-name";
        /// The level that the case belongs to, in protocols that have levels.
        optional level: String = "level", "conformance-level";
        /// The tier that the case belongs to, in protocols that have tiers.
        optional tier: u64 = "tier", "conformance-tier";
        /// Whether the case decides the verdict.
        required strength: Strength = "strength", "strength";
        /// The ids of the clauses that the case proves.
        required clauses: Vec<String> = "clauses", "clause-ids";
        /// What must hold, in one sentence.
        required title: String = "title", "text-for-people";
        /// What must be there before the operation.
        required setup: Object = "setup", "operation-setup";
        /// What to do.
        required input: CaseInput = "input", "operation-call";
        /// What must come of it; may hold assertions in the place of values.
        required expected: Object = "expected", "expectation";
        /// The independent implementation that computed the digests in `expected`.
        optional oracle: String = "oracle", "oracle-name";
    }
}

/// What an adapter is asked for, and what must come of it.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Call {
    /// What must be there before the operation.
    pub setup: Object,
    /// What to do.
    pub input: CaseInput,
    /// What must come of it; may hold assertions in the place of values.
    pub expected: Object,
    /// What the case says as a published fixture, where it is one.
    pub fixture: Option<Box<FixtureMarks>>,
}

impl CallCase {
    pub(super) fn of(case: &Case, call: &Call) -> Self {
        Self {
            id: case.id.clone(),
            protocol: case.protocol.clone(),
            level: case.level.clone(),
            tier: case.tier,
            strength: case.strength,
            clauses: case.clauses.clone(),
            title: case.title.clone(),
            setup: call.setup.clone(),
            input: call.input.clone(),
            expected: call.expected.clone(),
            oracle: case.oracle.clone(),
        }
    }
}

impl From<CallCase> for Case {
    fn from(document: CallCase) -> Self {
        Self {
            id: document.id,
            protocol: document.protocol,
            level: document.level,
            tier: document.tier,
            strength: document.strength,
            clauses: document.clauses,
            profile: None,
            title: document.title,
            task: Task::Call(Call {
                setup: document.setup,
                input: document.input,
                expected: document.expected,
                fixture: None,
            }),
            oracle: document.oracle,
        }
    }
}
