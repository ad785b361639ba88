//! What the tools that read answer.

use accord_contract::{Code, Object, Time, Timestamp, Value, message};

use crate::json::{members, put};
use crate::session::{Content, Head, LedgerPage, Session, Status};
use crate::{AppId, SessionId, gadgets, gadgets::GadgetDescriptor, handshake::BlueprintKey};

message! {
    /// A session, as `ggui_get_session` shows it. The members of its UI are beside these.
    pub struct SessionDocument("GguiSession", open) {
        /// Its id.
        required id: SessionId = "id", "live-session-id";
        /// Its app.
        required app_id: AppId = "appId", "app-id";
        /// The number of its last ledger event.
        required event_sequence: u64 = "eventSequence", "ledger-seq";
        /// When it began, in milliseconds.
        required created_at: i64 = "createdAt", "time:unix-millis";
        /// When something was last done in it, in milliseconds.
        required last_activity_at: i64 = "lastActivityAt", "time:unix-millis";
        /// When it expires, unless something is done in it before, in milliseconds.
        required expires_at: i64 = "expiresAt", "time:unix-millis";
        /// Whether it can be used.
        required status: Status = "status", "session-status";
        /// The epoch of its props.
        required epoch: u64 = "epoch", "epoch";
    }

    /// A session in the list of `ggui_list_sessions`. What it is for (`prompt`) is beside these.
    pub struct SessionSummary("GguiSessionSummary", open) {
        /// Its id.
        required session_id: SessionId = "sessionId", "live-session-id";
        /// Its app.
        required app_id: AppId = "appId", "app-id";
        /// The host in which it was rendered, if it said so.
        optional host_name: String = "hostName", "host-name";
        /// The conversation of that host.
        optional host_session_id: String = "hostSessionId", "host-session-id";
        /// The number of its last ledger event.
        required event_sequence: u64 = "eventSequence", "ledger-seq";
        /// When it began.
        required created_at: Timestamp = "createdAt", "time:iso-8601";
        /// When something was last done in it.
        required last_activity_at: Timestamp = "lastActivityAt", "time:iso-8601";
        /// When it expires, unless something is done in it before.
        required expires_at: Timestamp = "expiresAt", "time:iso-8601";
        /// Whether it can be used.
        required status: Status = "status", "session-status";
        /// The epoch of its props.
        required epoch: u64 = "epoch", "epoch";
    }

    /// The answer of `ggui_list_sessions`.
    pub struct SessionList("GguiSessionList", open) {
        /// The sessions, the newest first, without their props, code and contract. Those of a
        /// conversation (`hostSessionId`): the newest last.
        required sessions: Vec<SessionSummary> = "sessions", "sessions";
        /// Whether there are more.
        required has_more: bool = "hasMore", "flag";
    }

    /// The answer of `ggui_get_render_source`.
    pub struct RenderSource("GguiRenderSource", open) {
        /// The session.
        required session_id: SessionId = "sessionId", "live-session-id";
        /// The code of the component; empty if the UI has none.
        required component_code: String = "componentCode", "component-code";
        /// The hash of the code, if there is any.
        optional code_hash: String = "codeHash", "sha256";
        /// The contract.
        required contract: Object = "contract", "contract";
        /// The same as one document, if the UI has code: `source`, `contract` and, if there are
        /// any, `fixtureProps`.
        optional blueprint: Object = "blueprint", "blueprint-source";
    }

    /// A UI that was rendered, and can be rendered again.
    pub struct BlueprintDocument("GguiBlueprint", open) {
        /// Its id, for `ggui_render_blueprint`.
        required blueprint_id: String = "blueprintId", "blueprint-id";
        /// The same id.
        required id: String = "id", "blueprint-id";
        /// What it was made for.
        required name: String = "name", "text";
        /// The hash of its contract.
        required contract_hash: String = "contractHash", "contract-hash";
        /// The key of its variance.
        required variant_key: String = "variantKey", "variant-key";
        /// What it was made for.
        required intent: String = "intent", "text";
        /// When it was last rendered.
        required rendered_at: String = "renderedAt", "time:iso-8601";
        /// Its contract.
        required contract: Object = "contract", "contract";
        /// Its variance.
        required variance: Object = "variance", "variance";
    }

    /// The answer of `ggui_list_featured_blueprints`.
    pub struct BlueprintList("GguiBlueprintList", open) {
        /// The UIs, the newest first.
        required blueprints: Vec<BlueprintDocument> = "blueprints", "blueprints";
        /// The number of UIs in the list.
        required total: u64 = "total", "count";
        /// Whether there are more.
        required has_more: bool = "hasMore", "flag";
    }

    /// The answer of `ggui_search_blueprints`.
    pub struct BlueprintSearch("GguiBlueprintSearch", open) {
        /// The UIs that were found, the newest first.
        required results: Vec<BlueprintDocument> = "results", "blueprints";
        /// The number of UIs in the list.
        required total: u64 = "total", "count";
        /// What was searched for.
        required query: String = "query", "text";
        /// Whether there are more.
        required has_more: bool = "hasMore", "flag";
    }

    /// A package of gadgets that a contract can use.
    pub struct GadgetDocument("GguiGadget", open) {
        /// The package.
        required package: String = "package", "npm-package";
        /// Its version.
        optional version: String = "version", "version";
        /// Its hooks and components: each has `hook` or `component`, its name.
        required exports: Vec<Object> = "exports", "gadget-exports";
        /// The public values that it needs.
        required requires: Vec<String> = "requires", "public-env-names";
    }

    /// The answer of `ggui_list_gadgets`.
    pub struct GadgetList("GguiGadgetList", open) {
        /// The packages.
        required gadgets: Vec<GadgetDocument> = "gadgets", "gadgets";
    }

    /// A theme that a render can name.
    pub struct ThemeDocument("GguiTheme", open) {
        /// Its id, for `themeId`.
        required id: String = "id", "theme-id";
        /// Its name, for people.
        required name: String = "name", "text";
        /// What it looks like.
        required description: String = "description", "text";
        /// The color schemes that it has: `light`, `dark`.
        required modes: Vec<String> = "modes", "theme-modes";
    }

    /// The answer of `ggui_list_themes`.
    pub struct ThemeList("GguiThemeList", open) {
        /// The themes.
        required themes: Vec<ThemeDocument> = "themes", "themes";
    }

    /// The answer of `ggui_runtime_pull`: a page of the ledger, or why there is none.
    pub struct PullAnswer("GguiPullAnswer", open) {
        /// The events, in order.
        optional events: Vec<Object> = "events", "ledger-events";
        /// The number of the last event of the ledger.
        optional last_sequence: u64 = "lastSequence", "ledger-seq";
        /// Whether there are more events.
        optional has_more: bool = "hasMore", "flag";
        /// Why the ledger cannot be read after that number.
        optional reason: String = "reason", "code";
        /// The number of the last event, where there is a reason.
        optional current_sequence: u64 = "currentSequence", "ledger-seq";
    }
}

