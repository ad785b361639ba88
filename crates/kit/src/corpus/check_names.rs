//! Checks that every variable of a case over HTTP has a value where it is used.

use std::collections::BTreeSet;

use accord_contract::wire::Pointer;
use accord_contract::{Object, Value, Wire as _};

use super::check_exchange::Reporter;
use super::{Requests, RouteList};
use crate::case::{Exchange, Request, Step};
use crate::exchange::compose::document;
use crate::exchange::variables::names;

pub(super) fn is_variable(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    text.starts_with(|first: char| first.is_ascii_lowercase()) && text.bytes().all(plain)
}

pub(super) const RULE: &str =
    "names are lowercase letters, digits and `_`, and begin with a letter";

/// Reports variables of a case without a value.
pub(super) fn check(place: &mut Reporter<'_>, exchange: &Exchange, routes: &RouteList) {
    let mut known = DefinedNames::at_first(routes);
    for name in exchange.variables.keys() {
        known.add(place, name, "/let");
    }
    known.steps(place, &exchange.steps, routes.requests(), "/steps");
    if let Some(claim) = &exchange.claim
        && !known.0.contains(claim)
    {
        place.fault("/claim", format!("nothing gives the variable `{claim}` a value"));
    }
}

/// Does the same for the steps that open and close a scope.
pub(super) fn check_scope(place: &mut Reporter<'_>, routes: &RouteList) {
    let mut known = DefinedNames::at_first(routes);
    let requests = routes.requests();
    known.request(place, &routes.scope.create, requests, "/scope/create");
    known.request(place, &routes.scope.retire, requests, "/scope/retire");
    if let Some(remove) = &routes.scope.remove {
        known.request(place, remove, requests, "/scope/remove");
    }
    known.steps(place, &routes.scope.open, requests, "/scope/open");
}

#[derive(Clone)]
pub(super) struct DefinedNames(BTreeSet<String>);

impl DefinedNames {
    /// The variables of every case: the scope, and a value that is unique to the run.
    fn at_first(routes: &RouteList) -> Self {
        Self(BTreeSet::from([routes.scope.variable.clone(), "run".to_owned()]))
    }

    pub(super) fn of<const N: usize>(names: [&str; N]) -> Self {
        Self(names.into_iter().map(str::to_owned).collect())
    }

    /// Forgets a variable, unless it was known before.
    pub(super) fn forget(&mut self, name: &str, before: &Self) {
        if !before.0.contains(name) {
            self.0.remove(name);
        }
    }

    fn steps(&mut self, place: &mut Reporter<'_>, steps: &[Step], routes: Requests<'_>, at: &str) {
        for (index, step) in steps.iter().enumerate() {
            self.step(place, step, routes, &format!("{at}/{index}"));
        }
    }

    pub(super) fn step(
        &mut self,
        place: &mut Reporter<'_>,
        step: &Step,
        routes: Requests<'_>,
        at: &str,
    ) {
        // The variables of `each` and `n` exist within this step only.
        let mut own = self.clone();
        if !step.is_single() {
            own.0.insert("n".to_owned());
        }
        for (index, set) in step.each.iter().flatten().enumerate() {
            let at = format!("{at}/each/{index}");
            own.value(place, &Value::Object(set.clone()), &at);
            let first = step.each.as_ref().and_then(|sets| sets.first());
            if first.is_some_and(|first| !first.keys().eq(set.keys())) {
                place.fault(&at, "has other variables than the first set");
            }
        }
        for name in step.each.iter().flatten().take(1).flat_map(Object::keys) {
            own.add(place, name, &format!("{at}/each"));
        }
        own.request(place, &step.request, routes, &format!("{at}/request"));
        if let Some(name) = &step.request.remember {
            own.add(place, name, &format!("{at}/request/remember"));
            self.0.insert(name.clone());
        }
        for (index, expected) in step.expect.iter().flatten().enumerate() {
            let at = format!("{at}/expect/{index}");
            own.value(place, &expected.encode(), &at);
            for (index, check) in expected.checks.iter().flatten().enumerate() {
                if let Some(name) = &check.name {
                    own.used(place, name, &format!("{at}/checks/{index}/name"));
                }
            }
        }
        for (index, tally) in step.tally.iter().flatten().enumerate() {
            own.value(place, &tally.encode(), &format!("{at}/tally/{index}"));
        }
        for name in step.capture.iter().flatten().map(|(name, _)| name) {
            self.add(place, name, &format!("{at}/capture"));
        }
    }

    fn request(&self, place: &mut Reporter<'_>, request: &Request, routes: Requests<'_>, at: &str) {
        let Some(route) = routes.routes.get(&request.route) else { return };
        let given = |name: &str| request.path.as_ref().is_some_and(|path| path.contains_key(name));
        for name in route.parameters().filter(|name| !given(name)) {
            self.used(place, name, &format!("{at}/path"));
        }
        let Request { path, query, headers, .. } = request;
        for (member, texts) in [("path", path), ("query", query), ("headers", headers)] {
            for (name, text) in texts.iter().flatten() {
                self.text(place, text, &format!("{at}/{member}/{name}"));
            }
        }
        if let Some(text) = &request.text {
            self.text(place, text, &format!("{at}/text"));
        }
        if let Some(document) = document(request, routes) {
            self.value(place, &document, at);
        }
    }

    pub(super) fn value(&self, place: &mut Reporter<'_>, value: &Value, at: &str) {
        self.value_at(place, value, at, &Pointer::Root);
    }

    fn value_at(&self, place: &mut Reporter<'_>, value: &Value, at: &str, below: &Pointer<'_>) {
        match value {
            Value::String(text) => self.text(place, text, &format!("{at}{below}")),
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.value_at(place, item, at, &below.index(index));
                }
            }
            Value::Object(members) => {
                for (key, member) in members {
                    self.value_at(place, member, at, &below.member(key));
                }
            }
            _ => {}
        }
    }

    pub(super) fn text(&self, place: &mut Reporter<'_>, text: &str, at: &str) {
        for name in names(text) {
            self.used(place, name, at);
        }
    }

    pub(super) fn used(&self, place: &mut Reporter<'_>, name: &str, at: &str) {
        if !self.0.contains(name) {
            place.fault(at, format!("nothing gives the variable `{name}` a value"));
        }
    }

    pub(super) fn add(&mut self, place: &mut Reporter<'_>, name: &str, at: &str) {
        if !is_variable(name) {
            place.fault(at, RULE);
        }
        self.0.insert(name.to_owned());
    }
}
