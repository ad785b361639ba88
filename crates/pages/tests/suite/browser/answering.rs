//! A person answers in the browser.

use accord_kit::browser::Viewport;
use serde_json::json;

use super::axe::Axe;
use super::browser;
use super::stub::{
    Host, assert_quiet, button, emit, expected, field, release, stored, value_of, wait_for_agent,
    wait_for_receipt, wait_until_live,
};

#[test]
fn a_person_answers_on_a_phone_while_the_agent_goes_on() {
    let Some(browser) = browser() else { return };
    let page = browser.page().unwrap();
    page.set_viewport(Viewport::PHONE).unwrap();
    let mut host = Host::with(release());
    host.ask();
    host.open(&page);
    wait_until_live(&page);
    wait_for_agent(&page, "The agent waits for your answer.");
    // The end of its wait is no event.
    host.leave();
    host.serve(&page);
    wait_for_agent(&page, "The agent does not wait at the moment.");
    for text in ["Release 2.1.0?", "your word", "2.1.0", "A fix for the cart", "Approve"] {
        page.wait_for_text(text).unwrap();
    }
    page.tap(&field("approve", "note")).unwrap();
    page.type_text("Looks good").unwrap();
    emit(&page, "progress", &json!({"step": "built the packages"}));
    page.wait_for_text("built the packages").unwrap();
    host.change(json!({"props": {"version": "2.1.1"}}));
    host.serve(&page);
    page.evaluate("stubHost.tell({type: 'props_update', payload: {}})").unwrap();
    page.wait_for_text("2.1.1").unwrap();

    // The list of choices of a phone is not part of the page.
    let choose = "(select => {
        select.value = JSON.stringify('beta');
        select.dispatchEvent(new Event('input', {bubbles: true}));
        select.dispatchEvent(new Event('change', {bubbles: true}));
    })";
    let channel = json!(field("approve", "channel"));
    page.evaluate(&format!("{choose}(document.querySelector({channel}))")).unwrap();
    page.tap(&button("approve")).unwrap();
    wait_for_receipt(&page, "approve", "sent");
    let answer = json!({"note": "Looks good", "channel": "beta"});
    assert_eq!(stored(&page), json!([{"action": "approve", "data": answer}]));
    // It comes from the host, so that every tab says it, also after a reload.
    host.answer("approve", false);
    host.serve(&page);
    page.evaluate("stubHost.tell({type: 'render_event', payload: {type: 'user.submitted'}})")
        .unwrap();
    wait_for_agent(&page, "Answered: Approve,");
    wait_for_agent(&page, "by human:lead. The agent has not read it yet.");
    host.answer("approve", true);
    host.serve(&page);
    page.evaluate("stubHost.tell({type: 'drain_ack', payload: {}})").unwrap();
    wait_for_agent(&page, "The agent has read it.");
    page.reload().unwrap();
    wait_until_live(&page);
    wait_for_agent(&page, "Answered: Approve,");
    host.ask();
    host.serve(&page);
    let polls = json!({"sessionId": "live_1", "kind": "consume_polling", "state": "open"});
    emit(&page, "_ggui:lifecycle", &polls);
    wait_for_agent(&page, "The agent waits for your next answer. Before: Approve,");
    assert_quiet(&page);
}

#[test]
fn a_person_answers_with_the_keyboard_alone() {
    let Some(browser) = browser() else { return };
    let page = browser.page().unwrap();
    Host::with(release()).open(&page);
    wait_until_live(&page);
    page.tab_to(&field("approve", "note")).unwrap();
    page.type_text("By keyboard").unwrap();
    page.tab_to(&field("approve", "channel")).unwrap();
    page.type_text("stable").unwrap();
    page.tab_to(&button("approve")).unwrap();
    page.press("Enter").unwrap();
    wait_for_receipt(&page, "approve", "sent");

    // An action that asks again: Escape leaves the dialog and sends nothing.
    let is_open = "document.querySelector('#confirm').open";
    page.tab_to(&button("reject")).unwrap();
    page.press("Enter").unwrap();
    page.wait_until("the dialog", is_open).unwrap();
    page.press("Escape").unwrap();
    page.wait_until("the end of the dialog", &format!("!{is_open}")).unwrap();
    assert_eq!(stored(&page).as_array().unwrap().len(), 1);
    page.tab_to(&button("reject")).unwrap();
    page.press("Enter").unwrap();
    page.wait_until("the dialog", is_open).unwrap();
    page.tab_to("#confirm-yes").unwrap();
    page.press("Space").unwrap();
    wait_for_receipt(&page, "reject", "sent");
    let answers = stored(&page);
    let data = json!({"note": "By keyboard", "channel": "stable"});
    assert_eq!(answers[0], json!({"action": "approve", "data": data}));
    assert_eq!(answers[1]["action"], "reject");
    assert_quiet(&page);
}

