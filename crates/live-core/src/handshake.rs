//! Handshakes: an agent says what it wants to show, and learns how it can.
//!
//! No model is asked. The suggestion is the agent's own draft, or a UI that was rendered before
//! with exactly the same contract and variance.
//!
//! Invariants:
//! - a handshake belongs to one app, lives for ten minutes, and is used once;
//! - a render that is refused does not use it.

use accord_contract::{Failure, Object, Time, Value, rule, wire_enum};

use crate::{AppId, HandshakeId, json::members, limits::HANDSHAKE_TTL_SECONDS, refuse};

wire_enum! {
    /// What a render after the handshake will do.
    pub enum HandshakeAction("GguiHandshakeAction", closed) {
        /// It makes a UI.
        Create = "create",
        /// It uses a UI that was made before.
        Reuse = "reuse",
        /// It changes a UI.
        Update = "update",
        /// It replaces a UI.
        Replace = "replace",
        /// There will be none.
        Declined = "declined",
    }

    /// Where a suggestion comes from.
    pub enum Origin("GguiSuggestionOrigin", closed) {
        /// From a UI that was rendered before.
        Cache = "cache",
        /// From the agent.
        Agent = "agent",
        /// From a generator.
        Synth = "synth",
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Handshake {
    pub id: HandshakeId,
    pub app_id: AppId,
    pub intent: String,
    /// The contract, as it was sent.
    pub contract: Object,
    /// The variance, as it was sent.
    pub variance: Object,
    pub key: BlueprintKey,
    pub action: HandshakeAction,
    pub expires_at: Time,
}

/// The identity of a UI: its contract, and the variance of it.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct BlueprintKey {
    pub contract_hash: String,
    pub variant_key: String,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Blueprint {
    pub key: BlueprintKey,
    pub code_hash: Option<String>,
    pub intent: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NewHandshake {
    pub intent: String,
    /// The contract, which is valid.
    pub contract: Object,
    pub variance: Object,
    pub key: BlueprintKey,
    /// Whether a UI that was made before is not to be used.
    pub force_create: bool,
}

impl BlueprintKey {
    pub fn id(&self) -> String {
        format!("bp_{}_{}", self.contract_hash, self.variant_key)
    }

    pub fn parse(id: &str) -> Option<Self> {
        let (contract_hash, variant_key) = id.strip_prefix("bp_")?.split_once('_')?;
        let is_hash = |text: &str| {
            text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        let (contract_hash, variant_key) = (contract_hash.to_owned(), variant_key.to_owned());
        let is_key = is_hash(&contract_hash) && is_hash(&variant_key);
        is_key.then_some(Self { contract_hash, variant_key })
    }
}

/// Makes a handshake. `known` is the UI of the same key, if one was rendered before.
///
/// Clauses: GGUI-HANDSHAKE-RECORD, GGUI-HANDSHAKE-REUSE.
pub fn begin(
    id: HandshakeId,
    app: &AppId,
    asked: NewHandshake,
    known: Option<&Blueprint>,
    now: Time,
) -> Handshake {
    let is_known = known.is_some_and(|known| known.key == asked.key);
    let is_known = is_known && rule!(!asked.force_create; ForceIgnored => true);
    Handshake {
        id,
        app_id: app.clone(),
        intent: asked.intent,
        contract: asked.contract,
        variance: asked.variance,
        key: asked.key,
        action: if is_known { HandshakeAction::Reuse } else { HandshakeAction::Create },
        expires_at: now.add_seconds(HANDSHAKE_TTL_SECONDS),
    }
}

/// The handshake of an id, if an app can use it. It stays usable until a render uses it. Fails with
/// `handshake_not_found` when it does not exist, was used, has expired or belongs to another app.
///
/// Clauses: GGUI-HANDSHAKE-SINGLE-USE, GGUI-HANDSHAKE-TTL.
pub fn peek<'a>(
    stored: Option<&'a Handshake>,
    app: &AppId,
    now: Time,
) -> Result<&'a Handshake, Failure> {
    let is_usable = |found: &&Handshake| {
        let is_fresh = rule!(found.expires_at > now; HandshakesForEver => true);
        found.app_id == *app && is_fresh
    };
    stored.filter(is_usable).ok_or_else(not_found)
}

pub(crate) fn not_found() -> Failure {
    refuse::handshake_not_found("there is no such handshake; call ggui_handshake again")
}

impl Handshake {
    pub fn suggestion(&self) -> Object {
        let (origin, rationale) = match self.action {
            HandshakeAction::Reuse => {
                (Origin::Cache, "a UI with exactly this contract and variance was rendered before")
            }
            _ => (Origin::Agent, "the contract of the draft is used as it is"),
        };
        let meta = members([
            ("contractHash", self.key.contract_hash.as_str().into()),
            ("blueprintId", self.key.id().into()),
            ("variance", Value::Object(self.variance.clone())),
        ]);
        members([
            ("origin", origin.as_str().into()),
            ("rationale", rationale.into()),
            ("blueprintMeta", Value::Object(meta)),
        ])
    }
}
