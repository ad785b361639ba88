//! Two tabs of one person, and two people.

use super::hooks::{button, field, value_of, wait_for_agent, wait_for_receipt, wait_until_live};
use super::with_browser;
use super::world::World;

#[test]
fn an_answer_in_one_tab_shows_in_the_others() {
    with_browser(|browser| {
        let world = World::open();
        let agent = world.agent();
        let session = agent.ask_for_release();
        // Two tabs of one browser have one login; a third one is of another person.
        let (one, two) = (browser.page().expect("a tab"), browser.page().expect("a tab"));
        one.go(&world.link(&session)).expect("the page");
        wait_until_live(&one);
        two.go(&world.page(&session)).expect("the page");
        wait_until_live(&two);
        let other = browser.private_page().expect("a tab");
        other.go(&world.link(&session)).expect("the page");
        wait_until_live(&other);
        two.click(&field("approve", "note")).expect("a field");
        two.type_text("half a note").expect("typed");

        one.click(&field("approve", "note")).expect("a field");
        one.type_text("from the first tab").expect("typed");
        one.click(&button("approve")).expect("a button");
        wait_for_receipt(&one, "approve", "sent");
        for page in [&one, &two, &other] {
            let shown = "document.querySelector('#answers [data-answer]')?.innerText
                .includes('from the first tab')";
            page.wait_until("the answer in every tab", shown).expect("the answer");
            let count = "document.querySelectorAll('[data-answer]').length";
            assert_eq!(page.evaluate(count).expect("a number"), 1);
        }
        for page in [&one, &two, &other] {
            wait_for_agent(page, "Answered: Approve,");
            wait_for_agent(page, "The agent has not read it yet.");
        }
        // What is entered elsewhere stays.
        assert_eq!(value_of(&two, &field("approve", "note")), "half a note");
        assert_eq!(agent.consume(&session).len(), 1);
        for page in [&one, &two, &other] {
            wait_for_agent(page, "The agent has read it.");
        }
        // It is there after a reload.
        one.reload().expect("the page");
        wait_until_live(&one);
        one.wait_for_text("from the first tab").expect("the answer");
        wait_for_agent(&one, "Answered: Approve,");
        wait_for_agent(&one, "The agent has read it.");
        for page in [one, two, other] {
            page.close().expect("closed");
        }
    });
}
