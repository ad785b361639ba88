//! A page warns before it sends a credential.

use accord_pages::assets;
use serde_json::{Value, json};

use super::browser;
use super::stub::{
    Host, assert_quiet, button, field, release, stored, wait_for_receipt, wait_until_live,
};
use crate::credential_samples::{credentials, others};

#[test]
fn a_page_asks_before_it_sends_a_credential() {
    let Some(browser) = browser() else { return };
    let page = browser.page().unwrap();
    Host::with(release()).open(&page);
    wait_until_live(&page);
    let (_, token) = credentials().into_iter().find(|(kind, _)| *kind == "npm_token").unwrap();
    page.tab_to(&field("approve", "note")).unwrap();
    page.type_text(&token).unwrap();
    page.tab_to(&field("approve", "channel")).unwrap();
    page.type_text("stable").unwrap();
    page.tab_to(&button("approve")).unwrap();
    page.press("Enter").unwrap();
    let is_open = "document.querySelector('#confirm').open";
    page.wait_until("the dialog", is_open).unwrap();
    let shown = page.evaluate("document.querySelector('#confirm').innerText").unwrap();
    let shown = shown.as_str().unwrap();
    assert!(shown.contains("note contains a token of npm."), "{shown}");
    assert!(shown.contains("(not shown)") && !shown.contains(&token), "{shown}");
    // Nothing is sent before the person says so, and nothing if they do not.
    page.press("Escape").unwrap();
    page.wait_until("the end of the dialog", &format!("!{is_open}")).unwrap();
    assert_eq!(stored(&page), json!([]));
    page.tab_to(&button("approve")).unwrap();
    page.press("Enter").unwrap();
    page.wait_until("the dialog", is_open).unwrap();
    page.tab_to("#confirm-yes").unwrap();
    page.press("Space").unwrap();
    wait_for_receipt(&page, "approve", "sent");
    let data = json!({"note": token, "channel": "stable"});
    assert_eq!(stored(&page), json!([{"action": "approve", "data": data}]));
    // An ordinary answer is sent at once, and the next dialog has no warning.
    page.tab_to(&button("reject")).unwrap();
    page.press("Enter").unwrap();
    page.wait_until("the dialog", is_open).unwrap();
    let is_hidden = page.evaluate("document.querySelector('#confirm-credentials').hidden");
    assert_eq!(is_hidden.unwrap(), true);
    assert_quiet(&page);
}

/// The rules of the page are those of the host.
#[test]
fn a_page_finds_what_a_host_finds() {
    let Some(browser) = browser() else { return };
    let page = browser.page().unwrap();
    Host::with(release()).open(&page);
    wait_until_live(&page);
    let found = |texts: &[String]| -> Value {
        let module = json!(format!("/assets/{}/credentials.js", assets::version()));
        let script = format!(
            "import({module}).then(m => {}.map(text => m.credentialIn(text) ?? null))",
            json!(texts)
        );
        page.evaluate(&script).unwrap()
    };
    let samples: Vec<String> = credentials().into_iter().map(|(_, text)| text).collect();
    let words: Vec<Value> = samples
        .iter()
        .map(|text| accord_base::credential::find(text).unwrap().kind.in_words().into())
        .collect();
    assert_eq!(found(&samples), Value::Array(words));
    let none: Vec<Value> = others().iter().map(|_| Value::Null).collect();
    assert_eq!(found(&others()), Value::Array(none));
}
