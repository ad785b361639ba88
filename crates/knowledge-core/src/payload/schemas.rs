//! The ten payload types. Members that a schema does not name are allowed.

/// What a member must be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// Any value. The member must be present.
    Any,
    Text,
    Number,
    Flag,
    List,
    ListOf(&'static Self),
    /// An object with any keys, all of whose values have this shape.
    MapOf(&'static Self),
    Object(&'static [Member]),
    Choice(&'static [&'static str]),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) name: &'static str,
    pub(crate) required: bool,
    pub(crate) shape: Shape,
}

const fn needs(name: &'static str, shape: Shape) -> Member {
    Member { name, required: true, shape }
}

const fn may_have(name: &'static str, shape: Shape) -> Member {
    Member { name, required: false, shape }
}

/// The payload types that have a schema: six of tier 0, then four of tier 1.
pub const PAYLOAD_TYPES: [&str; 10] = [
    "practice",
    "feature",
    "stateMachine",
    "promptEngineering",
    "complianceChecklist",
    "rubric",
    "synthesis",
    "pattern",
    "adaptation",
    "enhancement",
];

/// The members of a payload of `kind`, if it has a schema. Clauses: ALX-PAYLOAD-UNKNOWN-TYPE.
pub(crate) fn schema(kind: &str) -> Option<&'static [Member]> {
    Some(match kind {
        "practice" => PRACTICE,
        "feature" => FEATURE,
        "stateMachine" => STATE_MACHINE,
        "promptEngineering" => PROMPT_ENGINEERING,
        "complianceChecklist" => COMPLIANCE_CHECKLIST,
        "rubric" => RUBRIC,
        "synthesis" => SYNTHESIS,
        "pattern" => PATTERN,
        "adaptation" => ADAPTATION,
        "enhancement" => ENHANCEMENT,
        _ => return None,
    })
}

use Shape::{Any, Choice, Flag, List, ListOf, MapOf, Number, Object, Text};

/// Clauses: ALX-PAYLOAD-PRACTICE.
const PRACTICE: &[Member] =
    &[needs("rationale", Text), needs("contexts", List), needs("failureModes", List)];

/// Clauses: ALX-PAYLOAD-FEATURE.
const FEATURE: &[Member] = &[needs("interfaceContract", Any), needs("testScaffold", Any)];

/// Clauses: ALX-PAYLOAD-STATE-MACHINE.
const STATE_MACHINE: &[Member] =
    &[needs("states", List), needs("transitions", List), needs("invariants", List)];

/// Clauses: ALX-PAYLOAD-PROMPT.
const PROMPT_ENGINEERING: &[Member] =
    &[needs("template", Text), needs("modelVersion", Text), needs("evalCriteria", List)];

/// Clauses: ALX-PAYLOAD-COMPLIANCE.
const COMPLIANCE_CHECKLIST: &[Member] = &[
    needs("jurisdictionTags", ListOf(&Text)),
    needs(
        "requirements",
        ListOf(&Object(&[
            needs("id", Text),
            needs("description", Text),
            needs("isMandatory", Flag),
        ])),
    ),
    needs(
        "evidenceMapping",
        Object(&[
            needs("type", Choice(&["log_entry", "audit_trail", "cryptographic_proof"])),
            needs("validationLogic", Text),
        ]),
    ),
];

/// Clauses: ALX-PAYLOAD-RUBRIC.
const RUBRIC: &[Member] = &[
    needs("dimensions", ListOf(&Object(&[needs("criterion", Text), needs("weight", Number)]))),
    needs("scoringLogic", Text),
    needs("thresholds", Object(&[needs("pass", Number), needs("escalate", Number)])),
];

/// Clauses: ALX-PAYLOAD-SYNTHESIS.
const SYNTHESIS: &[Member] =
    &[needs("question", Text), needs("answer", Text), needs("citations", MapOf(&Text))];

/// Clauses: ALX-PAYLOAD-PATTERN.
const PATTERN: &[Member] = &[
    needs("pattern", Text),
    needs(
        "occurrences",
        ListOf(&Object(&[
            may_have("kbHash", Text),
            needs("context", Text),
            may_have("offset", Number),
        ])),
    ),
    needs("applicability", Text),
];

/// Clauses: ALX-PAYLOAD-ADAPTATION.
const ADAPTATION: &[Member] = &[
    needs("targetDomain", Text),
    needs("adaptedContent", Text),
    needs("tradeoffs", ListOf(&Text)),
];

/// Clauses: ALX-PAYLOAD-ENHANCEMENT.
const ENHANCEMENT: &[Member] = &[
    needs("concern", Choice(&["observability", "security", "performance", "accessibility"])),
    needs("enhancedContent", Text),
];
