//! Contract snapshots: one JSON document for a wire contract at a version, made from the types and
//! the registry, so that it cannot differ from the code.

use std::collections::BTreeMap;

use serde_json::json;

use crate::alx::ErrorEnvelope;
use crate::codes::{Category, Code};
use crate::compat::{Direction, Report, SnapshotDocument};
use crate::fixture::AdapterResult;
use crate::wire::{Message, Names, Object, Value, snapshot_fields};

/// The version of Accord's own wire contract.
pub const ACCORD_CONTRACT_VERSION: &str = "0.2";

/// A snapshot under construction. Crates that own messages add them.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Builder {
    version: String,
    directions: Object,
    messages: Object,
    capabilities: Vec<String>,
    errors: Object,
    events: Object,
    envelope_semantics: Object,
    identity: Option<Value>,
}

/// What the contract says about an event type.
#[derive(Clone, Copy, Debug)]
pub struct EventMeaning {
    /// A token for the meaning; it changes when the meaning does.
    pub semantics: &'static str,
    /// Whether a client that does not know the type loses nothing that it needs.
    pub ignorable: bool,
}

/// How content identity is computed.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The prefix of the hashed bytes.
    pub domain_tag: String,
    /// The hash function.
    pub hash: String,
    /// The members that are hashed.
    pub scope: Vec<String>,
    /// Examples with their hashes.
    pub vectors: BTreeMap<String, String>,
}

/// Lists the messages of a module that belong to Accord's wire contract, with the names of their
/// schemas: `contract_messages! { Response; RunAnswer = "run-answer" }`.
#[macro_export]
macro_rules! contract_messages {
    ($direction:ident; $($message:ident = $file:literal),+ $(,)?) => {
        /// Adds the messages to a snapshot of the wire contract.
        pub fn add_to(snapshot: $crate::snapshot::Builder) -> $crate::snapshot::Builder {
            snapshot$(.message::<$message>($crate::compat::Direction::$direction))+
        }

        /// The JSON Schema of each message, by the name of its file in `docs/schemas`.
        pub fn schemas() -> ::std::vec::Vec<(&'static str, $crate::wire::Value)> {
            ::std::vec![$(($file, $crate::wire::json_schema::<$message>())),+]
        }
    };
}

/// Starts the snapshot of Accord's own wire contract. Other crates add their messages.
pub fn own() -> Builder {
    builder(ACCORD_CONTRACT_VERSION)
        .message::<ErrorEnvelope>(Direction::Response)
        .message::<AdapterResult>(Direction::Response)
        .message::<SnapshotDocument>(Direction::Request)
        .message::<Report>(Direction::Response)
        .errors(|_| true)
        .envelope_semantics("ok:true", "request-carried-out")
        .envelope_semantics("ok:false", "request-not-carried-out")
}

/// Starts the snapshot of a contract at a version.
pub fn builder(version: &str) -> Builder {
    Builder { version: version.into(), ..Builder::default() }
}

impl Builder {
    /// Adds a message. Panics if another message of the same name was added before.
    pub fn message<M: Message>(mut self, direction: Direction) -> Self {
        let fields = Value::Object(snapshot_fields::<M>());
        let previous = self.messages.insert(M::NAME.into(), fields);
        assert!(previous.is_none(), "two messages are called {}", M::NAME);
        (self.directions).insert(M::NAME.into(), direction.as_str().into());
        self
    }

    /// Adds a capability.
    pub fn capability(mut self, name: &str) -> Self {
        self.capabilities.push(name.into());
        self
    }

    /// Adds the codes of the registry that `belongs` picks, under their categories.
    pub fn errors(mut self, belongs: impl Fn(Code) -> bool) -> Self {
        for category in Category::ALL {
            let codes: Vec<_> = (Code::ALL.iter())
                .filter(|code| code.category() == *category && belongs(**code))
                .map(|code| code.as_str())
                .collect();
            if !codes.is_empty() {
                self.errors.insert(category.as_str().into(), json!(codes));
            }
        }
        self
    }

    /// Adds a list of event types.
    pub fn events<N: Names>(mut self, meaning: impl Fn(N) -> EventMeaning) -> Self {
        let entry = |name: &N| {
            let meaning = meaning(*name);
            let entry = json!({"semantics": meaning.semantics, "ignorable": meaning.ignorable});
            (name.as_str().to_owned(), entry)
        };
        let members = N::ALL.iter().map(entry).collect();
        self.events.insert(N::NAME.into(), Value::Object(members));
        self
    }

    /// Says what a value of an envelope member guarantees.
    pub fn envelope_semantics(mut self, when: &str, semantics: &str) -> Self {
        (self.envelope_semantics).insert(when.into(), semantics.into());
        self
    }

    /// Says how content identity is computed.
    pub fn identity(mut self, identity: Identity) -> Self {
        self.identity = Some(json!({
            "domainTag": identity.domain_tag,
            "hash": identity.hash,
            "scope": identity.scope,
            "vectors": identity.vectors,
        }));
        self
    }

    /// The snapshot, its messages in the order of their names.
    pub fn build(mut self) -> Value {
        // The order in which crates add their messages must not show in the document.
        self.messages.sort_keys();
        self.directions.sort_keys();
        self.capabilities.sort();
        let mut document = json!({
            "protocolVersion": self.version,
            "directions": self.directions,
            "messages": self.messages,
            "capabilities": self.capabilities,
            "errors": self.errors,
            "events": self.events,
            "envelopeSemantics": self.envelope_semantics,
        });
        if let Some(identity) = self.identity {
            document["identity"] = identity;
        }
        document
    }
}
