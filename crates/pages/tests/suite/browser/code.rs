//! Code of agents has a path of its own. No page loads it.

use accord_contract::codes::Code;
use accord_pages::ErrorPage;
use serde_json::json;

use super::browser;
use super::stub::{Host, ORIGIN, URL, html, release, rule, wait_until_live};

#[test]
fn no_page_loads_the_code_of_an_agent() {
    let Some(browser) = browser() else { return };
    let page = browser.page().unwrap();
    let code = format!("{ORIGIN}/code/0123.js");
    let error = ErrorPage::new(Code::HttpRouteUnknown, "There is no such page.").html();
    let host = Host::with(release())
        .also(rule(&code, 200, "text/javascript", "globalThis.hacked = 1; export default 1"))
        .also(html(&format!("{ORIGIN}/error"), &error.into_string()));
    host.open(&page);
    wait_until_live(&page);
    for address in [URL.to_owned(), format!("{ORIGIN}/error")] {
        page.go(&address).unwrap();
        for attempt in ATTEMPTS {
            page.take_observed().unwrap();
            // A page that refuses it by an exception refuses it.
            let _ = page.evaluate(&format!("({attempt})({})", json!(code)));
            let hacked = page.evaluate("globalThis.hacked ?? null").unwrap();
            assert!(hacked.is_null(), "{address}: {attempt}");
            let refused = page.observed().unwrap().refused_content;
            assert!(!refused.is_empty(), "{address}: {attempt} was not refused by the policy");
        }
    }
}

/// Ways to run a script of a URL. Each ends.
const ATTEMPTS: &[&str] = &[
    "url => import(url)",
    "url => new Promise(done => {
        const script = document.createElement('script');
        script.onload = script.onerror = done;
        script.setAttribute('src', url);
        document.head.append(script);
    })",
    "url => { new Worker(url, {type: 'module'}); }",
    "url => fetch(url).then(answer => answer.text()).then(text => {
        const script = document.createElement('script');
        script.textContent = text;
        document.head.append(script);
    })",
    "url => fetch(url).then(answer => answer.text())
        .then(text => import(URL.createObjectURL(new Blob([text], {type: 'text/javascript'}))))",
];
