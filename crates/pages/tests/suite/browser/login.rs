//! Signing in with a link or a key.

use accord_kit::browser::Rule;
use serde_json::json;

use super::browser;
use super::stub::{
    Host, ORIGIN, URL, assert_quiet, button, emit, failure, field, release, value_of,
    wait_for_view, wait_until_live,
};

fn refused_login() -> Rule {
    failure(&format!("{ORIGIN}/accord/v1/login"), 401, "unauthorized", "The link was used before.")
}

#[test]
fn a_link_signs_in_and_leaves_no_trace_in_the_address() {
    let Some(browser) = browser() else { return };
    let page = browser.page().unwrap();
    Host::with(release()).serve(&page);
    page.run_in_new_documents(include_str!("channel.js")).unwrap();
    page.go(&format!("{URL}#t=one-use-secret")).unwrap();
    wait_until_live(&page);
    assert_eq!(page.url().unwrap(), URL);
    let entries = page.evaluate("history.length").unwrap();
    let seen = page.observed().unwrap();
    assert!(seen.requests.iter().all(|request| !request.url.contains("one-use-secret")));
    page.reload().unwrap();
    wait_until_live(&page);
    assert_quiet(&page);
    // The link is not an entry of the history: a tab that opens the page without it has as many.
    let other = browser.page().unwrap();
    Host::with(release()).open(&other);
    wait_until_live(&other);
    assert_eq!(other.evaluate("history.length").unwrap(), entries);
}

#[test]
fn a_link_that_was_used_leads_to_the_form() {
    let Some(browser) = browser() else { return };
    let page = browser.page().unwrap();
    Host::with(release()).also(refused_login()).serve(&page);
    page.run_in_new_documents(include_str!("channel.js")).unwrap();
    page.go(&format!("{URL}#t=one-use-secret")).unwrap();
    wait_for_view(&page, "login");
    page.wait_for_text("The link was used before.").unwrap();
    assert!(!page.text().unwrap().contains("A fix for the cart"));
}

#[test]
fn a_key_is_sent_once_and_not_kept() {
    let Some(browser) = browser() else { return };
    let page = browser.private_page().unwrap();
    let host = Host::with(release());
    host.serve(&page);
    page.run_in_new_documents(include_str!("channel.js")).unwrap();
    page.go(URL).unwrap();
    wait_for_view(&page, "login");
    page.click("#key").unwrap();
    page.type_text("accord_my_secret_key").unwrap();
    page.press("Enter").unwrap();
    wait_until_live(&page);
    let kept = page.evaluate(
        "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href,
            document.documentElement.outerHTML, document.querySelector('#key').value])",
    );
    assert!(!kept.unwrap().as_str().unwrap().contains("accord_my_secret_key"));
    assert_quiet(&page);
}

#[test]
fn nothing_of_the_session_stays_after_signing_out() {
    let Some(browser) = browser() else { return };
    let page = browser.private_page().unwrap();
    let host = Host::with(release());
    host.serve(&page);
    page.run_in_new_documents(include_str!("channel.js")).unwrap();
    page.go(&format!("{URL}#t=one-use-secret")).unwrap();
    wait_until_live(&page);
    emit(&page, "progress", &json!({"step": "built the packages"}));
    page.wait_for_text("built the packages").unwrap();
    page.click(&field("approve", "note")).unwrap();
    page.type_text("my private note").unwrap();
    page.click(&button("reject")).unwrap();
    page.wait_until("the dialog", "document.querySelector('#confirm').open").unwrap();
    page.press("Escape").unwrap();
    page.click("#sign-out").unwrap();
    wait_for_view(&page, "login");
    page.wait_for_text("You signed out.").unwrap();
    let left = page.evaluate(
        "document.title + document.body.innerHTML
            + [...document.querySelectorAll('input, textarea')].map(input => input.value).join()",
    );
    let left = left.unwrap();
    for text in ["Release 2.1.0?", "A fix for the cart", "built the packages", "private", "Reject"]
    {
        assert!(!left.as_str().unwrap().contains(text), "{text} stays");
    }
    // The next person begins with an empty form, and sees what was sent before.
    page.click("#key").unwrap();
    page.type_text("accord_other_key").unwrap();
    page.press("Enter").unwrap();
    wait_until_live(&page);
    page.wait_for_text("built the packages").unwrap();
    assert_eq!(value_of(&page, &field("approve", "note")), "");
    assert_quiet(&page);
}

#[test]
fn a_login_that_ended_hides_the_session_and_keeps_what_was_entered() {
    let Some(browser) = browser() else { return };
    let page = browser.private_page().unwrap();
    let host = Host::with(release());
    host.serve(&page);
    page.run_in_new_documents(include_str!("channel.js")).unwrap();
    page.go(&format!("{URL}#t=one-use-secret")).unwrap();
    wait_until_live(&page);
    page.click(&field("approve", "note")).unwrap();
    page.type_text("half a note").unwrap();
    let ended = failure(
        &format!("{ORIGIN}/accord/v1/live/live_1/page"),
        401,
        "LOGIN_REQUIRED",
        "this page is not signed in",
    );
    Host::with(release()).also(ended).serve(&page);
    page.evaluate("stubHost.tell({type: 'props_update', payload: {}})").unwrap();
    wait_for_view(&page, "login");
    page.wait_for_text("what you entered stays here").unwrap();
    assert!(!page.text().unwrap().contains("A fix for the cart"));
    host.serve(&page);
    page.click("#key").unwrap();
    page.type_text("accord_my_key").unwrap();
    page.press("Enter").unwrap();
    wait_until_live(&page);
    assert_eq!(value_of(&page, &field("approve", "note")), "half a note");
}
