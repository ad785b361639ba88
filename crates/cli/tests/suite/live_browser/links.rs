//! Links that sign in, and what is left after signing out.

use std::time::{Duration, Instant};

use serde_json::json;

use super::hooks::{field, value_of, wait_for_view, wait_until_live};
use super::with_browser;
use super::world::World;
use crate::people::text_of;
use crate::wait::wait_until;

const TEXT: &str = "A fix for the cart";

#[test]
fn a_link_signs_in_once_and_not_after_it_expired() {
    with_browser(|browser| {
        let world = World::with_keys(&[]);
        let session = world.agent().ask_for_release();
        let link = world.link(&session);
        let page = browser.private_page().expect("a tab");
        page.go(&link).expect("the page");
        wait_until_live(&page);
        assert_eq!(page.url().expect("a URL"), world.page(&session));
        let secret = link.split_once("#t=").expect("a fragment").1;
        let seen = page.observed().expect("what it did");
        assert!(seen.requests.iter().all(|request| !request.url.contains(secret)));

        // The second time, and from another browser.
        let other = browser.private_page().expect("a tab");
        other.go(&link).expect("the page");
        wait_for_view(&other, "login");
        for text in ["This link was used before or has expired", "run accord live open again"] {
            other.wait_for_text(text).expect(text);
        }
        assert!(!other.text().expect("a text").contains(TEXT));
        assert_eq!(other.url().expect("a URL"), world.page(&session));
        // A new link in the same tab changes only the fragment of its address.
        other.go(&world.link(&session)).expect("the page");
        wait_until_live(&other);
        other.wait_for_text(TEXT).expect("the session");
        // In the browser that is signed in, an old link does no harm.
        page.go("about:blank").expect("an empty page");
        page.go(&link).expect("the page");
        wait_until_live(&page);
        page.wait_for_text(TEXT).expect("the session");

        // A link that nobody used in time.
        let world = World::with_keys(&["live.link_ttl=1s"]);
        let session = world.agent().ask_for_release();
        let late = world.link(&session);
        let end = Instant::now() + Duration::from_secs(1);
        wait_until("the end of the link", || Instant::now() > end);
        let other = browser.private_page().expect("a tab");
        other.go(&late).expect("the page");
        wait_for_view(&other, "login");
        other.wait_for_text("has expired; run accord live open again").expect("what to do");
        assert!(!other.text().expect("a text").contains(TEXT));
        page.close().expect("closed");
        other.close().expect("closed");
    });
}

#[test]
fn a_link_of_a_person_is_used_by_a_button_and_answers_one_question() {
    with_browser(|browser| {
        let world = World::with_keys(&[]);
        let session = world.agent().ask_for_release();
        let link = world.link_of_person(&session);
        let page = browser.private_page().expect("a tab");
        // To look at it, twice, uses nothing.
        for _ in 0..2 {
            page.go("about:blank").expect("an empty page");
            page.go(&link).expect("the page");
            wait_for_view(&page, "invitation");
            assert_eq!(page.url().expect("a URL"), world.page(&session));
            assert!(!page.text().expect("a text").contains(TEXT));
        }
        page.click("#invitation-yes").expect("a button");
        wait_until_live(&page);
        page.wait_for_text(TEXT).expect("the question");
        let secret = link.split_once("#p=").expect("a fragment").1;
        let seen = page.observed().expect("what it did");
        assert!(seen.requests.iter().all(|request| !request.url.contains(secret)));
        assert!(seen.requests.iter().all(|request| !request.url.contains("wsToken")));

        // Another browser has the same link.
        let other = browser.private_page().expect("a tab");
        other.go(&link).expect("the page");
        wait_for_view(&other, "invitation");
        other.click("#invitation-yes").expect("a button");
        wait_for_view(&other, "login");
        other.wait_for_text("This link was used before; ask the operator").expect("what to do");
        assert!(!other.text().expect("a text").contains(TEXT));

        // It goes on after it is loaded again, and ends with the answer.
        page.reload().expect("the page");
        wait_until_live(&page);
        page.click("form[data-action=reject] [type=submit]").expect("a button");
        wait_for_view(&page, "ended");
        page.reload().expect("the page");
        wait_for_view(&page, "ended");
        assert!(!page.text().expect("a text").contains(TEXT));
        page.close().expect("closed");
        other.close().expect("closed");
    });
}

