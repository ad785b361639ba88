//! Reading a contract snapshot.

use std::collections::{BTreeMap, BTreeSet};

use super::identity::full_id;
use super::json_types::JsonTypes;
use super::place::ChangePath;
use crate::codes::{Code, Failure};
use crate::wire::{Object, Pointer, Value, Wire, identity_text};
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

    /// One place of a message.
    pub struct FieldEntry("SnapshotField", open) {
        /// Whether it is the contract or a convenience.
        required kind: FieldKind = "kind", "field-kind";
        /// The canonical place that an alias repeats.
        optional mirrors: String = "mirrors", "field-place";
        /// Whether it is required.
        optional presence: PresenceWord = "presence", "presence";
        /// The JSON type, or a list of them.
        optional types: JsonTypes = "type", "json-types";
        /// Whether it may be null.
        optional nullable: bool = "nullable", "nullable-flag";
        /// A token for the meaning; `unknown` if it is not known.
        optional semantics: String = "semantics", "meaning-token";
        /// The values that it may have.
        optional values: Vec<Value> = "enum", "value-list";
        /// Whether readers must accept other values.
        optional open_enum: bool = "openEnum", "open-list-flag";
    }

    /// One event type.
    pub struct EventEntry("SnapshotEvent", open) {
        /// A token for the meaning.
        optional semantics: String = "semantics", "meaning-token";
        /// Whether clients that do not know it lose nothing.
        optional ignorable: bool = "ignorable", "ignorable-flag";
    }

    /// How content identity is computed.
    pub struct IdentityEntry("SnapshotIdentity", open) {
        /// The prefix of the hashed bytes.
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

    /// Whether a place is the contract or a convenience.
    pub enum FieldKind("FieldKind", closed) {
        /// The contract.
        Canonical = "canonical",
        /// A convenience that repeats a canonical place.
        Alias = "alias",
    }

    /// Whether a place is required.
    pub enum PresenceWord("FieldPresence", closed) {
        /// It is required.
        Required = "required",
        /// It may be left out.
        Optional = "optional",
    }
}

/// A contract snapshot that is valid.
#[derive(Clone, Debug)]
pub struct Snapshot {
    document: SnapshotDocument,
    messages: BTreeMap<String, Fields>,
}

/// The places of a message, each with its name in the snapshot.
pub(super) type Fields = BTreeMap<ChangePath, (String, FieldEntry)>;

impl Snapshot {
    /// Reads a snapshot; a refusal names the place in `document`. Clauses: ALX-SNAPSHOT-VALID.
    pub fn parse(document: Value) -> Result<Self, Failure> {
        let document = SnapshotDocument::from_document(document).map_err(|error| {
            Failure::new(Code::SnapshotInvalid, error.to_string()).at(error.pointer)
        })?;
        let mut messages = BTreeMap::new();
        for (name, entries) in &document.messages {
            messages.insert(name.clone(), fields(name, entries)?);
        }
        (document.identity.iter()).try_for_each(refuse_double_vectors)?;
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
        let types = self.document.errors.iter().flatten();
        let types = types.map(|(kind, codes)| (kind.as_str(), codes.iter().map(String::as_str)));
        types.map(|(kind, codes)| (kind, codes.collect())).collect()
    }

    /// The event types, each by its list and its name.
    pub(super) fn events(&self) -> BTreeMap<(&str, &str), &EventEntry> {
        let lists = self.document.events.iter().flatten();
        let types = lists.flat_map(|(list, types)| types.iter().map(move |each| (list, each)));
        types.map(|(list, (name, entry))| ((list.as_str(), name.as_str()), entry)).collect()
    }

    pub(super) fn event_lists(&self) -> BTreeSet<&str> {
        let lists = self.document.events.iter().flatten();
        lists.map(|(list, _)| list.as_str()).collect()
    }

    /// The names of the event lists that have no types.
    pub(super) fn empty_event_lists(&self) -> BTreeSet<&str> {
        let lists = self.document.events.iter().flatten();
        let empty = lists.filter(|(_, types)| types.is_empty());
        empty.map(|(list, _)| list.as_str()).collect()
    }

