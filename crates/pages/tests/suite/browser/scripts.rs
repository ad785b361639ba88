//! Ways to run a script of a URL in a page, and whether it ran.
//!
//! Browsers differ in what they report of a script that a policy refuses, and whether they report
//! it at all. So a test asks whether the script ran, and shows that each way runs it in a page
//! without a policy.

use accord_kit::browser::{BrowserError, Page};
use serde_json::json;

/// A script that can be seen in the page that runs it, or that starts a worker with it.
pub(super) const CODE: &str = "globalThis.hacked = 1; globalThis.postMessage('hacked');";

/// Ways to run a script of a URL. Each ends, and fails or not.
const ATTEMPTS: &[&str] = &[
    "url => import(url)",
    "url => new Promise((ran, failed) => {
        const script = document.createElement('script');
        script.onload = ran;
        script.onerror = failed;
        script.setAttribute('src', url);
        document.head.append(script);
    })",
    "url => new Promise((ran, failed) => {
        const script = document.createElement('script');
        script.type = 'module';
        script.onload = ran;
        script.onerror = failed;
        script.setAttribute('src', url);
        document.head.append(script);
    })",
    "url => new Promise((ran, failed) => {
        const worker = new Worker(url, {type: 'module'});
        worker.onmessage = ({data}) => { globalThis[data] = 1; ran(); };
        worker.onerror = failed;
    })",
    "url => fetch(url).then(answer => answer.text()).then(text => {
        const script = document.createElement('script');
        script.textContent = text;
        document.head.append(script);
    })",
    "url => fetch(url).then(answer => answer.text())
        .then(text => import(URL.createObjectURL(new Blob([text], {type: 'text/javascript'}))))",
];

/// No way runs the script of a URL in the page of an address.
pub(super) fn assert_refused(page: &Page<'_>, address: &str, code: &str) {
    for attempt in ATTEMPTS {
        assert!(!runs(page, address, attempt, code), "{address} runs the code by {attempt}");
    }
}

/// Every way runs the script of a URL in the page of an address, which has no policy: it is the
/// policy that refuses it elsewhere.
pub(super) fn assert_runs_without_policy(page: &Page<'_>, address: &str, code: &str) {
    for attempt in ATTEMPTS {
        assert!(runs(page, address, attempt, code), "the code does not run by {attempt}");
    }
}

/// Whether an attempt runs the script. Each attempt has a document of its own: a document does not
/// load a module again that it could not load before.
fn runs(page: &Page<'_>, address: &str, attempt: &str, code: &str) -> bool {
    page.go("about:blank").expect("an empty page");
    page.go(address).expect("a page");
    match page.evaluate(&format!("({attempt})({}).then(() => 0)", json!(code))) {
        // A page that refuses it by an exception refuses it.
        Ok(_) | Err(BrowserError::Script { .. }) => {}
        Err(error) => panic!("{address}: {attempt}: {error}"),
    }
    !page.evaluate("globalThis.hacked ?? null").expect("a value").is_null()
}
