//! A page behind a proxy that lets no socket through.

use serde_json::json;

use super::answering::enter;
use super::hooks::{
    assert_quiet, button, field, wait_for_agent, wait_for_receipt, wait_until_live,
};
use super::with_browser;
use super::world::World;

/// Sockets that end before they open, as behind a proxy that does not know them.
const NO_SOCKETS: &str = "globalThis.opened = 0;
    globalThis.WebSocket = class extends EventTarget {
        static CONNECTING = 0;
        static OPEN = 1;
        static CLOSED = 3;
        constructor() {
            super();
            globalThis.opened += 1;
            setTimeout(() => this.onclose?.({ code: 1006, reason: '' }));
        }
        close() {}
    }";

#[test]
fn a_page_answers_over_http_where_no_socket_opens() {
    with_browser(|browser| {
        let world = World::with_keys(&[]);
        let agent = world.agent();
        let session = agent.ask_for_release();
        let page = browser.private_page().expect("a tab");
        page.run_in_new_documents(NO_SOCKETS).expect("a script");
        page.go(&world.link(&session)).expect("the page");
        wait_until_live(&page);
        assert_eq!(page.evaluate("opened").expect("a count"), json!(2));
        agent.emit(&session, "412 tests passed");
        page.wait_for_text("412 tests passed").expect("a message of the agent");
        enter(&page, &field("approve", "note"), "Looks good");
        enter(&page, &field("approve", "build"), "0");
        page.click(&button("approve")).expect("sent");
        wait_for_receipt(&page, "approve", "failed");
        // The violations come with the refusal, as over the socket.
        page.wait_for_text("Enter at least 1.").expect("what is wrong");
        enter(&page, &field("approve", "build"), "12");
        page.click(&button("approve")).expect("sent");
        wait_for_receipt(&page, "approve", "sent");
        let answer = json!({"note": "Looks good", "build": 12});
        assert_eq!(agent.consume(&session), [("approve".to_owned(), answer)]);
        wait_for_agent(&page, "The agent has read it.");
        assert_quiet(&page);
        page.close().expect("closed");
    });
}
