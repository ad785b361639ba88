//! A case that calls an operation of an adapter.

use accord_contract::wire::{Object, message};

use super::{Case, FixtureMarks, Strength, Task};

message! {
    /// The operation that an adapter executes.
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
        /// The protocol that the case belongs to.
        required protocol: String = "protocol", "protocol-name";
        /// The level that the case belongs to, in protocols that have levels.
        optional level: String = "level", "conformance-level";
        /// The tier that the case belongs to, in protocols that have tiers.
        optional tier: u64 = "tier", "conformance-tier";
        /// Whether the case decides the verdict.
        required strength: Strength = "strength", "strength";
        /// The ids of the clauses that the case proves.
        required clauses: Vec<String> = "clauses", "clause-ids";
        /// The property under test, in one sentence.
        required title: String = "title", "text-for-people";
        /// The state before the operation.
        required setup: Object = "setup", "operation-setup";
        /// What to do.
        required input: CaseInput = "input", "operation-call";
        /// The expected outcome; may contain assertions in place of values.
        required expected: Object = "expected", "expectation";
        /// The independent implementation that computed the digests in `expected`.
        optional oracle: String = "oracle", "oracle-name";
    }
}

/// The call of a case, and the expected outcome.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Call {
    /// The state before the operation.
    pub setup: Object,
    /// The operation to call.
    pub input: CaseInput,
    /// The expected outcome; may contain assertions in place of values.
    pub expected: Object,
    /// The members of a published fixture, if the case is one.
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
