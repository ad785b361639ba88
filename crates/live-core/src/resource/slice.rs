//! The document that a host mounts: `ai.ggui/render`.

use accord_contract::{Object, Time, Value, rule};

use crate::json::{members, put};
use crate::{AppId, SessionId, limits::INLINE_CODE_CHARS, token::Minted};

/// What a host needs to mount a session.
///
/// Clauses: GGUI-RESOURCE-SLICE.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    pub session_id: SessionId,
    pub app_id: AppId,
    pub runtime_url: String,
    /// How the page gets data; `None` without a channel.
    pub delivery: Option<Delivery>,
    pub expires_at: Time,
    pub last_sequence: u64,
    pub epoch: u64,
    pub props_json: Option<String>,
    pub context_slots: Option<Object>,
    /// The hash of the contract, and the URL of its validators.
    pub contract: Option<(String, String)>,
    /// The code of the component, or the kind of a system page.
    pub code: Option<Code>,
    pub theme: Option<Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    pub ws_url: String,
    pub token: Minted,
    /// The URL to poll instead.
    pub polling_url: String,
    /// The URL of the event stream to use instead.
    pub sse_url: String,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Code {
    /// Code at a URL, with its hash.
    Url(String, String),
    /// Code inline, in base64, with its hash.
    Inline(String, String),
    /// A page of the runtime.
    Kind(String),
}

impl Code {
    /// Code inline, if it is small enough.
    ///
    /// Clauses: GGUI-RESOURCE-INLINE.
    pub fn inline(code: &str, hash: &str) -> Option<Self> {
        let text = data_encoding::BASE64.encode(code.as_bytes());
        let is_small = rule!(text.len() <= INLINE_CODE_CHARS; InlineUnlimited => true);
        is_small.then(|| Self::Inline(text, hash.to_owned()))
    }
}

impl Delivery {
    pub fn new(ws_url: String, token: Minted, polling_url: String, sse_url: String) -> Self {
        Self { ws_url, token, polling_url, sse_url }
    }
}

impl Slice {
    /// The slice of a session, with nothing but what is always there.
    pub fn new(session: &crate::session::Session, runtime_url: impl Into<String>) -> Self {
        Self {
            session_id: session.id.clone(),
            app_id: session.app_id.clone(),
            runtime_url: runtime_url.into(),
            delivery: None,
            expires_at: session.head.expires_at,
            last_sequence: session.head.ledger,
            epoch: session.head.epoch,
            props_json: None,
            context_slots: None,
            contract: None,
            code: None,
            theme: None,
        }
    }

    /// Clauses: GGUI-RESOURCE-MOUNTABLE.
    pub fn is_mountable(&self) -> bool {
        rule!(self.code.is_some() || self.delivery.is_some(); NothingIsMounted => true)
    }

    /// The slice as a document: what a host mounts, and what `/state` answers.
    ///
    /// Clauses: GGUI-HTTP-STATE.
    pub fn document(&self) -> Object {
        let mut slice = members([
            ("sessionId", self.session_id.as_str().into()),
            ("appId", self.app_id.as_str().into()),
            ("runtimeUrl", self.runtime_url.as_str().into()),
            ("lastSequence", self.last_sequence.into()),
            ("epoch", self.epoch.into()),
        ]);
        let mut expires_at = self.expires_at;
        if let Some(delivery) = &self.delivery {
            expires_at = delivery.token.expires_at;
            slice.extend(members([
                ("wsUrl", delivery.ws_url.as_str().into()),
                ("wsToken", delivery.token.text.as_str().into()),
                ("pollingUrl", delivery.polling_url.as_str().into()),
                ("sseUrl", delivery.sse_url.as_str().into()),
            ]));
        }
        slice.insert("expiresAt".into(), expires_at.unix_millis().into());
        put(&mut slice, "propsJson", self.props_json.as_deref());
        put(&mut slice, "contextSlots", self.context_slots.clone());
        if let Some((hash, validators)) = &self.contract {
            slice.insert("contractHash".into(), hash.as_str().into());
            slice.insert("validatorsUrl".into(), validators.as_str().into());
        }
        let code = self.code.as_ref().map(|code| match code {
            Code::Url(url, hash) => ("codeUrl", url, Some(hash.as_str())),
            Code::Inline(text, hash) => ("codeB64", text, Some(hash.as_str())),
            Code::Kind(kind) => ("kind", kind, None),
        });
        if let Some((name, text, hash)) = code {
            slice.insert(name.into(), text.as_str().into());
            put(&mut slice, "codeHash", hash);
        }
        put(&mut slice, "theme", self.theme.clone());
        slice
    }
}
