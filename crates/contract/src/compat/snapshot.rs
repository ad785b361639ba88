//! Reading a contract snapshot.

use std::collections::{BTreeMap, BTreeSet};

use super::place::Place;
use crate::codes::{Code, Failure};
use crate::wire::{DecodeError, Form, Object, Pointer, Shape, Value, Wire};
use crate::{message, wire_enum};

message! {
    /// What a wire contract promises at a version.
    pub struct SnapshotDocument("ContractSnapshot", open) {
        /// The version of the contract.
        required protocol_version: String = "protocolVersion", "contract-version";
        /// Who sends each message, where its name does not say so.
        optional directions: BTreeMap<String, Direction> = "directions", "message-directions";
        /// The messages: name to places to attributes.
        required messages: BTreeMap<String, BTreeMap<String, FieldEntry>> = "messages", "messages";
        /// The capabilities that are advertised.
        optional capabilities: Vec<String> = "capabilities", "capabilities";
        /// The error codes, by type.
        optional errors: BTreeMap<String, Vec<String>> = "errors", "codes-by-type";
        /// The event types, by list.
        optional events: BTreeMap<String, BTreeMap<String, EventEntry>> = "events", "event-types";
        /// What values of the envelope guarantee.
        optional envelope_semantics: BTreeMap<String, String> = "envelopeSemantics", "guarantees";
        /// How content identity is computed.
        optional identity: IdentityEntry = "identity", "identity-rules";
    }
}

message! {
    /// One place of a message.
    pub struct FieldEntry("SnapshotField", open) {
        /// Whether it is the contract or a convenience.
        required kind: FieldKind = "kind", "field-kind";
        /// The canonical place that an alias repeats.
        optional mirrors: String = "mirrors", "field-place";
        /// Whether it must be there.
        optional presence: PresenceWord = "presence", "presence";
        /// The JSON type, or a list of them.
        optional types: JsonTypes = "type", "json-types";
        /// Whether it may be null.
        optional nullable: bool = "nullable", "nullable-flag";
        /// A token for the meaning; `unknown` where nobody knows.
        optional semantics: String = "semantics", "meaning-token";
        /// The values that it may have.
        optional values: Vec<Value> = "enum", "value-list";
        /// Whether readers must live with other values.
        optional open_enum: bool = "openEnum", "open-list-flag";
    }
}

message! {
    /// One event type.
    pub struct EventEntry("SnapshotEvent", open) {
        /// A token for the meaning.
        optional semantics: String = "semantics", "meaning-token";
        /// Whether clients that do not know it lose nothing.
        optional ignorable: bool = "ignorable", "ignorable-flag";
    }
}

message! {
    /// How content identity is computed.
    pub struct IdentityEntry("SnapshotIdentity", open) {
        /// What stands before the hashed bytes.
        required domain_tag: String = "domainTag", "domain-tag";
        /// The hash function.
        required hash: String = "hash", "hash-function";
        /// The members that are hashed.
        required scope: Vec<String> = "scope", "hash-scope";
        /// Examples with their hashes.
        optional vectors: BTreeMap<String, String> = "vectors", "identity-vectors";
    }
}

wire_enum! {
    /// Who sends a message.
    pub enum Direction("MessageDirection", closed) {
        /// A client.
        Request = "request",
        /// A server.
        Response = "response",
    }
}

wire_enum! {
    /// Whether a place is the contract or a convenience.
    pub enum FieldKind("FieldKind", closed) {
        /// The contract.
        Canonical = "canonical",
        /// A convenience that repeats a canonical place.
        Alias = "alias",
    }
}

wire_enum! {
    /// Whether a place must be there.
    pub enum PresenceWord("FieldPresence", closed) {
        /// It must.
        Required = "required",
        /// It may be left out.
        Optional = "optional",
    }
}

/// The JSON types that a place may have: one name, or a list of them in any order.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct JsonTypes(BTreeSet<String>);

/// A contract snapshot that has been read and found sound.
#[derive(Clone, Debug)]
pub struct Snapshot {
    document: SnapshotDocument,
    messages: BTreeMap<String, Fields>,
}

/// The places of a message, each with its name in the snapshot.
pub(super) type Fields = BTreeMap<Place, (String, FieldEntry)>;

