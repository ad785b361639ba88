//! A case that calls an operation of an adapter.

use accord_contract::{Object, message};

use super::FixtureMarks;
use super::document::case_document;

message! {
    /// The operation that an adapter executes.
    pub struct CaseInput("CaseInput", closed) {
        /// The operation, out of the protocol's list.
        required operation: String = "operation", "operation-name";
        /// Its arguments.
        required args: Object = "args", "operation-arguments";
    }
}

case_document! {
    /// One case of a conformance corpus.
    pub struct CallCase("Case") of Call {
        /// The state before the operation.
        required setup: Object = "setup", "operation-setup";
        /// What to do.
        required input: CaseInput = "input", "operation-call";
        /// The expected outcome; may contain assertions in place of values.
        required expected: Object = "expected", "expectation";
        /// The independent implementation that computed the digests in `expected`.
        optional oracle: String = "oracle", "oracle-name";
    }
    write |case, call| {
        setup: call.setup.clone(),
        input: call.input.clone(),
        expected: call.expected.clone(),
        oracle: case.oracle.clone(),
    }
    read |document| {
        Call {
            setup: document.setup,
            input: document.input,
            expected: document.expected,
            fixture: None,
        },
        oracle: document.oracle
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
