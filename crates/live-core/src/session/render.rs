//! Rendering a UI: a session begins with its UI, at epoch 0.

use accord_base::ActorKey;
use accord_contract::{Object, Value};

use super::change::{At, Change};
use super::{Content, ContentChange, Delta, LedgerName, Session, consume::begin_ask};
use super::{stream::record_lifecycle, subscribe::provision};
use crate::{AppId, SessionId, contract::CompiledContract, json::members};

/// A UI that passed every check.
#[derive(Clone, Debug)]
pub struct Rendering<'a> {
    /// The id of the session, which is new.
    pub session_id: &'a SessionId,
    pub app_id: &'a AppId,
    /// The expired session of the same id, if there is one.
    pub earlier: Option<&'a Session>,
    /// The members of the UI: variant, code, contract, prompt.
    pub ui: Object,
    pub props: Object,
    pub contract: &'a CompiledContract,
    pub asked_by: Option<ActorKey>,
}

/// Begins a session with a UI. Its pipe is open, and it asks if the UI has actions.
///
/// Clauses: GGUI-RENDER-COMMIT, GGUI-EPOCH-RENDER, GGUI-PIPE-OPENED.
pub fn render(rendering: Rendering<'_>, at: At<'_>) -> (Session, Content, Delta) {
    let Rendering { session_id, app_id, earlier, ui, props, contract, asked_by } = rendering;
    let (session, begun) = provision(session_id, app_id, earlier, at);
    let mut change = Change::begin(&session, at);
    change.delta = begun;
    change.delta.content.retain(|change| *change == ContentChange::Clear);
    change.delta.content.push(ContentChange::Ui(ui.clone()));
    change.delta.content.push(ContentChange::Props(0, props.clone()));
    change.session.head.has_pipe = true;
    let about = members([("sessionId", session_id.as_str().into()), ("epoch", 0.into())]);
    for name in [LedgerName::UiCreated, LedgerName::UiCommitted] {
        change.append(name.into(), Value::Object(about.clone()), None, None);
    }
    let payload = members([
        ("kind", "render_started".into()),
        ("sessionId", session_id.as_str().into()),
        ("intent", ui.get("prompt").cloned().unwrap_or_else(|| "".into())),
    ]);
    record_lifecycle(&mut change, payload, None);
    begin_ask(&mut change, &ui, contract, asked_by, at.now);
    let delta = change.finish();
    let session = delta.session.clone().unwrap_or(session);
    let content = Content { ui, props: Some(props), ..Content::default() };
    (session, content, delta)
}
