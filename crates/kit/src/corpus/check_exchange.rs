//! Checks a case that is judged over HTTP, and the list of routes.

use accord_contract::Wire as _;
use accord_contract::fixture::Vocabulary;
use accord_contract::wire::Pointer;

use super::check::{Check as Faults, is_name};
use super::check_case::{NO_ORACLE, digest_at};
use super::check_expect::{expectation, members, statuses};
use super::{Method, Requests, RouteList, check_names};
use crate::case::{Case, Exchange, Generator, GeneratorKind, Request, Step};

pub(super) fn check(
    faults: &mut Faults,
    file: &str,
    case: &Case,
    exchange: &Exchange,
    routes: Option<&RouteList>,
) {
    let Some(routes) = routes else {
        let why = "a case over HTTP needs a file routes.json beside the areas";
        return faults.fault(file, "/steps", why);
    };
    let mut place = Reporter { faults, file };
    let root = Pointer::Root;
    level(&mut place, case, routes);
    for (name, generator) in &exchange.variables {
        generator_members(&mut place, generator, &root.member("let").member(name));
    }
    // A case without a judging step would pass on every server that answers with success.
    if exchange.steps.iter().all(Step::prepares) {
        place.fault("/steps", "judges nothing: every step only prepares");
    }
    let steps = root.member("steps");
    for (index, one) in exchange.steps.iter().enumerate() {
        let at = steps.index(index);
        step(&mut place, one, routes.requests(), &at);
        if case.oracle.is_none()
            && let Some(expected) = &one.expect
            && let Some(digest) = digest_at(&expected.encode(), &at.member("expect"))
        {
            place.fault(digest, NO_ORACLE);
        }
    }
    check_names::check(&mut place, exchange, routes);
}

pub(super) fn routes(faults: &mut Faults, file: &str, list: &RouteList) {
    let mut place = Reporter { faults, file };
    let root = Pointer::Root;
    let all = root.member("routes");
    for (name, route) in &list.routes {
        if let Some(level) = &route.level
            && list.rank(level).is_none()
        {
            let why = format!("no level {level:?} is in the list");
            place.fault(all.member(name).member("level"), why);
        }
    }
    declared(&mut place, list.requests());
    let scope = root.member("scope");
    if !check_names::is_variable(&list.scope.variable) {
        place.fault(scope.member("variable"), check_names::RULE);
    }
    if !is_name(&list.scope.prefix) {
        place.fault(scope.member("prefix"), super::check::NAME_RULE);
    }
    let requests = list.requests();
    request(&mut place, &list.scope.create, requests, &scope.member("create"));
    request(&mut place, &list.scope.retire, requests, &scope.member("retire"));
    if let Some(remove) = &list.scope.remove {
        request(&mut place, remove, requests, &scope.member("remove"));
    }
    let open = scope.member("open");
    for (index, one) in list.scope.open.iter().enumerate() {
        step(&mut place, one, requests, &open.index(index));
    }
    check_names::check_scope(&mut place, list);
}

/// Checks routes and codes by themselves.
pub(super) fn declared(place: &mut Reporter<'_>, list: Requests<'_>) {
    let root = Pointer::Root;
    let all = root.member("routes");
    for (name, route) in list.routes {
        let at = all.member(name);
        if !check_names::is_variable(name) {
            place.fault(at, check_names::RULE);
        }
        let is_closed = route.path.matches('{').count() == route.parameters().count();
        if !route.path.starts_with('/') || !is_closed {
            place.fault(at.member("path"), "must begin with `/` and close every brace");
        }
    }
    for (code, status) in list.codes {
        if !(400..600).contains(status) {
            place.fault(root.member("codes").member(code), "must be the status of a failure");
        }
    }
}

/// Reports mistakes in one file.
pub(super) struct Reporter<'a> {
    pub(super) faults: &'a mut Faults,
    pub(super) file: &'a str,
}

impl Reporter<'_> {
    pub(super) fn fault(&mut self, at: impl ToString, why: impl Into<String>) {
        self.faults.fault(self.file, at, why);
    }
}

/// The level of a case is at least that of every route that it needs.
fn level(place: &mut Reporter<'_>, case: &Case, routes: &RouteList) {
    let Some(level) = &case.level else { return };
    let Some(rank) = routes.rank(level) else {
        return place.fault("/level", format!("no level {level:?} is in routes.json"));
    };
    let higher = case.operations().find(|name| {
        let route = routes.routes.get(*name);
        let needed = route.and_then(|route| routes.rank(route.level.as_ref()?));
        needed.is_some_and(|needed| needed > rank)
    });
    if let Some(name) = higher {
        place.fault("/level", format!("is below that of the route {name:?}"));
    }
}

pub(super) fn generator_members(place: &mut Reporter<'_>, generator: &Generator, at: &Pointer<'_>) {
    let (needs, may): (&[&str], &[&str]) = match generator.make {
        GeneratorKind::Unique => (&[], &["prefix"]),
        GeneratorKind::Hex => (&["digits"], &["prefix"]),
        GeneratorKind::Time => (&["seconds"], &[]),
        GeneratorKind::Text => (&["text", "times"], &[]),
        GeneratorKind::Scope => (&[], &["id"]),
    };
    members(place, &generator.encode(), "make", needs, may, at);
    if generator.digits.is_some_and(|digits| !(1..=64).contains(&digits)) {
        place.fault(at.member("digits"), "must be from 1 to 64");
    }
    let length = generator.text.as_ref().map_or(0, String::len) as u64;
    let size = length.saturating_mul(generator.times.unwrap_or(0));
    if size > MAX_TEXT {
        place.fault(at, format!("makes more than {MAX_TEXT} bytes"));
    }
}

