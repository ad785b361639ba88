//! Component code of an agent is served for hosts that mount it. No page of Accord loads it.

use serde_json::json;

use super::hooks::wait_until_live;
use super::scripts::{CODE, assert_refused, assert_runs_without_policy};
use super::with_browser;
use super::world::{World, plain_page, release, release_props};

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
        let own = world.page(&session);
        let others = ["/docs", "/live/%00"].map(|path| format!("{}{path}", world.server().url));
        for address in [&own, &others[0], &others[1]] {
            assert_refused(&page, address, &code);
        }
        page.go(&world.link(&session)).expect("the page of the session");
        wait_until_live(&page);
        assert_refused(&page, &own, &code);
        let plain = format!("{}/plain", world.server().url);
        page.intercept(vec![plain_page(&plain)]).expect("a rule");
        assert_runs_without_policy(&page, &plain, &code);
        // Opened as a document it is text, in a sandbox.
        page.go(&code).expect("the code");
        assert_eq!(page.evaluate("globalThis.hacked ?? null").expect("a value"), json!(null));
        assert_eq!(page.evaluate("origin").expect("an origin"), "null");
        page.close().expect("closed");
    });
}
