//! Pages that everybody can use: axe-core finds nothing, on a phone and on a desk, in both themes.

use serde_json::json;

use super::axe::Axe;
use super::browser;
use super::stub::{
    Host, ORIGIN, URL, assert_quiet, button, document, emit, release, wait_for_view,
    wait_until_live,
};

#[test]
fn axe_finds_nothing() {
    let (Some(browser), Some(axe)) = (browser(), Axe::find()) else { return };
    let page = browser.private_page().unwrap();
    Host::with(release()).serve(&page);
    page.go(URL).unwrap();
    wait_for_view(&page, "login");
    axe.judge(&page, "the form to sign in");

    let page = browser.private_page().unwrap();
    let refused = json!({"error": {"code": "LOGIN_LINK_INVALID", "message": "used before",
        "link": "used", "renewable": true}});
    let used = document(&format!("{ORIGIN}/accord/v1/login"), 401, &refused);
    Host::with(release()).also(used).serve(&page);
    page.go(&format!("{URL}#p=0123")).unwrap();
    wait_for_view(&page, "invitation");
    axe.judge(&page, "a link of a person");
    page.click("#invitation-yes").unwrap();
    wait_for_view(&page, "renewal");
    axe.judge(&page, "a link that was used");

    let page = browser.private_page().unwrap();
    let host = Host::with(release());
    host.open(&page);
    wait_until_live(&page);
    emit(&page, "progress", &json!({"step": "built the packages"}));
    page.wait_for_text("built the packages").unwrap();
    assert_quiet(&page);
    axe.judge(&page, "the page of a session");
    page.click(&button("approve")).unwrap();
    let errors = "document.querySelector('form[data-action=approve] [data-error]:not([hidden])')
        !== null";
    page.wait_until("the errors of a form", errors).unwrap();
    axe.judge(&page, "a form with errors");
    page.click(&button("reject")).unwrap();
    page.wait_until("the dialog", "document.querySelector('#confirm').open").unwrap();
    axe.judge(&page, "the question before an action");

    let page = browser.private_page().unwrap();
    Host::with(release()).ended().open(&page);
    wait_for_view(&page, "ended");
    axe.judge(&page, "the page of a session that ended");
    page.go(&format!("{ORIGIN}/live/live_other")).unwrap();
    wait_for_view(&page, "missing");
    axe.judge(&page, "the page of a session that is not there");
}
