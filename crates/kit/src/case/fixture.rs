//! A case in the form of a published fixture: the members that the fixture's format has, and in `x-case`
//! what the kit adds. An implementation that knows only the format runs the same file.

use accord_contract::wire::{Object, message};

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
        /// What must hold, in one sentence.
        required description: String = "description", "text-for-people";
        /// What the case is meant to show; informative.
        required kind: String = "type", "fixture-type";
        /// What must be there before the operation.
        required setup: Object = "setup", "operation-setup";
        /// What to do.
        required input: CaseInput = "input", "operation-call";
        /// What must come of it; may hold assertions in the place of values.
        required expected: Object = "expected", "expectation";
        /// What the kit adds.
        required own: FixtureNotes = "x-case", "kit-notes";
    }
}

message! {
    /// What the kit adds to a published fixture.
    pub struct FixtureNotes("FixtureNotes", closed) {
        /// The ids of the clauses that the case proves.
        required clauses: Vec<String> = "clauses", "clause-ids";
        /// Whether the case decides the verdict.
        required strength: Strength = "strength", "strength";
        /// The set of stricter rules that the case belongs to; the case runs only when it is asked for.
        optional profile: String = "profile", "rule-profile";
        /// The independent implementation that computed the digests in `expected`.
        optional oracle: String = "oracle", "oracle-name";
        /// The accepting case that this rejecting one differs from.
        optional sibling: String = "sibling", "case-id";
        /// The only places in which the two differ, as JSON pointers.
        optional changes: Vec<String> = "changes", "json-pointers";
    }
}

/// What a fixture says beyond what every case says.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct FixtureMarks {
    /// The part of the protocol that the case is about.
    pub surface: String,
    /// What the case is meant to show; informative.
    pub kind: String,
    /// The accepting case that this rejecting one differs from.
    pub sibling: Option<String>,
    /// The only places in which the two differ, as JSON pointers.
    pub changes: Option<Vec<String>>,
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
                })),
            }),
            oracle: document.own.oracle,
        }
    }
}
