//! The connection is lost in the middle, and in two tabs.

use accord_kit::browser::Page;
use serde_json::{Value, json};

use super::browser;
use super::stub::{
    Host, URL, button, emit, field, release, stored, value_of, wait_for_receipt, wait_for_view,
    wait_until_live,
};

/// A session with one text to answer.
fn question() -> Value {
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

/// Loads a page again, as a browser does with a tab that it has discarded.
fn discard(page: &Page<'_>) {
    page.evaluate("void (globalThis.isDiscarded = true)").unwrap();
    page.reload().unwrap();
}

/// How many answers a tab keeps.
fn kept(page: &Page<'_>) -> Value {
    let count =
        "Object.keys(sessionStorage).filter(key => key.startsWith('accord.answer/')).length";
    page.evaluate(count).unwrap()
}

fn reply(text: &str) -> Value {
    json!({"action": "reply", "data": {"text": text}})
}

fn send(page: &Page<'_>, text: &str) {
    page.click(&field("reply", "text")).unwrap();
    page.type_text(text).unwrap();
    page.click(&button("reply")).unwrap();
}

#[test]
fn an_answer_that_cannot_be_stored_is_sent_again_over_the_same_connection() {
    let Some(browser) = browser() else { return };
    let page = browser.page().unwrap();
    Host::with(question()).open(&page);
    wait_until_live(&page);
    page.evaluate("void (stubHost.isFull = true, stubHost.first = stubHost.sockets[0])").unwrap();
    send(&page, "again");
    page.wait_for_text("The server cannot store it now (APPEND_FAILED).").unwrap();
    assert_eq!(page.evaluate(CUT_OFF).unwrap(), false);
    page.evaluate("void (stubHost.isFull = false)").unwrap();
    wait_for_receipt(&page, "reply", "sent");
    assert_eq!(stored(&page), json!([reply("again")]));
    let is_same = "stubHost.sockets.length === 1 && stubHost.sockets[0] === stubHost.first";
    assert_eq!(page.evaluate(is_same).unwrap(), true);
}

#[test]
fn an_answer_that_waits_survives_a_discarded_tab_and_is_sent_once() {
    let Some(browser) = browser() else { return };
    let page = browser.page().unwrap();
    let host = Host::with(question());
    host.open(&page);
    wait_until_live(&page);
    page.evaluate("stubHost.crash()").unwrap();
    page.wait_until("the page to notice that the host is gone", CUT_OFF).unwrap();
    send(&page, "kept");
    wait_for_receipt(&page, "reply", "waiting");
    assert_eq!((kept(&page), stored(&page)), (json!(1), json!([])));
    // A tab that is duplicated begins with what the first one keeps.
    let copy = page.evaluate("JSON.stringify({...sessionStorage})").unwrap();
    discard(&page);
    wait_for_receipt(&page, "reply", "sent");
    wait_until_live(&page);
    assert_eq!((kept(&page), stored(&page)), (json!(0), json!([reply("kept")])));
    assert_eq!(value_of(&page, &field("reply", "text")), "");

    let other = browser.page().unwrap();
    let copied = format!("Object.assign(sessionStorage, JSON.parse({copy}))");
    let once = format!("sessionStorage.length === 0 && {copied}");
    other.run_in_new_documents(&once).unwrap();
    host.open(&other);
    wait_for_receipt(&other, "reply", "sent");
    assert_eq!((kept(&other), stored(&other)), (json!(0), json!([reply("kept")])));
    // The answers that follow are new ones, in both.
    for (page, text) in [(&other, "from the copy"), (&page, "from the first")] {
        wait_until_live(page);
        send(page, text);
        page.wait_until(
            "the answer to be stored",
            &format!("stubHost.actions.some(action => action.data.text === '{text}')"),
        )
        .unwrap();
    }
    let all = json!([reply("kept"), reply("from the copy"), reply("from the first")]);
    assert_eq!(stored(&page), all);
}

#[test]
fn an_answer_whose_receipt_was_lost_with_the_tab_is_stored_once() {
    let Some(browser) = browser() else { return };
    let page = browser.private_page().unwrap();
    Host::with(question()).open(&page);
    wait_until_live(&page);
    page.evaluate("void (stubHost.crashAfterAction = true)").unwrap();
    send(&page, "once");
    page.wait_until("the page to notice that the host is gone", CUT_OFF).unwrap();
    assert_eq!((kept(&page), stored(&page)), (json!(1), json!([reply("once")])));
    discard(&page);
    wait_for_receipt(&page, "reply", "sent");
    assert_eq!((kept(&page), stored(&page)), (json!(0), json!([reply("once")])));
}

#[test]
fn a_secret_is_not_kept_and_nothing_is_kept_for_the_next_person() {
    let Some(browser) = browser() else { return };
    let page = browser.private_page().unwrap();
    let secret = json!({"type": "string", "format": "password"});
    let schema =
        json!({"type": "object", "properties": {"text": {"type": "string"}, "pin": secret}});
    Host::with(json!({"actionSpec": {"reply": {"label": "Reply", "schema": schema}}})).open(&page);
    wait_until_live(&page);
    page.evaluate("stubHost.crash()").unwrap();
    page.wait_until("the page to notice that the host is gone", CUT_OFF).unwrap();
    page.click(&field("reply", "pin")).unwrap();
    page.type_text("hush-1234").unwrap();
    send(&page, "half a note");
    wait_for_receipt(&page, "reply", "waiting");
    let all = page.evaluate("JSON.stringify({...sessionStorage})").unwrap();
    assert!(!all.as_str().unwrap().contains("hush-1234"), "{all}");
    discard(&page);
    wait_until_live(&page);
    page.wait_for_text("It is not known whether your answer arrived").unwrap();
    wait_for_receipt(&page, "reply", "failed");
    assert_eq!((kept(&page), stored(&page)), (json!(0), json!([])));
    assert_eq!(value_of(&page, &field("reply", "text")), "half a note");

    // The tab is not loaded while somebody signs out in another one.
    page.evaluate("stubHost.crash()").unwrap();
    page.wait_until("the page to notice that the host is gone", CUT_OFF).unwrap();
    page.click(&button("reply")).unwrap();
    wait_for_receipt(&page, "reply", "waiting");
    assert_eq!(kept(&page), 1);
    page.evaluate("localStorage.removeItem('accord.person.0123abcd')").unwrap();
    discard(&page);
    wait_until_live(&page);
    assert_eq!(value_of(&page, &field("reply", "text")), "");
    assert_eq!((kept(&page), stored(&page)), (json!(0), json!([])));
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
