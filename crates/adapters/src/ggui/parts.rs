//! The parts of calls and outcomes that the operations share.

use accord_base::ProjectId;
use accord_contract::{Failure, Object, Time, Value};
use accord_live_core::contract::CompiledContract;
use accord_live_core::frame::{Binding, Role};
use accord_live_core::limits::SESSION_TTL_SECONDS;
use accord_live_core::session::{At, Delta, Head, Session};
use accord_live_core::violation::Violation;
use accord_live_core::{AppId, SessionId};
use serde_json::json;

use crate::{BadCall, Call, Outcome, Reply};

pub(super) const SESSION: &str = "s1";
/// Its app, which is also the project.
pub(super) const APP: &str = "shop";
/// The time of a case, in seconds.
pub(super) const NOW: i64 = 1_790_000_000;

/// Whether something is accepted, with the places where it is not.
pub(super) fn checked(violations: &[Violation]) -> Outcome {
    Ok(json!({"accepted": violations.is_empty(), "violations": places(violations)}))
}

/// A refusal by its code, with its details.
pub(super) fn refused(failure: Failure) -> Reply {
    let details = failure.details.unwrap_or_default();
    Reply::ok(json!({"accepted": false, "code": failure.code.as_str(), "details": details}))
}

/// Violations without their messages.
pub(super) fn places(violations: &[Violation]) -> Value {
    let place = |violation: &Violation| {
        let mut place = json!({"field": violation.field});
        if let Some(keyword) = &violation.keyword {
            place["keyword"] = keyword.as_str().into();
        }
        if let Some(code) = violation.known_code() {
            place["code"] = code.as_str().into();
        }
        place
    };
    violations.iter().map(place).collect()
}

/// The types of the ledger events of a delta.
pub(super) fn appended(delta: &Delta) -> Value {
    delta.ledger.iter().map(|row| Value::from(row.kind.as_str())).collect()
}

/// The contract of a case, which must be valid.
pub(super) fn contract(call: &Call) -> Result<CompiledContract, BadCall> {
    let contract = CompiledContract::read(call.value("contract")?);
    contract.map_err(|refusal| BadCall::from_error(Failure::from(refusal)))
}

pub(super) fn now(call: &Call) -> Result<Time, BadCall> {
    time(call.optional_integer("now")?.unwrap_or(NOW))
}

pub(super) fn time(seconds: i64) -> Result<Time, BadCall> {
    Time::from_unix(seconds, 0).ok_or_else(|| BadCall::kind("now", "a time in seconds"))
}

/// The session of a case, at the time [`NOW`].
pub(super) fn session() -> Result<Session, BadCall> {
    let head = Head::new(time(NOW)?, SESSION_TTL_SECONDS);
    Ok(Session { id: session_id()?, app_id: app(APP)?, head })
}

pub(super) fn session_id() -> Result<SessionId, BadCall> {
    SessionId::new(SESSION).map_err(BadCall::from_error)
}

pub(super) fn app(name: &str) -> Result<AppId, BadCall> {
    AppId::new(name).map_err(BadCall::from_error)
}

/// The subscription of a user to the session.
pub(super) fn binding(client_id: Option<String>) -> Result<Binding, BadCall> {
    Ok(Binding { session_id: session_id()?, app_id: app(APP)?, role: Role::User, client_id })
}

pub(super) fn project() -> Result<ProjectId, BadCall> {
    ProjectId::new(APP).map_err(BadCall::from_error)
}

pub(super) fn at(project: &ProjectId, now: Time) -> At<'_> {
    At { project, now, ttl_seconds: SESSION_TTL_SECONDS }
}

pub(super) fn members<'v>(value: &'v Value, name: &str) -> Result<&'v Object, BadCall> {
    value.as_object().ok_or_else(|| BadCall::kind(name, "a list of objects"))
}
