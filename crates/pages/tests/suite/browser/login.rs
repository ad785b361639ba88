//! Signing in with a link or a key.

use accord_kit::browser::Rule;

use super::browser;
use super::stub::{
    Host, ORIGIN, URL, assert_quiet, failure, release, wait_for_view, wait_until_live,
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
    assert_eq!(page.evaluate("history.length").unwrap(), 2);
    let seen = page.observed().unwrap();
    assert!(seen.requests.iter().all(|request| !request.url.contains("one-use-secret")));
    page.reload().unwrap();
    wait_until_live(&page);
    assert_quiet(&page);
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
