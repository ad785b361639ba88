//! What the conformance kit and an adapter must agree on: the fixture protocols' result document,
//! its statuses with their exit codes, and how an outcome is compared with an expectation. Both
//! compare with the same function, so they disagree about behaviour only.
//!
//! In `stdio-fixture-v1` a process reads one case from stdin, writes one [`AdapterResult`] and
//! exits with [`Status::exit_code`]. In `stdio-fixture-lines-v1` it reads and writes one per line,
//! in order. In `http-fixture-v1` a server answers `GET /conform/capabilities` with its
//! [`Capabilities`], and each case in `POST /conform/execute` with one [`AdapterResult`].

mod assertion;
mod capabilities;
mod compare;

use serde_json::Value;

use crate::wire::{Field, Object, message, wire_enum};

pub use assertion::{Assertion, BadExpectation, Vocabulary};
pub use capabilities::{AdapterClaim, BadCapabilities, Capabilities, TIERS};
pub use compare::{Mismatch, differences, matches};

/// The name of the protocol with one process per case.
pub const STDIO_FIXTURE_V1: &str = "stdio-fixture-v1";

/// The name of the protocol with one case per line.
pub const STDIO_FIXTURE_LINES_V1: &str = "stdio-fixture-lines-v1";

/// The name of the protocol with one request per case.
pub const HTTP_FIXTURE_V1: &str = "http-fixture-v1";

/// The path of the [`Capabilities`], below a server's base URL.
pub const CAPABILITIES_PATH: &str = "/conform/capabilities";

/// The path that accepts cases, below a server's base URL.
pub const EXECUTE_PATH: &str = "/conform/execute";

wire_enum! {
    /// An adapter's status for a case.
    pub enum Status("FixtureStatus", closed) {
        /// The implementation behaved as expected.
        Pass = "pass",
        /// The implementation ran the case and behaved differently.
        Fail = "fail",
        /// The adapter or the implementation could not evaluate the case.
        Error = "error",
        /// The implementation does not have what the case asks for.
        NotImplemented = "not_implemented",
    }
}

impl Status {
    /// The exit code that goes with the status where a process answers one case.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::Fail => 1,
            Self::Error => 2,
            Self::NotImplemented => 3,
        }
    }
}

message! {
    /// What an adapter answers for one case.
    pub struct AdapterResult("AdapterResult", open) {
        /// The adapter's own judgement.
        required status: Status = "status", "fixture-status";
        /// A note for people.
        nullable message: String = "message", "text-for-people";
        /// What the implementation did, in the form of the case's expectation.
        nullable actual: Value = "actual", "fixture-outcome";
        /// The id of the case that this answers.
        nullable id: String = "id", "case-id";
    }
}

message! {
    /// What the kit reads of an adapter for one case. The verifier of published fixtures always
    /// needs the status.
    pub struct CaseAnswer("CaseAnswer", open) {
        /// The adapter's own judgement; required where `actual` is absent or null.
        optional status: Status = "status", "fixture-status";
        /// A note for people.
        nullable message: String = "message", "text-for-people";
        /// What the implementation did, in the form of the case's expectation.
        nullable actual: Value = "actual", "fixture-outcome";
        /// The id of the case that this answers.
        nullable id: String = "id", "case-id";
    }
}

impl From<AdapterResult> for CaseAnswer {
    fn from(result: AdapterResult) -> Self {
        let AdapterResult { status, message, actual, id, extra } = result;
        Self { status: Some(status), message, actual, id, extra }
    }
}

impl AdapterResult {
    /// Compares what the implementation did with what a case of the kit expects.
    pub fn judge(expected: &Value, actual: Value) -> Self {
        Self::judge_by(Vocabulary::Kit, expected, actual)
    }

    /// As [`AdapterResult::judge`], with another vocabulary of assertions.
    pub fn judge_by(vocabulary: Vocabulary, expected: &Value, actual: Value) -> Self {
        let mismatches = vocabulary.differences(expected, &actual);
        let (status, message) = match mismatches.first() {
            None => (Status::Pass, Field::Absent),
            Some(mismatch) => (Status::Fail, Field::Value(mismatch.to_string())),
        };
        let actual = Field::Value(actual);
        Self { status, message, actual, id: Field::Absent, extra: Object::new() }
    }

    /// A status without an outcome: the case could not be evaluated, or is not implemented.
    pub fn without_outcome(status: Status, message: impl Into<String>) -> Self {
        // `null`, not absent: the adapter states that there is no outcome.
        let (message, actual) = (Field::Value(message.into()), Field::Null);
        Self { status, message, actual, id: Field::Absent, extra: Object::new() }
    }

    /// Sets the id of the case, so that the reader can detect a mix-up.
    #[must_use]
    pub fn answering(mut self, id: impl Into<String>) -> Self {
        self.id = Field::Value(id.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{AdapterResult, Status};
    use crate::wire::Wire as _;

    #[test]
    fn exit_codes_are_those_of_the_protocol() {
        let codes: Vec<_> = Status::ALL.iter().map(|status| status.exit_code()).collect();
        assert_eq!(codes, [0, 1, 2, 3]);
    }

    #[test]
    fn a_judgement_carries_the_outcome_and_the_first_mismatch() {
        let passed =
            AdapterResult::judge(&json!({"result": "ok"}), json!({"result": "ok", "n": 1}));
        assert_eq!(
            passed.answering("alx/a/b").encode(),
            json!({"status": "pass", "actual": {"result": "ok", "n": 1}, "id": "alx/a/b"})
        );
        let failed = AdapterResult::judge(&json!({"n": 2}), json!({"n": 1}));
        assert_eq!(
            failed.encode(),
            json!({"status": "fail", "message": "/n: expected 2, found 1", "actual": {"n": 1}})
        );
    }

    #[test]
    fn members_of_other_adapters_are_tolerated_and_null_is_a_missing_outcome() {
        let read = AdapterResult::from_document(json!({
            "status": "not_implemented", "message": null, "actual": null, "took_ms": 3,
        }));
        let read = read.unwrap();
        assert_eq!(read.status, Status::NotImplemented);
        assert_eq!(read.actual.value(), None);
        assert!(AdapterResult::from_document(json!({"status": "passed"})).is_err());
    }
}
