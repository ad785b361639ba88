//! The gates of a render, in their order. Only a render that passes all of them uses its
//! handshake.

use std::sync::Arc;

use accord_base::ActorKey;
use accord_canon::sha256;
use accord_contract::{Code, Failure, Object, Value, rule};

use super::handshake::{compile, key};
use super::{Cache, NextStep, RenderAnswer, RenderRequest};
use crate::gadgets::{GadgetDescriptor, check_gadgets};
use crate::handshake::{self, Blueprint, BlueprintKey, Handshake, HandshakeAction};
use crate::resource::Locator;
use crate::session::{ASKED_BY, At, Content, Delta, Rendering, Session};
use crate::session::{actor_document, check_props};
use crate::subset::{Finding, Policy, check_tools};
use crate::violation::{Source, Violation, ViolationDetails};
use crate::{
    AppId, HandshakeId, SessionId, contract::CompiledContract, json::members, json::put, refuse,
};

#[derive(Clone)]
pub struct RenderFacts<'a> {
    pub app_id: &'a AppId,
    pub handshake: Option<&'a Handshake>,
    /// What [`render_contract`] gave for the request and its handshake; `None` without a handshake.
    pub contract: Option<Result<Arc<CompiledContract>, Failure>>,
    pub themes: &'a [&'a str],
    /// Why the agent must wait, if it renders too often.
    pub rate_limit: Option<Failure>,
    pub gadgets: &'a [GadgetDescriptor],
    /// The names of the public values of the app.
    pub public_env: &'a [&'a str],
    pub input_schema: &'a dyn Fn(&str) -> Option<&'a Value>,
    /// What happens to a contract that does not fit the tools of the server.
    pub policy: Policy,
    /// The code of the UI of the handshake's key, if one was rendered before with code.
    pub known_code: Option<&'a str>,
    pub session_id: &'a SessionId,
    pub asked_by: Option<ActorKey>,
    pub at: At<'a>,
}

/// A UI that is rendered. Everything is written in one transaction.
#[derive(Debug)]
pub struct Rendered {
    pub session: Session,
    pub content: Content,
    pub contract: Arc<CompiledContract>,
    pub delta: Delta,
    /// The handshake that was used; its row goes away.
    pub used: HandshakeId,
    /// The UI, to be found by a later handshake.
    pub blueprint: Blueprint,
    /// The code, to be stored under its hash.
    pub code: Option<(String, String)>,
    /// Where the contract does not fit the tools of the server, to be reported.
    pub findings: Vec<Finding>,
    pub answer: RenderAnswer,
}

/// The contract of a render: that of its override, else that of its handshake. To compile it takes
/// time, so a service does it before its transaction. Fails with every violation.
pub fn render_contract(
    request: &RenderRequest,
    handshake: &Handshake,
) -> Result<Arc<CompiledContract>, Failure> {
    let (document, refusal) = contract_document(request, handshake);
    compile(document, refusal).map(Arc::new)
}

/// The contract of a render, and the code with which it is refused if that is not its own.
fn contract_document<'a>(
    request: &'a RenderRequest,
    handshake: &'a Handshake,
) -> (&'a Object, Option<Code>) {
    let other = request.overrides.as_ref().and_then(|named| named.contract.as_ref());
    match other {
        Some(other) => (other, Some(Code::GguiToolOverrideContractInvalid)),
        None => (&handshake.contract, None),
    }
}

