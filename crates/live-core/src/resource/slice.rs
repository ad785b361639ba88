//! The document that a host mounts: `ai.ggui/render`.

use accord_contract::{Object, Time, Value, rule, text::percent_encoded};

use crate::contract::first_value;
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
    /// The slots of the context, in the order of the contract.
    pub context_slots: Vec<ContextSlot>,
    /// The hash of the contract, and the URL of its validators.
    pub contract: Option<(String, String)>,
    /// The code of the component, or the kind of a system page.
    pub code: Option<Code>,
    pub theme_id: Option<String>,
}

/// A slot of the context, as a page begins with it.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextSlot {
    pub name: String,
    pub schema: Value,
    /// The value that the page said last, else the first one.
    pub value: Value,
    /// Milliseconds without a change after which the page sends it, if the contract says so.
    pub debounce_ms: Option<u64>,
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
    /// The ways to a session on the server at `base`. Pages that open no socket can set no header
    /// either, so that their addresses have the token.
    pub fn new(base: &str, session: &SessionId, token: Minted) -> Self {
        let id = percent_encoded(session.as_str());
        let text = percent_encoded(&token.text);
        let api = |end: &str| format!("{base}/api/sessions/{id}/{end}?wsToken={text}");
        let (polling_url, sse_url) = (api("events"), api("stream"));
        Self {
            ws_url: format!("{}/ws", base.replacen("http", "ws", 1)),
            token,
            polling_url,
            sse_url,
        }
    }
}

impl ContextSlot {
    /// The slots of the contract in a UI. `said` are the values that the page said last.
    pub fn of(ui: &Object, said: Option<&Object>) -> Vec<Self> {
        let entries = ui.get("contextSpec").and_then(Value::as_object).into_iter().flatten();
        let slot = |(name, entry): (&String, &Value)| {
            let schema = entry.get("schema")?;
            let said = said.and_then(|said| said.get(name)).cloned();
            let first = || first_value(entry.get("default"), schema).unwrap_or(Value::Null);
            Some(Self {
                name: name.clone(),
                schema: schema.clone(),
                value: said.unwrap_or_else(first),
                debounce_ms: entry.get("debounceMs").and_then(Value::as_u64),
            })
        };
        entries.filter_map(slot).collect()
    }

    fn document(&self) -> Value {
        let mut first = self.name.chars();
        let upper = first.next().into_iter().flat_map(char::to_uppercase);
        let context_name: String = upper.chain(first).chain("Context".chars()).collect();
        let mut slot = members([
            ("name", self.name.as_str().into()),
            ("contextName", context_name.into()),
            ("schema", self.schema.clone()),
            ("default", self.value.clone()),
        ]);
        put(&mut slot, "debounceMs", self.debounce_ms);
        slot.into()
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
            context_slots: Vec::new(),
            contract: None,
            code: None,
            theme_id: None,
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
        slice.insert("expiresAt".into(), expires_at.to_string().into());
        put(&mut slice, "propsJson", self.props_json.as_deref());
        if !self.context_slots.is_empty() {
            let slots = self.context_slots.iter().map(ContextSlot::document).collect();
            slice.insert("contextSlots".into(), Value::Array(slots));
        }
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
        put(&mut slice, "themeId", self.theme_id.as_deref());
        slice
    }
}
