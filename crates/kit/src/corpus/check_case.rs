//! Checks a case: its place, its clauses, and the call and expectation of an adapter's case.

use std::collections::{BTreeMap, BTreeSet};

use accord_contract::wire::Pointer;
use accord_contract::{Object, Value};

use super::check::{Check, NAME_RULE, is_name};
use super::{Clause, Operation};
use crate::case::{Call, Case, FixtureMarks, Strength};

pub(super) fn check(check: &mut Check, file: &str, case: &Case, clauses: &BTreeMap<&str, &Clause>) {
    place(check, file, case);
    cited_clauses(check, file, case, clauses);
    if case.oracle.as_ref().is_some_and(|oracle| oracle.trim().is_empty()) {
        check.fault(file, "/oracle", "must name who computed the digests");
    }
}

pub(super) fn call(
    check: &mut Check,
    file: &str,
    case: &Case,
    call: &Call,
    operations: &BTreeMap<String, Operation>,
) {
    arguments(check, file, call, operations);
    expectation(check, file, case, call);
    if let Some(marks) = &call.fixture {
        fixture(check, file, case, marks);
    }
}

/// A published fixture is in the folder of its surface, or of its profile.
fn fixture(check: &mut Check, file: &str, case: &Case, marks: &FixtureMarks) {
    let folder = case.profile.as_ref().unwrap_or(&marks.surface);
    if case.area() != folder {
        check.fault(file, "", format!("the case belongs in the folder {folder:?}"));
    }
    if marks.sibling.is_some() != marks.changes.is_some() {
        let why = "only a case with a sibling names the differences, and it must";
        check.fault(file, "/x-case", why);
    }
}

fn place(check: &mut Check, file: &str, case: &Case) {
    let id = file.strip_suffix(".json").unwrap_or(file);
    if case.id != id {
        check.fault(file, "/id", format!("is {:?}, but the file's path says {id:?}", case.id));
    }
    if !id.split('/').all(is_name) {
        check.fault(file, "", NAME_RULE);
    }
    if Some(case.protocol.as_str()) != id.split('/').next() {
        let why = format!("is {:?}, but the folder is another", case.protocol);
        check.fault(file, "/protocol", why);
    }
    match (&case.level, case.tier) {
        (Some(_), Some(_)) => check.fault(file, "/tier", "a case has a level or a tier, not both"),
        (None, None) => check.fault(file, "", "has neither a `level` nor a `tier`"),
        (Some(level), None) if level.trim().is_empty() => {
            check.fault(file, "/level", "must not be empty");
        }
        _ => {}
    }
    if case.title.trim().is_empty() || case.title.contains('\n') {
        check.fault(file, "/title", "must be one line that states the property under test");
    }
}

fn cited_clauses(check: &mut Check, file: &str, case: &Case, clauses: &BTreeMap<&str, &Clause>) {
    let root = Pointer::Root;
    let at = root.member("clauses");
    if case.clauses.is_empty() {
        check.fault(file, at, "a case proves at least one clause");
        return;
    }
    let mut seen = BTreeSet::new();
    let mut strongest = Strength::Proposal;
    for (index, id) in case.clauses.iter().enumerate() {
        let Some(clause) = clauses.get(id.as_str()) else {
            // Nothing can be said about the strength of a case with an unknown clause.
            check.fault(file, at.index(index), format!("no clause {id:?} is in clauses.json"));
            return;
        };
        strongest = strongest.min(clause.strength);
        if !seen.insert(id) {
            check.fault(file, at.index(index), format!("{id:?} is listed twice"));
        }
    }
    // Declared from the strongest to the weakest.
    if case.strength < strongest {
        let own = case.strength;
        let why = format!("is `{own}`, but the strongest clause that it cites is `{strongest}`");
        check.fault(file, "/strength", why);
    }
}

fn arguments(check: &mut Check, file: &str, call: &Call, operations: &BTreeMap<String, Operation>) {
    let name = &call.input.operation;
    let Some(operation) = operations.get(name) else {
        check.fault(
            file,
            "/input/operation",
            format!("no operation {name:?} is in operations.json"),
        );
        return;
    };
    let root = Pointer::Root;
    let setup = root.member("setup");
    for key in call.setup.keys().filter(|key| !operation.setup.contains(key)) {
        check.fault(file, setup.member(key), format!("the operation {name:?} has no such setup"));
    }
    let input = root.member("input");
    let args = input.member("args");
    for (key, value) in &call.input.args {
        let why = match operation.args.get(key) {
            None => format!("the operation {name:?} has no such argument"),
            Some(argument) if !argument.kind.accepts(value) => {
                format!("must be of type {}", argument.kind)
            }
            Some(_) => continue,
        };
        check.fault(file, args.member(key), why);
    }
    let given = |key: &str| call.input.args.contains_key(key);
    for (key, _) in operation.args.iter().filter(|(key, arg)| arg.required && !given(key)) {
        check.fault(file, args.member(key), format!("is missing; the operation {name:?} needs it"));
    }
}

fn expectation(check: &mut Check, file: &str, case: &Case, call: &Call) {
    let root = Pointer::Root;
    if let Err(error) = case.vocabulary().check(&case.expectation()) {
        check.fault(file, format!("/expected{}", error.pointer), error.why);
    }
    if call.expected.is_empty() {
        check.fault(file, "/expected", "expects nothing, so it proves nothing");
    }
    // A digest that the kit or Accord computed would prove nothing: both sides could share a bug.
    if case.oracle.is_none()
        && let Some(place) = digest_in(&call.expected, &root.member("expected"))
    {
        check.fault(file, place, NO_ORACLE);
    }
}

fn digest_in(object: &Object, at: &Pointer<'_>) -> Option<String> {
    object.iter().find_map(|(key, value)| digest_at(value, &at.member(key)))
}

pub(super) fn digest_at(value: &Value, at: &Pointer<'_>) -> Option<String> {
    match value {
        Value::String(text) => is_digest(text).then(|| at.to_string()),
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(index, item)| digest_at(item, &at.index(index)))
        }
        Value::Object(object) => digest_in(object, at),
        _ => None,
    }
}

/// A 256-bit digest in hexadecimal, or a CIDv1 in base 32.
fn is_digest(text: &str) -> bool {
    let hex = ["0x", "sha256:"].iter().find_map(|prefix| text.strip_prefix(prefix)).unwrap_or(text);
    let is_hex = hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    let in_base_32 = |byte: u8| byte.is_ascii_lowercase() || (b'2'..=b'7').contains(&byte);
    let is_cid = text.len() == 59 && text.starts_with('b') && text.bytes().all(in_base_32);
    is_hex || is_cid
}

pub(super) const NO_ORACLE: &str = "is a digest; `oracle` must name who computed it";
