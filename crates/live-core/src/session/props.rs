//! Changing the props of a UI: with a new epoch (`ggui_update`), or in place (`ggui_amend`).
//!
//! A page that was mounted with an earlier epoch freezes when it sees a later one. Props that are
//! identical to the stored ones change nothing.

use accord_contract::{Code, Failure, Object, Value, rule};

use super::change::{At, Change};
use super::{Content, ContentChange, Delta, LedgerName, Session};
use crate::props::PropsUpdate;
use crate::violation::{Source, ViolationDetails};
use crate::{contract::CompiledContract, frame::ServerFrame, json::members, refuse};

#[derive(Clone, Debug, PartialEq)]
pub struct PropsChanged {
    pub is_updated: bool,
    pub epoch: u64,
    /// The frame for the subscribers; `None` if nothing changed.
    pub frame: Option<ServerFrame>,
    /// What is written; nothing if nothing changed.
    pub delta: Delta,
}

/// Why a call changed nothing, for the agent.
pub(crate) const UNCHANGED: &str = "the props are identical to the stored ones, so that nothing \
    changed; send the props as they should be afterwards";

/// Changes the props: with a new epoch if `source` is an update, in place if it is an amendment.
/// Fails with `session_not_found`, `LIVE_ASK_CONFLICT` for a question, or `contract_violation` when
/// the props do not match their schema.
///
/// Clauses: GGUI-EPOCH-UPDATE, GGUI-EPOCH-AMEND, GGUI-UPDATE-UNCHANGED.
pub fn set_props(
    session: &Session,
    content: &Content,
    contract: &CompiledContract,
    update: &PropsUpdate,
    source: Source,
    at: At<'_>,
) -> Result<PropsChanged, Failure> {
    if !session.is_active(at.now) || !session.head.has_pipe {
        return Err(refuse::tool_session_not_found("there is no rendered session of this id"));
    }
    content.check_changeable()?;
    let Some(props) = update.apply(content.props.as_ref().unwrap_or(&Object::new())) else {
        let (epoch, delta) = (session.head.epoch, Delta::default());
        return Ok(PropsChanged { is_updated: false, epoch, frame: None, delta });
    };
    check_props(contract, &props, source)?;
    let mut change = Change::begin(session, at);
    if rule!(source == Source::Update; AmendmentsRaise => true; UpdatesKeep => false) {
        change.session.head.epoch += 1;
    }
    let epoch = change.session.head.epoch;
    let data = members([
        ("sessionId", session.id.as_str().into()),
        ("props", Value::Object(props.clone())),
        ("epoch", epoch.into()),
    ]);
    change.append(LedgerName::UiUpdated.into(), Value::Object(data), None, None);
    if source == Source::Update {
        let data = members([("epoch", epoch.into())]);
        change.append(LedgerName::UiReminted.into(), Value::Object(data), None, None);
    }
    change.delta.content.push(ContentChange::Props(epoch, props.clone()));
    let session_id = session.id.clone();
    let frame = Some(ServerFrame::PropsUpdate { session_id, props, epoch });
    Ok(PropsChanged { is_updated: true, epoch, frame, delta: change.finish() })
}

/// Checks props against the schema that the contract enforces. Fails with `contract_violation`,
/// with the hash of the schema.
///
/// Clauses: GGUI-PROPS-ENFORCED.
pub(crate) fn check_props(
    contract: &CompiledContract,
    props: &Object,
    source: Source,
) -> Result<(), Failure> {
    let violations = contract.check_props(&Value::Object(props.clone()));
    if rule!(violations.is_empty(); PropsUnchecked => true) {
        return Ok(());
    }
    let details = ViolationDetails::new(source, violations).under(contract.props().hash());
    Err(details.into_failure(Code::GguiToolContractViolation))
}