impl SessionDocument {
    pub fn new(session: &Session, content: &Content, now: Time) -> Self {
        Self::of(session, session.members(content, now), now)
    }

    fn of(session: &Session, mut extra: Object, now: Time) -> Self {
        extra.retain(|name, _| !OWN.contains(&name.as_str()));
        let head = &session.head;
        Self {
            id: session.id.clone(),
            app_id: session.app_id.clone(),
            event_sequence: head.ledger,
            created_at: head.created_at.unix_millis(),
            last_activity_at: head.last_activity_at.unix_millis(),
            expires_at: head.expires_at.unix_millis(),
            status: session.status(now),
            epoch: head.epoch,
            extra,
        }
    }
}

impl SessionSummary {
    /// A session in a list: without what is large. `ui` are the members of its UI.
    pub fn new(session: &Session, ui: &Object, now: Time) -> Self {
        let mut extra = session.summary(ui, now);
        let host = extra.shift_remove("hostSession");
        let of_host = |name: &str| host.as_ref()?.get(name)?.as_str().map(str::to_owned);
        extra.retain(|name, _| !OWN.contains(&name.as_str()));
        let head = &session.head;
        Self {
            session_id: session.id.clone(),
            app_id: session.app_id.clone(),
            host_name: of_host("hostName"),
            host_session_id: of_host("hostSessionId"),
            event_sequence: head.ledger,
            created_at: Timestamp::emit(head.created_at),
            last_activity_at: Timestamp::emit(head.last_activity_at),
            expires_at: Timestamp::emit(head.expires_at),
            status: session.status(now),
            epoch: head.epoch,
            extra,
        }
    }

    /// What it was rendered for.
    pub fn prompt(&self) -> Option<&str> {
        self.extra.get("prompt").and_then(Value::as_str)
    }
}

impl SessionList {
    pub fn new(sessions: Vec<SessionSummary>, has_more: bool) -> Self {
        Self { sessions, has_more, extra: Object::new() }
    }
}

