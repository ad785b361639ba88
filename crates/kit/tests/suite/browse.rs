//! Cases about what a person sees: pages of a server, in tabs of a browser.

use accord_kit::Corpus;
use accord_kit::driver::{ChannelServer, HttpOptions};
use accord_kit::report::CaseReport;
use serde_json::{Value, json};

use crate::browser::program;
use crate::support::{patient, run};
use crate::talk::{Talker, case, corpus, protocol};

/// A file of the server: pages, and what they load.
pub(crate) fn file(target: &str) -> Option<(&'static str, &'static str)> {
    const HTML: &str = "text/html; charset=utf-8";
    Some(match target {
        // Shows the words of its fragment, one after the other.
        "/words" => (
            HTML,
            "<p id=now></p><p hidden>never visible</p><script>
                 const words = location.hash.slice(1).split('.');
                 (function next() {
                     now.textContent = words.shift();
                     if (words.length > 0) setTimeout(next);
                 })();
             </script>",
        ),
        // Says what became of its socket. With the fragment `reload` it loads itself again then.
        "/socket" => (
            HTML,
            "<p id=now>starting</p><script>
                 (function connect() {
                     const socket = new WebSocket(`ws://${location.host}/talk`);
                     socket.onopen = () => {
                         now.textContent = `connected ${sessionStorage.times ?? ''}`;
                     };
                     socket.onclose = (event) => {
                         if (location.hash === '#reload') {
                             sessionStorage.times = 'again';
                             location.reload();
                         }
                         now.textContent = event.code === 1006 ? 'refused' : 'disconnected';
                         setTimeout(connect, 20);
                     };
                 })();
             </script>",
        ),
        "/scripted" => (HTML, "<p id=now>not started</p><script src=/script.js></script>"),
        "/script.js" => (
            "text/javascript",
            "fetch('/data').then(answer => answer.text()).then(text => {
                 now.textContent = `started with ${text}`;
             });",
        ),
        "/data" => ("application/json", "{\"all\": \"well\"}"),
        "/nested" => (
            HTML,
            "<div id=host></div><iframe srcdoc='<p>in a frame</p>'></iframe>
             <iframe srcdoc='<p>in a hidden frame</p>' style='display: none'></iframe>
             <script>
                 host.attachShadow({mode: 'open'}).innerHTML = '<p>in a shadow</p>';
             </script>",
        ),
        _ => return None,
    })
}

/// Judges a case with a browser; none where there is none.
fn judge(moves: Value) -> Option<CaseReport> {
    let program = program()?;
    let server = Talker::start();
    let adapter = ChannelServer::new(HttpOptions::new(server.url()), None).unwrap();
    let adapter = adapter.browser(Some(program));
    let mut report = run(&protocol(&case(moves)), &adapter, &patient());
    Some(report.cases.remove(0))
}

#[track_caller]
fn expect(verdict: &str, moves: Value) {
    if let Some(result) = judge(moves) {
        assert_eq!(result.verdict.as_str(), verdict, "{result:#?}");
    }
}

#[test]
fn what_is_visible_is_judged() {
    let shows = |judgement: Value| {
        let mut browse = json!({"open": "/words#milk"});
        browse.as_object_mut().unwrap().extend(judgement.as_object().unwrap().clone());
        json!([{ "browse": browse }])
    };
    expect("pass", shows(json!({"shows": ["milk"], "hides": ["never", "bread"]})));
    expect("pass", shows(json!({"shows_one_of": ["bread", "milk"]})));
}

#[test]
fn frames_of_the_origin_and_shadow_roots_are_looked_into() {
    expect(
        "pass",
        json!([{"browse": {"open": "/nested", "shows": ["in a frame", "in a shadow"],
            "hides": ["in a hidden frame"]}}]),
    );
}

#[test]
fn a_text_that_was_visible_between_two_others_counts() {
    let words = |fragment: &str| {
        let open = format!("/words#{fragment}");
        json!([{"browse": {"open": open, "order": ["a1", "b2", "c3"]}}])
    };
    expect("pass", words("a1.b2.c3"));
    expect("pass", words("a1.c3"));
    expect("fail", words("a1.b2.a1.c3"));
}

#[test]
fn sockets_are_taken_away_and_given_back() {
    expect(
        "pass",
        json!([
            {"browse": {"open": "/socket", "shows": ["connected"]}},
            {"browse": {"sockets": false, "shows": ["refused"]}},
            {"browse": {"sockets": true, "shows": ["connected"], "same_document": true}},
            {"on": "other", "browse": {"open": "/socket", "fault": "sockets-fail",
                "shows": ["refused"]}},
            {"browse": {"shows": ["connected"], "same_document": true}},
        ]),
    );
}

#[test]
fn a_document_that_is_loaded_again_is_another_one() {
    let moves = |same_document: bool| {
        json!([
            {"browse": {"open": "/socket#reload", "shows": ["connected"]}},
            {"browse": {"sockets": false}},
            {"browse": {"shows": ["connected again"], "same_document": same_document}},
        ])
    };
    expect("pass", moves(false));
    expect("fail", moves(true));
}

#[test]
fn faults_are_in_the_tab_that_they_are_for() {
    expect(
        "pass",
        json!([
            {"on": "a", "browse": {"open": "/scripted", "shows": ["started with {\"all\""]}},
            {"on": "b", "browse": {"open": "/scripted", "fault": "scripts-fail",
                "shows": ["not started"]}},
            {"on": "c", "browse": {"open": "/scripted", "fault": "empty-answers",
                "shows": ["started with {}"]}},
        ]),
    );
}

#[test]
fn only_pages_over_http_are_opened() {
    for url in ["file:///etc/hostname", "//example.test/", "about:blank"] {
        expect("fail", json!([{"browse": {"open": url, "shows": ["a"]}}]));
    }
}

#[test]
fn without_a_browser_cases_that_need_one_are_skipped() {
    let server = Talker::start();
    let moves = json!([{"browse": {"open": "/words#a", "shows": ["a"]}}]);
    let adapter = ChannelServer::new(HttpOptions::new(server.url()), None).unwrap();
    let report = run(&protocol(&case(moves)), &adapter, &patient());
    assert_eq!(report.cases[0].verdict.as_str(), "skip");
    assert!(report.cases[0].message.as_ref().unwrap().contains("--browser"));
}

#[test]
fn mistakes_in_moves_of_a_browser_are_found_before_a_run() {
    let open = json!({"browse": {"open": "/words", "shows": ["a"]}});
    for (moves, said) in [
        (json!([{"browse": {"shows": ["a"]}}]), "the tab `main` is not open"),
        (json!([open, open]), "the tab `main` is already open"),
        (json!([open, {"browse": {}}]), "does nothing"),
        (json!([open, {"browse": {"hides": ["a"], "sockets": true}}]), "judged together"),
        (json!([open, {"browse": {"shows": []}}]), "at least one"),
        (json!([open, {"browse": {"shows": [""]}}]), "none is empty"),
        (json!([open, {"browse": {"shows": ["a"], "fault": "scripts-fail"}}]), "with a new tab"),
        (json!([open, {"browse": {"shows": ["${x}"]}}]), "nothing gives the variable `x`"),
        (json!([{"browse": {"open": "/words"}}]), "judges nothing"),
    ] {
        let folder = corpus(&case(moves));
        let found = Corpus::from_dir(folder.path()).unwrap_err().to_string();
        assert!(found.contains(said), "{said}: {found}");
    }
}
