//! Checks that the protocol declares the levels, oracles and members that a case uses.

use std::collections::BTreeSet;

use accord_contract::Value;
use accord_contract::wire::Pointer;

use super::check::Check;
use super::{ClauseList, Files, Operation, OperationList};
use crate::case::{Call, Case};

/// Checks the names that clauses.json declares.
pub(super) fn declarations(check: &mut Check, file: &str, list: &ClauseList) {
    let root = Pointer::Root;
    for (member, names) in [("levels", &list.levels), ("oracles", &list.oracles)] {
        unique(check, file, &root.member(member), names.iter().flatten());
    }
}

/// Reports operations that do not declare their outcomes.
pub(super) fn results(check: &mut Check, file: &str, list: &OperationList) {
    let root = Pointer::Root;
    let operations = root.member("operations");
    for (name, operation) in &list.operations {
        let operation_at = operations.member(name);
        let at = operation_at.member("result");
        match &operation.result {
            Some(members) => unique(check, file, &at, members.iter()),
            None => {
                let why = "is missing; it names the members of an outcome beside `result`";
                check.fault(file, at, why);
            }
        }
    }
}

/// Reports areas without a case, which are probably unfinished.
pub(super) fn areas(check: &mut Check, files: &Files) {
    let area = |path: &str| {
        let (folders, _) = path.rsplit_once('/')?;
        let mut segments = folders.splitn(3, '/');
        let (protocol, area) = (segments.next()?, segments.next()?);
        Some(format!("{protocol}/{area}"))
    };
    let areas = |end: &str| -> BTreeSet<String> {
        files.keys().filter(|path| path.ends_with(end)).filter_map(|path| area(path)).collect()
    };
    let (with_cases, all) = (areas(".json"), areas(""));
    for empty in all.difference(&with_cases) {
        check.fault(empty, "", "is an area without a case");
    }
}

/// Reports a level that the protocol does not have.
pub(super) fn level(check: &mut Check, file: &str, case: &Case, clauses: &ClauseList) {
    let Some(level) = case.level.as_ref().filter(|level| !level.trim().is_empty()) else { return };
    if !clauses.levels.iter().flatten().any(|known| known == level) {
        check.fault(file, "/level", format!("no level {level:?} is in clauses.json"));
    }
}

/// Reports an oracle that the protocol does not have.
pub(super) fn oracle(check: &mut Check, file: &str, case: &Case, clauses: &ClauseList) {
    let oracle = case.oracle.as_ref();
    let Some(oracle) = oracle.filter(|oracle| !oracle.trim().is_empty()) else { return };
    if !clauses.oracles.iter().flatten().any(|known| known == oracle) {
        check.fault(file, "/oracle", format!("no oracle {oracle:?} is in clauses.json"));
    }
}

/// Reports an outcome that the operation cannot have.
pub(super) fn outcome(check: &mut Check, file: &str, call: &Call, operation: Option<&Operation>) {
    let root = Pointer::Root;
    let expected = root.member("expected");
    if let Some(result) = call.expected.get(RESULT)
        && !outcomes(call).iter().any(|known| result == known)
    {
        let quoted = outcomes(call).iter().map(|known| format!("{known:?}"));
        let why = format!("must be {}", quoted.collect::<Vec<_>>().join(" or "));
        check.fault(file, expected.member(RESULT), why);
    }
    if let Some(known) = operation.and_then(|operation| operation.result.as_ref()) {
        let name = &call.input.operation;
        let is_known = |key: &&String| ALWAYS.contains(&key.as_str()) || known.contains(key);
        for key in call.expected.keys().filter(|key| !is_known(key)) {
            let why = format!("the operation {name:?} has no such member in its result");
            check.fault(file, expected.member(key), why);
        }
    }
    for (key, value) in &call.expected {
        empty_digests(check, file, key, value, &expected.member(key));
    }
}

/// How an operation can end. Published fixtures have two names for success.
fn outcomes(call: &Call) -> &'static [&'static str] {
    if call.fixture.is_some() { &["ok", "success", "error"] } else { &["ok", "error"] }
}

/// A digest that was left as a placeholder.
fn empty_digests(check: &mut Check, file: &str, key: &str, value: &Value, at: &Pointer<'_>) {
    match value {
        Value::String(text) if text.is_empty() && DIGESTS.contains(&key) => {
            check.fault(file, at, "is empty where a digest is expected");
        }
        // A list of digests is below the key of its member, so the key is passed on.
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                empty_digests(check, file, key, item, &at.index(index));
            }
        }
        Value::Object(members) => {
            for (key, value) in members {
                empty_digests(check, file, key, value, &at.member(key));
            }
        }
        _ => {}
    }
}

fn unique<'a>(
    check: &mut Check,
    file: &str,
    at: &Pointer<'_>,
    names: impl Iterator<Item = &'a String>,
) {
    let mut seen = BTreeSet::new();
    for (index, name) in names.enumerate() {
        if name.trim().is_empty() {
            check.fault(file, at.index(index), "must not be empty");
        }
        if !seen.insert(name) {
            check.fault(file, at.index(index), format!("{name:?} is listed twice"));
        }
    }
}

/// The member of an outcome that says whether the operation succeeded.
const RESULT: &str = "result";
/// Members of an expectation that are not members of an outcome.
const ALWAYS: [&str; 2] = [RESULT, "warnings_allowed"];
/// Members that contain a digest, at any depth.
const DIGESTS: [&str; 6] = ["kbHash", "cid", "artifactHash", "keccak256", "sha256", "hash"];
