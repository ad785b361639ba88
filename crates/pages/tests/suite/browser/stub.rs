//! A host that is a few rules, and how tests use its page.

use accord_kit::browser::{Answer, Page, Rule};
use accord_pages::{Asking, Given, LiveView, Shell, agent, answers, assets, page_policy};
use serde_json::{Value, json};

use crate::support::{now, snapshot};

pub(super) use super::hooks::{
    assert_quiet, button, field, value_of, wait_for_agent, wait_for_receipt, wait_for_view,
    wait_until_live,
};

/// An origin whose pages may use what browsers keep for secure pages. Nothing listens there.
pub(super) const ORIGIN: &str = "http://127.0.0.1:7171";
/// The page of the session.
pub(super) const URL: &str = "http://127.0.0.1:7171/live/live_1";

const HOST_NAME: &str = "0123abcd";

/// What the host answers.
pub(super) struct Host {
    snapshot: Value,
    is_ended: bool,
    asking: Asking,
    /// The event of the last answer, and whether the agent has read it.
    answered: Option<(Value, bool)>,
    more: Vec<Rule>,
}

impl Host {
    /// A host with one session, whose snapshot has these members.
    pub(super) fn with(members: Value) -> Self {
        Self {
            snapshot: snapshot(members),
            is_ended: false,
            asking: Asking::No,
            answered: None,
            more: Vec::new(),
        }
    }

    /// The same, but the session has ended.
    pub(super) fn ended(mut self) -> Self {
        self.is_ended = true;
        self
    }

    /// The agent waits for an answer.
    pub(super) fn ask(&mut self) {
        self.asking = Asking::Waits;
    }

    /// The agent asks, and waits no longer.
    pub(super) fn leave(&mut self) {
        self.asking = Asking::Later;
    }

    /// A person has answered, and the agent has read it or not.
    pub(super) fn answer(&mut self, action: &str, is_read: bool) {
        let by = json!({"type": "human", "id": "lead"});
        self.asking = Asking::No;
        self.answered = Some((json!({"payload": {"action": action}, "x-by": by}), is_read));
    }

    /// Answers before those of the host.
    pub(super) fn also(mut self, rule: Rule) -> Self {
        self.more.push(rule);
        self
    }

    /// Replaces members of the snapshot.
    pub(super) fn change(&mut self, members: Value) {
        let Value::Object(members) = members else { panic!("members are an object") };
        self.snapshot.as_object_mut().unwrap().extend(members);
    }

    /// Serves the requests of a tab from now on.
    pub(super) fn serve(&self, page: &Page<'_>) {
        let mut rules = self.more.clone();
        rules.push(html(
            &format!("{ORIGIN}/live/*"),
            &Shell::new(HOST_NAME, false).html().into_string(),
        ));
        for asset in assets::ASSETS {
            let path = format!("{ORIGIN}/assets/{}/{}", assets::version(), asset.name);
            rules.push(rule(&path, 200, asset.media_type, asset.text));
        }
        let live = format!("{ORIGIN}/accord/v1/live/live_1");
        rules.push(document(&format!("{live}/page"), 200, &self.page()));
        let token = json!({"ws_token": "token", "app_id": "shop"});
        rules.push(document(&format!("{live}/token"), 200, &token));
        let login = json!({"secret": "the half of the page"});
        rules.push(document(&format!("{ORIGIN}/accord/v1/login"), 200, &login));
        rules.push(document(&format!("{ORIGIN}/accord/v1/logout"), 200, &json!({})));
        rules.push(failure("*", 404, "not_found", "There is no such session."));
        page.intercept(rules).unwrap();
    }

    /// Serves a tab and opens the page in it, signed in.
    pub(super) fn open(&self, page: &Page<'_>) {
        self.serve(page);
        page.run_in_new_documents(include_str!("channel.js")).unwrap();
        let sign_in = format!("localStorage.setItem('accord.console.{HOST_NAME}', 'half')");
        page.run_in_new_documents(&sign_in).unwrap();
        page.go(URL).unwrap();
    }