impl BlueprintList {
    pub fn new(blueprints: Vec<BlueprintDocument>, has_more: bool) -> Self {
        let total = blueprints.len() as u64;
        Self { blueprints, total, has_more, extra: Object::new() }
    }

    /// The same as what was found for a query.
    pub fn found_for(self, query: String) -> BlueprintSearch {
        let Self { blueprints: results, total, has_more, extra } = self;
        BlueprintSearch { results, total, query, has_more, extra }
    }
}

impl ThemeList {
    pub fn new(themes: Vec<ThemeDocument>) -> Self {
        Self { themes, extra: Object::new() }
    }
}

const OWN: [&str; 8] =
    ["id", "appId", "eventSequence", "createdAt", "lastActivityAt", "expiresAt", "status", "epoch"];

impl RenderSource {
    pub fn new(session: &Session, content: &Content, contract: Object) -> Self {
        let text = |name: &str| content.ui.get(name).and_then(Value::as_str).map(str::to_owned);
        let code = text("componentCode").unwrap_or_default();
        let blueprint = (!code.is_empty()).then(|| {
            let source = members([("source", code.as_str().into())]);
            let mut blueprint = source;
            put(&mut blueprint, "contract", Some(Value::Object(contract.clone())));
            put(&mut blueprint, "fixtureProps", content.props.clone().map(Value::Object));
            blueprint
        });
        Self {
            session_id: session.id.clone(),
            blueprint,
            component_code: code,
            code_hash: text("x-codeHash"),
            contract,
            extra: Object::new(),
        }
    }
}

impl BlueprintDocument {
    /// A UI of a key. `made_from` has its contract and variance.
    pub fn new(key: &BlueprintKey, intent: &str, at: Time, mut made_from: Object) -> Self {
        let mut part = |name: &str| match made_from.shift_remove(name) {
            Some(Value::Object(part)) => part,
            _ => Object::new(),
        };
        Self {
            blueprint_id: key.id(),
            id: key.id(),
            name: intent.to_owned(),
            contract_hash: key.contract_hash.clone(),
            variant_key: key.variant_key.clone(),
            intent: intent.to_owned(),
            rendered_at: at.to_string(),
            contract: part("contract"),
            variance: part("variance"),
            extra: Object::new(),
        }
    }
}

impl GadgetList {
    pub fn new(registered: &[GadgetDescriptor]) -> Self {
        let gadgets = registered.iter().map(|package| GadgetDocument {
            package: package.package.clone(),
            version: package.version.clone(),
            exports: package.exports.iter().map(|name| export(name)).collect(),
            requires: package.requires.clone(),
            extra: Object::new(),
        });
        Self { gadgets: gadgets.collect(), extra: Object::new() }
    }
}

fn export(name: &str) -> Object {
    let kind = if gadgets::names::is_hook(name) { "hook" } else { "component" };
    members([(kind, name.into())])
}

impl ThemeDocument {
    /// A theme of one color scheme, which is its id.
    pub fn of_mode(mode: &str, name: &str, description: &str) -> Self {
        let (name, description) = (name.to_owned(), description.to_owned());
        let modes = vec![mode.to_owned()];
        Self { id: mode.to_owned(), name, description, modes, extra: Object::new() }
    }
}

impl PullAnswer {
    pub fn page(page: &LedgerPage) -> Self {
        Self {
            events: Some(page.rows.iter().map(|row| row.document()).collect()),
            last_sequence: Some(page.last_sequence),
            has_more: Some(page.has_more),
            reason: None,
            current_sequence: None,
            extra: Object::new(),
        }
    }

    /// A position from which the ledger cannot be read.
    pub fn passed(head: &Head) -> Self {
        Self {
            events: None,
            last_sequence: None,
            has_more: None,
            reason: Some(Code::GguiReplayHorizonPassed.as_str().to_owned()),
            current_sequence: Some(head.ledger),
            extra: Object::new(),
        }
    }
}

accord_contract::contract_messages! {
    Response;
    SessionDocument = "ggui-session",
    SessionSummary = "ggui-session-summary",
    SessionList = "ggui-session-list",
    RenderSource = "ggui-render-source",
    BlueprintList = "ggui-blueprint-list",
    BlueprintSearch = "ggui-blueprint-search",
    GadgetList = "ggui-gadget-list",
    ThemeList = "ggui-theme-list",
    PullAnswer = "ggui-pull-answer",
}
