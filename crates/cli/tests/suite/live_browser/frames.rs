//! A session in the frame of an MCP Apps host, on a real server.
//!
//! The host is a page (`frame_host.js`). Its MCP client is the agent of the test, which answers the
//! calls of the frame.

use accord_kit::browser::{Answer, Page, Rule};
use serde_json::{Value, json};

use super::agent::Agent;
use super::answering::enter;
use super::hooks::{button, field, wait_for_receipt, wait_for_view, wait_until_live};
use super::with_browser;
use super::world::{World, release, release_props};

const HOST: &str = "http://host.test/host";

/// The policy of ext-apps for a resource that declares nothing.
const POLICY: &str = "default-src 'none'; script-src 'self' 'unsafe-inline'; \
    style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'none'";

/// A host that shows the session of a result in the shell that the list of tools names.
fn mount(page: &Page<'_>, agent: &Agent<'_>, rendered: &Value) {
    let listed = agent.request("tools/list", &json!({}));
    let mut tools = listed["tools"].as_array().expect("tools").iter();
    let tool = tools.find(|tool| tool["name"] == "ggui_render").expect("a tool");
    let read = agent.request("resources/read", &json!({"uri": tool["_meta"]["ui"]["resourceUri"]}));
    let contents = &read["contents"][0];
    assert_eq!(contents["mimeType"], "text/html;profile=mcp-app", "{read}");
    let setup = json!({"html": contents["text"], "slice": rendered["_meta"]["ai.ggui/render"]});
    let host = include_str!("../../../../pages/tests/suite/browser/frame_host.js");
    let script = format!("const setup = {setup};\n{host}").replace("</", "<\\/");
    let html = format!("<!doctype html><title>Host</title><script>{script}</script>");
    let headers =
        [("Content-Type", "text/html; charset=utf-8"), ("Content-Security-Policy", POLICY)];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let answer = Answer::Body { status: 200, headers, body: html.into_bytes() };
    page.intercept(vec![Rule::new(HOST, answer)]).expect("a rule");
    page.go(HOST).expect("the host");
}

/// Passes the calls of the frame on until something is true in it, whose document is `inner`.
fn relay_until(page: &Page<'_>, agent: &Agent<'_>, what: &str, condition: &str) {
    let is_so = format!(
        "(() => {{
            const inner = host.frame?.contentDocument;
            return Boolean(inner?.body && {condition})
        }})()"
    );
    loop {
        page.wait_until(what, &format!("host.calls.length > 0 || {is_so}")).expect(what);
        if page.evaluate(&is_so).expect("a value") == true {
            return;
        }
        let call = "(({name, arguments: given}) => ({name, arguments: given}))(host.calls[0])";
        let call = page.evaluate(call).expect("a call");
        let result = agent.request("tools/call", &call);
        page.evaluate(&format!("void host.calls.shift().answer({result})")).expect("answered");
    }
}

#[test]
fn a_question_in_a_frame_is_answered_by_a_person_on_the_page() {
    with_browser(|browser| {
        let world = World::with_keys(&[]);
        let agent = world.agent();
        let mut contract = release();
        contract["x-answeredBy"] = "person".into();
        let draft = json!({"intent": "Release 2.1.0?", "blueprintDraft": {"contract": contract},
            "project_id": "shop"});
        let made = agent.call("ggui_handshake", &draft);
        let render = json!({"handshakeId": made["handshakeId"], "props": release_props()});
        let render = json!({"name": "ggui_render", "arguments": render});
        let rendered = agent.request("tools/call", &render);
        let session = rendered["structuredContent"]["sessionId"].as_str().expect("a session");

        let host = browser.private_page().expect("a tab");
        mount(&host, &agent, &rendered);
        let shown = "inner.body.innerText.includes('A fix for the cart')";
        relay_until(&host, &agent, "the question in the frame", shown);
        let link = "inner.querySelector('#actions').hidden
            && !inner.querySelector('#open-page').hidden";
        relay_until(&host, &agent, "the link instead of forms", link);
        // What a frame sends is no answer of a person, whatever key the host has.
        let payload = json!({"intent": "approve", "actionData": {"note": "ok"}, "uiContext": {}});
        let submit = json!({"kind": "dispatch", "payload": payload, "sessionId": session,
            "appId": "shop", "actionId": "a1", "firedAt": "2026-11-19T10:00:00Z"});
        let refused = agent.call("ggui_runtime_submit_action", &submit);
        assert_eq!(refused["code"], "person_required", "{refused}");

        host.evaluate("host.frame.contentDocument.querySelector('#open-page').click()")
            .expect("a click");
        host.wait_until("the link", "host.links.length === 1").expect("the link");
        let link = host.evaluate("host.links[0]").expect("a link");
        assert_eq!(link, world.page(session));

        let person = browser.private_page().expect("a tab");
        person.go(link.as_str().expect("a link")).expect("the page");
        wait_for_view(&person, "login");
        person.click("#key").expect("the field of the key");
        person.type_text(&world.key_of_person()).expect("typed");
        person.press("Enter").expect("a key");
        wait_until_live(&person);
        person.click(&field("approve", "note")).expect("a field");
        person.type_text("Looks good").expect("typed");
        enter(&person, &field("approve", "build"), "12");
        person.click(&button("approve")).expect("a button");
        wait_for_receipt(&person, "approve", "sent");

        let consumed = agent.call("ggui_consume", &json!({"sessionId": session}));
        let events = consumed["events"].as_array().expect("events");
        assert_eq!(events.len(), 1, "{consumed}");
        let event = &events[0];
        assert_eq!(event["intent"], "approve");
        assert_eq!(event["actionData"], json!({"note": "Looks good", "build": 12}));
        assert_eq!((&event["x-door"], &event["x-person"]), (&json!("page"), &json!(true)));
        assert_eq!(event["x-by"], json!({"type": "human", "id": "lead"}));
        let answered = "inner.body.innerText.includes('Answered: Approve')";
        relay_until(&host, &agent, "the answer in the frame", answered);
        host.close().expect("closed");
        person.close().expect("closed");
    });
}