    /// What a frame of a host gets.
    pub(super) fn shown(&self) -> Value {
        let mut shown = self.page()["page"].take();
        shown["digest"] = "the digest".into();
        shown
    }

    fn page(&self) -> Value {
        let view = LiveView::new(&self.snapshot, Some("agent:planner"), now());
        let given = self.answered.iter();
        let given =
            given.map(|(event, is_read)| Given { number: 2, at: now(), event, is_read: *is_read });
        let given: Vec<_> = given.collect();
        let agent = agent(&view, &self.snapshot, self.asking, &given);
        json!({"page": {
            "head": view.head().into_string(), "props": view.props().into_string(),
            "agent": agent.into_string(), "actions": view.actions().into_string(),
            "answers": answers(&self.snapshot, &given).into_string(),
            "streams": view.streams().into_string(),
            "now": now().unix_millis(), "ends_at": view.ends().unix_millis(),
            "ended": self.is_ended, "digest": self.snapshot["props"].to_string(),
        }})
    }
}

/// Answers with a page, with the policy of pages.
pub(super) fn html(url: &str, body: &str) -> Rule {
    let mut rule = rule(url, 200, "text/html; charset=utf-8", body);
    if let Answer::Body { headers, .. } = &mut rule.answer {
        let policy = page_policy(ORIGIN.trim_start_matches("http://"), None);
        headers.push(("Content-Security-Policy".to_owned(), policy));
    }
    rule
}

/// Answers with a failure.
pub(super) fn failure(url: &str, status: u16, code: &str, message: &str) -> Rule {
    document(url, status, &json!({"ok": false, "error": {"code": code, "message": message}}))
}

pub(super) fn rule(url: &str, status: u16, media_type: &str, body: &str) -> Rule {
    let header = ("Content-Type".to_owned(), media_type.to_owned());
    Rule::new(url, Answer::Body { status, headers: vec![header], body: body.as_bytes().to_vec() })
}

pub(super) fn document(url: &str, status: u16, document: &Value) -> Rule {
    rule(url, status, "application/json", &document.to_string())
}

/// What the person was shown, for each action that the host stored.
pub(super) fn expected(page: &Page<'_>) -> Value {
    page.evaluate("stubHost.actions.map(({expect}) => JSON.parse(expect))").unwrap()
}

/// The actions that the host stored: names and data.
pub(super) fn stored(page: &Page<'_>) -> Value {
    page.evaluate("stubHost.actions.map(({action, data}) => ({action, data}))").unwrap()
}

/// Sends a message on a channel of the session.
pub(super) fn emit(page: &Page<'_>, channel: &str, payload: &Value) {
    page.evaluate(&format!("stubHost.emit({}, {payload})", json!(channel))).unwrap();
}

/// A session that asks to approve a release, with everything that a contract can have.
pub(super) fn release() -> Value {
    json!({
        "prompt": "Release 2.1.0?",
        "propsSpec": {
            "description": "A release waits for **your word**.",
            "properties": {
                "version": {"schema": {"type": "string"}, "required": true,
                    "description": "The version to release"},
                "changes": {"schema": {"type": "array", "items": {"type": "string"}}},
                "risk": {"schema": {"type": "object", "properties": {
                    "level": {"type": "string"}, "score": {"type": "number"}}}},
            },
        },
        "props": {
            "version": "2.1.0",
            "changes": ["Faster search", "A fix for the cart"],
            "risk": {"level": "low", "score": 0.2},
        },
        "actionSpec": {
            "approve": {
                "label": "Approve",
                "description": "The release goes out *at once*.",
                "schema": {
                    "type": "object",
                    "properties": {
                        "note": {"type": "string", "description": "Why"},
                        "count": {"type": "integer", "minimum": 1, "maximum": 9},
                        "channel": {"type": "string", "enum": ["stable", "beta"]},
                        "notify": {"type": "boolean"},
                        "reviewers": {"type": "array", "items": {"type": "string"}},
                    },
                    "required": ["note", "channel"],
                },
            },
            "reject": {"label": "Reject", "confirm": true},
        },
        "streamSpec": {
            "progress": {"schema": {"type": "object"}, "replay": "all"},
        },
    })
}