pub(super) fn step(place: &mut Reporter<'_>, step: &Step, routes: Requests<'_>, at: &Pointer<'_>) {
    request(place, &step.request, routes, &at.member("request"));
    let times = step.repeat.or(step.parallel);
    if step.repeat.is_some() && step.parallel.is_some() {
        place.fault(at.member("repeat"), "cannot be combined with `parallel`");
    }
    let sets = step.each.as_ref().map_or(1, Vec::len) as u64;
    if !(1..=MAX_REQUESTS).contains(&times.unwrap_or(1).saturating_mul(sets)) {
        place.fault(at, format!("sends no request, or more than {MAX_REQUESTS}"));
    }
    if step.parallel.is_some() && step.capture.is_some() {
        place.fault(at.member("capture"), "answers of parallel requests cannot be distinguished");
    }
    if step.tally.is_some() && step.is_single() {
        place.fault(at.member("tally"), "counts answers, and there is one");
    }
    match &step.expect {
        None if !step.prepares() => place
            .fault(at.member("expect"), "is missing; only a step that prepares can do without it"),
        Some(list) if list.is_empty() => place.fault(at.member("expect"), "expects nothing"),
        _ => {}
    }
    let all = at.member("expect");
    for (index, expected) in step.expect.iter().flatten().enumerate() {
        expectation(place, expected, routes, &all.index(index));
    }
    let all = at.member("tally");
    for (index, tally) in step.tally.iter().flatten().enumerate() {
        let at = all.index(index);
        statuses(place, &tally.status, &at);
        if tally.least.is_none() && tally.most.is_none() {
            place.fault(at, "needs `least` or `most`");
        }
        if let Some(Err(error)) = tally.body.as_ref().map(|value| Vocabulary::Kit.check(value)) {
            place.fault(format!("{at}/body{}", error.pointer), error.why);
        }
    }
    let captures = at.member("capture");
    for (name, source) in step.capture.iter().flatten() {
        let special = matches!(source.as_str(), "@text" | "@status")
            || source.strip_prefix("@header:").is_some_and(is_header);
        if !special && !is_pointer(source) {
            let why = "must be a JSON pointer, `@text`, `@status` or `@header:name`";
            place.fault(captures.member(name), why);
        }
    }
}

fn request(place: &mut Reporter<'_>, request: &Request, routes: Requests<'_>, at: &Pointer<'_>) {
    let Some(route) = routes.routes.get(&request.route) else {
        let why = format!("no route {:?} is in routes.json", request.route);
        return place.fault(at.member("route"), why);
    };
    for name in request.path.iter().flatten().map(|(name, _)| name) {
        if !route.parameters().any(|known| known == name) {
            place.fault(at.member("path").member(name), "the route's path has no such parameter");
        }
    }
    for name in request.query.iter().flatten().map(|(name, _)| name) {
        if !route.query.iter().flatten().any(|known| known == name) {
            place.fault(at.member("query").member(name), "the route has no such parameter");
        }
    }
    for name in request.headers.iter().flatten().map(|(name, _)| name) {
        if !is_header(name) || ["authorization", "content-type"].contains(&name.as_str()) {
            let why = "must be a header's name in lower case, and none that `credential` or \
                       `content_type` sets";
            place.fault(at.member("headers").member(name), why);
        }
    }
    let bodies = [request.template.is_some(), request.json.is_some(), request.text.is_some()];
    let bodies = bodies.iter().filter(|there| **there).count();
    if bodies > 1 {
        place.fault(at, "has more than one of `template`, `json` and `text`");
    }
    if bodies > 0 && matches!(route.method, Method::Get | Method::Delete) {
        place.fault(at, format!("a {} has no body", route.method));
    }
    if bodies == 0 && (request.content_type.is_some() || request.remember.is_some()) {
        place.fault(at, "describes a body and has none");
    }
    match &request.template {
        Some(name) if !routes.templates.contains_key(name) => {
            place.fault(at.member("template"), format!("no template {name:?} is in routes.json"));
        }
        None if request.set.is_some() || request.remove.is_some() => {
            place.fault(at, "changes a template and names none");
        }
        _ => {}
    }
    let set = request.set.iter().flatten().map(|(pointer, _)| pointer);
    for pointer in set.chain(request.remove.iter().flatten()) {
        if !is_pointer(pointer) || pointer.is_empty() {
            place.fault(at, format!("{pointer:?} is not the JSON pointer of a member"));
        }
    }
}

pub(super) fn is_pointer(text: &str) -> bool {
    text.is_empty() || text.starts_with('/')
}

pub(super) fn is_header(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !name.is_empty() && name.bytes().all(plain)
}

const MAX_REQUESTS: u64 = 256;
const MAX_TEXT: u64 = 16 * 1024 * 1024;
