//! What a page says about its host and about the values of its context slots. Both replace what
//! was stored before; nothing is merged.

use accord_contract::{Code, Failure, Object, rule};

use super::change::{At, Change};
use super::{ContentChange, Delta, Session};
use crate::limits::{CONTEXT_BYTES, CONTEXT_SLOTS, CONTEXT_VALUE_BYTES};
use crate::violation::{self, Violation};
use crate::{AppId, contract::CompiledContract, frame::HostContext, json::text_len, refuse};

/// Records a host context. It is not answered. Fails with `SESSION_NOT_FOUND` when the session has
/// expired.
///
/// Clauses: GGUI-HOST-CONTEXT-STORED.
pub fn host_context(session: &Session, context: HostContext, at: At<'_>) -> Result<Delta, Failure> {
    if !session.is_active(at.now) {
        return Err(refuse::session_not_found("the session has expired"));
    }
    let mut change = Change::begin(session, at);
    let members = rule!(
        context.into_members();
        HostContextTrimmed => context.into_members().into_iter().take(1).collect()
    );
    change.delta.content.push(ContentChange::HostContext(members));
    Ok(change.finish())
}

/// Checks the size of a context snapshot, before its session is looked up. Fails with
/// `CONTEXT_TOO_LARGE`.
///
/// Clauses: GGUI-CONTEXT-LIMITS.
pub fn check_context_size(snapshot: &Object) -> Result<(), Failure> {
    if rule!(snapshot.len() > CONTEXT_SLOTS; ContextUnlimited => false) {
        let message = format!("a context snapshot has at most {CONTEXT_SLOTS} slots");
        return Err(refuse::context_too_large(message));
    }
    // The braces, and one comma less than there are slots.
    let mut total = 1;
    for (slot, value) in snapshot {
        let bytes = text_len(value);
        if bytes > CONTEXT_VALUE_BYTES {
            let message = format!("the value of a slot has at most {CONTEXT_VALUE_BYTES} bytes");
            return Err(refuse::context_too_large(message).with("slot", slot.as_str()));
        }
        // With the name, quotes, colon and comma.
        total += bytes + text_len(&slot.as_str().into()) + 2;
    }
    if total > CONTEXT_BYTES {
        let message = format!("a context snapshot has at most {CONTEXT_BYTES} bytes");
        return Err(refuse::context_too_large(message));
    }
    Ok(())
}

/// Records the values of the context slots. Fails in this order: `CONTEXT_TOO_LARGE`,
/// `SESSION_NOT_FOUND`, `TENANT_MISMATCH`, `CONTEXT_SCHEMA_VIOLATION`.
///
/// Clauses: GGUI-CONTEXT-SYNC.
pub fn sync_context(
    session: Option<&Session>,
    app: &AppId,
    contract: &CompiledContract,
    snapshot: Object,
    at: At<'_>,
) -> Result<Delta, Failure> {
    check_context_size(&snapshot)?;
    let Some(session) = session.filter(|session| session.is_active(at.now)) else {
        return Err(refuse::session_not_found("there is no such session"));
    };
    if rule!(session.app_id != *app; TenantIgnored => false) {
        return Err(refuse::tenant_mismatch("the session belongs to another app"));
    }
    let violations: Vec<Violation> =
        (snapshot.iter()).flat_map(|(slot, value)| contract.check_context(slot, value)).collect();
    if !violations.is_empty() {
        return Err(violation::refuse(Code::GguiContextSchemaViolation, &violations));
    }
    let mut change = Change::begin(session, at);
    change.delta.content.push(ContentChange::Context(snapshot));
    Ok(change.finish())
}