    pub(super) fn guarantees(&self) -> BTreeMap<&str, &str> {
        let listed = self.document.envelope_semantics.iter().flatten();
        listed.map(|(when, token)| (when.as_str(), token.as_str())).collect()
    }

    pub(super) fn identity(&self) -> Option<&IdentityEntry> {
        self.document.identity.as_ref()
    }

    /// The parts of the snapshot that the checker does not know.
    pub(super) fn unknown_parts(&self) -> &Object {
        &self.document.extra
    }

    /// The sender of a message: from the snapshot, else from its name.
    pub(super) fn direction(&self, message: &str) -> Direction {
        let said = self.document.directions.as_ref().and_then(|said| said.get(message).copied());
        let is_request = message.ends_with("Request") || message.ends_with("Input");
        said.unwrap_or(if is_request { Direction::Request } else { Direction::Response })
    }

    pub(super) fn directions(&self) -> BTreeMap<&str, Direction> {
        let said = self.document.directions.iter().flatten();
        said.map(|(message, direction)| (message.as_str(), *direction)).collect()
    }
}

impl FieldEntry {
    pub(super) fn is_canonical(&self) -> bool {
        self.kind == FieldKind::Canonical
    }

    pub(super) fn is_required(&self) -> bool {
        self.presence == Some(PresenceWord::Required)
    }

    pub(super) fn is_nullable(&self) -> bool {
        self.nullable == Some(true)
    }

    /// The place that an alias repeats.
    pub(super) fn mirrored(&self) -> Option<ChangePath> {
        self.mirrors.as_deref().map(ChangePath::parse)
    }

    /// The listed values, if there is a list, each under a key that is unique to the value.
    pub(super) fn listed(&self) -> Option<BTreeMap<String, &Value>> {
        let values = self.values.as_ref()?.iter();
        Some(values.map(|value| (identity_text(value), value)).collect())
    }

    pub(super) fn says_open(&self) -> bool {
        self.open_enum == Some(true)
    }

    /// Whether values outside the list are allowed; without a list, any value is.
    pub(super) fn is_open(&self) -> bool {
        self.values.is_none() || self.says_open()
    }

    /// The same entry with null expressed only by `nullable`, if the two agree.
    fn with_null_as_flag(&self) -> Option<Self> {
        let mut entry = self.clone();
        if (entry.types.as_mut()).is_some_and(JsonTypes::take_null) {
            if entry.nullable == Some(false) {
                return None;
            }
            entry.nullable = Some(true);
        }
        Some(entry)
    }
}

/// The entries of a message by place. Each must be complete and unique.
fn fields(message: &str, entries: &BTreeMap<String, FieldEntry>) -> Result<Fields, Failure> {
    let mut fields = Fields::new();
    for (name, entry) in entries {
        let refuse = |problem: &str| {
            let place = Pointer::Root.member("messages").member(message).member(name).to_string();
            Failure::new(Code::SnapshotInvalid, format!("{place}: {problem}")).at(place)
        };
        if entry.is_canonical() && entry.presence.is_none() {
            return Err(refuse("a canonical member has a presence"));
        }
        if entry.is_canonical() && entry.types.is_none() {
            return Err(refuse("a canonical member has a type"));
        }
        // Two spellings of the same promise must not be reported as a change.
        let Some(entry) = entry.with_null_as_flag() else {
            return Err(refuse("null is among the types, and nullable says no"));
        };
        let previous = fields.insert(ChangePath::parse(name), (name.clone(), entry));
        if let Some((other, _)) = previous {
            return Err(refuse(&format!("the same place is also written {other}")));
        }
    }
    Ok(fields)
}

/// Refuses two vectors with the same tag and name, because one would be ignored.
fn refuse_double_vectors(identity: &IdentityEntry) -> Result<(), Failure> {
    let mut seen = BTreeMap::new();
    for id in identity.vectors.iter().flat_map(BTreeMap::keys) {
        if let Some(other) = seen.insert(full_id(identity, id), id) {
            let place = Pointer::Root.member("identity").member("vectors").member(id).to_string();
            let problem = format!("{place}: the same vector is also called {other}");
            return Err(Failure::new(Code::SnapshotInvalid, problem).at(place));
        }
    }
    Ok(())
}