#[test]
fn who_has_a_link_that_was_used_can_have_another_one_mailed() {
    with_browser(|browser| {
        let mails = tempfile::tempdir().expect("a folder");
        let (mail, program) = (mails.path().join("mail"), mails.path().join("mail.sh"));
        let script = format!("cat > '{0}.part' && mv '{0}.part' '{0}'\n", mail.display());
        std::fs::write(&program, script).expect("a program");
        let world = World::with_keys(&[&format!("notify.mail=sh {}", program.display())]);
        let session = world.agent().ask_for_release();
        let link = world.link_of_person(&session);
        world.accord(&["person", "change", "lead", "--email", "lead@example.org"]);
        let open = |link: &str| {
            let page = browser.private_page().expect("a tab");
            page.go(link).expect("the page");
            wait_for_view(&page, "invitation");
            page.click("#invitation-yes").expect("a button");
            page
        };
        let page = open(&link);
        wait_until_live(&page);
        let other = open(&link);
        wait_for_view(&other, "renewal");
        other.wait_for_text("This link was used before.").expect("why");
        assert!(!other.text().expect("a text").contains(TEXT));
        other.click("#renewal-yes").expect("a button");
        other.wait_for_text("a new link is on its way").expect("what happens");
        wait_until("the mail", || mail.exists());
        let sent = std::fs::read_to_string(&mail).expect("a mail");
        assert!(sent.starts_with("To: lead@example.org\r\n"), "{sent}");
        let text = text_of(&sent);
        let start = format!("{}#p=", world.page(&session));
        let fresh = text.lines().find(|line| line.starts_with(&start)).expect("a link");
        assert_ne!(fresh, link);
        let fresh = open(fresh);
        wait_until_live(&fresh);
        fresh.wait_for_text(TEXT).expect("the question");
        for page in [page, other, fresh] {
            page.close().expect("closed");
        }
    });
}

#[test]
fn a_person_who_signed_out_leaves_nothing_behind() {
    with_browser(|browser| {
        let world = World::with_keys(&[]);
        let agent = world.agent();
        let session = agent.ask_for_release();
        agent.emit(&session, "412 tests passed");
        let page = browser.private_page().expect("a tab");
        page.go(&world.link(&session)).expect("the page");
        wait_until_live(&page);
        page.wait_for_text("412 tests passed").expect("a message");
        page.click(&field("approve", "note")).expect("a field");
        page.type_text("my private note").expect("typed");
        let half = "Object.values({...localStorage}).join()";
        let half = page.evaluate(half).expect("the half of the page");
        page.click("#sign-out").expect("a button");
        wait_for_view(&page, "login");
        page.wait_for_text("You signed out.").expect("a message");
        let left = page.evaluate(
            "document.title + document.body.innerHTML + JSON.stringify({...localStorage})
                + [...document.querySelectorAll('input, textarea')].map(one => one.value).join()",
        );
        let left = left.expect("a text");
        let left = left.as_str().expect("a text");
        let half = half.as_str().expect("a text");
        for text in ["Release 2.1.0?", TEXT, "412 tests passed", "my private note", half] {
            assert!(!left.contains(text), "{text} stays after signing out: {left}");
        }
        // The login has ended at the server, too: putting the half back brings nothing back.
        let ended = format!(
            "fetch('/accord/v1/live/{session}/page', {{headers: {{'X-Accord-Console': {}}}}})
                .then(answer => answer.status === 401)",
            json!(half)
        );
        page.wait_until("the end of the login at the server", &ended).expect("an end");
        page.reload().expect("the page");
        wait_for_view(&page, "login");
        assert!(!page.text().expect("a text").contains(TEXT));
        // With a key it is there again, without what was entered.
        page.click("#key").expect("the field of the key");
        page.type_text(&world.key_of_person()).expect("typed");
        page.press("Enter").expect("a key");
        wait_until_live(&page);
        page.wait_for_text("412 tests passed").expect("the message again");
        assert_eq!(value_of(&page, &field("approve", "note")), "");
        page.close().expect("closed");
    });
}
