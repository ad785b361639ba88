//! An agent asks, a person answers on a phone, the agent gets the answer.

use accord_kit::browser::{Page, Viewport};
use serde_json::json;

use super::hooks::{
    assert_quiet, button, field, value_of, wait_for_agent, wait_for_receipt, wait_until_live,
};
use super::with_browser;
use super::world::World;

#[test]
fn a_person_answers_an_agent_on_a_phone() {
    with_browser(|browser| {
        let world = World::with_keys(&[]);
        let agent = world.agent();
        let session = agent.ask_for_release();
        let page = browser.private_page().expect("a tab");
        let mut phone = Viewport::PHONE;
        phone.width = 360;
        page.set_viewport(phone).expect("a phone");
        page.go(&world.link(&session)).expect("the page");
        wait_until_live(&page);
        // Who asks, for what, and what the agent sent.
        for text in
            ["agent:painter", "Release 2.1.0?", "your word", "2.1.0", "A fix for the cart", "shop"]
        {
            page.wait_for_text(text).expect(text);
        }
        // It asks from the render on, and waits only in a call.
        wait_for_agent(&page, "Your answer is asked for. The agent does not wait at the moment.");
        assert!(agent.consume(&session).is_empty());
        agent.emit(&session, "412 tests passed");
        page.wait_for_text("412 tests passed").expect("a message of the agent");
        let width = page.evaluate("document.documentElement.scrollWidth").expect("a width");
        assert!(width.as_u64() <= Some(360), "{width}");

        page.tap(&field("approve", "note")).expect("a field");
        page.type_text("Looks good").expect("typed");
        // A number that the contract does not allow is refused, and nothing is sent.
        enter(&page, &field("approve", "build"), "0");
        page.tap(&button("approve")).expect("a button");
        wait_for_receipt(&page, "approve", "failed");
        page.wait_for_text("Enter at least 1.").expect("what is wrong");
        assert_eq!(agent.answers(&session).len(), 0);
        enter(&page, &field("approve", "build"), "12");
        page.tap(&button("approve")).expect("a button");
        wait_for_receipt(&page, "approve", "sent");
        page.wait_for_text("Answers so far").expect("the answer on the page");

        let answer = json!({"note": "Looks good", "build": 12});
        assert_eq!(agent.consume(&session), [("approve".to_owned(), answer)]);
        wait_for_agent(&page, "Answered: Approve,");
        wait_for_agent(&page, "The agent has read it.");
        assert!(agent.consume(&session).is_empty(), "it is returned once");
        wait_for_agent(&page, "Your next answer is asked for. The agent does not wait");
        assert_eq!(agent.answers(&session).len(), 1);
        assert_quiet(&page);
        page.close().expect("closed");
    });
}

#[test]
fn a_question_of_one_call_is_answered_on_its_page() {
    with_browser(|browser| {
        let world = World::with_keys(&[]);
        let agent = world.agent();
        let question = json!({"question": "Deploy 3.0?\nAfter *412* tests.", "project_id": "shop",
            "options": ["yes", "not yet"], "to": "human:lead", "timeout": 0});
        let asked = agent.call("ask_person", &question);
        let session = asked["session_id"].as_str().expect("a session").to_owned();
        assert_eq!(asked["page_url"], format!("{}/live/{session}", world.server().url));
        let page = browser.private_page().expect("a tab");
        page.go(&world.link(&session)).expect("the page");
        wait_until_live(&page);
        for text in ["Deploy 3.0?", "After 412 tests.", "agent:painter", "human:lead"] {
            page.wait_for_text(text).expect(text);
        }
        // The agent waits while the person answers.
        let mut waits = question.clone();
        waits["timeout"] = json!(50);
        let given = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| agent.call("ask_person", &waits));
            wait_for_agent(&page, "waits");
            page.tap(&button("not yet")).expect("a button");
            waiting.join().expect("an answer")
        });
        assert_eq!((&given["option"], &given["accepted"]), (&json!("not yet"), &json!(false)));
        assert_eq!(given["by"]["type"], "human");
        wait_for_agent(&page, "The agent has read it.");
        // The same question again, on the page that is open.
        assert_eq!(agent.call("ask_person", &question)["state"], "waiting");
        page.go(&world.page(&session)).expect("the page");
        wait_until_live(&page);
        page.tap(&button("yes")).expect("a button");
        wait_for_receipt(&page, "yes", "sent");
        assert_eq!(agent.call("ask_person", &question)["accepted"], true);
        assert_quiet(&page);
        page.close().expect("closed");
    });
}

/// Enters a value in place of the old one. Chromium drops a key that comes within milliseconds of a
/// tap on a number field; a person sees that, and types again.
pub(super) fn enter(page: &Page<'_>, selector: &str, text: &str) {
    for _ in 0..50 {
        page.tap(selector).expect("a field");
        let select = format!("document.querySelector({})?.select()", json!(selector));
        page.evaluate(&select).expect("selected");
        page.type_text(text).expect("typed");
        if value_of(page, selector) == text {
            return;
        }
    }
    panic!("{selector} does not take {text}");
}
