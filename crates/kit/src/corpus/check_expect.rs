//! Checks that the expectations of a case over HTTP are well formed.

use accord_canon::Profile;
use accord_contract::fixture::Vocabulary;
use accord_contract::wire::Pointer;
use accord_contract::{Object, Value, Wire as _};

use super::check_exchange::{Reporter, is_header, is_pointer};
use super::{ArgumentType, Requests};
use crate::case::{Check, CheckKind, Expectation};

pub(super) fn expectation(
    place: &mut Reporter<'_>,
    expected: &Expectation,
    routes: Requests<'_>,
    at: &Pointer<'_>,
) {
    statuses(place, &expected.status, at);
    let headers = expected.headers.clone().map(Value::Object);
    for (name, value) in [("headers", &headers), ("body", &expected.body)] {
        if let Some(Err(error)) = value.as_ref().map(|value| Vocabulary::Kit.check(value)) {
            place.fault(format!("{at}/{name}{}", error.pointer), error.why);
        }
    }
    let lower = |name: &String| is_header(name);
    if !expected.headers.iter().flat_map(Object::keys).all(lower) {
        place.fault(at.member("headers"), "names of headers are in lower case");
    }
    if let Some(code) = &expected.code {
        match routes.codes.get(code) {
            None => place.fault(at.member("code"), format!("no code {code:?} is in routes.json")),
            Some(status) if !expected.status.contains(status) => {
                place.fault(at.member("code"), format!("goes with the status {status}"));
            }
            Some(_) => {}
        }
    }
    if expected.verdict.is_some() != expected.why.is_some() {
        place.fault(at, "`verdict` and `why` go together");
    }
    let all = at.member("checks");
    for (index, one) in expected.checks.iter().flatten().enumerate() {
        check_members(place, one, &all.index(index));
    }
}

pub(super) fn check_members(place: &mut Reporter<'_>, check: &Check, at: &Pointer<'_>) {
    let kind = check.check;
    members(place, &check.encode(), "check", kind.needs(), kind.may_have(), at);
    for (name, pointer) in [("at", &check.at), ("by", &check.by)] {
        if pointer.as_ref().is_some_and(|pointer| !is_pointer(pointer)) {
            place.fault(at.member(name), "must be a JSON pointer");
        }
    }
    let text = check.value.as_ref().and_then(Value::as_str);
    let sound = match kind {
        CheckKind::Type => text.and_then(ArgumentType::parse).is_some(),
        CheckKind::Instant => text.is_some(),
        CheckKind::HasNumber => check.value.as_ref().is_some_and(Value::is_number),
        CheckKind::LacksTexts => check.values.iter().flatten().all(Value::is_string),
        CheckKind::Sha256OfCanonical => {
            let profile = check.profile.as_deref().unwrap_or_default();
            let about = [check.at.is_some(), check.name.is_some()];
            Profile::from_name(profile).is_some() && about.iter().filter(|is| **is).count() == 1
        }
        CheckKind::Count => check.least.is_some() || check.most.is_some(),
        CheckKind::Every | CheckKind::None => {
            let value = check.value.as_ref().map(|value| Vocabulary::Kit.check(value));
            value.is_none_or(|checked| checked.is_ok())
        }
        _ => true,
    };
    if !sound {
        place.fault(at, format!("has nothing for `{kind}` to check"));
    }
}

/// Reports missing and surplus members of a check.
pub(super) fn members(
    place: &mut Reporter<'_>,
    document: &Value,
    kind: &str,
    needs: &[&str],
    may: &[&str],
    at: &Pointer<'_>,
) {
    let there = document.as_object().into_iter().flat_map(Object::keys).map(String::as_str);
    let there: Vec<&str> = there.filter(|name| *name != kind).collect();
    let name = document[kind].as_str().unwrap_or_default();
    for missing in needs.iter().filter(|need| !there.contains(need)) {
        place.fault(at.member(missing), format!("is missing; `{name}` needs it"));
    }
    for surplus in there {
        if !needs.contains(&surplus) && !may.contains(&surplus) {
            place.fault(at.member(surplus), format!("`{name}` has no such member"));
        }
    }
}

/// Reports a list of statuses that is empty or has an invalid status.
pub(super) fn statuses(place: &mut Reporter<'_>, statuses: &[u64], at: &Pointer<'_>) {
    let known = |status: &u64| (100..600).contains(status);
    if statuses.is_empty() || !statuses.iter().all(known) {
        place.fault(at.member("status"), "must list statuses from 100 to 599");
    }
}
