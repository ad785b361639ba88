//! Contracts: what a page shows, what a person can do on it, and what an agent can send to it.
//!
//! Invariants:
//! * The document is kept as it was sent: unknown members at its top survive.
//! * Reading and checking report every violation, each with the place.
//! * A [`CompiledContract`] exists only for a contract without violations.

mod answers;
mod check;
mod compiled;
mod context;
mod entries;
mod hash;
mod names;
mod read;
mod shape;

use accord_contract::{Code, Failure, Object, Value, closest::closest};

use crate::violation::{Violation, refuse};
use crate::{capabilities::AgentTool, gadgets::ClientCapabilities};

pub use answers::{ANSWER_RULES, AnswerRules, AnsweredBy, ClosesOn, KEEP};
pub use check::check;
pub use compiled::{Action, CompiledContract, Emission};
pub use context::derived_default;
pub(crate) use context::first_value;
pub use entries::{
    ActionEntry, ContextEntry, Entries, Mode, PropEntry, PropsSpec, Replay, StreamEntry,
    StreamSource,
};
pub(crate) use hash::digest;
pub use hash::{contract_hash, variant_key};

pub(crate) use read::{Reader, join};

#[derive(Clone, Debug)]
pub struct DataContract {
    pub props: Option<PropsSpec>,
    pub actions: Option<Entries<ActionEntry>>,
    /// What the agent can send while the page is open.
    pub streams: Option<Entries<StreamEntry>>,
    /// What the page tells the agent about itself.
    pub context: Option<Entries<ContextEntry>>,
    pub tools: Option<Entries<AgentTool>>,
    pub gadgets: Option<ClientCapabilities>,
    pub answers: AnswerRules,
    document: Object,
}

pub const SPECS: [&str; 6] = [
    "propsSpec",
    "actionSpec",
    "streamSpec",
    "contextSpec",
    "agentCapabilities",
    "clientCapabilities",
];

/// Members beside the specs that are prose, as in every part of a contract.
const PROSE: [&str; 2] = ["description", "usage"];

/// A member at the top of a contract that is no spec. It is kept, and nothing reads it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UnknownMember<'a> {
    pub name: &'a str,
    /// The spec that may be meant.
    pub meant: Option<&'static str>,
}

/// Members of earlier versions, and what replaced them.
const RETIRED: [(&str, &str); 6] = [
    ("libraries", "clientCapabilities.gadgets"),
    ("dispatch", "agentCapabilities.tools and the nextStep of actions"),
    ("wiredTools", "agentCapabilities.tools"),
    ("clientTools", "clientCapabilities.gadgets"),
    ("broadcast", "the source of channels"),
    ("capabilities", "agentCapabilities and clientCapabilities"),
];

impl DataContract {
    /// Reads a contract. Entries are strict; unknown members at the top are kept.
    ///
    /// Clauses: GGUI-CONTRACT-SPECS, GGUI-CONTRACT-STRICT-ENTRIES, GGUI-CONTRACT-RETIRED.
    pub fn read(document: &Value) -> Result<Self, Vec<Violation>> {
        let mut reader = Reader::default();
        let contract = reader.object(document, "").map(|members| {
            for (name, instead) in RETIRED {
                reader.retired(members, "", name, instead);
            }
            let client = members.get("clientCapabilities");
            Self {
                props: PropsSpec::read(members.get("propsSpec"), &mut reader),
                actions: Entries::read(members, "actionSpec", &mut reader, ActionEntry::read),
                streams: Entries::read(members, "streamSpec", &mut reader, StreamEntry::read),
                context: Entries::read(members, "contextSpec", &mut reader, ContextEntry::read),
                tools: AgentTool::read_all(members.get("agentCapabilities"), &mut reader),
                gadgets: ClientCapabilities::read_member(client, &mut reader),
                answers: AnswerRules::read(members, &mut reader),
                document: members.clone(),
            }
        });
        reader.finish(contract)
    }

    /// The document, as it was sent.
    pub fn document(&self) -> &Object {
        &self.document
    }

    /// The members at the top that nothing reads, most often a spec under a wrong name. Members
    /// that begin with `x-` and prose are left out.
    pub fn unknown_members(&self) -> impl Iterator<Item = UnknownMember<'_>> {
        let names = self.document.keys().map(String::as_str);
        let unknown = names.filter(|name| {
            !SPECS.contains(name) && !PROSE.contains(name) && !name.starts_with("x-")
        });
        unknown.map(|name| UnknownMember { name, meant: closest(name, SPECS) })
    }

    pub fn tool(&self, name: &str) -> Option<&AgentTool> {
        self.tools.as_ref()?.get(name)
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ContractRefusal {
    pub code: Code,
    pub violations: Vec<Violation>,
}

impl ContractRefusal {
    /// The refusal for these violations. Its code is that of their kind, if they are all of one.
    ///
    /// Clauses: GGUI-CONTRACT-CODES.
    pub fn new(violations: Vec<Violation>) -> Self {
        let kind = |violation: &Violation| match violation.known_code() {
            Some(Code::GguiCtrDupName | Code::GguiCtrReservedName) => {
                Code::GguiToolNameInvariantViolation
            }
            Some(Code::GguiCtrRefNextStep | Code::GguiCtrRefStreamSource) => {
                Code::GguiToolCrossReferenceUnresolved
            }
            Some(Code::GguiCtrSchemaIncompat) => Code::GguiToolSchemaCompatIncompat,
            Some(Code::GguiCtrSchemaMetaInvalid | Code::GguiCtrSchemaTooLarge) => {
                Code::GguiToolContractSchemaInvalid
            }
            _ => Code::GguiToolContractValidationFailed,
        };
        let first = violations.first().map(kind);
        let code = first.filter(|first| violations.iter().all(|other| kind(other) == *first));
        Self { code: code.unwrap_or(Code::GguiToolContractValidationFailed), violations }
    }
}

impl From<ContractRefusal> for Failure {
    fn from(refusal: ContractRefusal) -> Self {
        refuse(refusal.code, &refusal.violations)
    }
}
