//! Whole pages and fragments.

use accord_contract::Code;
use accord_pages::{ErrorPage, Shell, assets};
use serde_json::{Value, json};

use crate::support::{now, snapshot, view};

/// A page without the version of the assets, which changes with each of them.
fn page(html: accord_pages::Html) -> String {
    html.into_string().replace(assets::version(), "VERSION")
}

fn question() -> Value {
    json!({
        "prompt": "Pick a tax rate",
        "description": "The invoice goes to **Lyon**.",
        "propsSpec": {"properties": {
            "invoice": {"schema": {"type": "object", "properties": {
                "total": {"type": "number"}, "lines": {"type": "array"}}},
                "description": "As it will be sent"},
            "draft": {"schema": {"type": "boolean"}},
        }},
        "props": {"invoice": {"total": 120.5, "lines": ["Hosting", "Support"]}, "draft": true},
        "actionSpec": {
            "choose": {"label": "Use this rate", "schema": {
                "type": "object", "required": ["rate"],
                "properties": {"rate": {"enum": [5.5, 10, 20]}, "reason": {"type": "string"}}}},
            "cancel": {"label": "Cancel the invoice", "confirm": true},
        },
        "streamSpec": {
            "log": {"schema": {"type": "string"}, "replay": "all"},
            "total": {"schema": {"type": "number"}, "mode": "replace",
                "description": "What it comes to now"},
        },
    })
}

#[test]
fn a_question() {
    let view = view(question());
    insta::assert_snapshot!("head", view.head());
    insta::assert_snapshot!("props", view.props());
    insta::assert_snapshot!("actions", view.actions());
    insta::assert_snapshot!("streams", view.streams());
}

/// The class of the button of each action, in the order of the contract.
fn styles(actions: &Value) -> Vec<String> {
    let html = view(json!({"actionSpec": actions})).actions().into_string();
    let classes = html.split("<button type=\"submit\" class=\"").skip(1);
    classes.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

#[test]
fn a_refusal_looks_different() {
    let label = |name: &str| json!({"label": name});
    let decide = json!({"approve": label("Yes"), "reject": label("No"), "deleteAll": label("x")});
    assert_eq!(styles(&decide), ["primary", "secondary", "danger"]);
    let no_first = json!({"deny": label("No"), "allow": label("Yes")});
    assert_eq!(styles(&no_first), ["secondary", "primary"]);
    let ways = json!({"stable": label("Stable"), "beta": label("Beta")});
    assert_eq!(styles(&ways), ["primary", "secondary"], "one of several is filled");
    let named = json!({"go": {"label": "Go", "x-style": "danger"},
        "reject": {"label": "No", "x-style": "primary"}});
    assert_eq!(styles(&named), ["danger", "primary"], "the contract counts first");
}

#[test]
fn pages_without_data() {
    insta::assert_snapshot!("shell", page(Shell::new("0123abcd", false).html()));
    insta::assert_snapshot!("shell_open", page(Shell::new("0123abcd", true).html()));
    let error = ErrorPage::new(Code::HttpRouteUnknown, "There is <no> such page.");
    insta::assert_snapshot!("error", page(error.html()));
}

#[test]
fn pages_have_nothing_inline() {
    let error = ErrorPage::new(Code::HttpRouteUnknown, "x");
    for html in [Shell::new("n", false).html(), Shell::new("n", true).html(), error.html()] {
        let html = page(html);
        for inline in ["<style", " style=", " onclick", "javascript:", "http://", "https://"] {
            assert!(!html.contains(inline), "{inline} in {html}");
        }
        for script in html.split("<script").skip(1) {
            let start = " type=\"module\" src=\"/assets/VERSION/live.js\"></script>";
            assert!(script.starts_with(start), "{script}");
        }
    }
}

#[test]
fn a_session_that_shows_nothing_yet() {
    let view = accord_pages::LiveView::new(&snapshot(json!({})), None, now());
    assert_eq!(view.props().as_str(), "");
    assert_eq!(view.streams().as_str(), "");
    assert!(view.actions().as_str().contains("The agent asks for nothing now."));
    assert!(!view.is_ended());
    assert_eq!(view.epoch(), 3);
    let ended = snapshot(json!({"expiresAt": 1_799_999_999_000_i64}));
    assert!(accord_pages::LiveView::new(&ended, None, now()).is_ended());
    assert!(crate::support::view(json!({"status": "expired"})).is_ended());
}

#[test]
fn assets_are_found_by_their_version() {
    assert!(assets::find(assets::version(), "live.js").is_some());
    assert!(assets::find("0000000000000000", "live.js").is_none());
    assert!(assets::find(assets::version(), "../Cargo.toml").is_none());
    let bytes: usize = assets::ASSETS.iter().map(|asset| asset.text.len()).sum();
    assert!(bytes < 100_000, "{bytes}");
    // A module names only modules that there are, by a relative path.
    for asset in assets::ASSETS.iter().filter(|asset| asset.name.ends_with(".js")) {
        for import in asset.text.split("from \"").skip(1) {
            let name = import.split('"').next().unwrap();
            let name = name.strip_prefix("./").expect("a relative path");
            assert!(assets::find(assets::version(), name).is_some(), "{}: {name}", asset.name);
        }
        for unsafe_call in ["eval(", "document.write", "insertAdjacentHTML", "outerHTML"] {
            assert!(!asset.text.contains(unsafe_call), "{} in {}", unsafe_call, asset.name);
        }
        let markup = asset.text.matches("innerHTML").count();
        assert_eq!(markup, usize::from(asset.name == "dom.js"), "{}", asset.name);
    }
}
