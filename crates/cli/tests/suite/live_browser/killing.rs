//! The server is killed while a person answers: nothing is lost, and nothing comes twice.

use accord_kit::browser::{Browser, Page};
use serde_json::{Value, json};

use super::hooks::{button, field, value_of, wait_for_receipt, wait_until_live};
use super::with_browser;
use super::world::World;

const CUT_OFF: &str = "document.querySelector('#connection').dataset.state !== 'live'";

/// Keeps the acknowledgements of actions from the page, while `holdAcks` is set. A page that is
/// discarded asks nobody.
const HOLD_ACKS: &str = "
    addEventListener('beforeunload', event => {
        if (globalThis.isDiscarded) event.stopImmediatePropagation();
    });
    globalThis.heldAcks = [];
    const own = Object.getOwnPropertyDescriptor(WebSocket.prototype, 'onmessage');
    Object.defineProperty(WebSocket.prototype, 'onmessage', {...own, set(take) {
        own.set.call(this, event => {
            const frame = JSON.parse(event.data);
            if (globalThis.holdAcks && frame.type === 'ack') heldAcks.push(frame);
            else take.call(this, event);
        });
    }});";

/// A signed-in page of a session of a world.
fn open<'b>(browser: &'b Browser, world: &World, session: &str) -> Page<'b> {
    let page = browser.private_page().expect("a tab");
    page.run_in_new_documents(HOLD_ACKS).expect("a script");
    page.go(&world.link(session)).expect("the page");
    wait_until_live(&page);
    page
}

fn note(text: &str) -> Value {
    json!({"action": "approve", "data": {"note": text}})
}

#[test]
fn a_killed_server_costs_a_person_nothing() {
    with_browser(|browser| {
        let mut world = World::with_keys(&[]);
        let session = world.agent().ask_for_release();
        let page = open(browser, &world, &session);
        let text = field("approve", "note");
        page.click(&text).expect("a field");
        page.type_text("half a ").expect("typed");

        // In the middle of the form.
        world.kill();
        page.wait_until("the page to notice that the server is gone", CUT_OFF).expect("noticed");
        assert_eq!(value_of(&page, &text), "half a ");
        page.type_text("sentence").expect("typed");
        page.click(&button("approve")).expect("a button");
        wait_for_receipt(&page, "approve", "waiting");
        world.start_again();
        wait_for_receipt(&page, "approve", "sent");
        wait_until_live(&page);
        assert_eq!(world.agent().answers(&session), [note("half a sentence")]);

        // After the answer is stored, and before the page knows that.
        page.click(&text).expect("a field");
        page.type_text("once").expect("typed");
        page.evaluate("void (globalThis.holdAcks = true)").expect("a script");
        page.click(&button("approve")).expect("a button");
        page.wait_until("the acknowledgement", "heldAcks.length === 1").expect("acknowledged");
        wait_for_receipt(&page, "approve", "waiting");
        world.kill();
        page.evaluate("void (globalThis.holdAcks = false)").expect("a script");
        page.wait_until("the page to notice that the server is gone", CUT_OFF).expect("noticed");
        world.start_again();
        wait_for_receipt(&page, "approve", "sent");
        assert_eq!(world.agent().answers(&session), [note("half a sentence"), note("once")]);

        // Before the server has read the answer.
        page.click(&text).expect("a field");
        page.type_text("unread").expect("typed");
        world.server().signal("-STOP");
        page.click(&button("approve")).expect("a button");
        wait_for_receipt(&page, "approve", "waiting");
        world.kill();
        world.start_again();
        wait_for_receipt(&page, "approve", "sent");

        // With the tab, which the browser discards before the page knows that it is stored.
        page.click(&text).expect("a field");
        page.type_text("discarded").expect("typed");
        page.evaluate("void (globalThis.holdAcks = true)").expect("a script");
        page.click(&button("approve")).expect("a button");
        page.wait_until("the acknowledgement", "heldAcks.length === 2").expect("acknowledged");
        page.evaluate("void (globalThis.isDiscarded = true)").expect("a script");
        page.reload().expect("the page");
        wait_for_receipt(&page, "approve", "sent");
        wait_until_live(&page);
        let all = ["half a sentence", "once", "unread", "discarded"].map(note);
        let agent = world.agent();
        assert_eq!(agent.answers(&session), all);
        let consumed = agent.consume(&session);
        let data: Vec<&Value> = consumed.iter().map(|(_, data)| &data["note"]).collect();
        assert_eq!(data, ["half a sentence", "once", "unread", "discarded"]);
        assert!(agent.consume(&session).is_empty());
        page.close().expect("closed");
    });
}
