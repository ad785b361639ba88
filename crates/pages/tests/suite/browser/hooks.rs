//! What tests wait for and find in the page of a live session, by its hooks. The template of its
//! shell describes them.

use accord_kit::browser::Page;
use serde_json::{Value, json};

/// Waits until the page has its session and the channel is open.
pub(super) fn wait_until_live(page: &Page<'_>) {
    let live = "document.querySelector('#connection')?.dataset.state === 'live'
        && document.body.dataset.view === 'session'";
    page.wait_until("the page to be connected", live).unwrap();
}

/// Waits until the page shows a view.
pub(super) fn wait_for_view(page: &Page<'_>, view: &str) {
    let shown = format!("document.body?.dataset.view === {}", json!(view));
    page.wait_until(format_args!("the view {view}"), &shown).unwrap();
}

/// Waits until the receipt of an action has a state.
pub(super) fn wait_for_receipt(page: &Page<'_>, action: &str, state: &str) {
    let selector = format!("form[data-action={}] [data-receipt]", json!(action));
    let (selector, state) = (json!(selector), json!(state));
    let shown = format!("document.querySelector({selector})?.dataset.state === {state}");
    page.wait_until(format_args!("the receipt of {action} to be {state}"), &shown).unwrap();
}

/// Waits until the line about the agent has a text.
pub(super) fn wait_for_agent(page: &Page<'_>, text: &str) {
    let text = json!(text);
    let said = format!("document.querySelector('#agent').innerText.includes({text})");
    page.wait_until(format_args!("the line about the agent to say {text}"), &said).unwrap();
}

/// The page reported nothing that it should not: no refused content, no error, no dialog.
pub(super) fn assert_quiet(page: &Page<'_>) {
    let seen = page.observed().unwrap();
    let none: [String; 0] = [];
    assert_eq!(seen.refused_content, none);
    assert_eq!(seen.exceptions, none);
    assert_eq!(seen.console, none);
    assert_eq!(seen.dialogs, none);
}

/// The selector of the input of a field.
pub(super) fn field(action: &str, path: &str) -> String {
    format!("form[data-action={}] [data-field={}] [data-input]", json!(action), json!(path))
}

/// The selector of the button of an action.
pub(super) fn button(action: &str) -> String {
    format!("form[data-action={}] button[type=submit]", json!(action))
}

/// The value of the input that a selector finds.
pub(super) fn value_of(page: &Page<'_>, selector: &str) -> Value {
    page.evaluate(&format!("document.querySelector({})?.value ?? null", json!(selector))).unwrap()
}
