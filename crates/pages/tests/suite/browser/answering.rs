//! A person answers in the browser.

use accord_kit::browser::Viewport;
use serde_json::json;

use super::browser;
use super::stub::{
    Host, assert_quiet, button, emit, field, release, stored, wait_for_receipt, wait_until_live,
};

#[test]
fn a_person_answers_on_a_phone_while_the_agent_goes_on() {
    let Some(browser) = browser() else { return };
    let page = browser.page().unwrap();
    page.set_viewport(Viewport::PHONE).unwrap();
    let mut host = Host::with(release());
    host.open(&page);
    wait_until_live(&page);
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
    page.evaluate("stubHost.tell({type: 'drain_ack', payload: {}})").unwrap();
    page.wait_for_text("The agent has read your answer.").unwrap();
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
