//! The connection is lost in the middle, and in two tabs.

use serde_json::json;

use super::browser;
use super::stub::{
    Host, URL, button, emit, field, release, stored, value_of, wait_for_receipt, wait_for_view,
    wait_until_live,
};

/// A session with one text to answer.
fn question() -> serde_json::Value {
    json!({
        "actionSpec": {"reply": {"label": "Reply", "schema": {"type": "object",
            "properties": {"text": {"type": "string"}}, "required": ["text"]}}},
        "streamSpec": {"log": {"schema": {"type": "string"}, "replay": "all"}},
    })
}

const CUT_OFF: &str = "document.querySelector('#connection').dataset.state !== 'live'";

#[test]
fn a_form_survives_a_lost_connection_and_is_sent_once() {
    let Some(browser) = browser() else { return };
    let page = browser.page().unwrap();
    Host::with(question()).open(&page);
    wait_until_live(&page);
    let text = field("reply", "text");
    page.click(&text).unwrap();
    page.type_text("half a ").unwrap();
    page.evaluate("stubHost.crash()").unwrap();
    page.wait_until("the page to notice that the host is gone", CUT_OFF).unwrap();
    assert_eq!(value_of(&page, &text), "half a ");
    page.type_text("sentence").unwrap();
    // An answer that is given while there is no connection waits for it.
    page.click(&button("reply")).unwrap();
    wait_for_receipt(&page, "reply", "waiting");
    assert_eq!(stored(&page), json!([]));
    // What the agent sends meanwhile is not missed.
    emit(&page, "log", &json!("sent while nobody was there"));
    page.evaluate("void (stubHost.isUp = true)").unwrap();
    wait_for_receipt(&page, "reply", "sent");
    wait_until_live(&page);
    page.wait_for_text("sent while nobody was there").unwrap();
    let answer = json!([{"action": "reply", "data": {"text": "half a sentence"}}]);
    assert_eq!(stored(&page), answer);
}

#[test]
fn an_answer_whose_receipt_was_lost_is_stored_once() {
    let Some(browser) = browser() else { return };
    let page = browser.page().unwrap();
    Host::with(question()).open(&page);
    wait_until_live(&page);
    page.click(&field("reply", "text")).unwrap();
    page.type_text("once").unwrap();
    page.evaluate("void (stubHost.crashAfterAction = true)").unwrap();
    page.click(&button("reply")).unwrap();
    page.wait_until("the page to notice that the host is gone", CUT_OFF).unwrap();
    page.evaluate("void (stubHost.isUp = true)").unwrap();
    wait_for_receipt(&page, "reply", "sent");
    assert_eq!(stored(&page), json!([{"action": "reply", "data": {"text": "once"}}]));
}

#[test]
fn what_was_entered_survives_a_reload_of_the_tab() {
    let Some(browser) = browser() else { return };
    let page = browser.private_page().unwrap();
    let text = json!({"type": "string"});
    let secret = json!({"type": "string", "format": "password"});
    let schema = json!({"type": "object", "properties": {"text": text, "pin": secret}});
    Host::with(json!({"actionSpec": {"reply": {"label": "Reply", "schema": schema}}})).open(&page);
    wait_until_live(&page);
    for (path, typed) in [("text", "half a note"), ("pin", "1234")] {
        page.click(&field("reply", path)).unwrap();
        page.type_text(typed).unwrap();
    }
    page.reload().unwrap();
    wait_until_live(&page);
    assert_eq!(value_of(&page, &field("reply", "text")), "half a note");
    assert_eq!(value_of(&page, &field("reply", "pin")), "", "a secret is not kept");
    page.click(&button("reply")).unwrap();
    wait_for_receipt(&page, "reply", "sent");
    page.reload().unwrap();
    wait_until_live(&page);
    assert_eq!(value_of(&page, &field("reply", "text")), "", "it was sent");
}

#[test]
fn tabs_have_their_own_forms_and_one_login() {
    let Some(browser) = browser() else { return };
    let (one, two) = (browser.page().unwrap(), browser.page().unwrap());
    let host = Host::with(release());
    for page in [&one, &two] {
        host.open(page);
        wait_until_live(page);
    }
    for (page, text) in [(&one, "one"), (&two, "two")] {
        page.click(&field("approve", "note")).unwrap();
        page.type_text(text).unwrap();
        emit(page, "progress", &json!({"step": "first step"}));
        emit(page, "progress", &json!({"step": "second step"}));
        page.wait_for_text("second step").unwrap();
        // A frame that the host sends again is shown once.
        page.evaluate("stubHost.tell({type: 'data', payload: stubHost.stream[0]})").unwrap();
        page.evaluate("stubHost.tell({type: 'props_update', payload: {}})").unwrap();
        page.evaluate("stubHost.emit('progress', {step: 'third step'})").unwrap();
        page.wait_for_text("third step").unwrap();
        let steps = "document.querySelectorAll('[data-channel=progress] [data-items] > li').length";
        assert_eq!(page.evaluate(steps).unwrap(), 3);
    }
    assert_eq!(value_of(&one, &field("approve", "note")), "one");
    assert_eq!(value_of(&two, &field("approve", "note")), "two");
    one.click("#sign-out").unwrap();
    wait_for_view(&one, "login");
    // The other tab signs out, too, and shows nothing of the session.
    wait_for_view(&two, "login");
    two.wait_for_text("You signed out in another tab.").unwrap();
    assert!(value_of(&two, &field("approve", "note")).is_null());
    assert!(!two.text().unwrap().contains("second step"));
    assert_eq!(two.url().unwrap(), URL);
}
