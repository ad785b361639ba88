//! Code of agents has a path of its own. No page loads it.

use accord_contract::Code;
use accord_pages::ErrorPage;

use super::browser;
use super::scripts::{CODE, assert_refused, assert_runs_without_policy};
use super::stub::{Host, ORIGIN, URL, html, release, rule, wait_until_live};

#[test]
fn no_page_loads_the_code_of_an_agent() {
    let Some(browser) = browser() else { return };
    let page = browser.page().unwrap();
    let code = format!("{ORIGIN}/code/0123.js");
    let error = ErrorPage::new(Code::HttpRouteUnknown, "There is no such page.").html();
    let (error_page, plain) = (format!("{ORIGIN}/error"), format!("{ORIGIN}/plain"));
    let host = Host::with(release())
        .also(rule(&code, 200, "text/javascript", CODE))
        .also(html(&error_page, &error.into_string()))
        .also(rule(&plain, 200, "text/html", "<!doctype html>"));
    host.open(&page);
    wait_until_live(&page);
    assert_refused(&page, URL, &code);
    assert_refused(&page, &error_page, &code);
    assert_runs_without_policy(&page, &plain, &code);
}