/// Renders a UI. Fails with the refusal of the first gate that does not let it through: theme,
/// handshake, rate, contract, gadgets, compatibility, props. The handshake stays usable.
///
/// Clauses: GGUI-RENDER-GATES.
pub fn render(request: RenderRequest, facts: RenderFacts<'_>) -> Result<Rendered, Failure> {
    let overrides = request.overrides.as_ref();
    if overrides.is_some_and(|named| named.contract.is_none() && named.variance.is_none()) {
        let message = "override has a contract or a variance";
        return Err(refuse::invalid_message(message).with("field", "override"));
    }
    if rule!(true; AnyTheme => false) {
        check_theme(request.theme_id.as_deref(), facts.themes)?;
    }
    let handshake = handshake::peek(facts.handshake, facts.app_id, facts.at.now)?;
    if let Some(failure) = facts.rate_limit {
        return Err(failure);
    }
    let (document, _) = contract_document(&request, handshake);
    let contract = facts.contract.ok_or_else(handshake::not_found)??;
    let data_contract = contract.contract();
    let public_env = facts.public_env.iter().copied();
    check_gadgets(data_contract.gadgets.as_ref(), facts.gadgets, public_env)?;
    let findings = check_tools(data_contract, facts.input_schema);
    let findings = facts.policy.decide("ggui_render", findings)?;
    check_props(&contract, &request.props, Source::Render)?;
    let variance = overrides.and_then(|named| named.variance.as_ref());
    let key = key(document, variance.unwrap_or(&handshake.variance))?;
    let is_known = key == handshake.key && handshake.action == HandshakeAction::Reuse;
    let known_code = facts.known_code.filter(|_| is_known).map(str::to_owned);
    let code = request.component_code.clone().or(known_code);
    let code = code.map(|code| (sha256(code.as_bytes()).hex(), code));
    let mut ui = ui(document, handshake, request.theme_id.as_deref(), code.as_ref());
    put(&mut ui, ASKED_BY, facts.asked_by.as_ref().map(actor_document));
    put(&mut ui, HOST_SESSION, request.host_session.as_ref().and_then(host_session));
    let rendering = Rendering {
        session_id: facts.session_id,
        app_id: facts.app_id,
        earlier: None,
        ui,
        props: request.props.clone(),
        contract: &contract,
        asked_by: facts.asked_by,
    };
    let (session, content, delta) = crate::session::render(rendering, facts.at);
    let answer = answer(&session, &contract, &key, is_known);
    let code_hash = code.as_ref().map(|(hash, _)| hash.clone());
    let blueprint = Blueprint { key, code_hash, intent: handshake.intent.clone() };
    let used = handshake.id.clone();
    Ok(Rendered { session, content, contract, delta, used, blueprint, code, findings, answer })
}

fn check_theme(asked: Option<&str>, themes: &[&str]) -> Result<(), Failure> {
    let Some(asked) = asked.filter(|asked| !themes.contains(asked)) else { return Ok(()) };
    let violation = Violation::new("themeId", format!("there is no theme {asked:?}"))
        .expecting(themes.join(", "), asked)
        .of_code(Code::GguiCtrRenderUnknownThemeId);
    let details = ViolationDetails::new(Source::Render, vec![violation]);
    Err(details.into_failure(Code::GguiToolContractViolation))
}

/// The members of a UI with the hash of its code, and with its theme.
const CODE_HASH: &str = "x-codeHash";
const THEME: &str = "themeId";
const HOST_SESSION: &str = "hostSession";

/// The conversation of a host, which has a name and an id. Without one of them it is none.
fn host_session(said: &Object) -> Option<Value> {
    let text =
        |name: &str| said.get(name).filter(|value| value.as_str().is_some_and(|it| !it.is_empty()));
    let (host, id) = (text("hostName")?, text("hostSessionId")?);
    Some(Value::Object(members([("hostName", host.clone()), ("hostSessionId", id.clone())])))
}

/// The members of the UI: the contract as it was sent, the code, and what it is for.
fn ui(
    contract: &Object,
    handshake: &Handshake,
    theme: Option<&str>,
    code: Option<&(String, String)>,
) -> Object {
    let mut ui = contract.clone();
    // Other members of a contract pass through, but not those that the server writes.
    for name in [ASKED_BY, CODE_HASH, THEME, HOST_SESSION] {
        ui.shift_remove(name);
    }
    let (hash, text) = code.map_or((None, ""), |(hash, text)| (Some(hash.as_str()), text.as_str()));
    ui.insert("type".into(), "component".into());
    ui.insert("componentCode".into(), text.into());
    ui.insert("prompt".into(), handshake.intent.as_str().into());
    put(&mut ui, THEME, theme);
    put(&mut ui, CODE_HASH, hash);
    ui
}

fn answer(
    session: &Session,
    contract: &CompiledContract,
    key: &BlueprintKey,
    is_known: bool,
) -> RenderAnswer {
    let mut locator = Locator::new(session.id.clone());
    locator.blueprint_key = Some(key.contract_hash.clone());
    let has_actions = contract.contract().actions.as_ref().is_some_and(|spec| !spec.is_empty());
    RenderAnswer {
        session_id: session.id.clone(),
        resource_uri: locator.to_string(),
        action: if is_known { HandshakeAction::Reuse } else { HandshakeAction::Create },
        contract_hash: key.contract_hash.clone(),
        blueprint_id: key.id(),
        variant_key: key.variant_key.clone(),
        cache: Cache { hit: is_known, llm_calls_avoided: 0, extra: Object::new() },
        next_step: has_actions.then(|| NextStep::consume(&session.id)),
        extra: Object::new(),
    }
}