#[test]
fn an_answer_carries_what_was_shown_when_it_was_given() {
    let Some(browser) = browser() else { return };
    let page = browser.page().unwrap();
    let actions = json!({"ok": {"label": "OK"}, "drop": {"label": "Drop", "confirm": true}});
    let shown = |text: &str| json!({"props": {"what": text}, "actionSpec": actions});
    let mut host = Host::with(shown("the first"));
    host.open(&page);
    wait_until_live(&page);
    let change = |host: &mut Host, text: &str| {
        host.change(shown(text));
        host.serve(&page);
        page.evaluate("stubHost.tell({type: 'props_update', payload: {}})").unwrap();
        page.wait_for_text(text).unwrap();
    };
    // The question changes behind the dialog of a person who was asked again.
    page.click(&button("drop")).unwrap();
    page.wait_until("the dialog", "document.querySelector('#confirm').open").unwrap();
    change(&mut host, "the second");
    page.click("#confirm-yes").unwrap();
    wait_for_receipt(&page, "drop", "sent");
    // An answer that is kept while the page is offline keeps what was shown.
    page.evaluate("stubHost.crash()").unwrap();
    page.click(&button("ok")).unwrap();
    wait_for_receipt(&page, "ok", "waiting");
    host.change(shown("the third"));
    host.serve(&page);
    page.evaluate("void (globalThis.isDiscarded = true)").unwrap();
    page.reload().unwrap();
    page.wait_until("both answers", "stubHost.actions.length === 2").unwrap();
    assert_eq!(expected(&page), json!([{"what": "the first"}, {"what": "the second"}]));
    assert_quiet(&page);
}

/// A list of people is asked for, by keyboard and on a small screen.
#[test]
fn a_list_of_objects_is_entered_in_groups() {
    let Some(browser) = browser() else { return };
    let page = browser.page().unwrap();
    page.set_viewport(Viewport::PHONE).unwrap();
    let person = json!({"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string", "maxLength": 40}, "age": {"type": "integer"}}});
    let list = json!({"type": "array", "items": person, "default": [{"name": "Ada", "age": 36}]});
    let schema = json!({"type": "object", "properties": {"people": list}, "required": ["people"]});
    Host::with(json!({"actionSpec": {"send": {"label": "Send", "schema": schema}}})).open(&page);
    wait_until_live(&page);
    let part = |entry: usize, name: &str| {
        format!("[data-items] > li:nth-child({entry}) [data-name={name}] [data-input]")
    };
    let add = "form[data-action=send] [data-add]";
    let focused = |selector: &str| format!("document.activeElement.matches('{selector}')");
    assert_eq!(value_of(&page, &part(1, "age")), "36");
    page.tab_to(add).unwrap();
    page.press("Enter").unwrap();
    page.wait_until("the focus in the new entry", &focused(&part(2, "name"))).unwrap();
    page.type_text("Bo").unwrap();
    page.tab_to(add).unwrap();
    page.press("Enter").unwrap();
    page.wait_until("the focus in the new entry", &focused(&part(3, "name"))).unwrap();
    let legends = "[...document.querySelectorAll('[data-items] legend')]
        .map(legend => legend.textContent).join()";
    assert_eq!(page.evaluate(legends).unwrap(), "Entry 1,Entry 2,Entry 3");
    let width = page.evaluate("document.documentElement.scrollWidth").unwrap();
    assert!(width.as_u64() <= Some(320), "{width}");
    if let Some(axe) = Axe::find() {
        axe.judge(&page, "a list of objects");
    }

    // The third has no name. The host refuses the age of the second.
    let wrong = "[...document.querySelectorAll('[data-error]')].filter(error => !error.hidden)
        .map(error => [...document.querySelectorAll('[data-items] > li')]
            .indexOf(error.closest('li')) + error.closest('[data-field]').dataset.field
            + ' ' + error.textContent).join()";
    page.click(&button("send")).unwrap();
    page.wait_until("what is wrong", wrong).unwrap();
    assert_eq!(page.evaluate(wrong).unwrap(), "2[].name Fill in this field.");
    page.click("[data-items] > li:nth-child(3) [data-remove]").unwrap();
    page.wait_until("the focus after an entry is gone", &focused(add)).unwrap();
    let violation = json!({"field": "send.data.people[1].age", "keyword": "type",
        "message": "must be integer", "expected": "integer", "received": "text"});
    let refusal = json!({"code": "CONTRACT_VIOLATION", "message": "no",
        "details": {"violations": [violation]}});
    page.evaluate(&format!("void (stubHost.refusal = {refusal})")).unwrap();
    page.click(&button("send")).unwrap();
    page.wait_until("what the host refuses", &format!("{wrong}.startsWith('1')")).unwrap();
    assert_eq!(page.evaluate(wrong).unwrap(), "1[].age Enter a whole number.");

    // What was entered stays over a reload, with all its entries.
    page.reload().unwrap();
    wait_until_live(&page);
    assert_eq!(value_of(&page, &part(2, "name")), "Bo");
    page.click(&button("send")).unwrap();
    wait_for_receipt(&page, "send", "sent");
    let data = json!({"people": [{"name": "Ada", "age": 36}, {"name": "Bo"}]});
    assert_eq!(stored(&page), json!([{"action": "send", "data": data}]));
    assert_quiet(&page);
}

