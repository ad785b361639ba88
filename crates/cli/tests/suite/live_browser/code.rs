//! Component code of an agent is served for hosts that mount it. No page of Accord loads it.

use accord_kit::browser::Page;
use serde_json::json;

use super::hooks::wait_until_live;
use super::with_browser;
use super::world::{World, release, release_props};

const CODE: &str = "globalThis.hacked = 1; export default 1;";

/// Ways to run a script of a URL. Each ends.
const ATTEMPTS: &[&str] = &[
    "url => import(url)",
    "url => new Promise(done => {
        const script = document.createElement('script');
        script.onload = script.onerror = done;
        script.setAttribute('src', url);
        document.head.append(script);
    })",
    "url => new Promise(done => {
        const script = document.createElement('script');
        script.type = 'module';
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
];

#[test]
fn no_page_loads_the_code_of_an_agent() {
    with_browser(|browser| {
        let world = World::open();
        let agent = world.agent();
        let render = json!({"props": release_props(), "x-componentCode": CODE});
        let session = agent.ask_with("Release 2.1.0?", &release(), render);
        let source = agent.call("ggui_get_render_source", &json!({"sessionId": session}));
        let hash = source["codeHash"].as_str().unwrap_or_else(|| panic!("{source}"));
        let path = format!("/code/{hash}.js");
        let (status, head, _) = world.server().ask_with("", "GET", &path, "");
        assert_eq!(status, 200, "{head}");
        for header in [
            "content-type: text/javascript",
            "x-content-type-options: nosniff",
            "content-security-policy: sandbox",
        ] {
            assert!(head.contains(header), "{header} is not in {head}");
        }
        assert_eq!(world.server().text(&path), CODE);

        let code = format!("{}{path}", world.server().url);
        let page = browser.private_page().expect("a tab");
        // The page that asks to sign in, the documentation, a page that is not there.
        let own = format!("/live/{session}");
        for path in [own.as_str(), "/docs", "/live/%00"] {
            page.go(&format!("{}{path}", world.server().url)).expect("a page");
            assert_refused(&page, &code, path);
        }
        page.go(&world.link(&session)).expect("the page of the session");
        wait_until_live(&page);
        assert_refused(&page, &code, "the session");
        // Opened as a document it is text, in a sandbox.
        page.go(&code).expect("the code");
        assert_eq!(page.evaluate("globalThis.hacked ?? null").expect("a value"), json!(null));
        assert_eq!(page.evaluate("origin").expect("an origin"), "null");
        page.close().expect("closed");
    });
}

/// The policy of the present page refuses every way to run a script.
fn assert_refused(page: &Page<'_>, code: &str, about: &str) {
    for attempt in ATTEMPTS {
        page.take_observed().expect("cleared");
        // A page that refuses it by an exception refuses it.
        let _ = page.evaluate(&format!("({attempt})({})", json!(code)));
        let hacked = page.evaluate("globalThis.hacked ?? null").expect("a value");
        assert!(hacked.is_null(), "{about}: {attempt}");
        let refused = page.observed().expect("what it did").refused_content;
        assert!(!refused.is_empty(), "{about}: {attempt} is not refused by the policy");
    }
}
