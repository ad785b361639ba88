//! The document of a protocol over HTTP: its levels, routes, codes, templates and scope.

use std::collections::BTreeMap;

use accord_contract::{Object, message, wire_enum};

use crate::case::{Request, Step};

message! {
    /// The vocabulary of the cases of a protocol that is judged over HTTP. The lists are closed.
    pub struct RouteList("RouteList", closed) {
        /// The levels, from the lowest; each includes those before it.
        required levels: Vec<String> = "levels", "conformance-levels";
        /// The routes by name.
        required routes: BTreeMap<String, Route> = "routes", "routes";
        /// The failure codes that cases may expect, each with its status.
        required codes: BTreeMap<String, u64> = "codes", "failure-codes";
        /// Templates of request bodies.
        required templates: BTreeMap<String, Object> = "templates", "templates";
        /// The scope of a run.
        required scope: Scope = "scope", "scope";
    }

    /// One route of a server.
    pub struct Route("Route", closed) {
        /// What it is for.
        required summary: String = "summary", "text-for-people";
        /// Who defines it.
        required defined_by: DefinedBy = "defined_by", "origin";
        /// The lowest level that requires the route; absent if none does.
        optional level: String = "level", "conformance-level";
        /// The method.
        required method: Method = "method", "http-method";
        /// The path, with the names of its parameters in braces.
        required path: String = "path", "path-template";
        /// The parameters of its query.
        optional query: Vec<String> = "query", "query-parameters";
        /// The member of the answer that has a list; an answer can also be the list itself.
        optional list: String = "list", "member-name";
        /// The form of an answer; one JSON document if absent.
        optional answer: AnswerForm = "answer", "answer-form";
    }
}

wire_enum! {
    /// Who defines a route.
    pub enum DefinedBy("DefinedBy", closed) {
        /// The protocol: a server of the level must have it.
        Protocol = "protocol",
        /// The kit, if the protocol requires a function and does not define its route.
        Proposal = "proposal",
    }

    /// The method of a request.
    pub enum Method("HttpMethod", closed) {
        /// Reads.
        Get = "GET",
        /// Adds or acts.
        Post = "POST",
        /// Replaces.
        Put = "PUT",
        /// Changes.
        Patch = "PATCH",
        /// Removes or ends.
        Delete = "DELETE",
    }

    /// The form of an answer.
    pub enum AnswerForm("AnswerForm", closed) {
        /// One JSON document.
        Json = "json",
        /// JSON documents, one per line; read as an object whose member `lines` lists them.
        Lines = "lines",
        /// Server-sent events; read as an object whose member `events` lists them, each with the
        /// members `id`, `event` and `data`.
        Events = "events",
    }
}

message! {
    /// The part of a server that a run uses, such as a project. It uses no other.
    pub struct Scope("Scope", closed) {
        /// The protocol's name for it.
        required kind: String = "kind", "scope-kind";
        /// The variable that names it.
        required variable: String = "variable", "variable-name";
        /// The prefix of the ids of a run's scopes.
        required prefix: String = "prefix", "text";
        /// Creates a scope, on servers that require it before the first write. A server that
        /// refuses it is asked again without its members `x-…`.
        required create: Request = "create", "http-request";
        /// The first step writes to the run's own scope. Together the steps request every route
        /// once, to find out which exist. None of them is judged.
        required open: Vec<Step> = "open", "http-steps";
        /// Retires a scope at the end, on servers that support it.
        required retire: Request = "retire", "http-request";
        /// Removes a scope and its content if the run is to clean up, on servers that support it.
        optional remove: Request = "remove", "http-request";
        /// The name of the state of a retired scope.
        required retired: String = "retired", "text-for-people";
    }
}

impl Route {
    /// The names of the parameters in the path.
    pub fn parameters(&self) -> impl Iterator<Item = &str> {
        let parts = self.path.split('{').skip(1);
        parts.filter_map(|part| part.split_once('}').map(|(name, _)| name))
    }

    /// The form of an answer.
    pub fn answer(&self) -> AnswerForm {
        self.answer.unwrap_or(AnswerForm::Json)
    }
}

impl RouteList {
    /// The index of a level in the order of levels.
    pub fn rank(&self, level: &str) -> Option<usize> {
        self.levels.iter().position(|known| known == level)
    }

    pub(crate) fn requests(&self) -> Requests<'_> {
        Requests { routes: &self.routes, codes: &self.codes, templates: &self.templates }
    }

    /// The codes for something that was not found at an existing route.
    pub(crate) fn not_found_codes(&self) -> impl Iterator<Item = &str> {
        self.requests().not_found_codes()
    }
}

/// What requests of a protocol may name: its routes, failure codes and templates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Requests<'a> {
    pub(crate) routes: &'a BTreeMap<String, Route>,
    pub(crate) codes: &'a BTreeMap<String, u64>,
    pub(crate) templates: &'a BTreeMap<String, Object>,
}

impl<'a> Requests<'a> {
    /// The codes for something that was not found at an existing route.
    pub(crate) fn not_found_codes(self) -> impl Iterator<Item = &'a str> {
        let not_found = |(_, status): &(&String, &u64)| **status == 404;
        let codes = self.codes.iter().filter(not_found);
        codes.map(|(code, _)| code.as_str())
    }
}