#[test]
fn what_is_wrong_is_said_where_it_was_entered() {
    let Some(browser) = browser() else { return };
    let page = browser.page().unwrap();
    Host::with(release()).open(&page);
    wait_until_live(&page);
    page.click(&field("approve", "count")).unwrap();
    page.type_text("1.5").unwrap();
    page.click(&button("approve")).unwrap();
    let wrong = "[...document.querySelectorAll('form[data-action=approve] [data-error]')]
        .filter(error => !error.hidden && error.textContent.trim())
        .map(error => error.closest('[data-field]').dataset.field).sort().join(' ')";
    page.wait_until("the errors of the fields", wrong).unwrap();
    assert_eq!(page.evaluate(wrong).unwrap(), "channel count note");
    // The focus is on the first field that is wrong.
    let focused = "document.activeElement.closest('[data-field]')?.dataset.field ?? ''";
    page.wait_until("the focus on a field", focused).unwrap();
    assert_eq!(page.evaluate(focused).unwrap(), "note");
    assert_eq!(stored(&page), json!([]));
    assert_quiet(&page);
}

/// A person sees what is asked, and the buttons, whatever the length of what the agent shows.
#[test]
fn long_props_scroll_inside_and_the_buttons_stay_in_sight() {
    let Some(browser) = browser() else { return };
    let page = browser.page().unwrap();
    let lines: Vec<String> = (0..400).map(|line| format!("Line {line}")).collect();
    let label = |text: &str| json!({"label": text});
    Host::with(json!({
        "props": {"log": lines, "greeting": "\u{5e9}\u{5dc}\u{5d5}\u{5dd} world"},
        "actionSpec": {"approve": label("Yes"), "reject": label("No")},
    }))
    .open(&page);
    for viewport in [Viewport::PHONE, Viewport::DESKTOP] {
        page.set_viewport(viewport).unwrap();
        wait_until_live(&page);
        let seen = "(() => {
            const box = document.querySelector('.props-box');
            const button = document.querySelector('form[data-action=approve] button');
            const { top, bottom } = button.getBoundingClientRect();
            return box.scrollHeight > box.clientHeight && top >= 0 && bottom <= innerHeight;
        })()";
        page.wait_until("the button to be in sight", seen).unwrap();
    }
    // A text that begins with a letter of Hebrew stands at the right.
    let is_right = "(() => {
        const text = document.querySelector('[data-prop=greeting] dd');
        const range = document.createRange();
        range.selectNodeContents(text);
        const { right } = text.getBoundingClientRect();
        return Math.abs(range.getBoundingClientRect().right - right) < 2;
    })()";
    assert_eq!(page.evaluate(is_right).unwrap(), json!(true));
    assert_quiet(&page);
}

/// A list that need not be there asks for nothing, however many entries it must have.
#[test]
fn an_optional_list_with_a_least_number_does_not_block() {
    let Some(browser) = browser() else { return };
    let page = browser.page().unwrap();
    let list =
        |least: u64| json!({"type": "array", "items": {"type": "string"}, "minItems": least});
    let schema = json!({"type": "object", "properties": {"tags": list(2), "names": list(1)},
        "required": ["names"]});
    Host::with(json!({"actionSpec": {"save": {"label": "Save", "schema": schema}}})).open(&page);
    wait_until_live(&page);
    page.wait_for_text("None, or at least 2 entries").unwrap();
    page.click("[data-field=names] [data-input]").unwrap();
    page.type_text("Ada").unwrap();
    // An entry that was added and left blank is none.
    page.click("[data-field=tags] [data-add]").unwrap();
    page.click(&button("save")).unwrap();
    wait_for_receipt(&page, "save", "sent");
    assert_eq!(stored(&page), json!([{"action": "save", "data": {"names": ["Ada"]}}]));
}
