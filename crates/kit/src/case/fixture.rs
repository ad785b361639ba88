//! A case in the form of a published fixture: the members of the fixture's format, and in `x-case`
//! those of the kit. An implementation that knows only the format runs the same file.
//!
//! A fixture of another corpus has no `x-case`: it applies to every implementation, proves no
//! clause of ours, and is sent to adapters unchanged.

use accord_contract::wire::DecodeError;
use accord_contract::{Object, Value, Wire as _, message};

use super::{Call, Case, CaseInput, Strength, Task};

message! {
    /// One case of a conformance corpus, in the form of a published fixture.
    pub struct FixtureCase("FixtureCase", closed) {
        /// The path of the file below the corpus, without its ending.
        required fixture_id: String = "fixture_id", "case-id";
        /// The tier that the case belongs to.
        required tier: u64 = "tier", "conformance-tier";
        /// The part of the protocol that the case is about.
        required surface: String = "surface", "protocol-surface";
        /// The property under test, in one sentence.
        required description: String = "description", "text-for-people";
        /// The purpose of the case; informative.
        required kind: String = "type", "fixture-type";
        /// The state before the operation.
        required setup: Object = "setup", "operation-setup";
        /// What to do.
        required input: CaseInput = "input", "operation-call";
        /// The expected outcome; may contain assertions in place of values.
        required expected: Object = "expected", "expectation";
        /// The kit's additions.
        required own: FixtureNotes = "x-case", "kit-notes";
    }

    /// The kit's additions to a published fixture.
    pub struct FixtureNotes("FixtureNotes", closed) {
        /// The ids of the clauses that the case proves.
        required clauses: Vec<String> = "clauses", "clause-ids";
        /// Whether the case decides the verdict.
        required strength: Strength = "strength", "strength";
        /// The set of stricter rules that the case belongs to; the case runs only when it is asked
        /// for.
        optional profile: String = "profile", "rule-profile";
        /// The independent implementation that computed the digests in `expected`.
        optional oracle: String = "oracle", "oracle-name";
        /// The accepting case that this rejecting one differs from.
        optional sibling: String = "sibling", "case-id";
        /// The only places in which the two differ, as JSON pointers.
        optional changes: Vec<String> = "changes", "json-pointers";
    }

    /// What a fixture of any corpus says.
    pub struct PublishedFixture("PublishedFixture", open) {
        /// The name that reports give it.
        required fixture_id: String = "fixture_id", "case-id";
        /// The tier that it belongs to.
        required tier: u64 = "tier", "conformance-tier";
        /// The part of the protocol that it is about.
        required surface: String = "surface", "protocol-surface";
        /// The property under test.
        required description: String = "description", "text-for-people";
        /// Its purpose; informative.
        required kind: String = "type", "fixture-type";
        /// The state before the operation.
        required setup: Object = "setup", "operation-setup";
        /// What to do.
        required input: PublishedInput = "input", "operation-call";
        /// The expected outcome; may contain assertions in place of values.
        required expected: Object = "expected", "expectation";
    }

    /// What a fixture of any corpus asks for.
    pub struct PublishedInput("PublishedInput", open) {
        /// The operation.
        required operation: String = "operation", "operation-name";
        /// Its arguments.
        required args: Object = "args", "operation-arguments";
    }
}

/// The members that only a fixture has.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct FixtureMarks {
    /// The part of the protocol that the case is about.
    pub surface: String,
    /// The purpose of the case; informative.
    pub kind: String,
    /// The accepting case that this rejecting one differs from.
    pub sibling: Option<String>,
    /// The only places in which the two differ, as JSON pointers.
    pub changes: Option<Vec<String>>,
    /// The whole document, if it comes from another corpus than the kit's.
    pub published: Option<Value>,
}

impl Case {
    /// A fixture of any corpus, as a case of a protocol. It is written as it was read.
    pub fn published(protocol: &str, document: Value) -> Result<Self, DecodeError> {
        let fixture = PublishedFixture::from_document(document.clone())?;
        Ok(Self {
            id: fixture.fixture_id,
            protocol: protocol.to_owned(),
            level: None,
            tier: Some(fixture.tier),
            strength: Strength::Must,
            clauses: Vec::new(),
            profile: None,
            title: fixture.description,
            task: Task::Call(Call {
                setup: fixture.setup,
                input: CaseInput { operation: fixture.input.operation, args: fixture.input.args },
                expected: fixture.expected,
                fixture: Some(Box::new(FixtureMarks {
                    surface: fixture.surface,
                    kind: fixture.kind,
                    sibling: None,
                    changes: None,
                    published: Some(document),
                })),
            }),
            oracle: None,
        })
    }

    /// The part of the protocol that the case is about, if it is a fixture.
    pub fn surface(&self) -> Option<&str> {
        match &self.task {
            Task::Call(call) => Some(&call.fixture.as_ref()?.surface),
            Task::Exchange(_) | Task::Channel(_) | Task::Folder(_) => None,
        }
    }
}

impl FixtureCase {
    pub(super) fn of(case: &Case, call: &Call, marks: &FixtureMarks) -> Self {
        Self {
            fixture_id: case.id.clone(),
            tier: case.tier.unwrap_or_default(),
            surface: marks.surface.clone(),
            description: case.title.clone(),
            kind: marks.kind.clone(),
            setup: call.setup.clone(),
            input: call.input.clone(),
            expected: call.expected.clone(),
            own: FixtureNotes {
                clauses: case.clauses.clone(),
                strength: case.strength,
                profile: case.profile.clone(),
                oracle: case.oracle.clone(),
                sibling: marks.sibling.clone(),
                changes: marks.changes.clone(),
            },
        }
    }
}

impl From<FixtureCase> for Case {
    fn from(document: FixtureCase) -> Self {
        let protocol = document.fixture_id.split('/').next().unwrap_or_default();
        Self {
            protocol: protocol.to_owned(),
            id: document.fixture_id,
            level: None,
            tier: Some(document.tier),
            strength: document.own.strength,
            clauses: document.own.clauses,
            profile: document.own.profile,
            title: document.description,
            task: Task::Call(Call {
                setup: document.setup,
                input: document.input,
                expected: document.expected,
                fixture: Some(Box::new(FixtureMarks {
                    surface: document.surface,
                    kind: document.kind,
                    sibling: document.own.sibling,
                    changes: document.own.changes,
                    published: None,
                })),
            }),
            oracle: document.own.oracle,
        }
    }
}