impl Snapshot {
    /// Reads a snapshot; a refusal names the place in `document`.
    pub fn parse(document: Value) -> Result<Self, Failure> {
        let document = SnapshotDocument::from_document(document).map_err(|error| {
            let DecodeError { pointer, .. } = &error;
            Failure::new(Code::SnapshotInvalid, error.to_string()).at(pointer)
        })?;
        let mut messages = BTreeMap::new();
        for (name, entries) in &document.messages {
            messages.insert(name.clone(), fields(name, entries)?);
        }
        Ok(Self { document, messages })
    }

    /// The version of the contract.
    pub fn version(&self) -> &str {
        &self.document.protocol_version
    }

    pub(super) fn messages(&self) -> &BTreeMap<String, Fields> {
        &self.messages
    }

    pub(super) fn capabilities(&self) -> BTreeSet<&str> {
        let listed = self.document.capabilities.iter().flatten();
        listed.map(String::as_str).collect()
    }

    pub(super) fn errors(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let by_type = self.document.errors.iter().flatten();
        by_type
            .map(|(name, codes)| (name.as_str(), codes.iter().map(String::as_str).collect()))
            .collect()
    }

    /// The event types, each by its list and its name.
    pub(super) fn events(&self) -> BTreeMap<(&str, &str), &EventEntry> {
        let lists = self.document.events.iter().flatten();
        lists
            .flat_map(|(list, types)| {
                types
                    .iter()
                    .map(move |(name, entry)| ((list.as_str(), name.as_str()), entry))
            })
            .collect()
    }

    pub(super) fn guarantees(&self) -> BTreeMap<&str, &str> {
        let listed = self.document.envelope_semantics.iter().flatten();
        listed
            .map(|(when, token)| (when.as_str(), token.as_str()))
            .collect()
    }

    pub(super) fn identity(&self) -> Option<&IdentityEntry> {
        self.document.identity.as_ref()
    }

    /// The parts of the snapshot that the checker does not know.
    pub(super) fn unknown_parts(&self) -> &Object {
        &self.document.extra
    }

    /// Who sends a message: as the snapshot says, else as the name says.
    pub(super) fn direction(&self, message: &str) -> Direction {
        let said = self.document.directions.as_ref();
        let by_name = if message.ends_with("Request") || message.ends_with("Input") {
            Direction::Request
        } else {
            Direction::Response
        };
        said.and_then(|directions| directions.get(message).copied())
            .unwrap_or(by_name)
    }
}

impl FieldEntry {
    pub(super) fn is_canonical(&self) -> bool {
        self.kind == FieldKind::Canonical
    }

    pub(super) fn is_required(&self) -> bool {
        self.presence == Some(PresenceWord::Required)
    }
}

impl JsonTypes {
    /// The types as text for people.
    pub(super) fn in_words(&self) -> String {
        let names: Vec<_> = self.0.iter().map(String::as_str).collect();
        names.join(" or ")
    }
}

impl Wire for JsonTypes {
    fn shape() -> Shape {
        Shape::Any
    }

    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
        match value {
            Value::String(name) => Ok(Self(BTreeSet::from([name]))),
            list @ Value::Array(_) => {
                Vec::decode(list, at).map(|names: Vec<String>| Self(names.into_iter().collect()))
            }
            other => Err(DecodeError::wrong_type(at, &Shape::Text, &other)),
        }
    }

    fn write(&self, _: Form) -> Value {
        match self.0.first() {
            Some(only) if self.0.len() == 1 => only.clone().into(),
            _ => self.0.iter().cloned().collect(),
        }
    }
}

/// The entries of a message by place, where each is complete and stands once.
fn fields(message: &str, entries: &BTreeMap<String, FieldEntry>) -> Result<Fields, Failure> {
    let mut fields = Fields::new();
    for (name, entry) in entries {
        let refuse = |problem: &str| {
            let messages = Pointer::Root.member("messages");
            let message = messages.member(message);
            let place = message.member(name).to_string();
            Failure::new(Code::SnapshotInvalid, format!("{place}: {problem}")).at(place)
        };
        if entry.is_canonical() && entry.presence.is_none() {
            return Err(refuse("a canonical member has a presence"));
        }
        if entry.is_canonical() && entry.types.is_none() {
            return Err(refuse("a canonical member has a type"));
        }
        let previous = fields.insert(Place::parse(name), (name.clone(), entry.clone()));
        if let Some((other, _)) = previous {
            return Err(refuse(&format!("the same place is also written {other}")));
        }
    }
    Ok(fields)
}
