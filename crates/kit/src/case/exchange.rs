//! A case that is judged over HTTP: requests to a server, and the expected answers.
//!
//! Texts and values of a step may name variables as `${name}`. A string that is only one variable
//! becomes its value with its type; elsewhere the value is inserted as text, percent-encoded in
//! paths and queries.

use std::collections::BTreeMap;

use accord_contract::{Object, Value, message, wire_enum};

use super::Expectation;
use super::document::case_document;

case_document! {
    /// One case of a conformance corpus that is judged over HTTP.
    pub struct HttpCase("HttpCase") of Exchange {
        /// Variables that are generated for each run of the case.
        optional variables: BTreeMap<String, Generator> = "let", "variables";
        /// The exchanges, in order. The first that does not meet its expectation ends the case.
        required steps: Vec<Step> = "steps", "http-steps";
        /// The variable with the level that the server claims; the case then also fails if other
        /// cases of the run disprove the claim.
        optional claim: String = "claim", "variable-name";
        /// The independent implementation that computed the digests that are expected.
        optional oracle: String = "oracle", "oracle-name";
    }
    write |case, exchange| {
        variables: Some(exchange.variables.clone()).filter(|made| !made.is_empty()),
        steps: exchange.steps.clone(),
        claim: exchange.claim.clone(),
        oracle: case.oracle.clone(),
    }
    read |document| {
        Exchange {
            variables: document.variables.unwrap_or_default(),
            steps: document.steps,
            claim: document.claim,
        },
        oracle: document.oracle
    }
}

message! {
    /// How a variable is generated.
    pub struct Generator("Generator", closed) {
        /// What to generate.
        required make: GeneratorKind = "make", "generator-name";
        /// The prefix of a `unique` or `hex` text.
        optional prefix: String = "prefix", "text";
        /// How many digits a `hex` text has after its prefix.
        optional digits: u64 = "digits", "count";
        /// The offset of a `time` from now; negative for the past.
        optional seconds: i64 = "seconds", "unit:second";
        /// The text that a `text` repeats.
        optional text: String = "text", "text";
        /// How often a `text` repeats it.
        optional times: u64 = "times", "count";
        /// The id of a `scope` that all runs share, so that its content is the same in all of them.
        /// Such a scope is not retired.
        optional id: String = "id", "scope-id";
    }
}

wire_enum! {
    /// The kinds of variables.
    pub enum GeneratorKind("GeneratorKind", closed) {
        /// A text that is unique to this case and run.
        Unique = "unique",
        /// A unique text in lower-case hexadecimal digits.
        Hex = "hex",
        /// A time, in RFC 3339, UTC, to the second.
        Time = "time",
        /// A repeated text.
        Text = "text",
        /// A scope, such as a project: one that only this case uses, or a shared one.
        Scope = "scope",
    }
}

message! {
    /// One request, or several similar ones, and the expected answers.
    pub struct Step("Step", closed) {
        /// What the step is for.
        optional about: String = "about", "text-for-people";
        /// Whether the step only prepares later ones. Without `expect`, any success is accepted.
        optional prepare: bool = "prepare", "flag";
        /// What to send.
        required request: Request = "request", "http-request";
        /// Sends the request once for each of these sets of variables.
        optional each: Vec<Object> = "each", "variable-sets";
        /// Sends the request this many times, one after the other; `${n}` counts from 1.
        optional repeat: u64 = "repeat", "count";
        /// Sends the request this many times at the same time; `${n}` counts from 1.
        optional parallel: u64 = "parallel", "count";
        /// The expected answers: each must be one of these.
        optional expect: Vec<Expectation> = "expect", "http-expectations";
        /// How many of several answers must be of a kind.
        optional tally: Vec<Tally> = "tally", "http-tallies";
        /// Variables from the answer, by JSON pointer, or `@text`, `@status` or `@header:NAME`.
        optional capture: BTreeMap<String, String> = "capture", "captures";
    }

    /// What to send. At most one of `template`, `json` and `text` is the body.
    pub struct Request("HttpRequest", closed) {
        /// The route, out of the protocol's list.
        required route: String = "route", "route-name";
        /// Parameters of the route's path; one that is not given is the variable of its name.
        optional path: BTreeMap<String, String> = "path", "path-parameters";
        /// Parameters of the query.
        optional query: BTreeMap<String, String> = "query", "query-parameters";
        /// Further headers.
        optional headers: BTreeMap<String, String> = "headers", "http-headers";
        /// The key to send; the run's own if absent.
        optional credential: Credential = "credential", "credential-name";
        /// The body: one of the protocol's templates, changed by `set` and `remove`.
        optional template: String = "template", "template-name";
        /// Values to put into the template, by JSON pointer.
        optional set: Object = "set", "json-pointers";
        /// Members to take out of the template, by JSON pointer.
        optional remove: Vec<String> = "remove", "json-pointers";
        /// The body, as a value.
        optional json: Value = "json", "http-body";
        /// The body, as the text that it is.
        optional text: String = "text", "http-body";
        /// The content type of the body; `application/json` where nothing is said.
        optional content_type: String = "content_type", "media-type";
        /// The variable that remembers the document that was sent.
        optional remember: String = "remember", "variable-name";
        /// With a route that answers with events: how many to wait for.
        optional events: u64 = "events", "count";
    }
}

wire_enum! {
    /// The key of a request.
    pub enum Credential("Credential", closed) {
        /// The key of the run, if it has one.
        Main = "main",
        /// No key.
        None = "none",
        /// A key that no server knows.
        Wrong = "wrong",
        /// The second key of the run: valid, but without access to the run's scopes.
        Second = "second",
    }
}

message! {
    /// How many of several answers must be of a kind.
    pub struct Tally("Tally", closed) {
        /// The statuses of the kind.
        required status: Vec<u64> = "status", "http-statuses";
        /// What its body is, where that matters.
        optional body: Value = "body", "expectation";
        /// How many there must be.
        optional least: u64 = "least", "count";
        /// How many there may be.
        optional most: u64 = "most", "count";
    }
}

/// A sequence of exchanges with a server.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Exchange {
    /// Variables that are generated for each run of the case.
    pub variables: BTreeMap<String, Generator>,
    /// The exchanges, in order.
    pub steps: Vec<Step>,
    /// The variable with the level that the server claims.
    pub claim: Option<String>,
}

impl Step {
    /// Whether the step only prepares later ones.
    pub fn prepares(&self) -> bool {
        self.prepare.unwrap_or(false)
    }

    /// Whether the step sends exactly one request.
    pub fn is_single(&self) -> bool {
        self.each.is_none() && self.repeat.is_none() && self.parallel.is_none()
    }
}
