//! A page that cannot start says so, with a code of the protocol.

use accord_kit::browser::{Answer, Rule};

use super::browser;
use super::stub::{Host, ORIGIN, URL, release, rule, wait_for_view, wait_until_live};

#[test]
fn scripts_that_do_not_load_are_named_without_a_script() {
    let Some(browser) = browser() else { return };
    let page = browser.page().unwrap();
    Host::with(release()).also(Rule::of_kind("Script", Answer::Fail)).open(&page);
    page.wait_for_text("BUNDLE_FETCH_FAILED").unwrap();
    // With its scripts the page never shows it.
    let page = browser.page().unwrap();
    Host::with(release()).open(&page);
    wait_until_live(&page);
    let shown = page.evaluate("getComputedStyle(document.querySelector('#failure')).display");
    assert_eq!(shown.unwrap(), "none");
}

#[test]
fn an_answer_without_its_content_is_named() {
    let Some(browser) = browser() else { return };
    let page = browser.private_page().unwrap();
    let empty = |path: &str| rule(&format!("{ORIGIN}{path}"), 200, "application/json", "{}");
    Host::with(release()).also(empty("/accord/v1/live/live_1/page")).open(&page);
    wait_for_view(&page, "missing");
    page.wait_for_text("BOOTSTRAP_META_MISSING").unwrap();

    let page = browser.private_page().unwrap();
    Host::with(release()).also(empty("/accord/v1/login")).serve(&page);
    page.go(&format!("{URL}#t=secret")).unwrap();
    wait_for_view(&page, "login");
    page.wait_for_text("BOOTSTRAP_META_MISSING").unwrap();
}
