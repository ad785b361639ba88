//! A live session in the frame of an MCP Apps host, with the strictest policy that such a host has.
//!
//! The host is a page of this test (`frame_host.js`): it mounts the document in a sandboxed frame,
//! answers `ui/initialize`, tells the result of the tool, and passes calls of tools on to a stub of
//! the server.

use accord_kit::browser::{Answer, Page, Rule};
use accord_pages::frame;
use serde_json::{Value, json};

use super::browser;
use super::stub::{Host, ORIGIN, release};

/// The policy of ext-apps for a resource that declares nothing.
const POLICY: &str = "default-src 'none'; script-src 'self' 'unsafe-inline'; \
    style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'none'";

/// A tab with a host that has mounted the shell, or the document of the session itself.
fn mounted(page: &Page<'_>, session: &Value, is_shell: bool, more: &Value) {
    let slice = json!({"sessionId": "live_1", "appId": "shop"});
    let document = frame("Release?", (!is_shell).then_some(slice.as_object().unwrap()));
    let mut shown = Host::with(session.clone()).shown();
    shown.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let setup = json!({"html": document.into_string(), "page": shown, "slice": slice});
    let script = format!("const setup = {setup};\n{}", include_str!("frame_host.js"));
    let script = script.replace("</", "<\\/");
    let html = format!("<!doctype html><title>Host</title><script>{script}</script>");
    let headers =
        [("Content-Type", "text/html; charset=utf-8"), ("Content-Security-Policy", POLICY)];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let answer = Answer::Body { status: 200, headers, body: html.into_bytes() };
    page.intercept(vec![Rule::new(format!("{ORIGIN}/*"), answer)]).unwrap();
    page.go(&format!("{ORIGIN}/host")).unwrap();
}

/// Waits until something is true in the frame, whose document is `inner`.
fn wait_in(page: &Page<'_>, what: &str, condition: &str) {
    let condition = format!(
        "(() => {{
            const inner = host.frame?.contentDocument;
            return inner?.body && {condition}
        }})()"
    );
    page.wait_until(what, &condition).unwrap();
}

fn in_frame(page: &Page<'_>, statement: &str) -> Value {
    let script =
        format!("(() => {{ const inner = host.frame.contentDocument; return {statement} }})()");
    page.evaluate(&script).unwrap()
}

/// Nothing failed. The browser warns of the sandbox that ext-apps prescribes.
fn assert_no_errors(page: &Page<'_>) {
    let seen = page.observed().unwrap();
    let none: [String; 0] = [];
    assert_eq!(seen.exceptions, none);
    assert_eq!(seen.refused_content, none);
    let said = seen.console.iter().filter(|text| !text.contains("can escape its sandboxing"));
    assert_eq!(said.count(), 0, "{:?}", seen.console);
}

const SHOWN: &str = "inner.body.dataset.view === 'session'";

#[test]
fn a_person_answers_in_a_frame() {
    let Some(browser) = browser() else { return };
    for is_shell in [true, false] {
        let page = browser.page().unwrap();
        let door = json!({"page_url": "http://127.0.0.1:7171/live/live_1"});
        mounted(&page, &release(), is_shell, &door);
        wait_in(&page, "the session in the frame", SHOWN);
        for text in ["Release 2.1.0?", "your word", "A fix for the cart", "built the packages"] {
            wait_in(&page, text, &format!("inner.body.innerText.includes({})", json!(text)));
        }
        assert_eq!(in_frame(&page, "inner.documentElement.dataset.theme"), "dark");
        // What is missing is said in the frame, and nothing is sent.
        in_frame(&page, "inner.querySelector('form[data-action=approve] [type=submit]').click()");
        wait_in(&page, "what is missing", "inner.body.innerText.includes('Fill in this field.')");
        assert_eq!(page.evaluate("host.submitted.length").unwrap(), json!(0));
        in_frame(
            &page,
            "(inner.querySelector('[data-field=note] [data-input]').value = 'Looks good',
              inner.querySelector('[data-field=channel] [data-input]').value = '\"beta\"',
              inner.querySelector('form[data-action=approve] [type=submit]').click())",
        );
        let sent = "inner.querySelector('form[data-action=approve] [data-receipt]').dataset.state";
        wait_in(&page, "the receipt", &format!("{sent} === 'sent'"));
        let submitted = page.evaluate("host.submitted[0]").unwrap();
        assert_eq!(submitted["payload"]["intent"], "approve", "{submitted}");
        let data = json!({"note": "Looks good", "channel": "beta"});
        assert_eq!(submitted["payload"]["actionData"], data, "{submitted}");
        assert_eq!(submitted["sessionId"], "live_1");
        assert_eq!(submitted["x-expect"], "the digest");
        // Nobody waits, so that the conversation is told.
        page.wait_until("the message", "host.messages.length === 1").unwrap();
        let message = page.evaluate("host.messages[0].content[0].text").unwrap();
        assert!(message.as_str().unwrap().contains("ggui_consume"), "{message}");
        // A refusal of the server stands beside its field.
        page.evaluate(
            "void (host.outcome = {ok: false, code: 'CONTRACT_VIOLATION', message: 'no',
                violations: [{field: 'approve.data.count', keyword: 'minimum',
                    expected: 'at least 1', message: 'x'}]})",
        )
        .unwrap();
        in_frame(
            &page,
            "(inner.querySelector('[data-field=note] [data-input]').value = 'Again',
              inner.querySelector('[data-field=channel] [data-input]').value = '\"beta\"',
              inner.querySelector('[data-field=count] [data-input]').value = '2',
              inner.querySelector('form[data-action=approve] [type=submit]').click())",
        );
        wait_in(&page, "the violation", "inner.body.innerText.includes('Enter at least 1.')");
        // The way to the page goes through the host.
        in_frame(&page, "inner.querySelector('#open-page').click()");
        page.wait_until("the link", "host.links.length === 1").unwrap();
        assert_eq!(page.evaluate("host.links[0]").unwrap(), door["page_url"]);
        page.wait_until("the height", "host.height > 100").unwrap();
        assert_no_errors(&page);
    }
}

#[test]
fn a_frame_asks_for_a_person_who_is_signed_in() {
    let Some(browser) = browser() else { return };
    let page = browser.page().unwrap();
    let url = "http://127.0.0.1:7171/live/live_1";
    mounted(&page, &release(), true, &json!({"page_url": url, "answered_by": "person"}));
    wait_in(&page, "the session in the frame", SHOWN);
    wait_in(&page, "the way to the page", "inner.querySelector('#actions').hidden");
    let words = "inner.querySelector('#door').innerText.includes('Only a person who is signed in')";
    wait_in(&page, "why", words);
    in_frame(&page, "inner.querySelector('#open-page').click()");
    page.wait_until("the link", "host.links.length === 1").unwrap();
    assert_eq!(page.evaluate("host.links[0]").unwrap(), url);
    assert_no_errors(&page);
}

#[test]
fn a_frame_says_what_went_wrong() {
    let Some(browser) = browser() else { return };
    let page = browser.page().unwrap();
    mounted(&page, &release(), true, &json!({"refuse": true}));
    let said = "inner.querySelector('#notice').textContent.includes('There is no such session')";
    wait_in(&page, "the refusal", said);
    assert_no_errors(&page);
}
