//! The two documents beside a protocol's cases: its clauses and its operations.

use std::collections::BTreeMap;

use accord_contract::{Value, message, wire_enum};

use crate::case::Strength;

message! {
    /// The normative clauses of a protocol, in the project's own words.
    pub struct ClauseList("ClauseList", closed) {
        /// The protocol that they belong to.
        required protocol: String = "protocol", "protocol-name";
        /// The protocol's version that they were taken from.
        required version: String = "version", "protocol-version";
        /// The levels that its cases belong to, in protocols that have levels and no routes.
        optional levels: Vec<String> = "levels", "conformance-levels";
        /// The independent implementations that compute the digests that its cases expect.
        optional oracles: Vec<String> = "oracles", "oracle-names";
        /// The clauses.
        required clauses: Vec<Clause> = "clauses", "clauses";
    }

    /// One promise of a protocol.
    pub struct Clause("Clause", closed) {
        /// The stable id that cases cite.
        required id: String = "id", "clause-id";
        /// How strongly it binds.
        required strength: Strength = "strength", "strength";
        /// What it says.
        required text: String = "text", "text-for-people";
        /// Where the protocol says it.
        required source: String = "source", "text-for-people";
    }

    /// The operations that a protocol's cases may ask for. The list is closed.
    pub struct OperationList("OperationList", closed) {
        /// The operations by name.
        required operations: BTreeMap<String, Operation> = "operations", "operations";
        /// Places in a folder that an implementation may choose, for cases that are judged by one.
        optional places: BTreeMap<String, Choice> = "places", "choices";
        /// Settings that a case may ask for, for cases that are judged by a folder.
        optional settings: BTreeMap<String, Choice> = "settings", "choices";
    }

    /// Values, one of which applies.
    pub struct Choice("Choice", closed) {
        /// What it is about.
        required about: String = "about", "text-for-people";
        /// The values; the first is the default.
        required values: Vec<String> = "values", "texts";
    }

    /// One operation that an adapter can be asked for.
    pub struct Operation("Operation", closed) {
        /// What it does.
        required summary: String = "summary", "text-for-people";
        /// The setup members that it knows.
        required setup: Vec<String> = "setup", "member-names";
        /// The arguments that it takes.
        required args: BTreeMap<String, Argument> = "args", "arguments";
        /// The members that an outcome may have beside `result`, which is `ok` or `error`. Every
        /// operation of a corpus names them.
        optional result: Vec<String> = "result", "member-names";
    }

    /// One argument of an operation.
    pub struct Argument("Argument", closed) {
        /// Its JSON type.
        required kind: ArgumentType = "type", "json-type";
        /// Whether it is required.
        required required: bool = "required", "flag";
        /// Its class.
        required about: String = "about", "text-for-people";
    }
}

wire_enum! {
    /// The JSON type of an argument.
    pub enum ArgumentType("ArgumentType", closed) {
        /// Anything.
        Any = "any",
        /// A list.
        Array = "array",
        /// True or false.
        Boolean = "boolean",
        /// A number without a fraction.
        Integer = "integer",
        /// A number.
        Number = "number",
        /// An object.
        Object = "object",
        /// A string.
        String = "string",
    }
}

impl OperationList {
    /// The list of a protocol without adapter operations.
    pub(super) fn empty() -> Self {
        Self { operations: BTreeMap::new(), places: None, settings: None }
    }
}

impl ArgumentType {
    /// Whether a value has this type.
    pub fn accepts(self, value: &Value) -> bool {
        match self {
            Self::Any => true,
            Self::Array => value.is_array(),
            Self::Boolean => value.is_boolean(),
            Self::Integer => value.as_f64().is_some_and(|number| number.fract() == 0.0),
            Self::Number => value.is_number(),
            Self::Object => value.is_object(),
            Self::String => value.is_string(),
        }
    }
}
